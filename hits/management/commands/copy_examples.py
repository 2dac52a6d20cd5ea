import shutil
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from hits.management.base import CommandWithExamples


class Command(CommandWithExamples):
    help = (
        "Copy the example files that the tutorial and the documentation use into a folder of yours."
    )
    examples = """\
example:
  manage.py copy_examples ~/da-examples
"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "folder", type=Path, nargs="?", default=Path("examples"), help="default: examples"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        folder: Path = options["folder"]
        try:
            shutil.copytree(settings.SHIPPED_DIR / "examples", folder)
        except FileExistsError as error:
            raise CommandError(f"{folder} already exists. Name another folder.") from error
        except OSError as error:
            raise CommandError(f"{folder} cannot be written: {error}") from error
        self.stdout.write(f"The examples are in {folder}.\n")
