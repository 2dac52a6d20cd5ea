"""What an evaluation takes as independent, which measures it tests, and how it says so."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from analysis.evaluation import EvaluationResult, Options, evaluate
from analysis.evaluation.result_page import measures_offered, shown_pictures
from analysis.evaluation.stored_evaluations import EvaluationRefused, options_from
from analysis.evaluation.tables import segment_table, tables_of
from analysis.scores.score_tables import ScoreTable
from analysis.stats.by_segment import correlations_by_segment
from analysis.stats.correlation import correlate
from analysis.stats.multiple_tests import holm
from analysis.stats.segment_resampling import resampled_correlations
from analysis.stats.system_resampling import measures_by_system
from analysis.stats.williams import williams_matrix
from tests.analysis.evaluation_tables import SYSTEMS, gold_scores, gold_table, keys, metric

GOOD, FAIR, POOR = metric("good", 0.3), metric("fair", 0.8, seed=3), metric("poor", 4, seed=4)
TABLES = [GOOD, FAIR, POOR]
PUBLISHED = Options(uncertainty="published")


def first_gold(tables=TABLES, gold=None, **options):
    return evaluate(tables, [gold or gold_table()], options=Options(**options)).result.golds[0]


def one_system(table):
    """Keep the first system: one translation of each segment."""
    chosen = [i for i, (system, _) in enumerate(table.keys) if system == "a"]
    return replace(table, keys=tuple(table.keys[i] for i in chosen), scores=table.scores[chosen])


def at_system_level(name, scores):
    systems = tuple((system, "") for system in SYSTEMS)
    return ScoreTable(name, "system", systems, np.asarray(scores, dtype=float), True)


def test_intervals_and_tests_are_by_segment_by_default():
    gold = first_gold()
    segments = [segment for _, segment in keys()]
    expected = correlations_by_segment(
        [table.scores for table in TABLES], gold_scores(), np.array(segments)
    )
    assert (gold.comparison.test, gold.comparison.unit, gold.comparison.n_units) == (
        "t",
        "segment",
        25,
    )
    assert_allclose(np.array(gold.comparison.pvalue, dtype=float), expected.compare().pvalue)
    assert_allclose([row.pearson.low for row in gold.segment], expected.intervals()[0])


def test_published_has_fisher_and_williams_over_all_translations():
    gold = first_gold(uncertainty="published")
    expected = williams_matrix([table.scores for table in TABLES], gold_scores())
    assert (gold.comparison.test, gold.comparison.unit) == ("williams", "translation")
    assert_allclose(np.array(gold.comparison.pvalue, dtype=float), expected.pvalue)
    for row, table in zip(gold.segment, TABLES, strict=True):
        for name, method in (("pearson", "pearson"), ("kendall", "kendall_b")):
            by_fisher = correlate(table.scores, gold_scores(), method=method)
            assert getattr(row, name).low == pytest.approx(by_fisher.low)
    assert [(test.level, test.measure) for test in gold.tests] == [("system", "pearson")]


def test_published_is_never_corrected():
    gold = first_gold(uncertainty="published", correction="holm")
    assert {test.correction for test in gold.all_tests} == {"none"}


def test_one_translation_of_each_segment_has_williams_and_fisher_for_r():
    tables = [one_system(table) for table in TABLES]
    gold = first_gold(tables, one_system(gold_table()))
    expected = williams_matrix([table.scores for table in tables], gold_scores()[:25])
    assert gold.comparison.test == "williams"
    assert_allclose(np.array(gold.comparison.pvalue, dtype=float), expected.pvalue)
    by_fisher = correlate(tables[0].scores, gold_scores()[:25])
    assert gold.segment[0].pearson.low == pytest.approx(by_fisher.low)
    assert {test.measure: test.test for test in gold.tests} == {"spearman": "t", "kendall": "t"}


def test_both_tests_of_r_are_shown_with_one_translation_of_each_segment():
    tables = [one_system(table) for table in TABLES]
    scores, truth = np.stack([table.scores for table in tables]), gold_scores()[:25]
    gold = first_gold(tables, one_system(gold_table()))
    by_t = correlations_by_segment(scores, truth, np.arange(25))
    (alternative,) = gold.alternatives
    assert (alternative.test, alternative.unit, alternative.measure) == (
        "t",
        "translation",
        "pearson",
    )
    assert_allclose(np.array(alternative.pvalue, dtype=float), by_t.compare().pvalue)
    table = segment_table(gold, Options())
    assert [column.title for column in table.columns][-2:] == ["p, Williams", "p, t"]
    by_williams = williams_matrix(scores, truth)
    assert [cell.value for cell in table.rows[1][-2:]] == pytest.approx(
        [by_williams.pvalue[0, 1], by_t.compare().pvalue[0, 1]]
    )
    robust = first_gold(tables, one_system(gold_table()), uncertainty="robust")
    assert (robust.comparison.test, robust.alternatives[0].test) == ("t", "williams")
    assert robust.comparison.pvalue == alternative.pvalue
    assert [row.pearson.low for row in robust.segment] == pytest.approx(by_t.intervals()[0])
    note = segment_table(robust, Options(uncertainty="robust")).note
    assert "jackknife of translations" in note and "t test by translation" in note


def test_robust_tests_r_of_systems_without_segments_by_t():
    rng = np.random.default_rng(5)
    truth = rng.normal(size=12)
    places = tuple((f"system {i}", "") for i in range(12))
    gold = replace(gold_table(), level="system", keys=places, scores=truth)
    scores = truth + rng.normal(size=(2, 12))
    tables = [
        ScoreTable(f"metric {i}", "system", places, row, True) for i, row in enumerate(scores)
    ]
    found = first_gold(tables, gold, uncertainty="robust")
    expected = measures_by_system(scores, truth, "pearson")
    by_name = {row.metric: row for row in found.system}
    assert by_name["metric 0"].pearson.low == pytest.approx(expected.intervals()[0, 0])
    assert (found.tests[0].test, found.alternatives[0].test) == ("t", "williams")
    default = first_gold(tables, gold)
    assert (default.tests[0].test, default.alternatives[0].test) == ("williams", "t")


def test_resampling_draws_segments_for_every_measure():
    gold = first_gold(uncertainty="resampling", n_resamples=200)
    tests = [test for test in gold.all_tests if test.level == "segment"]
    assert {test.test for test in tests} == {"permutation"} and len(tests) == 4
    segments = np.tile(np.arange(25), 4)
    expected = resampled_correlations(
        [table.scores for table in TABLES],
        gold_scores(),
        segments,
        method="kendall_b",
        rng=np.random.default_rng(1),
        n_resamples=200,
    )
    assert [row.kendall.low for row in gold.segment] == pytest.approx(expected.intervals()[0])
    assert_allclose(
        np.array(gold.test_of("segment", "kendall").pvalue, dtype=float), expected.compare().pvalue
    )


def test_every_measure_is_tested():
    tested = [(test.level, test.measure) for test in first_gold().all_tests]
    assert tested == [
        *(("segment", measure) for measure in ("pearson", "spearman", "kendall", "acc_eq")),
        *(("system", measure) for measure in ("pearson", "spearman", "kendall", "accuracy", "spa")),
    ]


def test_winners_follow_from_the_adjusted_p_values():
    for test in first_gold().all_tests:
        adjusted = holm(np.array(test.pvalue, dtype=float))
        outperformed = (adjusted < 0.05).any(axis=0)
        expected = [
            name for name, is_out in zip(test.metrics, outperformed, strict=True) if not is_out
        ]
        assert list(test.winners) == expected, test.measure
        assert_allclose(test.adjusted, adjusted)


def test_without_correction_there_are_no_more_winners_than_with_it():
    for holm_test, raw_test in zip(
        first_gold().all_tests, first_gold(correction="none").all_tests, strict=True
    ):
        assert set(raw_test.winners) <= set(holm_test.winners)
        assert_allclose(raw_test.adjusted, np.array(raw_test.pvalue, dtype=float))


def test_system_scores_without_segments_are_tested_by_system():
    system_gold = replace(
        gold_table(),
        level="system",
        keys=tuple((name, "") for name in SYSTEMS),
        scores=np.arange(4.0),
    )
    tables = [at_system_level("one", [0, 1, 2, 4]), at_system_level("two", [2, 1, 3, 0])]
    tests = {test.measure: test for test in first_gold(tables, system_gold).tests}
    assert set(tests) == {"pearson", "spearman", "kendall", "accuracy"}
    assert tests["pearson"].test == "williams" and tests["accuracy"].test == "t"
    assert {test.unit for test in tests.values()} == {"system"}


def test_system_scores_without_segments_have_intervals_over_systems():
    rng = np.random.default_rng(5)
    truth = rng.normal(size=12)
    places = tuple((f"system {i}", "") for i in range(12))
    gold = replace(gold_table(), level="system", keys=places, scores=truth)
    scores = truth + rng.normal(size=(2, 12))
    tables = [
        ScoreTable(f"metric {i}", "system", places, row, True) for i, row in enumerate(scores)
    ]
    by_name = {row.metric: row for row in first_gold(tables, gold).system}
    published = {
        row.metric: row for row in first_gold(tables, gold, uncertainty="published").system
    }
    for measure, method in (("spearman",) * 2, ("kendall", "kendall_b"), ("accuracy",) * 2):
        low, high = measures_by_system(scores, truth, method).intervals()
        for i, table in enumerate(tables):
            row = getattr(by_name[table.name], measure)
            old = getattr(published[table.name], measure)
            assert (row.low, row.high) == pytest.approx((low[i], high[i]))
            assert (row.estimate, row.n) == (old.estimate, old.n) and row.low != old.low
    assert by_name["metric 0"].pearson == published["metric 0"].pearson
    (table,) = (
        table for table in tables_of(evaluate(tables, [gold]).result) if table.name == "system-gold"
    )
    assert "jackknife over systems" in table.note
    assert "accuracy, 95 % interval" in [column.title for column in table.columns]


def test_a_perfect_order_has_no_interval():
    truth = np.arange(12.0)
    result = measures_by_system([truth, truth[::-1]], truth, "kendall_b")
    assert_allclose(result.estimates, [1, -1])
    assert np.isnan(result.intervals()).all()
    assert result.compare().pvalue[0, 1] < 0.001


def test_a_perfect_order_does_not_beat_an_order_with_one_mistake():
    truth = np.arange(12.0)
    with_mistake = truth.copy()
    with_mistake[[3, 4]] = with_mistake[[4, 3]]
    for measure in ("spearman", "kendall_b", "accuracy"):
        pvalue = measures_by_system([truth, with_mistake], truth, measure).compare().pvalue
        assert 0.05 < pvalue[0, 1] < 0.5, measure


def test_only_pairs_with_a_metric_that_is_no_mean_are_tested_by_system():
    corpus = at_system_level("corpus", [0, 3, 1, 2])
    test = first_gold([GOOD, FAIR, corpus]).test_of("system", "pearson")
    assert (test.test, test.unit, test.n_by_system) == ("permutation", "segment", 2)
    assert all(
        p is not None for i, row in enumerate(test.pvalue) for j, p in enumerate(row) if i != j
    )


def test_system_scores_that_are_rounded_means_count_as_means():
    means = [GOOD.scores[i * 25 : (i + 1) * 25].mean() for i in range(4)]
    rounded = at_system_level("good", np.round(means, 5))
    test = first_gold([GOOD, rounded, FAIR]).test_of("system", "pearson")
    assert test.n_by_system == 0


def test_a_constant_metric_is_tested_in_no_measure_and_never_wins():
    flat = replace(GOOD, name="flat", scores=np.ones(100))
    for test in first_gold([GOOD, FAIR, flat]).all_tests:
        if test.measure in ("pearson", "spearman", "kendall"):
            assert "flat" not in test.winners, test.measure


def test_a_single_metric_has_no_tests():
    gold = first_gold([GOOD])
    assert gold.all_tests == () and gold.winners == ("good",)


def test_cross_validation_changes_acc_eq_and_the_signature():
    gold = replace(gold_table(), scores=np.round(gold_scores()))
    calibrated = evaluate(TABLES, [gold]).result
    validated = evaluate(TABLES, [gold], options=Options(tie_threshold="cross-validated")).result
    one, other = (result.golds[0].segment[0].acc_eq for result in (calibrated, validated))
    assert other.estimate <= one.estimate
    assert "ties:cross-validated" in validated.signature


def test_the_signature_names_the_choices():
    result = evaluate(TABLES, [gold_table()], options=PUBLISHED).result
    assert "uncertainty:published|test:williams,one-sided|correction:none" in result.signature


def test_a_result_stored_before_tests_of_every_measure_still_opens():
    facts = evaluate(TABLES, [gold_table()], options=PUBLISHED).result.to_dict()
    for name in ("uncertainty", "correction", "tie_threshold"):
        del facts["options"][name]
    gold = facts["golds"][0]
    del gold["tests"]
    gold["comparison"]["r"] = gold["comparison"].pop("estimates")
    for name in (
        "level",
        "measure",
        "test",
        "unit",
        "n_units",
        "n_by_system",
        "correction",
        "winners",
    ):
        del gold["comparison"][name]
    restored = EvaluationResult.from_dict(facts).golds[0]
    assert restored.comparison.test == "williams" and restored.comparison.estimates[0] > 0.9
    assert restored.winners == ("good",) and restored.tests == ()


def test_the_page_shows_the_map_of_one_measure_at_a_time():
    result = evaluate(TABLES, [gold_table()]).result
    offered = measures_offered(result)
    assert len(offered) == 9 and offered["system-spa"] == "soft pairwise accuracy, system level"
    for chosen, name in (
        ("", "significance-gold"),
        ("system-spa", "significance-system-spa-gold"),
        ("nonsense", "significance-gold"),
    ):
        names = [picture.name for picture in shown_pictures(result, measure=chosen)]
        assert [each for each in names if each.startswith("significance")] == [name]


@pytest.mark.parametrize("name", ["uncertainty", "correction", "tie_threshold"])
def test_an_unknown_choice_is_refused(name):
    with pytest.raises(EvaluationRefused, match=name):
        options_from({name: "guessed"})
