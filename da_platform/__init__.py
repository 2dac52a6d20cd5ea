"""What `hits` and `analysis` are built on: settings, jobs, files, operation."""

__version__ = "0.2.0"
