"""Compare the languages that files state with those of the campaign."""


def agree(language: str, expected: str) -> bool:
    """Return whether two codes name the same language, ignoring script and region."""
    return not language or _primary(language) == _primary(expected)


def _primary(code: str) -> str:
    return code.replace("_", "-").partition("-")[0].lower()
