"""A whole HIT side by side over HTTP, as without JavaScript, and what the browser gets."""

import json
import re

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from analysis.stats.roles import Role
from hits.campaigns.behaviours import Behaviour
from hits.models import Assignment, Participation, Rating
from hits.rating.joining import find_or_make_worker, take_part
from hits.recruiting.visitors import remember_worker
from hits.task_kinds import kind_of
from tests.documents.campaigns import taken_by
from tests.simulated_crowds import collect

from .campaigns import side_campaign

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.filterwarnings("ignore:No directory at"),
]
ITEMS = re.compile(r'<script id="items" type="application/json">(.*?)</script>', re.DOTALL)


@pytest.fixture
def assignment():
    campaign = side_campaign()
    take_part(campaign=campaign, worker=find_or_make_worker(provider="link", external_id="alice"))
    return taken_by(campaign)


@pytest.fixture
def client(assignment):
    client, response = Client(), HttpResponse()
    remember_worker(response, assignment.worker)
    client.cookies = response.cookies
    return client


def screens_on(page):
    return json.loads(ITEMS.search(page.text)[1])


def test_a_hit_is_rated_with_plain_forms_to_the_end(assignment, client):
    address = reverse("rate", args=[assignment.code])
    n_screens = kind_of(assignment.hit.campaign).n_screens(assignment.hit)
    for position in range(1, n_screens + 1):
        page = client.get(address)
        screen = screens_on(page)[0]
        names = re.findall(r'name="(score-[0-9a-f-]+)" value="1"', page.text)
        assert names == [f"score-{output['code']}" for output in screen["outputs"]]
        unset = client.post(address, {"position": position})
        assert unset.status_code == 422 and "Score every text first." in unset.text
        answer = dict.fromkeys(names, "42") | {"position": position}
        assert client.post(address, answer).status_code == 302
    assert client.post(reverse("finish", args=[assignment.code])).status_code == 302
    assert Assignment.objects.get().completion_code
    assert Rating.objects.count() == assignment.hit.size == 40


def test_the_script_gets_each_screen_once_and_never_both_copies(assignment, client):
    address = reverse("rate", args=[assignment.code])
    n_screens = kind_of(assignment.hit.campaign).n_screens(assignment.hit)
    held = screens_on(client.get(address))
    items = {str(item.code): item for item in assignment.hit.items.all()}
    for position in range(1, n_screens + 1):
        in_browser = [
            items[output["code"]]
            for screen in held
            if screen["position"] >= position
            for output in screen["outputs"]
        ]
        pks = {item.pk for item in in_browser}
        assert not [item for item in in_browser if item.partner_id in pks]
        [screen] = [screen for screen in held if screen["position"] == position]
        answer = {f"score-{output['code']}": 7 for output in screen["outputs"]}
        answer["position"] = position
        saved = client.post(address, answer, headers={"Accept": "application/json"}).json()
        held += saved["items"]
    assert [screen["position"] for screen in held] == list(range(1, n_screens + 1))


def test_nothing_but_the_text_tells_a_hidden_output(assignment):
    kind = kind_of(assignment.hit.campaign)
    screens = kind.screens(assignment, first=1, last=kind.n_screens(assignment.hit))
    assert {tuple(screen) for screen in screens} == {("item", "position", "above", "outputs")}
    outputs = [output for screen in screens for output in screen["outputs"]]
    assert {tuple(output) for output in outputs} == {("code", "text")}
    degraded = assignment.hit.items.filter(role=Role.BAD_REFERENCE.value).first()
    places = set()
    for number in range(40):
        other = Assignment(hit=assignment.hit, code=f"{number:032x}")
        [screen] = kind.screens(other, first=degraded.screen, last=degraded.screen)
        places.add([output["code"] for output in screen["outputs"]].index(str(degraded.code)))
    assert len(places) == len(screen["outputs"])


@pytest.mark.parametrize("score", ["101", "-1", "many", "5.5"])
def test_a_broken_score_is_refused(assignment, client, score):
    address = reverse("rate", args=[assignment.code])
    code = assignment.hit.items.filter(screen=1).first().code
    answer = {"position": 1, f"score-{code}": score}
    response = client.post(address, answer, headers={"Accept": "application/json"})
    assert response.status_code == 400 and "0 to 100" in response.json()["error"]


def test_staff_can_preview_every_screen(assignment, admin_client):
    campaign = assignment.hit.campaign
    last = kind_of(campaign).n_screens(assignment.hit)
    page = admin_client.get(reverse("preview_item", args=[campaign.code, 1, last]))
    assert page.status_code == 200 and 'name="score-' in page.text
    beyond = admin_client.get(reverse("preview_item", args=[campaign.code, 1, last + 1]))
    assert beyond.status_code == 404


def test_a_simulated_crowd_is_told_apart():
    campaign = side_campaign(n_segments=80, hit_size=100, trust_rule="guarded")
    collect(campaign, {Behaviour.HONEST: 4, Behaviour.RANDOM: 2}, seed=6)
    trust = Participation.objects.values_list("worker__external_id", "trust")
    honest = [verdict for name, verdict in trust if name.startswith("honest")]
    careless = [verdict for name, verdict in trust if name.startswith("random")]
    assert honest.count("reliable") >= 3 and "reliable" not in careless
    assert not Assignment.objects.exclude(hold="").exists()
