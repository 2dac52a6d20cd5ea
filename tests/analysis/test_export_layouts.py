"""Scores in the layouts of mt-metrics-eval and of the published DA scripts."""

import pytest

from analysis.exporting import export
from hits.models import System
from tests.analysis.export_rows import add_system, gold_by_name, make_gold, segments_in_order

pytestmark = pytest.mark.django_db


def read_scores(path) -> list[tuple[str, float | None]]:
    """Read as mt-metrics-eval does: split at white space; None means no score."""
    pairs = [line.split() for line in path.read_text().splitlines()]
    return [(system, None if score == "None" else float(score)) for system, score in pairs]


@pytest.fixture
def run():
    return make_gold()


@pytest.mark.parametrize(
    ("format", "field", "name"), [("mtme", "z", "da"), ("mtme-raw", "raw", "da-raw")]
)
def test_segment_scores_are_listed_by_system_and_segment_order(run, tmp_path, format, field, name):
    summary = export(kind="segments", campaign=run.campaign, path=tmp_path, format=format)
    assert summary.path == tmp_path / "human-scores" / f"de-en.{name}.seg.score"
    gold = gold_by_name(run)
    expected = [
        (system.name, getattr(gold[system.name, segment], field, None))
        for system in System.objects.order_by("pk")
        for segment in segments_in_order(run.campaign)
    ]
    assert read_scores(summary.path) == expected
    assert [score for _, score in expected].count(None) == summary.n_incomplete == 6


def test_a_missing_output_still_has_a_line(run, tmp_path):
    """Readers count lines, so a missing line would shift all later scores."""
    third = run.campaign.segments.get(position=3).translations.first()
    add_system(run.campaign, "partial", [third])
    summary = export(kind="segments", campaign=run.campaign, path=tmp_path, format="mtme")
    partial_scores = [score for system, score in read_scores(summary.path) if system == "partial"]
    score = run.scores.filter(translation=third).get().z
    assert partial_scores == [None, None, score, *[None] * 11]


def test_segments_are_in_order_of_position_not_of_creation(run, tmp_path):
    for segment in run.campaign.segments.order_by("-position"):
        segment.position = 200 - segment.position
        segment.save(update_fields=["position"])
    summary = export(kind="segments", campaign=run.campaign, path=tmp_path, format="mtme")
    names = segments_in_order(run.campaign)
    assert names[0] == "segment-14"
    gold = gold_by_name(run)
    assert read_scores(summary.path)[:14] == [
        ("system-a", getattr(gold["system-a", name], "z", None)) for name in names
    ]


def test_system_scores_are_means_of_complete_segments_in_the_same_order(run, tmp_path):
    add_system(run.campaign, "unrated", [run.campaign.segments.last().translations.last()])
    segments = export(kind="segments", campaign=run.campaign, path=tmp_path, format="mtme")
    systems = export(kind="systems", campaign=run.campaign, path=tmp_path, format="mtme")
    assert systems.path == tmp_path / "human-scores" / "de-en.da.sys.score"
    by_system: dict[str, list[float]] = {}
    for system, score in read_scores(segments.path):
        by_system.setdefault(system, []).extend([] if score is None else [score])
    expected = [
        (name, sum(scores) / len(scores) if scores else None) for name, scores in by_system.items()
    ]
    exported = read_scores(systems.path)
    assert [name for name, _ in exported] == [name for name, _ in expected]
    assert [score for _, score in exported[:2]] == pytest.approx(
        [score for _, score in expected[:2]]
    )
    assert exported[2] == ("unrated", None)


def test_published_segments_have_their_columns_and_leave_out_incomplete_ones(run, tmp_path):
    path = tmp_path / "ad-seg-scores-de-en.csv"
    summary = export(kind="segments", campaign=run.campaign, path=path, format="published")
    header, *lines = path.read_text().split("\n")[:-1]
    assert header == "SYS SID RAW.SCR Z.SCR N "
    gold = gold_by_name(run)
    expected = [
        f"{system.name} {segment} {score.raw:.15g} {score.z:.15g} {score.n} "
        for system in System.objects.order_by("pk")
        for segment in segments_in_order(run.campaign)
        if (score := gold[system.name, segment]) and score.is_complete
    ]
    assert lines == expected
    assert summary.n_rows + summary.n_incomplete == len(gold) == 28


def test_published_systems_have_their_columns(run, tmp_path):
    path = tmp_path / "ad-sys-scores-de-en.csv"
    export(kind="systems", campaign=run.campaign, path=path, format="published")
    header, *lines = path.read_text().split("\n")[:-1]
    assert header == "RAW.SCR Z.SCR N SYS N.ALL "
    gold = gold_by_name(run)
    for line, system in zip(lines, System.objects.order_by("pk"), strict=True):
        scores = [s for (name, _), s in gold.items() if name == system.name and s and s.is_complete]
        raw, z, n, name, n_all = line.split()
        assert float(raw) == pytest.approx(sum(s.raw for s in scores) / len(scores))
        assert float(z) == pytest.approx(sum(s.z for s in scores) / len(scores))
        assert (int(n), name, int(n_all)) == (
            len(scores),
            system.name,
            sum(s.n_ratings for s in scores),
        )


def test_published_systems_without_scores_are_just_a_header(run, tmp_path):
    run.scores.all().delete()
    path = tmp_path / "none.txt"
    export(kind="systems", campaign=run.campaign, path=path, format="published")
    assert path.read_text() == "RAW.SCR Z.SCR N SYS N.ALL \n"
