"""Effects of presentation on scores: places on screens and in documents, context, and whole documents."""

from dataclasses import fields
from typing import Any

import numpy as np

from da_platform.exceptions import PlatformError
from da_platform.numbers import known, known_list
from hits.models import Campaign, Item, Rating, SystemOutput
from hits.rating.arrays import load_ratings

from ..models import GoldRun
from ..stats.presentation import ContextEffect, PlaceEffect, context_effect, place_effect
from ..stats.roles import Role
from ..stats.standardise import standardise_by_worker
from .counted_ratings import load_trust
from .runs import gold_scores
from .whole_documents import whole_scores

SEED = 0


class PresentationRefused(PlatformError):
    """Campaigns whose ways of showing texts cannot be compared."""


def places_on_screens(campaign: Campaign, *, seed: int = SEED) -> PlaceEffect | None:
    """Return what the place on a screen does to trusted z-scores; None unless outputs are shown side by side."""
    if campaign.presentation != Campaign.Presentation.SIDE_BY_SIDE:
        return None
    ratings, z = _trusted_z(campaign)
    rows = Rating.objects.filter(assignment__hit__campaign=campaign, place__isnull=False)
    shown = {
        (assignment, item): (place, screen)
        for assignment, item, place, screen in rows.values_list(
            "assignment_id", "item_id", "place", "item__screen"
        ).iterator(10_000)
    }
    keys = list(zip(ratings.assignment.tolist(), ratings.item.tolist(), strict=True))
    used = [row for row, key in enumerate(keys) if key in shown and not np.isnan(z[row])]
    places = [int(shown[keys[row]][0] or 0) for row in used]
    # One worker's screen.
    units = [f"{keys[row][0]}/{shown[keys[row]][1]}" for row in used]
    return place_effect(z[used], places, units, rng=np.random.default_rng(seed))


def places_in_documents(campaign: Campaign, *, seed: int = SEED) -> PlaceEffect | None:
    """Return what the place in a run does to genuine z-scores; None unless documents are shown.

    Segments of a run are averaged over workers and systems first, because their ratings are of the same texts.
    """
    if not campaign.is_in_documents:
        return None
    ratings, z = _trusted_z(campaign)
    items = Item.objects.filter(hit__campaign=campaign, role=Role.GENUINE.value)
    first: dict[tuple[int, int], tuple[int, int]] = {}
    places: dict[int, tuple[int, int]] = {}
    for pk, hit, run, position, segment in items.order_by("hit", "position").values_list(
        "pk", "hit_id", "run", "position", "translation__segment_id"
    ):
        start, unit = first.setdefault((hit, run or position), (position, segment))
        places[pk] = (unit, position - start + 1)
    sums: dict[tuple[int, int], list[float]] = {}
    for item, score in zip(ratings.item.tolist(), z.tolist(), strict=True):
        if item in places and not np.isnan(score):
            sums.setdefault(places[item], []).append(score)
    means = [float(np.mean(scores)) for scores in sums.values()]
    units, numbers = [unit for unit, _ in sums], [place for _, place in sums]
    return place_effect(means, numbers, units, rng=np.random.default_rng(seed))


def _trusted_z(campaign: Campaign) -> tuple[Any, Any]:
    """Return the counted ratings and their z-scores, over all of a worker's items as everywhere."""
    ratings = load_ratings(campaign)
    counts = load_trust(campaign).counts(ratings)
    z = np.full(len(ratings), np.nan)
    z[counts] = standardise_by_worker(ratings.score[counts], ratings.worker[counts]).z
    return ratings, z


def effect_of_context(first: GoldRun, second: GoldRun, *, seed: int = SEED) -> ContextEffect:
    """Compare the gold of the same texts in two campaigns, such as with and without their document.

    Raises
    ------
    PresentationRefused
        If no output has complete gold in both.
    """
    ours, theirs = _scores_by_name(first), _scores_by_name(second)
    shared = sorted(ours.keys() & theirs.keys())
    shared = [key for key in shared if ours[key][2] == theirs[key][2]]
    if not shared:
        raise PresentationRefused(
            f"{first.campaign} and {second.campaign} have no output with the same text and complete gold in both."
        )
    return context_effect(
        [ours[key][0] for key in shared],
        [theirs[key][0] for key in shared],
        [system for system, _ in shared],
        [ours[key][1] for key in shared],
        rng=np.random.default_rng(seed),
    )


def _scores_by_name(run: GoldRun) -> dict[tuple[str, str], tuple[float, str, str]]:
    """Return z, document and text of each output with complete gold, by system and segment."""
    gold = gold_scores(run)
    z = dict(
        zip(
            gold.translation[gold.is_complete].tolist(),
            gold.z[gold.is_complete].tolist(),
            strict=True,
        )
    )
    outputs = SystemOutput.objects.filter(system__campaign=run.campaign)
    return {
        (system, segment): (z[translation], document or f"segment {segment}", text)
        for system, segment, translation, document, text in outputs.values_list(
            "system__name",
            "segment__name",
            "translation_id",
            "segment__document",
            "translation__text",
        ).iterator(2_000)
        if translation in z
    }


def document_scores(run: GoldRun) -> list[dict[str, Any]]:
    """Return the gold of each document and system: the mean over its segments, and the mean score of the whole."""
    gold = gold_scores(run)
    rows = {
        pk: (raw, z)
        for pk, raw, z, is_complete in zip(
            gold.translation.tolist(),
            gold.raw.tolist(),
            gold.z.tolist(),
            gold.is_complete,
            strict=True,
        )
        if is_complete
    }
    wholes = _scores_of_wholes(run.campaign)
    means: dict[tuple[str, str], list[tuple[float, float]]] = {}
    outputs = SystemOutput.objects.filter(system__campaign=run.campaign).exclude(
        segment__document=""
    )
    for document, system, translation in (
        outputs.order_by("segment__position", "system")
        .values_list("segment__document", "system__name", "translation_id")
        .iterator(2_000)
    ):
        if translation in rows:
            means.setdefault((document, system), []).append(rows[translation])
    return [
        {
            "document": document,
            "system": system,
            "z": float(np.mean([z for _, z in scores])),
            "raw": float(np.mean([raw for raw, _ in scores])),
            "n_segments": len(scores),
            "whole": known(float(np.mean(wholes.get((document, system), [np.nan])))),
            "n_wholes": len(wholes.get((document, system), [])),
        }
        for (document, system), scores in means.items()
    ]


def _scores_of_wholes(campaign: Campaign) -> dict[tuple[str, str], list[int]]:
    scores: dict[tuple[str, str], list[int]] = {}
    for each in whole_scores(campaign):
        scores.setdefault((each.document, each.system), []).append(each.score)
    return scores


def as_json(effect: PlaceEffect | ContextEffect | None) -> dict[str, Any] | None:
    """Return JSON types, with None for numbers that could not be computed."""
    if effect is None:
        return None
    values = {field.name: getattr(effect, field.name) for field in fields(effect)}
    return {
        name: known_list(value)
        if isinstance(value, np.ndarray)
        else known(value)
        if isinstance(value, float)
        else value
        for name, value in values.items()
    }
