"""The platform's settings, with static files in the folder of the stack instead of the checkout."""

from da_platform.settings import *  # noqa: F403

STATIC_ROOT = DATA_DIR / "static"  # noqa: F405
