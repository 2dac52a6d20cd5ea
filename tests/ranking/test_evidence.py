"""What the evidence says of someone who ranks: degraded outputs, drift, skipping, agreement, and what a decision changes."""

from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from analysis.ranking.results import NothingRanked, rank_by_judgements
from analysis.stats.judgements import Judgements
from analysis.stats.kappa import agreement_by_task
from analysis.stats.quality_control import Verdict
from analysis.stats.ranking_control import (
    ENOUGH_SCREENS,
    FEWEST_SCREENS,
    WINDOW_DEGRADED,
    degraded_last,
    guarded,
    stance_of_kappa,
)
from analysis.stats.roles import Role
from analysis.stats.trust_rules import Stance
from hits.asking.ranking import KIND
from hits.models import Assignment, Campaign, Participation
from hits.ranking.saving import save_ranking
from hits.ranking.weighing import weigh_rankings
from hits.rating.assignments import submit_assignment, take_assignment
from hits.workers.trust import decide_about, weigh_pending
from tests.people import make_person

from .campaigns import ranking_campaign, worker_named


def rank_hit(campaign, name, *, is_reader=True, skips=False, best=False):
    """Take and rank a HIT: degraded outputs last, or first, or with all others."""
    start = timezone.now() - timedelta(hours=1)
    assignment = take_assignment(campaign=campaign, worker=worker_named(name), at=start)
    assert assignment
    n_screens = KIND.n_screens(assignment.hit)
    for screen in range(1, n_screens + 1):
        items = assignment.hit.items.filter(screen=screen).order_by("translation")
        ranks = {}
        for place, item in enumerate(items, start=1):
            is_degraded = item.role == Role.BAD_REFERENCE.value
            ranks[item.code] = (1 if best else 5) if is_degraded else min(place, 4)
            if not is_reader and not best:
                ranks[item.code] = 2
        save_ranking(
            assignment=assignment,
            position=screen,
            ranks={} if skips else ranks,
            skip="hard" if skips else "",
            at=start + timedelta(minutes=5 * screen),
        )
    return submit_assignment(assignment=assignment, at=start + timedelta(minutes=20))


def participation_of(campaign, name):
    return campaign.participations.get(worker__external_id=name)


@pytest.fixture
def campaign(db):
    return ranking_campaign(
        systems=tuple("ABCDE"), n_segments=60, min_ratings=1, max_hits_per_worker=None
    )


# The tests -------------------------------------------------------------------------------------


def test_someone_who_stops_reading_is_drifting_from_the_first_hit_that_failed():
    reads = degraded_last([True] * 12, [5] * 12)
    assert reads.verdict == Verdict.RELIABLE and reads.window_n == WINDOW_DEGRADED
    stops = degraded_last([True] * 12 + [False] * 7, [5] * 19)
    assert stops.verdict == Verdict.DRIFTING and stops.window_pvalue >= 0.05
    # The last window that passed has five of ten: it begins before the eighth.
    assert stops.drifted_from == 8
    early = degraded_last([True] * 3 + [False] * 3, [5] * 6)
    assert early.window_n == 0 and np.isnan(early.window_pvalue)


def test_the_guarded_rule_asks_for_agreement_once_it_can():
    assert stance_of_kappa(FEWEST_SCREENS - 1, 0.9) == Stance.SILENT
    assert stance_of_kappa(FEWEST_SCREENS, None) == Stance.SILENT
    assert stance_of_kappa(FEWEST_SCREENS, 0.9) == Stance.AGAINST
    assert stance_of_kappa(FEWEST_SCREENS, 0.2) == Stance.UNDECIDED
    assert stance_of_kappa(ENOUGH_SCREENS, 0.2) == Stance.AGAINST
    assert stance_of_kappa(FEWEST_SCREENS, 0.001) == Stance.FOR
    assert guarded(Verdict.RELIABLE, Stance.AGAINST) == Verdict.UNRELIABLE
    assert guarded(Verdict.RELIABLE, Stance.UNDECIDED) == Verdict.UNPROVEN
    assert guarded(Verdict.DRIFTING, Stance.SILENT) == Verdict.DRIFTING
    assert guarded(Verdict.UNPROVEN, Stance.FOR) == Verdict.UNPROVEN


def judged(outcomes_by_judge):
    """Judgements of the same pair on a segment each, by judge."""
    rows = [
        (judge, segment, outcome)
        for judge, outcomes in outcomes_by_judge.items()
        for segment, outcome in enumerate(outcomes)
    ]
    judges, segments, outcomes = (np.array(column) for column in zip(*rows, strict=True))
    n = len(rows)
    zeros = np.zeros(n, dtype=np.int64)
    return Judgements(
        np.array(["A", "B"]), zeros, zeros + 1, outcomes, zeros > 0, segments, judges, np.arange(n)
    )


def test_agreement_beyond_chance_is_tested_over_screens():
    wins = [1, -1] * 10
    others = {"b": wins, "c": wins}
    n, p = agreement_by_task(judged({"a": wins} | others), "a")
    assert n == 20 and p < 1e-6
    _, p = agreement_by_task(judged({"a": wins[::-1]} | others), "a")
    assert p > 0.99
    _, p = agreement_by_task(judged({"a": [1, 1, -1, -1] * 5} | others), "a")
    assert 0.1 < p < 0.9
    assert agreement_by_task(judged({"a": wins}), "a")[0] == 0


# With workers ---------------------------------------------------------------------------------


def test_degraded_outputs_that_come_first_alone_or_not_are_counted(campaign):
    for _ in range(4):
        rank_hit(campaign, "alice", best=True)
        rank_hit(campaign, "bob", is_reader=False)
    weigh_pending()
    for name in ("alice", "bob"):
        evidence = participation_of(campaign, name).evidence.last()
        assert evidence.n_pairs >= 2 and evidence.verdict == "unreliable"
        assert evidence.details["n_best"] == evidence.n_pairs and not evidence.details["n_last"]


def test_a_worker_who_stops_reading_drifts_and_the_drift_has_a_time(campaign):
    for number in range(24):
        rank_hit(campaign, "alice", is_reader=number < 16)
    participation = participation_of_all(campaign, "alice")
    fields = weigh_rankings(participation)
    assert fields["verdict"] == "drifting" and fields["window_n_pairs"] == WINDOW_DEGRADED
    submitted = Assignment.objects.filter(hit__campaign=campaign).values_list("submitted_at")
    assert (fields["drifted_at"],) in [(at,) for (at,) in submitted]


def participation_of_all(campaign, name):
    weigh_pending()
    return participation_of(campaign, name)


def test_skipping_everything_is_evidence_and_is_held_under_the_guarded_rule(campaign):
    rank_hit(campaign, "alice", skips=True)
    weigh_pending()
    details = participation_of(campaign, "alice").evidence.last().details
    assert details["n_skipped"] == 3 and details["share_skipped"] == 1
    Campaign.objects.filter(pk=campaign.pk).update(trust_rule="guarded")
    held = rank_hit(Campaign.objects.get(pk=campaign.pk), "bob", skips=True)
    weigh_pending()
    held.refresh_from_db()
    assert held.hold == Assignment.Hold.HELD and "Every screen was skipped" in held.hold_reason


def test_as_many_sets_are_needed_as_can_prove_someone():
    needed = {
        n: KIND.fewest_sets(Campaign(task="rank", outputs_per_screen=n)) for n in (2, 3, 4, 5)
    }
    # Five degraded pairs of ten hidden screens, three of five, two of three.
    assert needed == {2: 10, 3: 5, 4: 5, 5: 3}


def test_a_decision_about_a_worker_changes_the_ranking(campaign):
    for _ in range(3):
        rank_hit(campaign, "alice")
    weigh_pending()
    alice = participation_of(campaign, "alice")
    actor = make_person("admin")
    decide_about(
        participation=alice,
        decision=Participation.Decision.REINSTATED,
        actor=actor,
        reason="Knows it.",
    )
    before = rank_by_judgements(campaign, runs=2)["n_judgements"]
    assert before > 0
    decide_about(
        participation=alice,
        decision=Participation.Decision.EXCLUDED,
        actor=actor,
        reason="Does not.",
    )
    with pytest.raises(NothingRanked):
        rank_by_judgements(campaign, runs=2)
