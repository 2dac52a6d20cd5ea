"""Rate limits across processes, anonymous marks of devices, and the list of hosts to return to."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone

from hits.exceptions import TooOften
from hits.models import Campaign, DeviceSighting, RateCount, Worker
from hits.people import guards
from hits.recruiting.visitors import COOKIE
from tests.factories import make_hits, make_worker
from tests.recruits import begin, take_hit

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("stopped_clock")]

ADDRESS = "203.0.113.77"


def request_from(address: str, **headers: str) -> Any:
    return RequestFactory(headers=headers).get("/", REMOTE_ADDR=address)


# Rate limits ---------------------------------------------------------------------------------


def test_arrivals_from_one_address_are_limited(settings: Any):
    settings.ARRIVALS_PER_ADDRESS = 3
    campaign = make_hits()
    answers = [Client(REMOTE_ADDR=ADDRESS).post(campaign.get_absolute_url()) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [302, 302, 302, 429]
    assert 0 < int(answers[-1]["Retry-After"]) <= 601
    assert "wait a few minutes" in answers[-1].content.decode()
    assert Worker.objects.count() == 3
    assert Client(REMOTE_ADDR="198.51.100.1").post(campaign.get_absolute_url()).status_code == 302


def test_guesses_at_invite_links_are_limited(settings: Any):
    settings.ARRIVALS_PER_ADDRESS = 2
    tries = [Client().get(reverse("join", args=["x" * 22])).status_code for _ in range(3)]
    assert tries == [404, 404, 429]


def test_requests_for_hits_by_one_worker_are_limited(settings: Any, client: Client):
    settings.CLAIMS_PER_WORKER = 2
    campaign = make_hits()
    assert take_hit(client, campaign).status_code == 302
    url = reverse("next_hit", args=[campaign.code])
    assert [client.get(url).status_code for _ in range(2)] == [302, 429]
    # Another worker at the same address is not affected.
    assert take_hit(Client(), campaign).status_code == 302


def test_a_new_window_starts_at_zero():
    now = timezone.now()
    for _ in range(2):
        guards._check("x", "alice", limit=2, at=now)
    with pytest.raises(TooOften):
        guards._check("x", "alice", limit=2, at=now)
    guards._check("x", "alice", limit=2, at=now + guards.WINDOW)


def test_no_limit_writes_nothing():
    guards._check("x", "alice", limit=0)
    assert not RateCount.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_simultaneous_requests_are_all_counted():
    now = timezone.now()

    def is_allowed(_: int) -> bool:
        try:
            guards._check("x", "alice", limit=5, at=now)
        except TooOften:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(is_allowed, range(20))) == 5
    assert RateCount.objects.get().n == 20


def test_counts_contain_no_address_and_are_deleted(settings: Any):
    guards.check_arrival(request_from(ADDRESS))
    assert ADDRESS not in str(RateCount.objects.values().get())
    assert guards.forget_counts() == 0
    assert guards.forget_counts(at=timezone.now() + timedelta(days=2)) == 1


@pytest.mark.parametrize(
    ("behind_proxy", "forwarded", "expected"),
    [
        (False, "198.51.100.1", ADDRESS),
        (True, "198.51.100.1", "198.51.100.1"),
        # The proxy appends the real address to a forged header.
        (True, "192.0.2.9, 198.51.100.1", "198.51.100.1"),
        (True, "nonsense", "None"),
    ],
)
def test_a_forwarded_address_is_trusted_only_behind_a_proxy(
    settings: Any, behind_proxy: bool, forwarded: str, expected: str
):
    settings.BEHIND_PROXY = behind_proxy
    request = request_from(ADDRESS, **{"X-Forwarded-For": forwarded})
    assert str(guards.address_of(request)) == expected


# Devices -------------------------------------------------------------------------------------


def kinds_of(campaign: Campaign) -> list[tuple[str, int]]:
    """Return the kind of each shared device with the number of its workers."""
    devices = [(sighting.kind, sighting.mark) for sighting in guards.shared_devices(campaign)]
    return sorted({(kind, devices.count((kind, mark))) for kind, mark in devices})


def work_at(campaign: Campaign, address: str = ADDRESS, browser: str = "A") -> Client:
    client = Client(REMOTE_ADDR=address, headers={"User-Agent": browser})
    begin(client, campaign)
    return client


def test_one_browser_under_two_ids_is_flagged():
    campaign = make_hits()
    client = work_at(campaign)
    del client.cookies[COOKIE]
    begin(client, campaign)
    assert kinds_of(campaign) == [("address", 2), ("cookie", 2)]


@pytest.mark.parametrize(
    ("address", "browser"), [("203.0.114.77", "A"), (ADDRESS, "B"), ("2001:db8::1", "A")]
)
def test_other_networks_and_other_browsers_are_not_flagged(address: str, browser: str):
    campaign = make_hits()
    work_at(campaign)
    work_at(campaign, address, browser)
    assert kinds_of(campaign) == []


@pytest.mark.parametrize(
    "addresses",
    [
        ("203.0.113.77", "203.0.113.5", "203.0.114.77"),
        ("2001:db8:1:2::3", "2001:db8:1:ffff::9", "2001:db8:2:2::3"),
    ],
)
def test_two_workers_with_one_kind_of_browser_in_one_network_are_flagged(addresses: list[str]):
    """A network is the first 24 bits of an IPv4 address and the first 48 of an IPv6 address."""
    campaign = make_hits()
    for address in addresses:
        work_at(campaign, address)
    assert kinds_of(campaign) == [("address", 2)]


def test_marks_contain_no_address_or_browser_and_differ_between_campaigns():
    first, second = make_hits(), make_hits()
    client = work_at(first, browser="Firefox")
    Worker.objects.get().assignments.update(status="expired")
    begin(client, second)
    rows = list(DeviceSighting.objects.values())
    assert len(rows) == 4
    assert not any(word in str(rows) for word in (ADDRESS, "203.0", "Firefox"))
    assert client.cookies[guards.DEVICE_COOKIE].value not in str(rows)
    marks = DeviceSighting.objects.values_list("mark", flat=True)
    assert not set(marks.filter(campaign=first)) & set(marks.filter(campaign=second))


def test_marks_depend_on_the_secret_key(settings: Any):
    campaign = make_hits()
    before = guards._mark(campaign, "x")
    settings.SECRET_KEY = "another"
    assert guards._mark(campaign, "x") != before


def test_no_device_is_stored_before_a_worker_agrees_and_takes_a_hit(client: Client):
    campaign = make_hits()
    client.get(campaign.get_absolute_url())
    client.post(campaign.get_absolute_url())
    assert not DeviceSighting.objects.exists() and guards.DEVICE_COOKIE not in client.cookies


def test_the_devices_of_a_worker_are_stored_once(client: Client):
    campaign = make_hits()
    begin(client, campaign)
    client.get(reverse("next_hit", args=[campaign.code]))
    assert DeviceSighting.objects.count() == 2


def test_finding_shared_devices_takes_one_query(django_assert_num_queries: Any):
    campaign = make_hits()
    for _ in range(5):
        worker = make_worker()
        DeviceSighting.objects.create(campaign=campaign, worker=worker, kind="cookie", mark="m")
    with django_assert_num_queries(1):
        assert len({sighting.worker.pk for sighting in guards.shared_devices(campaign)}) == 5


# Exits ---------------------------------------------------------------------------------------


def test_only_prolific_and_the_listed_hosts_are_exits(settings: Any):
    settings.EXIT_HOSTS = ["panel.example", "http://127.0.0.1:9"]
    assert guards.is_known_exit("https://app.prolific.com/submissions/complete?cc=X")
    assert guards.is_known_exit("https://panel.example/x")
    assert guards.is_known_exit("http://127.0.0.1:9/x")
    for url in ("http://panel.example/", "https://prolific.com/", "", "https://", "http://[x"):
        assert not guards.is_known_exit(url)
