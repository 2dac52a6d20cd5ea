from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from hits.exceptions import ForgettingRefused
from hits.models import Worker
from hits.workers.forgetting import find_worker, forget_inactive_workers, forget_worker


class Command(BaseCommand):
    help = (
        "Remove what could identify a worker: one who asks (--code, or --provider and --id), some by our own "
        "numbers (--number), or all who have been inactive for DA_FORGET_WORKERS_AFTER_DAYS. Ratings stay. "
        "It is safe to run twice."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--code", default="", help="the code that the privacy notice shows")
        parser.add_argument(
            "--provider", default="", help="where the worker came from, such as link or prolific"
        )
        parser.add_argument("--id", default="", help="the worker's id there")
        parser.add_argument(
            "--number",
            type=int,
            nargs="+",
            help="our own numbers of workers, as printed here and in the audit log: to forget them again "
            "after a restore",
        )
        parser.add_argument("--reason", default="on request", help="for the audit log")
        parser.add_argument(
            "--even-if-owed",
            action="store_true",
            help="forget a worker even if they are owed money, which can then no longer be paid",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["number"]:
            self._forget_again(options)
            return
        if not (options["code"] or options["id"]):
            self.stdout.write(f"{forget_inactive_workers():,} inactive workers forgotten")
            return
        if options["id"] and not options["provider"]:
            raise CommandError("An --id needs a --provider.")
        try:
            worker = find_worker(
                provider=options["provider"], external_id=options["id"], code=options["code"]
            )
            _forget(worker, options)
        except ForgettingRefused as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(f"1 worker forgotten: number {worker.pk}")

    def _forget_again(self, options: dict[str, Any]) -> None:
        """Forget these workers again; list those that could not be forgotten at the end."""
        workers = list(Worker.objects.filter(pk__in=options["number"], forgotten_at=None))
        refusals = []
        for worker in workers:
            try:
                _forget(worker, options)
            except ForgettingRefused as refusal:
                refusals.append(f"{worker.pk}: {refusal}")
        self.stdout.write(f"{len(workers) - len(refusals):,} workers forgotten")
        if refusals:
            raise CommandError("\n".join(refusals))


def _forget(worker: Worker, options: dict[str, Any]) -> None:
    forget_worker(worker=worker, reason=options["reason"], even_if_owed=options["even_if_owed"])
