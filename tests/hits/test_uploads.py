"""Uploads stay within their limits and within their folder."""

import io
import os
import stat
import time
import tracemalloc
import zipfile
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import override_settings
from django.utils import timezone

from hits.campaigns import uploads
from hits.campaigns.uploads import Upload, campaign_path, drop_old_drafts, folder_of, keep_files
from hits.exceptions import ImportRefused
from hits.models import CampaignDraft
from tests.people import make_person

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _own_folder(tmp_path):
    with override_settings(UPLOADS_DIR=tmp_path / "uploads"):
        yield


@pytest.fixture
def draft():
    return CampaignDraft.objects.create(owner=make_person("admin"), basics={"name": "new"})


def upload(name: str, content: bytes = b"a line\n", path: str | None = None) -> Upload:
    return Upload(path or name, SimpleUploadedFile(name, content))


def zipped(entries: dict[str, bytes], name: str = "campaign.zip") -> Upload:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in entries.items():
            archive.writestr(zipfile.ZipInfo(path), content, zipfile.ZIP_DEFLATED)
    return upload(name, packed.getvalue())


def stored_files(draft: CampaignDraft) -> list[str]:
    folder = folder_of(draft)
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )


def reasons(draft: CampaignDraft, *uploaded: Upload) -> str:
    with pytest.raises(ImportRefused) as refusal:
        keep_files(draft=draft, uploads=uploaded)
    return str(refusal.value)


def test_files_are_stored_under_their_names_with_their_sizes(draft):
    names = ["A.txt", "système é.txt"]
    keep_files(draft=draft, uploads=[upload(name, path=f"systems/{name}") for name in names])
    assert stored_files(draft) == [f"systems/{name}" for name in names]
    assert [file["size"] for file in draft.files] == [7, 7]
    assert campaign_path(draft) == folder_of(draft)


def test_a_zip_is_unpacked_without_its_outer_folder_and_hidden_files(draft):
    entries = {
        "news/sources.txt": b"x\n",
        "news/systems/A.txt": b"y\n",
        "__MACOSX/news/._sources.txt": b"",
        "news/.DS_Store": b"",
    }
    keep_files(draft=draft, uploads=[zipped(entries)])
    assert stored_files(draft) == ["news/sources.txt", "news/systems/A.txt"]
    assert campaign_path(draft) == folder_of(draft) / "news"


def test_a_zip_with_one_table_is_read_as_that_table(draft):
    keep_files(draft=draft, uploads=[zipped({"deep/er/table.tsv": b"x\n"})])
    assert campaign_path(draft) == folder_of(draft) / "deep/er/table.tsv"


def test_new_files_replace_the_earlier_ones(draft):
    keep_files(draft=draft, uploads=[upload("old.tsv")])
    keep_files(draft=draft, uploads=[upload("new.tsv")])
    assert stored_files(draft) == ["new.tsv"]


@pytest.mark.parametrize(
    "path",
    ["../out.txt", "a/../../out.txt", "/etc/passwd", "..\\out.txt", "C:\\out.txt", "a/\u202eb.txt"],
)
def test_a_name_outside_the_folder_or_with_hidden_characters_is_refused(draft, path):
    keep_files(draft=draft, uploads=[upload("old.tsv")])
    assert "has a name" in reasons(draft, zipped({path: b"x"}))
    assert stored_files(draft) == ["old.tsv"]
    root = folder_of(draft).parent
    assert [folder.name for folder in root.iterdir()] == [str(draft.code)]
    assert not (root.parent / "out.txt").exists()


def test_a_link_in_a_zip_is_refused(draft):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        entry = zipfile.ZipInfo("sources.txt")
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(entry, "/etc/passwd")
    assert "is a link or a device" in reasons(draft, upload("x.zip", packed.getvalue()))


def test_a_repeated_file_a_broken_zip_and_no_file_are_refused(draft):
    assert "appears twice" in reasons(draft, upload("a.tsv"), upload("a.tsv"))
    assert "is not a readable zip file" in reasons(
        draft, upload("x.zip", b"PK\x03\x04 and no more")
    )
    assert "No files were chosen" in reasons(draft)


def test_too_many_files_are_refused(draft, monkeypatch):
    monkeypatch.setattr(uploads, "MAX_FILES", 3)
    assert "more than 3 files" in reasons(draft, zipped({f"{i}.txt": b"x" for i in range(4)}))


def test_too_many_bytes_are_refused_however_well_they_are_compressed(draft, monkeypatch):
    monkeypatch.setattr(uploads, "MAX_BYTES", 3_000_000)
    bomb = zipped({"a.txt": b"0" * 9_000_000})
    assert bomb.file.size is not None and bomb.file.size < 20_000
    assert "more than 3,000,000 bytes" in reasons(draft, bomb)
    assert not folder_of(draft).exists()


def test_a_zip_bomb_is_refused_before_the_limit_is_reached(draft, monkeypatch):
    monkeypatch.setattr(uploads, "RATIO_COUNTS_FROM", 1_000_000)
    monkeypatch.setattr(uploads, "MAX_RATIO", 100)
    assert "far more data than text would" in reasons(draft, zipped({"a.txt": b"0" * 9_000_000}))


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_unsupported_compression_is_refused_without_unpacking(draft, method):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        archive.writestr("a.txt", b"0" * 50_000_000)
    tracemalloc.start()
    assert "a.txt: uses an unsupported compression method" in reasons(
        draft, upload("x.zip", packed.getvalue())
    )
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()


@pytest.mark.parametrize("path", ["{}/", ".hidden{}", "__MACOSX/{}", "{}.txt"])
def test_ignored_entries_count_towards_the_limit(draft, monkeypatch, path):
    monkeypatch.setattr(uploads, "MAX_ENTRIES", 5)
    first, second = ({path.format(i): b"" for i in part} for part in (range(3), range(3, 6)))
    uploaded = [zipped(first, "first.zip"), zipped(second, "second.zip")]
    assert "more than 5 files and folders in zips" in reasons(draft, *uploaded)


def test_a_long_list_of_entries_is_refused_without_reading_it(draft):
    bomb = zipped({f"{i:04}{'x' * 500}/": b"" for i in range(4_000)})
    assert "it has too many entries" in reasons(draft, bomb)


def test_a_zip_with_a_comment_is_read(draft):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.tsv", b"x\n")
        archive.comment = b"made by hand" * 1_000
    keep_files(draft=draft, uploads=[upload("x.zip", packed.getvalue())])
    assert stored_files(draft) == ["a.tsv"]


def test_abandoned_drafts_are_deleted_with_their_files(draft):
    keep_files(draft=draft, uploads=[upload("a.tsv")])
    assert drop_old_drafts() == 0 and stored_files(draft) == ["a.tsv"]
    assert drop_old_drafts(at=timezone.now() + timedelta(days=8)) == 1
    assert not folder_of(draft).exists() and not CampaignDraft.objects.exists()


def test_a_folder_that_disappears_in_the_meantime_is_skipped(draft, monkeypatch):
    keep_files(draft=draft, uploads=[upload("a.tsv")])
    gone = folder_of(draft).parent / ".new-gone"
    monkeypatch.setattr(Path, "iterdir", lambda self: iter([gone, folder_of(draft)]))
    drop_old_drafts()
    monkeypatch.undo()
    assert stored_files(draft) == ["a.tsv"]


def test_files_without_a_draft_are_removed_after_some_days(draft):
    keep_files(draft=draft, uploads=[upload("a.tsv")])
    stray = Path(folder_of(draft).parent) / ".new-stray"
    stray.mkdir()
    drop_old_drafts()
    assert stray.exists()
    long_ago = time.time() - 9 * 24 * 3600
    os.utime(stray, (long_ago, long_ago))
    os.utime(folder_of(draft), (long_ago, long_ago))
    drop_old_drafts()
    assert not stray.exists() and stored_files(draft) == ["a.tsv"]


def test_a_damaged_zip_is_refused(draft):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("sources.txt", "a line\n" * 100)
    intact = packed.getvalue()
    start = intact.index(b"sources.txt") + len("sources.txt")
    damaged_text = intact[: start + 4] + b"\xff" * 8 + intact[start + 12 :]
    end = intact.rindex(b"PK\x05\x06")
    damaged_offset = intact[: end + 16] + b"\xff\xff\xff\x00" + intact[end + 20 :]
    for content in (damaged_text, damaged_offset):
        refused = reasons(draft, upload("campaign.zip", content))
        assert "campaign.zip: is not a readable zip file" in refused
