"""Panels: their parameters, signed arrivals, and return addresses from a list."""

import hmac
from collections.abc import Callable
from datetime import timedelta
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

import pytest
import time_machine
from django.core import signing
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from hits.models import Assignment, Campaign, Participation, Recruitment, Submission, Worker
from hits.recruiting.arrivals import REOPENED_WITHIN
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


def test_workers_arrive_with_the_panels_parameters_and_return_with_its_ids():
    campaign = make_panel_campaign(session_parameter="visit", is_automatic=True, **EXITS)
    client, answer = arrive(campaign, "uid=alice-1&visit=v_7")
    assert answer.status_code == 303 and answer.url == campaign.get_absolute_url()
    done = hand_in(client, begin(client, campaign))
    code = Assignment.objects.get().completion_code
    assert done.status_code == 303
    assert done.url == f"https://panel.example/done?u=alice-1&s=v_7&c={code}"


def test_a_finished_hit_returns_to_the_visit_it_was_taken_in():
    campaign = make_panel_campaign(session_parameter="visit", is_automatic=True, **SIGNED, **EXITS)
    client, _ = arrive(campaign, signed_query(campaign, uid="alice", visit="v1"))
    assignment = begin(client, campaign)
    first = hand_in(client, assignment).url
    query = signed_query(campaign, uid="alice", visit="v2")
    assert client.get(f"{campaign.get_absolute_url()}?{query}").status_code == 303
    assert client.get(reverse("done", args=[assignment.code])).url == first
    assert "s=v1" in first


def test_ids_of_different_panels_are_different_workers():
    for panel in ("acme", "other"):
        arrive(make_panel_campaign(panel=panel), "uid=alice")
    ids = Worker.objects.values_list("external_id", flat=True)
    assert sorted(ids) == ["acme:alice", "other:alice"]


def test_without_visit_ids_a_worker_takes_part_once():
    campaign = make_panel_campaign()
    client, _ = arrive(campaign, "uid=alice")
    hand_in(client, assignment := begin(client, campaign))
    again, _ = arrive(campaign, "uid=alice")
    answer = again.get(reverse("next_hit", args=[campaign.code]))
    assert answer.url == reverse("done", args=[assignment.code])
    assert Submission.objects.count() == 1


def test_declining_and_failing_the_check_have_different_return_addresses():
    campaign = make_panel_campaign(**EXITS)
    client, _ = arrive(campaign, "uid=alice")
    declined = client.get(reverse("decline", args=[campaign.code]))
    assert (declined.status_code, declined.url) == (303, "https://panel.example/no?u=alice")
    client.post(campaign.get_absolute_url())
    for _ in range(2):
        wrong = {"answer": wrong_answer(campaign)}
        page = client.post(reverse("check", args=[campaign.code]), wrong)
    assert 'href="https://panel.example/out?u=alice"' in page.content.decode()


@pytest.mark.parametrize("external_id", ["a b", "../x", "<script>", "x" * 101, "é"])
def test_invalid_ids_are_refused(external_id: str):
    campaign = make_panel_campaign()
    _, answer = arrive(campaign, urlencode({"uid": external_id}))
    assert answer.status_code == 404 and not Worker.objects.exists()


# Signatures ----------------------------------------------------------------------------------


def test_a_signed_arrival_is_admitted():
    campaign = make_panel_campaign(**SIGNED)
    _, answer = arrive(campaign, signed_query(campaign, uid="alice"))
    assert answer.status_code == 303 and Submission.objects.get().is_verified


FORGERIES: dict[str, Callable[[Campaign], str]] = {
    "unsigned": lambda _: "uid=alice",
    "another id": lambda campaign: signed_query(campaign, uid="alice").replace("alice", "bob"),
    "another secret": lambda campaign: signed_query(campaign, secret="x", uid="alice"),
    "no secret": lambda campaign: signed_query(campaign, secret="", uid="alice"),
    "for another campaign": lambda _: signed_query(make_panel_campaign(**SIGNED), uid="alice"),
    "an id appended": lambda campaign: signed_query(campaign, uid="alice") + "&uid=bob",
    "an id put in front": lambda campaign: "uid=bob&" + signed_query(campaign, uid="alice"),
    "empty": lambda _: "uid=alice&sig=",
}


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES)
def test_an_unsigned_or_forged_arrival_is_refused(forge: Callable[[Campaign], str]):
    campaign = make_panel_campaign(**SIGNED)
    client, _ = arrive(campaign, forge(campaign))
    client.post(campaign.get_absolute_url())
    assert not Worker.objects.exists() and not Participation.objects.exists()


def test_without_the_panels_secret_nobody_is_admitted(settings: Any):
    campaign = make_panel_campaign(**SIGNED)
    settings.PANEL_SECRETS = {}
    query = signed_query(campaign, secret="", uid="alice")
    assert arrive(campaign, query)[1].status_code == 404


# Links that are opened again -----------------------------------------------------------------

TIMED = SIGNED | {"time_parameter": "at", "session_parameter": "visit"}


def timed_query(campaign: Campaign, *, age: int = 0, visit: str = "v1") -> str:
    at = str(int(timezone.now().timestamp()) - age)
    return signed_query(campaign, uid="alice", visit=visit, at=at)


def reopen(client: Client, campaign: Campaign, query: str) -> Any:
    return client.get(f"{campaign.get_absolute_url()}?{query}", REMOTE_ADDR="203.0.113.9")


def test_a_copied_link_does_not_open_a_hit_that_was_taken():
    campaign = make_panel_campaign(**SIGNED)
    query = signed_query(campaign, uid="alice")
    alice, _ = arrive(campaign, query)
    assignment = begin(alice, campaign)
    mallory, answer = arrive(campaign, query)
    assert answer.status_code == 404 and "another session" in answer.content.decode()
    assert mallory.get(reverse("rate", args=[assignment.code])).status_code == 404
    hand_in(alice, assignment)
    assert arrive(campaign, query)[1].status_code == 404


def test_a_worker_can_reload_the_link_and_change_the_network():
    campaign = make_panel_campaign(**SIGNED)
    query = signed_query(campaign, uid="alice")
    alice, _ = arrive(campaign, query)
    assignment = begin(alice, campaign)
    with time_machine.travel(timezone.now() + timedelta(days=2)):
        assert reopen(alice, campaign, query).status_code == 303
        assert alice.get(reverse("rate", args=[assignment.code])).status_code == 200


def test_a_link_checker_does_not_use_up_the_link():
    campaign = make_panel_campaign(**SIGNED)
    query = signed_query(campaign, uid="alice")
    arrive(campaign, query)
    alice, answer = arrive(campaign, query)
    assert answer.status_code == 303 and begin(alice, campaign)


def test_a_link_without_a_time_is_bound_to_its_browsers_after_an_hour():
    campaign = make_panel_campaign(**SIGNED)
    query = signed_query(campaign, uid="alice")
    alice, _ = arrive(campaign, query)
    with time_machine.travel(timezone.now() + REOPENED_WITHIN + timedelta(minutes=1)):
        assert arrive(campaign, query)[1].status_code == 404
        assert reopen(alice, campaign, query).status_code == 303


def test_a_link_with_a_time_works_once():
    campaign = make_panel_campaign(**TIMED)
    query = timed_query(campaign)
    alice, answer = arrive(campaign, query)
    assert answer.status_code == 303
    assert arrive(campaign, query)[1].status_code == 404
    assert reopen(alice, campaign, query).status_code == 303


@pytest.mark.parametrize(("age", "status"), [(590, 303), (610, 404), (-50, 303), (-90, 404)])
def test_a_link_with_a_time_works_for_ten_minutes(age: int, status: int):
    campaign = make_panel_campaign(**TIMED)
    assert arrive(campaign, timed_query(campaign, age=age))[1].status_code == status


def test_an_old_link_still_works_in_the_browser_that_used_it():
    campaign = make_panel_campaign(**TIMED)
    query = timed_query(campaign)
    alice, _ = arrive(campaign, query)
    with time_machine.travel(timezone.now() + timedelta(hours=3)):
        assert reopen(alice, campaign, query).status_code == 303


def test_a_new_link_lets_a_worker_continue_in_another_browser():
    campaign = make_panel_campaign(**TIMED)
    alice, _ = arrive(campaign, timed_query(campaign, age=60))
    assignment = begin(alice, campaign)
    phone, answer = arrive(campaign, timed_query(campaign))
    assert answer.status_code == 303
    assert phone.get(reverse("rate", args=[assignment.code])).status_code == 200


@pytest.mark.parametrize("at", ["", "soon", "-5", "1e9", "9" * 11, "١٢٣"])
def test_a_link_without_a_valid_time_is_refused(at: str):
    campaign = make_panel_campaign(**TIMED)
    query = signed_query(campaign, uid="alice", visit="v1", at=at)
    assert arrive(campaign, query)[1].status_code == 404 and not Worker.objects.exists()


# The form ------------------------------------------------------------------------------------


def test_the_form_accepts_addresses_on_the_list():
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


def test_a_host_removed_from_the_list_is_no_longer_linked(settings: Any):
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
        {"time_parameter": "at"},
        SIGNED | {"time_parameter": "uid"},
        {"id_parameter": ""},
        {"panel": ""},
    ],
)
def test_the_form_refuses_contradictory_settings(values: dict[str, str]):
    assert not form_for(**values).is_valid()


def test_the_secret_itself_is_not_in_the_database():
    make_panel_campaign(**SIGNED)
    assert SECRET not in str(Recruitment.objects.values().get())


class TestWhereArrivalsAreSigned:
    """An unsigned arrival at another campaign does not identify anybody here."""

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

    def test_an_unsigned_arrival_elsewhere_gives_no_hit_under_that_id(self, signed, unsigned):
        bob = Client()
        self.come(bob, signed)
        hand_in(bob, begin(bob, signed))
        self.come(bob, signed, "v2")
        mallory, _ = arrive(unsigned, "uid=bob")
        assert "by invitation" in mallory.get(signed.get_absolute_url()).content.decode()
        answer = mallory.get(reverse("next_hit", args=[signed.code]))
        assert answer.url == signed.get_absolute_url()
        assert Assignment.objects.open().count() == 0

    def test_an_unsigned_arrival_elsewhere_does_not_open_the_workers_hit(self, signed, unsigned):
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

    def test_a_signed_worker_can_continue_after_an_unsigned_arrival_elsewhere(
        self, signed, unsigned
    ):
        bob = Client()
        self.come(bob, signed)
        assignment = begin(bob, signed)
        bob.get(f"{unsigned.get_absolute_url()}?uid=bob")
        assert bob.get(reverse("rate", args=[assignment.code])).status_code == 200

    def test_a_signed_arrival_does_not_count_at_another_campaign(self, signed):
        """Different admins may use the same name for different panels."""
        other = make_panel_campaign(session_parameter="visit", **SIGNED)
        bob, elsewhere = Client(), Client()
        self.come(bob, signed)
        assignment = begin(bob, signed)
        self.come(elsewhere, other)
        assert elsewhere.get(reverse("rate", args=[assignment.code])).status_code == 404

    def test_a_worker_can_have_signed_arrivals_at_several_campaigns(self, signed):
        other = make_panel_campaign(session_parameter="visit", **SIGNED)
        bob = Client()
        self.come(bob, signed)
        assignment = begin(bob, signed)
        self.come(bob, other)
        assert bob.get(reverse("rate", args=[assignment.code])).status_code == 200

    def test_a_signed_arrival_does_not_vouch_for_another_id(self, signed, unsigned):
        bob, mallory = Client(), Client()
        self.come(bob, signed)
        assignment = begin(bob, signed)
        query = signed_query(signed, uid="mallory", visit="v2")
        mallory.get(f"{signed.get_absolute_url()}?{query}")
        mallory.get(f"{unsigned.get_absolute_url()}?uid=bob")
        assert mallory.get(reverse("rate", args=[assignment.code])).status_code == 404

    def test_an_invited_worker_needs_no_signature(self, signed, client):
        [new] = make_invites(campaign=signed, n=1, actor=None)
        client.get(reverse("join", args=[new.token]))
        assert hand_in(client, begin(client, signed)).status_code == 200

    def test_an_old_cookie_still_works_where_arrivals_are_unsigned(self, unsigned):
        client, _ = arrive(unsigned, "uid=bob")
        assignment = begin(client, unsigned)
        value = signing.get_cookie_signer(salt=COOKIE).sign(str(assignment.worker.code))
        returning = Client()
        returning.cookies[COOKIE] = value
        assert returning.get(reverse("rate", args=[assignment.code])).status_code == 200
        assert hand_in(returning, assignment).status_code == 200

    def test_the_cookie_stays_small(self):
        bob = Client()
        for _ in range(MAX_SIGNED_ARRIVALS + 2):
            self.come(bob, make_panel_campaign(session_parameter="visit", **SIGNED))
        assert len(bob.cookies[COOKIE].value) < 1_000
