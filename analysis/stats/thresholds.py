"""Thresholds that pages need as well; a module without SciPy, which web processes do without."""

# With fewer pairs the test of a worker says more about chance than about the worker, who stays
# unproven. A full HIT holds ten pairs: this lets a half-finished one be judged.
MINIMUM_PAIRS = 5
