"""Rankings as a table: a row for each output of each screen."""

import csv
import io

import pytest
from django.core.management import call_command

from analysis.exporting import export
from analysis.stats.judgements import SKIPPED
from hits.models import Campaign, Rank
from hits.ranking.arrays import load_rankings
from hits.ranking.saving import save_ranking
from hits.rating.assignments import submit_assignment
from hits.workers.trust import weigh_pending

from .campaigns import ranking_campaign, taken_by

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    """Alice, who is trusted, skips her first screen and ranks the others; bob ranks all texts alike."""
    campaign = ranking_campaign(
        systems=tuple("ABCD"),
        name="ranked",
        equals={"D": lambda text, number: f"{text}!"},
    )
    for name in ("alice", "bob"):
        assignment = taken_by(campaign, name)
        for screen in (1, 2, 3):
            codes = assignment.hit.items.filter(screen=screen).values_list("code", flat=True)
            ranks = {code: place if name == "alice" else 1 for place, code in enumerate(codes, 1)}
            skip = "broken" if (name, screen) == ("alice", 1) else ""
            save_ranking(
                assignment=assignment, position=screen, ranks={} if skip else ranks, skip=skip
            )
        submit_assignment(assignment=assignment)
    weigh_pending()
    campaign.participations.filter(worker__external_id="alice").update(trust="reliable")
    return campaign


def rows_of(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def test_every_rank_is_a_row_with_its_systems_skip_and_trust(campaign, tmp_path):
    path = tmp_path / "ranks.csv"
    export(kind="rankings", campaign=campaign, path=path, format="csv")
    rows = rows_of(path)
    assert len(rows) == Rank.objects.count()
    stored = Rank.objects.order_by("assignment", "item__screen", "place")
    assert [(row["rank"], row["skip"], row["place"]) for row in rows] == [
        ("" if rank.rank is None else str(rank.rank), rank.skip, str(rank.place)) for rank in stored
    ]
    assert {row["systems"] for row in rows} == {"A|D", "B", "C"}
    skipped = [row for row in rows if row["skip"]]
    assert {(row["screen"], row["is_trusted"]) for row in skipped} == {("1", "true")}
    assert sum(row["is_trusted"] == "true" for row in rows) == len(rows) / 2
    assert {"role", "received_at", "active_ms"} <= set(rows[0])


@pytest.mark.parametrize("fmt", ["tsv", "jsonl", "parquet"])
def test_the_other_formats_have_as_many_rows(campaign, tmp_path, fmt):
    summary = export(kind="rankings", campaign=campaign, path=tmp_path / f"ranks.{fmt}", format=fmt)
    assert summary.n_rows == Rank.objects.count()


def test_rankings_of_trusted_workers_can_be_written_alone(campaign, tmp_path):
    out = io.StringIO()
    for name, options in (("all.csv", []), ("trusted.csv", ["--trusted"])):
        call_command("export_rankings", "ranked", str(tmp_path / name), *options, stdout=out)
    everyone, trusted = (rows_of(tmp_path / name) for name in ("all.csv", "trusted.csv"))
    assert len({row["judgeID"] for row in everyone}) == 2
    assert len({row["judgeID"] for row in trusted}) == 1
    assert "trusted or not" in out.getvalue()


@pytest.mark.parametrize("ending", ["csv", "xml"])
def test_what_is_written_can_be_read_again_with_skipped_outputs(campaign, tmp_path, ending):
    path = tmp_path / f"out.{ending}"
    call_command("export_rankings", "ranked", str(path), stdout=io.StringIO())
    again = import_again(path, ending)
    assert tally(again) == tally(campaign)
    assert SKIPPED in load_rankings(again, trusted_only=False).ranks


def import_again(path, ending):
    out = io.StringIO()
    formats = {"csv": "wmt-rankings", "xml": "appraise-rankings"}
    call_command(
        "import_collection",
        str(path),
        format=formats[ending],
        name=f"again {ending}",
        source_language="de",
        target_language="en",
        stdout=out,
    )
    return Campaign.objects.get(name=f"again {ending}")


def tally(campaign):
    rows = load_rankings(campaign, trusted_only=False)
    names = dict(campaign.systems.values_list("pk", "name"))
    return sorted(
        (names[system], rank)
        for system, rank in zip(rows.systems.tolist(), rows.ranks.tolist(), strict=True)
    )
