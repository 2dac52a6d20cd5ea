"""How texts become rows: shared translations, order, number of queries, all or nothing."""

from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from hits.campaigns.importing import ImportSummary, fingerprint, import_campaign, storing
from hits.models import Campaign, SystemOutput, Translation

pytestmark = pytest.mark.django_db


def import_outputs(
    folder: Path, outputs: dict[str, list[str]], **settings: object
) -> ImportSummary:
    """Import outputs by system, with a source and a reference of their own for each segment."""
    n_segments = len(next(iter(outputs.values())))
    numbers = [str(number) for number in range(1, n_segments + 1)]
    columns = {"sources": numbers, "references": numbers}
    columns |= {f"systems/{name}": texts for name, texts in outputs.items()}
    for name, texts in columns.items():
        path = folder / f"{name}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes("".join(f"{text}\n" for text in texts).encode())
    settings = {"name": "Stored", "source_language": "de", "target_language": "en"} | settings
    return import_campaign(path=folder, **settings)  # type: ignore[arg-type]


def test_identical_translations_of_a_segment_are_one(tmp_path: Path) -> None:
    summary = import_outputs(
        tmp_path, {"A": ["yes", "no"], "B": ["yes", "yes"], "C": ["yes", "no"]}
    )
    assert (summary.n_outputs, summary.n_translations) == (6, 3)
    first, second, third = Translation.objects.all()
    assert [first.text, second.text, third.text] == ["yes", "no", "yes"]
    assert [system.name for system in first.systems.all()] == ["A", "B", "C"]
    assert [system.name for system in second.systems.all()] == ["A", "C"]
    assert not SystemOutput.objects.exclude(own_text=None).exists()
    assert summary.notes == ["3 outputs identical to another system's are rated once"]


def test_near_identical_translations_stay_apart_unless_asked(tmp_path: Path) -> None:
    summary = import_outputs(tmp_path, {"A": ["Yes, sir."], "B": ["yes sir"]})
    assert summary.n_translations == 2


def test_near_identical_translations_are_one_when_asked_and_keep_their_texts(
    tmp_path: Path,
) -> None:
    outputs = {"A": ["Yes, sir."], "B": ["yes sir"], "C": ["Yes, sir."], "D": ["No, sir."]}
    summary = import_outputs(tmp_path, outputs, merges_near_identical=True)
    assert summary.n_translations == 2
    assert summary.notes == ["2 outputs near-identical to another system's are rated once"]
    stored = SystemOutput.objects.order_by("system__name").select_related("translation")
    assert [(o.translation.text, o.own_text) for o in stored] == [
        ("Yes, sir.", None),
        ("Yes, sir.", "yes sir"),
        ("Yes, sir.", None),
        ("No, sir.", None),
    ]
    assert [str(o) for o in stored] == ["Yes, sir.", "yes sir", "Yes, sir.", "No, sir."]


def test_a_fingerprint_is_the_beginning_of_sha_256() -> None:
    # printf abc | sha256sum
    assert fingerprint("abc").hex() == "ba7816bf8f01cfea414140de5dae2223"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Yes, sir.", "yes sir"),
        ("a\u00a0b", "ab"),
        ("「はい」", "はい。"),
        ("ÉTÉ!", "été"),
        ("a\u2014b", "a b"),
    ],
)
def test_case_punctuation_and_white_space_do_not_count_when_near(one: str, other: str) -> None:
    assert fingerprint(one) != fingerprint(other)
    assert fingerprint(one, near=True) == fingerprint(other, near=True)


@pytest.mark.parametrize(
    ("one", "other"), [("3 €", "3 $"), ("été", "ete"), ("!", "?"), ("...", "")]
)
def test_other_differences_count_even_when_near(one: str, other: str) -> None:
    assert fingerprint(one, near=True) != fingerprint(other, near=True)


def test_translations_are_numbered_by_segment_and_then_by_system(tmp_path: Path) -> None:
    import_outputs(tmp_path, {"b": ["b1", "b2"], "a": ["a1", "a2"], "B": ["B1", "B2"]})
    texts = list(Translation.objects.order_by("pk").values_list("text", flat=True))
    assert texts == ["B1", "a1", "b1", "B2", "a2", "b2"]


def test_batches_join_without_a_seam(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storing, "BATCH_OUTPUTS", 5)
    texts = [f"text {number}" for number in range(7)]
    steps: list[int] = []
    summary = import_outputs(tmp_path, {"A": texts, "B": texts[::-1]}, progress=steps.append)
    assert steps == [4, 4, 4, 2]
    assert list(summary.campaign.segments.values_list("position", flat=True)) == list(range(1, 8))
    assert list(Translation.objects.values_list("text", flat=True))[:4] == [
        "text 0", "text 6", "text 1", "text 5",
    ]  # fmt: skip


def test_queries_grow_with_batches_and_not_with_rows(tmp_path: Path) -> None:
    def n_queries(n_segments: int) -> int:
        texts = [f"text {number}" for number in range(n_segments)]
        with CaptureQueriesContext(connection) as queries:
            import_outputs(tmp_path / str(n_segments), {"A": texts}, name=str(n_segments))
        return len(queries)

    n_at_least = n_queries(1)
    assert n_queries(100) == n_at_least
    # 2,000 segments, translations and outputs each: a hundred rows or more at a time.
    assert n_queries(2_000) - n_at_least < 6_000 / 100


def test_a_failure_half_way_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storing, "BATCH_OUTPUTS", 1)

    def fail(n_stored: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_outputs(tmp_path, {"A": ["one", "two"]}, progress=fail)
    assert not Campaign.objects.exists()


def test_a_file_that_changes_while_storing_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storing, "BATCH_OUTPUTS", 1)

    def overwrite(n_stored: int) -> None:
        (tmp_path / "systems/A.txt").write_text("\0")

    import_outputs(tmp_path, {"A": ["one", "two"]}, progress=overwrite)
    assert list(Translation.objects.values_list("text", flat=True)) == ["one", "two"]
