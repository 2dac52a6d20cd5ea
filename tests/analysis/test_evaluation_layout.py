"""The page of an evaluation: contents, one table at a time, figures that keep their space, points with texts."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from analysis.models import Evaluation
from analysis.plots import scatter
from hits.models import SystemOutput
from tests.evaluations import make_campaign_evaluation, make_collection_evaluation
from tests.people import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> Client:
    return client_of("researcher")


@pytest.fixture
def evaluation() -> Evaluation:
    return make_campaign_evaluation()


def page(client: Client, evaluation: Evaluation) -> str:
    return client.get(reverse("evaluation", args=[evaluation.code])).content.decode()


def points(client: Client, evaluation: Evaluation, name: str):
    return client.get(reverse("evaluation_points", args=[evaluation.code, name]))


def test_the_contents_lead_to_every_table_and_figure(client, evaluation):
    text = page(client, evaluation)
    nav = text[
        text.index('<nav class="card contents') : text.index('<section class="card" id="findings"')
    ]
    targets = re.findall('href="#([^"]+)"', nav)
    ids = set(re.findall(' id="([^"]+)"', text))
    assert len(targets) > 8 and set(targets) <= ids
    assert {"table-segment-gold-1", "figure-scatter-good-gold-1"} <= set(targets)


def test_a_short_page_shows_all_tables_and_a_long_one_opens_one_at_a_time(
    client, evaluation, monkeypatch
):
    assert '<details class="card fold"' not in page(client, evaluation)
    monkeypatch.setattr("analysis.views.evaluations.MOST_ROWS_UNFOLDED", 3)
    text = page(client, evaluation)
    folds = re.findall('<details class="card fold" name="table"( open)?>', text)
    assert len(folds) > 2 and folds[0] == " open" and not any(folds[1:])


def test_every_figure_keeps_its_space_and_follows_dark_mode(client, evaluation):
    images = re.findall("<img [^>]*pictures[^>]*>", page(client, evaluation))
    assert len(images) > 3
    for image in images:
        assert re.search(r'width="\d+" height="\d+"', image) and "svg?for=screen" in image


def test_an_svg_for_the_screen_has_a_policy_of_its_own(client, evaluation):
    address = reverse("evaluation_picture", args=[evaluation.code, "between-metrics", "svg"])
    plain, screen = client.get(address), client.get(address, {"for": "screen"})
    assert b"prefers-color-scheme" in screen.content and b"<style" not in plain.content
    assert "sha256-" in screen["Content-Security-Policy"]
    assert "unsafe" not in screen["Content-Security-Policy"]


def test_the_points_of_a_campaign_come_with_their_texts(client, evaluation):
    found = points(client, evaluation, "scatter-good-gold-1").json()
    assert found["n"] == len(found["points"]) == 28
    output = SystemOutput.objects.select_related("translation__segment").first()
    segment = output.translation.segment
    label = f"segment {segment.name} by {output.system.name}: good "
    [point] = [point for point in found["points"] if point["label"].startswith(label)]
    assert (
        point["translation"] == output.translation.text and point["reference"] == segment.reference
    )
    # From the lowest gold, at the bottom.
    heights = [point["y"] for point in found["points"]]
    assert heights == sorted(heights, reverse=True)


def test_points_from_files_have_no_texts(client):
    evaluation = make_collection_evaluation()
    found = points(client_of("superuser"), evaluation, "scatter-poor-gold").json()
    assert set(found["points"][0]) == {"x", "y", "label"}


def test_of_very_many_points_a_sample_can_be_chosen(client, evaluation, monkeypatch):
    monkeypatch.setattr(scatter, "MOST_HOVERED", 10)
    found = points(client, evaluation, "scatter-poor-gold-1").json()
    assert (len(found["points"]), found["n"]) == (10, 28)


def test_there_are_no_points_without_a_plot_or_without_its_scores(client, evaluation):
    assert points(client, evaluation, "between-metrics").status_code == 404
    evaluation.campaign.metrics.get(name="poor").delete()
    answer = points(client, evaluation, "scatter-poor-gold-1")
    assert answer.status_code == 410 and "replaced or removed" in answer.content.decode()
    assert "data-points" not in page(client, evaluation)
