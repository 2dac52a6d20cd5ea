"""Benchmarks. Importing the platform before NumPy sets the number of threads that it uses."""

import da_platform  # noqa: F401
