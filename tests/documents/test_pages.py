"""A whole HIT of documents over HTTP, as without JavaScript, and what the browser gets."""

import json
import re

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from hits.documents.screens import earlier_in_run
from hits.hit_sizes import n_ahead_in_documents
from hits.models import Assignment, DocumentRating, Rating
from hits.rating.joining import find_or_make_worker, take_part
from hits.recruiting.visitors import remember_worker
from hits.task_kinds import kind_of

from .campaigns import document_campaign, last_of_runs, taken_by

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.filterwarnings("ignore:No directory at"),
]
JSON = {"Accept": "application/json"}


def part(page, name):
    found = re.search(
        rf'<script id="{name}" type="application/json">(.*?)</script>', page.text, re.S
    )
    return json.loads(found[1])


@pytest.fixture(params=[False, True], ids=["segments", "documents too"])
def assignment(request):
    campaign = document_campaign(scores_documents=request.param)
    worker = find_or_make_worker(provider="link", external_id="alice")
    take_part(campaign=campaign, worker=worker)
    return taken_by(campaign)


@pytest.fixture
def client(assignment):
    client, response = Client(), HttpResponse()
    remember_worker(response, assignment.worker)
    client.cookies = response.cookies
    return client


def test_a_hit_is_done_with_plain_forms_and_earlier_segments_stay(assignment, client):
    address = reverse("rate", args=[assignment.code])
    asks, last = assignment.hit.campaign.scores_documents, last_of_runs(assignment)
    items = list(assignment.hit.items.order_by("position"))
    for item in items:
        page = client.get(address)
        earlier = [i.text for i in items if i.run == item.run and i.position < item.position]
        assert [segment["text"] for segment in part(page, "earlier-items")] == earlier
        assert all(text in page.text for text in earlier)
        fields = {"position": item.position, "item": item.code, "score": item.position}
        if asks and item.position in last:
            assert 'name="document_score"' in page.text and "disabled>" not in page.text
            fields["document_score"] = 99
        assert client.post(address, fields).status_code == 302
    assert client.post(reverse("finish", args=[assignment.code])).status_code == 302
    assert Assignment.objects.get().completion_code
    assert list(Rating.objects.order_by("item__position").values_list("score", flat=True)) == list(
        range(1, 41)
    )
    assert DocumentRating.objects.count() == (len(last) if asks else 0)


def test_every_item_has_the_same_fields_and_only_the_end_of_a_scored_run_is_marked(
    assignment, client
):
    screens = kind_of(assignment.hit.campaign).screens(assignment, first=1, last=40)
    expected = ("item", "position", "text", "above", "run")
    if assignment.hit.campaign.scores_documents:
        expected += ("ends_run",)
        marked = [screen["position"] for screen in screens if screen["ends_run"]]
        assert marked == last_of_runs(assignment)
    assert {tuple(screen) for screen in screens} == {expected}
    earlier = earlier_in_run(assignment, screens[2])
    assert all(tuple(segment) == ("position", "run", "above", "text") for segment in earlier)


def test_the_script_gets_each_item_once_and_never_a_run_with_its_copy(assignment, client):
    address, asks = (
        reverse("rate", args=[assignment.code]),
        assignment.hit.campaign.scores_documents,
    )
    last, items = last_of_runs(assignment), list(assignment.hit.items.order_by("position"))
    held = [item["position"] for item in part(client.get(address), "items")]
    assert held == list(range(1, n_ahead_in_documents(40) + 1))
    for item in items:
        fields = {"position": item.position, "item": item.code, "score": 5}
        if asks and item.position in last:
            fields["document_score"] = 6
        answer = client.post(address, fields, headers=JSON).json()
        held += [ahead["position"] for ahead in answer["items"]]
        in_browser = {
            i.pk
            for i in items
            if i.position in held and (i.position >= item.position or i.run == item.run)
        }
        assert not [i for i in items if i.pk in in_browser and i.partner_id in in_browser]
    assert held == list(range(1, 41))


def test_a_broken_score_of_a_document_is_refused_with_its_name(assignment, client):
    address = reverse("rate", args=[assignment.code])
    code = assignment.hit.items.get(position=1).code
    fields = {"position": 1, "item": code, "score": 5, "document_score": "many"}
    answer = client.post(address, fields, headers=JSON)
    assert answer.status_code == 400 and "document_score" in answer.json()["error"]


def test_staff_can_preview_any_item(assignment, admin_client):
    campaign = assignment.hit.campaign
    page = admin_client.get(reverse("preview_item", args=[campaign.code, 1, 3]))
    assert page.status_code == 200
    earlier = earlier_in_run(assignment, {"run": 1, "position": 3})
    run = assignment.hit.items.get(position=3).run
    assert all((segment["text"] in page.text) for segment in earlier if segment["run"] == run)
