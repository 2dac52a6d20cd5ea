"""Scores from outside: what metrics say of translations, and gold from elsewhere, as checked tables."""
