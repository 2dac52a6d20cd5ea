"""Real test sets are imported as published."""

import shutil
from pathlib import Path

import pytest

from hits.campaigns.importing import import_campaign
from hits.exceptions import ImportRefused
from hits.models import SystemOutput, Translation

from .locating import replication_data

pytestmark = pytest.mark.django_db

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def lines_of(path: Path) -> list[str]:
    return path.read_bytes().decode().removesuffix("\n").split("\n")


def test_newstest2016_is_imported_unchanged() -> None:
    folder = replication_data("newstest2016-csen")
    summary = import_campaign(
        path=folder, name="newstest2016", source_language="cs", target_language="en"
    )
    campaign = summary.campaign
    systems = ["PJATK", "cu-mergedtrees", "jhu-pbmt", "online-B", "uedin-nmt"]
    assert [system.name for system in campaign.systems.all()] == systems
    assert (summary.n_segments, summary.n_outputs) == (2_999, 14_995)
    sources = lines_of(folder / "sources" / "newstest2016-csen-src.cs")
    references = lines_of(folder / "references" / "newstest2016-csen-ref.en")
    assert list(campaign.segments.values_list("source", flat=True)) == sources
    assert list(campaign.segments.values_list("reference", flat=True)) == references
    distinct = set()
    for name in systems:
        texts = lines_of(folder / "newstest2016" / "cs-en" / f"newstest2016.cs-en.{name}")
        stored = SystemOutput.objects.filter(system__campaign=campaign, system__name=name)
        ordered = stored.order_by("segment__position").values_list("translation__text", flat=True)
        assert list(ordered) == texts
        distinct |= set(enumerate(texts))
    assert summary.n_translations == Translation.objects.count() == len(distinct)


def test_wmt23_is_refused_because_of_a_byte_order_mark() -> None:
    folder = replication_data("wmt23-mtme", "wmt23")
    with pytest.raises(ImportRefused) as caught:
        import_campaign(path=folder, name="WMT23", source_language="en", target_language="de")
    (problem,) = caught.value.problems
    assert (problem.file, problem.line) == ("system-outputs/en-de/AIRC.txt", 1)
    assert "byte order mark" in problem.reason


def test_wmt23_is_imported_as_it_is_with_cleaning() -> None:
    folder = replication_data("wmt23-mtme", "wmt23")
    summary = import_campaign(
        path=folder, name="WMT23", source_language="en", target_language="de", clean=True
    )
    # 14 files, of which one is the reference and one a synthetic reference.
    assert (summary.n_systems, summary.n_segments) == (12, 557)
    assert "output synthetic_ref is a synthetic reference and is not rated" in summary.notes
    mended = "system-outputs/en-de/AIRC.txt, line 1: removed the byte order mark (BOM)"
    assert mended in map(str, summary.mends)


def test_wmt23_is_imported_without_the_byte_order_mark(tmp_path: Path) -> None:
    folder = tmp_path / "wmt23"
    for part in ("sources", "references", "documents", "system-outputs"):
        shutil.copytree(replication_data("wmt23-mtme", "wmt23", part), folder / part)
    path = folder / "system-outputs" / "en-de" / "AIRC.txt"
    text = path.read_bytes().removeprefix(BYTE_ORDER_MARK)
    # The copy is read-only, like the original.
    path.unlink()
    path.write_bytes(text)
    summary = import_campaign(path=folder, name="WMT23", source_language="en", target_language="de")
    # 14 files, of which one is the reference and one a synthetic reference.
    assert (summary.n_systems, summary.n_segments) == (12, 557)
    assert summary.campaign.segments.get(position=1).document == "aj-english.33941"
    for system in summary.campaign.systems.all():
        path = folder / "system-outputs" / "en-de" / f"{system.name}.txt"
        stored = system.outputs.order_by("segment__position")
        assert list(stored.values_list("translation__text", flat=True)) == lines_of(path)
