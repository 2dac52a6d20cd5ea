import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand

from analysis.jobs import sweep_jobs
from analysis.nightly import start_nightly_jobs
from da_platform.operation.signs import give_sign
from hits.chores import do_chores


class Command(BaseCommand):
    help = (
        "Do what the schedule does every minute, for those who prefer cron: offer abandoned places again, "
        "weigh evidence that is missing, start lost jobs again. It can be run at any time, and twice."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--nightly", action="store_true", help="also start gold jobs where ratings are new"
        )
        parser.add_argument("--json", action="store_true", help="print the counts as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        counts = asdict(do_chores()) | sweep_jobs()
        give_sign("cron")
        if options["nightly"]:
            counts["n_gold_jobs"] = start_nightly_jobs()
        if options["json"]:
            self.stdout.write(json.dumps(counts))
            return
        for name, n in counts.items():
            self.stdout.write(f"{name.removeprefix('n_').replace('_', ' '):<10} {n}")
