import json
from argparse import ArgumentParser
from collections import Counter
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analysis.jobs import sweep_jobs
from analysis.nightly import do_nightly_chores
from da_platform.operation.signs import give_sign
from hits.chores import do_chores


class Command(BaseCommand):
    help = (
        "Do what the schedule does every minute, for those who prefer cron: offer abandoned places again, "
        "weigh evidence that is missing, start lost jobs again. It can be run at any time, and twice."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--nightly",
            action="store_true",
            help="also forget inactive workers, drop old logins and traces, and start gold jobs where ratings are new",
        )
        parser.add_argument("--json", action="store_true", help="print the counts as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        counts = Counter(asdict(do_chores()))
        counts.update(sweep_jobs())
        give_sign("cron")
        if options["nightly"]:
            counts.update(do_nightly_chores())
        self._tell(counts, as_json=options["json"])
        if n_failed := counts["n_chores_failed"]:
            raise CommandError(f"{n_failed} of the chores failed; the log says why.")

    def _tell(self, counts: Counter[str], *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(counts))
            return
        for name, n in counts.items():
            self.stdout.write(f"{name.removeprefix('n_').replace('_', ' '):<15} {n}")
