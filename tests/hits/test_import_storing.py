"""Storing an import: shared translations, order, number of queries, all or nothing."""

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
    """Import outputs by system, with a different source and reference for each segment."""
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


def test_identical_translations_of_a_segment_are_stored_once(tmp_path: Path) -> None:
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


def test_near_identical_translations_can_be_merged_and_keep_their_texts(tmp_path: Path) -> None:
    outputs = {"A": ["Yes, sir."], "B": ["yes sir"], "C": ["Yes, sir."], "D": ["No, sir."]}
    summary = import_outputs(tmp_path, outputs)
    assert summary.n_translations == 3
    summary.campaign.delete()
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


def test_a_fingerprint_is_the_first_half_of_sha_256() -> None:
    # printf abc | sha256sum
    assert fingerprint("abc").hex() == "ba7816bf8f01cfea414140de5dae2223"


@pytest.mark.parametrize(
    ("text", "similar"),
    [
        ("Yes, sir.", "yes sir"),
        ("a\u00a0b", "ab"),
        ("「はい」", "はい。"),
        ("ÉTÉ!", "été"),
        ("a\u2014b", "a b"),
    ],
)
def test_near_fingerprints_ignore_case_punctuation_and_white_space(text: str, similar: str) -> None:
    assert fingerprint(text) != fingerprint(similar)
    assert fingerprint(text, near=True) == fingerprint(similar, near=True)


@pytest.mark.parametrize(
    ("text", "similar"), [("3 €", "3 $"), ("été", "ete"), ("!", "?"), ("...", "")]
)
def test_near_fingerprints_keep_other_differences(text: str, similar: str) -> None:
    assert fingerprint(text, near=True) != fingerprint(similar, near=True)


def test_translations_are_stored_by_segment_and_then_by_system(tmp_path: Path) -> None:
    import_outputs(tmp_path, {"b": ["b1", "b2"], "a": ["a1", "a2"], "B": ["B1", "B2"]})
    texts = list(Translation.objects.order_by("pk").values_list("text", flat=True))
    assert texts == ["B1", "a1", "b1", "B2", "a2", "b2"]


def test_nothing_is_lost_between_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storing, "BATCH_OUTPUTS", 5)
    texts = [f"text {number}" for number in range(7)]
    steps: list[int] = []
    summary = import_outputs(tmp_path, {"A": texts, "B": texts[::-1]}, progress=steps.append)
    assert steps == [4, 4, 4, 2]
    assert list(summary.campaign.segments.values_list("position", flat=True)) == list(range(1, 8))
    stored = list(Translation.objects.values_list("text", flat=True))
    assert stored[:4] == ["text 0", "text 6", "text 1", "text 5"]


def test_queries_grow_with_batches_and_not_with_rows(tmp_path: Path) -> None:
    def n_queries(n_segments: int) -> int:
        texts = [f"text {number}" for number in range(n_segments)]
        with CaptureQueriesContext(connection) as queries:
            import_outputs(tmp_path / str(n_segments), {"A": texts}, name=str(n_segments))
        return len(queries)

    n_minimum = n_queries(1)
    assert n_queries(90) == n_minimum
    # 2,000 segments, translations and outputs each, at least a hundred rows per query.
    assert n_queries(2_000) - n_minimum < 6_000 / 100


def test_nothing_is_stored_if_the_import_fails_half_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storing, "BATCH_OUTPUTS", 1)

    def fail(n_stored: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_outputs(tmp_path, {"A": ["one", "two"]}, progress=fail)
    assert not Campaign.objects.exists()


def test_changing_a_file_while_storing_has_no_effect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storing, "BATCH_OUTPUTS", 1)

    def overwrite(n_stored: int) -> None:
        (tmp_path / "systems/A.txt").write_text("\0")

    import_outputs(tmp_path, {"A": ["one", "two"]}, progress=overwrite)
    assert list(Translation.objects.values_list("text", flat=True)) == ["one", "two"]
