"""Back up and restore SQLite and PostgreSQL, also while workers rate."""

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
    """Let workers rate while the block runs."""
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
def test_a_backup_made_under_load_restores_every_row(databases, tmp_path):
    full, empty = databases
    data, other = tmp_path / "data", tmp_path / "other"
    (data / "uploads").mkdir(parents=True)
    (data / "uploads" / "scores.tsv").write_text("an upload")
    (data / "secret_key").write_text("not to be copied")
    with load(full, data):
        first = back_up(full, data)
        second = back_up(full, data)
    assert 0 <= n_ratings(first) < n_ratings(second), "nobody rated between the backups"

    output = output_of(manage("restore", str(second), **variables(empty, other)))
    assert "rows in" in output
    # The manifest of another backup has the row counts and digests of the restored database.
    again = back_up(empty, other)
    assert manifest_of(again)["tables"] == manifest_of(second)["tables"]
    assert (other / "uploads" / "scores.tsv").read_text() == "an upload"
    with tarfile.open(second / "files.tar") as archive:
        assert archive.getnames() == ["uploads", "uploads/scores.tsv"]
    output_of(manage("migrate", "--check", **variables(empty, other)))


def test_backups_are_private_and_old_ones_are_deleted(on_sqlite, tmp_path):
    full, _ = on_sqlite
    first, second = back_up(full, tmp_path), back_up(full, tmp_path)
    for path in (first, *first.iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
    output = output_of(manage("backup", "--keep", "2", **variables(full, tmp_path)))
    assert "1 older ones deleted" in output
    assert not first.exists() and second.exists()


# Scheduled and interrupted backups ---------------------------------------------------------------


@pytest.fixture
def folder(settings, tmp_path) -> Path:
    """An empty backup folder, with an empty data folder next to it."""
    settings.DATA_DIR, settings.BACKUP_DIR = tmp_path / "data", tmp_path / "backups"
    settings.BACKUP_DIR.mkdir()
    return settings.BACKUP_DIR


@pytest.mark.django_db(transaction=True)
def test_no_backup_is_made_while_the_latest_is_recent(folder, capsys):
    def back_up_if_old() -> int:
        call_command("backup", "--unless-younger-than", "23", "--keep", "14")
        return len(list(folder.iterdir()))

    now = timezone.now()
    with time_machine.travel(now - timedelta(hours=24)):
        assert back_up_if_old() == 1
    with time_machine.travel(now - timedelta(hours=2)):
        assert back_up_if_old() == 1
        assert "none made" in capsys.readouterr().out
    assert back_up_if_old() == 2
    # An unreadable backup does not count.
    (max(folder.iterdir()) / "manifest.json").unlink()
    assert back_up_if_old() == 3


@pytest.mark.django_db(transaction=True)
def test_a_backup_interrupted_by_a_signal_leaves_nothing_behind(folder, monkeypatch):
    monkeypatch.setattr(files, "pack", lambda draft: signal.raise_signal(signal.SIGTERM))
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit):
        call_command("backup")
    assert list(folder.iterdir()) == []
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.django_db(transaction=True)
def test_old_unfinished_backups_are_deleted_and_recent_ones_stay(folder):
    now = timezone.now()
    old, recent = (
        folder / f".da-{now - timedelta(hours=hours):%Y%m%dT%H%M%S%fZ}" for hours in (25, 1)
    )
    for draft in (old, recent):
        draft.mkdir()
        (draft / "database.dump").write_text("half of it")
    call_command("backup")
    assert not old.exists() and recent.exists()


def test_the_backup_container_passes_on_the_signal(tmp_path):
    """Run its command with a `python` that takes a minute."""
    service = yaml.safe_load((CHECKOUT / "compose.yaml").read_text())["services"]["backup"]
    python, log = tmp_path / "python", tmp_path / "log"
    python.write_text(
        f"""#!/bin/sh
trap 'kill $!; echo cleared >> {log}; exit' TERM
sleep 60 &
echo $@ >> {log}
wait
"""
    )
    python.chmod(0o700)
    command = [part.replace("$$", "$") for part in service["command"]]
    process = subprocess.Popen(command, env=environment(PATH=f"{tmp_path}:{os.environ['PATH']}"))
    eventually(log.exists)
    process.terminate()
    assert process.wait(timeout=30) is not None
    begun, ended = log.read_text().splitlines()
    assert begun.startswith("manage.py backup --keep 14 --unless-younger-than ")
    assert ended == "cleared" and service["init"]


def refusal_of(*arguments: str, **environ: str) -> str:
    process = manage(*arguments, **environ)
    assert process.returncode != 0
    return process.stderr


def test_an_incomplete_backup_is_not_restored(on_sqlite, tmp_path):
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
    # None of them left anything in the database.
    output_of(manage("restore", str(backup), **environ))
    assert "not empty" in refusal_of("restore", str(backup), **environ)


def test_a_restored_table_that_differs_from_the_manifest_is_reported(on_sqlite, tmp_path):
    full, empty = on_sqlite
    backup = back_up(full, tmp_path)
    manifest = manifest_of(backup)
    manifest["tables"]["django_migrations"]["digest"] = "0"
    (backup / "manifest.json").write_text(json.dumps(manifest))
    error = refusal_of("restore", str(backup), **variables(empty, tmp_path))
    assert "differs from the backup: django_migrations" in error


def test_without_pg_dump_the_error_names_the_setting(tmp_path, postgres_url):
    environ = variables(postgres_url, tmp_path) | {"DA_PG_BIN_DIR": str(tmp_path)}
    assert "DA_PG_BIN_DIR" in refusal_of("backup", **environ)


def packed(folder: Path) -> list[str]:
    """Pack the data folder and list the archive."""
    files.pack(folder)
    with tarfile.open(folder / files.FILES) as archive:
        return archive.getnames()


def test_only_exact_names_are_left_out(settings, tmp_path, monkeypatch):
    settings.DATA_DIR, settings.BACKUP_DIR = tmp_path / "data", tmp_path / "data" / "elsewhere"
    database = str(settings.DATA_DIR / "da.sqlite3")
    monkeypatch.setitem(settings.DATABASES["default"], "NAME", database)
    monkeypatch.setattr(connection, "vendor", "sqlite")
    database_files = ("da.sqlite3", "da.sqlite3-wal", "da.sqlite3-shm", "da.sqlite3-journal")
    recreated = ("queue", "cache", "static", "beat-schedule.db", "secret_key", ".secret_key-x1")
    packed_files = ("da.sqlite3.old", "statistics", "uploads")
    for name in (*database_files, *recreated, *packed_files, "elsewhere"):
        (settings.DATA_DIR / name).mkdir(parents=True)
    assert packed(tmp_path) == sorted(packed_files)


def test_the_name_of_a_postgresql_database_leaves_nothing_out(settings, tmp_path, monkeypatch):
    settings.DATA_DIR, settings.BACKUP_DIR = tmp_path / "data", tmp_path / "backups"
    monkeypatch.setitem(settings.DATABASES["default"], "NAME", "uploads")
    monkeypatch.setattr(connection, "vendor", "postgresql")
    (settings.DATA_DIR / "uploads").mkdir(parents=True)
    assert packed(tmp_path) == ["uploads"]


def test_a_file_deleted_during_the_backup_does_not_stop_it(settings, tmp_path, monkeypatch):
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
