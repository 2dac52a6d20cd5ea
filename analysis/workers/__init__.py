"""Workers next to the scores of metrics and models."""
