"""The import command: its options, its summary and the problems it reports."""

import io
import json
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from hits.models import Campaign

pytestmark = pytest.mark.django_db

DATA = Path(__file__).parents[1] / "data"


def run(path: Path, *options: str) -> str:
    stdout = io.StringIO()
    languages = ["--from", "de", "--to", "en"]
    call_command(
        "import_campaign", str(path), "--name", "Small", *languages, *options, stdout=stdout
    )
    return stdout.getvalue()


@pytest.mark.parametrize("path", sorted((DATA / "campaigns").iterdir()), ids=lambda path: path.name)
def test_it_imports_each_format_and_reports_counts(path: Path) -> None:
    output = run(path)
    assert "2 systems, 3 segments, 6 outputs, 5 distinct translations." in output
    assert "Note: 1 output identical to another system's is rated once." in output
    assert Campaign.objects.get().name == "Small"


def test_it_can_print_json() -> None:
    assert json.loads(run(DATA / "campaigns" / "table.csv", "--json")) == {
        "campaign": str(Campaign.objects.get().code),
        "name": "Small",
        "n_systems": 2,
        "n_segments": 3,
        "n_translations": 5,
        "n_outputs": 6,
        "notes": ["1 output identical to another system's is rated once"],
        "n_mends": 0,
        "mends": [],
    }


def test_options_set_the_settings_of_the_campaign(tmp_path: Path) -> None:
    instructions = tmp_path / "instructions.txt"
    instructions.write_text("Read twice.\n\nRate once.\n")
    run(
        DATA / "campaigns" / "simple",
        *["--task", "source", "--hit-size", "40", "--min-ratings", "2", "--seed", "7"],
        *["--pay", "1.50", "--currency", "EUR", "--instructions", str(instructions)],
        "--merge-near-identical",
    )
    campaign = Campaign.objects.get()
    assert (campaign.source_language, campaign.target_language) == ("de", "en")
    assert (campaign.task, campaign.status) == ("source", "draft")
    assert (campaign.hit_size, campaign.min_ratings) == (40, 2)
    assert (campaign.seed, campaign.pay_per_hit, campaign.currency) == (7, Decimal("1.50"), "EUR")
    assert campaign.instructions == "Read twice.\n\nRate once.\n"
    assert campaign.merges_near_identical
    assert campaign.segments.get(position=2).translations.count() == 1


def test_a_refusal_is_an_error_that_lists_the_problems() -> None:
    with pytest.raises(CommandError, match="systems/B.txt, line 2: the translation is empty"):
        run(DATA / "malformed" / "empty-translation")
    output = run(DATA / "malformed" / "empty-translation", "--allow-empty-translations")
    assert "2 systems" in output


def test_running_it_twice_is_refused_and_changes_nothing() -> None:
    run(DATA / "campaigns" / "simple")
    with pytest.raises(CommandError, match="name: Campaign with this Name already exists"):
        run(DATA / "campaigns" / "simple")
    assert Campaign.objects.get().segments.count() == 3


def test_a_reference_can_be_chosen() -> None:
    run(DATA / "malformed" / "two-references", "--reference", "B")
    assert Campaign.objects.get().segments.get(position=1).reference == "1"


@pytest.mark.parametrize(
    ("option", "value", "reason"),
    [
        ("--pay", "much", "'much' is not an amount"),
        ("--instructions", "/nowhere.txt", "nowhere.txt: cannot be read"),
    ],
)
def test_an_invalid_option_is_refused(option: str, value: str, reason: str) -> None:
    with pytest.raises(CommandError, match=reason):
        run(DATA / "campaigns" / "simple", option, value)
