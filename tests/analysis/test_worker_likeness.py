"""Workers next to the scores of a model that an admin uploaded: page, picture and API."""

from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from numpy.testing import assert_allclose
from scipy import stats

from analysis.models import Metric
from analysis.scores.score_tables import ScoreTable
from analysis.scores.storing import ScoreSource, store_scores
from analysis.workers.likeness import likeness_of
from hits.models import Campaign, Item, Participation, Rating, SystemOutput
from hits.rating.assignments import submit_assignment, take_assignment
from tests.api.callers import caller
from tests.factories import make_hits, make_worker, rate
from tests.people import client_of

pytestmark = pytest.mark.django_db


def outputs(campaign: Campaign) -> list[tuple[str, str, int]]:
    rows = SystemOutput.objects.filter(system__campaign=campaign).order_by("pk")
    return list(rows.values_list("system__name", "segment__name", "translation_id"))


def add_metric(campaign: Campaign, name: str, *, way: bool | None = True) -> dict[int, float]:
    """Store random scores; return them by translation."""
    rows = outputs(campaign)
    scores = np.random.default_rng(len(name)).normal(size=len(rows))
    keys = [(system, segment) for system, segment, _ in rows]
    table = ScoreTable(name, "segment", keys, scores, way, sha256="0" * 64)
    store_scores(table=table, home=campaign, source=ScoreSource())
    return {pk: float(score) for (_, _, pk), score in zip(rows, scores, strict=True)}


def work(campaign: Campaign, name: str, score_of: Any, *, trust: str = "reliable") -> Participation:
    assignment = take_assignment(campaign=campaign, worker=make_worker(name))
    assert assignment is not None
    for item in assignment.hit.items.order_by("position"):
        rate(assignment, item, score=int(np.clip(round(score_of(item)), 0, 100)))
    submit_assignment(assignment=assignment)
    return Participation.objects.create(campaign=campaign, worker=assignment.worker, trust=trust)


@pytest.fixture
def campaign() -> Campaign:
    """Three readers, and one who copies a model whose scores are known."""
    campaign = make_hits(min_ratings=9)
    model = add_metric(campaign, "model")
    rng = np.random.default_rng(1)
    for name in ("alice", "bob", "carol"):
        work(campaign, name, lambda item: rng.integers(0, 101))
    work(campaign, "mallory", lambda item: 50 + 15 * model[item.translation_id], trust="unproven")
    return campaign


def test_who_copies_a_model_comes_first_and_beyond_the_trusted(campaign):
    [likeness] = likeness_of(campaign)
    first = likeness.rows[0]
    assert first.participation.worker.external_id == "mallory"
    assert first.r is not None and first.r > 0.99
    assert first.n_items == 28 and first.share_below == 1
    # The highest of three trusted workers lies above their own 95 %.
    assert likeness.n_beyond == 2
    assert likeness.spread.n_workers == 3 and likeness.spread.high < 0.6


def test_r_is_over_genuine_items_as_scipy_has_it(campaign):
    model = dict(
        zip(
            [pk for *_, pk in outputs(campaign)],
            add_metric(campaign, "other").values(),
            strict=True,
        )
    )
    likeness = {row.metric.name: row for row in likeness_of(campaign)}["other"]
    for row in likeness.rows:
        ratings = Rating.objects.filter(
            assignment__worker=row.participation.worker_id, item__role=Item.Role.GENUINE
        ).values_list("score", "item__translation")
        scores, translations = zip(*ratings, strict=True)
        expected = stats.pearsonr(scores, [model[pk] for pk in translations]).statistic
        assert_allclose(row.r, expected)


def test_the_sign_is_turned_where_lower_is_better(campaign):
    [before] = likeness_of(campaign)
    Metric.objects.update(higher_is_better=False)
    [after] = likeness_of(campaign)
    assert_allclose(after.rows[-1].r, -before.rows[0].r)


def test_without_trusted_workers_there_is_no_spread(campaign):
    Participation.objects.update(trust="unproven")
    [likeness] = likeness_of(campaign)
    assert likeness.spread.high is None and likeness.rows[0].share_below is None


def page(client: Client, campaign: Campaign, **query: str) -> str:
    answer = client.get(reverse("worker_likeness", args=[campaign.code]), query)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_the_page_shows_the_closest_metric_first(campaign):
    add_metric(campaign, "quite another")
    admin = client_of("admin", campaign)
    shown = page(admin, campaign)
    assert "<h2>model</h2>" in shown and "link:mallory" in shown and "never a verdict" in shown
    other = campaign.metrics.get(name="quite another")
    assert "<h2>quite another</h2>" in page(admin, campaign, metric=str(other.code))
    assert "<h2>model</h2>" in page(admin, campaign, metric="nonsense")


def test_the_page_says_if_there_is_nothing_to_compare_with():
    campaign = make_hits()
    admin = client_of("admin", campaign)
    assert "No scores to compare with" in page(admin, campaign)
    add_metric(campaign, "model")
    assert "No HIT has been submitted yet" in page(admin, campaign)


@pytest.mark.parametrize("fmt", ["svg", "csv"])
def test_the_picture_is_drawn_for_admins_only(campaign, fmt):
    metric = campaign.metrics.get()
    url = reverse("likeness_picture", args=[campaign.code, metric.code, fmt])
    assert client_of("admin", campaign).get(url).status_code == 200
    assert client_of("researcher", campaign).get(url).status_code == 403
    other = make_hits()
    elsewhere = reverse("likeness_picture", args=[other.code, metric.code, fmt])
    assert client_of("admin", other).get(elsewhere).status_code == 404


def test_the_api_lists_workers_and_metrics(campaign):
    answer = caller("admin").get(f"/campaigns/{campaign.code}/workers/likeness").json()
    assert answer["count"] == 4
    first = answer["items"][0]
    assert first["metric"] == "model" and first["r"] > 0.99 and first["share_below"] == 1
    assert first["trusted"]["n_workers"] == 3
