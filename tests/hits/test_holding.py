"""A HIT that nobody can have read in its time is held, and not counted until someone decides."""

from datetime import datetime, timedelta

import numpy as np
import pytest
from django.utils import timezone

from hits.campaigns.progress import count_assignments
from hits.models import Assignment, Campaign, Evidence, Participation
from hits.rating.arrays import load_assignments, load_ratings
from hits.rating.assignments import take_assignment
from hits.rating.desk import N_AHEAD
from hits.rating.places import amount_owed, forecast, work_by_hit
from hits.workers.holding import hold_if_impossible, times_of
from hits.workers.recomputing import recompute_workers
from hits.workers.trust import update_evidence, weigh_pending
from tests.factories import log_lines, make_hits, make_worker
from tests.holds import do_held_hit, do_hit, make_guarded_hits, rate_at

pytestmark = pytest.mark.django_db

BURST_GAP = timedelta(milliseconds=40)


def test_a_hit_done_in_half_a_second_is_held_with_its_reason_and_time():
    assignment = do_hit(make_guarded_hits(), make_worker(), seconds=0.01)
    assert assignment.hold == Assignment.Hold.HELD
    assert assignment.hold_reason == "30 ratings in a row reached the server within 0.3 seconds."
    assert assignment.held_at is not None
    assert assignment.status == Assignment.Status.SUBMITTED and assignment.completion_code


def test_a_hit_at_a_readers_pace_is_not_held():
    assignment = do_hit(make_guarded_hits(), make_worker())
    assert (assignment.hold, assignment.hold_reason, assignment.held_at) == ("", "", None)


def test_the_published_rule_holds_nothing():
    assert not do_hit(make_hits(), make_worker(), seconds=0.01).hold


def test_waiting_at_the_end_does_not_help_a_fast_script():
    campaign = make_guarded_hits()
    start = timezone.now() - timedelta(hours=1)
    assignment = take(campaign, start)
    burst = [start + BURST_GAP * n for n in range(1, 40)]
    rate_at(assignment, [*burst, start + timedelta(minutes=10)])
    assert hold_if_impossible(assignment=assignment)


def test_claiming_more_reading_time_than_passed_is_impossible():
    campaign = make_guarded_hits()
    start = timezone.now() - timedelta(hours=1)
    assignment = take(campaign, start)
    moments = [start + timedelta(seconds=1.2 * n) for n in range(1, 41)]
    rate_at(assignment, moments, active_ms=9_000)
    assert hold_if_impossible(assignment=assignment)
    assignment.refresh_from_db()
    assert assignment.hold_reason == (
        "The browser reported 360 seconds of reading, but only 48 seconds passed."
    )


def test_weighing_twice_holds_once():
    campaign = make_guarded_hits()
    assignment = do_held_hit(campaign, make_worker())
    first = update_evidence(assignment=assignment)
    assert update_evidence(assignment=assignment) == first
    assert not hold_if_impossible(assignment=assignment)
    assert log_lines().filter(action="HIT put on hold").count() == 1
    assert weigh_pending() == 0


# The queue of an offline browser --------------------------------------------------------------


def take(campaign: Campaign, at: datetime) -> Assignment:
    assignment = take_assignment(campaign=campaign, worker=make_worker(), at=at)
    assert assignment is not None
    return assignment


def offline_moments(
    start: datetime, seconds: list[float], *, outages: list[tuple[int, int]]
) -> list[datetime]:
    """When ratings reach the server if they took this many seconds each, with the network down in between.

    An outage is the first and the last item rated without a network. They are sent together, 40 ms
    apart, when the item after them is rated; the browser never holds more than `N_AHEAD`.
    """
    rated = [start + timedelta(seconds=float(total)) for total in np.cumsum(seconds)]
    received = list(rated)
    for first, last in outages:
        assert last - first + 1 <= N_AHEAD
        for n, place in enumerate(range(first, last + 1)):
            received[place] = rated[last] + BURST_GAP * n
    # A rating is sent only after those before it.
    return list(np.maximum.accumulate(received))


@pytest.mark.parametrize("hit_size", [40, 100])
@pytest.mark.parametrize("pace", [1.5, 3.0, 9.0])
def test_ratings_sent_in_bursts_after_working_offline_are_not_held(hit_size, pace):
    """The fastest honest workers need more than a second for each item, even at 1.5 on average."""
    campaign = make_guarded_hits(hit_size=hit_size, n_segments=14 if hit_size == 40 else 35)
    rng = np.random.default_rng(int(10 * pace))
    for turn in range(5):
        start = timezone.now() - timedelta(hours=1)
        assignment = take(campaign, start)
        seconds = np.maximum(1.1, rng.lognormal(np.log(pace), 0.5, hit_size))
        ends = range(N_AHEAD + turn, hit_size, N_AHEAD + 1)
        outages = [(end - N_AHEAD + 1, end) for end in ends if end - N_AHEAD + 1 >= 0]
        moments = offline_moments(start, list(seconds), outages=outages)
        active_ms = round(1000 * float(seconds.mean()))
        rate_at(assignment, moments, active_ms=active_ms)
        assert times_of(assignment).share_fast > 0.3
        assert not hold_if_impossible(assignment=assignment)


def test_a_whole_queue_followed_by_quick_ratings_is_not_held():
    """The worst case: fifteen ratings at once, then fifteen that took barely a second each."""
    campaign = make_guarded_hits()
    start = timezone.now() - timedelta(hours=1)
    assignment = take(campaign, start)
    moments = offline_moments(start, [1.1] * 40, outages=[(0, 14)])
    rate_at(assignment, moments, active_ms=1_100)
    assert not hold_if_impossible(assignment=assignment)


# What a held HIT does not count for -----------------------------------------------------------


def test_a_held_hit_is_not_evidence():
    campaign, alice = make_guarded_hits(n_segments=28, hit_size=40), make_worker("alice")
    do_held_hit(campaign, alice)
    evidence = Evidence.objects.get()
    assert (evidence.n_hits, evidence.n_pairs, evidence.verdict) == (0, 0, "unproven")
    assert Participation.objects.get().trust == Participation.Trust.UNPROVEN


def test_a_held_hit_is_not_loaded_for_gold():
    campaign = make_guarded_hits(n_segments=28)
    honest = do_hit(campaign, make_worker())
    do_held_hit(campaign, make_worker())
    assert set(load_ratings(campaign).assignment) == {honest.pk}
    assert set(load_assignments(campaign).assignment) == {honest.pk}


def test_recomputing_leaves_a_held_hit_out():
    campaign = make_guarded_hits()
    do_held_hit(campaign, make_worker())
    summary = recompute_workers(campaign=campaign)
    assert (summary.n_evidence_changed, summary.n_trust_changed) == (0, 0)


def test_a_held_hit_keeps_its_place_and_is_counted_apart():
    campaign = make_guarded_hits(min_ratings=2)
    held = do_held_hit(campaign, make_worker())
    held.hit.refresh_from_db()
    assert held.hit.places_left == 1
    work = work_by_hit(campaign, campaign.hits.all(), timezone.now())[held.hit_id]
    assert (work.n_on_hold, work.n_unproven, work.n_trusted, work.n_promised) == (1, 0, 0, 1)
    facts = forecast(campaign)
    assert (facts.n_on_hold, facts.n_missing, facts.is_complete) == (1, 1, False)
    counts = count_assignments(campaign)
    assert (counts.n_on_hold, counts.n_trusted, counts.n_counting) == (1, 0, 0)
    assert (counts.n_promised, counts.n_missing) == (1, 1)


def test_a_held_hit_of_a_trusted_worker_is_not_counted_as_trusted():
    campaign, alice = make_guarded_hits(n_segments=28, min_ratings=1), make_worker()
    held = do_held_hit(campaign, alice)
    Participation.objects.update(trust=Participation.Trust.RELIABLE)
    work = work_by_hit(campaign, campaign.hits.all(), timezone.now())[held.hit_id]
    assert (work.n_trusted, work.n_on_hold) == (0, 1)


def test_a_held_hit_is_owed():
    campaign = make_guarded_hits(pay_per_hit=2)
    do_held_hit(campaign, make_worker())
    assert amount_owed(campaign) == 2
