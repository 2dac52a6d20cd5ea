"""Where things are: next to the packages in a checkout; in a wheel, inside this one, and what is written in the user's folders.

Nothing here needs Django, because gunicorn and the command `da` read it before the settings.
"""

import os
import sys
from pathlib import Path

# The folder of the packages: a checkout, or `site-packages`.
BASE_DIR = Path(__file__).resolve().parent.parent
IS_CHECKOUT = not (BASE_DIR / "da_platform" / "shipped").is_dir()
# How people start a command of the platform.
PROGRAM = "manage.py" if IS_CHECKOUT else "da"
# Templates, examples and gunicorn's configuration. `pyproject.toml` puts them there.
SHIPPED_DIR = BASE_DIR if IS_CHECKOUT else BASE_DIR / "da_platform" / "shipped"


def _user_folder() -> Path:
    """The user's folder for data of programs, as Linux (XDG) and macOS have it."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    named = os.environ.get("XDG_DATA_HOME", "")
    # A relative path is to be ignored, says the specification.
    return Path(named) if Path(named).is_absolute() else Path.home() / ".local" / "share"


DEFAULT_DATA_DIR = BASE_DIR / "var" if IS_CHECKOUT else _user_folder() / "da-platform"


def data_dir() -> Path:
    """The folder that the environment names now: `da --data` sets it."""
    return Path(os.environ.get("DA_DATA_DIR") or DEFAULT_DATA_DIR)


def env_file() -> Path:
    """The file with the settings; that of an installation is next to its data."""
    return (BASE_DIR if IS_CHECKOUT else data_dir()) / ".env"
