"""Campaigns as admins run them: made, priced, changed, watched."""
