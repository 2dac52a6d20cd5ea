"""Which port the data of this platform are served on, if any: a file that the server locks while it runs.

The system lets go of the lock when the server ends in any way, so the file never lies. Nothing here needs Django.
"""

import fcntl
from pathlib import Path
from typing import IO

from .places import data_dir

FILE_NAME = "served-on-port"


def _file() -> Path:
    return data_dir() / FILE_NAME


def note_port(port: int) -> IO[str] | None:
    """Say that this process serves the data; return what holds the lock. None if another process does."""
    path = _file()
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("a+", encoding="ascii")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    file.truncate(0)
    file.write(str(port))
    file.flush()
    return file


def port_in_use() -> int | None:
    """Return the port on which a running process serves these data."""
    try:
        with _file().open(encoding="ascii") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return int(file.read() or 0) or None
    except FileNotFoundError:
        pass
    return None
