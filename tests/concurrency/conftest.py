from collections.abc import Iterator
from itertools import count

import pytest

from .databases import DATABASES, MakeDatabase
from .scenarios import close_stages

_numbers = count(1)


@pytest.fixture(
    scope="package",
    params=[
        "sqlite",
        "postgres",
        # Behind a pooler the statements are the same; `make check` runs them there too.
        pytest.param("pooled", marks=pytest.mark.slow),
    ],
)
def make_database(request: pytest.FixtureRequest) -> Iterator[MakeDatabase]:
    with DATABASES[request.param]() as make:
        yield make
        # Before the server stops to which they may be connected.
        close_stages()


@pytest.fixture
def database_url(make_database: MakeDatabase) -> str:
    """An empty migrated database: SQLite, PostgreSQL, or PostgreSQL behind a pooler."""
    return make_database(f"test_{next(_numbers)}")
