import json
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from da_platform.exceptions import PlatformError
from da_platform.jobs.kinds import known_kinds
from da_platform.jobs.running import start_job
from hits.management.base import campaign_named
from hits.management.job_output import report_on, wait_for


def argument(text: str) -> tuple[str, Any]:
    """Parse `rebuild=true`: the value is JSON if possible, otherwise text."""
    name, separator, value = text.partition("=")
    if not separator:
        raise ArgumentTypeError(f"{text!r}: write NAME=VALUE.")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


class Command(BaseCommand):
    help = "Start a job, which a Celery worker then runs."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("kind", help=f"one of {', '.join(sorted(known_kinds()))}")
        parser.add_argument("--campaign", metavar="NAME", help="the campaign it is about")
        parser.add_argument(
            "--argument",
            type=argument,
            action="append",
            default=[],
            metavar="NAME=VALUE",
            dest="given",
            help="an argument of the job, such as rebuild=true; can be repeated",
        )
        parser.add_argument(
            "--wait",
            action="store_true",
            help="wait until it is finished; Ctrl-C leaves it running",
        )
        parser.add_argument("--json", action="store_true", help="print the job as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_named(options["campaign"]) if options["campaign"] else None
        try:
            job = start_job(
                kind=options["kind"], campaign=campaign, arguments=dict(options["given"])
            )
        except PlatformError as error:
            raise CommandError(str(error)) from error
        if options["wait"]:
            wait_for(job)
        self.stdout.write(report_on(job, as_json=options["json"]))
