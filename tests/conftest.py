from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.postgres import postgres_database, postgres_server

# A busy machine is not a wrong result.
settings.register_profile("platform", deadline=None)
settings.load_profile("platform")


@pytest.fixture(scope="session")
def postgres_server_url(testrun_uid: str) -> Iterator[str]:
    """The address of a PostgreSQL that all workers of this run share."""
    with postgres_server(testrun_uid) as url:
        yield url


@pytest.fixture
def postgres_url(postgres_server_url: str) -> Iterator[str]:
    """The DATABASE_URL of an empty PostgreSQL database that only this test uses."""
    with postgres_database(postgres_server_url) as url:
        yield url
