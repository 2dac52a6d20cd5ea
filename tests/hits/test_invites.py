"""Invite links: whom they admit, how often, and what the database and the address bar show of them."""

import csv
import io
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from hits.exceptions import ArrivalRefused
from hits.models import Campaign, Invite, Participation, Worker
from hits.recruiting.invites import (
    NewInvite,
    accept_invite,
    hash_of,
    links_csv,
    make_invites,
    revoke_invites,
)
from hits.recruiting.visitors import COOKIE, INVITE_COOKIE
from tests.factories import log_lines, make_hits, make_worker
from tests.recruits import begin, choose_panel, hand_in

pytestmark = pytest.mark.django_db

INVITATION = "This task is by invitation"


@pytest.fixture
def campaign() -> Campaign:
    return make_hits(is_open=False)


def invite_to(campaign: Campaign, **fields: Any) -> NewInvite:
    return make_invites(campaign=campaign, n=1, actor=None, **fields)[0]


def join(client: Client, invite: NewInvite) -> Any:
    return client.get(reverse("join", args=[invite.token]))


def worker_in(client: Client, campaign: Campaign) -> Worker:
    """Agree to take part and return the browser's worker."""
    client.post(campaign.get_absolute_url())
    answer = client.get(campaign.get_absolute_url())
    code = answer.wsgi_request.get_signed_cookie(COOKIE)
    return Worker.objects.get(code=code)


def page_of(client: Client, campaign: Campaign) -> str:
    return client.get(campaign.get_absolute_url()).content.decode()


# Joining -------------------------------------------------------------------------------------


def test_a_worker_can_join_by_a_link_and_finish(campaign: Campaign, client: Client):
    join(client, invite_to(campaign))
    done = hand_in(client, assignment := begin(client, campaign))
    assignment.refresh_from_db()
    assert assignment.completion_code in done.content.decode()


def test_the_token_is_removed_from_the_address_bar(campaign: Campaign, client: Client):
    invite = invite_to(campaign)
    answer = join(client, invite)
    assert answer.status_code == 302 and answer.url == campaign.get_absolute_url()
    assert invite.token not in str(answer.cookies)
    assert answer.cookies[INVITE_COOKIE]["httponly"]


def test_a_new_campaign_admits_nobody_without_a_link(campaign: Campaign, client: Client):
    assert not hasattr(campaign, "recruitment")
    assert INVITATION in page_of(client, campaign)
    client.post(campaign.get_absolute_url())
    assert not Worker.objects.exists() and not Participation.objects.exists()


def test_an_open_link_admits_anyone(client: Client):
    campaign = make_hits()
    assert begin(client, campaign).worker.provider == "link"


def test_a_worker_of_another_campaign_is_not_admitted(campaign: Campaign, client: Client):
    begin(client, make_hits())
    assert INVITATION in page_of(client, campaign)


def test_a_link_to_one_campaign_does_not_open_another(campaign: Campaign, client: Client):
    join(client, invite_to(make_hits(is_open=False)))
    assert INVITATION in page_of(client, campaign)


def test_tokens_have_128_random_bits_and_only_their_hash_is_stored(campaign: Campaign):
    invites = make_invites(campaign=campaign, n=50, actor=None)
    tokens = {new.token for new in invites}
    assert len(tokens) == 50 and {len(token) for token in tokens} == {22}
    for new in invites:
        values = Invite.objects.filter(pk=new.invite.pk).values().get()
        assert values["token_hash"] == hash_of(new.token)
        assert new.token not in str(values)


# Personal and shared links -------------------------------------------------------------------


def test_a_personal_link_identifies_its_worker_on_another_device(campaign: Campaign):
    invite, phone, desktop = invite_to(campaign), Client(), Client()
    join(phone, invite)
    assignment = begin(phone, campaign)
    join(desktop, invite)
    assert "Welcome back" in page_of(desktop, campaign)
    assert hand_in(desktop, assignment).status_code == 200
    assert Worker.objects.count() == 1 and Invite.objects.get().n_uses == 1


def test_a_personal_link_opened_in_two_browsers_makes_one_worker(campaign: Campaign):
    invite = invite_to(campaign)
    browsers = [Client(), Client()]
    for browser in browsers:
        join(browser, invite)
    alice, same = (worker_in(browser, campaign) for browser in browsers)
    assert alice == same and Worker.objects.count() == 1


def test_opening_a_link_does_not_use_it_up(campaign: Campaign):
    invite = invite_to(campaign, is_personal=False, max_uses=1)
    for _ in range(5):
        join(Client(), invite)
    assert Invite.objects.get().n_uses == 0 and not Worker.objects.exists()


def test_two_personal_links_in_one_browser_make_two_workers(campaign: Campaign, client: Client):
    links = make_invites(campaign=campaign, n=2, actor=None)
    join(client, links[0])
    alice = worker_in(client, campaign)
    join(client, links[1])
    assert worker_in(client, campaign) != alice


def test_a_shared_link_admits_workers_up_to_its_limit(campaign: Campaign):
    invite = invite_to(campaign, is_personal=False, max_uses=2)
    browsers = [Client() for _ in range(3)]
    for browser in browsers:
        join(browser, invite)
    # All three open the page before the first agrees.
    answers = [browser.post(campaign.get_absolute_url()).status_code for browser in browsers]
    assert answers == [302, 302, 404]
    assert Participation.objects.count() == 2 and Invite.objects.get().n_uses == 2


def test_a_link_that_is_used_up_says_so_at_once(campaign: Campaign):
    invite = invite_to(campaign, is_personal=False, max_uses=1)
    first = Client()
    join(first, invite)
    first.post(campaign.get_absolute_url())
    answer = join(Client(), invite)
    assert answer.status_code == 404 and "maximum number of people" in answer.content.decode()


def test_agreeing_twice_by_a_shared_link_counts_once(campaign: Campaign, client: Client):
    invite = invite_to(campaign, is_personal=False, max_uses=5)
    for _ in range(2):
        join(client, invite)
        client.post(campaign.get_absolute_url())
    assert Invite.objects.get().n_uses == 1 and Participation.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_simultaneous_acceptances_never_exceed_the_limit():
    campaign = make_hits(is_open=False)
    invite = invite_to(campaign, is_personal=False, max_uses=3).invite

    def accept(_: int) -> bool:
        try:
            accept_invite(invite=invite, worker=None)
        except ArrivalRefused:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(8) as pool:
        accepted = list(pool.map(accept, range(8)))
    assert sum(accepted) == 3 and Invite.objects.get().n_uses == 3
    assert Worker.objects.count() == 3


@pytest.mark.django_db(transaction=True)
def test_simultaneous_acceptances_of_a_personal_link_make_one_worker():
    invite = invite_to(make_hits(is_open=False)).invite

    def accept(_: int) -> int:
        try:
            return accept_invite(invite=invite, worker=None).pk
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(accept, range(8)))) == 1
    assert Worker.objects.count() == 1


# Revoked and expired links -------------------------------------------------------------------


@pytest.mark.parametrize("field", ["revoked_at", "expires_at"])
def test_a_revoked_or_expired_link_is_refused(campaign: Campaign, client: Client, field: str):
    invite = invite_to(campaign)
    yesterday = timezone.now() - timedelta(days=1)
    Invite.objects.update(**{"created_at": yesterday - timedelta(days=1), field: yesterday})
    answer = join(client, invite)
    assert answer.status_code == 404 and "no longer valid" in answer.content.decode()
    assert INVITATION in page_of(client, campaign)


def test_a_link_revoked_before_the_worker_agrees_is_refused(campaign: Campaign, client: Client):
    join(client, invite_to(campaign))
    revoke_invites(campaign=campaign, pks=None, actor=None)
    client.post(campaign.get_absolute_url())
    assert not Participation.objects.exists()


def test_revoking_a_used_link_does_not_exclude_its_worker(campaign: Campaign):
    invite, phone = invite_to(campaign), Client()
    join(phone, invite)
    begin(phone, campaign)
    revoke_invites(campaign=campaign, pks=[invite.invite.pk], actor=None)
    assert join(Client(), invite).status_code == 404
    assert "Welcome back" in page_of(phone, campaign)


def test_an_unknown_token_and_a_forged_cookie_are_refused(campaign: Campaign, client: Client):
    assert client.get(reverse("join", args=["A" * 22])).status_code == 404
    client.cookies[INVITE_COOKIE] = str(invite_to(campaign).invite.pk)
    assert INVITATION in page_of(client, campaign)


def test_links_of_another_campaign_are_not_revoked(campaign: Campaign):
    other = invite_to(make_hits(is_open=False))
    assert revoke_invites(campaign=campaign, pks=[other.invite.pk], actor=None) == 0
    assert Invite.objects.usable().count() == 1


def test_making_and_revoking_invites_is_in_the_audit_log(campaign: Campaign):
    make_invites(campaign=campaign, n=3, actor=None, label="pilot")
    revoke_invites(campaign=campaign, pks=None, actor=None)
    entries = log_lines().filter(campaign=campaign).order_by("pk")
    actions = [(entry.action, entry.details["n"]) for entry in entries]
    assert actions == [("invites made", 3), ("invites revoked", 3)]


# The file ------------------------------------------------------------------------------------


def test_the_file_has_a_header_and_cells_cannot_be_formulas():
    text = links_csv([("=HYPERLINK(1)", "https://da.example/join/x/", "")])
    [header, row] = csv.reader(io.StringIO(text))
    assert header == ["label", "link", "expires_at"]
    assert row == ["'=HYPERLINK(1)", "https://da.example/join/x/", ""]


class TestSharedLinksAndPanels:
    @pytest.fixture
    def panel(self) -> Campaign:
        campaign = make_hits(is_open=False)
        choose_panel(campaign, session_parameter="visit")
        return campaign

    @staticmethod
    def follow_shared_link(client: Client, campaign: Campaign) -> Invite:
        new = invite_to(campaign, is_personal=False, max_uses=1)
        client.get(reverse("join", args=[new.token]))
        return new.invite

    def test_a_worker_sent_to_another_campaign_is_an_ordinary_invited_worker(self, panel, client):
        elsewhere = make_hits(is_open=False)
        choose_panel(elsewhere)
        client.get(f"{elsewhere.get_absolute_url()}?uid=alice")
        self.follow_shared_link(client, panel)
        assert begin(client, panel).worker.provider == "link"

    def test_a_worker_sent_to_this_campaign_does_not_use_up_the_link(self, panel, client):
        invite = self.follow_shared_link(client, panel)
        client.get(f"{panel.get_absolute_url()}?uid=alice&visit=v1")
        assert begin(client, panel).worker.provider == "panel"
        invite.refresh_from_db()
        assert invite.n_uses == 0


def test_a_known_worker_stays_the_same_worker_by_a_shared_link(campaign: Campaign):
    alice, invite = make_worker(), invite_to(campaign, is_personal=False).invite
    assert accept_invite(invite=invite, worker=alice) == alice
