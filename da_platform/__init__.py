"""What `hits` and `analysis` are built on: settings, jobs, files, operation."""

import os

__version__ = "0.2.0"

# This package is imported before NumPy, whose linear algebra otherwise starts a thread per core in every process. Jobs
# and web processes already use all cores, and threads that wait for each other on a busy machine made an evaluation
# take two and a half times the processor time. If the machine runs nothing else, set the variable to its cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
