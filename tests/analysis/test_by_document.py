"""Documents in the place of segments: scores and gold are averaged, and everything else is as for segments."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from numpy.testing import assert_allclose

from analysis.evaluation import EvaluationResult, Options, evaluate
from analysis.evaluation.aligned_rows import Texts
from analysis.evaluation.mending import mended
from analysis.evaluation.report import findings
from analysis.evaluation.stored_evaluations import (
    evaluate_campaign,
    evaluate_collection,
    evaluate_pooled,
    options_from,
    rows_of,
)
from analysis.evaluation.stored_inputs import EvaluationRefused, PooledChoice
from analysis.evaluation.tables import tables_of
from analysis.evaluation.uploading import (
    GoldReading,
    Reading,
    store_uploaded_gold,
    store_uploaded_scores,
)
from analysis.models import ScoreCollection
from analysis.scores.errors import ScoresRefused
from analysis.scores.raw_files import RawFile
from analysis.scores.score_tables import GoldTable, ScoreTable
from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job
from hits.models import Campaign, Segment
from tests.analysis.evaluation_tables import gold_table, keys, metric
from tests.api.callers import caller
from tests.evaluations import make_scored_campaign
from tests.people import client_of
from tests.subprocesses import CHECKOUT

OPTIONS = Options(level="document", qe=True, n_resamples=20)
KEYS = keys()
# Five segments each; every system has every document.
DOCUMENTS = tuple(f"doc{(int(segment) - 1) // 5}" for _, segment in KEYS)
DOCUMENT_OF = {segment: name for (_, segment), name in zip(KEYS, DOCUMENTS, strict=True)}
DOCUMENT_KEYS = tuple(
    dict.fromkeys((system, document) for (system, _), document in zip(KEYS, DOCUMENTS, strict=True))
)


def means(scores: np.ndarray) -> np.ndarray:
    """The mean of each document, the plain way."""
    rows = [(system, document) for (system, _), document in zip(KEYS, DOCUMENTS, strict=True)]
    return np.array(
        [
            np.mean([score for row, score in zip(rows, scores, strict=True) if row == key])
            for key in DOCUMENT_KEYS
        ]
    )


GOLD = replace(gold_table("DA"), documents=DOCUMENTS)
METRICS = [metric("good", 0.5), metric("poor", 3)]


def of_documents(table: ScoreTable) -> ScoreTable:
    return replace(table, keys=DOCUMENT_KEYS, scores=means(table.scores))


GOLD_OF_DOCUMENTS = GoldTable(
    "DA", "da", "segment", DOCUMENT_KEYS, means(GOLD.scores), True,
    documents=tuple(name for _, name in DOCUMENT_KEYS),
)  # fmt: skip


def result_of(metrics=METRICS, gold=GOLD, **options) -> EvaluationResult:
    return evaluate(metrics, [gold], options=replace(OPTIONS, **options)).result


@pytest.mark.parametrize("uncertainty", ["segments", "resampling", "published"])
def test_documents_are_evaluated_as_segments_would_be(uncertainty):
    result = result_of(uncertainty=uncertainty)
    as_segments = evaluate(
        [of_documents(each) for each in METRICS],
        [replace(GOLD_OF_DOCUMENTS, documents=None)],
        options=replace(OPTIONS, level="segment", uncertainty=uncertainty),
    ).result
    found, expected = result.golds[0], as_segments.golds[0]
    assert found.segment == expected.segment
    assert found.predictions == expected.predictions
    assert found.comparison is not None and expected.comparison is not None
    assert found.comparison.pvalue == expected.comparison.pvalue
    assert found.winners == expected.winners
    assert (found.gold.n, found.gold.n_segments) == (len(DOCUMENT_KEYS), len(set(DOCUMENTS)))
    assert [row.accuracy for row in found.system] == [row.accuracy for row in expected.system]
    assert "|level:document|" in result.signature and "level:" not in as_segments.signature


def test_scores_and_gold_can_be_given_for_documents():
    averaged = result_of()
    for metrics, gold in (
        ([of_documents(METRICS[0]), METRICS[1]], GOLD),
        ([of_documents(each) for each in METRICS], GOLD),
        ([of_documents(each) for each in METRICS], GOLD_OF_DOCUMENTS),
        ([replace(each, document_of=DOCUMENT_OF) for each in METRICS], GOLD_OF_DOCUMENTS),
    ):
        assert result_of(metrics, gold).golds[0].segment == averaged.golds[0].segment


def test_a_mean_is_over_the_segments_with_gold():
    scores = GOLD.scores.copy()
    # All of the first document of the first system, and one segment of its second.
    scores[[0, 1, 2, 3, 4, 6]] = np.nan
    evaluated = evaluate(METRICS, [replace(GOLD, scores=scores)], options=OPTIONS)
    facts, rows = evaluated.result.golds[0].gold, evaluated.rows["DA"]
    assert (facts.n, facts.n_without_gold) == (len(DOCUMENT_KEYS) - 1, 1)
    kept = [5, 7, 8, 9]
    assert rows.alignment.keys[0] == (KEYS[5][0], "doc1")
    assert_allclose(rows.gold[0], GOLD.scores[kept].mean())
    assert_allclose(rows.scores[0, 0], METRICS[0].scores[kept].mean())
    assert facts.notes[0].endswith(f"means over their {len(KEYS) - 6} translations with gold.")


def test_always_saying_the_mean_is_a_check():
    constant = result_of().golds[0].constant
    gold = means(GOLD.scores)
    assert constant is not None
    assert_allclose(constant.mae.estimate, np.abs(gold - gold.mean()).mean())
    assert_allclose(constant.rmse.estimate, gold.std())
    assert constant.delta_avg.estimate == pytest.approx(0)
    assert constant.rescaled_mae.estimate is None
    assert result_of(qe=False).golds[0].constant is None
    (table,) = (each for each in tables_of(result_of()) if each.name.startswith("prediction"))
    assert [cell.text for cell in table.rows[-1]][:2] == ["(mean)", "–"]
    assert "(mean): the mean of DA, predicted everywhere." in table.note


def test_the_words_of_tables_are_those_of_documents():
    result = result_of()
    tables = {table.name: table for table in tables_of(result)}
    table = tables["segment-da"]
    assert table.caption == "Document-level agreement with DA"
    assert "jackknife of documents" in table.note and "segment" not in table.note
    assert {cell.text for row in tables["tests-da"].rows for cell in row[:1]} == {
        "document level",
        "system level",
    }
    assert any("t test by document" in sentence for sentence in findings(result))
    assert EvaluationResult.from_dict(json.loads(json.dumps(result.to_dict()))) == result


def test_documents_are_broken_down_by_their_total_length():
    lengths = {segment: int(segment) for _, segment in KEYS}
    evaluated = evaluate(METRICS, [GOLD], options=OPTIONS, texts=Texts(lengths, "words"))
    (by_length,) = (each for each in evaluated.result.golds[0].breakdowns if each.by == "length")
    assert by_length.groups[0].startswith(f"{sum(range(1, 6))}–")


@pytest.mark.parametrize(
    ("metrics", "gold", "reason"),
    [
        (METRICS, gold_table("DA"), "DA: has no documents; give them in a column 'document'"),
        (
            METRICS,
            replace(GOLD, documents=("", *DOCUMENTS[1:])),
            "segment 1 has no document",
        ),
        (
            METRICS,
            replace(GOLD, documents=(*DOCUMENTS[:-1], "other")),
            "is in two documents",
        ),
        (METRICS, GOLD_OF_DOCUMENTS, "good: has no scores of the documents in DA"),
        (
            [replace(METRICS[0], keys=KEYS[:-1], scores=METRICS[0].scores[:-1])],
            GOLD,
            "good: has no score for",
        ),
    ],
)
def test_what_cannot_be_averaged_is_refused(metrics, gold, reason):
    with pytest.raises(ScoresRefused, match=reason):
        result_of(metrics, gold)


def test_an_unknown_level_is_refused():
    with pytest.raises(EvaluationRefused, match="`level` must be one of: segment, document"):
        options_from({"level": "paragraph"})


@pytest.mark.parametrize("uncertainty", ["segments", "resampling", "published"])
@pytest.mark.parametrize("n_documents", [1, 2])
def test_few_documents_are_enough_for_a_result(n_documents, uncertainty):
    documents = tuple(f"doc{int(segment) % n_documents}" for _, segment in KEYS)
    options = replace(OPTIONS, uncertainty=uncertainty, good_enough=0.0)
    result = evaluate(METRICS, [replace(GOLD, documents=documents)], options=options).result
    assert (result.golds[0].gold.n, result.golds[0].gold.n_segments) == (
        4 * n_documents,
        n_documents,
    )
    assert tables_of(result) and findings(result)


# Front doors ----------------------------------------------------------------------------------


def written(folder: Path) -> dict[str, str]:
    """Gold and predictions of 12 documents of 3 segments by one system, as files."""
    rng = np.random.default_rng(5)
    gold = rng.normal(size=36)
    predicted = gold + rng.normal(size=36)
    documents = [f"doc{place // 3}" for place in range(36)]
    texts = {
        "gold.tsv": "document\tsegment\tscore\n"
        + "".join(f"{doc}\t{i}\t{score}\n" for i, (doc, score) in enumerate(zip(documents, gold, strict=True))),
        "plain.tsv": "segment\tscore\n" + "".join(f"{i}\t{score}\n" for i, score in enumerate(gold)),
        "documents.txt": "".join(f"{name}\n" for name in documents),
        "qe.tsv": "segment\tqe\n" + "".join(f"{i}\t{score}\n" for i, score in enumerate(predicted)),
        "qe-with-documents.tsv": "document\tsegment\tqe\n"
        + "".join(f"{doc}\t{i}\t{score}\n" for i, (doc, score) in enumerate(zip(documents, predicted, strict=True))),
        "gold-of-documents.tsv": "document\tscore\n"
        + "".join(f"doc{i}\t{gold[3 * i : 3 * i + 3].mean()}\n" for i in range(12)),
        "qe-of-documents.tsv": "document\tqe\n"
        + "".join(f"doc{i}\t{predicted[3 * i : 3 * i + 3].mean()}\n" for i in range(12)),
    }  # fmt: skip
    for name, text in texts.items():
        (folder / name).write_text(text)
    return {name: str(folder / name) for name in texts}


def run_command(out: Path, scores: str, gold: str, *more: str) -> EvaluationResult:
    how = ("--level", "document", "--qe", "--all-higher", "--out", str(out))
    call_command("evaluate", scores, "--gold", f"da={gold}", *more, *how)
    return EvaluationResult.from_dict(json.loads((out / "result.json").read_text()))


def test_the_command_averages_or_takes_documents_as_they_are(tmp_path):
    files = written(tmp_path)
    cases = {
        "column": ("qe.tsv", "gold.tsv"),
        "file": ("qe.tsv", "plain.tsv", "--documents", files["documents.txt"]),
        "predicted": ("qe-of-documents.tsv", "gold.tsv"),
        "given": ("qe-of-documents.tsv", "gold-of-documents.tsv"),
        "given, predicted by segment": ("qe-with-documents.tsv", "gold-of-documents.tsv"),
    }
    found = {
        name: run_command(tmp_path / name, files[scores], files[gold], *more)
        for name, (scores, gold, *more) in cases.items()
    }
    r = {result.golds[0].segment[0].pearson.estimate for result in found.values()}
    assert_allclose(list(r), min(r), rtol=1e-12)
    with pytest.raises(CommandError, match="has no documents"):
        run_command(tmp_path / "refused", files["qe.tsv"], files["plain.tsv"])


def test_the_documented_example_prints_what_the_documentation_says(tmp_path, capsys):
    folder = Path(CHECKOUT) / "examples" / "quality"
    run_command(tmp_path / "report", str(folder / "predictions.tsv"), str(folder / "gold.tsv"))
    printed, _, _ = capsys.readouterr().out.partition("Wrote")
    assert printed in (Path(CHECKOUT) / "docs" / "evaluation.md").read_text()


def make_campaign_of_documents(**fields: str) -> Campaign:
    campaign = make_scored_campaign(**fields)
    for segment in campaign.segments.all():
        segment.document = f"doc{segment.position // 3}"
        segment.save(update_fields=["document"])
    return campaign


@pytest.mark.django_db
def test_a_campaign_is_evaluated_by_its_documents():
    campaign = make_campaign_of_documents()
    evaluation = evaluate_campaign(campaign=campaign, options=OPTIONS)
    result = EvaluationResult.from_dict(evaluation.result)
    facts = result.golds[0].gold
    assert facts.n_segments == len(set(campaign.segments.values_list("document", flat=True)))
    rows = rows_of(evaluation, facts.name, ["good"])
    assert len(rows.gold) == facts.n
    assert {segment for _, segment in rows.alignment.keys} <= {f"doc{i}" for i in range(99)}


@pytest.mark.django_db
@pytest.mark.parametrize("gold", ["gold.tsv", "plain.tsv", "gold-of-documents.tsv"])
def test_files_without_a_campaign_are_evaluated_by_document(tmp_path, gold):
    files = {
        name: RawFile(name, Path(path).read_bytes()) for name, path in written(tmp_path).items()
    }
    collection = ScoreCollection.objects.create(name="Documents")
    predictions = "qe-of-documents.tsv" if "of-documents" in gold else "qe.tsv"
    reading = Reading(directions={"qe": True})
    store_uploaded_scores(files=[files[predictions]], home=collection, reading=reading)
    store_uploaded_gold(
        files=[files[gold]],
        home=collection,
        reading=GoldReading(kind="da", higher_is_better=True),
        documents=files["documents.txt"] if gold == "plain.tsv" else None,
    )
    evaluation = evaluate_collection(collection=collection, options=OPTIONS)
    facts = EvaluationResult.from_dict(evaluation.result).golds[0].gold
    assert (facts.n, facts.n_segments) == (12, 12)
    assert len(rows_of(evaluation, facts.name, ["qe"]).gold) == 12


@pytest.mark.django_db
def test_documents_of_pooled_campaigns_stay_apart():
    campaigns = [make_campaign_of_documents(name=name) for name in ("News", "Speech")]
    n = Segment.objects.filter(campaign=campaigns[0]).values("document").distinct().count()
    choice = PooledChoice(tuple((str(campaign.code), 1) for campaign in campaigns))
    result = EvaluationResult.from_dict(evaluate_pooled(golds=[choice], options=OPTIONS).result)
    assert result.golds[0].gold.n_segments == 2 * n
    # One of them does not know its documents.
    campaigns[1].segments.update(document="")
    with pytest.raises(ScoresRefused, match="has no document"):
        evaluate_pooled(golds=[choice], options=OPTIONS)


@pytest.mark.django_db
def test_the_api_and_the_page_evaluate_documents():
    campaign = make_campaign_of_documents()
    ada = caller("researcher", campaign)
    options = {"level": "document", "seed": 3}
    answer = ada.post(f"/campaigns/{campaign.code}/evaluations", {"options": options})
    assert answer.status_code == 202, answer.content
    job = Job.objects.get(code=answer.json()["code"])
    run_job(job.pk)
    evaluation = campaign.evaluations.get()
    assert "|level:document|" in evaluation.signature
    client = client_of("researcher", campaign)
    page = client.get(reverse("evaluation", args=[evaluation.code])).content.decode()
    assert "Document-level agreement with gold 1" in page
    points = reverse("evaluation_points", args=[evaluation.code, "scatter-good-gold-1"])
    shown = client.get(points).json()["points"]
    assert shown and all("translation" not in point for point in shown)
    form = client.get(reverse("campaign_evaluate", args=[campaign.code])).content.decode()
    assert 'name="level" value="document"' in form


@pytest.mark.django_db
def test_without_documents_the_page_offers_to_evaluate_segments_instead():
    campaign = make_scored_campaign()
    campaign.segments.update(document="")
    with pytest.raises(ScoresRefused, match="has no document") as refused:
        evaluate_campaign(campaign=campaign, options=OPTIONS)
    (fix,) = {problem.fix for problem in refused.value.problems}
    job = Job(kind="evaluate", campaign=campaign, arguments={"options": {"level": "document"}})
    assert mended(job, [fix])["options"]["level"] == "segment"
