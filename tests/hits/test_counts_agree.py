"""Work and money of one running campaign are counted alike on every page, in the command and in the API."""

import io
import json
import re
from decimal import Decimal

import pytest
from django.core.management import call_command
from django.urls import reverse

from hits.campaigns.costs import usual_estimate
from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.models import Assignment, Campaign, Participation
from hits.rating.assignments import take_assignment
from hits.rating.places import forecast
from tests.api.callers import caller
from tests.factories import make_hits, make_worker
from tests.people import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    """Three HITs for two trusted ratings each: trusted work with a surplus, discarded, unproven and begun work."""
    campaign = make_hits(n_segments=42, min_ratings=2, pay_per_hit=Decimal("1.50"), currency="EUR")
    simulate_workers(campaign=campaign, crowd={Behaviour.HONEST: 5}, seed=1, hits_per_worker=1)
    # All trusted workers did the first HIT, which wants two of them.
    first, second, _ = campaign.hits.order_by("number")
    done = [(first, "reliable")] * 3 + [(second, "unreliable"), (second, "unproven")]
    assignments = Assignment.objects.order_by("pk")
    for assignment, (hit, trust) in zip(assignments, done, strict=True):
        Assignment.objects.filter(pk=assignment.pk).update(hit=hit)
        Participation.objects.create(campaign=campaign, worker=assignment.worker, trust=trust)
    assert take_assignment(campaign=campaign, worker=make_worker("erin"))
    return campaign


def overview(campaign: Campaign) -> str:
    url = reverse("campaign_overview", args=[campaign.code])
    return " ".join(client_of("admin").get(url).content.decode().split())


def test_pages_command_and_api_count_the_same_assignments(campaign):
    future = forecast(campaign)
    assert (future.n_counting, future.n_wanted, future.n_surplus) == (2, 6, 1)
    assert "<dd>2 of 6</dd>" in overview(campaign)
    home = client_of("admin").get(reverse("home")).content.decode()
    assert "2 of 6 assignments trusted" in home and 'max="6" value="2"' in home
    for arguments in ([campaign.name], []):
        out = io.StringIO()
        call_command("campaign_status", *arguments, stdout=out)
        assert "2 of 6 assignments trusted" in out.getvalue()
    api = caller("admin")
    facts = [
        api.get(f"/campaigns/{campaign.code}").json(),
        api.get(f"/campaigns/{campaign.code}/forecast").json(),
        api.get("/campaigns").json()["items"][0],
    ]
    assert [(row["n_counting"], row["n_wanted"]) for row in facts] == [(2, 6)] * 3


@pytest.mark.parametrize("min_ratings", [2, 3])
def test_costs_dashboard_command_and_api_agree_while_work_goes_on(campaign, min_ratings):
    Campaign.objects.update(min_ratings=min_ratings)
    campaign = Campaign.objects.get()
    future = forecast(campaign)
    # Three trusted of four judged, so 75 %. One unproven and one begun may fail.
    assert future.pass_percent == 75 and future.spent == Decimal("9.00")
    n_lacking = future.n_missing + 2 * 0.25
    assert future.n_expected == -(-n_lacking // 0.75)
    cost = usual_estimate(campaign, future)
    assert (cost.n_to_come, cost.to_workers) == (future.n_expected, future.total_cost)
    total = f"{cost.total:.2f}"
    assert f"In all about <strong>{total} EUR</strong>" in overview(campaign)
    page = client_of("admin").get(reverse("campaign_cost", args=[campaign.code]))
    assert f'<span data-out="total">{total}</span>' in page.content.decode()
    api, path = caller("admin"), f"/campaigns/{campaign.code}"
    assert api.get(f"{path}/estimate").json()["total"] == total
    assert Decimal(api.get(f"{path}/cost").json()["total_cost"]) == cost.to_workers
    out = io.StringIO()
    call_command("campaign_status", campaign.name, stdout=out)
    assert f"in all {total} EUR with that fee" in out.getvalue()
    out = io.StringIO()
    call_command("campaign_status", campaign.name, "--json", stdout=out)
    assert Decimal(json.loads(out.getvalue())["forecast"]["total_cost"]) == cost.to_workers


def test_more_ratings_cost_what_is_still_lacking(campaign):
    future = forecast(campaign)
    page = client_of("admin").get(
        reverse("campaign_cost", args=[campaign.code]), {"ratings": 3, "passing": 100, "fee": 0}
    )
    # Three HITs want three each; the four promised assignments (two trusted) cover that many.
    n_to_come = 9 - (future.n_wanted - future.n_missing)
    total = re.search(r'data-out="total">([\d.]+)<', page.content.decode())
    assert total and Decimal(total[1]) == Decimal("9.00") + n_to_come * Decimal("1.50")
