"""The platform's own settings; only its static files are collected in the stack's folder, not in the checkout."""

from da_platform.settings import *  # noqa: F403

STATIC_ROOT = DATA_DIR / "static"  # noqa: F405
