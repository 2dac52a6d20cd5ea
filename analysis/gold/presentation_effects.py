"""Measure what the way of showing translations did to their scores, and find what was measured."""

from collections.abc import Callable
from typing import Any

from da_platform.jobs.models import Job
from hits.models import Campaign

from ..models import GoldRun
from ..stats.signature import join_signatures, signature
from .presentation import (
    SEED,
    PresentationRefused,
    as_json,
    effect_of_context,
    places_in_documents,
    places_on_screens,
)

# What is stored: JSON, as the job's result.
Facts = dict[str, Any]
EFFECTS = ("screens", "documents", "context")


def measure_presentation(
    campaign: Campaign,
    *,
    against: Campaign | None = None,
    seed: int = SEED,
    progress: Callable[[int, int], None] | None = None,
) -> Facts:
    """Return the effects of places and, against another campaign of the same texts, of the way of showing them.

    An effect that this campaign cannot have is None.

    Raises
    ------
    PresentationRefused
        If one of two campaigns has no gold, or they share no text.
    """
    tell = progress or (lambda done, total: None)
    tell(0, len(EFFECTS))
    # First what may be refused.
    context = _against(campaign, against, seed) if against else None
    tell(1, len(EFFECTS))
    screens = as_json(places_on_screens(campaign, seed=seed))
    tell(2, len(EFFECTS))
    documents = as_json(places_in_documents(campaign, seed=seed))
    tell(3, len(EFFECTS))
    facts = {"screens": screens, "documents": documents, "context": context}
    signatures = [effect["signature"] for effect in facts.values() if effect]
    return {
        "campaign": campaign.name,
        "seed": seed,
        **facts,
        "signature": join_signatures(signature(seed=seed), *signatures),
    }


def _against(campaign: Campaign, other: Campaign, seed: int) -> Facts:
    ours, theirs = _gold_of(campaign), _gold_of(other)
    effect = as_json(effect_of_context(ours, theirs, seed=seed))
    assert effect is not None
    runs = signature(
        gold=(str(ours.number), str(theirs.number)),
        input=(ours.input_digest[:12], theirs.input_digest[:12]),
    )
    return effect | {
        "against": other.name,
        "shown": campaign.get_presentation_display(),
        "shown_there": other.get_presentation_display(),
        "gold": ours.number,
        "gold_there": theirs.number,
        "signature": join_signatures(effect["signature"], runs),
    }


def _gold_of(campaign: Campaign) -> GoldRun:
    run = campaign.gold_runs.newest()
    if run is None:
        raise PresentationRefused(f"{campaign} has no gold yet. Build it first (build_gold).")
    return run


def has_effects(facts: Facts) -> bool:
    return any(facts[name] for name in EFFECTS)


def latest_effects(campaign: Campaign) -> Facts | None:
    """Return the facts of the latest measurement; None if there is none."""
    done = Job.objects.filter(campaign=campaign, kind="measure_presentation", state=Job.State.DONE)
    job = done.order_by("-pk").first()
    return job.result if job else None
