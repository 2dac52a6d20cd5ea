"""Logs are complete JSON lines without personal data."""

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
from tests.subprocesses import RANDOM_KEY, manage
from tests.two_step import PASSWORD


@contextmanager
def captured(formatter: logging.Formatter) -> Iterator[StringIO]:
    """Capture everything that is logged, at any level."""
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
def json_lines():
    with captured(JsonFormatter()) as stream:
        yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]


@pytest.fixture
def lines():
    with captured(LineFormatter("{levelname} {name}: {message}", style="{")) as stream:
        yield lambda: stream.getvalue().splitlines()


def test_our_own_messages_are_logged_in_full(json_lines):
    logging.getLogger("hits.views").warning("Refused %s of %s", 3, "four")
    [line] = json_lines()
    assert line["message"] == "Refused 3 of four"
    assert (line["level"], line["logger"]) == ("WARNING", "hits.views")
    assert line["at"].endswith("+00:00")


def test_arguments_of_third_party_messages_are_left_out(json_lines):
    logging.getLogger("axes").warning("Failed login by %s from %s", "alice", "203.0.113.9")
    [line] = json_lines()
    assert line["message"] == "Failed login by %s from %s"


@pytest.mark.parametrize(
    "personal", ["203.0.113.9", "2001:db8:0:1::7", "alice@example.org", "::ffff:203.0.113.9"]
)
def test_personal_addresses_are_removed_from_messages(json_lines, personal):
    logging.getLogger("hits").warning(f"Seen {personal} today")
    assert "203.0.113" not in str(json_lines()) and personal not in str(json_lines())


def test_long_lines_are_searched_quickly(json_lines):
    began = time.process_time()
    logging.getLogger("hits").warning("x" * 100_000)
    assert json_lines()[0]["message"] == "x" * 100_000
    assert time.process_time() - began < 5


def test_times_and_codes_are_not_mistaken_for_addresses(json_lines):
    text = "at 12:34:56 assignment 0f8fad5b-d9cb-469f-a165-70867728950e"
    logging.getLogger("hits").warning(text)
    assert json_lines()[0]["message"] == text


@pytest.mark.django_db
def test_only_login_lines_name_a_person_and_an_address(json_lines):
    client = Client(REMOTE_ADDR="203.0.113.9")
    client.post(reverse("login"), {"username": "my password", "password": PASSWORD})
    logging.getLogger("hits").warning("Else", extra={"person": 7, "address": "203.0.113.9"})
    lines = [line for line in json_lines() if line["logger"].startswith("hits")]
    [login, other] = lines
    assert (login["person"], login["address"]) == (None, "203.0.113.9")
    assert "my password" not in str(json_lines())
    assert "person" not in other and "address" not in other


@pytest.mark.django_db
def test_exceptions_are_logged_without_the_row_they_quote(json_lines):
    make_worker("alice-of-prolific")
    try:
        Worker.objects.create(provider="link", external_id="alice-of-prolific")
    except IntegrityError:
        logging.getLogger("hits").exception("It failed.")
    [line] = [line for line in json_lines() if line["logger"] == "hits"]
    assert line["exception"] == "django.db.utils.IntegrityError"
    assert any("test_logs.py" in place for place in line["where"])
    assert "alice" not in str(line)


@pytest.mark.parametrize(("debug", "is_json"), [("1", False), ("0", True)])
def test_logs_are_json_except_in_development(debug, is_json):
    say = "import logging; logging.getLogger('hits').warning('now')"
    environment = {"DA_DEBUG": debug, "DA_SECRET_KEY": RANDOM_KEY, "DA_ALLOWED_HOSTS": "localhost"}
    done = manage("shell", "--verbosity", "0", "-c", say, **environment)
    assert done.stderr.splitlines()[-1].startswith("{") is is_json


def test_plain_lines_are_in_utc_in_any_time_zone():
    say = "import logging; logging.getLogger('hits').warning('now')"
    done = manage("shell", "--verbosity", "0", "-c", say, DA_DEBUG="1", TZ="Asia/Tokyo")
    logged_at = datetime.strptime(done.stderr[:19], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    assert done.stderr.endswith(" WARNING hits: now\n")
    assert abs(datetime.now(UTC) - logged_at) < timedelta(minutes=10)


@pytest.mark.django_db
def test_a_refused_page_is_logged_with_its_route(json_lines, client):
    client.force_login(User.objects.create_user("alice"))
    assert client.get(reverse("health")).status_code == 403
    [line] = [line for line in json_lines() if line.get("status") == 403]
    assert (line["level"], line["method"], line["route"]) == ("WARNING", "GET", "health/")


@pytest.mark.django_db
def test_rating_leaves_no_name_code_or_text_in_the_logs(json_lines, monkeypatch):
    # Queries contain everything; they are logged in tests, but not in production.
    monkeypatch.setattr(logging.getLogger("django.db.backends"), "propagate", False)
    alice = make_worker("alice-of-prolific")
    campaign = make_hits()
    assignment = take_assignment(campaign=campaign, worker=alice)
    client = Client(headers={"User-Agent": "tell-tale"}, REMOTE_ADDR="203.0.113.9")
    for name in ("rate", "finish", "done"):
        client.get(reverse(name, args=[assignment.code]) + "?PROLIFIC_PID=alice-of-prolific")
    client.post(reverse("landing", args=[campaign.code]))
    client.get("/alice-of-prolific/")
    lines = json_lines()
    assert any(line.get("status") == 404 for line in lines)
    for secret in ("alice-of-prolific", "203.0.113.9", "tell-tale", str(alice.code), "bridge"):
        assert secret not in json.dumps(lines, ensure_ascii=False), secret


@pytest.mark.django_db
class TestKeysInAddresses:
    """Some addresses contain a token, so the log names the page by its route."""

    @pytest.fixture(autouse=True)
    def _low_limits(self, settings):
        settings.ARRIVALS_PER_ADDRESS = 1
        settings.CLAIMS_PER_WORKER = 1

    def test_rate_limiting_an_invite_link_does_not_log_its_token(self, json_lines, lines, client):
        [new] = make_invites(campaign=make_hits(is_open=False), n=1, actor=None)
        client.get(reverse("join", args=[new.token]))
        assert client.get(reverse("join", args=[new.token])).status_code == 429
        assert "Rate limit exceeded at join/<str:token>/." in [
            line["message"] for line in json_lines()
        ]
        assert new.token not in str(json_lines())
        assert "WARNING django.request: Too Many Requests: /join/<str:token>/" in lines()
        assert new.token not in str(lines())

    def test_rate_limiting_in_a_frame_does_not_log_its_token(self, json_lines, lines, client):
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
        assert str(campaign.code) in str(json_lines())
        assert address.split("/")[2] not in str(json_lines())
        assert address.split("/")[2] not in str(lines())

    def test_an_unknown_address_is_not_logged(self, lines, client):
        client.get("/framed/a-token-é/nowhere/")
        assert "WARNING django.request: Not Found: an unknown URL" in lines()
