from collections.abc import Iterator
from typing import Any

import pytest
import time_machine
from django.db import connection, transaction
from hypothesis import settings as hypothesis_settings
from xdist.scheduler import LoadGroupScheduling

from tests.migrated import migrated_database
from tests.postgres import postgres_database, postgres_server
from tests.simulators.prolific import SECRET, TOKEN, ProlificSimulator

# Tests must not fail on a busy machine.
hypothesis_settings.register_profile("platform", deadline=None)
hypothesis_settings.load_profile("platform")


class ByFile(LoadGroupScheduling):
    """Gives the tests of a file to one process, so that what they share is set up once; groups come first."""

    def _split_scope(self, nodeid: str) -> str:
        group = super()._split_scope(nodeid)
        return nodeid.partition("::")[0] if group == nodeid else group


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile | None:
    if config.option.dist != "loadgroup":
        return None
    config.option.loadscopereorder = False
    return ByFile(config, log)


# Tests that start browsers, servers and other processes, or watch the clock. On a busy machine one of thousands may meet
# a moment that its author did not think of, so each has a second try, which the summary lists. Tests of concurrency and
# secrecy have none: what fails there only now and then is a fault.
SECOND_TRY = ("browser", "help", "operation", "test_examples.py", "test_make.py")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let groups, the longest units of work, come first, so that all processes end at the same time."""
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)
    tests = config.rootpath / "tests"
    for item in items:
        if item.path.is_relative_to(tests) and item.path.relative_to(tests).parts[0] in SECOND_TRY:
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """Keep the test database that `django_db_modify_db_settings` has created."""
    return connection.vendor == "sqlite"


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    if connection.vendor == "sqlite":
        migrated_database(f"sqlite:///{connection.settings_dict['TEST']['NAME']}")


@pytest.fixture(scope="session")
def postgres_server_url(testrun_uid: str) -> Iterator[str]:
    """The URL of a PostgreSQL server that all pytest workers of this run share."""
    with postgres_server(testrun_uid) as url:
        yield url


@pytest.fixture
def postgres_url(postgres_server_url: str) -> Iterator[str]:
    """The DATABASE_URL of an empty PostgreSQL database for one test."""
    with postgres_database(postgres_server_url) as url:
        yield url


@pytest.fixture(scope="module")
def shared_rows(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Lets module-scoped fixtures make rows that all tests of the module see.

    A test undoes only its own changes, and the rows are gone after the last one.
    """
    with django_db_blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture(autouse=True)
def _emptied_audit_log(request: pytest.FixtureRequest) -> Iterator[None]:
    """Empty the append-only audit log after a test that commits."""
    marker = request.node.get_closest_marker("django_db")
    commits = {"transactional_db", "live_server"} & set(request.fixturenames)
    if not commits and not (marker and marker.kwargs.get("transaction")):
        yield
        return
    # Set up first and torn down last, so that the log is empty when the tables are flushed.
    request.getfixturevalue("transactional_db")
    yield
    from tests.audit_log import empty_audit_log

    empty_audit_log()


@pytest.fixture
def stopped_clock() -> Iterator[time_machine.Traveller]:
    """A clock that only moves when a test moves it, so that no rate limit expires between requests."""
    with time_machine.travel("2026-03-02 10:05:00+00:00", tick=False) as clock:
        yield clock


@pytest.fixture
def prolific(settings: Any) -> Iterator[ProlificSimulator]:
    """A simulator of Prolific; the test fails if it receives an invalid request."""
    simulator = ProlificSimulator()
    settings.PROLIFIC_API_URL = settings.PROLIFIC_APP_URL = simulator.url
    settings.PROLIFIC_KEYS_URL = f"{simulator.url}/.well-known/study/jwks.json"
    settings.PROLIFIC_API_TOKEN = TOKEN
    settings.PROLIFIC_WEBHOOK_SECRET = SECRET
    yield simulator
    simulator.stop()
    assert simulator.violations == []
