"""Small files of experiments for tests."""

from pathlib import Path

from django.contrib.auth.models import User

from analysis.experiments.storing import run_stored, start_experiment
from analysis.models import Experiment
from analysis.scores.raw_files import RawFile
from tests.subprocesses import CHECKOUT

TEXTS = "a small house .\nthe cat sleeps\n"
GOLD = "OK BAD OK OK\nBAD OK OK\n"
GOOD = "OK BAD OK OK\nOK OK OK\n"
GRADED = "0.25 0.75 0.5 0\n1 0 0.125\n"

_APE = Path(CHECKOUT) / "examples" / "ape"
# The example of automatic post-editing: the texts of its files.
APE_TEXTS = {
    name: (_APE / path).read_text()
    for name, path in {
        "sources": "sources.txt",
        "before": "before.txt",
        "post_editions": "post-editions.txt",
        "careful": "outputs/careful.txt",
        "eager": "outputs/eager.txt",
    }.items()
}


def ape_files(**texts: str) -> dict[str, list[RawFile]]:
    """The files of an experiment on automatic post-editing: two systems, one careful and one eager."""
    inputs = {
        role: [raw(f"{role}.txt", APE_TEXTS[role])]
        for role in ("before", "post_editions", "sources")
    }
    inputs["outputs"] = [raw(f"{name}.txt", APE_TEXTS[name]) for name in ("careful", "eager")]
    return inputs | {role: [raw(f"{role}.txt", text)] for role, text in texts.items()}


def word_files(**texts: str) -> dict[str, list[RawFile]]:
    """The files of a word-level experiment: two submissions, one of which has probabilities."""
    inputs = {
        "submissions": [raw("good.tags", GOOD), raw("graded.tags", GRADED)],
        "gold": [raw("gold.tags", GOLD)],
        "texts": [raw("mt.tok", TEXTS)],
    }
    return inputs | {role: [raw(f"{role}.txt", text)] for role, text in texts.items()}


def raw(name: str, text: str) -> RawFile:
    return RawFile(name, text.encode())


def make_experiment(owner: User, name: str = "Words") -> Experiment:
    """A finished word-level experiment."""
    experiment = start_experiment(
        kind="words", name=name, inputs=word_files(), given={"resamples": 10}, owner=owner
    )
    run_stored(experiment)
    return experiment
