"""Every table in every format matches the database."""

import csv
import io
import json
from datetime import UTC, datetime

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from analysis.exporting import batches, export, writers
from da_platform.files.pseudonyms import Pseudonyms
from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.models import Assignment, Evidence, Participation, Rating, System
from hits.rating.assignments import take_assignment
from hits.workers.trust import weigh_pending
from tests.analysis.export_rows import (
    add_system,
    gold_by_name,
    make_gold,
    make_run,
    read_back,
    segments_in_order,
)
from tests.decisions import exclude
from tests.factories import make_hits, make_worker, rate

pytestmark = pytest.mark.django_db
TABLES = ("csv", "tsv", "jsonl", "parquet")


@pytest.fixture
def rated():
    """A campaign of one HIT that two simulated workers have done and alice has started."""
    campaign = make_hits(min_ratings=9)
    simulate_workers(
        campaign=campaign,
        crowd={Behaviour.HONEST: 1, Behaviour.RANDOM: 1},
        hits_per_worker=1,
        seed=3,
    )
    weigh_pending()
    # Another system shares the first system's output of the first segment.
    first = campaign.segments.get(position=1).translations.first()
    add_system(campaign, "system|c", [first])
    assignment = take_assignment(campaign=campaign, worker=make_worker("alice"))
    rate(assignment, assignment.hit.items.get(position=1), score=0, elapsed_ms=900, active_ms=None)
    Rating.objects.filter(assignment=assignment).update(
        received_at=datetime(2026, 3, 1, tzinfo=UTC)
    )
    return campaign


def expected_ratings(campaign) -> list[dict]:
    workers = Pseudonyms(campaign.code, "worker")
    assignments = Pseudonyms(campaign.code, "assignment")
    states = {row.worker_id: row.state for row in Participation.objects.filter(campaign=campaign)}
    rows = Rating.objects.select_related(
        "assignment__hit", "assignment__worker", "item__translation__segment"
    ).order_by("assignment__hit__number", "assignment_id", "item__position")
    return [
        {
            "campaign": campaign.name,
            "hit": row.assignment.hit.number,
            "assignment": assignments.name(row.assignment.code.hex),
            "worker": workers.name(str(row.assignment.worker)),
            "provider": row.assignment.worker.provider,
            "worker_state": states.get(row.assignment.worker_id, "unproven"),
            "position": row.item.position,
            "role": row.item.Role(row.item.role).name.lower(),
            "segment": row.item.translation.segment.name,
            "document": row.item.translation.segment.document,
            "systems": sorted(system.name for system in row.item.translation.systems.all()),
            "score": row.score,
            "received_at": f"{row.received_at:%Y-%m-%dT%H:%M:%S.%fZ}",
            "elapsed_ms": row.elapsed_ms,
            "active_ms": row.active_ms,
            "assignment_status": row.assignment.status,
            "is_late": row.assignment.is_late,
            "is_rejected": row.assignment.is_rejected,
            "hold": row.assignment.hold,
            "hold_reason": row.assignment.hold_reason,
            "is_left_out_by_drift": False,
            "second_reference": "",
            "place": row.place,
        }
        for row in rows
    ]


@pytest.mark.parametrize("format", TABLES)
def test_exported_ratings_match_the_database(rated, tmp_path, format):
    path = tmp_path / f"ratings.{format}"
    summary = export(kind="ratings", campaign=rated, path=path, format=format)
    assert summary.n_rows == Rating.objects.count() == 81
    assert read_back(path) == expected_ratings(rated)


def test_the_exported_ratings_include_awkward_ones(rated):
    rows = expected_ratings(rated)
    assert any(len(row["systems"]) == 2 for row in rows)
    assert {row["worker_state"] for row in rows} >= {"unproven"}
    assert {row["assignment_status"] for row in rows} == {"submitted", "in_progress"}
    assert rows[-1]["received_at"] == "2026-03-01T00:00:00.000000Z"
    assert (rows[-1]["elapsed_ms"], rows[-1]["active_ms"], rows[-1]["score"]) == (900, None, 0)


def test_ratings_of_another_campaign_are_left_out(rated, tmp_path):
    other = make_hits()
    summary = export(kind="ratings", campaign=other, path=tmp_path / "none.csv", format="csv")
    assert summary.n_rows == 0
    assert (tmp_path / "none.csv").read_text().startswith("campaign,hit,assignment,worker,")


@pytest.mark.parametrize("format", TABLES)
def test_an_empty_table_is_still_a_table(tmp_path, format):
    path = tmp_path / f"none.{format}"
    export(kind="ratings", campaign=make_hits(), path=path, format=format)
    assert read_back(path) == []
    if format == "parquet":
        assert "worker_state" in pq.read_schema(path).names


def test_pandas_infers_types_from_csv(rated, tmp_path):
    export(kind="ratings", campaign=rated, path=tmp_path / "r.csv", format="csv")
    frame = pd.read_csv(tmp_path / "r.csv", parse_dates=["received_at"])
    assert frame["score"].dtype == "int64" and frame["is_late"].dtype == "bool"
    assert str(frame["received_at"].dtype.tz) == "UTC"
    assert frame["score"].sum() == sum(Rating.objects.values_list("score", flat=True))


def test_parquet_has_types_row_groups_and_its_own_signature(rated, tmp_path, monkeypatch):
    monkeypatch.setattr(batches, "BATCH_ROWS", 10)
    monkeypatch.setattr(writers, "ROW_GROUP_ROWS", 30)
    path = tmp_path / "r.parquet"
    summary = export(kind="ratings", campaign=rated, path=path, format="parquet")
    schema = pq.read_schema(path)
    assert schema.field("received_at").type == pa.timestamp("us", tz="UTC")
    assert schema.field("systems").type.value_type == pa.string()
    assert schema.field("score").type == pa.int64()
    file = pq.ParquetFile(path).metadata
    assert [file.row_group(place).num_rows for place in range(file.num_row_groups)] == [30, 30, 21]
    assert json.loads(schema.metadata[b"da_platform"])["signature"] == summary.meta["signature"]
    assert read_back(path) == expected_ratings(rated)


# --- evidence ---------------------------------------------------------------------------------------


@pytest.fixture
def weighed():
    campaign = make_hits(n_segments=140, hit_size=100, min_ratings=2)
    for behaviour in (Behaviour.HONEST, Behaviour.RANDOM):
        simulate_workers(campaign=campaign, crowd={behaviour: 1}, hits_per_worker=2, seed=3)
    weigh_pending()
    return campaign


def expected_evidence(row: Evidence) -> dict:
    facts = {
        field.name: getattr(row, field.name)
        for field in Evidence._meta.fields
        if field.name not in {"id", "participation", "assignment", "computed_at"}
    }
    return facts | {
        "details": json.dumps(row.details),
        "campaign": row.participation.campaign.name,
        "worker": Pseudonyms(row.participation.campaign.code, "worker").name(
            str(row.participation.worker)
        ),
        "provider": row.participation.worker.provider,
        "worker_state": row.participation.state,
        "decision": row.participation.decision,
        "assignment": Pseudonyms(row.participation.campaign.code, "assignment").name(
            row.assignment.code.hex
        ),
        "hit": row.assignment.hit.number,
        "computed_at": _moment(row.computed_at),
        "drifted_at": _moment(row.drifted_at),
    }


def _moment(at: datetime | None) -> str | None:
    return f"{at:%Y-%m-%dT%H:%M:%S.%fZ}" if at else None


@pytest.mark.parametrize("format", TABLES)
def test_evidence_is_the_latest_of_each_worker(weighed, tmp_path, django_user_model, format):
    person = Participation.objects.get(trust="reliable")
    exclude(participation=person, actor=django_user_model.objects.create(), reason="asked to")
    path = tmp_path / f"evidence.{format}"
    export(kind="evidence", campaign=weighed, path=path, format=format)
    latest = [
        participation.evidence.last() for participation in Participation.objects.order_by("pk")
    ]
    assert len(latest) == 2
    assert read_back(path) == [expected_evidence(row) for row in latest]
    assert {row["worker_state"] for row in read_back(path)} == {"excluded", "unreliable"}


@pytest.mark.parametrize("format", TABLES)
def test_every_side_of_the_evidence_has_its_columns(weighed, tmp_path, format):
    facts = {
        "n_agreement_items": 70, "agreement_r": 0.5, "agreement_p": 0.001, "likeness_measure": "chrF",
        "likeness_r": 0.75, "has_likeness_flag": True, "median_gap_seconds": 6.5, "share_fast": 0.25,
        "claimed_seconds": 600.5, "passed_seconds": 900.5, "n_held_hits": 1,
    }  # fmt: skip
    Evidence.objects.update(**facts, drifted_at=datetime(2026, 3, 1, 9, 30, tzinfo=UTC))
    path = tmp_path / f"evidence.{format}"
    export(kind="evidence", campaign=weighed, path=path, format=format)
    for row in read_back(path):
        assert {name: row[name] for name in facts} == facts
        assert row["drifted_at"] == "2026-03-01T09:30:00.000000Z"


@pytest.mark.parametrize("format", TABLES)
def test_the_history_of_evidence_is_exported_on_request(weighed, tmp_path, format):
    path = tmp_path / f"history.{format}"
    export(kind="evidence", campaign=weighed, path=path, format=format, history=True)
    rows = Evidence.objects.order_by("participation", "pk")
    assert len(rows) == 4
    assert read_back(path) == [expected_evidence(row) for row in rows]


# --- gold -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", TABLES)
def test_exported_segments_match_the_database_with_incomplete_ones_marked(tmp_path, format):
    run = make_gold()
    path = tmp_path / f"segments.{format}"
    summary = export(kind="segments", campaign=run.campaign, path=path, format=format)
    rows, gold = read_back(path), gold_by_name(run)
    assert [(row["system"], row["segment"]) for row in rows] == [
        (system.name, segment)
        for system in System.objects.order_by("pk")
        for segment in segments_in_order(run.campaign)
    ]
    for row in rows:
        score = gold[row["system"], row["segment"]]
        names = ("raw", "z", "raw_se", "z_se", "z_low", "z_high", "n", "n_ratings", "is_complete")
        unrated = (*[None] * 6, 0, 0, False)
        stored = tuple(getattr(score, name) for name in names) if score else unrated
        assert tuple(row[name] for name in names) == stored
    incomplete = [row for row in rows if not row["is_complete"]]
    assert len(incomplete) == summary.n_incomplete == 6
    assert all(row["raw"] is None and row["z"] is None for row in incomplete)


def test_segments_are_from_the_latest_run_by_default(tmp_path):
    old = make_gold()
    new = make_gold(old.campaign, seed=2)
    order = {"kind": "segments", "campaign": old.campaign, "format": "jsonl"}
    export(path=tmp_path / "new.jsonl", **order)
    export(path=tmp_path / "old.jsonl", run=old, **order)
    for run, name in ((old, "old.jsonl"), (new, "new.jsonl")):
        exported = {row["z"] for row in read_back(tmp_path / name)}
        assert exported == {None, *run.scores.filter(is_complete=True).values_list("z", flat=True)}


@pytest.mark.parametrize("format", TABLES)
def test_systems_are_ranked_with_unrated_ones_last(tmp_path, format):
    run = make_gold()
    last = run.campaign.segments.last().translations.last()
    add_system(run.campaign, "unrated", [last])
    path = tmp_path / f"systems.{format}"
    export(kind="systems", campaign=run.campaign, path=path, format=format)
    rows, gold = read_back(path), gold_by_name(run)
    assert [row["rank"] for row in rows] == [1, 2, None]
    assert rows[0]["z"] > rows[1]["z"]
    for row in rows[:2]:
        scores = [
            s for (name, _), s in gold.items() if name == row["system"] and s and s.is_complete
        ]
        assert row["z"] == pytest.approx(sum(s.z for s in scores) / len(scores), rel=1e-12)
        assert row["raw"] == pytest.approx(sum(s.raw for s in scores) / len(scores), rel=1e-12)
        assert (row["n_segments"], row["n_incomplete"]) == (len(scores), 14 - len(scores))
        assert row["n_ratings"] == sum(s.n_ratings for s in scores)
    assert rows[2] == {
        "campaign": run.campaign.name,
        "rank": None,
        "cluster": None,
        "system": "unrated",
        **dict.fromkeys(("raw", "z", "z_se", "z_low", "z_high", "z_rated")),
        **{"n_segments": 0, "n_incomplete": 1, "n_ratings": 0, "wins": 0, "test": ""},
    }


def test_a_clear_winner_is_alone_in_its_cluster(tmp_path):
    run = make_gold()
    better = System.objects.order_by("pk")[1]
    for score in run.scores.filter(is_complete=True, translation__systems=better):
        score.z += 9
        score.save(update_fields=["z"])
    export(kind="systems", campaign=run.campaign, path=tmp_path / "s.jsonl", format="jsonl")
    rows = read_back(tmp_path / "s.jsonl")
    assert [(row["system"], row["cluster"], row["wins"]) for row in rows] == [
        (better.name, 1, 1),
        ("system-a", 2, 0),
    ]


@pytest.mark.parametrize("format", TABLES)
def test_without_any_complete_segment_no_system_has_a_score(tmp_path, format):
    run = make_gold()
    empty = make_run(run.campaign)
    path = tmp_path / f"systems.{format}"
    summary = export(kind="systems", campaign=run.campaign, path=path, format=format, run=empty)
    assert [(row["rank"], row["z"], row["n_segments"]) for row in read_back(path)] == [
        (None, None, 0)
    ] * 2
    assert summary.n_incomplete == 28


# --- size -------------------------------------------------------------------------------------------


def n_queries(campaign, path, **fields) -> int:
    with CaptureQueriesContext(connection) as queries:
        export(campaign=campaign, path=path, format="csv", **fields)
    return len(queries)


def test_the_number_of_queries_does_not_grow_with_the_rows(rated, tmp_path):
    few = n_queries(rated, tmp_path / "few.csv", kind="ratings")
    simulate_workers(campaign=rated, crowd={Behaviour.HONEST: 3}, hits_per_worker=1, seed=9)
    assert Rating.objects.count() > 150
    assert n_queries(rated, tmp_path / "more.csv", kind="ratings") == few == 1


def test_batches_of_any_size_give_the_same_bytes(rated, tmp_path, monkeypatch):
    order = {"kind": "ratings", "campaign": rated, "format": "csv"}
    export(path=tmp_path / "large.csv", **order)
    monkeypatch.setattr(batches, "BATCH_ROWS", 7)
    batch_sizes: list[int] = []
    export(path=tmp_path / "small.csv", progress=batch_sizes.append, **order)
    assert (tmp_path / "small.csv").read_bytes() == (tmp_path / "large.csv").read_bytes()
    assert batch_sizes == [7] * 11 + [4]


def test_csv_rows_end_with_crlf_and_contain_no_comments(rated, tmp_path):
    export(kind="ratings", campaign=rated, path=tmp_path / "r.csv", format="csv")
    content = (tmp_path / "r.csv").read_bytes().decode()
    first, _, rows = content.partition("\r\n")
    assert first.startswith("campaign,hit,") and rows.count("\r\n") == 81
    assert {len(cells) for cells in csv.reader(io.StringIO(content, newline=""))} == {23}


def test_a_worker_without_participation_counts_as_unproven(rated, tmp_path):
    Participation.objects.filter(evidence=None).delete()
    export(kind="ratings", campaign=rated, path=tmp_path / "r.jsonl", format="jsonl")
    assert read_back(tmp_path / "r.jsonl")[-1]["worker_state"] == "unproven"
    assert Assignment.objects.count() == 3
