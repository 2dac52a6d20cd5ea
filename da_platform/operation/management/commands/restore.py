from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from da_platform.operation.backups import BackupRefused, restore


class Command(BaseCommand):
    help = (
        "Restore a backup to an empty database (DATABASE_URL) and compare every table with the backup's "
        "manifest. Then run migrate if the code is newer than the backup."
    )
    # System checks would query a database that has no tables yet.
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="the folder that `backup` printed")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            manifest = restore(options["folder"])
        except (BackupRefused, OSError) as error:
            raise CommandError(str(error)) from error
        n_rows = sum(table.n_rows for table in manifest.tables.values())
        self.stdout.write(
            f"{n_rows:,} rows in {len(manifest.tables)} tables, as on {manifest.made_at:%Y-%m-%d %H:%M:%S} UTC"
        )
