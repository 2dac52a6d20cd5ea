"""Statistics of direct assessment: plain NumPy and SciPy, no Django, no database, no files."""

# Part of every signature: a change in how a number is made changes the version.
__version__ = "0.1.0"
