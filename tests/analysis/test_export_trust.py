"""An export of ratings shows which of them count and why: held HITs, drift, second references."""

from datetime import timedelta

import pytest
from django.utils import timezone

from analysis.exporting import export
from analysis.gold.runs import load_trust
from da_client import Client
from hits.campaigns.building import build_hits
from hits.models import Assignment, Campaign, Item, Participation, Segment
from hits.rating.arrays import load_ratings
from hits.rating.assignments import take_assignment
from tests.analysis.export_rows import read_back
from tests.factories import make_campaign, make_hits, make_translations, make_worker, rate_items
from tests.holds import do_held_hit, make_guarded_hits
from tests.scored_hits import do_hit

TABLES = ("csv", "tsv", "jsonl", "parquet")
TRUSTED = {"reliable", "drifting", "reinstated"}

pytestmark = pytest.mark.django_db


def exported_ratings(campaign, tmp_path, format="jsonl"):
    path = tmp_path / f"ratings.{format}"
    export(kind="ratings", campaign=campaign, path=path, format=format, force=True)
    return read_back(path)


def counts_for_gold(row) -> bool:
    """As documented."""
    return (
        row["assignment_status"] == "submitted"
        and row["worker_state"] in TRUSTED
        and row["hold"] in ("", "counted")
        and not row["is_left_out_by_drift"]
    )


# --- held HITs ----------------------------------------------------------------------------------


@pytest.mark.parametrize("format", TABLES)
def test_a_held_hit_is_exported_with_its_reason(tmp_path, format):
    campaign = make_guarded_hits(min_ratings=2)
    held = do_held_hit(campaign, make_worker("alice"))
    do_hit(campaign, make_worker("bob"), lambda item: 50)
    rows = exported_ratings(campaign, tmp_path, format)
    holds = [(row["hold"], row["hold_reason"]) for row in rows]
    assert holds == [("held", held.hold_reason)] * 40 + [("", "")] * 40
    assert "reached the server within" in held.hold_reason


# --- drift --------------------------------------------------------------------------------------


def make_drifted(drift: str) -> Campaign:
    """Alice drifted with the second of two HITs and has begun a third; bob has done one."""
    campaign = make_hits(n_segments=42, min_ratings=3, drift=drift)
    alice, yesterday = make_worker("alice"), timezone.now() - timedelta(days=1)
    for number in range(2):
        do_hit(campaign, alice, lambda item: 50, at=yesterday + timedelta(hours=number))
    begun = take_assignment(campaign=campaign, worker=alice)
    rate_items(begun, n_items=2)
    second = Assignment.objects.get(worker=alice, hit__number=2)
    drifting = {"trust": Participation.Trust.DRIFTING, "drifted_at": second.submitted_at}
    Participation.objects.update_or_create(campaign=campaign, worker=alice, defaults=drifting)
    bob = make_worker("bob")
    do_hit(campaign, bob, lambda item: 50)
    Participation.objects.update_or_create(
        campaign=campaign, worker=bob, defaults={"trust": Participation.Trust.RELIABLE}
    )
    return campaign


@pytest.mark.parametrize(
    ("drift", "hits_left_out"), [("count", set()), ("since", {2, 3}), ("all", {1, 2, 3})]
)
def test_ratings_that_the_drift_setting_leaves_out_are_marked(tmp_path, drift, hits_left_out):
    rows = exported_ratings(make_drifted(drift), tmp_path)
    of_alice = [row for row in rows if row["worker_state"] == "drifting"]
    assert len(of_alice) == 82
    assert {row["hit"] for row in of_alice if row["is_left_out_by_drift"]} == hits_left_out
    assert not [row for row in rows if row not in of_alice and row["is_left_out_by_drift"]]


@pytest.mark.parametrize("drift", ["count", "since", "all"])
def test_the_columns_say_which_ratings_gold_uses(tmp_path, drift):
    campaign = make_drifted(drift)
    Assignment.objects.filter(hit__number=1, worker__external_id="alice").update(
        hold="discarded", hold_reason="too fast", held_at=timezone.now()
    )
    n_used = int(load_trust(campaign).counts(load_ratings(campaign)).sum())
    rows = exported_ratings(campaign, tmp_path)
    assert sum(map(counts_for_gold, rows)) == n_used == {"count": 80}.get(drift, 40)


@pytest.mark.parametrize("decision", Participation.Decision.values)
def test_a_persons_decision_overrides_drift(tmp_path, decision):
    campaign = make_drifted("all")
    drifting = Participation.objects.filter(trust="drifting")
    drifting.update(decision=decision, decision_reason="Checked.")
    assert not any(row["is_left_out_by_drift"] for row in exported_ratings(campaign, tmp_path))


# --- second references --------------------------------------------------------------------------


def rated_with_second_references(degradation: str) -> Campaign:
    campaign = make_campaign(min_ratings=1, degradation=degradation)
    make_translations(campaign)
    for segment in Segment.objects.all():
        segment.second_reference = f"=Another reference {segment.position}"
        segment.save(update_fields=["second_reference"])
    build_hits(campaign=campaign)
    Campaign.objects.update(status=Campaign.Status.OPEN)
    campaign.refresh_from_db()
    do_hit(campaign, make_worker("alice"), lambda item: 50)
    return campaign


@pytest.mark.parametrize("format", TABLES)
def test_reference_items_name_the_second_reference_that_they_showed(tmp_path, format):
    campaign = rated_with_second_references("balanced")
    texts = {item.position: item.text for item in Item.objects.all()}
    rows = exported_ratings(campaign, tmp_path, format)
    references = [row for row in rows if row["role"] == "reference"]
    assert len(references) == 4
    assert all(row["second_reference"] == texts[row["position"]] for row in references)
    assert not [row for row in rows if row["role"] != "reference" and row["second_reference"]]


def test_a_second_reference_that_nobody_saw_is_not_exported(tmp_path):
    campaign = rated_with_second_references("published")
    rows = exported_ratings(campaign, tmp_path)
    assert "reference" in {row["role"] for row in rows}
    assert {row["second_reference"] for row in rows} == {""}


# --- in a DataFrame -----------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_the_client_reads_the_columns_back(tmp_path, format):
    campaign = make_guarded_hits(min_ratings=2)
    do_held_hit(campaign, make_worker("alice"))
    do_hit(campaign, make_worker("bob"), lambda item: 50)
    path = tmp_path / f"ratings.{format}"
    export(kind="ratings", campaign=campaign, path=path, format=format)
    frame = Client.frame(path.read_bytes())
    assert frame["hold"].isin(["held", "discarded"]).sum() == 40
    assert frame["is_left_out_by_drift"].dtype == "bool"


def test_the_client_does_not_take_a_text_for_a_missing_value():
    frame = Client.frame(b"segment,hold,z\r\nNA,,0.5\r\nnull,held,\r\n")
    assert list(frame["segment"]) == ["NA", "null"]
    assert frame["hold"].isna().tolist() == [True, False]
    assert frame["z"].isna().tolist() == [False, True]
