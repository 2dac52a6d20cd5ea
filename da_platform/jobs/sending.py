"""Tell the queue that a job is waiting."""

from functools import partial

from django.db import transaction

from ..sending import enqueue
from .models import Job


def send(job: Job) -> None:
    """Send the job to a worker once the transaction has committed."""
    transaction.on_commit(partial(enqueue, "jobs.run_job", job.pk))
