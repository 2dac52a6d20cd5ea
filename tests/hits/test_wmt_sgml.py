"""Test sets in SGML, as published until 2020."""

import shutil
from pathlib import Path

import pytest

from hits.campaigns.importing import ImportSummary, import_campaign
from hits.exceptions import ImportRefused
from hits.models import SystemOutput

pytestmark = pytest.mark.django_db

EXAMPLE = Path(__file__).parents[1] / "data" / "campaigns" / "wmt-sgml"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE, tmp_path / "smalltest"))


def imported(folder: Path, **options: object) -> ImportSummary:
    settings = {"name": "Small", "source_language": "de", "target_language": "en"} | options
    return import_campaign(path=folder, **settings)  # type: ignore[arg-type]


def change(folder: Path, name: str, old: str, new: str) -> None:
    path = folder / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def problem_of(folder: Path, **options: object) -> tuple[str, int | None, str]:
    with pytest.raises(ImportRefused) as caught:
        imported(folder, **options)
    problem = caught.value.problems[0]
    return problem.file, problem.line, problem.reason


def test_texts_need_not_be_well_formed(folder):
    # Bare ampersands and brackets stay, entities are decoded once, white space around texts goes.
    old, new = "The dog sleeps in the garden.", " R&D: 1 < 2 &amp;lt; &#8364; &nbsp; <b>x</b> "
    change(folder, "de-en/smalltest.de-en.B.sgm", old, new)
    imported(folder)
    output = SystemOutput.objects.get(system__name="B", segment__name="garden:1")
    assert str(output) == "R&D: 1 < 2 &lt; € &nbsp; <b>x</b>"


def test_a_segment_may_have_several_lines_if_they_are_spaces(folder):
    old, new = "The dog sleeps in", "The dog\nsleeps in"
    change(folder, "de-en/smalltest.de-en.B.sgm", old, new)
    assert imported(folder).n_translations == 5


def test_files_of_the_other_direction_are_left_alone(folder):
    campaign = imported(folder).campaign
    assert campaign.segments.get(position=1).source == "Der Hund schläft im Garten."
    reverse = {"name": "Reverse", "source_language": "en", "target_language": "de"}
    reason = "has no systems (tstset) in 'de'"
    assert problem_of(folder, **reverse) == ("smalltest", None, reason)


def test_systems_are_named_after_files_if_the_tags_do_not_tell_them_apart(folder):
    for name in "AB":
        change(folder, f"de-en/smalltest.de-en.{name}.sgm", f'sysid="{name}"', 'sysid="NMT"')
    assert [system.name for system in imported(folder).campaign.systems.all()] == ["A", "B"]


@pytest.mark.parametrize(
    ("name", "old", "new", "line", "reason"),
    [
        ("de-en/smalltest.de-en.B.sgm", '<seg id="2">', '<seg id="1">', 5, "is already on line 4"),
        ("de-en/smalltest.de-en.B.sgm", '<seg id="2">', '<seg id="9">', 5, "is not in the sources"),
        ("de-en/smalltest.de-en.B.sgm", 'soon"</seg>', 'soon"', 5, "segment '2' does not end"),
        ("de-en/smalltest.de-en.B.sgm", "tstset setid", "x", None, "has no srcset, refset or"),
        ("smalltest-ref.en.sgm", 'docid="shop"', "", 8, "the document's id is empty"),
        ("smalltest-ref.en.sgm", 'docid="shop"', 'docid="x"', None, "has no segment shop:1"),
    ],
)
def test_a_fault_is_named_with_its_line(folder, name, old, new, line, reason):
    change(folder, name, old, new)
    problem = problem_of(folder)
    assert problem[:2] == (name, line) and reason in problem[2]


def test_outputs_may_be_missing_if_that_is_allowed(folder):
    path = folder / "de-en" / "smalltest.de-en.B.sgm"
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([*lines[:4], *lines[5:], ""]), encoding="utf-8")
    assert "system 'B' has no translation of segment 'garden:2'" in problem_of(folder)[2]
    assert imported(folder, allow_missing_translations=True).n_outputs == 5
