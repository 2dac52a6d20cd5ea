"""The platform's own settings, as a developer's machine has them, with nothing kept after the run."""

import os
import tempfile

# Held by a name: the folder is removed with the process that made it.
_data_folder = tempfile.TemporaryDirectory(prefix="da-tests-", ignore_cleanup_errors=True)

# Set before the import below: whatever .env or the shell say, tests run on these.
os.environ.update(
    DA_ENV_FILE=os.devnull,
    DA_DEBUG="1",
    DA_SECRET_KEY="only-for-tests",
    DA_DATA_DIR=_data_folder.name,
)
# The embedded database, unless tests/test_postgresql.py says otherwise: never the developer's own.
os.environ["DATABASE_URL"] = os.environ.get("DA_TEST_DATABASE_URL", "")

from da_platform.settings import *  # noqa: E402, F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

# A file, not SQLite's memory: there the live server of the browser tests would have to share one
# connection, and so one transaction, between all its threads.
if not os.environ["DATABASE_URL"]:
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}  # noqa: F405

# Static files come from the apps' own folders; whitenoise warns when there is nowhere to collect them.
STATIC_ROOT = DATA_DIR / "static"  # noqa: F405
STATIC_ROOT.mkdir()
# Each client of a test would list them all at its start; so they are looked up when asked for.
WHITENOISE_AUTOREFRESH = True
