"""A campaign's limit of HITs per worker."""

from typing import Any

import pytest

from hits.campaigns.editing import edit_campaign
from hits.models import Assignment, Campaign
from hits.rating import assignments
from hits.rating.assignments import release_assignment, return_assignment, take_assignment
from tests.factories import make_hits, make_worker
from tests.holds import do_hit

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    """Three HITs, of which a worker may do two."""
    return make_hits(n_segments=42, max_hits_per_worker=2)


def test_a_worker_gets_as_many_hits_as_the_limit(campaign):
    alice = make_worker()
    do_hit(campaign, alice)
    do_hit(campaign, alice)
    assert take_assignment(campaign=campaign, worker=alice) is None
    assert take_assignment(campaign=campaign, worker=make_worker()) is not None


def test_without_a_limit_a_worker_may_do_every_hit():
    campaign, alice = make_hits(n_segments=42, max_hits_per_worker=None), make_worker()
    for _ in range(3):
        do_hit(campaign, alice)
    assert alice.assignments.submitted().count() == 3


def test_raising_and_lowering_the_limit_works_at_once(campaign):
    alice = make_worker()
    do_hit(campaign, alice)
    edit_campaign(campaign=campaign, actor=None, changes={"max_hits_per_worker": 1})
    assert take_assignment(campaign=campaign, worker=alice) is None
    edit_campaign(campaign=campaign, actor=None, changes={"max_hits_per_worker": 2})
    assert take_assignment(campaign=campaign, worker=alice) is not None


def test_a_limit_lowered_during_the_request_is_respected(campaign):
    alice = make_worker()
    do_hit(campaign, alice)
    Campaign.objects.update(max_hits_per_worker=1)
    assert campaign.max_hits_per_worker == 2
    assert take_assignment(campaign=campaign, worker=alice) is None


def test_a_hit_in_hand_may_be_finished_after_the_limit_was_lowered(campaign):
    alice = make_worker()
    do_hit(campaign, alice)
    current = take_assignment(campaign=campaign, worker=alice)
    edit_campaign(campaign=campaign, actor=None, changes={"max_hits_per_worker": 1})
    assert take_assignment(campaign=campaign, worker=alice) == current
    release_assignment(assignment=current)
    assert take_assignment(campaign=campaign, worker=alice) == current


def test_returned_hits_do_not_count_towards_the_limit(campaign):
    alice = make_worker()
    do_hit(campaign, alice)
    returned = take_assignment(campaign=campaign, worker=alice)
    return_assignment(assignment=returned)
    assert take_assignment(campaign=campaign, worker=alice) not in (None, returned)


def test_each_campaign_has_its_own_limit(campaign):
    other, alice = make_hits(max_hits_per_worker=1), make_worker()
    do_hit(other, alice)
    assert take_assignment(campaign=campaign, worker=alice) is not None


def test_a_worker_at_the_limit_leaves_the_place_to_others(campaign):
    alice = make_worker()
    do_hit(campaign, alice)
    do_hit(campaign, alice)
    before = list(campaign.hits.values_list("places_left", flat=True))
    take_assignment(campaign=campaign, worker=alice)
    assert list(campaign.hits.values_list("places_left", flat=True)) == before
    assert Assignment.objects.count() == 2


def test_another_tab_that_was_faster_uses_up_the_limit(campaign, monkeypatch):
    """Between the check and the claim, the other tab takes the last HIT of the limit and submits it."""
    alice = make_worker()
    do_hit(campaign, alice)
    claim = assignments._claim_place_from

    def claim_too_late(*args: Any, **options: Any) -> Assignment | None:
        monkeypatch.setattr(assignments, "_claim_place_from", claim)
        do_hit(campaign, alice)
        return claim(*args, **options)

    monkeypatch.setattr(assignments, "_claim_place_from", claim_too_late)
    assert take_assignment(campaign=campaign, worker=alice) is None
    assert alice.assignments.count() == 2
