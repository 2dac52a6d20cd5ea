import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analysis.evaluation.uploading import GoldReading, store_uploaded_gold
from analysis.scores.errors import ScoresRefused
from analysis.scores.formats import FORMATS
from analysis.scores.raw_files import MAX_FILE_BYTES, RawFile
from analysis.scores.reading import CHOICES
from analysis.scores.score_tables import GOLD_KINDS
from hits.management.base import campaign_named


class Command(BaseCommand):
    help = (
        "Store gold from a file, such as HTER or MQM, to evaluate a campaign's metrics against. "
        "Its direction has to be given; it is never guessed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="the campaign's name")
        parser.add_argument("file", type=Path)
        parser.add_argument("--kind", choices=GOLD_KINDS, required=True, help="what it measures")
        parser.add_argument(
            "--better",
            choices=("higher", "lower"),
            required=True,
            help="whether higher or lower is better",
        )
        parser.add_argument("--name", help="the gold's name (default: the file name)")
        parser.add_argument("--column", help="the column to read, if the table has several")
        parser.add_argument(
            "--format", choices=FORMATS, help="the file format (default: detected from the content)"
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
        for name in ("documents", "texts"):
            parser.add_argument(
                f"--{name}",
                type=Path,
                metavar="FILE",
                help=f"the {name.removesuffix('s')} of each segment, one per line",
            )
        parser.add_argument(
            "--replace", action="store_true", help="replace stored gold of the same name"
        )
        parser.add_argument("--json", action="store_true", help="print the stored gold as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        reading = GoldReading(
            kind=options["kind"],
            higher_is_better=options["better"] == "higher",
            format=options["format"],
            name=options["name"],
            column=options["column"],
            system=options["system"],
            only={choice: options[choice] for choice in CHOICES if options[choice]},
        )
        try:
            stored = store_uploaded_gold(
                files=[_raw(options["file"])],
                home=campaign_named(options["campaign"]),
                reading=reading,
                documents=_raw(options["documents"]) if options["documents"] else None,
                texts=_raw(options["texts"]) if options["texts"] else None,
                replace=options["replace"],
            )
        except ScoresRefused as error:
            raise CommandError(str(error)) from error
        facts = [
            {
                "gold": gold.name,
                "kind": gold.kind,
                "level": gold.level,
                "n_scores": gold.n_scores,
                "code": str(gold.code),
            }
            for gold in stored
        ]
        if options["json"]:
            self.stdout.write(json.dumps(facts, ensure_ascii=False))
            return
        for fact in facts:
            self.stdout.write(f"{fact['gold']}: {fact['n_scores']} {fact['level']} scores stored.")


def _raw(path: Path) -> RawFile:
    try:
        with path.open("rb") as file:
            return RawFile(path.name, file.read(MAX_FILE_BYTES + 1))
    except OSError as error:
        raise CommandError(f"Cannot read {path}: {error.strerror}.") from error
