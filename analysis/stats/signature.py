"""One line that says how a number was made."""

# Part of every signature: a change in how a number is made changes the version.
from da_platform import __version__


def signature(**facts: object) -> str:
    """Join facts into a line such as `qc:paired-t,p<0.05|min:15|seed:7|version:1.2.0`.

    Parameters
    ----------
    **facts : object
        What was chosen, in the order the reader should meet it; `None` is left out. A tuple or
        list becomes its parts joined by commas.

    Returns
    -------
    str
        `name:value` pairs joined by `|`, closed by the version of this package. The separators
        never appear inside a value, so that a signature can be split again.
    """
    pairs = [f"{name}:{_plain(value)}" for name, value in facts.items() if value is not None]
    return "|".join([*pairs, f"version:{__version__}"])


def _plain(value: object) -> str:
    if isinstance(value, tuple | list):
        return ",".join(map(_plain, value))
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text.replace("|", "/").replace(":", "=")
