"""What staff see of campaigns, and that nobody else does."""

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from hits.models import Participation
from hits.simulation import Behaviour, simulate_workers
from hits.trust import weigh_pending
from tests.factories import make_hits, make_worker

pytestmark = pytest.mark.django_db


def client_of(role: str) -> Client:
    client = Client()
    if role != "stranger":
        user = User.objects.create_user(role, is_staff=role == "staff")
        client.force_login(user)
    return client


@pytest.mark.parametrize(("role", "status"), [("stranger", 302), ("somebody", 403), ("staff", 200)])
def test_only_staff_see_a_campaign(role, status):
    url = reverse("campaign_overview", args=[make_hits().code])
    assert client_of(role).get(url).status_code == status


def test_strangers_see_the_front_page_without_campaigns():
    campaign = make_hits()
    for role in ("stranger", "somebody"):
        page = client_of(role).get(reverse("home"))
        assert page.status_code == 200 and campaign.name not in page.content.decode()


def test_staff_see_their_campaigns_in_as_many_queries_for_six_as_for_one():
    client = client_of("staff")
    counts = []
    for n_more in (1, 5):
        for _ in range(n_more):
            make_hits()
        with CaptureQueriesContext(connection) as queries:
            page = client.get(reverse("home"))
        counts.append(len(queries))
    assert page.content.decode().count('scope="row"') == 6
    assert counts[0] == counts[1]


def test_the_overview_says_what_is_there_what_is_missing_and_what_it_costs():
    campaign = make_hits(min_ratings=3, pay_per_hit=2, currency="EUR", hit_size=40)
    simulate_workers(campaign=campaign, crowd={Behaviour.CONSTANT: 1}, seed=1)
    weigh_pending()
    Participation.objects.create(campaign=campaign, worker=make_worker())
    page = client_of("staff").get(reverse("campaign_overview", args=[campaign.code]))
    text = " ".join(page.content.decode().split())
    assert "<dt>Trusted</dt><dd>0 of 3</dd>" in text
    assert "2.00 EUR so far" in text
    assert "<dt>Unproven</dt><dd>2</dd>" in text


def test_a_hostile_campaign_name_is_shown_as_text():
    campaign, client = make_hits(name="<script>alert(1)</script>"), client_of("staff")
    for url in (reverse("home"), reverse("campaign_overview", args=[campaign.code])):
        page = client.get(url).content.decode()
        assert "&lt;script&gt;alert(1)" in page and "<script>alert" not in page
