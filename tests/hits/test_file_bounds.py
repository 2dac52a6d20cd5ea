"""Limits on lines, outputs and reading time of files; beyond them nothing is stored."""

import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from analysis.scores.errors import ScoresRefused
from analysis.scores.raw_files import RawFile
from analysis.scores.reading import read_scores
from da_platform.files.problems import Problems
from da_platform.files.reading import ReadingLimits
from hits.archives import import_collection
from hits.batches import import_results
from hits.campaigns.importing import import_campaign, wmt_xml
from hits.campaigns.importing.records import ReadingOptions
from hits.exceptions import ImportRefused
from hits.models import Campaign, Rating
from tests.factories import make_hits

pytestmark = pytest.mark.django_db

DATA = Path(__file__).parents[1] / "data"
CAMPAIGNS = {
    "simple": "line 3: exceeds the limit of 2 lines",
    "mt-metrics-eval": "line 3: exceeds the limit of 2 lines",
    "table.csv": "table.csv, line 3: exceeds the limit of 2 lines",
    "table.tsv": "table.tsv, line 3: exceeds the limit of 2 lines",
    "table.jsonl": "table.jsonl, line 3: exceeds the limit of 2 lines",
    "test-set.xml": "test-set.xml: element 3 exceeds the limit of 2 lines",
}
COLLECTIONS = {
    "appraise": ["appraise.csv"],
    "mturk": ["mturk.csv"],
    "wmt-da": ["wmt-da-means.txt", "wmt-da.csv"],
}
SCORES = b"system\tsegment\tscore\n" + b"".join(b"A\t%d\t0.5\n" % i for i in range(2_000))


def refused_campaign(path: Path) -> str:
    with pytest.raises(ImportRefused) as refusal:
        import_campaign(path=path, name="New", source_language="de", target_language="en")
    assert not Campaign.objects.exists()
    return str(refusal.value)


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_a_campaign_file_with_too_many_lines_is_refused(name: str, settings: Any):
    settings.MAX_FILE_LINES = 2
    reason = refused_campaign(DATA / "campaigns" / name)
    assert CAMPAIGNS[name] in reason and "the rest was not read" in reason


@pytest.mark.parametrize("format", COLLECTIONS)
def test_a_collection_with_too_many_lines_is_refused(format: str, settings: Any):
    settings.MAX_FILE_LINES = 2
    names = COLLECTIONS[format]
    with pytest.raises(ImportRefused, match=f"{names[0]}, line 3: exceeds the limit of 2 lines"):
        import_collection(
            paths=[DATA / "collections" / name for name in names],
            format=format,
            name="Old",
            source_language="de",
            target_language="en",
        )
    assert not Rating.objects.exists()


def test_results_with_too_many_lines_are_refused(settings: Any):
    settings.MAX_FILE_LINES = 2
    with pytest.raises(ImportRefused, match="mturk.csv, line 3: exceeds the limit of 2 lines"):
        import_results(campaign=make_hits(), paths=[DATA / "collections" / "mturk.csv"])


def test_scores_with_too_many_lines_are_refused(settings: Any):
    settings.MAX_FILE_LINES = 1_500
    with pytest.raises(ScoresRefused, match="m.tsv, line 1501: exceeds the limit of 1,500 lines"):
        read_scores(RawFile("m.tsv", SCORES))


def test_a_file_that_takes_too_long_to_read_is_refused(settings: Any, tmp_path: Path):
    settings.MAX_READING_SECONDS = -1
    with pytest.raises(ScoresRefused, match="m.tsv, line 1000: was not reached in"):
        read_scores(RawFile("m.tsv", SCORES))
    table = tmp_path / "long.tsv"
    table.write_text(
        "segment\tsystem\ttranslation\treference\n"
        + "".join(f"{i}\tA\tone\ttwo\n" for i in range(1_000))
    )
    assert "long.tsv, line 1000: was not reached in" in refused_campaign(table)


def test_time_is_checked_every_thousand_lines(settings: Any):
    settings.MAX_READING_SECONDS = -1
    limits = ReadingLimits()
    assert [n for n in range(1, 3_001) if limits.fault_at(n)] == [1_000, 2_000, 3_000]


def test_a_small_file_cannot_use_up_the_memory(settings: Any, tmp_path: Path):
    """Each row has a new system and a new segment, and memory is needed for all pairs."""
    settings.MAX_OUTPUTS = 10_000
    table = tmp_path / "square.tsv"
    rows = (f"{i}\tS{i}\tone\ttwo\n" for i in range(1_000))
    table.write_text("segment\tsystem\ttranslation\treference\n" + "".join(rows))
    reason = refused_campaign(table)
    assert "square.tsv: holds more than 10,000 outputs (systems times segments)" in reason


def xml(path: Path, inside: str) -> Path:
    path.write_text(f'<dataset id="x"><doc id="d" origlang="de">{inside}</doc></dataset>')
    return path


MANY = {
    "references": '<ref lang="en" translator="{}"/>',
    "systems": '<hyp lang="en" system="S{}"/>',
    "unknown": "<a/>",
}


@pytest.mark.parametrize("kind", MANY)
def test_elements_of_every_kind_count_towards_the_limits(kind: str, settings: Any, tmp_path: Path):
    path = xml(tmp_path / "set.xml", "".join(MANY[kind].format(i) for i in range(1_000)))
    settings.MAX_FILE_LINES = 900
    assert "set.xml: element 901 exceeds the limit of 900 lines" in refused_campaign(path)
    settings.MAX_FILE_LINES, settings.MAX_READING_SECONDS = 2_000, -1
    assert "set.xml: element 1,000 was not reached in" in refused_campaign(path)


def test_time_is_checked_within_a_single_element(settings: Any, tmp_path: Path):
    settings.MAX_READING_SECONDS = -1
    path = xml(tmp_path / "set.xml", f'<a b="{"x" * 100_000}"/>')
    assert "set.xml: line 1 was not reached in" in refused_campaign(path)


def test_reading_time_grows_linearly_with_the_parts_of_a_document(tmp_path: Path, monkeypatch: Any):
    monkeypatch.setattr(wmt_xml, "MAX_PARTS", 50_000)
    path = xml(tmp_path / "set.xml", "".join(MANY["references"].format(i) for i in range(40_000)))
    started = time.process_time()
    assert "document 'd' has no source segments" in refused_campaign(path)
    assert time.process_time() - started < 20


LONG_MARKUP = {
    "comment": "<!--{}-->",
    "comment in a text": '<src lang="de"><seg id="1">ja<!--{}--></seg></src>',
    "instruction": "<?a {}?>",
    "attribute": '<a b="{}"/>',
    "tag": "<a{}/>",
}


def seconds_to_read(path: Path) -> float:
    """The fastest of a few tries, without what other processes take."""
    options = ReadingOptions("de", "en", Campaign.Task.REFERENCE_ADEQUACY)
    times = []
    for _ in range(8):
        started = time.process_time()
        wmt_xml.read_wmt_xml(path, options, Problems()).close()
        times.append(time.process_time() - started)
    return min(times)


@pytest.mark.parametrize("kind", LONG_MARKUP)
def test_reading_time_grows_linearly_with_the_length_of_markup(kind: str, tmp_path: Path):
    """The parser begins again at the start of a comment or tag whenever it gets the next block."""
    short, long = (
        xml(tmp_path / f"{n}.xml", LONG_MARKUP[kind].format("x" * n)) for n in (500_000, 2_000_000)
    )
    assert seconds_to_read(long) < 6 * seconds_to_read(short)


@pytest.mark.parametrize("kind", LONG_MARKUP)
def test_endless_markup_is_refused_early(kind: str, tmp_path: Path):
    text = "\n" + LONG_MARKUP[kind].format("x" * 12_000_000)
    path = xml(tmp_path / "set.xml", text)
    reason = refused_campaign(path)
    assert "set.xml: line 2 has a comment or tag longer than 10,000,000 bytes" in reason


@pytest.mark.parametrize("kind", ["references", "systems"])
def test_a_test_set_with_too_many_systems_and_references_is_refused(kind: str, tmp_path: Path):
    path = xml(tmp_path / "set.xml", "".join(MANY[kind].format(i) for i in range(1_001)))
    assert "set.xml: has more than 1,000 systems and references" in refused_campaign(path)


def test_deeply_nested_elements_are_refused_early(tmp_path: Path):
    path = xml(tmp_path / "set.xml", "\n<a>" * 1_000_000)
    tracemalloc.start()
    assert "line 10 has elements nested more than 10 deep" in refused_campaign(path)
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()
