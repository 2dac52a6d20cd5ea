"""The tests' settings on the PostgreSQL server that DA_TEST_POSTGRESQL names."""

import os

import environ

from tests.settings import *  # noqa: F403

DATABASES = {"default": environ.Env.db_url_config(os.environ["DA_TEST_POSTGRESQL"])}
