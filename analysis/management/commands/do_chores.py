import json
from argparse import ArgumentParser
from collections import Counter
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analysis.nightly import do_nightly_chores
from da_platform.jobs.sweeping import sweep_jobs
from da_platform.operation.signs import give_sign
from hits.chores import do_chores


class Command(BaseCommand):
    help = (
        "Run the chores that the scheduler runs every minute: release abandoned assignments, compute "
        "missing evidence, restart lost jobs. Use it if you prefer cron. Running it again does no harm."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--nightly",
            action="store_true",
            help="also forget inactive workers, delete old logins and events, and build gold where there are new ratings",
        )
        parser.add_argument("--json", action="store_true", help="print the counts as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        counts = Counter(asdict(do_chores()))
        counts.update(sweep_jobs())
        give_sign("cron")
        if options["nightly"]:
            counts.update(do_nightly_chores())
        self._report(counts, as_json=options["json"])
        if n_failed := counts["n_chores_failed"]:
            raise CommandError(f"{n_failed} chores failed. See the log.")

    def _report(self, counts: Counter[str], *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(counts))
            return
        for name, n in counts.items():
            self.stdout.write(f"{name.removeprefix('n_').replace('_', ' '):<15} {n}")
