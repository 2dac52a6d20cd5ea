import signal
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from da_platform.operation.backups import BackupRefused, back_up, has_backup_since, prune


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Treat SIGTERM as an error, so that no unfinished backup is left behind."""

    def end(signum: int, frame: object) -> None:
        raise SystemExit(128 + signum)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class Command(BaseCommand):
    help = (
        "Back up the database and the data folder while the platform runs. The backup is consistent "
        "and includes a manifest with checksums. It does not contain the secret key: store that elsewhere."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--to", type=Path, help="the folder for backups (default: DA_BACKUP_DIR)"
        )
        parser.add_argument("--keep", type=int, default=0, help="then delete all but the latest N")
        parser.add_argument(
            "--unless-younger-than",
            type=float,
            metavar="HOURS",
            help="do nothing if the latest backup is younger",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        hours = options["unless_younger_than"]
        if hours and has_backup_since(timezone.now() - timedelta(hours=hours), options["to"]):
            self.stdout.write(f"The latest is younger than {hours:g} hours: none made")
            return
        try:
            with _ended_by_sigterm():
                backup = back_up(options["to"])
        except (BackupRefused, OSError) as error:
            raise CommandError(str(error)) from error
        n_rows = sum(table.n_rows for table in backup.manifest.tables.values())
        self.stdout.write(f"{backup.folder}")
        self.stdout.write(f"{n_rows:,} rows, {backup.manifest.n_bytes:,} bytes")
        if options["keep"] > 0:
            self.stdout.write(f"{prune(options['keep'], options['to']):,} older ones deleted")
