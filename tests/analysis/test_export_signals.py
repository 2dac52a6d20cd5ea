"""Exports of what browsers counted, and of likeness to metrics, under pseudonyms."""

import csv
from pathlib import Path

import pytest

from analysis.exporting import ExportRefused, export
from hits.models import Campaign, InputSignals
from hits.rating.assignments import take_assignment
from hits.rating.signals import COUNTS
from tests.analysis import test_worker_likeness
from tests.factories import make_hits, make_worker

pytestmark = pytest.mark.django_db

likeness_campaign = test_worker_likeness.campaign


def rows_of(kind: str, campaign: Campaign, path: Path) -> list[dict[str, str]]:
    export(kind=kind, campaign=campaign, path=path, format="csv")
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def signals_of(campaign: Campaign, name: str, **fields: object) -> None:
    assignment = take_assignment(campaign=campaign, worker=make_worker(name))
    InputSignals.objects.create(assignment=assignment, **fields)


def test_signals_have_a_row_for_each_item(tmp_path):
    campaign = make_hits(min_ratings=3)
    items = [[position, 1, 2, 3, 4] for position in range(40)]
    signals_of(campaign, "alice", items=[*items[:39], None], followed_canary=True)
    rows = rows_of("signals", campaign, tmp_path / "signals.csv")
    assert [row["position"] for row in rows] == [str(position) for position in range(1, 41)]
    assert [rows[7][name] for name in COUNTS] == ["7", "1", "2", "3", "4"]
    assert [rows[39][name] for name in COUNTS] == [""] * 5
    assert {row["followed_canary"] for row in rows} == {"1"}


def test_a_hit_without_counts_has_one_row(tmp_path):
    campaign = make_hits(min_ratings=3)
    signals_of(campaign, "alice", n_comment_pastes=2)
    [row] = rows_of("signals", campaign, tmp_path / "signals.csv")
    assert (row["position"], row["pointer"], row["followed_canary"]) == ("", "", "")
    assert row["comment_pastes"] == "2"


def test_neither_export_contains_real_ids(likeness_campaign, tmp_path):
    signals_of(likeness_campaign, "eve", followed_canary=False)
    for kind, n_rows in (("signals", 1), ("likeness", 4)):
        path = tmp_path / f"{kind}.csv"
        rows = rows_of(kind, likeness_campaign, path)
        assert len(rows) == n_rows
        assert all(row["worker"].startswith("w") for row in rows)
        assert not any(name in path.read_text() for name in ("alice", "mallory", "eve"))


def test_likeness_has_a_row_for_each_worker_and_metric(likeness_campaign, tmp_path):
    rows = rows_of("likeness", likeness_campaign, tmp_path / "likeness.csv")
    assert {row["metric"] for row in rows} == {"model"}
    assert float(rows[0]["r"]) > 0.99 and rows[0]["share_below"] == "1.0"
    assert rows[0]["worker_state"] == "unproven" and rows[0]["n_trusted"] == "3"


def test_a_campaign_without_metrics_gives_an_empty_table(tmp_path):
    assert rows_of("likeness", make_hits(), tmp_path / "likeness.csv") == []


@pytest.mark.parametrize("kind", ["signals", "likeness"])
def test_score_layouts_are_refused(kind, tmp_path):
    with pytest.raises(ExportRefused, match="for segments and systems"):
        export(kind=kind, campaign=make_hits(), path=tmp_path / "x", format="mtme")
