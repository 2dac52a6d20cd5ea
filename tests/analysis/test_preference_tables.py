"""Preferences between translations: from gold scores or judgements, with a ceiling, from every way in."""

import json
from dataclasses import replace

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from analysis.evaluation import EvaluationResult, Options, evaluate
from analysis.evaluation.preferences import read_judgements
from analysis.evaluation.results import Judgement, JudgementTable
from analysis.evaluation.stored_evaluations import EvaluationRefused, options_from
from analysis.evaluation.tables import tables_of
from analysis.scores.errors import ScoresRefused
from analysis.scores.raw_files import RawFile
from analysis.stats.preferences import darr_tau
from tests.analysis.evaluation_tables import (
    N_SEGMENTS,
    SYSTEMS,
    gold_scores,
    gold_table,
    keys,
    metric,
    write_table,
)

GOOD, POOR = metric("good", 0.3), metric("poor", 2, seed=4, higher=False)
OPTIONS = Options(preference_points=0.5)


def table_named(result: EvaluationResult, name: str):
    return next(table for table in tables_of(result) if table.name == name)


def test_preferences_in_gold_match_darr_best_metric_first():
    preferences = (
        evaluate([POOR, GOOD], [gold_table()], options=OPTIONS).result.golds[0].preferences
    )
    assert preferences is not None
    assert [row.metric for row in preferences.rows] == ["good", "poor"]
    shape = (len(SYSTEMS), N_SEGMENTS)
    expected = darr_tau(GOOD.scores.reshape(shape), gold_scores().reshape(shape), points=0.5)
    best = preferences.rows[0].tau
    assert (best.estimate, best.low, best.high) == (expected.estimate, expected.low, expected.high)
    assert best.low < best.estimate < best.high
    # Scores of gold cannot contradict each other.
    assert preferences.ceiling == 1 and preferences.n == expected.n


def test_the_table_has_the_ceiling_in_its_last_row():
    result = evaluate([POOR, GOOD], [gold_table()], options=OPTIONS).result
    table = table_named(result, "preference-gold")
    assert [row[0].text for row in table.rows] == ["good", "poor", "ceiling"]
    assert "at least 0.5 apart" in table.note and "jackknife" in table.note


def test_without_points_there_are_no_preferences():
    result = evaluate([GOOD], [gold_table()]).result
    assert result.golds[0].preferences is None
    assert not any("preference" in table.name for table in tables_of(result))


def test_one_translation_a_segment_has_no_preferences():
    alone = replace(GOOD, keys=keys(("a",)), scores=GOOD.scores[:N_SEGMENTS])
    gold = gold_table(keys=keys(("a",)), scores=gold_scores()[:N_SEGMENTS])
    assert evaluate([alone], [gold], options=OPTIONS).result.golds[0].preferences is None


def judgements(n_contradicting: int = 1) -> JudgementTable:
    """Return four judgements on each of three pairs, some of which say the opposite."""
    pairs = [("1", "a", "b"), ("2", "b", "c"), ("3", "d", "a")]
    rows = [
        Judgement(segment, *((worse, better) if i < n_contradicting else (better, worse)))
        for segment, better, worse in pairs
        for i in range(4)
    ]
    return JudgementTable("people.tsv", tuple(rows))


def test_contradicting_judgements_lower_the_ceiling():
    # Three against one in each pair: (3 - 1) / 4.
    judged = evaluate([GOOD, POOR], [gold_table()], judgements=judgements()).result.judged
    assert judged is not None and judged.ceiling == 0.5 and judged.n == 12
    assert all(abs(row.tau.estimate) <= 0.5 for row in judged.rows)
    assert evaluate([GOOD], [gold_table()], judgements=judgements(0)).result.judged.ceiling == 1


def test_an_undecided_crowd_leaves_nothing_to_win():
    judged = evaluate([GOOD], [gold_table()], judgements=judgements(2)).result.judged
    assert judged.ceiling == 0 and judged.rows[0].tau.estimate == 0


def test_judgements_on_systems_left_out_are_left_out():
    options = Options(without_systems=("d",))
    result = evaluate([GOOD], [gold_table()], options=options, judgements=judgements()).result
    assert result.judged.n == 8


def test_a_judged_translation_without_a_score_is_named():
    with pytest.raises(ScoresRefused, match="good: has no score for segment 1 by x, which was"):
        evaluate(
            [GOOD],
            [gold_table()],
            judgements=JudgementTable("people.tsv", (Judgement("1", "x", "a"),)),
        )


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("segment\tbetter\n1\ta\n", "must have the columns segment, better and worse"),
        ("segment\tbetter\tworse\n1\ta\ta\n", "line 2: prefers a system to itself"),
    ],
)
def test_bad_judgements_are_refused(lines, reason):
    with pytest.raises(ScoresRefused, match=reason):
        read_judgements(RawFile("j.tsv", lines.encode()))


def test_the_result_with_preferences_can_be_stored():
    result = evaluate([GOOD, POOR], [gold_table()], options=OPTIONS, judgements=judgements()).result
    assert EvaluationResult.from_dict(json.loads(result.to_json())) == result


def test_the_command_reads_points_and_judgements(tmp_path):
    scores = write_table(tmp_path / "m.tsv", {"good": GOOD.scores})
    gold = write_table(tmp_path / "gold.tsv", {"score": gold_scores()})
    lines = ["segment\tbetter\tworse\tworker"]
    lines += [f"{j.segment}\t{j.better}\t{j.worse}\tw1" for j in judgements().rows]
    judged = tmp_path / "judgements.tsv"
    judged.write_text("\n".join(lines) + "\n")
    start = ["evaluate", str(scores), "--gold", f"da={gold}", "--all-higher"]
    call_command(
        *start,
        *("--preferences", "0.5", "--judgements", str(judged), "--out", str(tmp_path / "report")),
    )
    tables = tmp_path / "report" / "tables"
    assert "ceiling,0.5" in (tables / "judgements.csv").read_text()
    assert "ceiling,1.0" in (tables / "preference-gold.csv").read_text()
    with pytest.raises(CommandError, match="--preferences must be at least 0"):
        call_command(*start, "--preferences", "-1", "--out", str(tmp_path / "other"))


def test_options_in_json_are_checked():
    assert options_from({"preference_points": 25}).preference_points == 25
    for points in (-1, float("inf"), float("nan")):
        with pytest.raises(EvaluationRefused, match="`preference_points` must be at least 0"):
            options_from({"preference_points": points})


def test_ties_are_counted_as_a_share():
    tied = replace(GOOD, name="tied", scores=np.zeros(len(keys())))
    result = evaluate([tied, GOOD], [gold_table()], options=OPTIONS).result
    table = table_named(result, "preference-gold")
    assert {row[0].text: row[3].text for row in table.rows}["good"] == ".000"
    worst = result.golds[0].preferences.rows[-1]
    assert worst.tau.estimate == -1 and worst.n_tied == result.golds[0].preferences.n
