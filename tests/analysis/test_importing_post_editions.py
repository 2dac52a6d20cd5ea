"""Post-editions from files become those of a campaign: by command, on the page and through the API."""

import csv
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
