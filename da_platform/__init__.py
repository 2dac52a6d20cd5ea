"""The ground that `hits` and `analysis` stand on: settings, jobs, files, operation."""

__version__ = "0.1.0"
