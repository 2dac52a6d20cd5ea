"""Files with the defects of published test sets: refused with the options that help, mended and reported."""

import csv
import io
import json
import shutil
import zipfile
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import override_settings
from django.urls import reverse

from da_platform.files.mending import Mender
from hits.campaigns.editing import duplicate_campaign
from hits.campaigns.importing import import_campaign
from hits.exceptions import ImportRefused
from hits.models import AuditEntry, Campaign, CampaignDraft, ImportReport, SystemOutput
from tests.api.callers import caller
from tests.hits.defective_sets import LAYOUTS, make_set
from tests.people import client_of, make_person

pytestmark = pytest.mark.django_db

DATA = Path(__file__).parents[1] / "data"
DEFECTS, SIMPLE = DATA / "with-defects", DATA / "campaigns" / "simple"
MENDING = {"clean": True, "encoding": "windows-1252"}
ALDER, BIRCH, CEDAR = (
    f"newsdemo/de-en/newsdemo.de-en.{name}" for name in ("Alder", "Birch", "Cedar")
)
# Everything that is mended in the files, by file and line.
MENDS = [
    ("sources/newsdemo-src.de", 1, "removed the byte order mark (BOM)"),
    (ALDER, None, "changed CR LF to LF at the end of 4 lines"),
    (BIRCH, 1, "removed U+007F"),
    (BIRCH, 2, "removed U+0001"),
    (BIRCH, 3, "made a space of U+2028"),
    (CEDAR, 2, "normalised to Unicode form NFC"),
    (CEDAR, 3, "read the line as windows-1252, not UTF-8"),
    (CEDAR, 4, "read 1 byte as windows-1252, not UTF-8"),
]


def imported(path: Path = DEFECTS, **options):
    return import_campaign(
        path=path, name="News", source_language="de", target_language="en", **options
    )


def texts_of(system: str) -> list[str]:
    outputs = SystemOutput.objects.filter(system__name=system).order_by("segment__position")
    return list(outputs.values_list("translation__text", flat=True))


def zipped(folder: Path) -> SimpleUploadedFile:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder))
    return SimpleUploadedFile("news.zip", packed.getvalue())


def test_the_refusal_lists_every_defect_and_the_options_that_help():
    with pytest.raises(ImportRefused) as caught:
        imported()
    places = [(problem.file, problem.line) for problem in caught.value.problems]
    assert places == [
        ("sources/newsdemo-src.de", 1),
        (ALDER, 1),
        *((BIRCH, line) for line in (1, 2, 3)),
        (CEDAR, 3),
        (CEDAR, 4),
    ]
    assert str(caught.value).splitlines()[-2:] == [
        "  --clean: byte order marks (1), files with CR LF line ends (1), "
        "texts with control characters or line breaks (3)",
        "  --encoding: lines that are not UTF-8 (2)",
    ]


def test_everything_is_mended_and_listed():
    summary = imported(**MENDING)
    assert [(mend.file, mend.line, mend.what) for mend in summary.mends] == MENDS
    assert texts_of("Birch")[:3] == [
        "The bakery opens soon.",
        "The café shuts at ten.",
        "The train drives today not.",
    ]
    assert texts_of("Cedar")[1:] == [
        "The café closes at ten.",
        "The train isn’t running today.",
        "Nobody knew whýéü.",
    ]
    assert summary.campaign.segments.get(position=1).source == "Die Bäckerei öffnet früh."


def test_what_was_mended_is_kept_with_the_campaign_and_its_copies():
    campaign = imported(**MENDING).campaign
    report = ImportReport.objects.get(campaign=campaign)
    assert report.options == MENDING
    assert [tuple(mend) for mend in report.mends] == MENDS and report.n_mends == len(MENDS)
    entry = AuditEntry.objects.get(action="texts mended")
    assert (entry.campaign, entry.details) == (campaign, {"n_mends": len(MENDS)})
    copy = duplicate_campaign(campaign=campaign, name="Copy", actor=make_person("admin"))
    assert copy.import_report.mends == report.mends


def test_cleaning_alone_leaves_stray_bytes_to_be_named():
    with pytest.raises(ImportRefused) as caught:
        imported(clean=True)
    assert {(problem.file, problem.line) for problem in caught.value.problems} == {
        (CEDAR, 3),
        (CEDAR, 4),
    }
    with pytest.raises(ImportRefused, match="encoding: 'zip' is not supported"):
        imported(encoding="zip")


def test_files_in_order_are_not_touched_by_cleaning(tmp_path):
    summary = imported(SIMPLE, **MENDING)
    assert (summary.n_mends, summary.mends) == (0, [])
    assert not AuditEntry.objects.filter(action="texts mended").exists()


@pytest.mark.parametrize("encoding", ["windows-1250", "windows-1251", "koi8-r", "gb18030", "big5"])
def test_a_whole_file_in_another_encoding_is_read_as_such(encoding):
    texts = {"windows-1250": "Žluťoučký kůň", "gb18030": "天气很好。", "big5": "天氣很好。"}
    text = texts.get(encoding, "Сёмга и съёмка")
    assert Mender(encoding=encoding).decoded(text.encode(encoding), "f", 1) == text


def test_bytes_that_the_encoding_does_not_have_are_refused():
    assert Mender(encoding="windows-1252").decoded(b"a\x81", "f", 1) is None


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("a\x00b", "ab"),
        ("a\r\n\tb", "a b"),
        ("\ta\x85", "a"),
        ("fu\u0308r", "für"),
        # Wrongly decoded punctuation, direction marks and joiners stay: anything else would be a guess.
        ("isn\x92t", "isn\x92t"),
        ("\u200fא\u200d", "\u200fא\u200d"),
    ],
)
def test_a_text_is_mended_without_guessing(text, mended):
    mender = Mender(cleans=True)
    assert mender.text(text, "f", 1) == mended
    assert mender.n_mends == (text != mended)
    assert Mender().text(text, "f", 1) == text


def test_a_table_is_mended_cell_by_cell(tmp_path):
    rows = ["segment\tsystem\treference\ttranslation", "1\tA\tone\tein\x7fs", "1\tB\x01\tone\teins"]
    table = tmp_path / "table.tsv"
    table.write_bytes(b"\xef\xbb\xbf" + "\r\n".join([*rows, ""]).encode())
    summary = imported(table, clean=True)
    assert [str(mend) for mend in summary.mends] == [
        "table.tsv, line 1: removed the byte order mark (BOM)",
        "table.tsv, line 2: removed U+007F",
        "table.tsv, line 3: removed U+0001",
        "table.tsv: changed CR LF to LF at the end of 3 lines",
    ]
    assert list(summary.campaign.systems.values_list("name", flat=True)) == ["A", "B"]


def test_named_columns_of_a_table_are_ignored(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("segment,system,reference,translation,score\n1,A,one,eins,0.5\n")
    with pytest.raises(ImportRefused, match=r"--ignore-columns: unknown columns \(1\)"):
        imported(table)
    assert imported(table, ignore_columns=["score"]).n_outputs == 1
    rows = tmp_path / "table.jsonl"
    row = {"segment": "1", "system": "A", "reference": "one", "translation": "eins", "score": 0.5}
    rows.write_text(json.dumps(row) + "\n")
    summary = import_campaign(
        path=rows,
        name="Rows",
        source_language="de",
        target_language="en",
        ignore_columns=["score"],
    )
    assert summary.n_outputs == 1


# Ten pairs, in both directions, several scripts and all layouts of published sets.
PAIRS = ["de-en", "en-de", "cs-en", "en-cs", "es-en", "fr-en", "ru-en", "en-ru", "zh-en", "en-zh"]
MORE = [("en-he", "plain"), ("he-en", "pairs"), ("hi-en", "plain"), ("en-hi", "sgml")]
MORE += [("ja-en", "plain"), ("en-ja", "sgml"), ("en-pl", "jsonl")]
SETS = [(pair, layout) for pair in PAIRS for layout in LAYOUTS] + MORE


@pytest.mark.parametrize(("pair", "layout"), SETS)
def test_every_pair_and_layout_of_a_defective_set_is_refused_then_mended(tmp_path, pair, layout):
    made = make_set(tmp_path, pair, layout)
    languages = {name: made.options[name] for name in ("source_language", "target_language")}
    with pytest.raises(ImportRefused) as caught:
        import_campaign(path=made.path, name="News", **languages)
    needed = {"clean"} | ({"encoding"} if made.options["encoding"] else set())
    assert set(caught.value.fixes_by_option) == needed
    summary = import_campaign(path=made.path, name="News", **made.options)
    assert {system: texts_of(system) for system in made.outputs} == made.outputs
    found = {mend.what for mend in summary.mends}
    assert made.mends <= found
    assert any(what.startswith("changed CR LF") for what in found)
    encoding = made.options["encoding"]
    assert any(f" as {encoding}, not UTF-8" in what for what in found) == bool(encoding)


# Missing translations --------------------------------------------------------------------------


def test_not_every_system_needs_every_segment_if_that_is_allowed(tmp_path):
    table = tmp_path / "table.tsv"
    table.write_text(
        "segment\tsystem\treference\ttranslation\n1\tA\tone\teins\n2\tB\ttwo\tzwei\n3\tB\tthree\t3\n"
    )
    with pytest.raises(ImportRefused, match=r"--allow-missing-translations: missing .* \(3\)"):
        imported(table)
    summary = imported(table, allow_missing_translations=True)
    assert (summary.n_systems, summary.n_segments, summary.n_outputs) == (2, 3, 3)
    assert summary.n_translations == 3
    assert summary.notes == [
        "3 of 6 outputs (systems times segments) are missing; the others are rated"
    ]
    assert (texts_of("A"), texts_of("B")) == (["eins"], ["zwei", "3"])


def test_an_empty_line_is_a_missing_or_an_empty_translation(tmp_path):
    folder = tmp_path / "campaign"
    shutil.copytree(SIMPLE, folder)
    system = folder / "systems" / "B.txt"
    system.write_text("\n".join(["", *system.read_text().splitlines()[1:], ""]))
    with pytest.raises(ImportRefused, match=r"--allow-empty-translations: empty trans.* \(1\)"):
        imported(folder)
    assert imported(folder, allow_missing_translations=True).n_outputs == 5
    Campaign.objects.all().delete()
    both = {"allow_missing_translations": True, "allow_empty_translations": True}
    assert imported(folder, **both).n_outputs == 6


# By command, on the page and over the API --------------------------------------------------------


def test_the_command_mends_and_lists():
    out = io.StringIO()
    arguments = ["--name", "News", "--from", "de", "--to", "en"]
    with pytest.raises(CommandError, match="--clean: byte order marks"):
        call_command("import_campaign", str(DEFECTS), *arguments)
    options = ["--clean", "--encoding", "windows-1252"]
    call_command("import_campaign", str(DEFECTS), *arguments, *options, stdout=out)
    lines = out.getvalue().splitlines()
    assert "Mended: 8. The campaign's import report lists them all." in lines
    assert f"  {BIRCH}, line 1: removed U+007F" in lines


def test_rating_files_mends_them_and_drops_what_their_names_share(tmp_path, settings):
    settings.DEBUG = True
    texts = [f"Satz {number}" for number in range(40)]
    for name in ("news.Alder.txt", "news.Birch.txt", "source.txt"):
        path = tmp_path / name
        path.write_bytes(b"".join(f"{text} {name[5]}.\r\n".encode() for text in texts))
    out = io.StringIO()
    files = [str(tmp_path / f"news.{name}.txt") for name in ("Alder", "Birch")]
    options = ["--source", str(tmp_path / "source.txt"), "--from", "de", "--to", "en"]
    with pytest.raises(CommandError, match=r"--clean: files with CR LF line ends \(3\)"):
        call_command("rate_files", *files, *options)
    call_command("rate_files", *files, *options, "--clean", stdout=out)
    assert "systems/Alder.txt: changed CR LF to LF at the end of 40 lines" in out.getvalue()
    assert Campaign.objects.get().name == "Alder, Birch"


@pytest.fixture
def uploads(tmp_path):
    with override_settings(UPLOADS_DIR=tmp_path / "uploads"):
        yield


def test_the_page_offers_the_options_and_shows_what_was_mended(uploads):
    client = client_of("admin")
    basics = {"name": "News", "source_language": "de", "target_language": "en", "task": "reference"}
    client.post(reverse("new_campaign"), basics)
    code = CampaignDraft.objects.get().code
    files = reverse("draft_files", args=[code])
    page = client.post(files, {"package": zipped(DEFECTS)}).content.decode()
    assert "byte order marks (1)" in page and "lines that are not UTF-8 (2)" in page
    assert 'id="repair_clean"' in page and 'id="repair_encoding"' in page
    # The files are kept: only the options have to be chosen.
    mend = reverse("draft_mend", args=[code])
    page = client.post(mend, {"clean": "on", "encoding": ""}).content.decode()
    assert "lines that are not UTF-8 (2)" in page and "repair_clean" not in page
    options = {"encoding": "windows-1252"}
    assert client.post(mend, options).url == reverse("draft_settings", args=[code])
    settings = {"hit_size": "40", "min_ratings": "3", "pay_per_hit": "1", "currency": "EUR"}
    settings |= {"lease_minutes": "60", "degradation": "balanced", "trust_rule": "guarded"}
    client.post(reverse("draft_settings", args=[code]), settings | {"drift": "count"})
    check = reverse("draft_check", args=[code])
    assert "Mended in 8 places" in client.get(check).content.decode()
    client.post(check)
    client.get(check)
    report = reverse("import_report", args=[Campaign.objects.get().code])
    page = client.get(report).content.decode()
    assert "removed U+007F" in page and "windows-1252" in page
    rows = list(csv.reader(io.StringIO(client.get(f"{report}?format=csv").content.decode())))
    assert rows[1:] == [[file, str(line or ""), what] for file, line, what in MENDS]


def test_the_api_mends_and_reports(uploads):
    api = caller("admin")
    fields = {"name": "News", "source_language": "de", "target_language": "en"}
    answer = api.upload("/campaigns", fields | {"package": zipped(DEFECTS)})
    assert answer.status_code == 422 and "--clean" in answer.json()["detail"]
    options = {"clean": True, "encoding": "windows-1252", "package": zipped(DEFECTS)}
    answer = api.upload("/campaigns", fields | options)
    assert answer.status_code == 201, answer.content
    report = api.get(f"/campaigns/{answer.json()['code']}/import-report").json()
    assert report["options"] == MENDING and report["n_mends"] == 8
    assert [tuple(mend.values()) for mend in report["mends"]] == MENDS


# The files step ----------------------------------------------------------------------------------


def test_an_empty_submit_says_so_and_systems_lose_their_common_prefix(uploads):
    client = client_of("admin")
    basics = {"name": "News", "source_language": "de", "target_language": "en", "task": "reference"}
    client.post(reverse("new_campaign"), basics)
    files = reverse("draft_files", args=[CampaignDraft.objects.get().code])
    answer = client.post(files)
    assert answer.status_code == 422
    assert "Choose one file, or the outputs of at least one system." in answer.content.decode()
    systems = [
        SimpleUploadedFile(f"newstest.de-en.{name}", b"eins\n") for name in ("online-B", "uedin.1")
    ]
    references = SimpleUploadedFile("r.txt", b"one\n")
    assert client.post(files, {"systems": systems, "references": references}).status_code == 302
    names = {file["name"] for file in CampaignDraft.objects.get().files}
    assert names == {"references.txt", "systems/online-B.txt", "systems/uedin.1.txt"}


@pytest.mark.parametrize("name", ["table.tsv", "table.csv", "table.jsonl"])
def test_the_example_tables_can_be_imported(name):
    folder = Path(__file__).parents[2] / "hits" / "static" / "hits" / "examples"
    summary = imported(folder / name)
    assert (summary.n_systems, summary.n_segments, summary.n_outputs) == (2, 2, 4)
    assert summary.campaign.segments.get(position=1).document == "weather"
