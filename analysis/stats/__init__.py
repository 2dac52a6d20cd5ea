"""Statistics of direct assessment: plain NumPy and SciPy, no Django, no database, no files."""
