"""The platform's own settings, as a developer's machine has them, with nothing kept after the run."""

import os
import tempfile

# Set before the import below: whatever .env or the shell say, tests run on these.
os.environ.update(
    DA_DEBUG="1",
    DA_SECRET_KEY="only-for-tests",
    DA_DATA_DIR=tempfile.mkdtemp(prefix="da-tests-"),
)
os.environ.pop("DATABASE_URL", None)

from da_platform.settings import *  # noqa: E402, F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
