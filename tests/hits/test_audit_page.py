"""The audit log: who sees which entries, filters, and a CSV file that is safe to open."""

import csv

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from hits.people.audit import record
from hits.views import audit_log
from tests.factories import make_campaign, make_worker
from tests.people import client_of

pytestmark = pytest.mark.django_db
URL = "/audit/"


def rows(client, **filters) -> list[dict[str, str]]:
    answer = client.get(URL, filters | {"format": "csv"})
    assert answer["Content-Type"].startswith("text/csv")
    return list(csv.DictReader(answer.getvalue().decode().splitlines()))


def actions(client, **filters) -> list[str]:
    return [row["action"] for row in rows(client, **filters)]


def test_admins_see_the_campaigns_they_run_and_no_others():
    campaign, other = make_campaign(), make_campaign()
    record("opened", campaign=campaign)
    record("closed", campaign=other)
    record("cleaned")
    assert actions(client_of("admin", campaign)) == ["opened"]
    assert actions(client_of("admin")) == ["cleaned", "closed", "opened"]
    page = client_of("admin", campaign).get(URL).content.decode()
    assert other.name not in page and "Cleaned" not in page


@pytest.mark.parametrize("role", ["researcher", "outsider"])
def test_only_admins_see_it(role):
    assert client_of(role).get(URL).status_code == 403


def test_it_can_be_filtered_by_campaign_action_person_and_date():
    campaign, bob = make_campaign(), User.objects.create_user("bob")
    entry = record("opened", campaign=campaign, actor=bob)
    record("closed")
    client, day = client_of("admin"), entry.at.date().isoformat()
    assert actions(client, campaign=str(campaign.code)) == ["opened"]
    assert actions(client, action="closed") == ["closed"]
    assert actions(client, person="bob") == ["opened"]
    assert actions(client, since=day, until=day) == ["closed", "opened"]
    assert actions(client, since="2999-01-01") == []


@pytest.mark.parametrize(
    "filters", [{"since": "soon"}, {"campaign": "x"}, {"action": "nope"}, {"person": "nobody"}]
)
def test_invalid_filters_match_nothing(filters):
    record("opened")
    client = client_of("admin")
    page = client.get(URL, filters)
    assert page.status_code == 200 and "No matching entries" in page.content.decode()
    assert rows(client, **filters) == []


def test_actions_are_shown_in_words():
    record("confirm_payments")
    client = client_of("admin")
    page = client.get(URL).content.decode()
    assert "Confirm payments" in page and ">confirm payments</option>" in page
    assert actions(client, action="confirm_payments") == ["confirm_payments"]


def test_cells_cannot_be_formulas_and_texts_cannot_be_markup():
    record("opened", reason="=1+1", worker=make_worker("<b>"))
    client = client_of("admin")
    assert rows(client)[0]["reason"] == "'=1+1"
    assert "link:&lt;b&gt;" in client.get(URL).content.decode()


def test_pages_keep_the_filter_and_their_queries_do_not_grow(monkeypatch):
    monkeypatch.setattr(audit_log, "ENTRIES_PER_PAGE", 10)
    client, counts = client_of("admin"), []
    for n in (3, 20):
        for _ in range(n):
            actor = User.objects.create_user(f"user{User.objects.count()}")
            record("opened", campaign=make_campaign(), worker=make_worker(), actor=actor)
        with CaptureQueriesContext(connection) as queries:
            page = client.get(URL, {"action": "opened"})
        counts.append(len(queries))
    assert counts[0] == counts[1]
    assert "?action=opened&amp;page=2" in page.content.decode()
    assert page.content.decode().count('scope="row"') == 10


def test_only_admins_see_it_in_the_menu():
    campaign, menu = make_campaign(), f'href="{reverse("audit_log")}"'
    assert menu in client_of("admin", campaign).get("/").content.decode()
    assert menu not in client_of("researcher").get("/").content.decode()
