"""WMT13 Czech to English: from Mechanical Turk's result files to the scores of NAACL 2015."""

import csv
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from analysis.stats.flags import AssignmentColumns, RatingColumns, WorkerFlags, flag_workers
from analysis.stats.quality_control import NO_PARTNER, QualityControl, quality_control
from analysis.stats.roles import Role
from analysis.stats.segments import SegmentScores, counts_for_gold, segment_scores
from analysis.stats.standardise import standardise_by_worker

from .locating import replication_data
from .printing import as_printed, z_as_printed

# Shares module-scoped fixtures.
pytestmark = pytest.mark.xdist_group("wmt13")

ROLES = {
    "system": Role.GENUINE,
    "cal": Role.BAD_REFERENCE,
    "repeat": Role.REPEAT,
    "ref": Role.REFERENCE,
}


@dataclass(frozen=True, slots=True)
class Batch:
    """Ratings as parallel arrays, and the time span of each assignment."""

    workers: np.ndarray
    assignments: np.ndarray
    positions: np.ndarray
    translations: np.ndarray
    roles: np.ndarray
    scores: np.ndarray
    spans: list[tuple[str, float, float, bool]]

    def without_rejected(self) -> np.ndarray:
        rejected = [worker for worker, _, _, is_rejected in self.spans if is_rejected]
        return ~np.isin(self.workers, rejected)


def folder() -> Path:
    return replication_data("mturk-batches")


def seconds(moment: str) -> float:
    # The time zone differs between rows, but not within a row.
    day, month, number, time, _, year = moment.split()
    return datetime.strptime(f"{month} {number} {time} {year}", "%b %d %H:%M:%S %Y").timestamp()


def read_batches() -> Batch:
    ratings, spans = [], []
    for path in sorted(folder().glob("Batch_*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                # Two assignments have no answers.
                if row["Answer.Q1"]:
                    ratings += ratings_of(row)
                    spans.append(span_of(row))
    columns = [np.array(column) for column in zip(*ratings, strict=True)]
    return Batch(*columns, spans=spans)


def ratings_of(row: dict[str, str]) -> list[tuple[str, str, int, str, int, int]]:
    ratings = []
    for answer in row["Answer.Q1"].split("|"):
        place, _, score = answer.split("_")
        translation = f"{row[f'Input.sys_id_{place}']} {row[f'Input.sid_{place}']}"
        role = int(ROLES[row[f"Input.tst_{place}"]])
        ratings.append(
            (row["WorkerId"], row["AssignmentId"], int(place), translation, role, int(score))
        )
    return ratings


def span_of(row: dict[str, str]) -> tuple[str, float, float, bool]:
    begin, end = seconds(row["AcceptTime"]), seconds(row["SubmitTime"])
    assert end - begin == float(row["WorkTimeInSeconds"])
    return row["WorkerId"], begin, end, row["AssignmentStatus"] == "Rejected"


def judge(batch: Batch, chosen: np.ndarray) -> QualityControl:
    names, codes = np.unique(batch.translations, return_inverse=True)
    return quality_control(
        batch.scores[chosen],
        batch.workers[chosen],
        batch.roles[chosen],
        batch.assignments[chosen],
        (codes + batch.roles * len(names))[chosen],
        np.where(batch.roles == Role.GENUINE, NO_PARTNER, codes)[chosen],
    )


def flags_of(batch: Batch) -> WorkerFlags:
    return flag_workers(
        RatingColumns(batch.scores, batch.workers, batch.roles, batch.assignments, batch.positions),
        AssignmentColumns(*zip(*batch.spans, strict=True)),
    )


def score_segments(batch: Batch, trusted: list[str], z: np.ndarray | None = None) -> SegmentScores:
    if z is None:
        z = z_as_printed(batch.scores, batch.workers)
    chosen = counts_for_gold(batch.roles, batch.workers, trusted)
    return segment_scores(
        batch.scores[chosen],
        z[chosen],
        batch.workers[chosen],
        batch.translations[chosen],
        minimum=1,
    )


def spaced_rows(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text().splitlines() if line.strip()]


def expected_segments(path: Path) -> dict[str, tuple[int, float]]:
    return {
        f"{system} {segment}": (int(n), float(score))
        for _, n, segment, system, score in spaced_rows(path)[1:]
    }


def published_scores(name: str) -> dict[str, float]:
    rows = spaced_rows(replication_data("naacl15-segments") / name)[1:]
    return {f"{system} {segment}": float(score) for _, system, segment, score in rows}


@pytest.fixture(scope="module")
def batch() -> Batch:
    return read_batches()


def test_the_batches_contain_29_assignments_of_100_ratings(batch):
    assert len(batch.spans) == 29
    assert_array_equal(np.unique(batch.assignments, return_counts=True)[1], 100)


def test_every_worker_has_the_expected_flags(batch):
    result = flags_of(batch)
    header, *rows = spaced_rows(folder() / "expected" / "ad-wrkr-stats.csv")
    expected = {row[0]: dict(zip(header, row, strict=True)) for row in rows}
    assert list(result.workers) == sorted(expected)
    flags = {
        "scores.flag": result.scores,
        "time.flag": result.time,
        "seq.flag": result.sequence,
        "reject.flag": result.rejected,
    }
    for name, values in flags.items():
        assert_array_equal(values, [expected[w][name] != "-" for w in result.workers], name)
    assert all(values.any() and not values.all() for values in flags.values())


def test_every_worker_has_the_expected_numbers_behind_the_flags(batch):
    result = flags_of(batch)
    header, *rows = spaced_rows(folder() / "expected" / "ad-wrkr-stats.csv")
    expected = dict(zip(header, np.array(sorted(rows)).T, strict=True))
    # Printed to one decimal.
    means = {
        "mean.bad.ref": result.mean_bad_reference,
        "mean.sys.out": result.mean_genuine,
        "mean.ref": result.mean_reference,
    }
    for name, values in means.items():
        assert_allclose(values, expected[name].astype(float), atol=0.05 + 1e-9, err_msg=name)
    counts = {
        "hit.count": result.n_hits,
        "min.hit.time": result.fastest_seconds,
        "max.concurrent": result.most_open_at_once,
        "max.const.seq.len": result.longest_equal_run,
    }
    for name, values in counts.items():
        assert_array_equal(values, expected[name].astype(int), name)


def test_every_worker_has_the_expected_t_p_and_class(batch):
    result = judge(batch, batch.without_rejected())
    tests = {row[0]: row[1:] for row in spaced_rows(folder() / "expected" / "ad-trk-stats.csv")}
    classes = dict(spaced_rows(folder() / "expected" / "ad-trk-stats.class"))
    assert list(result.workers) == sorted(tests)
    ps, ts, ns = np.array([tests[worker] for worker in result.workers], dtype=float).T
    assert_array_equal(as_printed(result.degraded.statistic), ts)
    assert_array_equal(as_printed(result.degraded.pvalue), ps)
    assert_array_equal(result.degraded.n_pairs, ns)
    good = [worker for worker, name in classes.items() if name == "good"]
    assert list(result.trusted) == sorted(good)


def assert_expected_scores(segments: SegmentScores, expected: Path) -> None:
    raw = expected_segments(expected / "ad-raw-seg-scores-1.cs-en.csv")
    z = expected_segments(expected / "ad-stnd-seg-scores-1.cs-en.csv")
    names = segments.translations
    assert set(names) == set(raw) == set(z)
    assert_array_equal(segments.n, [raw[name][0] for name in names])
    assert_allclose(segments.raw, [raw[name][1] for name in names], rtol=0, atol=1e-9)
    assert_allclose(segments.z, [z[name][1] for name in names], rtol=0, atol=1e-9)


def test_the_reliable_workers_give_the_expected_segment_scores(batch):
    trusted = list(judge(batch, batch.without_rejected()).trusted)
    assert_expected_scores(score_segments(batch, trusted), folder() / "expected")


def test_unrounded_z_scores_match_the_expected_ones_to_six_decimals(batch):
    trusted = list(judge(batch, batch.without_rejected()).trusted)
    unrounded = standardise_by_worker(batch.scores, batch.workers).z
    segments = score_segments(batch, trusted, unrounded)
    z = expected_segments(folder() / "expected" / "ad-stnd-seg-scores-1.cs-en.csv")
    assert_allclose(segments.z, [z[name][1] for name in segments.translations], rtol=0, atol=1e-6)


@pytest.fixture(scope="module")
def the_18(batch: Batch) -> SegmentScores:
    rows = spaced_rows(folder() / "expected-18-workers" / "ad-trk-stats.csv")
    return score_segments(batch, [row[0] for row in rows])


def test_eighteen_workers_give_the_expected_segment_scores(the_18):
    assert_array_equal(the_18.n, 18)
    assert_expected_scores(the_18, folder() / "expected-18-workers")


@pytest.mark.parametrize(
    ("column", "name"),
    [("raw", "raw-seg-scrs/seg.ad.cs-en.csv"), ("z", "z-seg-scrs/seg.ad.stnd.cs-en.csv")],
)
def test_all_seventy_published_gold_scores_are_reproduced(the_18, column, name):
    published = published_scores(name)
    assert len(published) == 70
    assert set(the_18.translations) == set(published)
    expected = [published[translation] for translation in the_18.translations]
    assert_allclose(getattr(the_18, column), expected, rtol=0, atol=1e-9)
