"""Plans on the page, with the command and over the API."""

import json

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from analysis.gold.components import ComponentsRefused, measure_components, stored_components
from analysis.gold.plans import USUAL_COMPONENTS, Wishes, make_plan
from da_platform.jobs.running import run_job, start_job
from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.models import Campaign
from hits.workers.trust import weigh_pending
from tests.api.callers import caller
from tests.factories import make_campaign, make_hits
from tests.people import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def shared_campaign(shared_rows):
    campaign = make_hits(n_segments=21, hit_size=60, min_ratings=3, name="earlier")
    simulate_workers(campaign=campaign, crowd={Behaviour.HONEST: 5}, seed=2)
    weigh_pending()
    return campaign


@pytest.fixture
def earlier(shared_campaign):
    return Campaign.objects.get(pk=shared_campaign.pk)


def test_the_cheapest_size_has_the_power_and_no_other_is_cheaper():
    plan = make_plan(Wishes(n_systems=3, difference=0.2), USUAL_COMPONENTS)
    assert plan.cheapest.power >= 0.8
    assert all(plan.cheapest.cost.total <= size.cost.total for size in plan.sizes)
    assert plan.ratings_for_gold in [size.design.n_ratings for size in plan.sizes]


def test_cost_follows_from_hits_ratings_and_the_pass_rate():
    [size] = [
        size for size in make_plan(Wishes(), USUAL_COMPONENTS).sizes if size.design.n_ratings == 15
    ]
    assert size.cost.n_assignments == 2 * 15 * size.design.n_hits
    assert size.cost.total == size.cost.n_assignments * size.cost.pay + size.cost.fee


def test_with_few_segments_the_power_is_what_they_give():
    plan = make_plan(Wishes(difference=0.05, most_segments=300), USUAL_COMPONENTS)
    assert plan.cheapest is None
    assert {size.design.n_segments for size in plan.sizes} == {300}
    assert not any(size.is_enough for size in plan.sizes) and plan.sizes[0].power < 0.8


def test_my_segments_at_a_reliability_cost_what_their_hits_cost():
    plan = make_plan(Wishes(reliability=0.7, most_segments=300), USUAL_COMPONENTS)
    gold = plan.gold
    assert (gold.design.n_segments, gold.design.n_ratings) == (300, plan.ratings_for_gold)
    assert gold.reliability >= 0.7
    assert gold.n_trusted_ratings == 300 * 5 * plan.ratings_for_gold
    assert gold.cost.n_assignments == 2 * gold.design.n_hits * plan.ratings_for_gold
    assert make_plan(Wishes(reliability=0.7), USUAL_COMPONENTS).gold is None
    # The same as the size that the campaign would have for its ranking, if that needs all segments.
    few = make_plan(Wishes(reliability=0.7, difference=0.01, most_segments=300), USUAL_COMPONENTS)
    assert few.gold.cost == gold.cost and not few.gold.is_enough


def test_page_command_and_api_say_what_reliable_gold_of_my_segments_costs(earlier, capsys):
    plan = make_plan(Wishes(reliability=0.7, most_segments=300), USUAL_COMPONENTS)
    address = reverse("plan_campaign")
    page = client_of("researcher").get(address, {"reliability": "0.7", "segments": "300"})
    assert f"{plan.gold.n_trusted_ratings:,} ratings that cost" in page.content.decode()
    without = client_of("researcher").get(address, {"reliability": "0.7"})
    assert "Enter the segments you have" in without.content.decode()
    call_command("plan_campaign", "--reliability", "0.7", "--segments", "300")
    assert f"For your 300 segments: {plan.gold.n_trusted_ratings:,} ratings" in (
        capsys.readouterr().out
    )
    answer = caller("researcher").get("/campaigns/plan", reliability=0.7, segments=300).json()
    assert answer["gold"]["cost"] == str(plan.gold.cost.total)


def test_variances_of_an_earlier_campaign_are_measured_with_its_agreement(earlier):
    with pytest.raises(ComponentsRefused, match="Measure its agreement first"):
        stored_components(earlier)
    run_job(start_job(kind="measure_agreement", campaign=earlier).pk)
    assert stored_components(earlier) == measure_components(earlier)
    assert measure_components(make_campaign()) is None


class TestPage:
    def get(self, role="researcher", **query):
        return client_of(role).get(reverse("plan_campaign"), query)

    def test_it_plans_with_usual_values_and_has_curves(self):
        page = self.get().content.decode()
        assert "Cheapest:" in page and "plan/power.svg" in page
        assert "“Finds”: the smallest difference" in page and "plan:t,two-way" in page

    def test_values_come_from_the_address(self):
        page = self.get(systems=2, difference="0.5", pay="3").content.decode()
        assert 'value="0.5"' in page and "for 2 systems" in page

    @pytest.mark.parametrize(
        "query",
        [{"systems": "1"}, {"power": "x"}, {"segment": "-1"}, {"like": "x"}, {"like": "\x00"}],
    )
    def test_invalid_values_are_named(self, query):
        answer = self.get(**query)
        assert answer.status_code == 200 and "Some values are not valid" in answer.content.decode()

    def test_an_earlier_campaign_is_used_once_it_was_measured(self, earlier):
        page = self.get(like=str(earlier.code)).content.decode()
        assert "have not been measured" in page
        run_job(start_job(kind="measure_agreement", campaign=earlier).pk)
        page = self.get(like=str(earlier.code)).content.decode()
        assert "Ratings vary as in earlier: segments" in page and "Cheapest:" in page

    def test_other_peoples_campaigns_are_not_offered(self, earlier):
        other = make_campaign(name="other people's")
        client = client_of("researcher", earlier)
        assert "other people" not in client.get(reverse("plan_campaign")).content.decode()
        page = client.get(reverse("plan_campaign"), {"like": str(other.code)}).content.decode()
        assert "Some values are not valid" in page

    @pytest.mark.parametrize("name", ["power", "reliability"])
    def test_figures_and_their_data(self, name):
        client = client_of("researcher")
        rows = client.get(reverse("plan_picture", args=[name, "csv"]), {"systems": 3})
        assert rows.content.startswith(b"ratings_per_translation")
        assert client.get(reverse("plan_picture", args=[name, "svg"])).status_code == 200
        assert client.get(reverse("plan_picture", args=["nothing", "svg"])).status_code == 404


class TestCommand:
    def test_it_prints_a_table_and_json(self, earlier, capsys):
        call_command("plan_campaign", "--systems", "3", "--difference", "0.2", "--like", "earlier")
        assert "Cheapest: " in capsys.readouterr().out
        call_command("plan_campaign", "--variances", "0.25", "0.16", "0", "0", "0.59", "--json")
        plan = json.loads(capsys.readouterr().out)
        assert plan["single_r"] == pytest.approx(0.41) and plan["ratings_for_gold"] == 6

    @pytest.mark.parametrize(
        ("option", "value", "message"),
        [
            ("systems", 1, "--systems must be at least 2"),
            ("power", 1.0, "between 0 and 1"),
            ("passing", 0, "--passing"),
            ("difference", 0.0, "above 0"),
            ("variances", [0, 0, 0, -1, 1], "taste"),
            ("like", "nobody", "no campaign"),
        ],
    )
    def test_impossible_wishes_are_refused(self, option, value, message):
        with pytest.raises(CommandError, match=message):
            call_command("plan_campaign", **{option: value})

    def test_a_campaign_without_ratings_says_nothing(self):
        make_campaign(name="empty")
        with pytest.raises(CommandError, match="no trusted ratings yet"):
            call_command("plan_campaign", "--like", "empty")


def test_the_api_gives_the_same_plan(earlier):
    ada = caller("researcher")
    plan = ada.get("/campaigns/plan", systems=3, difference=0.2).json()
    here = make_plan(Wishes(n_systems=3, difference=0.2), USUAL_COMPONENTS).as_json()
    assert plan == json.loads(json.dumps(here))
    assert ada.get("/campaigns/plan", systems=1).status_code == 422
    assert ada.get("/campaigns/plan", like=str(earlier.code)).status_code == 409
