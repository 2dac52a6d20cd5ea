"""WMT21 news, crowdsourced direct assessment into English: from ratings to the official ranking."""

import csv
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from analysis.stats.combining import Ratings, combine_ratings
from analysis.stats.quality_control import NO_PARTNER, degraded_tests, make_pairs
from analysis.stats.roles import Role
from analysis.stats.segments import SegmentScores, counts_for_gold, segment_scores
from analysis.stats.standardise import standardise_by_worker
from analysis.stats.system_covariance import SystemCovariance, system_covariance
from analysis.stats.systems import SystemComparison, compare_systems, system_scores

from .locating import replication_data
from .printing import as_printed, z_as_printed

# With others that read the same files.
pytestmark = pytest.mark.xdist_group("collections")

ROLES = {
    "SYSTEM": Role.GENUINE,
    "BAD_REF": Role.BAD_REFERENCE,
    "REPEAT": Role.REPEAT,
    "REF": Role.REFERENCE,
}
N_RATINGS = {"cs-en": 13_069, "de-en": 31_664}
# Stands for tests in the published matrix that were not significant or not done.
NOT_SIGNIFICANT = 0.12
# One de-en assignment was in the data twice. The published n of its 64 segments counts it twice,
# and the published raw mean divides by that n; the published z does neither.
COUNTED_TWICE = "3WJGKMRWVI9ITFRUCU8X3H2QHERCDA"


@dataclass(frozen=True, eq=False)
class Published:
    """The published ratings (parallel arrays), segment scores and system scores of a language pair."""

    hits: np.ndarray
    workers: np.ndarray
    systems: np.ndarray
    segments: np.ndarray
    roles: np.ndarray
    z: np.ndarray
    means: dict[str, tuple[float, float]]
    scored: dict[str, tuple[float, float, int]]
    ranked: dict[str, tuple[float, float, int, int]]

    @cached_property
    def translations(self) -> np.ndarray:
        return np.char.add(np.char.add(self.systems, " "), self.segments)

    @cached_property
    def unrounded(self) -> np.ndarray:
        means, sds = np.array([self.means[worker] for worker in self.workers]).T
        return self.z * sds + means

    @cached_property
    def scores(self) -> np.ndarray:
        return np.rint(self.unrounded)


def folder() -> Path:
    return replication_data("wmt21-crowd-da")


def compact(pair: str) -> str:
    return pair.replace("-", "")


def rows_of(path: Path, separator: str = " ") -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return [[cell for cell in row if cell] for row in csv.reader(file, delimiter=separator)]


def read_means(path: Path) -> dict[str, tuple[float, float]]:
    lines = [line.removeprefix("[1] ") for line in path.read_text().splitlines()]
    triples = zip(lines[::3], lines[1::3], lines[2::3], strict=True)
    return {
        name.strip('"'): (float(mean), float(sd.replace("NA", "nan"))) for name, mean, sd in triples
    }


@cache
def read_published(pair: str) -> Published:
    rows = rows_of(folder() / f"ad-{compact(pair)}-good-stnd-redup.csv", "\t")[1:]
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    hits, workers, systems, types, segments, z = (columns[i] for i in (0, 1, 6, 8, 9, 10))
    scored = rows_of(folder() / f"ad-seg-scores-{pair}.csv")[1:]
    ranked = rows_of(folder() / f"ad-sys-scores-{pair}.csv")[1:]
    return Published(
        hits=hits,
        workers=workers,
        systems=systems,
        segments=segments,
        roles=np.array([ROLES[name] for name in types]),
        z=z.astype(float),
        means=read_means(folder() / f"ad-{compact(pair)}-trk-mean-sd.txt"),
        scored={f"{s} {sid}": (float(raw), float(z), int(n)) for s, sid, raw, z, n in scored},
        ranked={s: (float(raw), float(z), int(n), int(all_)) for raw, z, n, s, all_ in ranked},
    )


def read_matrix(pair: str) -> tuple[np.ndarray, np.ndarray]:
    header, *rows = [row for row in rows_of(folder() / f"adwilcox-{compact(pair)}.csv") if row]
    assert header == [row[0] for row in rows]
    return np.array(header), np.array([row[1:] for row in rows], dtype=float)


def read_clusters(pair: str) -> dict[str, tuple[int, int]]:
    """Return wins and first rank of the cluster by system."""
    rows = rows_of(folder() / "clusters.csv")[1:]
    return {row[7]: (int(row[2]), int(row[4])) for row in rows if f"{row[0]}-{row[1]}" == pair}


@pytest.fixture(scope="module", params=["cs-en", "de-en"])
def pair(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def published(pair: str) -> Published:
    return read_published(pair)


def published_segments(published: Published) -> tuple[np.ndarray, ...]:
    raw, z, n = (np.array(column) for column in zip(*published.scored.values(), strict=True))
    return raw, z, n, np.array([name.split()[0] for name in published.scored])


def segments_of(published: Published) -> np.ndarray:
    return np.array([name.split()[1] for name in published.scored])


@cache
def compare_published(published: Published) -> SystemComparison:
    _, z, _, systems = published_segments(published)
    return compare_systems(z, systems, segments_of(published), test="published")


@cache
def computed_segments(published: Published) -> SegmentScores:
    chosen = counts_for_gold(published.roles)
    return segment_scores(
        published.scores[chosen],
        published.z[chosen],
        published.workers[chosen],
        published.translations[chosen],
        method="pooled",
        minimum=1,
    )


def is_counted_twice(published: Published, translations: np.ndarray) -> np.ndarray:
    is_counted = (published.hits == COUNTED_TWICE) & (published.roles == Role.GENUINE)
    return np.isin(translations, published.translations[is_counted])


def pairs_of(published: Published) -> tuple[np.ndarray, np.ndarray]:
    """Return differences degraded minus genuine, and the workers."""
    names, codes = np.unique(published.translations, return_inverse=True)
    items = codes + published.roles * len(names)
    partners = np.where(published.roles == Role.GENUINE, NO_PARTNER, codes)
    assignments = np.char.add(np.char.add(published.hits, " "), published.workers)
    pairs = make_pairs(assignments, items, partners, published.scores)
    is_degraded = published.roles[pairs.rows] == Role.BAD_REFERENCE
    assert is_degraded.sum() == (published.roles == Role.BAD_REFERENCE).sum()
    return pairs.differences[is_degraded], published.workers[pairs.rows][is_degraded]


def test_every_raw_rating_is_recovered(pair, published):
    assert len(published.z) == N_RATINGS[pair]
    assert_allclose(published.unrounded, published.scores, rtol=0, atol=1e-9)
    assert published.scores.min() >= 0
    assert published.scores.max() <= 100


def test_every_worker_has_the_published_mean_and_sd(published):
    result = standardise_by_worker(published.scores, published.workers)
    expected = np.array([published.means[worker] for worker in result.workers])
    assert_array_equal(as_printed(result.mean), expected[:, 0])
    assert_array_equal(as_printed(result.sd), expected[:, 1])
    assert not result.is_set_aside.any()


def test_z_scores_match_the_published_ones(published):
    result = standardise_by_worker(published.scores, published.workers)
    assert_allclose(result.z, published.z, rtol=0, atol=5e-6)
    assert_allclose(
        z_as_printed(published.scores, published.workers), published.z, rtol=0, atol=1e-9
    )


def test_every_worker_with_complete_pairs_has_the_published_t_and_p():
    both = [pairs_of(read_published(pair)) for pair in N_RATINGS]
    differences, workers = (np.concatenate(columns) for columns in zip(*both, strict=True))
    result = degraded_tests(differences, workers)
    lines = [
        line.split() for line in (folder() / "ad-trk-stats.csv").read_text().splitlines() if line
    ]
    expected = {name: (float(p), float(t), int(n)) for name, p, t, n in lines}
    ps, ts, ns = np.array([expected[worker] for worker in result.workers]).T
    complete = result.n_pairs == ns
    assert complete.sum() == 124
    assert_array_equal(as_printed(result.statistic[complete]), ts[complete])
    assert_array_equal(as_printed(result.pvalue[complete]), ps[complete])


def test_segment_scores_match_the_published_ones(pair, published):
    segments = computed_segments(published)
    assert set(segments.translations) == set(published.scored)
    expected = [published.scored[translation] for translation in segments.translations]
    raw, z, n = (np.array(column) for column in zip(*expected, strict=True))
    twice = is_counted_twice(published, segments.translations)
    assert twice.sum() == (64 if pair == "de-en" else 0)
    assert_allclose(segments.z, z, rtol=0, atol=1e-9)
    assert_allclose(segments.raw[~twice], raw[~twice], rtol=0, atol=1e-9)
    assert_array_equal(segments.n[~twice], n[~twice])


def test_one_assignment_of_deen_is_counted_twice_in_n_and_in_the_raw_mean():
    published = read_published("de-en")
    segments = computed_segments(published)
    twice = is_counted_twice(published, segments.translations)
    raw, _, n = np.array([published.scored[name] for name in segments.translations[twice]]).T
    assert_array_equal(n, 2 * segments.n[twice])
    assert_allclose(raw, segments.raw[twice] / 2, rtol=0, atol=1e-9)


def test_combining_the_language_pairs_changes_no_z_score():
    parts = {pair: read_published(pair) for pair in N_RATINGS}
    together = combine_ratings(
        {
            pair: Ratings(part.scores, part.workers, part.translations, part.roles)
            for pair, part in parts.items()
        }
    )
    apart = [standardise_by_worker(part.scores, part.workers).z for part in parts.values()]
    result = standardise_by_worker(together.scores, together.workers.codes)
    assert_allclose(result.z, np.concatenate(apart), rtol=0, atol=1e-12)
    # Some workers rated both pairs, with a scale for each.
    assert len(set(parts["cs-en"].workers) & set(parts["de-en"].workers)) > 0


def test_systems_have_the_published_scores_and_order(pair, published):
    segments = computed_segments(published)
    systems = np.array([name.split()[0] for name in segments.translations])
    ranked = system_scores(segments.raw, segments.z, segments.n_ratings, systems)
    raw, z, n, n_all = np.array([published.ranked[name] for name in ranked.systems]).T
    touched = np.isin(ranked.systems, systems[is_counted_twice(published, segments.translations)])
    assert touched.sum() == (3 if pair == "de-en" else 0)
    assert_allclose(ranked.z, z, rtol=0, atol=1e-9)
    assert_array_equal(ranked.n_segments, n)
    assert_allclose(ranked.raw[~touched], raw[~touched], rtol=0, atol=1e-9)
    assert_array_equal(ranked.n_ratings[~touched], n_all[~touched])
    official = [row[-1] for row in rows_of(folder() / f"ad-sys-ranking-{pair}-z.csv")]
    assert list(ranked.systems) == official


def test_system_scores_follow_from_the_published_segments(published):
    raw, z, n, systems = published_segments(published)
    ranked = system_scores(raw, z, n, systems)
    expected = np.array([published.ranked[name] for name in ranked.systems])
    assert_allclose(ranked.raw, expected[:, 0], rtol=0, atol=1e-9)
    assert_allclose(ranked.z, expected[:, 1], rtol=0, atol=1e-9)
    assert_array_equal(ranked.n_segments, expected[:, 2])
    assert_array_equal(ranked.n_ratings, expected[:, 3])


def test_every_significant_cell_has_the_published_p(pair, published):
    result = compare_published(published)
    names, expected = read_matrix(pair)
    assert_array_equal(result.systems, names)
    is_significant = expected != NOT_SIGNIFICANT
    assert is_significant.sum() > 20
    assert_allclose(result.pvalues[is_significant], expected[is_significant], rtol=0, atol=1e-9)
    # The matrix contains all significant tests of the better-ranked system, and no others.
    above = np.triu(np.ones_like(is_significant), 1)
    assert_array_equal(result.is_win & above, is_significant)


def test_wins_match_the_published_ones(pair, published):
    result = compare_published(published)
    expected = read_clusters(pair)
    assert_array_equal(result.wins, [expected[name][0] for name in result.systems])


def test_differences_and_stars_match_the_published_ones(pair, published):
    result = compare_published(published)
    rows = rows_of(folder() / f"ad-DA-diff-wilcoxon-rs-{compact(pair)}.csv")[1:]
    for i, row in enumerate(rows):
        for j, cell in enumerate(row[1:]):
            if i != j:
                difference = float(cell.rstrip("*"))
                assert result.differences[i, j] == pytest.approx(difference, abs=0.005 + 1e-9)
            if i < j:
                assert result.stars[i, j] == cell.count("*")


def covariance_of(published: Published) -> SystemCovariance:
    segments = computed_segments(published)
    return system_covariance(
        published.z,
        published.workers,
        published.translations,
        published.segments,
        counts_for_gold(published.roles),
        produced=segments.translations,
        systems=np.array([name.split()[0] for name in segments.translations]),
        method="pooled",
    )


def bootstrap_of_segments_and_workers(published: Published, n_resamples: int) -> np.ndarray:
    """Draw segments and workers with replacement, and return the system scores of each draw."""
    chosen = counts_for_gold(published.roles)
    z = published.z[chosen]
    _, workers = np.unique(published.workers[chosen], return_inverse=True)
    names, translations = np.unique(published.translations[chosen], return_inverse=True)
    _, systems = np.unique([name.split()[0] for name in names], return_inverse=True)
    _, segments = np.unique([name.split()[1] for name in names], return_inverse=True)
    rng = np.random.default_rng(21)

    def times_drawn(codes: np.ndarray) -> np.ndarray:
        n = codes.max() + 1
        return np.bincount(rng.integers(0, n, n), minlength=n)[codes]

    scores = []
    for _ in range(n_resamples):
        weights = times_drawn(workers).astype(float)
        n = np.bincount(translations, weights)
        means = np.bincount(translations, weights * z) / np.maximum(n, 1)
        of_segments = times_drawn(segments) * (n > 0)
        scores.append(np.bincount(systems, of_segments * means) / np.bincount(systems, of_segments))
    return np.array(scores)


def test_the_closed_form_agrees_with_a_bootstrap_of_segments_and_workers(published):
    errors, _ = covariance_of(published).difference_errors()
    scores = bootstrap_of_segments_and_workers(published, 400)
    pairs = np.triu_indices(len(errors), 1)
    expected = np.std(scores[:, pairs[0]] - scores[:, pairs[1]], axis=0)
    # The bootstrap counts the noise of single ratings once for segments and once for workers.
    assert 0.85 < np.median(errors[pairs] / expected) < 1.05


def test_workers_make_the_differences_less_certain_than_segments_alone_suggest(published):
    segments = computed_segments(published)
    systems, names = np.char.partition(segments.translations, " ")[:, [0, 2]].T
    columns = (segments.z, systems, names)
    over_segments = compare_systems(*columns)
    over_both = compare_systems(*columns, covariance=covariance_of(published))
    pairs = np.triu_indices(len(over_both.systems), 1)
    widths = [(result.high - result.low)[pairs] for result in (over_both, over_segments)]
    assert np.median(widths[0] / widths[1]) > 1.5


def first_ranks(clusters: np.ndarray) -> list[int]:
    """Return the first rank of each system's cluster."""
    return [int(np.argmax(clusters == cluster)) + 1 for cluster in clusters]


def test_csen_has_the_published_clusters():
    result = compare_published(read_published("cs-en"))
    expected = read_clusters("cs-en")
    assert first_ranks(result.clusters) == [expected[name][1] for name in result.systems]


def test_the_published_deen_line_after_rank_four_breaks_the_rule():
    result = compare_published(read_published("de-en"))
    published_line = read_clusters("de-en")
    assert sorted({start for _, start in published_line.values()}) == [1, 5]
    assert not result.is_win[:4, 4:].all()
    assert_array_equal(result.clusters, np.ones(len(result.systems)))
