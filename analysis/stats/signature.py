"""One line that says how a number was computed."""

# Part of every signature, because another version may compute a number differently.
from da_platform import __version__


def signature(**facts: object) -> str:
    """Join facts into a line such as `qc:paired-t,p<0.05|min:15|seed:7|version:1.2.0`.

    Parameters
    ----------
    **facts : object
        The choices behind a number, in display order; `None` is left out. The elements of a tuple
        or list are joined by commas.

    Returns
    -------
    str
        `name:value` pairs joined by `|`, ending with the version of this package. Separators inside
        a value are replaced, so a signature can be split again.
    """
    pairs = [f"{name}:{_plain(value)}" for name, value in facts.items() if value is not None]
    return "|".join([*pairs, f"version:{__version__}"])


def join_signatures(*signatures: str) -> str:
    """Join the facts of several signatures into one, with the version only at the end."""
    parts = [part for each in signatures for part in each.split("|")]
    facts = [part for part in parts if not part.startswith("version:")]
    return "|".join([*facts, f"version:{__version__}"])


def _plain(value: object) -> str:
    if isinstance(value, tuple | list):
        return ",".join(map(_plain, value))
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text.replace("|", "/").replace(":", "=")
