"""Migrated databases: migrated once, then copied.

The copies are kept in pytest's cache folder, under a name that changes with the migrations.
"""

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile

from tests.postgres import pg_bin_dir
from tests.subprocesses import CHECKOUT, environment, manage, output_of

COPIES = CHECKOUT / ".pytest_cache" / "migrated"


def migrated_database(url: str) -> str:
    """Create the platform's tables in this empty database; return its URL."""
    copy = COPIES / f"{url.partition(':')[0]}-{_fingerprint()}"
    fill, keep = (_load_sqlite, _keep_sqlite) if _is_sqlite(url) else (_load, _keep)
    if copy.exists():
        fill(url, copy)
        return url
    output_of(manage("migrate", "--verbosity", "0", DA_DEBUG="1", DATABASE_URL=url))
    COPIES.mkdir(parents=True, exist_ok=True)
    # Other processes must not see an incomplete copy.
    with NamedTemporaryFile(dir=COPIES, delete=False) as unfinished:
        keep(url, Path(unfinished.name))
    os.replace(unfinished.name, copy)
    return url


@cache
def _fingerprint() -> str:
    """A digest of our migrations and of the versions of all packages."""
    packages = (CHECKOUT / name for name in ("hits", "analysis", "da_platform"))
    migrations = (path for package in packages for path in package.rglob("migrations/*.py"))
    files = [CHECKOUT / "requirements.txt", *migrations]
    return sha256(b"".join(path.read_bytes() for path in sorted(files))).hexdigest()[:16]


def own_database() -> str:
    """Create the tables in the database of the current settings; return its URL."""
    from django.conf import settings

    url = os.environ.get("DATABASE_URL") or f"sqlite:///{settings.DATABASES['default']['NAME']}"
    return migrated_database(url)


def _is_sqlite(url: str) -> bool:
    return url.startswith("sqlite")


def _path_of(url: str) -> str:
    return url.removeprefix("sqlite:///")


def _keep_sqlite(url: str, copy: Path) -> None:
    # Copying the file would miss rows in the write-ahead log.
    with closing(sqlite3.connect(_path_of(url))) as here, closing(sqlite3.connect(copy)) as there:
        here.backup(there)


def _load_sqlite(url: str, copy: Path) -> None:
    shutil.copyfile(copy, _path_of(url))


def _keep(url: str, copy: Path) -> None:
    _run("pg_dump", "--no-owner", "--no-privileges", "--file", str(copy), url)


def _load(url: str, copy: Path) -> None:
    quietly = ("--no-psqlrc", "--quiet", "--output", os.devnull, "--set", "ON_ERROR_STOP=1")
    _run("psql", *quietly, "--file", str(copy), url)


def _run(program: str, *arguments: str) -> None:
    command = [str(Path(pg_bin_dir()) / program), *arguments]
    subprocess.run(command, env=environment(), check=True)
