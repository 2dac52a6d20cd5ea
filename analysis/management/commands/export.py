"""Write ratings, evidence or scores to a file."""

import json
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser

from analysis.exporting import FORMATS, KINDS, ExportError, ExportSummary, export
from analysis.models import GoldRun
from hits.management.base import CommandWithExamples, campaign_named, progress_bar
from hits.models import Campaign

EXAMPLES = """\
examples:
  Every rating, as a table for pandas or R:
    manage.py export ratings "News cs-en" ratings.parquet

  Segment and system scores for mt-metrics-eval, below the folder wmt26/:
    manage.py export segments "News cs-en" wmt26/ --format mtme
    manage.py export systems "News cs-en" wmt26/ --format mtme

  The ranking on standard output:
    manage.py export systems "News cs-en" - --format tsv

  Real worker ids, to resolve a dispute with the crowd platform:
    manage.py export evidence "News cs-en" dispute.csv --real-ids --actor ada --reason "Dispute 17"

NAME.meta.json, written next to each file, says how it was made. See docs/exports.md for columns and formats.
"""


class Command(CommandWithExamples):
    help = (
        "Export a campaign's ratings, worker evidence, segment scores or system ranking to a file."
    )
    examples = EXAMPLES

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("kind", choices=KINDS)
        parser.add_argument("campaign", help="the campaign's name")
        parser.add_argument("path", help="a file, a folder, or - for standard output")
        parser.add_argument("--format", choices=FORMATS, help="default: from the file name, or csv")
        parser.add_argument(
            "--run", type=int, metavar="N", help="number of the gold run (default: the latest)"
        )
        parser.add_argument(
            "--history", action="store_true", help="evidence after every HIT, not only the latest"
        )
        parser.add_argument("--force", action="store_true", help="replace an existing file")
        parser.add_argument(
            "--real-ids", action="store_true", help="real worker ids instead of pseudonyms"
        )
        parser.add_argument("--actor", metavar="USERNAME", help="the admin who needs the real ids")
        parser.add_argument(
            "--reason", default="", help="why real ids are needed; recorded in the audit log"
        )
        parser.add_argument("--json", action="store_true", help="print the summary as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_named(options["campaign"])
        run, actor = _run(campaign, options["run"]), _user(options["actor"])
        # On SIGTERM, exit through the cleanup of unfinished files.
        before = signal.signal(signal.SIGTERM, _stop)
        try:
            with progress_bar(unit="rows") as progress:
                summary = export(
                    kind=options["kind"],
                    campaign=campaign,
                    path=options["path"],
                    format=options["format"] or _format_of(options["path"]),
                    run=run,
                    real_ids=options["real_ids"],
                    actor=actor,
                    reason=options["reason"],
                    progress=progress,
                    history=options["history"],
                    force=options["force"],
                )
        except ExportError as error:
            raise CommandError(str(error)) from error
        finally:
            signal.signal(signal.SIGTERM, before)
        # Standard output may be the export itself.
        out = self.stderr if summary.path is None else self.stdout
        text = _as_json(summary) if options["json"] else _as_text(summary)
        out.write(text, style_func=str)


def _stop(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)


def _format_of(path: str) -> str:
    ending = Path(path).suffix.lstrip(".").lower()
    return ending if ending in FORMATS else "csv"


def _run(campaign: Campaign, number: int | None) -> GoldRun | None:
    if number is None:
        return None
    run = campaign.gold_runs.numbered(number)
    if run is None:
        numbers = campaign.gold_runs.order_by("number").values_list("number", flat=True)
        choices = f"Choose from: {', '.join(map(str, numbers))}." if numbers else "It has none yet."
        raise CommandError(f"{campaign} has no gold run {number}. {choices}")
    return run


def _user(name: str | None) -> User | None:
    if name is None:
        return None
    user = User.objects.filter(username=name).first()
    if user is None:
        raise CommandError(f"There is no user named {name!r}.")
    return user


def _as_text(summary: ExportSummary) -> str:
    where = "to standard output" if summary.path is None else f"to {summary.path}"
    lines = [
        f"Exported {summary.n_rows:,} rows {where} "
        f"({summary.n_bytes:,} bytes, SHA-256 {summary.sha256})."
    ]
    if summary.n_incomplete:
        lines.append(f"Note: {summary.n_incomplete:,} outputs have too few ratings and no score.")
    return "\n".join(lines)


def _as_json(summary: ExportSummary) -> str:
    path = None if summary.path is None else str(summary.path)
    return json.dumps({"path": path, **summary.meta}, ensure_ascii=False, indent=2)
