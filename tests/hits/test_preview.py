"""The preview shows the workers' pages, stores nothing and reveals no more than workers see."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils.html import escape

from hits.models import Assignment, Campaign, Item, Participation, Rating, Worker
from hits.rating.practice import practice_for
from tests.browser.opening import assignment_of
from tests.factories import make_campaign, make_hits, make_worker
from tests.people import client_of
from tests.recruits import right_answer, wrong_answer

pytestmark = pytest.mark.django_db


def page_of(client, campaign, number=1, position=1) -> str:
    return client.get(address_of(campaign, "item", number, position)).content.decode()


def texts_in(page: str) -> list[str]:
    return re.findall(r'class="text text-\w+"[^>]*>([^<]*)<', page)


def test_every_item_is_shown_as_to_a_worker():
    campaign = make_hits(n_segments=28)
    client = client_of("admin", campaign)
    items = Item.objects.filter(hit__campaign=campaign, hit__number=2).order_by("position")
    assert len(items) == 40
    for item in items:
        reference = item.translation.segment.reference
        assert texts_in(page_of(client, campaign, 2, item.position)) == [reference, item.text]


def test_it_stores_nothing():
    campaign, client = make_hits(), client_of("admin")
    for address in all_pages(campaign):
        with CaptureQueriesContext(connection) as queries:
            page = client.get(address)
        assert "Nothing you do here is saved" in page.content.decode()
        statements = [query["sql"].lstrip() for query in queries]
        assert all(sql.startswith(("SELECT", "WITH")) for sql in statements), address
        assert client.post(address, {"score": 50}).status_code == 405
    for model in (Assignment, Rating, Worker, Participation):
        assert not model.objects.exists()


def all_pages(campaign: Campaign) -> list[str]:
    """The pages in the order in which a worker sees them."""
    check = address_of(campaign, "check")
    return [
        address_of(campaign, "landing"),
        address_of(campaign, "privacy"),
        address_of(campaign, "instructions"),
        *(address_of(campaign, "practice", step) for step in (1, 2, 3)),
        f"{address_of(campaign, 'practice', 1)}?score=3",
        check,
        f"{check}?answer={wrong_answer(campaign)}",
        address_of(campaign, "item", 1, 1),
        address_of(campaign, "finish", 1),
        f"{address_of(campaign, 'done', 1)}?comment=Thanks",
    ]


def address_of(campaign: Campaign, page: str, *numbers: int) -> str:
    return reverse(f"preview_{page}", args=[campaign.code, *numbers])


def test_it_reveals_no_more_of_an_item_than_the_workers_page():
    campaign = make_hits()
    alice = assignment_of(make_worker(), campaign)
    page = page_of(client_of("admin"), campaign)
    for word in ("role", "partner", "genuine", "reference-item", "system-a", "bad_ref"):
        assert word not in page.replace('role="', "").lower(), word
    assert str(alice.code) not in page


def test_a_draft_can_be_previewed():
    campaign = make_hits()
    Campaign.objects.filter(pk=campaign.pk).update(status="draft")
    assert len(texts_in(page_of(client_of("admin"), campaign))) == 2


def test_next_leads_through_a_hit_to_its_end_and_on_to_the_next_hit():
    campaign, client = make_hits(n_segments=28), client_of("admin")
    assert f'action="{address_of(campaign, "item", 1, 2)}"' in page_of(client, campaign)
    finish = address_of(campaign, "finish", 1)
    assert f'action="{finish}"' in page_of(client, campaign, 1, 40)
    done = address_of(campaign, "done", 1)
    assert f'action="{done}"' in client.get(finish).content.decode()
    end = client.get(done).content.decode()
    assert "EXAMPLE" in end and address_of(campaign, "item", 2, 1) in end
    last = client.get(address_of(campaign, "done", 2)).content.decode()
    assert "Take another set of texts" not in last


def test_practice_gives_feedback_and_links_to_the_next_step():
    campaign, client = make_hits(), client_of("admin")
    item = practice_for("en", "reference").items[0]
    first, second = (address_of(campaign, "practice", step) for step in (1, 2))
    page = client.get(first, {"score": 0}).content.decode()
    assert escape(item.too_low) in page
    assert 'data-given="0"' in page and f'href="{second}"' in page
    assert escape(item.fine) in client.get(first, {"score": item.high}).content.decode()
    assert "Set the slider first" in client.get(first, {"score": ""}).content.decode()
    end = client.get(address_of(campaign, "practice", 3), {"score": 0}).content.decode()
    assert f'href="{address_of(campaign, "check")}"' in end


def test_only_the_right_answer_leads_to_the_first_item():
    campaign, client = make_hits(), client_of("admin")
    check, right = address_of(campaign, "check"), right_answer(campaign)
    page = client.get(check, {"answer": wrong_answer(campaign)}).content.decode()
    assert "That is not correct" in page and address_of(campaign, "instructions") in page
    assert "That is not correct" not in client.get(check).content.decode()
    assert client.get(check, {"answer": right}).url == address_of(campaign, "item", 1, 1)


def test_before_there_are_hits_the_question_leads_back_to_the_start():
    campaign = make_campaign()
    answer = {"answer": right_answer(campaign)}
    redirect = client_of("admin").get(address_of(campaign, "check"), answer)
    assert redirect.url == address_of(campaign, "landing")


def test_it_is_in_the_language_of_the_workers():
    campaign = make_campaign(target_language="de", interface_language="de")
    page = client_of("admin").get(address_of(campaign, "check")).content.decode()
    assert 'lang="de"' in page and "Eine Frage" in page


def test_unknown_pages_are_not_found():
    campaign, client = make_hits(), client_of("admin")
    items = [("item", 2, 1), ("item", 1, 41), ("item", 0, 1), ("item", 1, 0)]
    for page in [*items, ("practice", 0), ("practice", 4), ("finish", 2), ("done", 0)]:
        assert client.get(address_of(campaign, *page)).status_code == 404


def test_a_number_too_large_for_the_database_is_not_found():
    client = client_of("superuser")
    for path in ("/people/{}/", "/people/{}/parts/1/remove/", "/people/1/parts/{}/remove/"):
        assert client.post(path.format(10**30)).status_code == 404
    first = reverse("preview_item", args=[make_hits().code, 1, 1])
    assert client.get(first.replace("/1/1/", f"/1/{10**30}/")).status_code == 404


def test_the_form_leads_to_an_item():
    campaign, client = make_hits(), client_of("admin")
    answer = client.get(reverse("preview", args=[campaign.code]), {"hit": "1", "item": "7"})
    assert answer.url == reverse("preview_item", args=[campaign.code, 1, 7])
    for invalid in ("²", "9" * 5_000):
        answer = client.get(reverse("preview", args=[campaign.code]), {"hit": invalid})
        assert answer.url == reverse("preview_landing", args=[campaign.code])
