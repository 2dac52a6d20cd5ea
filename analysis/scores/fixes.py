"""Changes to the options of an evaluation that avoid a problem. `evaluation.mending` applies them."""

from collections.abc import Sequence

from da_platform.files.problems import Fix

# Further names are only counted.
MOST_NAMED = 3

IGNORE_EXTRA = Fix("ignore_extra", (), "Ignore these scores")
NO_BASELINE = Fix("baseline", (), "Evaluate without a baseline")
NOT_PER_WORD = Fix("per_word", (), "Do not divide by words")
NOT_GOOD_ENOUGH = Fix("good_enough", (), "Evaluate without “Good enough from”")
NOT_BY_DOCUMENT = Fix("level", ("segment",), "Evaluate segments instead")


def leave_out_system(name: str) -> Fix:
    return Fix("without_systems", (name,), f"Leave out {name}")


def keep_system(name: str) -> Fix:
    """Remove a name from the systems to leave out."""
    return Fix("keep_systems", (name,), f"Do not ask for {name} to be left out")


def leave_out_metrics(names: Sequence[str]) -> Fix:
    return Fix("without_metrics", tuple(names), f"Leave out {listed(names)}")


def listed(names: Sequence[str]) -> str:
    """Return a few names, and how many more there are."""
    if len(names) <= MOST_NAMED:
        return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    return f"{', '.join(names[:MOST_NAMED])} and {len(names) - MOST_NAMED} more"
