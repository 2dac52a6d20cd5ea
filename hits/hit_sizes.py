"""Allowed HIT sizes: an even number of sets of ten items."""

SET_SIZE = 10
MIN_SETS = 4
MAX_SETS = 20
# An even number, because QC items and their partners are half a HIT apart.
HIT_SIZES = tuple(SET_SIZE * n_sets for n_sets in range(MIN_SETS, MAX_SETS + 1, 2))
MAX_HIT_SIZE = HIT_SIZES[-1]
