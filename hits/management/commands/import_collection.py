"""Import a finished collection."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from analysis.stats.thresholds import MINIMUM_RATINGS
from hits.archives import FORMATS, CollectionSummary, Judgement, import_collection
from hits.exceptions import ImportRefused
from hits.management.base import (
    CommandWithExamples,
    add_campaign_arguments,
    progress_bar,
    summary_as_json,
)

EXAMPLES = """\
examples:
  Result files of Mechanical Turk; only the workers named in a file are trusted:
    manage.py import_collection Batch_1.csv Batch_2.csv --format mturk \\
        --name "WMT13 cs-en" --from cs --to en --trust reliable.txt

  WMT's ratings and the workers' means; all workers in them were judged reliable:
    manage.py import_collection ad-csen-good-stnd-redup.csv ad-csen-trk-mean-sd.txt \\
        --format wmt-da --name "WMT21 cs-en" --from cs --to en --trust-all

  An export of Appraise; the evidence decides whom to trust:
    manage.py import_collection scores.csv --format appraise --name Pilot --from en --to de

Nothing is stored unless every file is in order. docs/collections.md describes the formats.
"""


class Command(CommandWithExamples):
    help = (
        "Create a closed campaign from the files of a finished collection, including its ratings."
    )
    examples = EXAMPLES

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("paths", type=Path, nargs="+", metavar="file", help="the files")
        parser.add_argument(
            "--format", required=True, choices=FORMATS, help="the tool that wrote them"
        )
        add_campaign_arguments(parser)
        parser.add_argument(
            "--min-ratings",
            type=int,
            default=MINIMUM_RATINGS,
            metavar="N",
            help=f"trusted ratings each translation needs for gold (default: {MINIMUM_RATINGS})",
        )
        parser.add_argument(
            "--workers-of",
            metavar="NAME",
            help="the effort that worker ids belong to; collections of one effort share their workers "
            "(default: the campaign's name)",
        )
        self._add_trust_arguments(parser)
        parser.add_argument("--json", action="store_true", help="print the summary as JSON")

    def _add_trust_arguments(self, parser: CommandParser) -> None:
        who = parser.add_mutually_exclusive_group()
        who.add_argument(
            "--trust-all", action="store_true", help="every worker was judged reliable elsewhere"
        )
        who.add_argument(
            "--trust",
            type=Path,
            metavar="FILE",
            help="a file with the workers judged reliable elsewhere, one per line; all others are excluded",
        )
        parser.add_argument(
            "--exclude-rejected",
            action="store_true",
            help="exclude workers with a rejected assignment, unless --trust names them",
        )
        parser.add_argument(
            "--reason", default="", help="for the audit log: who judged the workers, and how"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        judgement = Judgement(
            trusts_all=options["trust_all"],
            trusted=options["trust"],
            excludes_rejected=options["exclude_rejected"],
            reason=options["reason"],
        )
        with progress_bar(unit="ratings") as progress:
            try:
                summary = import_collection(
                    paths=options["paths"],
                    format=options["format"],
                    name=options["name"],
                    source_language=options["source_language"],
                    target_language=options["target_language"],
                    task=options["task"],
                    min_ratings=options["min_ratings"],
                    worker_namespace=options["workers_of"],
                    judgement=judgement,
                    progress=progress,
                )
            except ImportRefused as refusal:
                raise CommandError(str(refusal)) from refusal
        self.stdout.write(summary_as_json(summary) if options["json"] else _as_text(summary))


def _as_text(summary: CollectionSummary) -> str:
    lines = [
        f"Imported {summary.campaign.name!r} ({summary.campaign.code}): "
        f"{summary.n_systems:,} systems, {summary.n_segments:,} segments, "
        f"{summary.n_translations:,} translations, {summary.n_hits:,} HITs, "
        f"{summary.n_assignments:,} assignments, {summary.n_ratings:,} ratings "
        f"by {summary.n_workers:,} workers, {summary.n_trusted:,} of them trusted."
    ]
    return "\n".join(lines + [f"Note: {note}." for note in summary.notes])
