"""What commands share: examples in their help, common arguments, summaries and progress bars."""

import argparse
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import (
    BaseCommand,
    CommandError,
    CommandParser,
    DjangoHelpFormatter,
)
from tqdm import tqdm

from da_platform.files.mending import ENCODINGS
from da_platform.places import PROGRAM
from hits.campaigns.importing import MAX_LISTED, ImportSummary
from hits.models import Campaign
from hits.task_facts import known_tasks


class HelpFormatter(DjangoHelpFormatter, argparse.RawDescriptionHelpFormatter):
    """Keeps the line breaks of texts."""


class CommandWithExamples(BaseCommand):
    """A command whose help ends with examples."""

    examples = ""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        # Examples are written for a checkout. With `da`, commands have other names.
        names = {"manage.py": prog_name, self.__module__.rpartition(".")[2]: subcommand}
        examples = self.examples if prog_name == "manage.py" else _renamed(self.examples, names)
        parser = super().create_parser(prog_name, subcommand, epilog=examples, **kwargs)
        parser.formatter_class = HelpFormatter
        return parser


def _renamed(examples: str, names: Mapping[str, str]) -> str:
    for name, shown in names.items():
        examples = re.sub(rf"(?<![\w/]){re.escape(name)}(?= )", shown, examples)
    return examples


def add_campaign_arguments(parser: CommandParser) -> None:
    """Add what every new campaign needs: its name, its languages and what workers rate."""
    parser.add_argument("--name", required=True, help="the name of the campaign")
    parser.add_argument(
        "--source-language", "--from", required=True, metavar="CODE", help="such as cs"
    )
    parser.add_argument(
        "--target-language", "--to", required=True, metavar="CODE", help="such as en or pt-BR"
    )
    parser.add_argument(
        "--task",
        choices=list(known_tasks()),
        default=Campaign.Task.REFERENCE_ADEQUACY.value,
        help="what workers do: rate adequacy against the reference (default) or the source, or fluency, or edit",
    )


def summary_as_json(summary: Any) -> str:
    """A summary of what was stored in a campaign, as JSON."""
    campaign = summary.campaign
    facts = {field.name: getattr(summary, field.name) for field in fields(summary)}
    values = facts | {"campaign": str(campaign.code), "name": campaign.name}
    # What was mended is a sentence each.
    return json.dumps(values, ensure_ascii=False, indent=2, default=str)


def add_reading_arguments(parser: CommandParser) -> None:
    """Add how to read files that are not quite in order."""
    parser.add_argument(
        "--clean",
        action="store_true",
        help="remove byte order marks, CR LF and control characters, normalise texts to NFC, and list it all",
    )
    parser.add_argument(
        "--encoding",
        choices=ENCODINGS,
        default="",
        metavar="NAME",
        help="how to read what is not UTF-8, such as windows-1252",
    )
    parser.add_argument(
        "--allow-empty-translations",
        action="store_true",
        help="accept a system's empty outputs; they are rated like any other",
    )
    parser.add_argument(
        "--allow-missing-translations",
        action="store_true",
        help="accept that not every system has every segment",
    )


def reading_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return what `add_reading_arguments` added."""
    names = ("clean", "encoding", "allow_empty_translations", "allow_missing_translations")
    return {name: options[name] for name in names}


def lines_on_reading(summary: ImportSummary) -> list[str]:
    """The notes of an import, and the first of the mends."""
    lines = [f"Note: {note}." for note in summary.notes]
    if summary.n_mends:
        lines.append(f"Mended: {summary.n_mends:,}. The campaign's import report lists them all.")
        lines += [f"  {mend}" for mend in summary.mends[:MAX_LISTED]]
    if (n_more := summary.n_mends - MAX_LISTED) > 0:
        lines.append(f"  … and {n_more:,} more")
    return lines


def password_lines(user: User, password: str) -> str:
    """What to tell the first admin."""
    program = f".venv/bin/python {PROGRAM}" if settings.IS_CHECKOUT else PROGRAM
    return (
        f"Log in as {user.username} with the password {password}\n"
        f"      It is shown only once. To change it: {program} changepassword {user.username}\n"
    )


def campaign_named(name: str) -> Campaign:
    try:
        return Campaign.objects.get(name=name)
    except Campaign.DoesNotExist:
        names = list(Campaign.objects.order_by("name").values_list("name", flat=True)[:20])
        hint = f"Choose from: {', '.join(names)}." if names else "There are none yet."
        raise CommandError(f"There is no campaign named {name!r}. {hint}") from None


@contextmanager
def progress_bar(*, unit: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Show a progress bar if standard error is a terminal; yield a function that advances it."""
    with tqdm(total=total, unit=f" {unit}", disable=None, leave=False) as bar:

        def advance(n: int) -> None:
            bar.update(n)

        yield advance
