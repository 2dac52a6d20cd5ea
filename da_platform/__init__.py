"""What `hits` and `analysis` are built on: settings, jobs, files, operation."""

__version__ = "0.1.0"
