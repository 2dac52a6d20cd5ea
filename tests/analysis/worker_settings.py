"""Settings of worker processes in tests: shorter intervals, and the tests' job kinds."""

from da_platform.settings import *  # noqa: F403
from da_platform.settings import CELERY_BROKER_TRANSPORT_OPTIONS, JOB_MODULES

SIGN_SECONDS = 1
JOB_MODULES += ["tests.analysis.slow_jobs"]
CELERY_BROKER_TRANSPORT_OPTIONS["unacked_restore_interval"] = 1
