from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from da_platform.counting import CLAIMS
from hits.campaigns.lifecycle import change_status
from hits.exceptions import WorkerIsBusy
from hits.models import HIT, Assignment, Campaign, Participation
from hits.rating import assignments
from hits.rating.assignments import release_expired, submit_assignment, take_assignment
from tests.factories import make_hits, make_worker, rate_items

pytestmark = pytest.mark.django_db


def test_a_worker_gets_the_next_open_hit_with_a_lease():
    campaign, alice = make_hits(min_ratings=2, lease_minutes=90), make_worker()
    assignment = take_assignment(campaign=campaign, worker=alice)
    assert assignment.expires_at - assignment.started_at == timedelta(minutes=90)
    assert campaign.hits.get().places_left == 1


def test_asking_again_gives_the_hit_in_progress():
    campaign, alice = make_hits(), make_worker()
    first = take_assignment(campaign=campaign, worker=alice)
    assert take_assignment(campaign=campaign, worker=alice) == first
    assert campaign.hits.get().places_left == campaign.min_ratings - 1


def test_a_worker_never_gets_the_same_hit_twice():
    campaign, alice = make_hits(), make_worker()
    assignment = take_assignment(campaign=campaign, worker=alice)
    rate_items(assignment)
    submit_assignment(assignment=assignment)
    assert take_assignment(campaign=campaign, worker=alice) is None


def test_there_is_no_hit_when_all_places_are_taken():
    campaign, alice, bob = make_hits(min_ratings=1), make_worker(), make_worker()
    take_assignment(campaign=campaign, worker=alice)
    assert take_assignment(campaign=campaign, worker=bob) is None


@pytest.mark.parametrize("status", [Campaign.Status.PAUSED, Campaign.Status.CLOSED])
def test_a_campaign_that_is_not_open_gives_no_hit(status):
    campaign, alice = make_hits(), make_worker()
    change_status(campaign=campaign, to=status)
    assert take_assignment(campaign=campaign, worker=alice) is None


def test_a_worker_has_one_hit_in_progress_over_all_campaigns():
    here, there, alice = make_hits(), make_hits(), make_worker()
    first = take_assignment(campaign=here, worker=alice)
    with pytest.raises(WorkerIsBusy, match=here.name):
        take_assignment(campaign=there, worker=alice)
    with pytest.raises(IntegrityError), transaction.atomic():
        Assignment.objects.create(hit=there.hits.get(), worker=alice, expires_at=first.expires_at)


def test_an_abandoned_place_is_offered_again_and_its_ratings_stay():
    campaign, alice, bob = make_hits(min_ratings=1), make_worker(), make_worker()
    abandoned = take_assignment(campaign=campaign, worker=alice)
    rate_items(abandoned, n_items=3)
    assert release_expired() == 0
    assert release_expired(at=abandoned.expires_at) == 1
    assert release_expired(at=abandoned.expires_at) == 0
    assert take_assignment(campaign=campaign, worker=bob).hit == abandoned.hit
    assert abandoned.ratings.count() == 3


@pytest.mark.parametrize("is_place_free", [True, False])
def test_a_late_worker_can_still_finish_and_takes_the_place_back_if_it_is_free(is_place_free):
    campaign, alice, bob = make_hits(min_ratings=1), make_worker(), make_worker()
    late = take_assignment(campaign=campaign, worker=alice)
    expire(late)
    if not is_place_free:
        take_assignment(campaign=campaign, worker=bob)
    rate_items(late)
    late = submit_assignment(assignment=late)
    assert late.is_late and late.completion_code
    assert campaign.hits.get().places_left == 0


def expire(assignment: Assignment) -> None:
    release_expired(at=assignment.expires_at)


def test_a_late_workers_lease_is_renewed_while_the_place_is_free():
    campaign, alice = make_hits(min_ratings=2), make_worker()
    expire(take_assignment(campaign=campaign, worker=alice))
    again = take_assignment(campaign=campaign, worker=alice)
    assert again.status == Assignment.Status.IN_PROGRESS
    assert campaign.hits.get().places_left == 1


def test_a_lease_is_not_renewed_beyond_the_spending_cap():
    campaign = make_hits(min_ratings=3, pay_per_hit=2, spending_cap=4)
    alice, bob, carol = (make_worker() for _ in range(3))
    late = take_assignment(campaign=campaign, worker=alice)
    take_assignment(campaign=campaign, worker=bob)
    expire(late)
    assert take_assignment(campaign=campaign, worker=carol)
    again = take_assignment(campaign=campaign, worker=alice)
    assert again == late and again.status == Assignment.Status.EXPIRED


def test_an_excluded_late_worker_can_finish_but_takes_no_place():
    campaign, alice = make_hits(min_ratings=1), make_worker()
    late = take_assignment(campaign=campaign, worker=alice)
    expire(late)
    Participation.objects.create(
        campaign=campaign, worker=alice, decision="excluded", decision_reason="spam"
    )
    assert take_assignment(campaign=campaign, worker=alice).status == Assignment.Status.EXPIRED
    assert campaign.hits.get().places_left == 1


def test_a_spent_budget_is_noticed_before_any_hit_is_claimed(django_assert_max_num_queries):
    campaign = make_hits(n_segments=140, pay_per_hit=2, spending_cap=1)
    assert campaign.hits.count() == 10
    with django_assert_max_num_queries(9):
        assert take_assignment(campaign=campaign, worker=make_worker()) is None


def claims(outcome: str) -> float:
    return CLAIMS.labels(outcome)._value.get()


def test_a_budget_spent_in_the_meantime_is_checked_once(django_assert_max_num_queries):
    campaign = make_hits(n_segments=140, pay_per_hit=2, spending_cap=100)
    # Another claim spends it between the check and the lock.
    Campaign.objects.filter(pk=campaign.pk).update(spending_cap=1)
    before = claims("conflict"), claims("none")
    with django_assert_max_num_queries(17):
        assert take_assignment(campaign=campaign, worker=make_worker()) is None
    assert (claims("conflict"), claims("none")) == (before[0], before[1] + 1)
    assert not Assignment.objects.exists()


def test_a_claim_reads_one_hit_for_any_number_of_open_hits(django_assert_max_num_queries):
    campaign, alice = make_hits(n_segments=140), make_worker()
    with django_assert_max_num_queries(13) as queries:
        assert take_assignment(campaign=campaign, worker=alice).hit.number == 1
    statements = [query["sql"] for query in queries]
    [select] = [sql for sql in statements if sql.startswith('SELECT "hits_hit"')]
    assert select.endswith("LIMIT 1")


def test_a_worker_who_loses_several_places_gets_the_next_in_order(monkeypatch):
    campaign, alice = make_hits(n_segments=56), make_worker()
    claim, before = assignments._claim_place, claims("conflict")

    def claim_after_others(hit: HIT, *args: Any, **options: Any) -> Assignment | None:
        # Others take the last place of the first two HITs, and free one that was already passed.
        HIT.objects.filter(pk=hit.pk, number__lte=2).update(places_left=0)
        HIT.objects.filter(campaign=campaign, number__lt=hit.number).update(places_left=1)
        return claim(hit, *args, **options)

    monkeypatch.setattr(assignments, "_claim_place", claim_after_others)
    assert take_assignment(campaign=campaign, worker=alice).hit.number == 3
    assert claims("conflict") == before + 2
