"""A new kind of task is one module and one template: nothing else has to know it."""

import csv
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.test import Client, override_settings
from django.urls import reverse

import hits.asking
from analysis.exporting.service import export
from analysis.gold.runs import build_gold
from hits import task_facts
from hits.campaigns.behaviours import Behaviour
from hits.campaigns.building import build_hits
from hits.campaigns.forms import BasicsForm
from hits.campaigns.importing import import_campaign
from hits.campaigns.lifecycle import change_status
from hits.models import Campaign, Rating, Recruitment
from hits.rating import desk
from hits.rating.joining import find_or_make_worker, take_part
from hits.recruiting.visitors import remember_worker
from tests.documents.campaigns import taken_by
from tests.rating_page import items_on
from tests.simulated_crowds import collect, demo_excerpt

TOY = Path(__file__).parents[1] / "toy_kind"

pytestmark = [pytest.mark.django_db, pytest.mark.filterwarnings("ignore:No directory at")]


def forget_kinds():
    for remembered in (task_facts.kinds, task_facts.known_tasks, desk.queries):
        remembered.cache_clear()


@pytest.fixture(autouse=True)
def toy_kind(monkeypatch):
    """Put the module where modules of kinds are looked for, and the template where templates are."""
    monkeypatch.setattr(hits.asking, "__path__", [*hits.asking.__path__, str(TOY / "asking")])
    [engine] = django_settings.TEMPLATES
    folders = [*engine["DIRS"], TOY / "templates"]
    forget_kinds()
    with override_settings(TEMPLATES=[engine | {"DIRS": folders}]):
        yield
    monkeypatch.undo()
    forget_kinds()


@pytest.fixture
def campaign(tmp_path):
    campaign = import_campaign(
        path=demo_excerpt(tmp_path, n_segments=20),
        name="stars",
        source_language="de",
        target_language="en",
        task="stars",
        trust_rule="published",
        degradation="published",
    ).campaign
    Recruitment.objects.update_or_create(campaign=campaign, defaults={"is_open": True})
    build_hits(campaign=campaign)
    return change_status(campaign=campaign, to=Campaign.Status.OPEN)


def test_its_facts_are_those_of_the_campaign(campaign):
    assert campaign.hit_size == 20
    assert campaign.get_task_display() == "One to five stars"
    assert campaign.effective_shows == Campaign.Shows.REFERENCE
    assert "stars" in dict(BasicsForm().fields["task"].choices)


def test_a_hit_is_rated_over_http_submitted_and_exported(campaign, tmp_path):
    take_part(campaign=campaign, worker=find_or_make_worker(provider="link", external_id="alice"))
    assignment = taken_by(campaign)
    client, response = Client(), HttpResponse()
    remember_worker(response, assignment.worker)
    client.cookies = response.cookies
    address = reverse("rate", args=[assignment.code])
    for position in range(1, 21):
        page = client.get(address)
        # As many items as the toy's sizes allow: never an item and its partner.
        assert len(items_on(page.text)) == min(1, 21 - position)
        answer = {"position": position, "item": items_on(page.text)[position]["item"]}
        assert client.post(address, answer).status_code == 422
        answer["stars"] = position % 5 + 1
        assert client.post(address, answer).status_code == 302
    assert client.post(reverse("finish", args=[assignment.code])).status_code == 302
    export(kind="ratings", campaign=campaign, path=tmp_path / "ratings.csv", format="csv")
    lines = (tmp_path / "ratings.csv").read_text(encoding="utf-8").splitlines()
    rows = list(csv.DictReader(lines))
    assert sorted({int(row["score"]) for row in rows}) == [0, 25, 50, 75, 100]
    assert len(rows) == 20


def test_a_crowd_does_it_and_its_pages_open(campaign, admin_client):
    collect(campaign, {Behaviour.HONEST: 4}, seed=3)
    assert Rating.objects.filter(assignment__hit__campaign=campaign).count() >= 80
    build_gold(campaign=campaign)
    worker = campaign.participations.earliest("pk").worker
    for address in (
        campaign.get_absolute_url(),
        reverse("campaign_overview", args=[campaign.code]),
        reverse("campaign_worker", args=[campaign.code, worker.code]),
        reverse("campaign_results", args=[campaign.code]),
        reverse("new_campaign"),
    ):
        page = admin_client.get(address)
        assert page.status_code == 200, address
    assert "One to five stars" in page.text


def test_without_its_module_the_task_is_refused(campaign):
    forget_kinds()
    hits.asking.__path__.pop()
    with pytest.raises(ValidationError, match="'stars' is not a valid choice"):
        campaign.full_clean()
