"""Post-editions from files become those of a campaign: by command, on the page and through the API."""

import csv
import zipfile
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from analysis.exporting import export
from analysis.post_editions.collected import agreement_of_editors
from analysis.post_editions.measures import compute_targeted
from hits.models import Assignment, AuditEntry, Campaign, Participation, PostEdition
from tests.api.callers import caller
from tests.factories import make_campaign, make_hits, make_translations
from tests.people import client_of

pytestmark = pytest.mark.django_db


def make_draft(name: str = "Edited", **fields: str) -> Campaign:
    campaign = make_campaign(**{"name": name, "task": "edit", "hit_size": 20} | fields)
    make_translations(campaign, n_segments=3)
    return campaign


def rows_of(campaign: Campaign) -> list[tuple[str, str, str]]:
    """System, segment and text of every output, in the order of the segments."""
    return [
        (output.system.name, segment.name, str(output))
        for segment in campaign.segments.order_by("position")
        for output in segment.outputs.select_related("system", "translation").order_by("system")
    ]


def table_of(campaign: Campaign, *editors: str) -> str:
    lines = ["system\tsegment\tpost_edition\teditor\tseconds"]
    for place, (system, segment, text) in enumerate(rows_of(campaign)):
        for number, editor in enumerate(editors):
            lines.append(f"{system}\t{segment}\t{text} {number or ''}\t{editor}\t{10 + place}")
    return "\n".join(line.replace(" \t", "\t") for line in lines) + "\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return tmp_path / "edits.tsv"


def run(campaign: Campaign, path: Path, *options: str) -> None:
    call_command("import_post_editions", campaign.name, str(path), *options)


def test_a_table_becomes_post_editions_by_trusted_editors(table: Path, capsys, tmp_path: Path):
    campaign = make_draft()
    n_outputs = len(rows_of(campaign))
    table.write_text(table_of(campaign, "ann", "ben"))
    run(campaign, table)
    assert f"Imported {2 * n_outputs} post-editions of {n_outputs} texts by 2 editors" in (
        capsys.readouterr().out
    )
    campaign.refresh_from_db()
    assert (campaign.is_archive, campaign.status) == (True, "closed")
    assert {row.state for row in campaign.participations.all()} == {
        Participation.Decision.REINSTATED
    }
    assert Assignment.objects.filter(evidence_at=None).count() == 0
    assert set(AuditEntry.objects.filter(campaign=campaign).values_list("action", flat=True)) == {
        "collection imported",
        "reinstated",
    }
    agreement = agreement_of_editors(campaign)
    assert (agreement.n_pairs, agreement.share_equal) == (n_outputs, 0)
    golds = {gold.name: gold for gold in compute_targeted(campaign=campaign, use="gold")}
    assert golds["PET"].table["score"] == [10.0 + place for place in range(n_outputs)]
    # One editor changed nothing, and TER with several references counts the nearest.
    assert set(golds["HTER"].table["score"]) == {0.0}
    export(kind="post-editions", campaign=campaign, path=tmp_path / "out.csv", format="csv")
    with (tmp_path / "out.csv").open(encoding="utf-8") as file:
        exported = list(csv.DictReader(file))
    texts = {(row["systems"], row["segment"], row["post_edition"]) for row in exported}
    expected = {
        (system, segment, f"{text}{ending}")
        for system, segment, text in rows_of(campaign)
        for ending in ("", " 1")
    }
    assert texts == expected


def test_a_plain_file_has_a_line_for_each_segment_of_one_system(table: Path):
    campaign = make_draft()
    system = rows_of(campaign)[0][0]
    table.write_text("".join(f"line {number}\n" for number in (1, 2, 3)))
    run(campaign, table, "--system", system)
    edits = PostEdition.objects.order_by("item__position")
    assert [edit.text for edit in edits] == ["line 1", "line 2", "line 3"]
    assert [edit.item.translation.segment.position for edit in edits] == [1, 2, 3]
    assert [edit.field_ms for edit in edits] == [None, None, None]


def test_a_plain_file_of_another_length_is_refused(table: Path):
    campaign = make_draft()
    system = rows_of(campaign)[0][0]
    table.write_text("only one\n")
    with pytest.raises(CommandError, match=r"has 1 lines, but .* has 3 outputs"):
        run(campaign, table, "--system", system)
    with pytest.raises(CommandError, match="has no outputs of 'nobody'"):
        run(campaign, table, "--system", "nobody")
    assert not PostEdition.objects.exists()


def test_only_a_draft_for_post_editing_without_hits_takes_them(table: Path):
    rated = make_draft("Rated", task="reference", hit_size=100)
    table.write_text(table_of(rated, "ann"))
    with pytest.raises(CommandError, match="is not for post-editing"):
        run(rated, table)
    built = make_hits(name="Built", task="edit", hit_size=20, n_segments=14)
    table.write_text(table_of(built, "ann"))
    with pytest.raises(CommandError, match="is open or has HITs"):
        run(built, table)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("nobody\tsegment-1\ttext\tann\t3", "the campaign has no"),
        ("{0}\t{1}\t\tann\t3", "the post-edition is empty"),
        ("{0}\t{1}\ttext\tann\t-3", "the time is negative"),
        ("{0}\t{1}\ttext\tann\t9000000", "the time is longer than 604,800 seconds"),
        ("{0}\t{1}\ttext\t" + "a" * 201 + "\t3", "the editor's name is longer than 200"),
        ("{0}\t{1}\ttext\tann\t3\n{0}\t{1}\tother\tann\t4", "is a second post-edition of"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_stored(table: Path, line: str, reason: str):
    campaign = make_draft()
    system, segment, _ = rows_of(campaign)[0]
    header = "system\tsegment\tpost_edition\teditor\tseconds\n"
    table.write_text(header + line.format(system, segment) + "\n")
    with pytest.raises(CommandError, match=reason):
        run(campaign, table)
    campaign.refresh_from_db()
    assert not campaign.is_archive and not PostEdition.objects.exists()


def test_the_page_takes_a_file_and_says_what_is_wrong_with_one():
    campaign = make_draft()
    client, page = client_of("superuser"), reverse("post_editions", args=[campaign.code])
    assert "Import post-editions" in client.get(page).content.decode()
    url = reverse("import_post_editions", args=[campaign.code])
    bad = SimpleUploadedFile("edits.tsv", b"system\tsegment\ttext\na\tb\tc\n")
    answer = client.post(url, {"upload": bad})
    assert answer.status_code == 422
    assert "must have the columns system, segment and post_edition" in answer.content.decode()
    good = SimpleUploadedFile("edits.tsv", table_of(campaign, "ann").encode())
    answer = client.post(url, {"upload": good}, follow=True)
    text = answer.content.decode()
    assert answer.status_code == 200 and f"Imported {len(rows_of(campaign))} post-editions" in text
    assert "Import post-editions" not in text, "it is closed now"


def test_the_api_takes_a_file():
    campaign = make_draft()
    path = f"/api/v1/campaigns/{campaign.code}/post-editions"
    file = SimpleUploadedFile("pe.txt", b"one\ntwo\nthree\n")
    ada = caller("admin", campaign)
    answer = ada.client.post(path, {"file": file, "system": rows_of(campaign)[0][0]})
    assert answer.status_code == 201
    assert answer.json() == {"n_post_editions": 3, "n_editors": 1, "n_outputs": 3}
    again = ada.client.post(path, {"file": SimpleUploadedFile("pe.tsv", b"one\n"), "system": "x"})
    assert again.status_code == 422


# Exports --------------------------------------------------------------------------------------


def with_difficult_cells(campaign: Campaign) -> None:
    """Texts that exports escape, an emptied one, a system whose name needs it, and an editor who is not trusted."""
    campaign.systems.filter(name="system-a").update(name="a|b")
    edits = PostEdition.objects.filter(assignment__worker__external_id__contains="ann")
    edits = edits.order_by("item__position")[:3]
    for edit, text in zip(edits, ("=SUM(1)", 'back\\slash, "quoted"', ""), strict=True):
        PostEdition.objects.filter(item=edit.item, assignment=edit.assignment).update(text=text)
    campaign.participations.filter(worker__external_id__contains="cat").update(decision="excluded")


@pytest.mark.parametrize("fmt", ["csv", "tsv", "jsonl", "wmt-qe", "wmt-ape"])
def test_an_export_can_be_imported_again(table: Path, tmp_path: Path, fmt: str):
    campaign = make_draft()
    table.write_text(table_of(campaign, "ann", "ben", "cat"))
    run(campaign, table)
    with_difficult_cells(campaign)
    path = tmp_path / f"export.{fmt}"
    export(kind="post-editions", campaign=campaign, path=path, format=fmt)
    copy = make_draft("Copy")
    copy.systems.filter(name="system-a").update(name="a|b")
    run(copy, path)
    golds = [
        {
            gold.name: dict(
                zip(
                    zip(gold.table["system"], gold.table["segment"], strict=True),
                    gold.table["score"],
                    strict=True,
                )
            )
            for gold in compute_targeted(campaign=each, use="gold", names=["TER", "BLEU"])
        }
        for each in (campaign, copy)
    ]
    has_times = fmt != "wmt-ape"
    assert set(golds[1]) == {"HTER", "HBLEU", *(("PET", "PET-per-word") if has_times else ())}
    assert golds[1] == {name: scores for name, scores in golds[0].items() if name in golds[1]}
    pairs = [agreement_of_editors(each) for each in (campaign, copy)]
    assert pairs[0] == pairs[1] and pairs[0].n_editors == 2
    texts = [
        set(PostEdition.objects.filter(item__hit__campaign=each).values_list("text", flat=True))
        for each in (campaign, copy)
    ]
    assert texts[1] <= texts[0] and {"=SUM(1)", ""} < texts[1]


def test_the_page_takes_an_archive(table: Path, tmp_path: Path):
    campaign = make_draft()
    table.write_text(table_of(campaign, "ann"))
    run(campaign, table)
    path = tmp_path / "edits.zip"
    export(kind="post-editions", campaign=campaign, path=path, format="wmt-qe")
    copy = make_draft("Copy")
    url = reverse("import_post_editions", args=[copy.code])
    file = SimpleUploadedFile("edits.zip", path.read_bytes())
    answer = client_of("superuser").post(url, {"upload": file}, follow=True)
    assert f"Imported {len(rows_of(copy))} post-editions" in answer.content.decode()


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"pe": "a\n"}, "must have the files names and pe"),
        ({"pe": "a\nb\n", "names": "segment-1\tsystem-a\n"}, "different numbers of lines"),
        ({"pe": "a\n", "names": "segment-1\n"}, "a segment, a tab and systems"),
        ({"pe": "a\n", "names": "segment-9\tsystem-a\n"}, "the campaign has no"),
    ],
)
def test_bad_archives_are_refused(tmp_path: Path, members: dict[str, str], reason: str):
    path = tmp_path / "edits.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    with pytest.raises(CommandError, match=reason):
        run(make_draft(), path)


def test_a_damaged_archive_is_refused(tmp_path: Path):
    campaign = make_draft()
    file = SimpleUploadedFile("edits.zip", b"PK\x03\x04 and nothing else")
    url = reverse("import_post_editions", args=[campaign.code])
    answer = client_of("superuser").post(url, {"upload": file})
    assert answer.status_code == 422 and "zip archive that can be read" in answer.content.decode()
