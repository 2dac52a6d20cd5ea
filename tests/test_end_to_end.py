"""From campaign files to HITs, ratings of a crowd, trust, gold, and a ranking of systems and metrics."""

import csv
from pathlib import Path

import numpy as np
import pytest

from analysis.gold.ranking import rank_systems
from analysis.gold.runs import build_gold, gold_scores
from analysis.stats.agreement import single_rating_agreement
from analysis.stats.correlation import correlate
from analysis.stats.roles import Role
from analysis.stats.sample_size import Collection, agreement_curve
from analysis.stats.segments import average_repeats, counts_for_gold
from analysis.stats.standardise import standardise_by_worker
from hits.campaigns.demo import DEMO_FOLDER
from hits.campaigns.simulation import SINGLE_RATING_AGREEMENT, Behaviour, true_qualities
from hits.models import Campaign, Participation, SystemOutput
from hits.rating.arrays import load_outputs, load_ratings, load_translations
from hits.rating.places import forecast
from tests.simulated_crowds import (
    collect,
    demo_excerpt,
    half_careless,
    n_promised,
    n_trusted,
    open_demo,
)

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("end to end")]

# Correlation of means of N ratings with means of N others (Graham, Baldwin and Mathur, NAACL 2015).
PUBLISHED_CURVE = {2: 0.60, 5: 0.76, 10: 0.86, 15: 0.91, 40: 0.97}
# Ratings per translation in each of the two collections.
N_EACH = 40


def r_with_truth(campaign: Campaign, z: np.ndarray, *, truth_seed: int) -> float:
    truth = true_qualities(campaign=campaign, seed=truth_seed)
    return float(np.corrcoef(z, [truth[pk] for pk in load_translations(campaign)])[0, 1])


def test_a_half_careless_crowd_gives_gold_a_ranking_and_a_metric_table(capsys):
    campaign = open_demo("demo", seed=3)
    promised = []
    collect(
        campaign,
        half_careless(240),
        seed=1,
        hits_per_worker=2,
        look=lambda assignment: promised.append(n_promised(assignment.hit)),
    )
    # The platform offered places until each HIT had 15 trusted workers, and never more.
    assert max(promised) == 15 and len(promised) > 5 * 15 * 1.2
    assert [n_trusted(hit) for hit in campaign.hits.all()] == [15] * 5
    assert forecast(campaign).is_complete

    run = build_gold(campaign=campaign)
    gold = gold_scores(run)
    assert (run.n_scored, run.n_incomplete, run.minimum) == (336, 0, 15)
    assert run.n_workers_trusted < run.n_workers and gold.n.min() == 15
    r = r_with_truth(campaign, gold.z, truth_seed=1)
    with capsys.disabled():
        print(f"\n{len(promised)} HITs done for {5 * 15} needed; gold and truth: r = {r:.3f}")
    assert r >= 0.93

    ranking = rank_systems(run)
    assert list(ranking.scores.systems) == systems_by_truth(campaign, truth_seed=1)
    assert ranking.clusters[0] == 1 and ranking.clusters[-1] > 1
    assert ranking.scores.n_segments.tolist() == [84] * 4

    table = metric_table(run.campaign, dict(zip(gold.translation.tolist(), gold.z, strict=True)))
    # True quality depends on similarity to the reference and on chance.
    assert table["wordmatch"] > 0.5 and min(table.values()) > 0.3


def systems_by_truth(campaign: Campaign, *, truth_seed: int) -> list[str]:
    truth, outputs = true_qualities(campaign=campaign, seed=truth_seed), load_outputs(campaign)
    qualities = np.array([truth[pk] for pk in outputs.translation])
    names = np.unique(outputs.system)
    return sorted(names, key=lambda name: -qualities[outputs.system == name].mean())


def metric_table(campaign: Campaign, gold: dict[int, float]) -> dict[str, float]:
    """Correlate each of the demo's metrics with gold."""
    outputs = SystemOutput.objects.filter(system__campaign=campaign)
    gold_of = {
        (system, segment): gold[pk]
        for system, segment, pk in outputs.values_list(
            "system__name", "segment__name", "translation"
        )
    }
    table = {}
    for file in sorted(DEMO_FOLDER.parent.glob("metrics/*.tsv")):
        rows = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines(), delimiter="\t"))
        scores = [float(row["score"]) for row in rows]
        table[file.stem] = correlate(
            scores,
            [gold_of[row["system"], row["segment"]] for row in rows],
            higher_is_better=file.stem != "editcost",
        ).estimate
    return table


@pytest.mark.slow
def test_two_honest_collections_give_the_published_curve(tmp_path, capsys):
    """Single ratings correlate at 0.41, and means of N ratings as published."""
    folder = demo_excerpt(tmp_path, n_segments=35)
    first = collected(folder, seed=11)
    second = collected(folder, seed=12)
    # The translations are the same in both; their places in the campaign are the keys.
    both = Collection(
        *(
            np.concatenate([getattr(collection, name) for collection in (first, second)])
            for name in ("scores", "z", "translations")
        )
    )
    curve = agreement_curve(both, rng=np.random.default_rng(1), sizes=tuple(PUBLISHED_CURVE))
    with capsys.disabled():
        print(f"\nsingle ratings: raw {curve.raw.single:.3f}, z {curve.z.single:.3f}")
        print(f"N  {list(PUBLISHED_CURVE)}\nz  {curve.z.r.round(3)}\nraw{curve.raw.r.round(3)}")
    assert curve.n_translations.tolist() == [140] * 5
    assert curve.raw.single == pytest.approx(SINGLE_RATING_AGREEMENT, abs=0.03)
    assert curve.z.single == pytest.approx(SINGLE_RATING_AGREEMENT, abs=0.03)
    published = list(PUBLISHED_CURVE.values())
    np.testing.assert_allclose(curve.z.r, published, atol=0.03)
    np.testing.assert_allclose(curve.raw.r, published, atol=0.03)


def collected(folder: Path, *, seed: int) -> Collection:
    """Collect ratings of an honest crowd, and check the agreement of single ratings."""
    campaign = open_demo(f"demo {seed}", folder=folder, seed=seed, min_ratings=N_EACH)
    collect(campaign, {Behaviour.HONEST: 55}, seed=seed, truth_seed=1, hits_per_worker=2)
    assert forecast(campaign).is_complete
    ratings = load_ratings(campaign)
    trusted = Participation.objects.filter(campaign=campaign).trusted()
    is_trusted = np.isin(ratings.worker, list(trusted.values_list("worker", flat=True)))
    scores, workers, roles = (
        ratings.score[is_trusted],
        ratings.worker[is_trusted],
        ratings.role[is_trusted],
    )
    translations = np.searchsorted(load_translations(campaign), ratings.translation[is_trusted])
    z = standardise_by_worker(scores, workers).z
    genuine = roles == Role.GENUINE
    for values in (scores.astype(float), z):
        r = single_rating_agreement(values[genuine], translations[genuine])
        assert r == pytest.approx(SINGLE_RATING_AGREEMENT, abs=0.03)
    counts = counts_for_gold(roles)
    rated = workers[counts], translations[counts]
    raw_means, _, keys = average_repeats(scores[counts], *rated)
    z_means, _, _ = average_repeats(z[counts], *rated)
    return Collection(raw_means, z_means, keys)
