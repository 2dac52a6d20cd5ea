"""A quick way through faultless files of a system and a score per line, which can be many and long.

Anything unusual, and so anything wrong, is left to the parsers, which look at every line and say what it is.
"""

import re
from collections import defaultdict
from itertools import count

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from da_platform.files.texts import fault_in_name

from .raw_files import RawFile
from .score_tables import Key

# Numbers as `parsers.is_number` knows them, of a usual length.
_NUMBER = r"[+-]?(?:[0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:[eE][+-]?[0-9]{1,3})?"
_LINES = re.compile(rf"(?:[^\t\n\r\ufeff]+\t{_NUMBER}\n)++")


def plain_scores(raw: RawFile) -> tuple[tuple[Key, ...], NDArray[np.float64]] | None:
    """Return the keys and scores of a file in the format of mt-metrics-eval; None if it needs a closer look."""
    try:
        text = raw.content.decode()
    except UnicodeDecodeError:
        return None
    text = text if text.endswith("\n") else f"{text}\n"
    if _LINES.fullmatch(text) is None or text.count("\n") > settings.MAX_FILE_LINES:
        return None
    cells = text.replace("\n", "\t").split("\t")[:-1]
    systems, scores = cells[::2], np.array([float(score) for score in cells[1::2]])
    counters = defaultdict[str, "count[int]"](lambda: count(1))
    numbers = [next(counters[system]) for system in systems]
    if any(map(fault_in_name, counters)) or not np.isfinite(scores).all():
        return None
    n_segments = max(numbers)
    # Not one score per system, and not equally many for all.
    if (
        n_segments == 1
        or len(systems) != n_segments * len(counters)
        or numbers.count(n_segments) != len(counters)
    ):
        return None
    return tuple(zip(systems, map(str, numbers), strict=True)), scores
