import json
from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analysis.evaluation.uploading import Reading, read_uploaded_scores
from analysis.scores.formats import FORMATS
from analysis.scores.reading import CHOICES, ScoreFile
from analysis.scores.storing import store_score_file
from da_platform.exceptions import PlatformError
from hits.management.base import campaign_named

WAYS = {"higher": True, "lower": False}


def direction(text: str) -> tuple[str, bool]:
    """Parse `TER=lower`."""
    name, separator, way = text.rpartition("=")
    if not separator or not name or way not in WAYS:
        raise ArgumentTypeError(f"{text!r}: write NAME=higher or NAME=lower.")
    return name, WAYS[way]


class Command(BaseCommand):
    help = (
        "Store metric scores for a campaign's outputs from a file. The file or --direction must say "
        "whether higher or lower is better; it is never guessed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="the campaign's name")
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--format", choices=FORMATS, help="the file format (default: detected from the content)"
        )
        parser.add_argument("--name", help="the metric's name, if the file does not name it")
        parser.add_argument(
            "--direction",
            type=direction,
            action="append",
            default=[],
            metavar="NAME=WAY",
            help="NAME=higher or NAME=lower; may be repeated",
        )
        for choice in CHOICES:
            words = choice.replace("_", " ")
            parser.add_argument(
                f"--{choice.replace('_', '-')}",
                help=f"the {words} to read, if the file holds several",
            )
        parser.add_argument(
            "--system", default="", help="the system that was scored, if the file does not say"
        )
        parser.add_argument(
            "--ranks", action="store_true", help="also store rankings submitted with the scores"
        )
        parser.add_argument(
            "--replace", action="store_true", help="replace stored scores of the same name"
        )
        parser.add_argument("--json", action="store_true", help="print the stored metrics as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_named(options["campaign"])
        reading = Reading(
            format=options["format"],
            name=options["name"],
            directions=dict(options["direction"]),
            system=options["system"],
            only={choice: options[choice] for choice in CHOICES if options[choice]},
            ranks=options["ranks"],
        )
        try:
            file = read_uploaded_scores(options["file"], reading)
            _ask_for_directions(file, {name for name, _ in options["direction"]})
            metrics = store_score_file(
                file=file,
                file_name=options["file"].name,
                home=campaign,
                replace=options["replace"],
            )
        except PlatformError as error:
            raise CommandError(str(error)) from error
        facts = [
            {
                "metric": metric.name,
                "level": metric.level,
                "n_scores": metric.n_scores,
                "code": str(metric.code),
            }
            for metric in metrics
        ]
        if options["json"]:
            self.stdout.write(json.dumps(facts, ensure_ascii=False))
            return
        for fact in facts:
            self.stdout.write(
                f"{fact['metric']}: {fact['n_scores']} {fact['level']} scores stored."
            )
        for note in file.notes:
            self.stdout.write(note)


def _ask_for_directions(file: ScoreFile, named: set[str]) -> None:
    """Refuse metrics without a direction, and directions for metrics that the file does not have."""
    if unknown := named - {table.name for table in file.tables}:
        raise CommandError(f"The file has no metric {', '.join(sorted(unknown))}.")
    if not file.unconfirmed:
        return
    lines = ["Say whether higher or lower is better:"]
    for name in file.unconfirmed:
        suggestion = file.suggestions.get(name)
        if suggestion is None:
            lines.append(f"  --direction '{name}=higher' or --direction '{name}=lower'")
        else:
            lines.append(f"  --direction '{name}={suggestion.word}'? {suggestion.reason}.")
    raise CommandError("\n".join(lines))
