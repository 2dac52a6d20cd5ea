"""An admin sees the very pages of workers; nothing is stored, and nothing is told that workers are not."""

import re

import pytest
from django.urls import reverse

from hits.models import Assignment, Item, Participation, Rating, Worker
from hits.services import change_status
from tests.browser.opening import assignment_of
from tests.factories import make_hits, make_worker
from tests.people import client_of

pytestmark = pytest.mark.django_db


def page_of(client, campaign, number=1, position=1) -> str:
    url = reverse("preview_item", args=[campaign.code, number, position])
    return client.get(url).content.decode()


def texts_in(page: str) -> list[str]:
    return re.findall(r'class="text text-\w+"[^>]*>([^<]*)<', page)


def test_every_item_is_shown_as_to_a_worker():
    campaign = make_hits(n_segments=28)
    client = client_of("admin", campaign)
    items = Item.objects.filter(hit__campaign=campaign, hit__number=2).order_by("position")
    for item in items:
        reference = item.translation.segment.reference
        assert texts_in(page_of(client, campaign, 2, item.position)) == [reference, item.text]


def test_it_stores_nothing():
    campaign, client = make_hits(), client_of("admin")
    for name in ("preview_landing", "preview_instructions"):
        assert (
            "Nothing you do here is stored"
            in client.get(reverse(name, args=[campaign.code])).content.decode()
        )
    page_of(client, campaign)
    url = reverse("preview_item", args=[campaign.code, 1, 1])
    assert client.post(url, {"score": 50}).status_code == 405
    for model in (Assignment, Rating, Worker, Participation):
        assert not model.objects.exists()


def test_it_tells_no_more_of_an_item_than_the_workers_page_does():
    campaign = make_hits()
    alice = assignment_of(make_worker(), campaign)
    page = page_of(client_of("admin"), campaign)
    for word in ("role", "partner", "genuine", "reference-item", "system-a", "bad_ref"):
        assert word not in page.replace('role="', "").lower(), word
    assert str(alice.code) not in page


def test_a_draft_can_be_looked_at():
    campaign = make_hits()
    change_status(campaign=campaign, to="paused")
    campaign.__class__.objects.filter(pk=campaign.pk).update(status="draft")
    assert len(texts_in(page_of(client_of("admin"), campaign))) == 2


def test_next_leads_through_all_hits_and_back_to_the_start():
    campaign, client = make_hits(n_segments=28), client_of("admin")
    assert 'action="/campaigns/' in page_of(client, campaign)
    assert reverse("preview_item", args=[campaign.code, 2, 1]) in page_of(client, campaign, 1, 40)
    end = page_of(client, campaign, 2, 40)
    assert f'action="{reverse("preview_landing", args=[campaign.code])}"' in end


def test_what_is_not_there_is_not_found():
    campaign, client = make_hits(), client_of("admin")
    for number, position in [(2, 1), (1, 41), (0, 1), (1, 0)]:
        url = reverse("preview_item", args=[campaign.code, number, position])
        assert client.get(url).status_code == 404


def test_the_form_leads_to_an_item():
    campaign, client = make_hits(), client_of("admin")
    answer = client.get(reverse("preview", args=[campaign.code]), {"hit": "1", "item": "7"})
    assert answer.url == reverse("preview_item", args=[campaign.code, 1, 7])
    answer = client.get(reverse("preview", args=[campaign.code]), {"hit": "²"})
    assert answer.url == reverse("preview_landing", args=[campaign.code])
