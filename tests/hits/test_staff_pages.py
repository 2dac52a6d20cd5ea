"""The pages of campaigns that staff see, and nobody else."""

import re
from pathlib import Path

import pytest
from django.urls import reverse

from hits.campaigns.events import recent_events
from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.models import Participation
from hits.payments.runs import reject_assignment
from hits.workers.trust import weigh_pending
from tests.factories import make_hits, make_worker
from tests.paying import add_bonus, confirm, make_admin, make_paid_campaign
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


def test_the_overview_shows_progress_and_cost():
    campaign = make_hits(min_ratings=3, pay_per_hit=2, currency="EUR", hit_size=40)
    simulate_workers(campaign=campaign, crowd={Behaviour.CONSTANT: 1}, seed=1)
    weigh_pending()
    Participation.objects.create(campaign=campaign, worker=make_worker())
    url = reverse("campaign_overview", args=[campaign.code])
    text = " ".join(client_of("admin").get(url).content.decode().split())
    assert re.search(r"<dt>Trusted .*?</dt>\s*<dd>0 of 3</dd>", text)
    assert "2.00 EUR so far" in text
    assert "EUR" not in client_of("researcher").get(url).content.decode()
    assert "Unproven <strong>2</strong>" in text


def test_only_admins_see_payments_in_the_recent_events():
    campaign = make_paid_campaign("link", spending_cap="3.00", min_ratings=3)
    alice = campaign.hits.get().assignments.get(worker__external_id="alice")
    reject_assignment(assignment=alice, message="All scores were the same.", actor=make_admin())
    add_bonus(campaign)
    confirm(campaign, is_by_hand=True)
    url = reverse("campaign_overview", args=[campaign.code])
    page = client_of("admin").get(url).content.decode()
    assert "Confirm payments" in page and "Add pay rule" in page and "_payments" not in page
    page = client_of("researcher").get(url).content.decode()
    events = [event.what for event in recent_events(campaign, [], names_workers=False)]
    assert events == ["campaign opened", "HITs built"]
    assert "paymaster" not in page and "payments" not in page


def test_only_admins_see_the_spending_cap():
    campaign = make_paid_campaign("link", spending_cap="3.00", min_ratings=3)
    url = reverse("campaign_overview", args=[campaign.code])
    assert "The spending cap has been reached" in client_of("admin").get(url).content.decode()
    assert "spending cap" not in client_of("researcher").get(url).content.decode()


def test_the_name_of_every_payment_action_contains_pay_or_reject():
    folder = Path(__file__).parents[2] / "hits" / "payments"
    code = "".join(path.read_text() for path in folder.glob("*.py"))
    actions = re.findall(r'record(?:_payment)?\(\s*f?"([^"]+)"', code)
    assert len(actions) >= 9
    assert [action for action in actions if "pay" not in action and "reject" not in action] == []


def test_a_hostile_campaign_name_is_shown_as_text():
    campaign, client = make_hits(name="<script>alert(1)</script>"), client_of("researcher")
    for url in (reverse("home"), reverse("campaign_overview", args=[campaign.code])):
        page = client.get(url).content.decode()
        assert "&lt;script&gt;alert(1)" in page and "<script>alert" not in page
