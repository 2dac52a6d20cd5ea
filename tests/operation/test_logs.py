"""Logs for machines: whole JSON lines, and nobody in them."""

import json
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError
from django.test import Client
from django.urls import reverse

from da_platform.operation.logs import JsonFormatter, LineFormatter
from hits.models import Participation, Worker
from hits.rating.assignments import take_assignment
from hits.rating.joining import take_part
from hits.recruiting.framing import framed_address
from hits.recruiting.invites import make_invites
from tests.factories import make_hits, make_worker
from tests.subprocesses import manage
from tests.two_step import PASSWORD


@contextmanager
def written_by(formatter: logging.Formatter) -> Iterator[StringIO]:
    """Everything that is logged, at any level."""
    stream = StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield stream
    root.removeHandler(handler)
    root.setLevel(before)


@pytest.fixture
def told():
    """As the JSON formatter writes it."""
    with written_by(JsonFormatter()) as stream:
        yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]


@pytest.fixture
def lines():
    """As people at a terminal see it."""
    with written_by(LineFormatter("{levelname} {name}: {message}", style="{")) as stream:
        yield lambda: stream.getvalue().splitlines()


def test_a_line_of_our_own_is_told_as_it_is(told):
    logging.getLogger("hits.views").warning("Refused %s of %s", 3, "four")
    [line] = told()
    assert line["message"] == "Refused 3 of four"
    assert (line["level"], line["logger"]) == ("WARNING", "hits.views")
    assert line["at"].endswith("+00:00")


def test_what_others_fill_in_is_left_out(told):
    logging.getLogger("axes").warning("Failed login by %s from %s", "alice", "203.0.113.9")
    [line] = told()
    assert line["message"] == "Failed login by %s from %s"


@pytest.mark.parametrize(
    "personal", ["203.0.113.9", "2001:db8:0:1::7", "alice@example.org", "::ffff:203.0.113.9"]
)
def test_addresses_are_removed_wherever_they_stand(told, personal):
    logging.getLogger("hits").warning(f"Seen {personal} today")
    assert "203.0.113" not in str(told()) and personal not in str(told())


def test_a_long_line_is_looked_through_in_no_time(told):
    began = time.process_time()
    logging.getLogger("hits").warning("x" * 100_000)
    assert told()[0]["message"] == "x" * 100_000
    assert time.process_time() - began < 5


def test_times_and_codes_are_no_addresses(told):
    text = "at 12:34:56 assignment 0f8fad5b-d9cb-469f-a165-70867728950e"
    logging.getLogger("hits").warning(text)
    assert told()[0]["message"] == text


@pytest.mark.django_db
def test_a_login_is_told_with_whose_and_from_where_and_no_other_line_is(told):
    client = Client(REMOTE_ADDR="203.0.113.9")
    client.post(reverse("login"), {"username": "my password", "password": PASSWORD})
    logging.getLogger("hits").warning("Else", extra={"person": 7, "address": "203.0.113.9"})
    lines = [line for line in told() if line["logger"].startswith("hits")]
    [login, other] = lines
    assert (login["person"], login["address"]) == (None, "203.0.113.9")
    assert "my password" not in str(told())
    assert "person" not in other and "address" not in other


@pytest.mark.django_db
def test_an_exception_is_told_without_the_row_it_quotes(told):
    make_worker("alice-of-prolific")
    try:
        Worker.objects.create(provider="link", external_id="alice-of-prolific")
    except IntegrityError:
        logging.getLogger("hits").exception("It failed.")
    [line] = [line for line in told() if line["logger"] == "hits"]
    assert line["exception"] == "django.db.utils.IntegrityError"
    assert any("test_logs.py" in place for place in line["where"])
    assert "alice" not in str(line)


@pytest.mark.parametrize(("debug", "is_json"), [("1", False), ("0", True)])
def test_machines_are_written_for_unless_it_is_development(debug, is_json):
    say = "import logging; logging.getLogger('hits').warning('now')"
    environment = {"DA_DEBUG": debug, "DA_SECRET_KEY": "x" * 60, "DA_ALLOWED_HOSTS": "localhost"}
    done = manage("shell", "--verbosity", "0", "-c", say, **environment)
    assert done.stderr.splitlines()[-1].startswith("{") is is_json


def test_lines_for_people_are_in_utc_wherever_the_machine_is():
    say = "import logging; logging.getLogger('hits').warning('now')"
    done = manage("shell", "--verbosity", "0", "-c", say, DA_DEBUG="1", TZ="Asia/Tokyo")
    told_at = datetime.strptime(done.stderr[:19], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    assert done.stderr.endswith(" WARNING hits: now\n")
    assert abs(datetime.now(UTC) - told_at) < timedelta(minutes=10)


@pytest.mark.django_db
def test_who_is_refused_a_page_is_a_line_with_its_route(told, client):
    client.force_login(User.objects.create_user("alice"))
    assert client.get(reverse("health")).status_code == 403
    [line] = [line for line in told() if line.get("status") == 403]
    assert (line["level"], line["method"], line["route"]) == ("WARNING", "GET", "health/")


@pytest.mark.django_db
def test_a_workers_way_leaves_no_name_code_or_text_in_the_logs(told, monkeypatch):
    # Tests run with queries logged at DEBUG: those hold everything, and are off in production.
    monkeypatch.setattr(logging.getLogger("django.db.backends"), "propagate", False)
    alice = make_worker("alice-of-prolific")
    campaign = make_hits()
    assignment = take_assignment(campaign=campaign, worker=alice)
    client = Client(headers={"User-Agent": "tell-tale"}, REMOTE_ADDR="203.0.113.9")
    for name in ("rate", "finish", "done"):
        client.get(reverse(name, args=[assignment.code]) + "?PROLIFIC_PID=alice-of-prolific")
    client.post(reverse("landing", args=[campaign.code]))
    client.get("/alice-of-prolific/")
    lines = told()
    assert any(line.get("status") == 404 for line in lines)
    for secret in ("alice-of-prolific", "203.0.113.9", "tell-tale", str(alice.code), "bridge"):
        assert secret not in json.dumps(lines, ensure_ascii=False), secret


@pytest.mark.django_db
class TestKeysInAddresses:
    """An address may itself let in whoever reads it; a log names the page by its route."""

    @pytest.fixture(autouse=True)
    def _rush(self, settings):
        settings.ARRIVALS_PER_ADDRESS = 1
        settings.CLAIMS_PER_WORKER = 1

    def test_a_rush_at_an_invite_link_does_not_tell_the_link(self, told, lines, client):
        [new] = make_invites(campaign=make_hits(is_open=False), n=1, actor=None)
        client.get(reverse("join", args=[new.token]))
        assert client.get(reverse("join", args=[new.token])).status_code == 429
        assert "Rate limit exceeded at join/<str:token>/." in [line["message"] for line in told()]
        assert new.token not in str(told())
        assert "WARNING django.request: Too Many Requests: /join/<str:token>/" in lines()
        assert new.token not in str(lines())

    def test_a_rush_in_a_frame_does_not_tell_its_address(self, told, lines, client):
        campaign, worker = make_hits(), make_worker()
        take_part(campaign=campaign, worker=worker)
        Participation.objects.update(qualified_at=campaign.created_at)
        address = framed_address(
            reverse("next_hit", args=[campaign.code]),
            worker=worker,
            campaign=campaign,
            assignment_id="A",
            submit_origin="https://workersandbox.mturk.com",
        )
        client.get(address)
        assert client.get(address).status_code == 429
        assert str(campaign.code) in str(told())
        assert address.split("/")[2] not in str(told())
        assert address.split("/")[2] not in str(lines())

    def test_an_address_that_leads_nowhere_is_not_told_either(self, lines, client):
        client.get("/framed/a-token-é/nowhere/")
        assert "WARNING django.request: Not Found: an unknown URL" in lines()
