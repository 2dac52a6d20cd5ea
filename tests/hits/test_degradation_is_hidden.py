"""Length, casing, final punctuation and spaces do not distinguish texts degraded as published."""

import re
from collections.abc import Callable, Iterable
from copy import deepcopy
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from hits.campaigns.building import build_hits
from hits.campaigns.composition import Role
from hits.campaigns.demo import DEMO_FOLDER
from hits.campaigns.importing import import_campaign
from hits.models import Campaign, Item
from tests.replication.locating import replication_data

# The tests of the demo share its sample.
pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("degradation")]

# Seeds are fixed, so a test that passes once always passes.
ALPHA = 0.01
N_FOLDS = 5
N_PERMUTATIONS = 199

# Degraded texts are few, so several builds are pooled.
N_BUILDS_OF_THE_DEMO = 10
N_FRENCH_SEGMENTS = 1_800

NO_BREAK = "\u00a0"


def surface(text: str) -> list[float]:
    """Return features of a text that can be seen without reading it."""
    letters = [character for character in text if character.isalpha()]
    return [
        len(text),
        len(text.split()),
        text[:1].isupper(),
        sum(map(str.isupper, letters)) / max(len(letters), 1),
        text.rstrip()[-1:] in tuple(".!?"),
        text.count(NO_BREAK),
        len(re.findall(" [:;!?»]|« ", text)),
        len(re.findall(rf"\w{NO_BREAK}\w", text)),
    ]


FEATURES = ["characters", "words", "initial capital", "share of capitals", "final punctuation"]
FEATURES += ["no-break spaces", "plain spaces next to a mark", "no-break spaces between letters"]


class Sample:
    """Features of degraded and genuine texts, and the translation each comes from."""

    def __init__(self, degraded: Iterable[tuple[int, str]], genuine: Iterable[tuple[int, str]]):
        rows = [(*row, True) for row in degraded] + [(*row, False) for row in genuine]
        self.translations = np.array([translation for translation, _, _ in rows])
        self.texts = [text for _, text, _ in rows]
        self.features = np.array([surface(text) for text in self.texts], dtype=float)
        self.is_degraded = np.array([label for _, _, label in rows])


def items(campaign: Campaign, role: Role) -> list[tuple[int, str]]:
    return list(
        Item.objects.filter(hit__campaign=campaign, role=role)
        .order_by("hit__number", "position")
        .values_list("translation_id", "text")
    )


@cache
def _demo_sample() -> Sample:
    campaign = import_campaign(
        path=DEMO_FOLDER,
        name="demo",
        source_language="de",
        target_language="en",
        degradation=Campaign.Degradation.PUBLISHED,
    ).campaign
    degraded = []
    for seed in range(N_BUILDS_OF_THE_DEMO):
        Campaign.objects.update(seed=seed)
        build_hits(campaign=campaign, rebuild=True)
        degraded += items(campaign, Role.BAD_REFERENCE)
    return Sample(degraded, items(campaign, Role.GENUINE))


def demo_sample() -> Sample:
    return deepcopy(_demo_sample())


def french_text(rng: np.random.Generator, gap: str) -> str:
    """Make up a sentence with colons and quotation marks, and `gap` next to them."""
    words = ["".join(rng.choice(list("aeioulmnrst"), size=rng.integers(2, 9))) for _ in range(18)]
    for place in range(1, len(words) - 1):
        words[place] = str(rng.choice([words[place], ":", "«", "»"], p=[0.7, 0.1, 0.1, 0.1]))
    return re.sub(" (?=[:»])|(?<=«) ", gap, " ".join(words).capitalize() + ".")


def french_sample(folder: Path) -> Sample:
    """References and a system with no-break spaces, and a system with plain ones."""
    rng = np.random.default_rng(3)
    gaps = {"references": NO_BREAK, "systems/careful": NO_BREAK, "systems/plain": " "}
    for name, gap in gaps.items():
        texts = [french_text(rng, gap) for _ in range(N_FRENCH_SEGMENTS)]
        path = folder / f"{name}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    campaign = import_campaign(
        path=folder,
        name="french",
        source_language="en",
        target_language="fr",
        seed=0,
        degradation=Campaign.Degradation.PUBLISHED,
    ).campaign
    build_hits(campaign=campaign)
    return Sample(items(campaign, Role.BAD_REFERENCE), items(campaign, Role.GENUINE))


def published_sample() -> Sample:
    campaign = import_campaign(
        path=replication_data("newstest2016-csen"),
        name="published",
        source_language="cs",
        target_language="en",
        allow_empty_translations=True,
        seed=1,
        degradation=Campaign.Degradation.PUBLISHED,
    ).campaign
    build_hits(campaign=campaign)
    return Sample(items(campaign, Role.BAD_REFERENCE), items(campaign, Role.GENUINE))


SAMPLES = {
    "demo": lambda _: demo_sample(),
    "newstest2016": lambda _: published_sample(),
    "french": french_sample,
}


@pytest.mark.parametrize("make_sample", SAMPLES.values(), ids=SAMPLES)
def test_degraded_texts_look_like_genuine_ones(
    make_sample: Callable[[Path], Sample], tmp_path: Path
):
    sample = make_sample(tmp_path)
    assert sample.is_degraded.sum() >= 400
    assert surface_pvalues(sample).min() > ALPHA / len(FEATURES)
    assert classifier_pvalue(sample) > ALPHA


# Faults in degraded texts that the test above must detect: the final mark lost, the span cut short
# as in the published table of spans, a span in title case.
CLUMSY = {
    "no final punctuation": lambda text: text.rstrip(".!?"),
    "a sixth shorter": lambda text: " ".join(text.split()[: -(-len(text.split()) * 5 // 6)]),
    "one more capital": lambda text: " ".join(
        word.title() if i == 2 else word for i, word in enumerate(text.split())
    ),
}


@pytest.mark.parametrize("spoil", CLUMSY.values(), ids=CLUMSY)
def test_a_clumsy_degradation_would_be_detected(spoil: Callable[[str], str]):
    sample = demo_sample()
    degraded = np.flatnonzero(sample.is_degraded)
    sample.features[degraded] = [surface(spoil(sample.texts[i])) for i in degraded]
    assert classifier_pvalue(sample) <= ALPHA


def surface_pvalues(sample: Sample) -> np.ndarray:
    """Test each feature alone: numbers by Kolmogorov-Smirnov, yes or no by Fisher's exact test."""
    pvalues = []
    for column in sample.features.T:
        degraded, genuine = column[sample.is_degraded], column[~sample.is_degraded]
        if set(column) <= {0.0, 1.0}:
            table = [[group.sum(), len(group) - group.sum()] for group in (degraded, genuine)]
            pvalues.append(stats.fisher_exact(table).pvalue)
        else:
            pvalues.append(stats.ks_2samp(degraded, genuine, method="asymp").pvalue)
    return np.array(pvalues)


# A small classifier --------------------------------------------------------------------------


def classifier_pvalue(sample: Sample) -> float:
    """Return how often permuted labels are predicted as well as the true ones (one-sided)."""
    rng = np.random.default_rng(11)
    permuted = [rng.permutation(sample.is_degraded) for _ in range(N_PERMUTATIONS)]
    labels = np.column_stack([sample.is_degraded, *permuted])
    # All texts of a translation are in the same fold, so none is in both training and test data.
    aucs = held_out_aucs(design(sample.features), labels, sample.translations % N_FOLDS)
    return float((1 + np.count_nonzero(aucs[1:] >= aucs[0])) / (1 + N_PERMUTATIONS))


def design(features: np.ndarray) -> np.ndarray:
    """Standardise the features and add their squares and products."""
    z = (features - features.mean(0)) / np.maximum(features.std(0), 1e-9)
    products = [z[:, i] * z[:, j] for i in range(z.shape[1]) for j in range(i, z.shape[1])]
    columns = np.column_stack([z, *products])
    return np.column_stack([np.ones(len(z)), np.clip(columns, -5, 5)])


def held_out_aucs(columns: np.ndarray, labels: np.ndarray, folds: np.ndarray) -> np.ndarray:
    """Return the AUC of each column of labels, predicted with weights from the other folds.

    The weights are those of a linear discriminant, by least squares with a small ridge, solved for all
    columns of labels at once.
    """
    scores = np.empty(labels.shape)
    for fold in range(N_FOLDS):
        held_out = folds == fold
        training = columns[~held_out]
        gram = training.T @ training + np.eye(training.shape[1])
        weights = np.linalg.solve(gram, training.T @ labels[~held_out])
        # Rank within the fold, because the scale of the weights differs between folds.
        scores[held_out] = stats.rankdata(columns[held_out] @ weights, axis=0) / held_out.sum()
    n_positive = labels.sum(0)
    rank_sums = np.where(labels, stats.rankdata(scores, axis=0), 0).sum(0)
    n_pairs = n_positive * (len(labels) - n_positive)
    return (rank_sums - n_positive * (n_positive + 1) / 2) / n_pairs
