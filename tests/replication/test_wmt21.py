"""WMT21 news, crowd-sourced direct assessment into English: from ratings to the official ranking."""

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from analysis.stats.combining import Ratings, combine_ratings
from analysis.stats.quality_control import NO_PARTNER, degraded_tests, make_pairs
from analysis.stats.roles import Role
from analysis.stats.segments import counts_for_gold, segment_scores
from analysis.stats.standardise import standardise_by_worker
from analysis.stats.systems import compare_systems, system_scores

from .locating import replication_data
from .printing import as_printed, z_as_printed

ROLES = {
    "SYSTEM": Role.GENUINE,
    "BAD_REF": Role.BAD_REFERENCE,
    "REPEAT": Role.REPEAT,
    "REF": Role.REFERENCE,
}
N_RATINGS = {"cs-en": 13_069, "de-en": 31_664}
# What the published matrix holds where a test was not significant, or not looked at.
NOT_SIGNIFICANT = 0.12
# One de-en assignment once stood twice in the data. The published n of its 64 segments still counts
# it twice and the published raw mean divides by that n; the published z does neither.
COUNTED_TWICE = "3WJGKMRWVI9ITFRUCU8X3H2QHERCDA"


@dataclass(frozen=True, slots=True)
class Published:
    """One language pair as published; arrays run in parallel within each of the three groups."""

    hits: np.ndarray
    workers: np.ndarray
    systems: np.ndarray
    segments: np.ndarray
    roles: np.ndarray
    z: np.ndarray
    means: dict[str, tuple[float, float]]
    scored: dict[str, tuple[float, float, int]]
    ranked: dict[str, tuple[float, float, int, int]]

    @property
    def translations(self) -> np.ndarray:
        return np.char.add(np.char.add(self.systems, " "), self.segments)

    @property
    def unrounded(self) -> np.ndarray:
        means, sds = np.array([self.means[worker] for worker in self.workers]).T
        return self.z * sds + means

    @property
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
    names = np.array(list(published.scored))
    raw, z, n = (np.array(column) for column in zip(*published.scored.values(), strict=True))
    return names, raw, z, n, np.array([name.split()[0] for name in names])


def own_segments(published: Published):
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
    own = (published.hits == COUNTED_TWICE) & (published.roles == Role.GENUINE)
    return np.isin(translations, published.translations[own])


def pairs_of(published: Published) -> tuple[np.ndarray, np.ndarray]:
    """Return differences degraded minus genuine, and the workers."""
    shown, codes = np.unique(published.translations, return_inverse=True)
    items = codes + published.roles * len(shown)
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
    own = standardise_by_worker(published.scores, published.workers)
    expected = np.array([published.means[worker] for worker in own.workers])
    assert_array_equal(as_printed(own.mean), expected[:, 0])
    assert_array_equal(as_printed(own.sd), expected[:, 1])
    assert not own.is_set_aside.any()


def test_z_scores_are_the_published_ones(published):
    own = standardise_by_worker(published.scores, published.workers)
    assert_allclose(own.z, published.z, rtol=0, atol=5e-6)
    assert_allclose(
        z_as_printed(published.scores, published.workers), published.z, rtol=0, atol=1e-9
    )


def test_every_worker_whose_pairs_are_all_here_has_the_published_t_and_p():
    both = [pairs_of(read_published(pair)) for pair in N_RATINGS]
    differences, workers = (np.concatenate(columns) for columns in zip(*both, strict=True))
    own = degraded_tests(differences, workers)
    lines = [
        line.split() for line in (folder() / "ad-trk-stats.csv").read_text().splitlines() if line
    ]
    expected = {name: (float(p), float(t), int(n)) for name, p, t, n in lines}
    ps, ts, ns = np.array([expected[worker] for worker in own.workers]).T
    complete = own.n_pairs == ns
    assert complete.sum() == 124
    assert_array_equal(as_printed(own.statistic[complete]), ts[complete])
    assert_array_equal(as_printed(own.pvalue[complete]), ps[complete])


def test_all_segment_scores_are_the_published_ones(pair, published):
    own = own_segments(published)
    assert set(own.translations) == set(published.scored)
    expected = [published.scored[translation] for translation in own.translations]
    raw, z, n = (np.array(column) for column in zip(*expected, strict=True))
    twice = is_counted_twice(published, own.translations)
    assert twice.sum() == (64 if pair == "de-en" else 0)
    assert_allclose(own.z, z, rtol=0, atol=1e-9)
    assert_allclose(own.raw[~twice], raw[~twice], rtol=0, atol=1e-9)
    assert_array_equal(own.n[~twice], n[~twice])


def test_one_assignment_of_deen_is_counted_twice_in_n_and_in_the_raw_mean():
    published = read_published("de-en")
    own = own_segments(published)
    twice = is_counted_twice(published, own.translations)
    raw, _, n = np.array([published.scored[name] for name in own.translations[twice]]).T
    assert_array_equal(n, 2 * own.n[twice])
    assert_allclose(raw, own.raw[twice] / 2, rtol=0, atol=1e-9)


def test_combining_the_language_pairs_changes_no_z_score():
    parts = {pair: read_published(pair) for pair in N_RATINGS}
    together = combine_ratings(
        {
            pair: Ratings(part.scores, part.workers, part.translations, part.roles)
            for pair, part in parts.items()
        }
    )
    apart = [standardise_by_worker(part.scores, part.workers).z for part in parts.values()]
    own = standardise_by_worker(together.scores, together.workers.codes)
    assert_allclose(own.z, np.concatenate(apart), rtol=0, atol=1e-12)
    # Workers who rated both pairs, and would have lost their two scales under one name.
    assert len(set(parts["cs-en"].workers) & set(parts["de-en"].workers)) > 0


def test_systems_have_the_published_scores_and_order(pair, published):
    own = own_segments(published)
    systems = np.array([name.split()[0] for name in own.translations])
    ranked = system_scores(own.raw, own.z, own.n_ratings, systems)
    raw, z, n, n_all = np.array([published.ranked[name] for name in ranked.systems]).T
    touched = np.isin(
        ranked.systems, systems[is_counted_twice(published, own.translations)]
    )  # by the assignment counted twice
    assert touched.sum() == (3 if pair == "de-en" else 0)
    assert_allclose(ranked.z, z, rtol=0, atol=1e-9)
    assert_array_equal(ranked.n_segments, n)
    assert_allclose(ranked.raw[~touched], raw[~touched], rtol=0, atol=1e-9)
    assert_array_equal(ranked.n_ratings[~touched], n_all[~touched])
    official = [row[-1] for row in rows_of(folder() / f"ad-sys-ranking-{pair}-z.csv")]
    assert list(ranked.systems) == official


def test_system_scores_follow_from_the_published_segments(published):
    _, raw, z, n, systems = published_segments(published)
    ranked = system_scores(raw, z, n, systems)
    expected = np.array([published.ranked[name] for name in ranked.systems])
    assert_allclose(ranked.raw, expected[:, 0], rtol=0, atol=1e-9)
    assert_allclose(ranked.z, expected[:, 1], rtol=0, atol=1e-9)
    assert_array_equal(ranked.n_segments, expected[:, 2])
    assert_array_equal(ranked.n_ratings, expected[:, 3])


def test_every_significant_cell_has_the_published_p(pair, published):
    _, _, z, _, systems = published_segments(published)
    own = compare_systems(z, systems)
    names, expected = read_matrix(pair)
    assert_array_equal(own.systems, names)
    shown = expected != NOT_SIGNIFICANT
    assert shown.sum() > 20
    assert_allclose(own.pvalues[shown], expected[shown], rtol=0, atol=1e-9)
    # The matrix holds tests of the better-ranked system only, and of these all significant ones.
    above = np.triu(np.ones_like(shown), 1)
    assert_array_equal(own.is_win & above, shown)


def test_wins_are_the_published_ones(pair, published):
    _, _, z, _, systems = published_segments(published)
    own = compare_systems(z, systems)
    expected = read_clusters(pair)
    assert_array_equal(own.wins, [expected[name][0] for name in own.systems])


def test_differences_and_stars_are_the_published_ones(pair, published):
    _, _, z, _, systems = published_segments(published)
    own = compare_systems(z, systems)
    rows = rows_of(folder() / f"ad-DA-diff-wilcoxon-rs-{compact(pair)}.csv")[1:]
    for i, row in enumerate(rows):
        for j, cell in enumerate(row[1:]):
            if i != j:
                difference = float(cell.rstrip("*"))
                assert own.differences[i, j] == pytest.approx(difference, abs=0.005 + 1e-9)
            if i < j:
                assert own.stars[i, j] == cell.count("*")


def first_ranks(clusters: np.ndarray) -> list[int]:
    """Return for each system the rank at which its cluster begins."""
    return [int(np.argmax(clusters == cluster)) + 1 for cluster in clusters]


def test_csen_has_the_published_clusters():
    _, _, z, _, systems = published_segments(read_published("cs-en"))
    own = compare_systems(z, systems)
    expected = read_clusters("cs-en")
    assert first_ranks(own.clusters) == [expected[name][1] for name in own.systems]


def test_the_published_deen_line_after_rank_four_breaks_the_rule():
    _, _, z, _, systems = published_segments(read_published("de-en"))
    own = compare_systems(z, systems)
    published_line = read_clusters("de-en")
    assert sorted({start for _, start in published_line.values()}) == [1, 5]
    assert not own.is_win[:4, 4:].all()
    assert_array_equal(own.clusters, np.ones(len(own.systems)))
