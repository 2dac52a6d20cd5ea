"""Workers as admins see them: evidence, decisions, and removing their data."""
