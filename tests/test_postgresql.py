"""The platform works the same on a real PostgreSQL as on SQLite."""

import json
from pathlib import Path

import pytest

from tests.migrated import migrated_database
from tests.subprocesses import CHECKOUT, manage, output_of, run_python

pytestmark = pytest.mark.slow

DEMO = CHECKOUT / "examples" / "demo-de-en" / "campaign"
# Tests to repeat on PostgreSQL: constraints, conditional updates, raw SQL and claims of payments.
SHARED_TESTS = [
    "analysis/test_document_scores.py",
    "analysis/test_export_signals.py",
    "analysis/test_export_tables.py",
    "analysis/test_score_storing.py",
    "hits/test_checking_post_editions.py::test_checked_texts_are_what_gold_and_exports_use",
    "hits/test_checking_post_editions.py::test_nobody_checks_a_text_of_their_own",
    "hits/test_constraints.py",
    "hits/test_deciding.py",
    "hits/test_guards.py",
    "hits/test_import_collection.py::test_every_format_gives_a_closed_campaign_with_all_ratings",
    "hits/test_save_rating.py",
    "hits/test_second_factor.py",
    "hits/test_take_assignment.py",
    "hits/test_worker_signals.py",
    "payments/test_sending.py",
]

RUN_A_CAMPAIGN = """
import io, json, sys
import django; django.setup()
from django.core.management import call_command
from hits.models import Item, Rating

for command in json.loads(sys.argv[1]):
    call_command(*command, stdout=io.StringIO(), stderr=io.StringIO())
call_command("campaign_status", "News", "--json", stdout=(status := io.StringIO()))
items = Item.objects.order_by("hit__number", "position").values_list(
    "hit__number", "position", "role", "text", "partner__position", "translation__text"
)
ratings = Rating.objects.order_by("assignment__hit__number", "assignment__worker__external_id", "item__position")
ratings = ratings.values_list("assignment__worker__external_id", "item__position", "score", "active_ms")
print(json.dumps([list(items), list(ratings), json.loads(status.getvalue())]))
"""


def run_a_campaign(*more: list[str], **variables: str) -> tuple[list, list, dict]:
    """Import the demo, let workers rate, run more commands; return items, ratings and status."""
    variables |= {"DA_DEBUG": "1", "DJANGO_SETTINGS_MODULE": "da_platform.settings"}
    languages = ["--from", "de", "--to", "en"]
    commands = [
        ["import_campaign", str(DEMO), "--name", "News", *languages, "--seed", "3"],
        ["build_hits", "News", "--open"],
        ["simulate_workers", "News", "--crowd", "honest=2,random=1", "--seed", "5"],
        *more,
    ]
    process = run_python("-c", RUN_A_CAMPAIGN, json.dumps(commands), **variables)
    items, ratings, status = json.loads(output_of(process))
    # Public codes are random, and the forecast depends on the clock.
    del status["code"], status["forecast"]
    return items, ratings, status


def test_a_campaign_gives_the_same_rows_on_postgresql_and_sqlite(postgres_url: str, tmp_path: Path):
    here = {"DATABASE_URL": migrated_database(postgres_url), "DA_DATA_DIR": str(tmp_path / "pg")}
    there = {"DATABASE_URL": f"sqlite:///{tmp_path / 'db.sqlite3'}", "DA_DATA_DIR": str(tmp_path)}
    migrated_database(there["DATABASE_URL"])
    items, ratings, status = run_a_campaign(**here)
    assert (items, ratings, status) == run_a_campaign(**there)
    assert len(items) >= 400 and status["n_submitted"] == 3
    assert status["n_ratings"] == len(ratings) == 3 * status["hit_size"]


def test_no_migration_is_missing_on_postgresql(postgres_url: str, tmp_path: Path):
    variables = {"DATABASE_URL": postgres_url, "DA_DATA_DIR": str(tmp_path)}
    output_of(manage("migrate", "--verbosity", "0", DA_DEBUG="1", **variables))
    process = manage("makemigrations", "--check", "--dry-run", DA_DEBUG="1", **variables)
    assert "No changes detected" in output_of(process)
    plan = manage("migrate", "--check", DA_DEBUG="1", **variables)
    assert plan.returncode == 0, plan.stdout + plan.stderr


def test_shared_tests_pass_on_postgresql(postgres_url: str):
    # First make sure that the tests really use PostgreSQL.
    code = "from tests.settings import DATABASES; print(DATABASES['default']['ENGINE'])"
    process = run_python("-c", code, DA_TEST_DATABASE_URL=postgres_url)
    assert output_of(process) == "da_platform.postgresql\n"
    process = run_python(
        *("-m", "pytest", "-q", "-p", "no:cacheprovider"),
        # Other file formats make no difference to the database.
        *("-k", "not tsv and not jsonl and not parquet"),
        *(f"tests/{path}" for path in SHARED_TESTS),
        DA_TEST_DATABASE_URL=postgres_url,
    )
    summary = output_of(process).strip().splitlines()[-1]
    assert "passed" in summary and "skipped" not in summary, summary
