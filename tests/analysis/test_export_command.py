import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from hits.models import AuditEntry
from tests.analysis.export_rows import make_gold

# Shares a module-scoped fixture.
pytestmark = pytest.mark.xdist_group("export command")

ROOT = Path(__file__).parents[2]


@pytest.fixture
def run(db):
    return make_gold(name="News")


def test_the_format_follows_from_the_file_name(run, tmp_path, capsys):
    for name, beginning in (
        ("a.tsv", b"campaign\tsystem"),
        ("b.JSONL", b'{"campaign"'),
        ("c.parquet", b"PAR1"),
        ("d.dat", b"campaign,system"),
    ):
        call_command("export", "segments", "News", str(tmp_path / name))
        assert (tmp_path / name).read_bytes().startswith(beginning)
    out = capsys.readouterr().out
    assert "Exported 28 rows" in out and "6 outputs have too few ratings" in out


def test_a_layout_is_written_below_a_folder(run, tmp_path):
    call_command("export", "systems", "News", str(tmp_path), "--format", "mtme")
    assert (tmp_path / "human-scores" / "de-en.da.sys.score").exists()


def test_it_prints_the_summary_as_json(run, tmp_path, capsys):
    call_command("export", "systems", "News", str(tmp_path / "s.csv"), "--json", "--run", "1")
    printed = json.loads(capsys.readouterr().out)
    sidecar = json.loads((tmp_path / "s.csv.meta.json").read_text())
    assert printed == {"path": str(tmp_path / "s.csv"), **sidecar}


def test_it_streams_to_standard_output_and_reports_to_standard_error(run, capsysbinary):
    call_command("export", "segments", "News", "-")
    captured = capsysbinary.readouterr()
    rows = list(csv.DictReader(io.StringIO(captured.out.decode(), newline="")))
    assert len(rows) == 28 and set(rows[0]) >= {"system", "z"}
    assert b"Exported 28 rows to standard output" in captured.err


def test_an_admin_gets_real_ids(run, tmp_path):
    User.objects.create_superuser("ada")
    call_command(
        "export",
        *("ratings", "News", str(tmp_path / "r.csv")),
        *("--real-ids", "--actor", "ada", "--reason", "Dispute 17"),
    )
    assert AuditEntry.objects.get().reason == "Dispute 17"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ratings", "Other", "x.csv"), "There is no campaign named 'Other'. Choose from: News."),
        (("segments", "News", "x.csv", "--run", "7"), "has no gold run 7. Choose from: 1."),
        (("ratings", "News", "x.csv", "--real-ids"), "Only an admin"),
        (("ratings", "News", "x.csv", "--real-ids", "--actor", "eve"), "no user named 'eve'"),
        (("ratings", "News", "-", "--format", "parquet"), "format parquet is binary"),
    ],
)
def test_bad_arguments_are_refused_with_the_reason(run, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CommandError, match=message):
        call_command("export", *arguments)
    assert list(tmp_path.iterdir()) == []


# --- in a separate process --------------------------------------------------------------------------

# A campaign with enough gold rows that its export fills a pipe.
MAKE_GOLD = """
import django; django.setup()
from tests.migrated import own_database
own_database()
from tests.factories import make_campaign, make_translations
from tests.analysis.export_rows import make_run
campaign = make_campaign(name="News")
make_translations(campaign, n_segments=600)
make_run(campaign)
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """The environment of a platform with a separate database."""
    environment = os.environ | {
        "DA_DEBUG": "1",
        "DA_DATA_DIR": str(tmp_path_factory.mktemp("platform")),
        "DA_SECRET_KEY": "only-for-tests",
        "DJANGO_SETTINGS_MODULE": "da_platform.settings",
    }
    environment.pop("DATABASE_URL", None)
    subprocess.run([sys.executable, "-c", MAKE_GOLD], cwd=ROOT, env=environment, check=True)
    return environment


# Between two batches another connection writes, then the exporting process stores its progress.
EXPORT_AND_STORE_PROGRESS = """
import sqlite3, sys
import django; django.setup()
from django.db import connection
from analysis.exporting import batches, export
from da_platform.jobs.models import Job
from hits.models import Campaign
batches.BATCH_ROWS = 500
other = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)
job = Job.objects.create(kind="export")
def store(n_rows):
    other.execute("UPDATE hits_campaign SET instructions = instructions || 'x'")
    job.n_done += n_rows
    job.save(update_fields=["n_done"])
    seen.append(other.execute("SELECT n_done FROM jobs_job").fetchone()[0])
seen = []
export(kind="segments", campaign=Campaign.objects.get(), path=sys.argv[1], format="csv", progress=store)
print(*seen)
"""


def test_progress_can_be_stored_during_an_export_while_others_write(environment, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", EXPORT_AND_STORE_PROGRESS, str(tmp_path / "s.csv")],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["500", "1000", "1200"]


def command(*arguments: str) -> list[str]:
    return [sys.executable, "manage.py", "export", "segments", "News", *arguments]


def test_a_reader_that_stops_early_causes_no_traceback(environment):
    process = subprocess.Popen(
        command("-"),
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # The pipe is smaller than the export and nothing is read ahead, so the reader stops before it is done.
        pipesize=4096,
        bufsize=0,
    )
    assert process.stdout and process.stderr
    process.stdout.read(10)
    process.stdout.close()
    errors = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait(timeout=60) == 1
    assert "closed the pipe before the end" in errors
    assert "Traceback" not in errors and "Exception ignored" not in errors


def test_a_full_device_is_reported(environment):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command("-", "--format", "tsv"),
            cwd=ROOT,
            env=environment,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr


def test_standard_output_contains_only_the_file(environment, tmp_path):
    process = {"cwd": ROOT, "env": environment, "check": True, "capture_output": True}
    subprocess.run(command(str(tmp_path / "s.csv")), **process)
    streamed = subprocess.run(command("-"), **process)
    assert streamed.stdout == (tmp_path / "s.csv").read_bytes()
    assert streamed.stdout.count(b"\r\n") == 1201
