"""A campaign, and an assignment that the worker in `client` has taken."""

import pytest

from hits.models import Assignment, Campaign
from tests.factories import make_hits
from tests.hits.worker.steps import enter, take


@pytest.fixture
def campaign() -> Campaign:
    return make_hits(min_ratings=3)


@pytest.fixture
def assignment(client, campaign) -> Assignment:
    enter(client, campaign)
    return take(client, campaign)
