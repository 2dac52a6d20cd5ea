"""Numbers with their unit, in sentences."""


def counted(n: int, noun: str) -> str:
    """Return `1 HIT` or `1,200 HITs`."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
