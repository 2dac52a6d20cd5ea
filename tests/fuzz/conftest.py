import pytest


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> dict[str, str]:
    """What makes a fuzzer work on one database or the other: they take offence at different things."""
    if request.param == "sqlite":
        return {}
    return {"DA_TEST_DATABASE_URL": request.getfixturevalue("postgres_url")}
