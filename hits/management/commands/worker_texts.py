import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from hits.campaigns.worker_texts import progress_of, set_texts, texts_file
from hits.exceptions import EditRefused, TextsRefused
from hits.management.base import CommandWithExamples, campaign_named
from hits.rating.own_texts import parse_texts


class Command(CommandWithExamples):
    help = (
        "Show, load, copy or remove a campaign's own texts for workers: statement, examples, practice, "
        "question and buttons."
    )
    examples = """examples:
  manage.py worker_texts news --print > is.json
  manage.py worker_texts news --load is.json
  manage.py worker_texts "news again" --copy-from news"""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="the campaign's name")
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--load", type=Path, metavar="FILE", help="a JSON file with the texts")
        what.add_argument("--copy-from", metavar="NAME", help="a campaign that has its own texts")
        what.add_argument("--remove", action="store_true", help="use the platform's texts again")
        what.add_argument(
            "--print",
            action="store_true",
            dest="prints",
            help="write the texts as JSON, with empty strings for what is missing",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_named(options["campaign"])
        if options["prints"]:
            self.stdout.write(json.dumps(texts_file(campaign), ensure_ascii=False, indent=2))
            return
        try:
            if options["load"] or options["copy_from"] or options["remove"]:
                texts, name = _given(options)
                set_texts(campaign=campaign, actor=None, texts=texts, name=name)
        except (TextsRefused, EditRefused) as error:
            raise CommandError(str(error)) from error
        progress = progress_of(campaign)
        self.stdout.write(
            f"{campaign.name}: {progress.n_written} of {progress.n_needed} texts are written; "
            f"{progress.n_missing_in_interface} of {progress.n_in_interface} buttons and messages are missing."
        )
        if campaign.guidance:
            for place in progress.missing:
                self.stdout.write(f"  missing: {place}")


def _given(options: dict[str, Any]) -> tuple[Any, str]:
    """Return the texts to store, and the name of their file."""
    if options["copy_from"]:
        return campaign_named(options["copy_from"]).guidance, ""
    if options["remove"]:
        return {}, ""
    path: Path = options["load"]
    try:
        return parse_texts(path.read_bytes(), name=path.name), path.name
    except OSError as error:
        raise CommandError(f"{path}: cannot be read: {error}") from error
