from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from da_platform.operation.environment import as_markdown


class Command(BaseCommand):
    help = "Print a reference of all environment variables, or write it to a file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--to", type=Path, help="such as docs/environment.md")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["to"]:
            options["to"].write_text(as_markdown(), encoding="utf-8")
        else:
            self.stdout.write(as_markdown(), ending="")
