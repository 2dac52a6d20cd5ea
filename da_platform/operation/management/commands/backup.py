from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from da_platform.operation.backups import BackupRefused, back_up, prune


class Command(BaseCommand):
    help = (
        "Back up the database and the data folder while the platform runs. The backup is of one moment "
        "and holds a manifest with checksums. The secret key is not in it: keep that elsewhere."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--to", type=Path, help="folder of backups (default: DA_BACKUP_DIR)")
        parser.add_argument(
            "--keep", type=int, default=0, help="then delete all but the latest N (default: none)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            backup = back_up(options["to"])
        except (BackupRefused, OSError) as error:
            raise CommandError(str(error)) from error
        n_rows = sum(table.n_rows for table in backup.manifest.tables.values())
        self.stdout.write(f"{backup.folder}")
        self.stdout.write(f"{n_rows:,} rows, {backup.manifest.n_bytes:,} bytes")
        if options["keep"] > 0:
            self.stdout.write(f"{prune(options['keep'], options['to']):,} older ones deleted")
