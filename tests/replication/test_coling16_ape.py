"""The published post-editions as a test set for automatic post-editing, next to sacreBLEU's numbers."""

import math
from pathlib import Path

import pytest
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

from analysis.experiments.ape import APE
from analysis.experiments.base import run
from analysis.scores.raw_files import RawFile
from tests.replication.locating import replication_data

N_RESAMPLES = 1000
# The output, and as the output of a system that rewrites everything, the reference.
ROLES = {"before": "sys", "outputs": "ref", "post_editions": "human-post-edit", "sources": "src"}


def raw(path: Path) -> RawFile:
    return RawFile(path.name, path.read_bytes())


@pytest.mark.parametrize("pair", ["cs-en", "es-en"])
def test_scores_tests_and_edits_are_those_of_sacrebleu(pair: str) -> None:
    folder = replication_data("coling16-posteditions")
    inputs = {role: [raw(folder / f"{name}.{pair}")] for role, name in ROLES.items()}
    result = run(APE, inputs, {"resamples": N_RESAMPLES, "tokenise": "none"})
    before, after, edits = (
        inputs[role][0].content.decode().splitlines()
        for role in ("before", "outputs", "post_editions")
    )
    ter = TER(case_sensitive=True, references=[edits])
    metrics = {
        "TER": ter,
        "TER-lc": TER(references=[edits]),
        "BLEU": BLEU(tokenize="none", references=[edits]),
        "chrF": CHRF(references=[edits]),
    }
    rows = {row["metric"]: row for row in result["rows"]}
    named = [("before", before), ("after", after)]
    for name, metric in metrics.items():
        _, scores = PairedTest(named, {name: metric}, None, test_type="bs", n_samples=N_RESAMPLES)()
        (values,) = (each for title, each in scores.items() if title != "System")
        for estimate, value in zip(rows[name]["estimates"], values, strict=True):
            assert estimate == pytest.approx(value.score, abs=1e-9)
        p = values[1].p_value
        spread = math.sqrt(2 * max(p * (1 - p), 1 / N_RESAMPLES) / N_RESAMPLES)
        assert rows[name]["two_sided"]["bootstrap"][0][1] == pytest.approx(p, abs=4 * spread)
    # What people changed is what is left to change before.
    by_sentence = [
        ter.sentence_score(text, [edit]) for text, edit in zip(before, edits, strict=True)
    ]
    n_edits = sum(score.num_edits for score in by_sentence)
    assert sum(result["edits_of_people"].values()) == n_edits
    assert sum(sentence["n_edits"] for sentence in result["sentences"]) == n_edits
    n_words = sum(len(edit.split()) - len(text.split()) for text, edit in zip(before, edits, strict=True))  # fmt: skip
    people = result["edits_of_people"]
    assert people["insertions"] - people["deletions"] == n_words
