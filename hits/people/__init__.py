"""The people behind the pages, and the tokens of their programs."""
