"""The relative rankings of WMT15: counts, agreement, and the official rankings of ten language pairs."""

from itertools import pairwise

import numpy as np
import pytest

from analysis.stats.judgements import collapse, complete_tasks, expand
from analysis.stats.kappa import COUNTINGS, kappa
from analysis.stats.trueskill import trueskill

from .locating import replication_data
from .wmt15 import collected_rankings, official_ranking, published_kappas

# How far a score may be from the published one: both are means over random runs.
TOLERANCE = 0.02


@pytest.fixture(scope="module")
def collected():
    return collected_rankings(replication_data("wmt15-rankings", "wmt15.xml.gz"))


@pytest.fixture(scope="module")
def rows_by_pair(collected):
    return {name: pair.rankings() for name, pair in collected.items()}


def test_there_are_as_many_hits_tasks_and_judgements_as_counted(collected, rows_by_pair):
    pairs = collected.values()
    assert sum(pair.n_hits for pair in pairs) == 9_669
    assert sum(pair.n_tasks for pair in pairs) == 29_017
    assert sum(len(expand(complete_tasks(rows))) for rows in rows_by_pair.values()) == 540_107


def test_reading_repeated_tasks_as_the_paper_did_gives_its_number_of_judgements(collected):
    assert sum(len(pair.joined) for pair in collected.values()) == 542_732


def check_agreement(rows_by_pair, outputs):
    published = published_kappas(replication_data("wmt15-rankings"))
    expected = {key: row for key, row in published.items() if key[1] == outputs}
    assert len(expected) == 20
    for (pair, _, between), row in expected.items():
        rows = rows_by_pair[pair]
        judgements = expand(collapse(rows) if outputs == "collapsed" else rows)
        result = kappa(judgements, between, counting="published")
        ours = [f"{value:.3f}" for value in (result.p_agree, result.p_chance, result.kappa)]
        counts = (result.n_agree, result.n_comparable, result.n_ties, result.n_labels)
        assert [*ours, *map(str, counts)] == list(row.values())[3:], (pair, between)


def test_agreement_is_as_published_to_three_places_with_the_same_counts(rows_by_pair):
    check_agreement(rows_by_pair, "collapsed")


@pytest.mark.slow
def test_agreement_on_expanded_judgements_is_as_published(rows_by_pair):
    check_agreement(rows_by_pair, "expanded")


def test_agreement_between_different_judges_is_lower_than_published(rows_by_pair):
    """The published count also compares judges with themselves, and they agree more than others do."""
    judgements = expand(collapse(rows_by_pair["eng-fin"]))
    strict, published = (kappa(judgements, "inter", counting=counting) for counting in COUNTINGS)
    assert strict.kappa < published.kappa - 0.05


def compare(judgements, official, *, runs):
    """Return the largest difference of scores, swapped neighbours, and whether clusters are the same."""
    result = trueskill(judgements, rng=np.random.default_rng(1), runs=runs)
    lines = [official[system] for system in result.systems]
    apart = max(abs(line.score - score) for line, score in zip(lines, result.scores, strict=True))
    # Neighbours whose rank ranges overlap are in no official order.
    swapped = [
        (above, below)
        for above, below in pairwise(lines)
        if above.score < below.score and above.best > below.worst
    ]
    return apart, swapped, [line.cluster for line in lines] == result.ranges.clusters.tolist()


def test_finnish_english_is_ranked_as_published(rows_by_pair):
    official = official_ranking(replication_data("wmt15-rankings"), "fin-eng")
    judgements = expand(complete_tasks(rows_by_pair["fin-eng"]))
    apart, _, _ = compare(judgements, official, runs=12)
    assert apart < TOLERANCE


@pytest.mark.slow
def test_all_ten_pairs_are_ranked_as_published(collected):
    pytest.importorskip("numba")
    folder = replication_data("wmt15-rankings")
    other_clusters = set()
    for name, pair in collected.items():
        official = official_ranking(folder, name)
        apart, swapped, is_same = compare(pair.joined_judgements(), official, runs=1000)
        assert apart < TOLERANCE and not swapped, name
        if not is_same:
            other_clusters.add(name)
    # In these, rank ranges that just overlap for us do not officially, or the other way round: the scores of
    # a few systems differ by 0.004 to 0.015, more than chance. Perhaps the official runs saw other data.
    assert other_clusters <= {"ces-eng", "eng-ces", "eng-deu"}
