import pytest


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> dict[str, str]:
    """The environment of a fuzzer on SQLite and on PostgreSQL, which refuse different values."""
    if request.param == "sqlite":
        return {}
    return {"DA_TEST_DATABASE_URL": request.getfixturevalue("postgres_url")}
