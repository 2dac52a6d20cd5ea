"""The platform's settings for development, with temporary data."""

import os
import tempfile

# The name keeps the folder until the process ends.
_data_folder = tempfile.TemporaryDirectory(prefix="da-tests-", ignore_cleanup_errors=True)

# Set before the import below, so that .env and the shell do not matter.
os.environ.update(
    DA_ENV_FILE=os.devnull,
    DA_DEBUG="1",
    DA_SECRET_KEY="only-for-tests",
    DA_DATA_DIR=_data_folder.name,
)
# SQLite, unless a test sets another database; never the developer's own.
os.environ["DATABASE_URL"] = os.environ.get("DA_TEST_DATABASE_URL", "")

from da_platform.settings import *  # noqa: E402, F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

# A file, because with an in-memory database all threads of the live server would share one transaction.
if not os.environ["DATABASE_URL"]:
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}  # noqa: F405
    # The data are temporary and need not be safe on disk.
    DATABASES["default"]["OPTIONS"]["init_command"] = (  # noqa: F405
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;"
    )

# Whitenoise warns if this folder does not exist.
STATIC_ROOT = DATA_DIR / "static"  # noqa: F405
STATIC_ROOT.mkdir()
# Find static files when they are requested, instead of listing them all for each test client.
WHITENOISE_AUTOREFRESH = True
