"""Any panel: its own names for parameters, signed arrivals, and addresses at the end from a list."""

import hmac
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

import pytest
from django.core import signing
from django.test import Client
from django.urls import reverse

from hits.models import Assignment, Campaign, Participation, Recruitment, Submission, Worker
from hits.recruiting.invites import make_invites
from hits.recruiting.providers.panel import PanelForm
from hits.recruiting.visitors import COOKIE, MAX_SIGNED_ARRIVALS
from tests.factories import make_hits
from tests.recruits import HOST, begin, choose_panel, hand_in, wrong_answer

pytestmark = pytest.mark.django_db

SECRET = "the panel's secret"
SIGNED = {"signature_parameter": "sig", "secret": "acme"}
EXITS = {
    "completed_url": "https://panel.example/done?u={id}&s={session}&c={code}",
    "no_consent_url": "https://panel.example/no?u={id}",
    "screened_out_url": "https://panel.example/out?u={id}",
}


@pytest.fixture(autouse=True)
def _settings(settings: Any) -> None:
    settings.PANEL_SECRETS = {"acme": SECRET}
    settings.EXIT_HOSTS = ["panel.example"]


def make_panel_campaign(**values: Any) -> Campaign:
    campaign = make_hits(is_open=False)
    choose_panel(campaign, **values)
    return campaign


def signed_query(campaign: Campaign, *, secret: str = SECRET, **parameters: str) -> str:
    query = urlencode(parameters)
    url = f"{HOST}{campaign.get_absolute_url()}?{query}"
    return f"{query}&sig={hmac.new(secret.encode(), url.encode(), sha256).hexdigest()}"


def arrive(campaign: Campaign, query: str) -> tuple[Client, Any]:
    client = Client()
    return client, client.get(f"{campaign.get_absolute_url()}?{query}")


def form_for(**values: Any) -> PanelForm:
    return PanelForm({"panel": "acme", "id_parameter": "uid"} | values)


def test_they_arrive_by_the_panels_own_parameters_and_go_back_with_its_ids():
    campaign = make_panel_campaign(session_parameter="visit", is_automatic=True, **EXITS)
    client, answer = arrive(campaign, "uid=alice-1&visit=v_7")
    assert answer.status_code == 303 and answer.url == campaign.get_absolute_url()
    done = hand_in(client, begin(client, campaign))
    code = Assignment.objects.get().completion_code
    assert done.status_code == 303
    assert done.url == f"https://panel.example/done?u=alice-1&s=v_7&c={code}"


def test_a_hit_ends_the_visit_it_was_taken_in():
    campaign = make_panel_campaign(session_parameter="visit", is_automatic=True, **SIGNED, **EXITS)
    client, _ = arrive(campaign, signed_query(campaign, uid="alice", visit="v1"))
    assignment = begin(client, campaign)
    first = hand_in(client, assignment).url
    query = signed_query(campaign, uid="alice", visit="v2")
    assert client.get(f"{campaign.get_absolute_url()}?{query}").status_code == 303
    assert client.get(reverse("done", args=[assignment.code])).url == first
    assert "s=v1" in first


def test_ids_of_different_panels_stay_apart():
    for panel in ("acme", "other"):
        arrive(make_panel_campaign(panel=panel), "uid=alice")
    assert sorted(Worker.objects.values_list("external_id", flat=True)) == [
        "acme:alice",
        "other:alice",
    ]


def test_without_ids_of_visits_a_person_comes_once():
    campaign = make_panel_campaign()
    client, _ = arrive(campaign, "uid=alice")
    hand_in(client, assignment := begin(client, campaign))
    again, _ = arrive(campaign, "uid=alice")
    answer = again.get(reverse("next_hit", args=[campaign.code]))
    assert answer.url == reverse("done", args=[assignment.code])
    assert Submission.objects.count() == 1


def test_declining_and_not_understanding_have_addresses_of_their_own():
    campaign = make_panel_campaign(**EXITS)
    client, _ = arrive(campaign, "uid=alice")
    declined = client.get(reverse("decline", args=[campaign.code]))
    assert (declined.status_code, declined.url) == (303, "https://panel.example/no?u=alice")
    client.post(campaign.get_absolute_url())
    for _ in range(2):
        wrong = {"answer": wrong_answer(campaign)}
        page = client.post(reverse("check", args=[campaign.code]), wrong)
    assert 'href="https://panel.example/out?u=alice"' in page.content.decode()


@pytest.mark.parametrize("person", ["a b", "../x", "<script>", "x" * 101, "é"])
def test_odd_ids_are_refused(person: str):
    campaign = make_panel_campaign()
    _, answer = arrive(campaign, urlencode({"uid": person}))
    assert answer.status_code == 404 and not Worker.objects.exists()


# Signatures ----------------------------------------------------------------------------------


def test_a_signed_arrival_is_let_in():
    campaign = make_panel_campaign(**SIGNED)
    _, answer = arrive(campaign, signed_query(campaign, uid="alice"))
    assert answer.status_code == 303 and Submission.objects.get().is_verified


def forgeries(campaign: Campaign) -> dict[str, str]:
    good = signed_query(campaign, uid="alice")
    return {
        "unsigned": "uid=alice",
        "another id": good.replace("alice", "bob"),
        "another secret": signed_query(campaign, secret="x", uid="alice"),
        "no secret": signed_query(campaign, secret="", uid="alice"),
        "for another campaign": signed_query(make_panel_campaign(**SIGNED), uid="alice"),
        "an id appended": f"{good}&uid=bob",
        "an id put in front": f"uid=bob&{good}",
        "empty": "uid=alice&sig=",
    }


@pytest.mark.parametrize(
    "name",
    [
        "unsigned",
        "another id",
        "another secret",
        "no secret",
        "for another campaign",
        "an id appended",
        "an id put in front",
        "empty",
    ],
)
def test_any_other_arrival_is_not(name: str):
    campaign = make_panel_campaign(**SIGNED)
    client, _ = arrive(campaign, forgeries(campaign)[name])
    client.post(campaign.get_absolute_url())
    assert not Worker.objects.exists() and not Participation.objects.exists()


def test_when_the_secret_is_gone_nobody_comes_in(settings: Any):
    campaign = make_panel_campaign(**SIGNED)
    settings.PANEL_SECRETS = {}
    query = signed_query(campaign, secret="", uid="alice")
    assert arrive(campaign, query)[1].status_code == 404


# The form ------------------------------------------------------------------------------------


def test_the_form_takes_addresses_on_the_list():
    assert form_for(**EXITS).is_valid()


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/",
        "http://panel.example/",
        "https://panel.example.evil.example/",
        "https://panel.example@evil.example/",
        "https://evil.example\\@panel.example/",
        "//panel.example/",
        "javascript:alert(1)",
        "https://panel.example:444/",
        "/local",
        "https://{id}.example/",
        "https://panel.example/{id.__class__}",
        "https://panel.example/{id:>99999999}",
        "https://panel.example/{id!r}",
        "https://panel.example/{other}",
        "https://panel.example/{",
        "https://panel.example/{0}",
        "https://panel.example/ x",
    ],
)
def test_the_form_refuses_other_addresses(url: str):
    form = form_for(completed_url=url)
    assert not form.is_valid() and "completed_url" in form.errors


def test_a_host_that_leaves_the_list_is_not_gone_to(settings: Any):
    campaign = make_panel_campaign(is_automatic=True, **EXITS)
    client, _ = arrive(campaign, "uid=alice")
    assignment = begin(client, campaign)
    settings.EXIT_HOSTS = []
    page = hand_in(client, assignment)
    assert page.status_code == 200 and "panel.example" not in page.content.decode()


@pytest.mark.parametrize(
    "values",
    [
        {"signature_parameter": "sig"},
        {"secret": "acme"},
        {"signature_parameter": "sig", "secret": "unknown"},
        {"session_parameter": "uid"},
        {"id_parameter": ""},
        {"panel": ""},
    ],
)
def test_the_form_refuses_what_does_not_fit_together(values: dict[str, str]):
    assert not form_for(**values).is_valid()


def test_the_secret_itself_is_not_in_the_database():
    make_panel_campaign(**SIGNED)
    assert SECRET not in str(Recruitment.objects.values().get())


class TestWhereArrivalsAreSigned:
    """Nobody is believed to be someone because another campaign, which signs nothing, took them for it."""

    @pytest.fixture
    def signed(self) -> Campaign:
        return make_panel_campaign(session_parameter="visit", **SIGNED)

    @pytest.fixture
    def unsigned(self) -> Campaign:
        return make_panel_campaign()

    @staticmethod
    def come(client: Client, campaign: Campaign, visit: str = "v1") -> None:
        query = signed_query(campaign, uid="bob", visit=visit)
        assert client.get(f"{campaign.get_absolute_url()}?{query}").status_code == 303

    def test_who_came_unsigned_elsewhere_takes_no_hit_under_that_id(self, signed, unsigned):
        bob = Client()
        self.come(bob, signed)
        hand_in(bob, begin(bob, signed))
        self.come(bob, signed, "v2")
        mallory, _ = arrive(unsigned, "uid=bob")
        assert "by invitation" in mallory.get(signed.get_absolute_url()).content.decode()
        answer = mallory.get(reverse("next_hit", args=[signed.code]))
        assert answer.url == signed.get_absolute_url()
        assert Assignment.objects.open().count() == 0

    def test_nor_do_they_see_rate_or_hand_in_the_hit_in_hand(self, signed, unsigned):
        bob = Client()
        self.come(bob, signed)
        assignment = begin(bob, signed)
        mallory, _ = arrive(unsigned, "uid=bob")
        item = assignment.hit.items.get(position=1)
        rating = {"position": 1, "item": item.code, "score": 50}
        rate, finish = (reverse(name, args=[assignment.code]) for name in ("rate", "finish"))
        assert mallory.get(rate).status_code == 404
        assert mallory.post(rate, rating).status_code == 404
        assert mallory.post(finish, {"comment": ""}).status_code == 404
        assert bob.post(rate, rating).status_code == 302

    def test_who_came_signed_goes_on_after_an_unsigned_arrival_elsewhere(self, signed, unsigned):
        bob = Client()
        self.come(bob, signed)
        assignment = begin(bob, signed)
        bob.get(f"{unsigned.get_absolute_url()}?uid=bob")
        assert bob.get(reverse("rate", args=[assignment.code])).status_code == 200

    def test_a_signed_arrival_at_one_campaign_is_none_at_another(self, signed):
        """Their admins may have different secrets under the same name of a panel."""
        other = make_panel_campaign(session_parameter="visit", **SIGNED)
        bob, elsewhere = Client(), Client()
        self.come(bob, signed)
        assignment = begin(bob, signed)
        self.come(elsewhere, other)
        assert elsewhere.get(reverse("rate", args=[assignment.code])).status_code == 404

    def test_signed_arrivals_at_several_campaigns_count_side_by_side(self, signed):
        other = make_panel_campaign(session_parameter="visit", **SIGNED)
        bob = Client()
        self.come(bob, signed)
        assignment = begin(bob, signed)
        self.come(bob, other)
        assert bob.get(reverse("rate", args=[assignment.code])).status_code == 200

    def test_a_signature_is_of_one_person(self, signed, unsigned):
        """Mallory's own signed arrival does not vouch for the id they write into an address later."""
        bob, mallory = Client(), Client()
        self.come(bob, signed)
        assignment = begin(bob, signed)
        query = signed_query(signed, uid="mallory", visit="v2")
        mallory.get(f"{signed.get_absolute_url()}?{query}")
        mallory.get(f"{unsigned.get_absolute_url()}?uid=bob")
        assert mallory.get(reverse("rate", args=[assignment.code])).status_code == 404

    def test_who_was_invited_needs_no_signature(self, signed, client):
        [new] = make_invites(campaign=signed, n=1, actor=None)
        client.get(reverse("join", args=[new.token]))
        assert hand_in(client, begin(client, signed)).status_code == 200

    def test_a_cookie_from_before_goes_on_where_nothing_is_signed(self, unsigned):
        client, _ = arrive(unsigned, "uid=bob")
        assignment = begin(client, unsigned)
        value = signing.get_cookie_signer(salt=COOKIE).sign(str(assignment.worker.code))
        before = Client()
        before.cookies[COOKIE] = value
        assert before.get(reverse("rate", args=[assignment.code])).status_code == 200
        assert hand_in(before, assignment).status_code == 200

    def test_the_cookie_stays_small(self):
        bob = Client()
        for _ in range(MAX_SIGNED_ARRIVALS + 2):
            self.come(bob, make_panel_campaign(session_parameter="visit", **SIGNED))
        assert len(bob.cookies[COOKIE].value) < 1_000
