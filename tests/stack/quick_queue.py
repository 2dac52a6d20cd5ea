"""The platform's Celery app with a schedule of a few seconds, for short tests."""

from da_platform.celery import app

SECONDS = 3

for name in ("hits", "jobs"):
    app.conf.beat_schedule[name]["schedule"] = SECONDS
