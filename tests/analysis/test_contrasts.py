"""Two golds, or a gold and a metric: quadrants, contradictions, their texts, pictures and files."""

import csv
import io

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from numpy.testing import assert_allclose

from analysis.evaluation.contrasts import ContrastRefused, Scored, contrast, paired
from analysis.evaluation.engine import evaluate
from analysis.evaluation.result_page import picture_maker
from analysis.evaluation.results import EvaluationResult, Options
from analysis.evaluation.stored_evaluations import (
    GoldChoice,
    UploadChoice,
    evaluate_campaign,
    result_of,
)
from analysis.evaluation.tables import tables_of
from analysis.post_editions.measures import compute_targeted
from analysis.scores.raw_files import RawFile
from analysis.scores.storing import campaign_keys
from tests.analysis.evaluation_tables import gold_table, metric, write_table
from tests.api.callers import caller
from tests.evaluations import make_scored_campaign
from tests.people import client_of

KEYS = [("a", str(segment)) for segment in range(1, 6)]


def scored(name, *scores, keys=KEYS, higher=True):
    return Scored(name, keys, np.array(scores, dtype=float), higher)


# By hand --------------------------------------------------------------------------------------


def test_quadrants_and_contradictions_match_counts_by_hand():
    # Means are 3 and 0.5; error rates below their mean are good.
    pairs = paired(scored("DA", 1, 2, 3, 4, 5), scored("HTER", 0.1, 1, 0.6, 0.2, 0.6, higher=False))
    found = contrast(pairs)
    assert (found.n, found.n_good_by_both, found.n_good_by_neither) == (5, 1, 2)
    assert (found.n_good_by_first, found.n_good_by_second) == (1, 1)
    assert [row.segment for row in found.contradictions] == ["1", "5"]
    first = found.contradictions[0]
    assert (first.first, first.second) == (1, 0.1)
    assert_allclose(first.first_z, -2 / np.std([1, 2, 3, 4, 5], ddof=1))
    assert first.second_z > 0
    assert_allclose(found.r.estimate, -np.corrcoef([1, 2, 3, 4, 5], [0.1, 1, 0.6, 0.2, 0.6])[0, 1])


def test_only_translations_with_both_scores_count():
    second = scored("HTER", 9, 1, 2, 4, 3, 5, keys=[("b", "1"), *reversed(KEYS)])
    pairs = paired(scored("DA", 1, 2, 3, 4, 5), second)
    assert pairs.keys == tuple(KEYS) and pairs.scores[1].tolist() == [5, 3, 4, 2, 1]


def test_too_few_or_constant_scores_have_no_contrast():
    assert paired(scored("a", 1, 2, keys=KEYS[:2]), scored("b", 1, 2, keys=KEYS[:2])) is None
    assert paired(scored("a", 1, 1, 1, 1, 1), scored("b", 1, 2, 3, 4, 5)) is None


def test_a_score_never_contradicts_itself_and_always_its_opposite():
    z = np.random.default_rng(1).normal(size=5)
    assert contrast(paired(scored("a", *z), scored("b", *(2 * z + 7)))).contradictions == ()
    opposite = contrast(paired(scored("a", *z), scored("b", *z, higher=False)))
    assert opposite.n_good_by_first + opposite.n_good_by_second == 5
    assert (
        contrast(paired(scored("a", *z), scored("b", *-z)), 2).contradictions
        == (contrast(paired(scored("a", *z), scored("b", *-z))).contradictions[:2])
    )


# Two golds ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def two_golds():
    rng = np.random.default_rng(5)
    da = gold_table("DA")
    noisy = 0.5 - 0.2 * (da.scores + rng.normal(size=len(da.scores)))
    hter = gold_table("HTER", kind="hter", scores=noisy, higher_is_better=False)
    # Predictions of HTER.
    tables = [metric("good", 0.3, higher=False), metric("poor", 3, higher=False)]
    return evaluate(tables, [da, hter], options=Options(qe=True))


def test_two_golds_have_r_and_ranks_under_both_and_errors_under_hter(two_golds):
    tables = {table.name: table for table in tables_of(two_golds.result)}
    table = tables["compared-segment-da-hter"]
    titles = ["metric", "r DA", "rank DA", "r HTER", "rank HTER", "change", "MAE HTER"]
    assert [column.title for column in table.columns] == [*titles, "rank by MAE HTER"]
    (hter,) = (gold for gold in two_golds.result.golds if gold.gold.name == "HTER")
    errors = {row.metric: row.mae.estimate for row in hter.predictions}
    assert {row[0].value: row[6].value for row in table.rows} == errors
    ranks = {row[0].value: row[7].value for row in table.rows}
    assert ranks == {"good": 1, "poor": 2} and errors["good"] < errors["poor"]


def test_contradictions_are_a_table_and_survive_storing(two_golds):
    (pair,) = (pair for pair in two_golds.result.comparisons if pair.level == "segment")
    assert pair.contrast.r == pair.between and 0 < len(pair.contrast.contradictions) <= 50
    (table,) = (t for t in tables_of(two_golds.result) if t.name.startswith("contradictions"))
    assert len(table.rows) == len(pair.contrast.contradictions)
    assert f"{pair.contrast.n_good_by_first} are better than average by DA only" in table.note
    assert EvaluationResult.from_dict(two_golds.result.to_dict()) == two_golds.result


def test_evaluations_stored_before_have_no_contrast(two_golds):
    facts = two_golds.result.to_dict()
    for pair in facts["comparisons"]:
        del pair["contrast"]
    assert not any(
        "contradict" in table.name for table in tables_of(EvaluationResult.from_dict(facts))
    )


# The command ----------------------------------------------------------------------------------


def test_the_command_contrasts_a_gold_and_a_metric(tmp_path):
    rng = np.random.default_rng(2)
    gold = gold_table().scores
    columns = {"BLEU:higher": gold + rng.normal(size=len(gold))}
    scores = write_table(tmp_path / "scores.tsv", columns)
    da = write_table(tmp_path / "da.tsv", {"score": gold})
    chosen = ["evaluate", str(scores), "--gold", f"da={da}", "--out"]
    call_command(*chosen, str(tmp_path / "out"), "--contrast", "da", "BLEU")
    assert (tmp_path / "out" / "figures" / "quadrants-da-bleu.svg").exists()
    with (tmp_path / "out" / "tables" / "quadrants-da-bleu.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows and all(float(row["z da"]) * float(row["z BLEU"]) <= 0 for row in rows)
    with pytest.raises(CommandError, match="no segment scores of 'METEOR'. Choose from: da, BLEU"):
        call_command(*chosen, str(tmp_path / "other"), "--contrast", "da", "METEOR")


# Page and API ---------------------------------------------------------------------------------


@pytest.fixture
def evaluation(db):
    """A campaign's metrics against its ratings and against HTER."""
    campaign = make_scored_campaign()
    rng = np.random.default_rng(4)
    lines = ["system\tsegment\tpost_edition"]
    for system, segment in campaign_keys(campaign, "segment"):
        lines.append(f"{system}\t{segment}\t{' '.join(rng.choice(list('abcdefgh'), 6))} {segment}")
    file = RawFile("pe.tsv", "\n".join(lines).encode())
    (hter,) = compute_targeted(campaign=campaign, post_editions=file, names=["chrF"], use="gold")
    return evaluate_campaign(campaign=campaign, golds=[GoldChoice(1), UploadChoice(str(hter.code))])


def test_the_page_shows_texts_of_contradictions(evaluation):
    client = client_of("researcher")
    page = reverse("evaluation_contrast", args=[evaluation.code])
    assert page in client.get(reverse("evaluation", args=[evaluation.code])).content.decode()
    answer = client.get(page)
    text = answer.content.decode()
    assert answer.status_code == 200 and "gold 1 against HchrF" in text
    assert ">Reference</th>" in text and ">Post-edition</th>" in text
    rows = answer.context["rows"]
    assert 0 < len(rows) <= 20 and all(row.texts.output for row in rows)
    answer = client.get(page, {"first": "gold 1", "second": "poor"})
    assert "gold 1 against poor" in answer.content.decode()


def test_the_page_refuses_unknown_scores_and_one_score_twice(evaluation):
    client = client_of("researcher")
    page = reverse("evaluation_contrast", args=[evaluation.code])
    answer = client.get(page, {"first": "<b>", "second": "poor"})
    assert answer.status_code == 422 and "&lt;b&gt;" in answer.content.decode()
    answer = client.get(page, {"first": "poor", "second": "poor"})
    assert answer.status_code == 422 and "two different scores" in answer.content.decode()


def test_contradictions_are_downloaded_with_their_texts(evaluation):
    client = client_of("researcher")
    address = reverse("evaluation_contradictions", args=[evaluation.code])
    content = client.get(address, {"first": "gold 1", "second": "good"}).content.decode()
    rows = list(csv.DictReader(io.StringIO(content)))
    assert all(row["output"] and row["post_edition"] for row in rows)
    assert list(rows[0])[2:6] == ["gold 1", "good", "gold 1 z", "good z"]
    picture = reverse("evaluation_contrast_picture", args=[evaluation.code, "svg"])
    assert client.get(picture).content.startswith(b"<?xml")
    assert client.get(picture, {"first": "x"}).status_code == 404


def test_the_golds_are_plotted_against_each_other(evaluation):
    draw = picture_maker(evaluation, result_of(evaluation), "golds-segment-gold-1-hchrf")
    assert draw is not None
    picture = draw()
    assert picture.title == "gold 1 against HchrF" and len(picture.rows) == 28


def test_the_api_returns_contradictions_with_texts_and_ratings(evaluation):
    ada = caller("researcher", evaluation.campaign)
    path = f"/campaigns/{evaluation.campaign.code}/evaluations/{evaluation.number}/contrast"
    found = ada.get(f"{path}?first=gold 1&second=HchrF&most=3").json()
    assert found["n"] == 28 and len(found["contradictions"]) == 3
    assert {"output", "post_edition", "ratings"} <= found["contradictions"][0].keys()
    assert ada.get(f"{path}?first=gold 1&second=x").status_code >= 400


def test_an_unknown_score_is_named(two_golds):
    with pytest.raises(ContrastRefused, match="Choose from: DA, HTER, good, poor"):
        two_golds.with_contrasts([("DA", "x")])
