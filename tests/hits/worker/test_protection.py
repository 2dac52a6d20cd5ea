"""Caches, frames, forged requests and cookies."""

from http import HTTPStatus
from typing import Any

import pytest
from django.conf import settings
from django.core import signing
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from hits.models import Assignment, Campaign, Participation, Worker
from hits.recruiting.visitors import COOKIE, remember_worker
from tests.factories import make_hits, make_worker, rate_items
from tests.hits.worker.steps import JSON, enter, page, post_rating, take

pytestmark = pytest.mark.django_db


def worker_pages(campaign: Campaign, assignment: Assignment) -> list[str]:
    return [
        campaign.get_absolute_url(),
        page("instructions", campaign.code),
        page("practice", campaign.code, 1),
        page("check", campaign.code),
        page("next_hit", campaign.code),
        page("rate", assignment.code),
        page("finish", assignment.code),
        page("done", assignment.code),
    ]


def pages_in_order(client: Client, campaign: Campaign) -> list[Any]:
    """Return every page from the link to the completion code, as a worker meets them."""
    pages = [client.get(campaign.get_absolute_url())]
    enter(client, campaign, qualified=False)
    pages += [
        client.get(page("instructions", campaign.code)),
        client.get(page("practice", campaign.code, 1)),
        client.get(page("check", campaign.code)),
    ]
    Participation.objects.update(qualified_at=timezone.now())
    assignment = take(client, campaign)
    pages.append(client.get(page("rate", assignment.code)))
    rate_items(assignment)
    pages.append(client.get(page("finish", assignment.code)))
    client.post(page("finish", assignment.code))
    pages.append(client.get(page("done", assignment.code)))
    return pages


def test_no_worker_page_is_cached_or_framed(client, campaign):
    pages = pages_in_order(client, campaign)
    assert [answer.status_code for answer in pages] == [HTTPStatus.OK] * 7
    bob = Client()
    enter(bob, campaign)
    redirected, assignment = bob.get(page("next_hit", campaign.code)), take(bob, campaign)
    rated = post_rating(bob, assignment, 1)
    refused = Client().get(page("rate", assignment.code))
    statuses = [answer.status_code for answer in (redirected, rated, refused)]
    assert statuses == [HTTPStatus.FOUND, HTTPStatus.OK, HTTPStatus.NOT_FOUND]
    for answer in (*pages, redirected, rated, refused):
        assert "no-store" in answer["Cache-Control"] and "private" in answer["Cache-Control"]
        assert "default-src 'none'" in answer["Content-Security-Policy"]
        assert "unsafe" not in answer["Content-Security-Policy"]
        assert answer["X-Frame-Options"] == "DENY"
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert answer["Referrer-Policy"] == "same-origin"
        assert answer["Cross-Origin-Opener-Policy"] == "same-origin"


def test_every_form_needs_its_csrf_token(campaign):
    alice = Client(enforce_csrf_checks=True)
    assert alice.post(campaign.get_absolute_url()).status_code == HTTPStatus.FORBIDDEN
    alice.get(campaign.get_absolute_url())
    token = alice.cookies[settings.CSRF_COOKIE_NAME].value
    headers = {"X-CSRFToken": token}
    assert alice.post(campaign.get_absolute_url(), headers=headers).status_code == HTTPStatus.FOUND
    Participation.objects.update(qualified_at=timezone.now())
    assignment = take(alice, campaign)
    for url in worker_pages(campaign, assignment):
        if "instructions" not in url and "done" not in url:
            assert alice.post(url).status_code == HTTPStatus.FORBIDDEN, url
    assert post_rating(alice, assignment, 1).status_code == HTTPStatus.FORBIDDEN
    item = assignment.hit.items.get(position=1)
    sent = {"position": 1, "item": item.code, "score": 50}
    answer = alice.post(page("rate", assignment.code), sent, headers=headers | JSON)
    assert answer.status_code == HTTPStatus.OK


def test_the_cookie_is_protected_and_holds_only_the_workers_code(client, campaign, settings):
    settings.SESSION_COOKIE_SECURE = True
    worker = enter(client, campaign)
    cookie = client.cookies[COOKIE]
    assert cookie["httponly"] and cookie["samesite"] == "Lax" and cookie["secure"]
    assert cookie["max-age"] == 180 * 24 * 60 * 60
    assert cookie.value.startswith(f"{worker.code}:")
    assert worker.external_id not in cookie.value


@pytest.mark.parametrize("where", ["code", "signature", "all"])
def test_a_tampered_cookie_identifies_nobody(client, campaign, assignment, where):
    bob = make_worker()
    value = client.cookies[COOKIE].value
    client.cookies[COOKIE] = {
        "code": value.replace(str(assignment.worker.code), str(bob.code)),
        "signature": value[:-1] + ("A" if value[-1] != "A" else "B"),
        "all": str(assignment.worker.code),
    }[where]
    assert client.get(page("rate", assignment.code)).status_code == HTTPStatus.NOT_FOUND
    assert client.get(page("next_hit", campaign.code)).url == campaign.get_absolute_url()


def test_the_cookie_identifies_the_same_worker_in_another_campaign(client, campaign, assignment):
    other = make_hits()
    client.post(other.get_absolute_url())
    assert Worker.objects.count() == 1
    assert Participation.objects.filter(worker=assignment.worker).count() == 2


def test_a_login_does_not_open_a_workers_page(admin_client, assignment):
    assert admin_client.get(page("rate", assignment.code)).status_code == HTTPStatus.NOT_FOUND


def test_a_cookie_signed_with_another_salt_identifies_nobody(client, campaign, assignment):
    right = HttpResponse()
    remember_worker(right, assignment.worker)
    client.cookies[COOKIE] = signing.dumps(str(assignment.worker.code), salt="elsewhere")
    assert client.get(page("rate", assignment.code)).status_code == HTTPStatus.NOT_FOUND
    client.cookies[COOKIE] = right.cookies[COOKIE].value
    assert client.get(page("rate", assignment.code)).status_code == HTTPStatus.OK
