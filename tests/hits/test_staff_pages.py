"""What staff see of campaigns, and that nobody else does."""

import pytest
from django.urls import reverse

from hits.models import Participation
from hits.simulation import Behaviour, simulate_workers
from hits.trust import weigh_pending
from tests.factories import make_hits, make_worker
from tests.people import client_of

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("role", "status"), [("stranger", 302), ("outsider", 404), ("researcher", 200)]
)
def test_only_staff_see_a_campaign(role, status):
    url = reverse("campaign_overview", args=[make_hits().code])
    assert client_of(role).get(url).status_code == status


def test_strangers_see_the_front_page_without_campaigns():
    campaign = make_hits()
    for role in ("stranger", "outsider"):
        page = client_of(role).get(reverse("home"))
        assert page.status_code == 200 and campaign.name not in page.content.decode()


def test_the_overview_says_what_is_there_what_is_missing_and_what_it_costs():
    campaign = make_hits(min_ratings=3, pay_per_hit=2, currency="EUR", hit_size=40)
    simulate_workers(campaign=campaign, crowd={Behaviour.CONSTANT: 1}, seed=1)
    weigh_pending()
    Participation.objects.create(campaign=campaign, worker=make_worker())
    url = reverse("campaign_overview", args=[campaign.code])
    text = " ".join(client_of("admin").get(url).content.decode().split())
    assert "<dt>Trusted</dt><dd>0 of 3</dd>" in text
    assert "2.00 EUR so far" in text
    assert "EUR" not in client_of("researcher").get(url).content.decode()
    assert "Unproven <strong>2</strong>" in text


def test_a_hostile_campaign_name_is_shown_as_text():
    campaign, client = make_hits(name="<script>alert(1)</script>"), client_of("researcher")
    for url in (reverse("home"), reverse("campaign_overview", args=[campaign.code])):
        page = client.get(url).content.decode()
        assert "&lt;script&gt;alert(1)" in page and "<script>alert" not in page
