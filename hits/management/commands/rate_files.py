import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from da_platform.exceptions import PlatformError
from hits.campaigns.building import build_hits
from hits.campaigns.demo import make_first_admin
from hits.campaigns.importing import ImportSummary, import_campaign
from hits.campaigns.importing.plain_text import without_common_parts
from hits.campaigns.lifecycle import change_status
from hits.hit_sizes import HIT_SIZES
from hits.management.base import (
    CommandWithExamples,
    add_reading_arguments,
    lines_on_reading,
    password_lines,
    reading_options,
)
from hits.models import Campaign, Recruitment

EXAMPLES = """\
example:
  da rate alder.txt birch.txt --source source.txt --reference reference.txt --from de --to en

Each file has one segment per line. Without a reference, workers compare translations with the source.
"""


class Command(CommandWithExamples):
    help = (
        "Create a campaign from text files, build its HITs, open it to everyone who has the link, and "
        "print the link."
    )
    examples = EXAMPLES

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "systems",
            type=Path,
            nargs="+",
            metavar="SYSTEM.txt",
            help="the translations of a system",
        )
        parser.add_argument("--source", type=Path, required=True, help="the source segments")
        parser.add_argument("--reference", type=Path, help="their reference translations")
        parser.add_argument(
            "--from", dest="source_language", required=True, metavar="CODE", help="such as de"
        )
        parser.add_argument(
            "--to", dest="target_language", required=True, metavar="CODE", help="such as en"
        )
        parser.add_argument("--name", help="of the campaign (default: from the files)")
        parser.add_argument(
            "--hit-size", type=int, choices=HIT_SIZES, help="items in a HIT (default: by the files)"
        )
        add_reading_arguments(parser)
        parser.add_argument(
            "--sample",
            type=int,
            metavar="N",
            help="rate N translations, drawn at random from all systems and segments",
        )
        parser.add_argument("--port", type=int, default=8000, help="where the platform is served")

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEBUG:
            raise CommandError(
                "This opens a campaign to everyone, so it is for development: set DA_DEBUG=1."
            )
        try:
            summary = _create(options)
        except PlatformError as error:
            raise CommandError(str(error)) from error
        campaign = summary.campaign
        for line in lines_on_reading(summary):
            self.stdout.write(line)
        site = f"http://127.0.0.1:{options['port']}"
        self.stdout.write(
            f"{campaign.name}: {campaign.hits.count()} HITs. Open\n"
            f"  {site}{campaign.get_absolute_url()}\n"
            "      as a worker: rate the translations\n"
            f"  {site}/\n"
            "      as an admin: campaigns and their progress\n"
        )
        if admin := make_first_admin():
            self.stdout.write(password_lines(*admin))


@transaction.atomic
def _create(options: dict[str, Any]) -> ImportSummary:
    """Import, build and open the campaign, or leave nothing behind."""
    summary = _import(options)
    campaign = summary.campaign
    build_hits(campaign=campaign)
    change_status(campaign=campaign, to=Campaign.Status.OPEN)
    Recruitment.objects.create(campaign=campaign, is_open=True)
    return summary


def _import(options: dict[str, Any]) -> ImportSummary:
    systems, reference = options["systems"], options["reference"]
    task = Campaign.Task.REFERENCE_ADEQUACY if reference else Campaign.Task.SOURCE_ADEQUACY
    with TemporaryDirectory(prefix="rate-") as path:
        # The layout of docs/campaign-files.md.
        folder = Path(path)
        (folder / "systems").mkdir()
        _copy(options["source"], folder / "sources.txt")
        if reference:
            _copy(reference, folder / "references.txt")
        for name, system in zip(_names(systems), systems, strict=True):
            if (target := folder / "systems" / f"{name}.txt").exists():
                raise CommandError(f"Two systems are named {name}. Rename one of the files.")
            _copy(system, target)
        return import_campaign(
            path=folder,
            name=options["name"] or _free_name(systems),
            source_language=options["source_language"],
            target_language=options["target_language"],
            task=task,
            hit_size=options["hit_size"] or _fitting_size(systems, options["sample"]),
            sample_size=options["sample"],
            **reading_options(options),
        )


def _copy(source: Path, target: Path) -> None:
    try:
        shutil.copyfile(source, target)
    except OSError as error:
        raise CommandError(f"{source} cannot be read: {error.strerror}.") from error


def _names(systems: list[Path]) -> list[str]:
    """Name each system after its file, without what all names have in common."""
    names = [path.stem for path in systems]
    return without_common_parts(names) if len(set(names)) == len(names) > 1 else names


def _free_name(systems: list[Path]) -> str:
    """The names of the systems, with a number if there is such a campaign."""
    name = ", ".join(_names(systems))[:80]
    names = (name, *(f"{name} ({number})" for number in range(2, 1000)))
    return next(name for name in names if not Campaign.objects.filter(name=name).exists())


def _fitting_size(systems: list[Path], sample: int | None) -> int:
    """The largest HIT that the files may fill, at most the usual one; two in ten items are hidden ones."""
    n_lines = sum(len(path.read_bytes().splitlines()) for path in systems)
    n_lines = min(n_lines, sample or n_lines)
    usual: int = Campaign._meta.get_field("hit_size").get_default()
    sizes = [size for size in HIT_SIZES if size <= min(usual, n_lines * 10 // 8)]
    return max(sizes, default=HIT_SIZES[0])
