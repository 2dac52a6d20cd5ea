"""A connection that was kept is noticed to be dead before it is used, without a question each time."""

import os
import signal
import socket
import time
from collections.abc import Iterator

import psycopg
import pytest
from django.db import OperationalError
from django.db.utils import load_backend
from environ import Env

from da_platform.postgresql.base import TRUSTED_SECONDS, DatabaseWrapper
from tests.waiting import eventually


@pytest.fixture
def kept(postgres_url: str, django_db_blocker) -> Iterator[DatabaseWrapper]:
    """A connection with the settings of production, between two requests."""
    settings = Env.db_url_config(postgres_url)
    settings |= {"CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True, "TIME_ZONE": None}
    settings |= {
        "AUTOCOMMIT": True,
        "ATOMIC_REQUESTS": False,
        "OPTIONS": settings.get("OPTIONS", {}),
    }
    wrapper = load_backend("da_platform.postgresql").DatabaseWrapper(settings, "kept")
    with django_db_blocker.unblock():
        ask(wrapper)
        yield wrapper
        wrapper.close()


def ask(wrapper: DatabaseWrapper) -> int:
    with wrapper.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    return pid


def next_request(wrapper: DatabaseWrapper) -> int:
    wrapper.close_if_unusable_or_obsolete()
    return ask(wrapper)


def end(pid: int, server_url: str) -> None:
    """End one of the server's processes as it does itself when it is shut down."""
    os.kill(pid, signal.SIGTERM)

    def is_gone() -> bool:
        with psycopg.connect(server_url) as other:
            left = other.execute("SELECT 1 FROM pg_stat_activity WHERE pid = %s", [pid])
            return left.fetchone() is None

    eventually(is_gone)


def statements_of(wrapper: DatabaseWrapper, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    sent: list[str] = []
    cursor_class = wrapper.connection.cursor_factory

    class Watched(cursor_class):
        def execute(self, query, *args, **kwargs):
            sent.append(query)
            return super().execute(query, *args, **kwargs)

    monkeypatch.setattr(wrapper.connection, "cursor_factory", Watched)
    return sent


def socket_that_was_closed() -> int:
    one, other = socket.socketpair()
    other.close()
    return one.detach()


def test_a_connection_in_use_is_kept_without_a_question(kept, monkeypatch):
    sent, pid = statements_of(kept, monkeypatch), ask(kept)
    assert [next_request(kept) for _ in range(3)] == [pid] * 3
    assert "SELECT 1" not in sent


def test_one_that_has_rested_is_asked_once(kept, monkeypatch):
    sent, pid = statements_of(kept, monkeypatch), ask(kept)
    monkeypatch.setattr(kept, "_answered_at", time.monotonic() - TRUSTED_SECONDS)
    assert [next_request(kept) for _ in range(3)] == [pid] * 3
    assert sent.count("SELECT 1") == 1


def test_one_that_the_server_ended_is_replaced(kept, postgres_server_url):
    pid = ask(kept)
    end(pid, postgres_server_url)
    assert next_request(kept) != pid


def test_one_that_was_cut_off_without_a_word_is_replaced(kept):
    pid = ask(kept)
    # The socket leads nowhere now, as after a server that crashed.
    os.dup2(socket_that_was_closed(), kept.connection.fileno())
    assert next_request(kept) != pid


def test_after_an_error_it_is_asked(kept, monkeypatch):
    sent = statements_of(kept, monkeypatch)
    with pytest.raises(OperationalError), kept.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 1; SELECT pg_sleep(5)")
    next_request(kept)
    assert sent.count("SELECT 1") == 1


def test_a_server_that_is_away_is_an_error_and_not_a_dead_connection(kept, postgres_server_url):
    end(ask(kept), postgres_server_url)
    kept.settings_dict = kept.settings_dict | {"HOST": "/nowhere", "OPTIONS": {}}
    with pytest.raises(OperationalError):
        next_request(kept)
    assert kept.connection is None
