"""A dead persistent connection is noticed before it is used, without a query for each request."""

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
def wrapper(postgres_url: str, django_db_blocker) -> Iterator[DatabaseWrapper]:
    """A database wrapper with production settings and an open connection."""
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
    """End one of the server's processes, as a shutdown does."""
    os.kill(pid, signal.SIGTERM)

    def is_gone() -> bool:
        with psycopg.connect(server_url) as other:
            rows = other.execute("SELECT 1 FROM pg_stat_activity WHERE pid = %s", [pid])
            return rows.fetchone() is None

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
    near, far = socket.socketpair()
    far.close()
    return near.detach()


def test_a_connection_in_use_is_kept_without_a_query(wrapper, monkeypatch):
    sent, pid = statements_of(wrapper, monkeypatch), ask(wrapper)
    assert [next_request(wrapper) for _ in range(3)] == [pid] * 3
    assert "SELECT 1" not in sent


def test_an_idle_connection_is_checked_once(wrapper, monkeypatch):
    sent, pid = statements_of(wrapper, monkeypatch), ask(wrapper)
    monkeypatch.setattr(wrapper, "_answered_at", time.monotonic() - TRUSTED_SECONDS)
    assert [next_request(wrapper) for _ in range(3)] == [pid] * 3
    assert sent.count("SELECT 1") == 1


def test_a_connection_ended_by_the_server_is_replaced(wrapper, postgres_server_url):
    pid = ask(wrapper)
    end(pid, postgres_server_url)
    assert next_request(wrapper) != pid


def test_a_connection_that_was_cut_off_is_replaced(wrapper):
    pid = ask(wrapper)
    # The other end of the socket is closed, as after a crash of the server.
    os.dup2(socket_that_was_closed(), wrapper.connection.fileno())
    assert next_request(wrapper) != pid


def test_a_connection_is_checked_after_an_error(wrapper, monkeypatch):
    sent = statements_of(wrapper, monkeypatch)
    with pytest.raises(OperationalError), wrapper.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 1; SELECT pg_sleep(5)")
    next_request(wrapper)
    assert sent.count("SELECT 1") == 1


def test_a_server_that_is_down_raises_an_error(wrapper, postgres_server_url):
    end(ask(wrapper), postgres_server_url)
    wrapper.settings_dict = wrapper.settings_dict | {"HOST": "/nowhere", "OPTIONS": {}}
    with pytest.raises(OperationalError):
        next_request(wrapper)
    assert wrapper.connection is None
