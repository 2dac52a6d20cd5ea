"""The direction of a text by its letters, without asking which languages are written from right to left."""

from unicodedata import bidirectional


def direction_of(text: str) -> str:
    """Return `rtl` or `ltr`, as most letters say."""
    kinds = [bidirectional(character) for character in text]
    right = sum(kind in ("R", "AL") for kind in kinds)
    return "rtl" if right > kinds.count("L") else "ltr"
