"""Create a campaign from files."""

import argparse
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from hits.campaigns.importing import FORMATS, ImportSummary, import_campaign
from hits.exceptions import ImportRefused
from hits.management.base import (
    CommandWithExamples,
    add_campaign_arguments,
    add_reading_arguments,
    lines_on_reading,
    progress_bar,
    reading_options,
    summary_as_json,
)
from hits.models import DEFAULT_HITS_PER_WORKER, Campaign
from hits.models.campaigns import interface_languages

EXAMPLES = """\
examples:
  A folder of plain text files:
    manage.py import_campaign newstest/ --name "News cs-en" --from cs --to en

  A table, rated by bilinguals against the source, paid 1.50 EUR a HIT:
    manage.py import_campaign outputs.tsv --name Medical --from en --to de \\
        --task source --pay 1.50 --currency EUR

  A WMT test set that has two references:
    manage.py import_campaign newstest2021.en-de.all.xml --name WMT21 --from en --to de \\
        --reference A

  Published files with byte order marks, stray bytes and control characters:
    manage.py import_campaign newstest2013/ --name WMT13 --from cs --to en \\
        --clean --encoding windows-1252

Nothing is stored unless every file is in order. docs/campaign-files.md describes the formats.
"""

# Options that are fields of the campaign; one not given leaves the field at its default.
SETTINGS = (
    "shows",
    "presentation",
    "run_length",
    "hit_size",
    "outputs_per_screen",
    "output_choice",
    "judgements_per_pair",
    "min_ratings",
    "sample_size",
    "sample_choice",
    "n_looks",
    "looks_goal",
    "looks_width",
    "looks_alpha",
    "looks_spending",
    "looks_least_chance",
    "seed",
    "pay_per_hit",
    "currency",
    "spending_cap",
    "lease_minutes",
    "run_by",
    "contact",
    "interface_language",
    "degradation",
    "trust_rule",
    "drift",
)
# Options that turn a setting on or off.
SWITCHES = {
    "scores_documents": (
        "--document-score",
        True,
        "in documents, also ask for a score of the whole after the last segment",
    ),
    "shows_gray_references": (
        "--gray-references",
        True,
        "with balanced degradation, also rate a few references that equal the gray text",
    ),
    "records_signals": (
        "--no-signals",
        False,
        "do not record how items were rated (counts of clicks, keys and touches)",
    ),
    "has_canary": (
        "--canary",
        True,
        "hide an instruction on the page that only a program would follow",
    ),
}
NO_LIMIT = 0


def _default(setting: str) -> Any:
    return getattr(Campaign(), setting)


class Command(CommandWithExamples):
    help = "Create a campaign from a folder or file of sources, references and translations."
    examples = EXAMPLES

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, help="the folder or the file")
        add_campaign_arguments(parser)
        self._add_file_arguments(parser)
        self._add_setting_arguments(parser)
        self._add_worker_arguments(parser)
        parser.add_argument("--json", action="store_true", help="print the summary as JSON")

    def _add_file_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--format", choices=FORMATS, help="if it is not detected correctly")
        parser.add_argument(
            "--reference", metavar="NAME", help="which reference to show, if there are several"
        )
        parser.add_argument(
            "--second-reference",
            metavar="NAME",
            help="which one to hide among the translations (default: the first of the others)",
        )
        parser.add_argument(
            "--ignore-columns",
            type=_names,
            default=(),
            metavar="NAME,NAME",
            help="columns of a table to leave out",
        )
        add_reading_arguments(parser)

    def _add_setting_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--shows",
            choices=Campaign.Shows.values,
            help="what editors see next to the text (default: the reference); for --task edit",
        )
        parser.add_argument(
            "--presentation",
            choices=Campaign.Presentation.values,
            help="how rated translations are shown: alone (default), in their document, or side by side",
        )
        parser.add_argument(
            "--run-length",
            type=int,
            metavar="N",
            help=f"in documents: segments that are rated in a row, at most (default: {_default('run_length')})",
        )
        parser.add_argument(
            "--hit-size", type=int, metavar="N", help="items in a HIT; for ranking, screens"
        )
        parser.add_argument(
            "--outputs-per-screen",
            type=int,
            metavar="N",
            help=f"for ranking and side by side: outputs shown together, from 2 to 5 (default: {_default('outputs_per_screen')})",
        )
        parser.add_argument(
            "--output-choice",
            choices=Campaign.OutputChoice.values,
            help="for ranking: random outputs (default), or first those of systems whose rank ranges overlap",
        )
        parser.add_argument(
            "--judgements-per-pair",
            type=int,
            metavar="N",
            help="for ranking: the most trusted judgements that a pair of systems gets",
        )
        parser.add_argument(
            "--min-ratings", type=int, metavar="N", help="trusted ratings each translation needs"
        )
        parser.add_argument(
            "--sample",
            type=int,
            dest="sample_size",
            metavar="N",
            help="rate N translations, drawn at random from all systems and segments; keep the others",
        )
        parser.add_argument(
            "--sample-choice",
            choices=Campaign.SampleChoice.values,
            help="which translations --sample draws: random (default); stratified, spread evenly over lengths and "
            "documents; differing or metrics, more often where the systems' texts, or metrics, differ",
        )
        parser.add_argument(
            "--looks",
            type=int,
            dest="n_looks",
            metavar="N",
            help="test the ranking after each of N parts of the segments, and stop when it is decided",
        )
        parser.add_argument(
            "--looks-goal",
            choices=Campaign.Goal.values,
            help="what looks decide: ranking of systems (default), or gold scores of translations",
        )
        parser.add_argument(
            "--looks-width",
            type=float,
            metavar="Z",
            help=f"for gold: the standard error at which a score is certain enough (default: {_default('looks_width')})",
        )
        parser.add_argument(
            "--looks-alpha",
            type=float,
            metavar="P",
            help=f"chance of any wrong conclusion, over all pairs and looks (default: {_default('looks_alpha')})",
        )
        parser.add_argument(
            "--looks-spending",
            choices=Campaign.Spending.values,
            help=f"how strict early looks are (default: {_default('looks_spending')})",
        )
        parser.add_argument(
            "--looks-least-chance",
            type=float,
            metavar="P",
            help=f"give up pairs with less chance than this to be decided by the last look (default: {_default('looks_least_chance')})",
        )
        parser.add_argument(
            "--seed", type=int, metavar="N", help="the same seed gives the same HITs"
        )
        parser.add_argument(
            "--pay", type=_money, dest="pay_per_hit", metavar="AMOUNT", help="for each HIT"
        )
        parser.add_argument("--currency", metavar="CODE", help="ISO 4217, such as EUR")
        parser.add_argument(
            "--spending-cap",
            type=_money,
            metavar="AMOUNT",
            help="hand out no more HITs once this much is owed",
        )
        parser.add_argument(
            "--lease-minutes",
            type=int,
            metavar="N",
            help="how long a worker may take before the place is offered to someone else",
        )
        for name, (flag, value, text) in SWITCHES.items():
            parser.add_argument(flag, dest=name, action="store_const", const=value, help=text)
        parser.add_argument(
            "--merge-near-identical",
            action="store_true",
            help="rate translations that differ only in case, punctuation or white space once",
        )

    def _add_worker_arguments(self, parser: CommandParser) -> None:
        """Add what workers see, and how they are judged."""
        parser.add_argument("--run-by", metavar="NAME", help="who runs it, as workers see it")
        parser.add_argument(
            "--contact", metavar="ADDRESS", help="where workers can write to, as they see it"
        )
        parser.add_argument(
            "--interface-language",
            choices=[code for code, _ in interface_languages()],
            help="for buttons and messages (default: the target language, or English)",
        )
        parser.add_argument(
            "--degradation",
            choices=Campaign.Degradation.values,
            help=f"how degraded texts are made (default: {_default('degradation')})",
        )
        parser.add_argument(
            "--trust-rule",
            choices=Campaign.TrustRule.values,
            help=f"how evidence about a worker becomes a verdict (default: {_default('trust_rule')})",
        )
        parser.add_argument(
            "--drift",
            choices=Campaign.Drift.values,
            help="which ratings of workers who became unreliable to leave out (default: count all)",
        )
        parser.add_argument(
            "--max-hits-per-worker",
            type=_limit,
            metavar="N",
            help=f"how many HITs one worker may do, or none for no limit (default: {DEFAULT_HITS_PER_WORKER})",
        )
        parser.add_argument(
            "--instructions", type=Path, metavar="FILE", help="UTF-8 text shown to workers"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        names = (*SETTINGS, *SWITCHES)
        chosen = {name: options[name] for name in names if options[name] is not None}
        if options["max_hits_per_worker"] is not None:
            chosen["max_hits_per_worker"] = options["max_hits_per_worker"] or None
        if options["instructions"] is not None:
            chosen["instructions"] = _read_instructions(options["instructions"])
        with progress_bar(unit="translations") as progress:
            try:
                summary = import_campaign(
                    path=options["path"],
                    name=options["name"],
                    source_language=options["source_language"],
                    target_language=options["target_language"],
                    task=options["task"],
                    format=options["format"],
                    reference=options["reference"],
                    second_reference=options["second_reference"],
                    ignore_columns=options["ignore_columns"],
                    merges_near_identical=options["merge_near_identical"],
                    progress=progress,
                    **reading_options(options),
                    **chosen,
                )
            except ImportRefused as refusal:
                raise CommandError(str(refusal)) from refusal
        self.stdout.write(summary_as_json(summary) if options["json"] else _as_text(summary))


def _limit(text: str) -> int:
    """Read a limit; "none" is `NO_LIMIT`, since None is an option that was not given."""
    if text == "none":
        return NO_LIMIT
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is neither a positive number nor none")


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _money(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise argparse.ArgumentTypeError(f"{text!r} is not an amount") from None


def _read_instructions(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path}: cannot be read: {error}") from error


def _as_text(summary: ImportSummary) -> str:
    lines = [
        f"Imported {summary.campaign.name!r} ({summary.campaign.code}): "
        f"{summary.n_systems:,} systems, {summary.n_segments:,} segments, "
        f"{summary.n_outputs:,} outputs, {summary.n_translations:,} distinct translations."
    ]
    return "\n".join(lines + lines_on_reading(summary))
