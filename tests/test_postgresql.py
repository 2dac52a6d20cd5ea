"""The platform on a real PostgreSQL: the same tables, the same HITs, the same refusals."""

import json
from pathlib import Path

import pytest

from tests.migrated import migrated_database
from tests.subprocesses import CHECKOUT, manage, output_of, run_python

DEMO = CHECKOUT / "examples" / "demo-de-en" / "campaign"
# Run on PostgreSQL as they are: what they test is said in them.
SHARED_TESTS = {
    "analysis": ["export_layouts", "export_tables", "score_storing"],
    "hits": [
        "constraints",
        "deciding",
        "guards",
        "import_collection",
        "save_rating",
        "second_factor",
        "take_assignment",
    ],
    "payments": ["sending"],
}

PRINT_CONTENTS = """
import django; django.setup()
import json
from hits.models import Item, Rating
items = Item.objects.order_by("hit__number", "position").values_list(
    "hit__number", "position", "role", "text", "partner__position", "translation__text"
)
ratings = Rating.objects.order_by("assignment__hit__number", "assignment__worker__external_id", "item__position")
print(json.dumps([
    list(items),
    list(ratings.values_list("assignment__worker__external_id", "item__position", "score", "active_ms")),
]))
"""


def run_a_campaign(**variables: str) -> tuple[list, dict]:
    """Import the demo, build its HITs, let workers rate; return what is stored and the status."""
    variables |= {"DA_DEBUG": "1", "DJANGO_SETTINGS_MODULE": "da_platform.settings"}
    languages = ["--from", "de", "--to", "en"]
    for command in (
        ["import_campaign", str(DEMO), "--name", "News", *languages, "--seed", "3"],
        ["build_hits", "News", "--open"],
        ["simulate_workers", "News", "--crowd", "honest=2,random=1", "--seed", "5"],
    ):
        output_of(manage(*command, **variables))
    status = json.loads(output_of(manage("campaign_status", "News", "--json", **variables)))
    # Public codes are random, whatever the seed, and the outlook is told by the clock.
    del status["code"], status["forecast"]
    return json.loads(output_of(run_python("-c", PRINT_CONTENTS, **variables))), status


def test_a_campaign_runs_on_postgresql_and_is_the_same_as_on_sqlite(
    postgres_url: str, tmp_path: Path
):
    here = {"DATABASE_URL": migrated_database(postgres_url), "DA_DATA_DIR": str(tmp_path / "pg")}
    there = {"DATABASE_URL": f"sqlite:///{tmp_path / 'db.sqlite3'}", "DA_DATA_DIR": str(tmp_path)}
    migrated_database(there["DATABASE_URL"])
    (items, ratings), status = run_a_campaign(**here)
    assert ([items, ratings], status) == run_a_campaign(**there)
    assert len(items) >= 400 and status["n_submitted"] == 3
    assert status["n_ratings"] == len(ratings) == 3 * status["hit_size"]


def test_no_migration_is_missing_on_postgresql(postgres_url: str, tmp_path: Path):
    variables = {"DATABASE_URL": postgres_url, "DA_DATA_DIR": str(tmp_path)}
    output_of(manage("migrate", "--verbosity", "0", DA_DEBUG="1", **variables))
    process = manage("makemigrations", "--check", "--dry-run", DA_DEBUG="1", **variables)
    assert "No changes detected" in output_of(process)
    plan = manage("migrate", "--check", DA_DEBUG="1", **variables)
    assert plan.returncode == 0, plan.stdout + plan.stderr


@pytest.mark.parametrize("app", SHARED_TESTS)
def test_it_passes_on_postgresql_too(app: str, postgres_url: str):
    paths = [f"tests/{app}/test_{name}.py" for name in SHARED_TESTS[app]]
    process = run_python(
        *("-m", "pytest", "-q", "-p", "no:cacheprovider", *paths),
        DA_TEST_DATABASE_URL=postgres_url,
    )
    summary = output_of(process).strip().splitlines()[-1]
    assert "passed" in summary and "skipped" not in summary, summary


def test_the_run_above_is_really_on_postgresql(postgres_url: str):
    code = "from tests.settings import DATABASES; print(DATABASES['default']['ENGINE'])"
    process = run_python("-c", code, DA_TEST_DATABASE_URL=postgres_url)
    assert output_of(process) == "da_platform.postgresql\n"
