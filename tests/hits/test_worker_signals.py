"""A worker's page shows signals next to how often trusted workers show the same."""

from typing import Any

import pytest
from django.core.cache import cache
from django.urls import reverse

from hits.models import Assignment, Campaign, DeviceSighting, InputSignals, Participation
from hits.rating.assignments import take_assignment
from hits.workers.signals import SIGNS, SignalSign, signs_of
from tests.api.callers import caller
from tests.factories import make_hits, make_worker
from tests.people import client_of

pytestmark = pytest.mark.django_db

BY_HAND = [[5, 0, 0, 0, 0]] * 40


@pytest.fixture(autouse=True)
def _empty_cache() -> None:
    cache.clear()


def worker_with(
    campaign: Campaign, name: str, *, trust: str = "reliable", **signals: Any
) -> Participation:
    assignment = take_assignment(campaign=campaign, worker=make_worker(name))
    assert isinstance(assignment, Assignment)
    participation = Participation.objects.create(
        campaign=campaign, worker=assignment.worker, trust=trust
    )
    InputSignals.objects.create(assignment=assignment, **{"items": BY_HAND} | signals)
    return participation


def sign(participation: Participation, name: str) -> SignalSign:
    return {sign.name: sign for sign in signs_of(participation)}[name]


SHOWING: dict[str, dict[str, Any]] = {
    "canary": {"followed_canary": True},
    "scripted": {"n_items_scripted": 1},
    "no_counts": {"items": []},
    "without_input": {"n_items_without_input": 3},
    "unfocused": {"n_items_unfocused": 20},
    "pasted": {"n_comment_pastes": 1},
}


def test_every_sign_is_tested_here():
    assert SHOWING.keys() == SIGNS.keys()


@pytest.mark.parametrize("name", SIGNS)
def test_a_sign_is_counted_for_the_worker_and_for_other_trusted_workers(name):
    campaign = make_hits(min_ratings=9)
    alice = worker_with(campaign, "alice", **{"followed_canary": False} | SHOWING[name])
    worker_with(campaign, "bob", **{"followed_canary": False} | SHOWING[name])
    worker_with(campaign, "carol", followed_canary=False, n_items_unfocused=19)
    worker_with(campaign, "mallory", trust="unreliable", **SHOWING[name])
    shown = sign(alice, name)
    assert (shown.n_hits, shown.n_recorded) == (1, 1)
    assert (shown.n_trusted_showing, shown.n_trusted) == (1, 2)
    assert [row.name for row in signs_of(alice) if row.n_hits] == [name]


def test_there_is_no_canary_sign_without_a_canary():
    alice = worker_with(make_hits(), "alice")
    assert "canary" not in {row.name for row in signs_of(alice)}


def test_nothing_is_shown_for_a_worker_without_signals():
    campaign = make_hits()
    alice = Participation.objects.create(campaign=campaign, worker=make_worker("alice"))
    assert signs_of(alice) == []


def page_of(participation: Participation) -> str:
    campaign = participation.campaign
    url = reverse("campaign_worker", args=[campaign.code, participation.worker.code])
    return " ".join(client_of("admin", campaign).get(url).content.decode().split())


def test_the_page_shows_signs_and_companions_as_advice():
    campaign = make_hits(min_ratings=9)
    alice = worker_with(campaign, "alice", followed_canary=True)
    bob = worker_with(campaign, "bob", followed_canary=False)
    for participation in (alice, bob):
        DeviceSighting.objects.create(
            campaign=campaign, worker=participation.worker, kind="cookie", mark="m"
        )
    page = page_of(alice)
    assert "advice, never a verdict" in page
    assert "Followed the hidden instruction" in page and "<strong>1 of 1</strong>" in page
    assert "Moves together with" in page and "link:bob</a>: same browser" in page
    assert "same browser 1 of 1" in page
    assert "5.0 pointer moves" in page


def test_the_page_says_if_nothing_is_recorded():
    campaign = make_hits(records_signals=False)
    alice = Participation.objects.create(campaign=campaign, worker=make_worker("alice"))
    assert "does not record how texts are rated" in page_of(alice)


def test_the_api_gives_the_same():
    campaign = make_hits(min_ratings=9)
    alice = worker_with(campaign, "alice", n_comment_pastes=2)
    admin = caller("admin")
    path = f"/campaigns/{campaign.code}/workers"
    advice = admin.get(f"{path}/{alice.worker.code}/signals").json()
    assert {row["name"]: row["n_hits"] for row in advice["signs"]}["pasted"] == 1
    assert advice["means"]["pointer"] == 5
    bob = worker_with(campaign, "bob")
    for participation in (alice, bob):
        DeviceSighting.objects.create(
            campaign=campaign, worker=participation.worker, kind="cookie", mark="m"
        )
    [group] = admin.get(f"{path}/groups").json()["items"]
    assert group["workers"] == [str(alice.worker.code), str(bob.worker.code)]
    assert group["signs"] == [{"sign": "cookie", "n_pairs": 1, "example": ""}]
