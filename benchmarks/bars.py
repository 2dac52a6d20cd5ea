"""Bars that a benchmark has to reach: all are printed, and one that is missed makes the command fail at its end."""

# Of a title.
WIDTH = 62

_missed: list[str] = []


def verdict(title: str, *, is_met: bool) -> str:
    """Say in a word whether a bar was met, and remember it if not."""
    if not is_met:
        _missed.append(title)
    return "met" if is_met else "MISSED"


def print_bar(title: str, value: str, bound: str, *, is_met: bool) -> None:
    word = verdict(title, is_met=is_met)
    print(f"  {title:<{WIDTH}} {value:>8}   bar {bound:<18} {word}", flush=True)


def print_ratio(title: str, value: str) -> None:
    """Print a number beside the bars that has none."""
    print(f"  {title:<{WIDTH}} {value:>8}   no bar", flush=True)


def fail_if_missed() -> None:
    if _missed:
        raise SystemExit(f"Missed: {'; '.join(_missed)}.")
