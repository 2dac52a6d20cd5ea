"""What a worker's browser showed while rating, next to how often trusted workers show the same.

This is advice. Honest people leave the page, paste a comment or switch scripts off, and a careful program imitates
a person. No verdict depends on it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q

from ..models import Campaign, InputSignals, Participation
from ..rating.signals import COUNTS
from .groups import Companion, SignRate, companions_of, quick_links_of

# Each sign with its label and what it means, and when a HIT shows it.
SIGNS: dict[str, tuple[str, str, Q]] = {
    "canary": (
        "Followed the hidden instruction",
        "Only a program that reads the page’s source finds it. By chance, one HIT in a hundred looks like it.",
        Q(followed_canary=True),
    ),
    "scripted": (
        "Input made by a script",
        "A score was set without a pointer, a key or a touch, or by events that a script made.",
        Q(n_items_scripted__gt=0),
    ),
    "no_counts": (
        "No counts from the browser",
        "Ratings were sent without our page, or its script did not run.",
        Q(items=[]),
    ),
    "without_input": (
        "Texts without pointer, key or touch",
        "Some assistive technology looks like this, too.",
        Q(n_items_without_input__gt=0),
    ),
    "unfocused": (
        "Left the page during half of the texts",
        "People look up words. Those who copy every text elsewhere leave the page again and again.",
        Q(n_items_unfocused__gte=0.5 * F("assignment__hit__size")),
    ),
    "pasted": (
        "Pasted into the comment",
        "The comment may come from elsewhere.",
        Q(n_comment_pastes__gt=0),
    ),
}


@dataclass(frozen=True, slots=True)
class SignalSign:
    """In how many HITs a worker shows a sign, and how many of the other trusted workers ever do."""

    name: str
    n_hits: int
    n_recorded: int
    n_trusted_showing: int
    n_trusted: int

    @property
    def label(self) -> str:
        return SIGNS[self.name][0]

    @property
    def meaning(self) -> str:
        return SIGNS[self.name][1]


@dataclass(frozen=True, slots=True)
class Advice:
    """Everything about how a worker works that is not in the scores themselves.

    `is_compared` is False if the workers of a large campaign have not been compared recently.
    """

    is_recorded: bool
    signs: list[SignalSign]
    means: dict[str, float]
    is_compared: bool
    companions: list[Companion]
    rates: tuple[SignRate, ...]


def advice_about(participation: Participation) -> Advice:
    """Gather signals and groups for the worker's page. The number of queries is fixed."""
    campaign = participation.campaign
    links = quick_links_of(campaign)
    return Advice(
        is_recorded=campaign.records_signals or campaign.has_canary,
        signs=signs_of(participation),
        means=_mean_counts(participation),
        is_compared=links is not None,
        companions=companions_of(participation, links) if links else [],
        rates=links.rates if links else (),
    )


def signs_of(participation: Participation) -> list[SignalSign]:
    """Return each sign that was recorded for this worker, shown or not."""
    counts = _counts_by_worker(participation.campaign)
    own = counts.pop(participation.worker_id, None)
    if own is None:
        return []
    others = [row for row in counts.values() if row["is_trusted"]]
    signs = [
        SignalSign(
            name=name,
            n_hits=own[name],
            n_recorded=own[_recorded(name)],
            n_trusted_showing=sum(row[name] > 0 for row in others),
            n_trusted=sum(row[_recorded(name)] > 0 for row in others),
        )
        for name in SIGNS
    ]
    return [sign for sign in signs if sign.n_recorded]


def _recorded(name: str) -> str:
    return "n_canaries" if name == "canary" else "n_hits"


def _counts_by_worker(campaign: Campaign) -> dict[int, Mapping[str, Any]]:
    """Count for each worker the HITs with signals, and those that show each sign."""
    trusted = campaign.participations.trusted().filter(worker=OuterRef("assignment__worker"))
    rows = (
        InputSignals.objects.filter(assignment__hit__campaign=campaign)
        .annotate(is_trusted=Exists(trusted))
        .order_by()
        .values("assignment__worker", "is_trusted")
        .annotate(
            n_hits=Count("pk"),
            n_canaries=Count("pk", filter=Q(followed_canary__isnull=False)),
            **{name: Count("pk", filter=shows) for name, (_, _, shows) in SIGNS.items()},
        )
    )
    return {row["assignment__worker"]: row for row in rows}


def _mean_counts(participation: Participation) -> dict[str, float]:
    """Return the mean of each count over all texts of the worker; empty if there are none."""
    lists = InputSignals.objects.filter(
        assignment__hit__campaign=participation.campaign_id,
        assignment__worker=participation.worker_id,
    ).values_list("items", flat=True)
    items = [item for rows in lists for item in rows if item is not None]
    if not items:
        return {}
    return {
        name: sum(item[place] for item in items) / len(items) for place, name in enumerate(COUNTS)
    }
