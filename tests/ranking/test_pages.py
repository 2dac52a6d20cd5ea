"""A whole ranking HIT over HTTP, as without JavaScript, and what the browser gets."""

import json
import re

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from analysis.stats.roles import Role
from hits.models import Assignment, Participation, Rank
from hits.rating.joining import find_or_make_worker, take_part
from hits.recruiting.visitors import remember_worker
from hits.task_kinds import kind_of

from .campaigns import ranking_campaign, taken_by

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.filterwarnings("ignore:No directory at"),
]
ITEMS = re.compile(r'<script id="items" type="application/json">(.*?)</script>', re.DOTALL)


def browser_of(assignment):
    client, response = Client(), HttpResponse()
    remember_worker(response, assignment.worker)
    client.cookies = response.cookies
    return client


@pytest.fixture
def assignment():
    campaign = ranking_campaign()
    worker = find_or_make_worker(provider="link", external_id="alice")
    take_part(campaign=campaign, worker=worker)
    return taken_by(campaign)


def screens_on(page):
    return json.loads(ITEMS.search(page.text)[1])


def test_a_hit_is_ranked_with_plain_forms_to_the_end(assignment):
    client, address = browser_of(assignment), reverse("rate", args=[assignment.code])
    for position in (1, 2, 3):
        page = client.get(address)
        screen = screens_on(page)[0]
        names = re.findall(r'name="(rank-[0-9a-f-]+)" value="1"', page.text)
        assert names == [f"rank-{output['code']}" for output in screen["outputs"]]
        unset = client.post(address, {"position": position})
        assert unset.status_code == 422 and "Give every text a rank first." in unset.text
        answer = dict.fromkeys(names, "2") | {names[0]: "1", "position": position}
        assert client.post(address, answer).status_code == 302
    assert client.get(address).url == reverse("finish", args=[assignment.code])
    assert client.post(reverse("finish", args=[assignment.code])).status_code == 302
    assert Assignment.objects.get().completion_code
    assert Rank.objects.count() == assignment.hit.size


def test_a_screen_can_be_skipped_with_a_reason(assignment):
    client, address = browser_of(assignment), reverse("rate", args=[assignment.code])
    assert client.post(address, {"position": 1, "skip": "hard"}).status_code == 302
    assert set(Rank.objects.values_list("skip", flat=True)) == {"hard"}


def test_the_script_gets_the_screen_after_the_next_and_never_both_copies(assignment):
    client, address = browser_of(assignment), reverse("rate", args=[assignment.code])
    first, second = screens_on(client.get(address))
    assert (first["position"], second["position"]) == (1, 2)
    answer = {f"rank-{output['code']}": 1 for output in first["outputs"]} | {"position": 1}
    saved = client.post(address, answer, headers={"Accept": "application/json"}).json()
    assert (saved["saved"], saved["next"]) == (1, 2)
    assert [screen["position"] for screen in saved["items"]] == [3]


def test_nothing_but_the_text_tells_a_hidden_output(assignment):
    """The same fields for every output and screen; no role, no system, no key of the database."""
    kind = kind_of(assignment.hit.campaign)
    screens = kind.screens(assignment, first=1, last=3)
    assert {tuple(screen) for screen in screens} == {
        ("item", "position", "above", "source", "outputs")
    }
    outputs = [output for screen in screens for output in screen["outputs"]]
    assert {tuple(output) for output in outputs} == {("code", "text")}
    hidden = assignment.hit.items.exclude(role=Role.GENUINE.value)
    assert hidden.exists()
    # Degraded texts stand in any place of the screen, over many workers.
    degraded = str(hidden.get(role=Role.BAD_REFERENCE.value).code)
    places = set()
    for number in range(40):
        other = Assignment(hit=assignment.hit, code=f"{number:032x}")
        for screen in kind.screens(other, first=1, last=3):
            codes = [output["code"] for output in screen["outputs"]]
            places |= {codes.index(degraded)} if degraded in codes else set()
    assert places == set(range(len(codes)))


def test_practice_says_whether_the_faulty_text_came_last(assignment):
    Participation.objects.update(qualified_at=None)
    client = browser_of(assignment)
    address = reverse("practice", args=[assignment.hit.campaign.code, 2])
    assert "rank-copy" in client.get(address).text
    wrong = client.post(address, {"rank-copy": "2", "rank-translation": "1"})
    assert "feedback-too_high" in wrong.text
    right = client.post(address, {"rank-copy": "1", "rank-translation": "3"})
    assert "feedback-fine" in right.text
