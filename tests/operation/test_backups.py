"""Backups are restored, not only made: on SQLite and PostgreSQL, while others write."""

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
import yaml
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from da_platform.operation.backups import files
from tests.migrated import migrated_database
from tests.postgres import pg_bin_dir, postgres_database
from tests.subprocesses import CHECKOUT, environment, manage, output_of
from tests.waiting import eventually

pytestmark = pytest.mark.xdist_group("backups")


@pytest.fixture(params=["sqlite", "postgres"])
def databases(request, tmp_path) -> Iterator[tuple[str, str]]:
    """A migrated database and an empty one of the same kind."""
    if request.param == "sqlite":
        full, empty = f"sqlite:///{tmp_path}/full.sqlite3", f"sqlite:///{tmp_path}/empty.sqlite3"
        yield migrated_database(full), empty
    else:
        server = request.getfixturevalue("postgres_server_url")
        with postgres_database(server) as full, postgres_database(server) as empty:
            yield migrated_database(full), empty


@pytest.fixture
def on_sqlite(tmp_path) -> tuple[str, str]:
    """The same, where it does not matter which kind."""
    full = migrated_database(f"sqlite:///{tmp_path}/full.sqlite3")
    return full, f"sqlite:///{tmp_path}/empty.sqlite3"


def variables(database: str, folder: Path) -> dict[str, str]:
    return {
        "DA_DEBUG": "1",
        "DA_DATA_DIR": str(folder),
        "DATABASE_URL": database,
        "DA_PG_BIN_DIR": pg_bin_dir(),
        "DA_LOG_LEVEL": "ERROR",
    }


@contextmanager
def load(database: str, folder: Path) -> Iterator[None]:
    """Let workers rate while the body runs."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.operation.load"],
        cwd=CHECKOUT,
        env=environment(
            DJANGO_SETTINGS_MODULE="da_platform.settings", **variables(database, folder)
        ),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline() == "ready\n"
        yield
        assert process.poll() is None, "the load ended before the backup did"
    finally:
        process.kill()
        process.communicate()


def manifest_of(folder: Path) -> dict:
    return json.loads((folder / "manifest.json").read_text())


def back_up(database: str, folder: Path) -> Path:
    return Path(output_of(manage("backup", **variables(database, folder))).splitlines()[0])


def n_ratings(folder: Path) -> int:
    return manifest_of(folder)["tables"]["hits_rating"]["n_rows"]


@pytest.mark.slow
def test_a_backup_under_load_is_restored_to_the_last_row(databases, tmp_path):
    full, empty = databases
    data, other = tmp_path / "data", tmp_path / "other"
    (data / "uploads").mkdir(parents=True)
    (data / "uploads" / "scores.tsv").write_text("a file of someone's")
    (data / "secret_key").write_text("not to be copied")
    with load(full, data):
        first = back_up(full, data)
        second = back_up(full, data)
    assert 0 <= n_ratings(first) < n_ratings(second), "nobody rated between the backups"

    told = output_of(manage("restore", str(second), **variables(empty, other)))
    assert "rows in" in told
    # Another backup says what the restored database holds; digests as well as counts.
    again = back_up(empty, other)
    assert manifest_of(again)["tables"] == manifest_of(second)["tables"]
    assert (other / "uploads" / "scores.tsv").read_text() == "a file of someone's"
    with tarfile.open(second / "files.tar") as archive:
        assert archive.getnames() == ["uploads", "uploads/scores.tsv"]
    output_of(manage("migrate", "--check", **variables(empty, other)))


def test_a_backup_is_for_its_owner_only_and_old_ones_go(on_sqlite, tmp_path):
    full, _ = on_sqlite
    first, second = back_up(full, tmp_path), back_up(full, tmp_path)
    for path in (first, *first.iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
    told = output_of(manage("backup", "--keep", "2", **variables(full, tmp_path)))
    assert "1 older ones deleted" in told
    assert not first.exists() and second.exists()


# One after another, and ended --------------------------------------------------------------------


@pytest.fixture
def folder(settings, tmp_path) -> Path:
    """Where this process makes its backups, of a data folder without files."""
    settings.DATA_DIR, settings.BACKUP_DIR = tmp_path / "data", tmp_path / "backups"
    settings.BACKUP_DIR.mkdir()
    return settings.BACKUP_DIR


@pytest.mark.django_db(transaction=True)
def test_none_is_made_while_the_latest_is_young_enough(folder, capsys):
    def ask() -> int:
        call_command("backup", "--unless-younger-than", "23", "--keep", "14")
        return len(list(folder.iterdir()))

    now = timezone.now()
    with time_machine.travel(now - timedelta(hours=24)):
        assert ask() == 1
    with time_machine.travel(now - timedelta(hours=2)):
        assert ask() == 1
        assert "none made" in capsys.readouterr().out
    assert ask() == 2
    # One that cannot be read is no reason to go without.
    (max(folder.iterdir()) / "manifest.json").unlink()
    assert ask() == 3


@pytest.mark.django_db(transaction=True)
def test_one_that_is_ended_by_a_signal_leaves_nothing_behind(folder, monkeypatch):
    monkeypatch.setattr(files, "pack", lambda draft: signal.raise_signal(signal.SIGTERM))
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit):
        call_command("backup")
    assert list(folder.iterdir()) == []
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.django_db(transaction=True)
def test_drafts_that_a_crash_left_behind_go_and_those_being_made_stay(folder):
    now = timezone.now()
    left_behind, being_made = (
        folder / f".da-{now - timedelta(hours=hours):%Y%m%dT%H%M%S%fZ}" for hours in (25, 1)
    )
    for draft in (left_behind, being_made):
        draft.mkdir()
        (draft / "database.dump").write_text("half of it")
    call_command("backup")
    assert not left_behind.exists() and being_made.exists()


def test_the_container_that_makes_them_passes_the_signal_on(tmp_path):
    """Its command for real, with a backup that takes its time."""
    service = yaml.safe_load((CHECKOUT / "compose.yaml").read_text())["services"]["backup"]
    python, said = tmp_path / "python", tmp_path / "said"
    python.write_text(
        f"""#!/bin/sh
trap 'kill $!; echo cleared >> {said}; exit' TERM
sleep 60 &
echo $@ >> {said}
wait
"""
    )
    python.chmod(0o700)
    command = [part.replace("$$", "$") for part in service["command"]]
    process = subprocess.Popen(command, env=environment(PATH=f"{tmp_path}:{os.environ['PATH']}"))
    eventually(said.exists)
    process.terminate()
    assert process.wait(timeout=30) is not None
    begun, ended = said.read_text().splitlines()
    assert begun.startswith("manage.py backup --keep 14 --unless-younger-than ")
    assert ended == "cleared" and service["init"]


def refusal_of(*arguments: str, **environ: str) -> str:
    process = manage(*arguments, **environ)
    assert process.returncode != 0
    return process.stderr


def test_what_is_not_whole_is_not_restored(on_sqlite, tmp_path):
    full, empty = on_sqlite
    backup = back_up(full, tmp_path)
    [database] = backup.glob("database.*")
    damaged, missing, unnamed = (tmp_path / name for name in ("damaged", "missing", "unnamed"))
    for copy in (damaged, missing, unnamed):
        shutil.copytree(backup, copy)
    content = bytearray((damaged / database.name).read_bytes())
    content[len(content) // 2] ^= 1
    (damaged / database.name).write_bytes(content)
    os.unlink(missing / "files.tar")
    os.unlink(unnamed / "manifest.json")
    environ = variables(empty, tmp_path)
    assert "is damaged" in refusal_of("restore", str(damaged), **environ)
    assert "is missing" in refusal_of("restore", str(missing), **environ)
    assert "no readable manifest" in refusal_of("restore", str(unnamed), **environ)
    # None of them has left anything behind: the whole one still finds the database empty.
    output_of(manage("restore", str(backup), **environ))
    assert "not empty" in refusal_of("restore", str(backup), **environ)


def test_a_restored_table_that_differs_from_the_manifest_is_told(on_sqlite, tmp_path):
    full, empty = on_sqlite
    backup = back_up(full, tmp_path)
    manifest = manifest_of(backup)
    manifest["tables"]["django_migrations"]["digest"] = "0"
    (backup / "manifest.json").write_text(json.dumps(manifest))
    error = refusal_of("restore", str(backup), **variables(empty, tmp_path))
    assert "differs from the backup: django_migrations" in error


def test_without_pg_dump_it_says_what_to_do(tmp_path, postgres_url):
    environ = variables(postgres_url, tmp_path) | {"DA_PG_BIN_DIR": str(tmp_path)}
    assert "DA_PG_BIN_DIR" in refusal_of("backup", **environ)


def packed(folder: Path) -> list[str]:
    """Pack the data folder and tell what is in the archive."""
    files.pack(folder)
    with tarfile.open(folder / files.FILES) as archive:
        return archive.getnames()


def test_only_what_is_named_in_full_is_left_out(settings, tmp_path, monkeypatch):
    settings.DATA_DIR, settings.BACKUP_DIR = tmp_path / "data", tmp_path / "data" / "elsewhere"
    database = str(settings.DATA_DIR / "da.sqlite3")
    monkeypatch.setitem(settings.DATABASES["default"], "NAME", database)
    monkeypatch.setattr(connection, "vendor", "sqlite")
    own = ("da.sqlite3", "da.sqlite3-wal", "da.sqlite3-shm", "da.sqlite3-journal")
    made_anew = ("queue", "cache", "static", "beat-schedule.db", "secret_key", ".secret_key-x1")
    others = ("da.sqlite3.old", "statistics", "uploads")
    for name in (*own, *made_anew, *others, "elsewhere"):
        (settings.DATA_DIR / name).mkdir(parents=True)
    assert packed(tmp_path) == sorted(others)


def test_the_name_of_a_database_elsewhere_leaves_nothing_out(settings, tmp_path, monkeypatch):
    settings.DATA_DIR, settings.BACKUP_DIR = tmp_path / "data", tmp_path / "backups"
    monkeypatch.setitem(settings.DATABASES["default"], "NAME", "uploads")
    monkeypatch.setattr(connection, "vendor", "postgresql")
    (settings.DATA_DIR / "uploads").mkdir(parents=True)
    assert packed(tmp_path) == ["uploads"]


def test_a_file_that_goes_while_it_is_made_does_not_stop_it(settings, tmp_path, monkeypatch):
    settings.DATA_DIR, settings.BACKUP_DIR = tmp_path / "data", tmp_path / "backups"
    drafts = settings.DATA_DIR / "uploads"
    for name in ("first", "second"):
        (drafts / name).mkdir(parents=True)
        (drafts / name / "text.txt").write_text(name)
    add = tarfile.TarFile.add

    def drop_the_second(archive: tarfile.TarFile, path: Path, *args: Any, **kwargs: Any) -> None:
        add(archive, path, *args, **kwargs)
        if path.name == "first":
            shutil.rmtree(drafts / "second")

    monkeypatch.setattr(tarfile.TarFile, "add", drop_the_second)
    assert packed(tmp_path) == ["uploads", "uploads/first", "uploads/first/text.txt"]
