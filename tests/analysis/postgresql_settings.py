"""The tests' settings on the PostgreSQL server that DA_TEST_POSTGRESQL names."""

import os

os.environ["DA_TEST_DATABASE_URL"] = os.environ["DA_TEST_POSTGRESQL"]

from tests.settings import *  # noqa: E402, F403
