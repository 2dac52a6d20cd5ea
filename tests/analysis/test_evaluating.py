"""The evaluation engine: correct numbers, repeatable, and clear refusals."""

import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from analysis.evaluation import EvaluationResult, Options, evaluate, report
from analysis.evaluation.aligned_rows import lengths_of
from analysis.evaluation.file_names import file_names
from analysis.evaluation.pictures import pictures_of
from analysis.evaluation.result_page import shown_pictures, shown_tables, table_file
from analysis.scores.errors import ScoresRefused
from analysis.scores.score_tables import GoldTable, ScoreTable
from analysis.stats.meta_evaluation import tie_accuracy
from analysis.stats.williams import williams_matrix
from tests.analysis.evaluation_tables import N_SEGMENTS, SYSTEMS, gold_table, keys, metric

GOOD, FAIR, POOR = metric("good", 0.3), metric("fair", 0.8, seed=3), metric("poor", 4, seed=4)


def test_correlations_match_scipy_best_metric_first():
    agreement = evaluate([POOR, GOOD], [gold_table()]).result.golds[0]
    assert [row.metric for row in agreement.segment] == ["good", "poor"]
    gold = gold_table().scores
    for row, table in zip(agreement.segment, (GOOD, POOR), strict=True):
        assert row.pearson.estimate == pytest.approx(stats.pearsonr(table.scores, gold)[0])
        assert row.spearman.estimate == pytest.approx(stats.spearmanr(table.scores, gold)[0])
        assert row.kendall.estimate == pytest.approx(stats.kendalltau(table.scores, gold)[0])
        assert row.pearson.low < row.pearson.estimate < row.pearson.high
        assert row.pearson.n == 100
    assert agreement.winners == ("good",)


def test_the_published_williams_test_compares_all_pairs_in_order_of_r():
    options = Options(uncertainty="published")
    evaluated = evaluate([POOR, GOOD, FAIR], [gold_table()], options=options)
    comparison = evaluated.result.golds[0].comparison
    expected = williams_matrix([GOOD.scores, FAIR.scores, POOR.scores], gold_table().scores)
    assert comparison is not None and comparison.metrics == ("good", "fair", "poor")
    assert_allclose(np.array(comparison.pvalue, dtype=float), expected.pvalue)
    assert comparison.pvalue[0][0] is None
    assert_allclose(
        np.array(comparison.between, dtype=float),
        np.corrcoef([GOOD.scores, FAIR.scores, POOR.scores]),
        atol=1e-12,
    )


def test_winners_are_the_metrics_that_none_outperforms():
    twin = metric("twin", 0.3, seed=9)
    agreement = evaluate([GOOD, twin, POOR], [gold_table()]).result.golds[0]
    assert set(agreement.winners) == {"good", "twin"}


def test_lower_is_better_reverses_signs_of_metrics_and_gold():
    plain = evaluate([GOOD, POOR], [gold_table()]).result.golds[0]
    cost = replace(GOOD, scores=-GOOD.scores, higher_is_better=False)
    errors = gold_table(scores=-gold_table().scores, higher_is_better=False)
    turned = evaluate([cost, POOR], [errors]).result.golds[0]
    for row, turned_row in zip(plain.segment, turned.segment, strict=True):
        assert row.pearson == turned_row.pearson
        assert row.acc_eq == turned_row.acc_eq
        assert (row.best, row.worst) == (turned_row.best, turned_row.worst)
    assert plain.system == turned.system


def test_acc_eq_groups_by_segment():
    row = evaluate([FAIR], [gold_table()]).result.golds[0].segment[0]
    shape = (len(SYSTEMS), N_SEGMENTS)
    alone = tie_accuracy(FAIR.scores.reshape(shape), gold_table().scores.reshape(shape))
    assert row.acc_eq is not None
    assert row.acc_eq.estimate == alone.estimate and row.epsilon == alone.epsilon


def test_the_best_and_worst_fifths_are_chosen_by_gold():
    row = evaluate([FAIR], [gold_table()]).result.golds[0].segment[0]
    gold = gold_table().scores
    best, worst = np.argsort(gold)[-20:], np.argsort(gold)[:20]
    assert row.best is not None and row.worst is not None
    assert row.best.estimate == pytest.approx(stats.pearsonr(FAIR.scores[best], gold[best])[0])
    assert row.worst.estimate == pytest.approx(stats.pearsonr(FAIR.scores[worst], gold[worst])[0])
    assert row.best.n == row.worst.n == 20


def test_system_scores_are_means_unless_a_metric_provides_them():
    system_scores = ScoreTable(
        "fair", "system", tuple((s, "") for s in SYSTEMS), np.array([4.0, 3, 2, 1]), True
    )
    agreement = evaluate([GOOD, FAIR, system_scores], [gold_table()]).result.golds[0]
    by_name = {row.metric: row for row in agreement.system}
    means = gold_table().scores.reshape(len(SYSTEMS), -1).mean(axis=1)
    good = GOOD.scores.reshape(len(SYSTEMS), -1).mean(axis=1)
    assert by_name["good"].pearson.estimate == pytest.approx(stats.pearsonr(good, means)[0])
    assert by_name["fair"].pearson.estimate == pytest.approx(stats.pearsonr([4, 3, 2, 1], means)[0])
    assert (by_name["good"].from_segments, by_name["fair"].from_segments) == (True, False)
    assert by_name["good"].accuracy.n == 6 and by_name["good"].spa is not None


def test_errors_are_measured_only_for_predictions():
    assert evaluate([GOOD], [gold_table()]).result.golds[0].predictions == ()
    agreement = evaluate([GOOD], [gold_table()], options=Options(qe=True)).result.golds[0]
    prediction = agreement.predictions[0]
    errors = GOOD.scores - gold_table().scores
    assert prediction.mae.estimate == pytest.approx(np.abs(errors).mean())
    assert prediction.rmse.estimate == pytest.approx(np.sqrt((errors**2).mean()))
    assert prediction.mae.low < prediction.mae.estimate < prediction.mae.high
    reversed_scale = evaluate(
        [replace(GOOD, higher_is_better=False)], [gold_table()], options=Options(qe=True)
    )
    assert reversed_scale.result.golds[0].predictions == ()


def test_constant_predictions_have_errors_but_cannot_be_rescaled():
    flat = replace(GOOD, name="flat", scores=np.zeros(len(keys())))
    agreement = evaluate([GOOD, flat], [gold_table()], options=Options(qe=True)).result.golds[0]
    prediction = next(row for row in agreement.predictions if row.metric == "flat")
    assert prediction.mae.estimate == pytest.approx(np.abs(gold_table().scores).mean())
    assert prediction.rescaled_mae.estimate is None
    assert agreement.segment[-1].metric == "flat" and agreement.segment[-1].pearson.estimate is None
    assert "flat" not in agreement.winners


def test_results_are_broken_down_by_system_document_and_length():
    documents = tuple("news" if int(segment) <= 12 else "talk" for _, segment in keys())
    texts = lengths_of({str(i): "word " * i for i in range(1, N_SEGMENTS + 1)})
    agreement = evaluate([FAIR], [gold_table(documents=documents)], texts=texts).result.golds[0]
    by = {breakdown.by: breakdown for breakdown in agreement.breakdowns}
    assert by["system"].groups == SYSTEMS and by["system"].n == (25, 25, 25, 25)
    assert by["document"].groups == ("news", "talk") and by["document"].n == (48, 52)
    assert by["length"].groups == ("1–7 words", "8–13 words", "14–19 words", "20–25 words")
    gold, is_news = gold_table().scores, np.array(documents) == "news"
    r = stats.pearsonr(FAIR.scores[is_news], gold[is_news])[0]
    assert by["document"].r[0][0] == pytest.approx(r)
    assert by["document"].mean[0] == pytest.approx(np.mean(by["document"].r[0]))


def test_small_groups_are_listed_without_a_correlation():
    documents = tuple("tiny" if int(segment) == 1 else "rest" for _, segment in keys())
    agreement = evaluate([FAIR], [gold_table(documents=documents)]).result.golds[0]
    by_document = next(
        breakdown for breakdown in agreement.breakdowns if breakdown.by == "document"
    )
    assert by_document.n[0] == 4 and by_document.r[0][0] is None


def test_languages_without_spaces_are_measured_in_characters():
    assert lengths_of({"1": "这是一个没有空格的很长的中文句子用来测试长度"}).unit == "characters"
    assert lengths_of({"1": "a sentence of six plain words"}).lengths == {"1": 6}


def test_two_golds_are_compared_by_rank_changes():
    other = gold_table("other", scores=POOR.scores + 0.1 * GOOD.scores)
    result = evaluate([GOOD, FAIR, POOR], [gold_table(), other]).result
    segment = next(c for c in result.comparisons if c.level == "segment")
    assert (segment.first, segment.second) == ("gold", "other")
    ranks = {row.metric: (row.first_rank, row.second_rank, row.change) for row in segment.changes}
    assert ranks["good"][0] == 1 and ranks["poor"] == (3, 1, 2)
    assert segment.between is not None
    assert segment.between.estimate == pytest.approx(
        stats.pearsonr(gold_table().scores, other.scores)[0]
    )


def test_a_second_run_gives_the_same_numbers_to_the_last_bit():
    tables, golds = [GOOD, FAIR, POOR], [gold_table()]
    first = evaluate(tables, golds, options=Options(qe=True)).result.to_json()
    assert evaluate(tables, golds, options=Options(qe=True)).result.to_json() == first


def test_a_metric_gets_the_same_numbers_next_to_other_metrics():
    alone = evaluate([GOOD], [gold_table()], options=Options(qe=True)).result.golds[0]
    among = evaluate([POOR, GOOD], [gold_table()], options=Options(qe=True)).result.golds[0]
    assert alone.predictions[0] == among.predictions[0]
    spa = alone.system[0].spa
    beside = next(row.spa for row in among.system if row.metric == "good")
    assert spa.estimate == beside.estimate
    # The interval is a product of matrices, whose last digit depends on their shape.
    assert (spa.low, spa.high) == pytest.approx((beside.low, beside.high), rel=1e-12)


def test_the_seed_changes_only_resampled_numbers():
    first, second = (
        evaluate([FAIR], [gold_table()], options=Options(seed=seed)).result.golds[0]
        for seed in (1, 2)
    )
    assert first.segment == second.segment
    assert first.system[0].spa != second.system[0].spa


def test_a_result_survives_json():
    flat = replace(GOOD, name="flat", scores=np.zeros(len(keys())))
    result = evaluate([GOOD, flat], [gold_table(), gold_table("two")]).result
    assert EvaluationResult.from_dict(json.loads(result.to_json())) == result
    assert "NaN" not in result.to_json()


def test_a_result_names_its_inputs_and_its_method():
    result = evaluate([GOOD, metric("TER", 1, higher=False)], [gold_table()]).result
    assert [(table.name, table.role, table.sha256[:1]) for table in result.inputs] == [
        ("good", "metric", "b"),
        ("TER", "metric", "b"),
        ("gold", "gold", "a"),
    ]
    assert "lower:TER|" in result.signature and "uncertainty:segments" in result.signature


def test_translations_without_gold_are_left_out_and_counted():
    scores = gold_table().scores
    scores[:7] = np.nan
    agreement = evaluate([GOOD], [gold_table(scores=scores)]).result.golds[0]
    assert agreement.gold.n == 93 and agreement.gold.n_without_gold == 7
    expected = stats.pearsonr(GOOD.scores[7:], scores[7:])[0]
    assert agreement.segment[0].pearson.estimate == pytest.approx(expected)


def test_a_known_system_can_be_left_out():
    result = evaluate([GOOD], [gold_table()], options=Options(without_systems=("a",))).result
    assert result.golds[0].gold.n_systems == 3 and result.golds[0].gold.n == 75
    with pytest.raises(ScoresRefused, match="no system 'z'"):
        evaluate([GOOD], [gold_table()], options=Options(without_systems=("z",)))


def test_a_system_that_only_metrics_scored_can_be_left_out():
    extra = keys((*SYSTEMS, "ref"))
    table = replace(GOOD, keys=extra, scores=np.append(GOOD.scores, np.zeros(N_SEGMENTS)))
    with pytest.raises(ScoresRefused, match="system ref is not in the gold"):
        evaluate([table], [gold_table()])
    options = Options(without_systems=("ref",))
    assert evaluate([table], [gold_table()], options=options).result.golds[0].gold.n == 100


@pytest.mark.parametrize(
    ("tables", "golds", "reason"),
    [
        ([GOOD], [], "no gold to evaluate against"),
        ([], [gold_table()], "no metric"),
        ([GOOD, GOOD], [gold_table()], "2 metrics are named 'good'"),
        ([GOOD], [gold_table(), gold_table()], "two golds at segment level are named"),
        ([replace(GOOD, higher_is_better=None)], [gold_table()], "needs a confirmed direction"),
        ([GOOD], [gold_table(scores=np.ones(100))], "the same score everywhere"),
        ([GOOD], [gold_table(scores=np.append([1.0, 2, 3], np.full(97, np.nan)))], "has 3 score"),
    ],
)
def test_what_cannot_be_evaluated_is_refused_with_its_reason(tables, golds, reason):
    with pytest.raises(ScoresRefused, match=reason):
        evaluate(tables, golds)


def test_missing_scores_are_named_and_never_left_out_silently():
    part = replace(GOOD, keys=GOOD.keys[1:], scores=GOOD.scores[1:])
    with pytest.raises(ScoresRefused, match="good: has no score for segment 1 by a"):
        evaluate([part], [gold_table()])


def test_progress_ends_at_its_total():
    reports: list[tuple[int, int]] = []
    evaluate([GOOD, POOR], [gold_table()], progress=lambda *report: reports.append(report))
    assert reports[-1][0] == reports[-1][1] and reports == sorted(set(reports))


def test_golds_evaluated_in_parallel_give_the_same_result():
    golds = [gold_table(), replace(gold_table(), name="other gold")]
    reports: list[tuple[int, int]] = []
    parallel = evaluate(
        [GOOD, POOR], golds, processes=2, progress=lambda *report: reports.append(report)
    )
    assert parallel.result.to_json() == evaluate([GOOD, POOR], golds).result.to_json()
    assert reports[-1][0] == reports[-1][1]


# System level ----------------------------------------------------------------------------------


def of_systems(table, name, scores, /, **facts):
    keys = tuple((system, "") for system in scores)
    return table(
        name=name, level="system", keys=keys, scores=np.array(list(scores.values())), **facts
    )


SYSTEM_GOLD = of_systems(
    GoldTable, "gold", {"a": 1.0, "b": 2.0, "c": 3.0}, kind="da", higher_is_better=True
)
MORE_SYSTEMS = of_systems(
    ScoreTable, "m", {"a": 1.0, "b": 2.0, "c": 3.0, "d": 0.0, "e": 9.0}, higher_is_better=True
)
SEGMENT_SCORES = ScoreTable("m", "segment", keys(("a", "b", "c", "d"), 2), np.arange(8.0), True)


@pytest.mark.parametrize("table", [MORE_SYSTEMS, SEGMENT_SCORES])
def test_a_system_without_gold_is_named(table):
    with pytest.raises(ScoresRefused, match="system d is not in the gold, but has 1 score by m"):
        evaluate([table], [SYSTEM_GOLD])


@pytest.mark.parametrize(
    ("table", "options", "n_ignored"),
    [
        (MORE_SYSTEMS, Options(ignore_extra=True), 2),
        (SEGMENT_SCORES, Options(ignore_extra=True), 2),
        (MORE_SYSTEMS, Options(without_systems=("d", "e")), 0),
    ],
)
def test_systems_without_gold_can_be_ignored_or_left_out(table, options, n_ignored):
    gold = evaluate([table], [SYSTEM_GOLD], options=options).result.golds[0].gold
    assert (gold.n_systems, gold.n_ignored) == (3, n_ignored)


def test_row_order_does_not_affect_ties_between_systems():
    rows = dict(zip(keys(("a", "b", "c"), 3), [1, 2, 3, 1, 2, 3, 4, 5, 6], strict=True))
    # Added up from the left, .1 + .2 + .3 and .3 + .2 + .1 differ.
    scores = dict(zip(rows, [0.1, 0.2, 0.3, 0.3, 0.2, 0.1, 0.5, 0.6, 0.7], strict=True))
    accuracies = []
    for order in (list(rows), sorted(rows, key=lambda key: (key[0], scores[key]))):
        gold = gold_table(keys=tuple(order), scores=np.array([float(rows[key]) for key in order]))
        table = ScoreTable(
            "m", "segment", tuple(order), np.array([scores[key] for key in order]), True
        )
        accuracies.append(evaluate([table], [gold]).result.golds[0].system[0].accuracy)
    assert accuracies[0] == accuracies[1]


# Small groups ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "is_shown"), [(10, False), (45, False), (46, True)])
def test_fifths_with_too_few_translations_have_no_r(n, is_shown):
    few_keys, rng = keys(("a",), n), np.random.default_rng(1)
    gold = gold_table(keys=few_keys, scores=rng.normal(size=n))
    table = ScoreTable("m", "segment", few_keys, rng.normal(size=n), True)
    (row,) = evaluate([table], [gold]).result.golds[0].segment
    assert (row.best is not None, row.worst is not None) == (is_shown, is_shown)


# Names of files -------------------------------------------------------------------------------


def test_names_that_differ_only_in_case_or_signs_get_different_files(monkeypatch):
    # Drawing takes seconds, and the names do not depend on it.
    monkeypatch.setattr(report, "_draw", lambda picture: ({"svg": b"<svg/>"}, b"", b""))
    tables = [metric(name, 0.3, seed=i) for i, name in enumerate(("BLEU", "bleu", "C 22", "C-22"))]
    other = np.random.default_rng(5).normal(size=len(keys()))
    golds = [gold_table("DA"), gold_table("da", scores=other)]
    evaluated = evaluate(tables, golds, options=Options(qe=True, n_resamples=20))
    result = evaluated.result
    names = file_names(result)
    assert len(set(names.values())) == len(names)
    assert (names["segment", "DA"], names["segment", "da"]) == ("segment-da", "segment-da-2")
    pictures = pictures_of(evaluated, scatters=["BLEU", "bleu", "C 22", "C-22"])
    assert len({picture.name for picture in pictures}) == len(pictures)
    for gold in result.golds:
        text = table_file(result, names["segment", gold.gold.name], "csv").decode()
        assert repr(gold.segment[0].pearson.estimate) in text
    displayed = shown_pictures(result) + shown_tables(result)
    assert {item.name for item in displayed} <= set(names.values()) | {"between-metrics"}
    written = [name for name, _ in report.report_files(evaluated, scatters=["BLEU", "bleu"])]
    assert len(set(written)) == len(written)


def test_a_name_that_looks_numbered_is_not_used_twice():
    golds = [gold_table(name) for name in ("da", "DA", "da-2")]
    names = file_names(evaluate([GOOD], golds).result)
    assert [names["segment", name] for name in ("da", "DA", "da-2")] == [
        "segment-da",
        "segment-da-2",
        "segment-da-2-2",
    ]
