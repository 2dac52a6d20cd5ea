"""The list to pay from: one row per person, recognisable by invite and completion codes."""

import csv
import io

import pytest
from django.test import Client
from django.urls import reverse

from hits.models import Assignment, Campaign, Invite, Participation, PaymentRun, Worker
from hits.payments.owing import Kind
from hits.payments.runs import mark_as_paid
from hits.recruiting.invites import make_invites
from hits.workers.forgetting import forget_worker
from hits.workers.reading import WorkerFilters, found_workers
from tests.api.callers import caller
from tests.factories import make_hits
from tests.paying import add_bonus, confirm, hand_in, make_admin, make_paid_campaign
from tests.people import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    """Alice, who came by a personal link, and Bob have submitted a HIT each; Alice then another."""
    campaign = make_paid_campaign("link", n_segments=28)
    alice = Worker.objects.get(external_id="alice")
    Invite.objects.create(
        campaign=campaign,
        token_hash="x",
        label="=Ada's class",
        is_personal=True,
        max_uses=1,
        n_uses=1,
        worker=alice,
    )
    hand_in(campaign, "alice", hit=campaign.hits.last())
    for worker in Worker.objects.all():
        Participation.objects.create(campaign=campaign, worker=worker)
    return campaign


def codes_of(name: str) -> list[str]:
    work = Assignment.objects.filter(worker__external_id=name).order_by("pk")
    return list(work.values_list("completion_code", flat=True))


def address(name: str, run: PaymentRun) -> str:
    return reverse(name, args=[run.campaign.code, run.code])


def test_the_list_has_one_row_per_person_with_the_sum(campaign):
    run = confirm(campaign, is_by_hand=True)
    text = client_of("admin").get(address("people_list", run)).content.decode()
    alice, bob = csv.DictReader(io.StringIO(text))
    assert alice == {
        "worker": "alice",
        "invite": "'=Ada's class",
        "completion_codes": " ".join(codes_of("alice")),
        "n_payments": "2",
        "amount": "3.00",
        "currency": "USD",
        "states": "planned",
    }
    assert (bob["worker"], bob["invite"], bob["amount"]) == ("bob", "", "1.50")
    url = f"/campaigns/{campaign.code}/payments/runs/{run.code}/people.csv"
    assert caller("admin").get(url).content.decode() == text


def test_the_pages_show_people_with_invite_and_codes(campaign):
    client = client_of("admin")
    plan = reverse("plan_payments", args=[campaign.code, "approve", "hand"])
    page = client.get(plan).content.decode()
    assert "<dt>People</dt><dd>2</dd>" in page and "3.00 USD" in page and "Ada&#x27;s class" in page
    assert all(code in page for code in codes_of("alice") + codes_of("bob"))
    run = confirm(campaign, is_by_hand=True)
    page = client.get(address("payment_run", run)).content.decode()
    assert all(code in page for code in codes_of("alice") + codes_of("bob"))
    assert page.count("Ada&#x27;s class") == 1


def test_bonuses_of_one_hit_repeat_no_code(campaign):
    add_bonus(campaign)
    add_bonus(campaign)
    run = confirm(campaign, Kind.BONUS, is_by_hand=True)
    text = client_of("admin").get(address("people_list", run)).content.decode()
    assert [row["n_payments"] for row in csv.DictReader(io.StringIO(text))] == ["4", "2"]
    assert text.count(codes_of("bob")[0]) == 1


@pytest.mark.parametrize("search", ["code", "invite"])
def test_a_worker_is_found_by_completion_code_and_invite(campaign, search):
    words = {"code": codes_of("alice")[1].lower(), "invite": "ada's"}[search]
    [found] = found_workers(campaign, WorkerFilters(search=words))
    assert found.worker.external_id == "alice"
    elsewhere = make_hits(name="Elsewhere")
    Participation.objects.create(campaign=elsewhere, worker=found.worker)
    assert not found_workers(elsewhere, WorkerFilters(search=words))


def test_people_who_came_by_a_shared_link_have_its_label():
    campaign = make_paid_campaign("link", n_segments=28)
    [new] = make_invites(
        campaign=campaign, n=1, actor=None, label="Course 7", is_personal=False, max_uses=9
    )
    browsers = [Client(), Client()]
    for browser in browsers:
        browser.get(reverse("join", args=[new.token]))
        browser.post(reverse("landing", args=[campaign.code]))
    people = Participation.objects.filter(invite=new.invite)
    names = [person.worker.external_id for person in people]
    assert len(names) == 2
    for name in names:
        hand_in(campaign, name)
    client = client_of("admin")
    plan = reverse("plan_payments", args=[campaign.code, "approve", "hand"])
    assert client.get(plan).content.decode().count("Course 7") == 2
    run = confirm(campaign, is_by_hand=True)
    text = client.get(address("people_list", run)).content.decode()
    labels = {row["worker"]: row["invite"] for row in csv.DictReader(io.StringIO(text))}
    assert labels == dict.fromkeys(names, "Course 7") | {"alice": "", "bob": ""}
    found = found_workers(campaign, WorkerFilters(search="course 7"))
    assert {person.worker.external_id for person in found} == set(names)
    mark_as_paid(run=run, total=run.total, reference="transfer 7", actor=make_admin())
    forget_worker(worker=people[0].worker, reason="asked")
    assert Participation.objects.filter(invite=new.invite).count() == 1
