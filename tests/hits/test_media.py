"""Pictures, sounds and videos as sources: checked by content, stored, served to those who may see them, deleted."""

import io
import tarfile
import time
import zipfile
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from analysis.examples.removing import remove_campaign
from da_platform.operation.backups import files as backup_files
from hits.campaigns.editing import duplicate_campaign
from hits.campaigns.importing import import_campaign
from hits.chores import do_chores
from hits.exceptions import ImportRefused
from hits.media import detecting
from hits.media.detecting import check_captions, check_media, type_of
from hits.media.storing import folder_of
from hits.models import Assignment, Campaign, Item, MediaFile
from hits.rating.assignments import submit_assignment
from tests.api.callers import caller
from tests.factories import rate_items
from tests.hits.worker.steps import JSON, enter, page, post_rating, take
from tests.media import CAPTIONS, media_campaign, png, wav, write_folder
from tests.people import client_of, make_person

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def media_folder(settings: Any, tmp_path: Path) -> Path:
    settings.MEDIA_DIR = tmp_path / "kept"
    return tmp_path / "kept"


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return media_campaign(tmp_path / "upload")


@pytest.fixture
def assignment(client: Client, campaign: Campaign) -> Assignment:
    enter(client, campaign)
    return take(client, campaign)


# What a file is ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "content_type"),
    [
        (png(), "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBP", "image/webp"),
        (wav(), "audio/wav"),
        (b"fLaC", "audio/flac"),
        (b"OggS\0\x02vorbis", "audio/ogg"),
        (b"ID3\x04", "audio/mpeg"),
        (b"\xff\xfb\x90", "audio/mpeg"),
        (b"\0\0\0\x20ftypM4A ", "audio/mp4"),
        (b"\0\0\0\x20ftypisom", "video/mp4"),
        (b"\0\0\0\x20ftypmp42", "video/mp4"),
        (b"\0\0\0\x20ftypM4V ", "video/mp4"),
        (b"\x1a\x45\xdf\xa3\x42\x82\x84webm....V_VP9", "video/webm"),
        (b"\x1a\x45\xdf\xa3\x42\x82\x84webm....A_OPUS", "audio/webm"),
    ],
)
def test_a_file_is_what_its_first_bytes_say(head: bytes, content_type: str):
    found = type_of(head)
    assert found is not None and found.content_type == content_type
    assert found.kind == content_type.partition("/")[0]


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>",
        b"<!doctype html><script>1</script>",
        b"%PDF-1.7",
        b"PK\x03\x04",
        b"OggS\0\x02theora",
        b"MZ",
        b"\x1a\x45\xdf\xa3matroska",
        b"\0\0\0\x20ftypavif",
        b"\0\0\0\x20ftypheic",
        b"\0\0\0\x14ftypqt  ",
        b"\0\0\0\x14ftyp3gp4",
        b"\0\0\0\x14ftyp",
    ],
)
def test_everything_else_is_refused(tmp_path: Path, head: bytes):
    path = tmp_path / "picture.png"
    path.write_bytes(head)
    assert "is not a picture, sound or video that browsers play" in str(check_media(path))


def test_files_have_limits_of_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(detecting.MAX_BYTES, "image", 10)
    path = tmp_path / "a.png"
    path.write_bytes(png())
    assert "image files may have 10" in str(check_media(path))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"1\n00:00:01,000 --> 00:00:02,000\nSRT", "its first line must be WEBVTT"),
        (b"WEBVTT\n\n00:01 --> 00:02\nx", "has a wrong time on line 3"),
        (b"WEBVTT \xff", "is not UTF-8 at byte 7"),
    ],
)
def test_captions_are_webvtt(tmp_path: Path, content: bytes, reason: str):
    path = tmp_path / "a.vtt"
    path.write_bytes(content)
    assert reason in str(check_captions(path))
    path.write_text(CAPTIONS)
    assert not isinstance(check_captions(path), str)


# Importing -----------------------------------------------------------------------------------


def imported(folder: Path, **options: Any) -> Campaign:
    settings = {"name": "M", "source_language": "de", "target_language": "en", "task": "source"}
    return import_campaign(path=folder, **settings | options).campaign


def test_a_folder_with_a_table_and_its_media_is_imported(tmp_path: Path):
    campaign = imported(write_folder(tmp_path / "upload"))
    first, second, third = campaign.segments.all()[:3]
    assert campaign.has_media and first.source == "" and first.media.kind == "image"
    assert second.media.content_type == "audio/wav" and second.captions.kind == "captions"
    assert second.source.startswith("Quelle 2") and third.media is None
    assert second.media.path.read_bytes() == wav(2_002)
    # Nothing in the place of a file tells which one it is.
    names = {path.name for path in folder_of(campaign).iterdir()}
    assert names == {file.code.hex for file in MediaFile.objects.all()} and len(names) == 12


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda root: (root / "media" / "p1.dat").unlink(), "p1.dat: is named by the table, but"),
        (lambda root: (root / "x.png").write_bytes(png()), "x.png: is not named by any row"),
        (lambda root: (root / "media/p1.dat").write_bytes(b"<svg/>"), "is not a picture, sound"),
        (lambda root: (root / "media/words.vtt").write_text("SRT"), "words.vtt: is not WebVTT"),
        (lambda root: (root / "b.csv").write_text("x"), "must have one table"),
        (lambda root: _replace(root, "media/p1.dat", "../../etc/passwd"), "points outside the"),
        (lambda root: _replace(root, "media/p1.dat", "/etc/passwd"), "points outside the"),
        (lambda root: _replace(root, "\tmedia/s2.dat\t", "\t\t"), "has captions, but no media"),
        (lambda root: _replace(root, "media/words.vtt", "media/p1.dat"), "is not"),
    ],
)
def test_a_bad_upload_is_refused_with_its_file(tmp_path: Path, change: Any, reason: str):
    root = write_folder(tmp_path / "upload")
    change(root)
    with pytest.raises(ImportRefused) as refusal:
        imported(root, format="media")
    assert reason in str(refusal.value)
    assert not Campaign.objects.exists() and not MediaFile.objects.exists()


def _replace(root: Path, old: str, new: str) -> None:
    table = root / "table.tsv"
    table.write_text(table.read_text().replace(old, new))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"task": "reference"}, "has no column 'reference'"),
        ({"task": "fluency"}, "workers would not see sources in this task"),
        ({"task": "rank", "hit_size": 3, "shows": "reference"}, "has no column 'reference'"),
    ],
)
def test_tasks_that_do_not_show_sources_refuse_media(tmp_path: Path, options: Any, reason: str):
    options = dict(options)
    if "presentation" in options:
        options["presentation"] = Campaign.Presentation.SIDE_BY_SIDE
    with pytest.raises(ImportRefused) as refusal:
        imported(write_folder(tmp_path / "upload"), **options)
    assert reason in str(refusal.value)


def test_a_table_alone_cannot_name_media(tmp_path: Path):
    root = write_folder(tmp_path / "upload")
    with pytest.raises(ImportRefused, match="upload the table and the files together"):
        imported(root / "table.tsv")


def zipped(root: Path) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in sorted(root.rglob("*")):
            archive.write(path, path.relative_to(root.parent))
    return buffer.getvalue()


def test_a_zip_is_imported_over_the_api(tmp_path: Path):
    content = zipped(write_folder(tmp_path / "upload"))
    fields = {"name": "Zipped", "source_language": "de", "target_language": "en", "task": "source"}
    package = SimpleUploadedFile("media.zip", content)
    answer = caller("superuser").upload("/campaigns", fields | {"package": package})
    assert answer.status_code == 201, answer.content
    assert Campaign.objects.get().media_files.count() == 12


# Serving -------------------------------------------------------------------------------------


def first_item(assignment: Assignment, kind: str) -> Item:
    items = assignment.hit.items.filter(translation__segment__media__kind=kind)
    return items.order_by("position").first()


def address(assignment: Assignment, item: Item, part: str = "source") -> str:
    return page("item_media", assignment.code, part, item.code)


def body_of(answer: Any) -> bytes:
    return b"".join(answer.streaming_content)


def status_of(client: Client, url: str, **options: Any) -> int:
    """The status of a response, which is read to its end."""
    answer = client.get(url, **options)
    if answer.streaming:
        body_of(answer)
    return answer.status_code


def test_the_screen_s_file_is_sent_with_its_type(client: Client, assignment: Assignment):
    item = first_item(assignment, "image")
    answer = client.get(address(assignment, item))
    assert answer.status_code == 200 and answer["Content-Type"] == "image/png"
    assert body_of(answer) == item.translation.segment.media.path.read_bytes()
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Accept-Ranges"] == "bytes" and answer["Content-Disposition"] == "inline"
    assert "media-src 'self'" in answer["Content-Security-Policy"]
    sound = first_item(assignment, "audio")
    captions = client.get(address(assignment, sound, "captions"))
    assert captions["Content-Type"] == "text/vtt; charset=utf-8"
    assert body_of(captions).decode() == CAPTIONS


@pytest.mark.parametrize(
    ("asked", "status", "span"),
    [
        ("bytes=0-3", 206, (0, 3)),
        ("bytes=10-", 206, (10, None)),
        ("bytes=-5", 206, (-5, None)),
        ("bytes=0-999999999", 206, (0, None)),
        ("bytes=999999999-", 416, None),
        ("bytes=5-2", 416, None),
        ("bytes=-0", 416, None),
        ("bytes=0-1,3-4", 200, (0, None)),
        ("lines=1-2", 200, (0, None)),
        ("bytes=-", 200, (0, None)),
    ],
)
def test_players_get_the_range_they_ask_for(
    client: Client, assignment: Assignment, asked: str, status: int, span: Any
):
    item = first_item(assignment, "audio")
    whole = item.translation.segment.media.path.read_bytes()
    answer = client.get(address(assignment, item), headers={"Range": asked})
    assert answer.status_code == status
    if span is None:
        assert answer["Content-Range"] == f"bytes */{len(whole)}"
        return
    first, last = span
    expected = whole[first:] if last is None else whole[first : last + 1]
    assert body_of(answer) == expected and answer["Content-Length"] == str(len(expected))
    if status == 206:
        start = len(whole) - len(expected) if first < 0 else first
        end = start + len(expected) - 1
        assert answer["Content-Range"] == f"bytes {start}-{end}/{len(whole)}"


def test_only_the_worker_of_the_screen_gets_it(client: Client, assignment: Assignment):
    item, campaign = first_item(assignment, "image"), assignment.hit.campaign
    other = Client()
    enter(other, campaign)
    mallory = take(other, campaign)
    for visitor, url in (
        (Client(), address(assignment, item)),
        (other, address(assignment, item)),
        (other, address(mallory, item))
        if mallory.hit_id != assignment.hit_id
        else (Client(), "/x"),
        (client, page("item_media", assignment.code, "source", uuid4())),
        (client, page("item_media", assignment.code, "reference", item.code)),
        (client, page("item_media", uuid4(), "source", item.code)),
    ):
        assert visitor.get(url).status_code == 404, url
    assert client.post(address(assignment, item)).status_code == 405


def test_what_was_answered_or_not_yet_sent_is_not_served(client: Client, assignment: Assignment):
    sent = {shown["item"] for shown in client.get(page("rate", assignment.code)).context["items"]}
    for item in assignment.hit.items.exclude(translation__segment__media=None):
        status = status_of(client, address(assignment, item))
        assert status == (200 if str(item.code) in sent else 404), item.position
    rate_items(assignment, n_items=39)
    done = assignment.hit.items.exclude(translation__segment__media=None).filter(position__lt=40)
    assert {status_of(client, address(assignment, item)) for item in done} == {404}
    rate_items(assignment)
    submit_assignment(assignment=assignment)
    last = assignment.hit.items.get(position=40)
    assert status_of(client, address(assignment, last)) == 404


def test_earlier_segments_of_the_document_keep_their_media(client: Client, tmp_path: Path):
    campaign = media_campaign(tmp_path / "documents", name="Talks", presentation="document")
    enter(client, campaign)
    assignment = take(client, campaign)
    runs = list(assignment.hit.items.order_by("position").values_list("run", flat=True))
    start = next(
        place for place in range(len(runs)) if runs[place : place + 4] == [runs[place]] * 4
    )
    rate_items(assignment, n_items=start + 3)
    shown = client.get(page("rate", assignment.code))
    for item in assignment.hit.items.exclude(translation__segment__media=None):
        is_sent = str(item.code) in {each["item"] for each in shown.context["items"]}
        is_shown = is_sent or item.run == runs[start] and item.position > start
        assert (status_of(client, address(assignment, item)) == 200) is is_shown, item.position
    earlier = [each["media"] for each in shown.context["earlier"] if "media" in each]
    assert len(earlier) >= 2
    # The same without scripts; players of earlier segments load nothing until they are used.
    html = shown.content.decode()
    assert html.count('preload="none"') == earlier.count("audio")
    assert html.count('loading="lazy"') == earlier.count("image")


@pytest.mark.parametrize(
    "options",
    [{"presentation": "side", "outputs_per_screen": 2}, {"task": "rank", "hit_size": 3}],
)
def test_several_outputs_share_the_media_of_their_source(
    client: Client, tmp_path: Path, options: Any
):
    if "task" in options:
        options = options | {"shows": "source"}
    campaign = media_campaign(tmp_path / "several", name="Several", **options)
    enter(client, campaign)
    assignment = take(client, campaign)
    shown = client.get(page("rate", assignment.code)).context["items"]
    for screen in shown:
        segment = Item.objects.get(code=screen["item"]).translation.segment
        kind = segment.media.kind if segment.media else None
        assert screen.get("media") == kind
        if kind:
            item = Item.objects.get(code=screen["item"])
            assert status_of(client, address(assignment, item)) == 200


def test_hidden_items_have_the_same_kind_of_address_and_fields(
    client: Client, assignment: Assignment
):
    context = client.get(page("rate", assignment.code)).context
    roles = dict(assignment.hit.items.values_list("code", "role"))
    fields = {}
    for shown in context["items"]:
        segment = Item.objects.get(code=shown["item"]).translation.segment
        kind = segment.media.kind if segment.media else None
        assert shown.get("media") == kind and shown["above"] == segment.source
        key = kind, segment.captions is not None
        fields.setdefault(key, set()).add(tuple(sorted(shown)))
    assert len(set(roles.values())) > 1
    # By the kind of media only, not by role.
    assert all(len(variants) == 1 for variants in fields.values())
    names = {file.code.hex for file in MediaFile.objects.all()}
    html = client.get(page("rate", assignment.code)).content.decode()
    assert not any(name in html.replace("-", "") for name in names) and "media/p" not in html


def test_answers_bring_the_next_item_with_its_media(client: Client, assignment: Assignment):
    answer = post_rating(client, assignment, 1)
    for shown in answer.json()["items"]:
        segment = Item.objects.get(code=shown["item"]).translation.segment
        assert shown.get("media") == (segment.media.kind if segment.media else None)


def test_staff_see_it_in_the_preview(campaign: Campaign):
    item = Item.objects.filter(translation__segment__media__kind="image").first()
    url = reverse("preview_media", args=[campaign.code, "source", item.code])
    assert status_of(client_of("admin"), url) == 200
    assert status_of(client_of("admin", campaign), url) == 200
    assert status_of(client_of("researcher"), url) == 403
    assert Client().get(url).status_code == 302
    wrong = reverse("preview_media", args=[campaign.code, "systems", item.code])
    assert client_of("admin").get(wrong).status_code == 404
    html = (
        client_of("admin")
        .get(reverse("preview_item", args=[campaign.code, 1, item.position]))
        .content.decode()
    )
    assert url in html


def test_the_page_works_without_scripts(client: Client, assignment: Assignment):
    item = first_item(assignment, "audio")
    rate_items(assignment, n_items=item.position - 1)
    html = client.get(page("rate", assignment.code)).content.decode()
    assert f'<audio src="{address(assignment, item)}" controls' in html
    assert 'aria-label="The source as sound"' in html and 'kind="captions"' in html


# Copies, backups and deletion ----------------------------------------------------------------


def test_a_duplicate_has_its_own_files(campaign: Campaign):
    copy = duplicate_campaign(campaign=campaign, name="Copy", actor=make_person("superuser"))
    pairs = zip(campaign.segments.all(), copy.segments.all(), strict=True)
    for segment, twin in pairs:
        assert (segment.media is None) == (twin.media is None)
        if segment.media:
            assert twin.media.path.read_bytes() == segment.media.path.read_bytes()
            assert twin.media.code != segment.media.code
    assert copy.has_media and copy.media_files.count() == campaign.media_files.count()


def test_backups_hold_the_files(settings: Any, campaign: Campaign, tmp_path: Path):
    settings.DATA_DIR = tmp_path
    (tmp_path / "backup").mkdir()
    settings.BACKUP_DIR = tmp_path / "backup"
    backup_files.pack(tmp_path / "backup")
    with tarfile.open(tmp_path / "backup" / backup_files.FILES) as archive:
        names = archive.getnames()
    kept = MediaFile.objects.first()
    assert f"kept/{campaign.code.hex}/{kept.code.hex}" in names


def test_files_go_with_their_campaign(campaign: Campaign, media_folder: Path):
    Campaign.objects.filter(pk=campaign.pk).update(is_example=True)
    campaign.refresh_from_db()
    remove_campaign(campaign)
    assert not MediaFile.objects.exists() and not folder_of(campaign).exists()


def test_files_without_a_campaign_are_dropped_after_a_day(
    campaign: Campaign, media_folder: Path, monkeypatch: pytest.MonkeyPatch
):
    orphan = media_folder / uuid4().hex
    orphan.mkdir()
    assert do_chores().n_media_dropped == 0 and orphan.exists()
    now = time.time()
    monkeypatch.setattr("hits.media.storing.time.time", lambda: now + 90_000)
    assert do_chores().n_media_dropped == 1
    assert not orphan.exists() and folder_of(campaign).exists()


def test_json_is_not_needed_to_see_media(client: Client, assignment: Assignment):
    item = first_item(assignment, "image")
    assert status_of(client, address(assignment, item), headers=JSON) == 200
    headers = client.head(address(assignment, item))
    assert headers.status_code == 200 and int(headers["Content-Length"]) > 0
    headers.close()
