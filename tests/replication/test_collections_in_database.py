"""Imported collections give the published scores from the database."""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command
from django.db import transaction
from numpy.testing import assert_allclose, assert_array_equal

from analysis.gold.agreement import measure_agreement
from analysis.gold.ranking import rank_systems
from analysis.gold.runs import build_gold
from analysis.stats.segments import SegmentScores, counts_for_gold, segment_scores
from analysis.stats.standardise import standardise_by_worker
from analysis.stats.systems import SystemScores, compare_systems, system_scores
from benchmarks.weight_forms import agreement_of_halves, first_guess, read_wmt21
from hits.models import Campaign, Participation, Rating, SystemOutput
from tests.replication.test_wmt13 import expected_segments, published_scores, spaced_rows
from tests.replication.test_wmt21 import (
    COUNTED_TWICE,
    first_ranks,
    read_clusters,
    read_published,
    rows_of,
)

from .locating import replication_data
from .printing import z_as_printed

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("collections")]

Standardiser = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True, slots=True)
class Gold:
    """Segment scores, named `system segment`, and system scores."""

    segments: SegmentScores
    systems: SystemScores


def unrounded_z(scores: np.ndarray, workers: np.ndarray) -> np.ndarray:
    return standardise_by_worker(scores, workers).z


def gold_from_database(
    campaign: Campaign, *, method: str, standardise: Standardiser = z_as_printed
) -> Gold:
    rows = Rating.objects.filter(assignment__hit__campaign=campaign).values_list(
        "score", "assignment__worker_id", "item__role", "item__translation_id"
    )
    scores, workers, roles, translations = np.array(list(rows), dtype=np.int64).T
    outputs = SystemOutput.objects.filter(segment__campaign=campaign).values_list(
        "translation_id", "system__name", "segment__name"
    )
    names = {pk: f"{system} {segment}" for pk, system, segment in outputs}
    trusted = list(campaign.participations.trusted().values_list("worker_id", flat=True))
    chosen = counts_for_gold(roles, workers, trusted)
    segments = segment_scores(
        scores[chosen],
        standardise(scores.astype(float), workers)[chosen],
        workers[chosen],
        np.array([names[pk] for pk in translations[chosen]]),
        method=method,  # type: ignore[arg-type]
        minimum=campaign.min_ratings,
    )
    systems = np.array([name.split()[0] for name in segments.translations])
    return Gold(segments, system_scores(segments.raw, segments.z, segments.n_ratings, systems))


def import_collection(*paths: Path, name: str, options: list[str]) -> Campaign:
    call_command(
        "import_collection", *map(str, paths), "--name", name, *options, stdout=io.StringIO()
    )
    return Campaign.objects.get(name=name)


def import_wmt21(pair: str, *options: str) -> Campaign:
    folder = replication_data("wmt21-crowd-da")
    source, target = pair.split("-")
    return import_collection(
        folder / f"ad-{source}{target}-good-stnd-redup.csv",
        folder / f"ad-{source}{target}-trk-mean-sd.txt",
        name=f"WMT21 {pair}",
        options=[
            *["--format", "wmt-da", "--from", source, "--to", target],
            *["--min-ratings", "1", "--workers-of", "WMT21", *options],
        ],
    )


def import_wmt13(name: str, *options: str) -> Campaign:
    return import_collection(
        *sorted(replication_data("mturk-batches").glob("Batch_*.csv")),
        name=name,
        options=["--format", "mturk", "--from", "cs", "--to", "en", "--min-ratings", "1", *options],
    )


@pytest.fixture(scope="module")
def shared_database(django_db_setup, django_db_blocker) -> Iterator[None]:
    with django_db_blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def csen(shared_database: None) -> Campaign:
    return import_wmt21("cs-en", "--trust-all", "--reason", "Passed over all pairs of WMT21.")


@pytest.fixture(scope="module")
def deen(shared_database: None) -> Campaign:
    return import_wmt21("de-en", "--trust-all")


@pytest.fixture(scope="module")
def eighteen(shared_database: None) -> Campaign:
    named = replication_data("mturk-batches", "expected-18-workers", "ad-trk-stats.csv")
    return import_wmt13("WMT13 by name", "--trust", str(named))


@pytest.fixture(scope="module")
def tested(shared_database: None) -> Campaign:
    return import_wmt13("WMT13 by evidence", "--exclude-rejected")


def test_csen_has_every_rating(csen: Campaign) -> None:
    ratings = Rating.objects.filter(assignment__hit__campaign=csen)
    published = read_published("cs-en")
    stored = sorted(
        ratings.values_list(
            "assignment__worker__external_id",
            "item__translation__outputs__system__name",
            "item__translation__segment__name",
            "item__role",
            "score",
        )
    )
    workers = [f"WMT21/{worker}" for worker in published.workers]
    columns = (workers, published.systems, published.segments, published.roles, published.scores)
    expected = sorted(
        (worker, str(system), str(segment), int(role), int(score))
        for worker, system, segment, role, score in zip(*columns, strict=True)
    )
    assert stored == expected
    assert len(stored) == 13_069


def test_csen_segments_have_the_published_scores(csen: Campaign) -> None:
    segments = gold_from_database(csen, method="pooled").segments
    published = read_published("cs-en").scored
    assert set(segments.translations) == set(published)
    raw, z, n = np.array([published[name] for name in segments.translations]).T
    assert_array_equal(segments.n, n)
    assert_allclose(segments.raw, raw, rtol=0, atol=1e-9)
    assert_allclose(segments.z, z, rtol=0, atol=1e-9)


def test_csen_segments_have_the_published_z_to_five_decimals_without_rounding(
    csen: Campaign,
) -> None:
    segments = gold_from_database(csen, method="pooled", standardise=unrounded_z).segments
    published = read_published("cs-en").scored
    # The published z-scores used means and sds printed with seven digits.
    assert_allclose(
        segments.z, [published[name][1] for name in segments.translations], rtol=0, atol=5e-6
    )


@pytest.mark.parametrize("standardise", [z_as_printed, unrounded_z])
def test_csen_systems_have_the_published_scores_and_the_official_order(
    csen: Campaign, standardise: Standardiser
) -> None:
    systems = gold_from_database(csen, method="pooled", standardise=standardise).systems
    published = read_published("cs-en").ranked
    raw, z, n, n_ratings = np.array([published[name] for name in systems.systems]).T
    assert_allclose(systems.raw, raw, rtol=0, atol=1e-9)
    assert_allclose(systems.z, z, rtol=0, atol=1e-9 if standardise is z_as_printed else 1e-6)
    assert_array_equal(systems.n_segments, n)
    assert_array_equal(systems.n_ratings, n_ratings)
    ranking = replication_data("wmt21-crowd-da", "ad-sys-ranking-cs-en-z.csv")
    assert list(systems.systems) == [row[-1] for row in rows_of(ranking)]


def test_csen_has_the_published_wins_and_clusters(csen: Campaign) -> None:
    segments = gold_from_database(csen, method="pooled").segments
    # The published tests used printed scores, which affects ties.
    z = np.array([float(f"{value:.15g}") for value in segments.z])
    systems, names = np.char.partition(segments.translations.astype(str), " ")[:, [0, 2]].T
    compared = compare_systems(z, systems, names, test="published")
    published = read_clusters("cs-en")
    assert_array_equal(compared.wins, [published[name][0] for name in compared.systems])
    assert first_ranks(compared.clusters) == [published[name][1] for name in compared.systems]


def test_csen_workers_are_trusted_by_decision_and_keep_their_evidence(csen: Campaign) -> None:
    states = set(csen.participations.values_list("decision", "decision_reason"))
    reason = "Passed over all pairs of WMT21. Judged reliable where the ratings were collected."
    assert states == {(Participation.Decision.REINSTATED, reason)}
    verdicts = set(csen.participations.values_list("trust", flat=True))
    # The evidence of this pair alone would fail some of them.
    assert verdicts >= {"reliable", "unreliable"}
    log = csen.audit_entries.filter(action="reinstated")
    assert log.count() == csen.participations.count() == 92


def test_deen_segments_have_the_published_scores(deen: Campaign) -> None:
    gold = gold_from_database(deen, method="pooled")
    published = read_published("de-en")
    twice = published.translations[(published.hits == COUNTED_TWICE) & (published.roles == 0)]
    once = ~np.isin(gold.segments.translations, twice)
    raw, z, n = np.array([published.scored[name] for name in gold.segments.translations]).T
    assert set(gold.segments.translations) == set(published.scored)
    assert_allclose(gold.segments.z, z, rtol=0, atol=1e-9)
    assert_allclose(gold.segments.raw[once], raw[once], rtol=0, atol=1e-9)
    assert_array_equal(gold.segments.n[once], n[once])
    ranking = replication_data("wmt21-crowd-da", "ad-sys-ranking-de-en-z.csv")
    assert list(gold.systems.systems) == [row[-1] for row in rows_of(ranking)]


def test_both_pairs_share_workers(csen: Campaign, deen: Campaign) -> None:
    both = set(read_published("cs-en").workers) & set(read_published("de-en").workers)
    shared = csen.participations.filter(worker__participations__campaign=deen)
    assert {f"WMT21/{name}" for name in both} == set(
        shared.values_list("worker__external_id", flat=True)
    )
    assert len(both) > 0


@pytest.mark.parametrize(
    ("column", "name"),
    [("raw", "raw-seg-scrs/seg.ad.cs-en.csv"), ("z", "z-seg-scrs/seg.ad.stnd.cs-en.csv")],
)
def test_eighteen_workers_give_all_seventy_published_gold_scores(
    eighteen: Campaign, column: str, name: str
) -> None:
    segments = gold_from_database(eighteen, method="per_worker").segments
    published = published_scores(name)
    assert set(segments.translations) == set(published)
    assert_array_equal(segments.n, 18)
    expected = [published[translation] for translation in segments.translations]
    assert_allclose(getattr(segments, column), expected, rtol=0, atol=1e-9)


def test_evidence_trusts_the_workers_who_passed_the_published_test(tested: Campaign) -> None:
    classes = dict(spaced_rows(replication_data("mturk-batches", "expected", "ad-trk-stats.class")))
    good = [f"{tested.name}/{worker}" for worker, verdict in classes.items() if verdict == "good"]
    trusted = tested.participations.trusted().values_list("worker__external_id", flat=True)
    assert sorted(trusted) == sorted(good)


@pytest.mark.parametrize(
    ("column", "name"),
    [("raw", "ad-raw-seg-scores-1.cs-en.csv"), ("z", "ad-stnd-seg-scores-1.cs-en.csv")],
)
def test_trusted_workers_give_the_expected_segment_scores(
    tested: Campaign, column: str, name: str
) -> None:
    segments = gold_from_database(tested, method="per_worker").segments
    expected = expected_segments(replication_data("mturk-batches", "expected", name))
    assert set(segments.translations) == set(expected)
    n, scores = np.array([expected[translation] for translation in segments.translations]).T
    assert_array_equal(segments.n, n)
    assert_allclose(getattr(segments, column), scores, rtol=0, atol=1e-9)


def stored_gold(campaign: Campaign, method: str) -> dict[str, tuple[float, float, int]]:
    """Build the campaign's gold and return raw, z and n by `system segment`."""
    run = build_gold(campaign=campaign, method=method, minimum=1)  # type: ignore[arg-type]
    rows = run.scores.filter(is_complete=True).values_list(
        "translation__outputs__system__name", "translation__segment__name", "raw", "z", "n"
    )
    return {f"{system} {segment}": (raw, z, n) for system, segment, raw, z, n in rows}


def test_stored_gold_of_csen_matches_the_published_gold_and_ranking(
    csen: Campaign,
) -> None:
    stored, published = stored_gold(csen, "pooled"), read_published("cs-en").scored
    assert set(stored) == set(published)
    raw, z, n = np.array([stored[name] for name in published]).T
    published_raw, published_z, published_n = np.array(list(published.values())).T
    assert_array_equal(n, published_n)
    assert_allclose(raw, published_raw, rtol=0, atol=1e-9)
    # Here nothing is rounded, unlike the published means and sds.
    assert_allclose(z, published_z, rtol=0, atol=5e-6)
    ranking = replication_data("wmt21-crowd-da", "ad-sys-ranking-cs-en-z.csv")
    systems = rank_systems(csen.gold_runs.get()).scores.systems
    assert list(systems) == [row[-1] for row in rows_of(ranking)]


def test_stored_gold_of_eighteen_workers_matches_the_published_gold(eighteen: Campaign) -> None:
    stored = stored_gold(eighteen, "per_worker")
    published = published_scores("raw-seg-scrs/seg.ad.cs-en.csv")
    assert set(stored) == set(published) and len(stored) == 70
    raw = [stored[name][0] for name in published]
    assert_allclose(raw, list(published.values()), rtol=0, atol=1e-9)


@pytest.fixture(scope="module")
def halves(csen: Campaign, deen: Campaign) -> dict[tuple[str, str], float]:
    """The agreement of halves of the workers on systems, over 200 splits, as everyone measures it, and by a yardstick.

    The yardstick is the first guess: each worker's ratings count by the mean drop over 0.5 and half the variance of
    repeats, both shrunk with the weight of five pairs.
    """
    r = {}
    for campaign in (csen, deen):
        pair = campaign.name.removeprefix("WMT21 ")
        for each in measure_agreement(campaign).reliability:
            assert each.halves.n_splits == 200
            r[pair, each.method] = each.halves.systems.r
        collection = read_wmt21(pair)
        splits = collection.halves(200, np.random.default_rng(7))
        guessed = partial(collection.weighted_means, first_guess)
        r[pair, "first guess"] = agreement_of_halves(guessed, splits)
    return r


@pytest.mark.slow
def test_the_yardstick_is_what_was_found_before(halves: dict[tuple[str, str], float]) -> None:
    # The mean over 200 splits varies by some 0.02 with their seed.
    assert halves["cs-en", "first guess"] == pytest.approx(0.60, abs=0.05)
    assert halves["de-en", "first guess"] == pytest.approx(0.40, abs=0.05)


@pytest.mark.slow
def test_halves_of_the_workers_agree_better_with_weighted_gold(
    halves: dict[tuple[str, str], float],
) -> None:
    assert halves["cs-en", "weighted"] >= 0.6
    assert halves["de-en", "weighted"] >= halves["de-en", "per_worker"]
    for pair in ("cs-en", "de-en"):
        assert halves[pair, "weighted"] >= halves[pair, "first guess"]


def test_a_weighted_ranking_has_intervals_over_workers(csen: Campaign) -> None:
    ranking = rank_systems(build_gold(campaign=csen, method="weighted", minimum=1))
    assert ranking.has_workers
    assert "sys:weighted-ratings" in ranking.signature and "weight:drop^1.5" in ranking.signature
    assert all(row["low"] < row["z"] < row["high"] for row in ranking.rows)
