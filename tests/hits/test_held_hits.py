"""Decisions about held HITs: by a person, or by the platform after a day."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from analysis.gold.runs import build_gold
from analysis.nightly import campaigns_with_news
from hits.chores import do_chores
from hits.exceptions import DecisionRefused
from hits.models import Assignment, AuditEntry, Campaign, Evidence, Participation
from hits.rating.arrays import load_assignments
from hits.rating.places import amount_owed
from hits.workers.held_hits import (
    HOLD_HOURS,
    HoldChoice,
    count_held,
    decide_holds_as_seen,
    discard_held,
    held_hits,
    preview_hold,
)
from tests.factories import make_worker
from tests.holds import do_held_hit, do_hit, make_guarded_hits
from tests.people import make_person

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    return make_guarded_hits(n_segments=70, hit_size=100, min_ratings=1, pay_per_hit=2)


@pytest.fixture
def ann() -> User:
    return make_person("admin")


@pytest.fixture
def held(campaign) -> Assignment:
    return do_held_hit(campaign, make_worker("bob"))


def reread(assignment: Assignment) -> Assignment:
    return Assignment.objects.select_related("hit__campaign", "worker").get(pk=assignment.pk)


def log_of(action: str) -> AuditEntry:
    return AuditEntry.objects.get(action=action)


def test_counting_makes_the_ratings_evidence(campaign, held, ann):
    assert count_held(assignment=held, actor=ann, reason="I watched him.")
    assert reread(held).hold == Assignment.Hold.COUNTED
    evidence = Evidence.objects.latest("pk")
    assert (evidence.n_hits, evidence.n_pairs, evidence.origin) == (1, 10, "recomputation")
    assert Participation.objects.get().is_trusted
    assert list(load_assignments(campaign).assignment) == [held.pk]
    assert reread(held).hit.places_left == 0


def test_discarding_offers_the_place_again(campaign, held, ann):
    assert reread(held).hit.places_left == 0
    assert discard_held(assignment=held, actor=ann, reason="A script.")
    assert reread(held).hold == Assignment.Hold.DISCARDED
    assert reread(held).hit.places_left == 1
    assert not len(load_assignments(campaign))
    assert amount_owed(campaign) == 2


def test_a_decision_is_recorded_with_its_person_and_reason(held, ann):
    discard_held(assignment=held, actor=ann, reason="  A script. ")
    entry = log_of("held HIT discarded")
    assert (entry.actor, entry.worker, entry.reason) == (ann, held.worker, "A script.")
    assert entry.details["assignment"] == str(held.code)
    assert (entry.details["before"], entry.details["after"]) == ("held", "discarded")


def test_why_it_was_held_stays_known(held, ann):
    before = held.hold_reason, held.held_at
    count_held(assignment=held, actor=ann, reason="Fine.")
    assert (reread(held).hold_reason, reread(held).held_at) == before


@pytest.mark.parametrize("decide", [count_held, discard_held])
def test_a_decision_needs_a_reason(held, ann, decide):
    with pytest.raises(DecisionRefused):
        decide(assignment=held, actor=ann, reason="  ")
    assert reread(held).hold == Assignment.Hold.HELD


def test_of_two_decisions_about_the_same_sight_the_first_stands(held, ann):
    stale = reread(held)
    assert count_held(assignment=held, actor=ann, reason="Fine.")
    assert not discard_held(assignment=stale, actor=ann, reason="A script.")
    assert not count_held(assignment=stale, actor=ann, reason="Fine.")
    assert reread(held).hold == Assignment.Hold.COUNTED
    assert AuditEntry.objects.filter(action__startswith="held HIT").count() == 1


def test_a_person_can_change_a_decision_later(campaign, held, ann):
    discard_held(assignment=held, actor=None, reason="Nobody decided.")
    assert count_held(assignment=reread(held), actor=ann, reason="Found in the logs: a pause.")
    assert Participation.objects.get().is_trusted
    assert discard_held(assignment=reread(held), actor=ann, reason="No, it was not.")
    assert Participation.objects.get().trust == Participation.Trust.UNPROVEN
    assert reread(held).hit.places_left == 1


def test_a_hit_that_was_never_held_cannot_be_decided_about(campaign, ann):
    honest = do_hit(campaign, make_worker())
    assert not discard_held(assignment=honest, actor=ann, reason="Why not.")
    assert reread(honest).hold == ""


def test_the_chores_discard_after_a_day_and_not_before(held):
    almost = held.held_at + timedelta(hours=HOLD_HOURS) - timedelta(seconds=1)
    assert do_chores(at=almost).n_holds_ended == 0
    after = held.held_at + timedelta(hours=HOLD_HOURS)
    assert do_chores(at=after).n_holds_ended == 1
    assert do_chores(at=after).n_holds_ended == 0
    assert reread(held).hold == Assignment.Hold.DISCARDED
    assert reread(held).hit.places_left == 1
    entry = log_of("held HIT discarded")
    assert entry.actor is None and entry.reason == "Nobody decided within 24 hours."


def test_the_chores_do_not_touch_a_hit_that_was_decided_about(held, ann):
    count_held(assignment=held, actor=ann, reason="Fine.")
    assert do_chores(at=timezone.now() + timedelta(days=3)).n_holds_ended == 0
    assert reread(held).hold == Assignment.Hold.COUNTED


def test_a_decision_is_news_for_the_nightly_gold(campaign, held, ann):
    do_hit(campaign, make_worker())
    build_gold(campaign=campaign, minimum=1)
    assert campaign not in campaigns_with_news()
    count_held(assignment=held, actor=ann, reason="Fine.")
    assert campaign in campaigns_with_news()


# The preview ---------------------------------------------------------------------------------


def test_a_preview_shows_the_places_and_changes_nothing(campaign, held):
    preview = preview_hold(
        campaign=campaign, hits=list(held_hits(campaign)), choice=HoldChoice.DISCARD
    )
    assert (preview.n_places_opened, preview.n_places_closed) == (1, 0)
    assert (preview.n_ratings, preview.amount_owed) == (100, 2)
    assert reread(held).hold == Assignment.Hold.HELD


def test_many_are_decided_at_once_as_previewed(campaign, held, ann):
    do_held_hit(campaign, make_worker("carol"))
    preview = preview_hold(
        campaign=campaign, hits=list(held_hits(campaign)), choice=HoldChoice.DISCARD
    )
    decided = decide_holds_as_seen(
        preview=preview, seen=preview.fingerprint, actor=ann, reason="Scripts."
    )
    assert (decided.n_decided, decided.n_changed) == (2, 0)
    assert preview.n_places_opened == 2 == sum(campaign.hits.values_list("places_left", flat=True))


def test_a_changed_hit_needs_another_look(campaign, held, ann):
    seen = preview_hold(campaign=campaign, hits=[held], choice=HoldChoice.COUNT).fingerprint
    discard_held(assignment=held, actor=ann, reason="A script.")
    preview = preview_hold(campaign=campaign, hits=[reread(held)], choice=HoldChoice.COUNT)
    with pytest.raises(DecisionRefused, match="changed in the meantime"):
        decide_holds_as_seen(preview=preview, seen=seen, actor=ann, reason="Fine.")
