"""Write a campaign's rankings in the layouts of WMT: CSV of pairs, and Appraise's XML."""

import csv
from collections.abc import Iterator
from itertools import combinations, groupby
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring  # nosec: only written

from django.http import FileResponse
from django.utils.text import slugify

from da_platform.files.cells import defuse
from da_platform.files.pseudonyms import Pseudonyms

from ..models import Assignment, Campaign, Rank
from .arrays import RANKED_ROLES, systems_by_translation, trusted_assignments

CSV_COLUMNS = "srclang,trglang,srcIndex,segmentId,judgeID,system1Id,system1rank,system2Id,system2rank,rankingID"
SKIPPED = -1
Ranked = tuple[dict[str, Any], list[tuple[list[str], int]]]


def rankings_of(campaign: Campaign, *, trusted_only: bool = False) -> Iterator[Ranked]:
    """Yield each ranked screen, and its outputs in the order shown: the systems of each, and its rank.

    Of everyone who submitted it, or only of trusted workers.
    """
    names = dict(campaign.systems.values_list("pk", "name"))
    systems = {
        translation: sorted(names[pk] for pk in pks)
        for translation, pks in systems_by_translation(campaign).items()
    }
    submitted = Assignment.objects.submitted().filter(hit__campaign=campaign)
    rows = Rank.objects.filter(
        assignment__in=trusted_assignments(campaign) if trusted_only else submitted,
        item__role__in=RANKED_ROLES,
    ).order_by("item__hit__number", "assignment", "item__screen", "place")
    fields = {
        "hit": "item__hit__number",
        "assignment": "assignment_id",
        "screen": "item__screen",
        "segment": "item__translation__segment__name",
        "judge": "assignment__worker_id",
        "ms": "elapsed_ms",
    }
    values = rows.values(*fields.values(), "item__translation_id", "rank")

    def screen(row: dict[str, Any]) -> tuple[int, int]:
        return row["assignment_id"], row["item__screen"]

    for _, shown in groupby(values.iterator(), key=screen):
        ranked = list(shown)
        facts = {name: ranked[0][field] for name, field in fields.items()}
        yield (
            facts,
            [
                (
                    systems[row["item__translation_id"]],
                    SKIPPED if row["rank"] is None else row["rank"],
                )
                for row in ranked
            ],
        )


def write_csv(campaign: Campaign, path: Path, *, trusted_only: bool = False) -> int:
    """Write a row for each pair of outputs shown, and return their number.

    Systems that share an output are joined by +, as in WMT's collapsed files.
    """
    judges = Pseudonyms(campaign.code, "worker")
    n_rows = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(CSV_COLUMNS.split(","))
        for number, (facts, outputs) in enumerate(
            rankings_of(campaign, trusted_only=trusted_only), start=1
        ):
            common = (
                campaign.source_language,
                campaign.target_language,
                facts["segment"],
                facts["segment"],
                judges.name(str(facts["judge"])),
            )
            for (systems, rank), (others, other_rank) in combinations(outputs, 2):
                cells = (*common, "+".join(systems), rank, "+".join(others), other_rank, number)
                writer.writerow([defuse(cell) if isinstance(cell, str) else cell for cell in cells])
                n_rows += 1
    return n_rows


def write_xml(campaign: Campaign, path: Path, *, trusted_only: bool = False) -> int:
    """Write HITs as Appraise does, and return the number of ranking tasks."""
    judges = Pseudonyms(campaign.code, "worker")
    root, n_tasks = Element("results"), 0
    for hit, screens in groupby(
        rankings_of(campaign, trusted_only=trusted_only), key=lambda ranked: ranked[0]["hit"]
    ):
        element = SubElement(
            root,
            "HIT",
            {
                "hit-id": str(hit),
                "source-language": campaign.source_language,
                "target-language": campaign.target_language,
            },
        )
        for facts, outputs in screens:
            n_tasks += 1
            task = SubElement(element, "ranking-task", {"id": facts["segment"]})
            result = SubElement(
                task,
                "ranking-result",
                {"user": judges.name(str(facts["judge"])), "duration": _duration(facts["ms"] or 0)},
            )
            for systems, rank in outputs:
                SubElement(result, "translation", {"system": ",".join(systems), "rank": str(rank)})
    indent(root)
    path.write_bytes(tostring(root, encoding="utf-8", xml_declaration=True))
    return n_tasks


def _duration(milliseconds: int) -> str:
    minutes, rest = divmod(milliseconds, 60_000)
    return f"{minutes // 60:02d}:{minutes % 60:02d}:{rest // 1000:02d}.{rest % 1000:03d}000"


WRITERS = {".csv": write_csv, ".xml": write_xml}
CONTENT_TYPES = {"csv": "text/csv; charset=utf-8", "xml": "application/xml"}


def judgements_file(campaign: Campaign, fmt: str) -> FileResponse:
    """Return the rankings as a download, from a file that is deleted when it is closed."""
    # Closed by the response.
    file = NamedTemporaryFile(suffix=f".{fmt}")  # noqa: SIM115
    WRITERS[f".{fmt}"](campaign, Path(file.name))
    return FileResponse(
        file,
        as_attachment=True,
        filename=f"{slugify(campaign.name) or 'rankings'}.{fmt}",
        content_type=CONTENT_TYPES[fmt],
    )
