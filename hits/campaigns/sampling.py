"""Draw the sample of translations that a campaign has rated. It loads NumPy, which web processes do not need."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..exceptions import CannotBuildHITs
from ..models import Campaign, SystemOutput
from .samples import spread_of

Floats = NDArray[np.float64]

# Keeps the draw apart from the streams with which HITs are planned.
STREAM = (0, 1)
# However little systems or metrics differ, a translation has this share of the mean chance, so that no
# weight is more than four times as large as the others.
LEAST_SHARE = 0.25
# Texts are compared by sequences of so many characters, with any writing system.
N_CHARACTERS = 3


@dataclass(frozen=True, slots=True)
class Sample:
    """The translations to rate. `chances` says how likely each was to be drawn; it is empty if all were equally likely."""

    translations: set[int]
    chances: dict[int, float]


@dataclass(frozen=True, slots=True)
class _Unit:
    """A translation that can be drawn; one that systems share belongs to the first of them."""

    translation: int
    system: int
    segment: int


def draw_sample(campaign: Campaign) -> Sample | None:
    """Draw the campaign's sample, or return None if all translations are to be rated.

    Raises
    ------
    CannotBuildHITs
        If the campaign has nothing to choose by.
    """
    if campaign.sample_size is None:
        return None
    outputs = SystemOutput.objects.filter(system__campaign=campaign)
    ordered = list(
        outputs.order_by("segment__position", "system").values_list(
            "translation", "system", "segment"
        )
    )
    translations = [translation for translation, _, _ in ordered]
    n_all = len(set(translations))
    size = min(campaign.sample_size, n_all)
    if campaign.sample_choice == Campaign.SampleChoice.RANDOM or size == n_all:
        drawn = draw(translations, size=size, seed=campaign.seed)
        return Sample(drawn, _of(drawn, chances_of_random(translations, size)))
    units = list({row[0]: _Unit(*row) for row in reversed(ordered)}.values())
    rng = np.random.default_rng([campaign.seed, *STREAM])
    if campaign.sample_choice == Campaign.SampleChoice.STRATIFIED:
        units = _by_document_and_length(campaign, units)
        return Sample(_spread_out(units, np.full(len(units), size / n_all), rng), {})
    shuffled = [units[place] for place in rng.permutation(len(units)).tolist()]
    shuffled.sort(key=lambda unit: unit.system)
    chances = chances_by_spread(_spreads(campaign, shuffled), size)
    drawn = _spread_out(shuffled, chances, rng)
    by_translation = {
        unit.translation: chance for unit, chance in zip(shuffled, chances.tolist(), strict=True)
    }
    return Sample(drawn, _of(drawn, by_translation))


def sampled_translations(campaign: Campaign) -> set[int] | None:
    """Return the keys of the translations to rate, or None for all of them."""
    sample = draw_sample(campaign)
    return None if sample is None else sample.translations


def _of(drawn: set[int], chances: dict[int, float]) -> dict[int, float]:
    return {translation: chances[translation] for translation in drawn} if chances else {}


# At random -------------------------------------------------------------------------------------


def draw(translations: Sequence[int], *, size: int, seed: int) -> set[int]:
    """Draw outputs (system times segment) at random until they have `size` different translations.

    A translation that several systems share has as many chances, as in a sample of outputs, but is
    rated once. The same outputs and seed give the same sample, and a larger sample contains it.
    """
    rng = np.random.default_rng([seed, *STREAM])
    drawn: set[int] = set()
    for index in rng.permutation(len(translations)).tolist():
        if len(drawn) == size:
            break
        drawn.add(translations[index])
    return drawn


def chances_of_random(translations: Sequence[int], size: int) -> dict[int, float]:
    """Return how likely `draw` takes each translation, nearly; empty if all are equally likely.

    One that k systems share is missed if all k outputs are. The share of outputs to draw is the one with
    which `size` translations are expected.
    """
    n_outputs = Counter(translations)
    k = np.array(list(n_outputs.values()), dtype=np.float64)
    if (k == k[:1]).all() or size >= len(k):
        return {}
    low, high = 0.0, 1.0
    for _ in range(60):
        share = (low + high) / 2
        low, high = (share, high) if np.sum(1 - (1 - share) ** k) < size else (low, share)
    return dict(zip(n_outputs, (1 - (1 - low) ** k).tolist(), strict=True))


# By document and length ------------------------------------------------------------------------


def _by_document_and_length(campaign: Campaign, units: list[_Unit]) -> list[_Unit]:
    """Order the outputs of each system by document, and in a document by length: up in one, down in the next."""
    rows = campaign.segments.order_by("position").values_list(
        "pk", "document", "source", "reference"
    )
    places: dict[str, int] = {}
    keys: dict[int, tuple[int, int, int]] = {}
    for pk, document, source, reference in rows:
        place = places.setdefault(document, len(places))
        length = len(source or reference)
        keys[pk] = (place, -length if place % 2 else length, pk)
    return sorted(units, key=lambda unit: (unit.system, *keys[unit.segment]))


def _spread_out(units: Sequence[_Unit], chances: Floats, rng: np.random.Generator) -> set[int]:
    """Draw each unit with its chance, such that neighbours in the order are seldom drawn together.

    The first two units fight until one is in or out; the other fights the next one with the chance that is
    left (ordered pivotal method [1]_). The chances must add up to a whole number, which is how many are drawn.

    References
    ----------
    .. [1] Deville and Tille. Unequal probability sampling without replacement through a splitting method.
       Biometrika 85(1), 1998.
    """
    drawn: set[int] = set()
    fighter, chance = units[0], float(chances[0])
    for unit, own, luck in zip(
        units[1:], chances[1:].tolist(), rng.random(len(units)).tolist(), strict=False
    ):
        total = chance + own
        if total < 1:
            # One is out.
            fighter, chance = (unit if luck * total < own else fighter), total
        elif luck * (2 - total) < 1 - own:
            drawn.add(fighter.translation)
            fighter, chance = unit, total - 1
        else:
            drawn.add(unit.translation)
            chance = total - 1
    # What is left is 0 or 1, up to rounding.
    return drawn | {fighter.translation} if chance > 0.5 else drawn


# Where outputs differ --------------------------------------------------------------------------


def chances_by_spread(spreads: Floats, size: int) -> Floats:
    """Return chances that are proportional to the spread, at least `LEAST_SHARE` of the mean, and add up to `size`."""
    mean = spreads.mean()
    weights = np.maximum(spreads / mean, LEAST_SHARE) if mean > 0 else np.ones(len(spreads))
    is_sure = np.zeros(len(weights), dtype=np.bool_)
    while True:
        chances = np.ones(len(weights))
        rest = weights[~is_sure]
        chances[~is_sure] = rest * (size - is_sure.sum()) / rest.sum()
        if not (chances > 1).any():
            return chances
        is_sure |= chances > 1


def _spreads(campaign: Campaign, units: list[_Unit]) -> Floats:
    by_segment = spread_of(campaign)
    if not by_segment:
        raise CannotBuildHITs(
            f"{campaign.name} has no metric with scores of segments yet, so it cannot choose where metrics differ. "
            "Compute or upload one under Metrics, or choose the sample in another way."
        )
    mean = sum(by_segment.values()) / len(by_segment)
    return np.array([by_segment.get(unit.segment, mean) for unit in units], dtype=np.float64)


def spread_of_texts(campaign: Campaign) -> dict[int, float]:
    """Return for each segment how little the outputs of two systems have in common, on average: from 0 to 1."""
    rows = (
        SystemOutput.objects.filter(system__campaign=campaign)
        .order_by("segment")
        .values_list("segment", "translation__text")
    )
    texts: dict[int, list[str]] = {}
    for segment, text in rows.iterator(2_000):
        texts.setdefault(segment, []).append(text)
    return {segment: _distance(own) for segment, own in texts.items()}


def _distance(texts: list[str]) -> float:
    """Return 1 minus Dice's coefficient over all pairs of texts, by sequences of characters."""
    sets = [_sequences(text) for text in texts]
    n_pairs_with = sum(n * (n - 1) for n in Counter(part for own in sets for part in own).values())
    n_parts = (len(texts) - 1) * sum(map(len, sets))
    return 1 - n_pairs_with / n_parts if n_parts else 0.0


def _sequences(text: str) -> set[str]:
    plain = " ".join(text.casefold().split())
    return {
        plain[start : start + N_CHARACTERS]
        for start in range(max(len(plain) - N_CHARACTERS + 1, 1))
    }
