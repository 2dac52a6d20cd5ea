from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job
from hits.management.job_output import job_bar, report_on


class Command(BaseCommand):
    help = "Run a waiting job here and now instead of in a Celery worker. Ctrl-C cancels it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("code", type=UUID, help="the job's code, as start_job prints it")
        parser.add_argument("--json", action="store_true", help="print the job as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        job = Job.objects.filter(code=options["code"]).first()
        if job is None:
            raise CommandError(f"There is no job {options['code']}.")
        with job_bar(job) as move:
            done = run_job(job.pk, listener=move)
        if done is None:
            job.refresh_from_db()
            raise CommandError(f"The job is {job.state}; only a waiting job can be run.")
        self.stdout.write(report_on(done, as_json=options["json"]))
