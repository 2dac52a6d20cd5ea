"""An export is written completely and with its sidecar, or not at all."""

import hashlib
import json
import resource
import tracemalloc

import pytest

from analysis.exporting import ExportFailed, ExportRefused, export, writers
from analysis.exporting.queries import Column, Kind
from analysis.exporting.writers import CSVWriter, JSONLinesWriter, ParquetWriter
from da_platform import __version__
from da_platform.files import destinations
from da_platform.files.cells import CellCache
from tests.analysis.export_rows import make_gold
from tests.factories import make_campaign, make_hits

pytestmark = pytest.mark.django_db
TABLES = ("csv", "tsv", "jsonl", "parquet")
LAYOUTS = (*TABLES, "mtme", "mtme-raw", "published")
ALL = [(kind, format) for kind in ("ratings", "document-ratings", "evidence") for format in TABLES]
ALL += [("documents", format) for format in TABLES]
ALL += [(kind, format) for kind in ("segments", "systems") for format in LAYOUTS]


@pytest.fixture
def run():
    return make_gold(name="News, =cs-en")


def export_segments(run, path, format="csv", **options):
    return export(kind="segments", campaign=run.campaign, path=path, format=format, **options)


@pytest.mark.parametrize(("kind", "format"), ALL)
def test_the_sidecar_describes_the_file(run, tmp_path, kind, format):
    summary = export(kind=kind, campaign=run.campaign, path=tmp_path, format=format)
    content = summary.path.read_bytes()
    meta = json.loads(summary.meta_path.read_text())
    assert meta == summary.meta
    assert meta["sha256"] == summary.sha256 == hashlib.sha256(content).hexdigest()
    assert meta["n_bytes"] == summary.n_bytes == len(content)
    assert meta["n_rows"] == summary.n_rows
    assert (meta["export"], meta["format"]) == (kind, format)
    assert meta["campaign"]["code"] == str(run.campaign.code)
    settings = {name: meta["campaign"][name] for name in ("degradation", "trust_rule", "drift")}
    assert settings == {"degradation": "published", "trust_rule": "published", "drift": "count"}
    assert meta["platform_version"] == __version__
    assert meta["signature"].startswith(f"export:{kind}|format:{format}|")
    assert ("gold_run" in meta) == (kind in {"segments", "documents", "systems"})


def test_the_sidecar_names_the_gold_run(run, tmp_path):
    summary = export(kind="systems", campaign=run.campaign, path=tmp_path / "s.csv", format="csv")
    gold = summary.meta["gold_run"]
    assert (gold["number"], gold["code"]) == (1, str(run.code))
    assert (gold["signature"], gold["input_digest"]) == (run.signature, run.input_digest)
    assert "|gold:1|input:abababababab|" in summary.meta["signature"]


def test_in_a_folder_a_file_is_named_after_its_content(run, tmp_path):
    assert export_segments(run, tmp_path).path == tmp_path / "news-cs-en.segments.csv"


def test_a_campaign_without_latin_letters_is_named_by_its_code(tmp_path):
    campaign = make_campaign(name="新闻")
    summary = export(kind="ratings", campaign=campaign, path=tmp_path, format="csv")
    assert summary.path.name == f"{campaign.code.hex}.ratings.csv"


def test_an_existing_file_is_replaced_only_by_force(run, tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("mine")
    with pytest.raises(ExportRefused, match="already exists"):
        export_segments(run, path)
    assert [file.name for file in tmp_path.iterdir()] == ["s.csv"] and path.read_text() == "mine"
    export_segments(run, path, force=True)
    assert path.read_text().startswith("campaign,")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["s.csv", "s.csv.meta.json"]


def test_a_broken_link_counts_as_an_existing_file(run, tmp_path):
    (tmp_path / "s.csv").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ExportRefused, match="already exists"):
        export_segments(run, tmp_path / "s.csv")


def test_a_file_that_appears_during_the_export_is_not_overwritten(run, tmp_path):
    path = tmp_path / "s.csv"
    with pytest.raises(ExportFailed, match="exists"):
        export_segments(run, path, progress=lambda n: path.write_text("mine"))
    assert path.read_text() == "mine" and [file.name for file in tmp_path.iterdir()] == ["s.csv"]


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "parquet", "mtme", "published"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, SystemExit])
def test_an_interrupted_export_leaves_nothing(run, tmp_path, format, error):
    def interrupt(n_rows: int) -> None:
        assert [file.suffix for file in tmp_path.iterdir()] == [".part"]
        raise error

    with pytest.raises(error):
        export_segments(run, tmp_path / "file", format, progress=interrupt)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_replacement_keeps_the_old_file(run, tmp_path):
    export_segments(run, tmp_path / "s.csv")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}

    def interrupt(n_rows: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_segments(run, tmp_path / "s.csv", "jsonl", force=True, progress=interrupt)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.fixture
def full_disk():
    """Let no file grow beyond 100 bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet", "mtme"])
def test_a_full_disk_is_reported_and_nothing_is_left(run, tmp_path, full_disk, format):
    with pytest.raises(ExportFailed, match="Could not write .*: File too large. No partial file"):
        export_segments(run, tmp_path / "file", format)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_created_is_reported(run, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ExportFailed, match="Could not write"):
        export_segments(run, tmp_path / "file" / "s.csv")


def test_exports_work_without_hard_links(run, tmp_path, monkeypatch):
    def refuse(*names: object) -> None:
        raise PermissionError("no links here")

    monkeypatch.setattr(destinations.os, "link", refuse)
    summary = export_segments(run, tmp_path / "s.csv")
    assert hashlib.sha256(summary.path.read_bytes()).hexdigest() == summary.sha256
    assert len(list(tmp_path.iterdir())) == 2


# --- refusals ---------------------------------------------------------------------------------------


def refused(**order) -> str:
    with pytest.raises(ExportRefused) as refusal:
        export(**order)
    return str(refusal.value)


def test_impossible_exports_are_refused(run, tmp_path):
    order = {"campaign": run.campaign, "path": tmp_path / "x", "kind": "ratings", "format": "csv"}
    assert "cannot be exported" in refused(**order | {"kind": "workers"})
    assert "not a supported format" in refused(**order | {"format": "xlsx"})
    assert "not for ratings" in refused(**order | {"format": "mtme"})
    assert "not for evidence" in refused(**order | {"kind": "evidence", "format": "published"})
    assert "gold run" in refused(**order, run=run)
    assert "history" in refused(**order, history=True)
    assert "parquet is binary" in refused(**order | {"format": "parquet", "path": "-"})
    assert list(tmp_path.iterdir()) == []


def test_scores_cannot_be_exported_without_gold(tmp_path):
    campaign = make_hits()
    message = refused(kind="segments", campaign=campaign, path=tmp_path / "s.csv", format="csv")
    assert message == f"{campaign} has no gold yet. Build it first."


def test_the_gold_of_another_campaign_is_refused(run, tmp_path):
    order = {"kind": "systems", "campaign": make_hits(), "path": tmp_path / "s", "format": "csv"}
    assert "does not belong to" in refused(**order, run=run)


# --- memory -----------------------------------------------------------------------------------------


class Nowhere:
    """A stream that discards what is written."""

    closed = False

    def write(self, block: bytes) -> int:
        return memoryview(block).nbytes

    def flush(self) -> None: ...

    def close(self) -> None: ...


def peak_of_writing(writer_class, n_rows: int, **options) -> int:
    columns = [Column("text", Kind.TEXT), Column("score", Kind.INTEGER)]
    tracemalloc.start()
    try:
        writer = writer_class(destinations.HashingStream(Nowhere()).as_file(), columns, **options)
        for first in range(0, n_rows, 500):
            texts = [f"worker {place}" for place in range(first, first + 500)]
            writer.write([texts, list(range(500))])
        writer.finish()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("writer_class", "options"),
    [(CSVWriter, {}), (JSONLinesWriter, {}), (ParquetWriter, {"metadata": {}})],
)
def test_memory_does_not_grow_with_the_number_of_rows(monkeypatch, writer_class, options):
    monkeypatch.setattr(CellCache, "MAX_CELLS", 2_000)
    monkeypatch.setattr(writers, "ROW_GROUP_ROWS", 2_000)
    few = peak_of_writing(writer_class, 4_000, **options)
    many = peak_of_writing(writer_class, 16_000, **options)
    assert many < 1.2 * few
