"""Post-editions of outputs: what they say about the outputs, as metrics or as gold."""
