"""Workers as admins see them: evidence, decisions, and being forgotten."""
