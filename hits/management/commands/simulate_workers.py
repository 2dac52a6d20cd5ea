import json
from argparse import ArgumentParser, ArgumentTypeError
from collections import Counter
from dataclasses import asdict
from itertools import chain
from typing import Any

from django.core.management.base import CommandError

from da_platform.exceptions import PlatformError
from hits.campaigns.simulation import is_for_people, simulate_workers
from hits.management.base import CommandWithExamples, campaign_named, progress_bar
from hits.models import Campaign
from hits.task_facts import known_tasks
from hits.task_kinds import TaskKind, kind_of, kind_of_task

# The kinds of workers of each task.
KNOWN = {task: list(kind_of_task(task).behaviours) for task in known_tasks()}


ALL_NAMES = list(dict.fromkeys(chain.from_iterable(KNOWN.values())))


def crowd_of(text: str) -> Counter[str]:
    """Parse `honest=10,random=5`."""
    crowd: Counter[str] = Counter()
    for part in text.split(","):
        name, _, count = part.strip().partition("=")
        if not any(name in names for names in KNOWN.values()):
            raise ArgumentTypeError(
                f"{name!r} is not a kind of worker. Choose from: {', '.join(ALL_NAMES)}."
            )
        if not count.isdecimal():
            raise ArgumentTypeError(f"{part.strip()!r}: write a number, as in {name}=10.")
        crowd[name] += int(count)
    return crowd


def whole_number(text: str) -> int:
    if not text.isdecimal():
        raise ArgumentTypeError(f"{text!r} is not a whole number.")
    return int(text)


def kinds_by_task() -> str:
    tasks: dict[str, list[str]] = {}
    for task, names in KNOWN.items():
        tasks.setdefault(", ".join(names), []).append(task)
    return "\n".join(f"kinds for {', '.join(own)}: {names}" for names, own in tasks.items())


class Command(CommandWithExamples):
    help = "Let simulated workers rate an open campaign, through the same services as real ones."
    examples = (
        f"{kinds_by_task()}\n\nexample: simulate_workers demo --crowd honest=12,random=4 --seed 1"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="the campaign's name")
        parser.add_argument(
            "--crowd",
            type=crowd_of,
            metavar="KIND=N,...",
            help=f"how many workers of each kind (default: {TaskKind.usual_crowd}, or what suits the task)",
        )
        parser.add_argument(
            "--hits",
            type=whole_number,
            default=1,
            help="assignments per worker, each of another HIT (default: 1)",
        )
        parser.add_argument("--seed", type=whole_number, default=1, help="default: 1")
        parser.add_argument(
            "--even-if-real",
            action="store_true",
            help="also in a campaign that pays or has real workers",
        )
        parser.add_argument("--json", action="store_true", help="print the summary as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_named(options["campaign"])
        if campaign.status != Campaign.Status.OPEN:
            raise CommandError(
                f"{campaign.name} is {campaign.status}; workers can only take part in an open campaign."
            )
        if is_for_people(campaign) and not options["even_if_real"]:
            raise CommandError(
                f"{campaign.name} pays or has real workers: simulated ratings could never be separated from "
                "theirs. Nothing was done. Use --even-if-real to do it anyway."
            )
        behaviours = kind_of(campaign).behaviours
        crowd = options["crowd"] or crowd_of(kind_of(campaign).usual_crowd)
        if unknown := set(crowd) - set(behaviours):
            raise CommandError(
                f"{campaign.name} has no workers of the kind {', '.join(sorted(unknown))}. "
                f"Choose from: {', '.join(behaviours)}."
            )
        try:
            with progress_bar(unit="ratings") as progress:
                summary = simulate_workers(
                    campaign=campaign,
                    crowd={behaviours(name): n for name, n in crowd.items()},
                    hits_per_worker=options["hits"],
                    seed=options["seed"],
                    progress=progress,
                )
        except PlatformError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps(asdict(summary)))
        else:
            self.stdout.write(
                f"{summary.n_workers} workers did {summary.n_assignments} assignments "
                f"and gave {summary.n_ratings} ratings."
            )
