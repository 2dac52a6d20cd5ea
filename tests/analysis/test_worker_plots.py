"""Pictures of a worker's ratings: correct numbers in readable files."""

import csv
import io
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import stats

from analysis.stats.quality_control import NO_PARTNER, make_pairs
from analysis.stats.roles import Role
from hits.workers.plots import (
    BesideFormula,
    BesideOthers,
    HitTimes,
    WorkerRatings,
    worker_pictures,
)
from hits.workers.plots.pairs import window_pvalues
from hits.workers.plots.scores import RUNNING_MEAN, longest_run, running_means

N_PAIRS = 6


@pytest.fixture
def ratings() -> WorkerRatings:
    """Four HITs, each with six genuine items, each of which has a degraded and a repeated one."""
    rng = np.random.default_rng(3)
    n_hits = 4
    roles = [Role.GENUINE, Role.BAD_REFERENCE, Role.REPEAT] * N_PAIRS
    items = np.arange(n_hits * len(roles))
    genuine = items // 3 * 3
    role = np.array(roles * n_hits, dtype=np.int64)
    hit = items // len(roles) + 1
    return WorkerRatings(
        assignment=10 * hit,
        item=items,
        partner=np.where(role == Role.GENUINE, NO_PARTNER, genuine),
        role=role,
        score=np.where(role == Role.BAD_REFERENCE, 30.0, 70.0) + rng.integers(-20, 20, len(items)),
        seconds=rng.lognormal(1, 0.5, len(items)),
        submitted=1000.0 * hit,
        hit_number=hit,
    )


def table(picture) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(picture.csv().decode())))


def picture_named(ratings: WorkerRatings, name: str):
    return next(picture for picture in worker_pictures(ratings) if picture.name == name)


def test_there_is_a_picture_of_everything(ratings):
    names = ["degraded-pairs", "repeats", "drift"]
    names += ["score-distribution", "scores-over-time", "seconds-per-item"]
    assert [picture.name for picture in worker_pictures(ratings)] == names


def test_every_picture_is_drawn_as_svg_with_its_description_png_and_pdf(ratings):
    for picture in worker_pictures(ratings):
        svg, png, pdf = (picture.render(fmt) for fmt in ("svg", "png", "pdf"))
        root = ElementTree.fromstring(svg)
        assert root.find("{http://www.w3.org/2000/svg}desc").text == picture.alternative
        assert b"style=" not in svg and b"<style" not in svg and b"mathdefault" not in svg
        assert png.startswith(b"\x89PNG") and pdf.startswith(b"%PDF")
        assert picture.render("svg") == svg


def test_pairs_are_the_scores_of_item_and_partner(ratings):
    rows = table(picture_named(ratings, "degraded-pairs"))
    assert len(rows) == 4 * N_PAIRS
    first = rows[0]
    assert (first["hit"], float(first["genuine"])) == ("1", ratings.score[0])
    assert float(first["degraded"]) == ratings.score[1]
    assert float(first["difference"]) == ratings.score[1] - ratings.score[0]
    repeats = table(picture_named(ratings, "repeats"))
    assert float(repeats[0]["repeat"]) == ratings.score[2]


def test_the_description_counts_degraded_texts_scored_lower(ratings):
    picture = picture_named(ratings, "degraded-pairs")
    n_lower = sum(float(row["difference"]) < 0 for row in table(picture))
    assert f"{n_lower} of 24 degraded texts were scored lower" in picture.alternative


def test_window_tests_over_three_hits_match_scipy(ratings):
    pairs = make_pairs(ratings.assignment, ratings.item, ratings.partner, ratings.score)
    rows = window_pvalues(ratings, pairs)
    genuine, degraded = (
        ratings.score[ratings.role == role].reshape(4, N_PAIRS)
        for role in (Role.GENUINE, Role.BAD_REFERENCE)
    )
    assert [number for number, *_ in rows] == [1, 2, 3, 4]
    for number, n_latest, n_so_far, latest_p, so_far_p in rows:
        for first, p in ((max(0, number - 3), latest_p), (0, so_far_p)):
            pairs = degraded[first:number].ravel(), genuine[first:number].ravel()
            expected = stats.ttest_rel(*pairs, alternative="less").pvalue
            assert p == pytest.approx(expected, rel=1e-9)
        assert (n_latest, n_so_far) == (N_PAIRS * min(number, 3), N_PAIRS * number)


def test_the_histogram_contains_every_score_once(ratings):
    rows = table(picture_named(ratings, "score-distribution"))
    assert len(rows) == 10
    assert sum(int(row["genuine"]) for row in rows) == 4 * N_PAIRS
    top = replace(ratings, score=np.full(len(ratings), 100.0))
    assert table(picture_named(top, "score-distribution"))[-1]["genuine"] == str(4 * N_PAIRS)


def test_running_means_are_means_of_the_latest():
    values = np.arange(30.0)
    means = running_means(values, RUNNING_MEAN)
    assert np.isnan(means[: RUNNING_MEAN - 1]).all()
    assert means[-1] == values[-RUNNING_MEAN:].mean()
    assert np.isnan(running_means(values[:5], RUNNING_MEAN)).all()


def test_missing_data_has_no_picture(ratings):
    timeless = replace(ratings, seconds=np.zeros(len(ratings)))
    assert "seconds-per-item" not in [picture.name for picture in worker_pictures(timeless)]
    lonely = replace(ratings, partner=np.full(len(ratings), NO_PARTNER))
    names = [picture.name for picture in worker_pictures(lonely)]
    assert names == ["score-distribution", "scores-over-time", "seconds-per-item"]
    empty = WorkerRatings(*(getattr(ratings, name)[:0] for name in WorkerRatings.__slots__))
    assert worker_pictures(empty) == []


def test_a_few_ratings_can_be_drawn_without_a_p_value(ratings):
    three_ratings = WorkerRatings(*(getattr(ratings, name)[:3] for name in WorkerRatings.__slots__))
    names = [picture.name for picture in worker_pictures(three_ratings)]
    assert "drift" not in names and "degraded-pairs" in names
    assert all(picture.render("svg") for picture in worker_pictures(three_ratings))


# The other sides of the evidence --------------------------------------------------------------


@pytest.fixture
def more_sides() -> dict[str, object]:
    rng = np.random.default_rng(4)
    others = rng.normal(0, 1, 40)
    formula = rng.uniform(0, 1, 40)
    return {
        "beside_others": BesideOthers(
            0.5 * others + rng.normal(0, 1, 40), others, np.full(40, 3, dtype=np.int64)
        ),
        "beside_formula": BesideFormula("chrF", formula, np.round(100 * formula)),
        "hit_times": HitTimes(np.array([300.0, 900.0]), np.array([400.0, 310.0])),
    }


def test_agreement_likeness_and_claims_have_their_pictures(ratings, more_sides):
    pictures = {picture.name: picture for picture in worker_pictures(ratings, **more_sides)}
    assert {"agreement", "likeness", "claimed-time"} < set(pictures)
    for name in ("agreement", "likeness", "claimed-time"):
        svg = pictures[name].render("svg")
        assert (
            pictures[name].alternative
            in ElementTree.fromstring(svg).find("{http://www.w3.org/2000/svg}desc").text
        )
        assert b"style=" not in svg and pictures[name].render("png").startswith(b"\x89PNG")


def test_descriptions_name_the_correlations(ratings, more_sides):
    pictures = {picture.name: picture for picture in worker_pictures(ratings, **more_sides)}
    points = more_sides["beside_others"]
    r = stats.pearsonr(points.z, points.others).statistic
    assert "40 genuine texts, the mean of at least 3 other trusted workers" in (
        pictures["agreement"].alternative
    )
    assert f"r = {r:.2f}" in pictures["agreement"].alternative
    assert "chrF across" in pictures["likeness"].alternative
    assert "r = 1.00. From 0.7 on" in pictures["likeness"].alternative
    rows = table(pictures["agreement"])
    assert float(rows[3]["worker_z"]) == points.z[3] and rows[3]["n_others"] == "3"


def test_claims_count_the_hits_in_which_too_much_was_claimed(ratings, more_sides):
    pictures = {picture.name: picture for picture in worker_pictures(ratings, **more_sides)}
    claims = pictures["claimed-time"]
    assert "can have passed in 1 of them" in claims.alternative
    assert table(claims)[1] == {
        "hit": "2",
        "claimed_seconds": "900.0",
        "passed_seconds": "310.0",
    }


def test_sides_without_points_have_no_picture(ratings):
    few = np.array([1.0, 2.0])
    names = [
        picture.name
        for picture in worker_pictures(
            ratings,
            beside_others=BesideOthers(few, few, np.array([3, 3])),
            beside_formula=BesideFormula("length", np.arange(9.0), np.full(9, 50.0)),
            hit_times=HitTimes(np.zeros(1), np.ones(1)),
        )
    ]
    assert not {"agreement", "likeness", "claimed-time"} & set(names)


def test_the_longest_run_of_equal_scores_stays_within_a_hit(ratings):
    score = np.arange(len(ratings)) % 7 * 10.0
    score[12:24] = 50
    runs = replace(ratings, score=score)
    # A HIT has eighteen items, so the twelve equal scores are divided into six and six.
    assert longest_run(runs) == (12, 6)
    score[30:36] = 50
    score[20:31] = 50
    assert longest_run(runs) == (18, 18)
    picture = picture_named(runs, "scores-over-time")
    assert "The longest run of equal scores has 18, from rating 19 on; up to 8" in (
        picture.alternative
    )
    assert picture.render("svg")


def test_ratings_within_two_seconds_are_counted(ratings):
    seconds = np.where(np.arange(len(ratings)) < 5, 1.9, 2.0)
    seconds[0] = np.nan
    picture = picture_named(replace(ratings, seconds=seconds), "seconds-per-item")
    assert f"4 of {len(ratings) - 1} ratings came within 2 s" in picture.alternative
