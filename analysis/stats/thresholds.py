"""Thresholds that decide something, each in this one place. No SciPy here: web processes import it."""

# With fewer pairs the test of a worker says more about chance than about the worker, who stays
# unproven. A full HIT holds ten pairs, so a half-finished one can be judged.
MINIMUM_PAIRS = 5
# A worker is reliable when the one-sided paired t-test finds degraded items scored lower at this
# level (Graham et al., 2017).
RELIABLE_P = 0.05
# How many of a worker's latest HITs the sliding window spans. Three full HITs hold thirty pairs,
# enough for a worker who still reads to pass and few enough to notice one who has stopped.
WINDOW_HITS = 3
# Ratings a translation needs before its mean counts as gold: at 15 the mean agrees with that of an
# independent collection at about r = 0.9 (Graham, Baldwin and Mathur, 2015).
MINIMUM_RATINGS = 15
# One metric outperforms another, and one system beats another, below this p-value, as at WMT.
# Winners and clusters rest on it.
ALPHA = 0.05
# Levels of one, two and three stars, and of the shades of a significance map.
STAR_LEVELS = (ALPHA, 0.01, 0.001)


def bare(level: float) -> str:
    """Write a level as tables of statistics do: `.05`."""
    return f"{level:g}".removeprefix("0")
