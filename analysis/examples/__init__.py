"""Example campaigns for a fresh platform: making them once, and removing them."""
