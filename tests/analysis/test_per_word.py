"""Times are divided by the number of words before they are evaluated."""

import json
from dataclasses import replace

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from analysis.evaluation import EvaluationResult, Options, evaluate
from analysis.evaluation.aligned_rows import Texts
from analysis.scores.errors import ScoresRefused
from tests.analysis.evaluation_tables import N_SEGMENTS, gold_table, keys, metric, write_table

LENGTHS = {str(segment): 1 + segment % 7 for segment in range(1, N_SEGMENTS + 1)}
TEXTS = Texts(LENGTHS, "words")
OPTIONS = Options(qe=True, per_word=True)
WORDS = np.array([LENGTHS[segment] for _, segment in keys()])


def seconds(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).gamma(2, 5, size=len(keys())) * WORDS


PREDICTED = replace(metric("svr", 1), scores=seconds(1), higher_is_better=False)
MEASURED = gold_table("time", kind="other", scores=seconds(2), higher_is_better=False)


def test_predictions_and_gold_are_divided_by_words():
    result = evaluate([PREDICTED], [MEASURED], options=OPTIONS, texts=TEXTS).result
    predicted, measured = PREDICTED.scores / WORDS, MEASURED.scores / WORDS
    mae = result.golds[0].predictions[0].mae.estimate
    assert mae == pytest.approx(np.abs(predicted - measured).mean())
    r = result.golds[0].segment[0].pearson.estimate
    assert r == pytest.approx(np.corrcoef(predicted, measured)[0, 1])
    assert "|per:word|" in result.signature
    assert all(source.signature.endswith("per:word") for source in result.inputs)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"texts": None}, "need the text of every segment"),
        ({"texts": Texts(LENGTHS, "characters")}, "texts with spaces between words"),
        ({"texts": Texts(LENGTHS | {"3": 0}, "words")}, "segment 3 has no words"),
        ({"table": replace(PREDICTED, scores=-seconds(1))}, "svr: has negative scores"),
    ],
)
def test_what_cannot_be_divided_is_refused(changes, reason):
    texts = changes.get("texts", TEXTS)
    with pytest.raises(ScoresRefused, match=reason):
        evaluate([changes.get("table", PREDICTED)], [MEASURED], options=OPTIONS, texts=texts)


def test_the_command_divides_by_the_words_of_a_file(tmp_path):
    predictions = write_table(tmp_path / "p.tsv", {"svr": PREDICTED.scores})
    gold = write_table(tmp_path / "time.tsv", {"score": MEASURED.scores})
    texts = tmp_path / "source.txt"
    texts.write_text("".join("a " * n + "\n" for n in LENGTHS.values()))
    arguments = [str(predictions), "--gold", str(gold), "--qe", "--all-lower", "--lower", "time"]
    out = ["--out", str(tmp_path / "report")]
    with pytest.raises(CommandError, match="need the text of every segment"):
        call_command("evaluate", *arguments, "--per-word", *out)
    call_command("evaluate", *arguments, "--per-word", "--texts", str(texts), *out)
    written = (tmp_path / "report" / "result.json").read_text()
    expected = evaluate([PREDICTED], [MEASURED], options=OPTIONS, texts=TEXTS).result.golds[0]
    assert (
        EvaluationResult.from_dict(json.loads(written)).golds[0].predictions == expected.predictions
    )
