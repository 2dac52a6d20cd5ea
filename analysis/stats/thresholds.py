"""Decision thresholds. Web processes import this module, so it must not import SciPy."""

# With fewer pairs the test reflects chance more than the worker, who stays unproven. A full HIT
# holds ten pairs, so a half-finished one can be judged.
MINIMUM_PAIRS = 5
# A worker is reliable when the one-sided paired t-test finds degraded items scored lower at this
# level (Graham et al., 2017).
RELIABLE_P = 0.05
# Under the guarded rule the evidence may also speak against a worker: above this p-value the scores
# look no better than chance, and with this many pairs a reader would have passed. In between, the
# worker stays unproven and may do another HIT.
AGAINST_P = 0.5
ENOUGH_PAIRS = 20
# Agreement with the other workers is asked for once this many items each have this many trusted
# ratings by others; with `ENOUGH_AGREEMENT_ITEMS` items a reader would have passed. The level is
# stricter than for pairs because a script may come back with many ids.
AGREEMENT_P = 0.01
FEWEST_AGREEMENT_ITEMS = 30
FEWEST_OTHERS = 3
ENOUGH_AGREEMENT_ITEMS = 100
# The others are only a measure if they agree with each other: below this p-value of an F-test their
# scores differ more between items than chance explains. Three scripts that came first do not.
COHERENT_P = 0.01
# Number of latest HITs in the sliding window. Three full HITs hold thirty pairs: enough for an
# attentive worker to pass, few enough to notice one who has stopped reading.
WINDOW_HITS = 3
# Ratings a translation needs before its mean counts as gold. Means of 15 ratings correlate with
# those of an independent collection at about r = 0.9 (Graham, Baldwin and Mathur, 2015).
MINIMUM_RATINGS = 15
# One metric or system significantly beats another below this p-value, as at WMT. Winners and
# clusters depend on it.
ALPHA = 0.05
# Tests in between: more looks gain little and cost waiting. A pair of systems with less chance than
# this to be decided by the last look gets no more ratings.
FEWEST_LOOKS, MOST_LOOKS = 2, 10
LEAST_CHANCE = 0.1
# Significance levels of one, two and three stars, and of the shades of a significance map.
STAR_LEVELS = (ALPHA, 0.01, 0.001)


def bare(level: float) -> str:
    """Format a level without its leading zero: `.05`."""
    return f"{level:g}".removeprefix("0")


# A HIT of a hundred items cannot be read in less working time, in seconds (Graham et al., 2017).
FASTEST_HIT_SECONDS = 300
