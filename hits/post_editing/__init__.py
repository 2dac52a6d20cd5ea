"""Post-editing: how much was changed, what that says about the editor, and the post-editions as rows."""
