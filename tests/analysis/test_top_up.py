"""The platform goes on asking until every translation has its trusted ratings, and then stops."""

from collections import Counter
from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from analysis.gold import build_gold
from analysis.stats.roles import Role
from hits.models import Assignment, Participation
from hits.places import forecast
from hits.services import find_or_make_worker, submit_assignment, take_assignment
from hits.simulation import (
    Behaviour,
    SimulatedWorker,
    do_one_hit,
    honest_noise_sd,
    true_qualities,
)
from hits.trust import weigh_pending
from tests.factories import make_hits, make_worker, rate
from tests.simulated_crowds import (
    CARELESS,
    collect,
    half_careless,
    n_promised,
    n_proven_late,
    n_trusted,
)

pytestmark = pytest.mark.django_db

N_SEEDS = 20
# At level 0.05 one careless worker in twenty passes by luck; an honest one rarely fails.
LOWEST_RECALL, LOWEST_PRECISION = 0.93, 0.95


def one_hit(**fields):
    """Make an open campaign of one full HIT: ten pairs of genuine and degraded items."""
    return make_hits(n_segments=35, hit_size=100, **fields)


def test_it_tops_up_by_itself_until_each_hit_has_what_it_needs_and_hands_out_no_more():
    campaign = make_hits(n_segments=70, hit_size=100, min_ratings=5)
    promised = []
    collect(campaign, half_careless(48), seed=4, look=lambda a: promised.append(n_promised(a.hit)))
    hits = list(campaign.hits.all())
    assert len(promised) > 2 * 5 * 1.3, "half the workers are careless: topping up was needed"
    assert max(promised) == 5
    assert [n_trusted(hit) for hit in hits] == [5, 5]
    assert [hit.places_left for hit in hits] == [0, 0] and forecast(campaign).is_complete
    run = build_gold(campaign=campaign)
    assert (run.n_scored, run.n_incomplete) == (140, 0)


def test_every_place_handed_out_was_needed_when_it_was_taken():
    campaign = one_hit(min_ratings=4)
    collect(campaign, half_careless(36), seed=8)
    history = campaign.hits.get().assignments.order_by("started_at", "pk")
    # One by one: at each start, those before were either trusted by then or had their place reopened.
    discarded = set(Participation.objects.discarded().values_list("worker", flat=True))
    n_good = 0
    for assignment in history:
        assert n_good < 4
        n_good += assignment.worker_id not in discarded
    assert n_good == 4 < len(history)


def test_workers_side_by_side_and_evidence_that_lags_never_promise_more_than_needed():
    """Waves of workers hold HITs at once, two HITs each, and are weighed only when a wave is over."""
    campaign = make_hits(n_segments=70, hit_size=100, min_ratings=4)
    qualities = true_qualities(campaign=campaign, seed=5)
    noise_sd = honest_noise_sd(qualities.values())
    clock = timezone.now() - timedelta(days=30)
    kinds = [Behaviour.HONEST, Behaviour.RANDOM, Behaviour.NOISY, Behaviour.RANDOM]
    for wave in range(12):
        people = [
            (
                find_or_make_worker(provider="simulation", external_id=f"{wave}-{i}"),
                SimulatedWorker(kind, np.random.default_rng([5, wave, i]), noise_sd),
            )
            for i, kind in enumerate(kinds)
        ]
        for _ in range(2):
            for worker, _person in people:
                taken = take_assignment(campaign=campaign, worker=worker, at=clock)
                assert taken is None or n_promised(taken.hit) <= 4
            for worker, person in people:
                do_one_hit(
                    campaign=campaign, worker=worker, person=person, qualities=qualities, at=clock
                )
            clock += timedelta(hours=2)
        weigh_pending()
    for hit in campaign.hits.all():
        assert hit.places_left == 0
        # More than needed only where someone was discarded first and proved reliable later.
        assert 4 <= n_trusted(hit) <= 4 + n_proven_late(hit)


def test_a_worker_found_careless_gets_no_further_hit():
    campaign = make_hits(n_segments=70, hit_size=100, min_ratings=3)
    collect(campaign, {Behaviour.RANDOM: 8}, seed=3, hits_per_worker=2)
    for person in Participation.objects.all():
        verdicts = [evidence.verdict for evidence in person.evidence.all()]
        assert "unreliable" not in verdicts[:-1]
    assert Participation.objects.discarded().exists()


def test_a_worker_who_proves_reliable_late_adds_to_what_was_needed_and_is_counted():
    campaign = make_hits(n_segments=70, hit_size=100, min_ratings=1)
    alice = make_worker("alice")
    first = take_assignment(campaign=campaign, worker=alice)
    rate_by_role(first, degraded=60, others=40)
    submit_assignment(assignment=first)
    second = take_assignment(campaign=campaign, worker=alice)
    weigh_pending()  # Only now: alice has a second HIT in hand already.
    assert Participation.objects.get(worker=alice).is_discarded
    collect(campaign, {Behaviour.HONEST: 1}, seed=1)
    assert n_trusted(first.hit) == 1
    rate_by_role(second, degraded=5, others=95)
    submit_assignment(assignment=second)
    weigh_pending()
    assert Participation.objects.get(worker=alice).is_trusted
    assert n_trusted(first.hit) == 1 + n_proven_late(first.hit) == 2
    assert not campaign.hits.open().exists()


def rate_by_role(assignment: Assignment, *, degraded: int, others: int) -> None:
    for item in assignment.hit.items.order_by("position"):
        score = degraded if item.role == Role.BAD_REFERENCE else others
        rate(assignment, item, score=score + item.position % 5)


def test_careless_workers_are_caught_and_honest_ones_are_not(capsys):
    """Precision and recall over twenty crowds, half of each careless."""
    counts: Counter[tuple[bool, bool]] = Counter()
    for seed in range(1, N_SEEDS + 1):
        campaign = one_hit(min_ratings=12)
        collect(campaign, half_careless(24), seed=seed)
        for person in Participation.objects.filter(campaign=campaign).select_related("worker"):
            kind = Behaviour(person.worker.external_id.split("-")[0])
            counts[kind in CARELESS, person.is_discarded] += 1
    recall = counts[True, True] / (counts[True, True] + counts[True, False])
    precision = counts[True, True] / (counts[True, True] + counts[False, True])
    n_workers = counts.total()
    with capsys.disabled():
        print(
            f"\n{N_SEEDS} crowds, {n_workers} workers: careless ones caught with "
            f"precision {precision:.3f}, recall {recall:.3f}"
        )
    assert n_workers > 20 * N_SEEDS
    assert recall >= LOWEST_RECALL
    assert precision >= LOWEST_PRECISION
