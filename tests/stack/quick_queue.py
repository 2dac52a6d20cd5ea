"""The platform's queue, whose schedule comes by every few seconds: for a test that has no minutes."""

from da_platform.celery import app

SECONDS = 3

for name in ("hits", "jobs"):
    app.conf.beat_schedule[name]["schedule"] = SECONDS
