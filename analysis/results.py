"""What the pages of results read: a run, its ranking, its pictures and its agreement."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import F, QuerySet

from hits.models import Campaign

from .gold import GoldArrays, SystemRanking, gold_scores, rank_systems
from .models import GoldRun, GoldScore, Job
from .plots.rendering import Picture
from .plots.results import (
    how_many_ratings,
    ratings_histogram,
    score_histogram,
    system_ranking,
    system_significance,
)

# Columns of the table of segment scores that it can be sorted by.
SORTABLE = {
    "segment": "translation__segment__position",
    "system": "translation__outputs__system__name",
    "z": "z",
    "raw": "raw",
    "n": "n",
}


@dataclass(frozen=True)
class Results:
    """A run and what follows from it, computed when first asked for."""

    run: GoldRun

    @cached_property
    def gold(self) -> GoldArrays:
        return gold_scores(self.run)

    @cached_property
    def ranking(self) -> SystemRanking:
        return rank_systems(self.run, gold=self.gold)

    def makers(self) -> dict[str, Callable[[], Picture]]:
        """What makes the pictures there are of this run, by name: most are drawn already."""
        found: dict[str, Callable[[], Picture]] = {
            "ratings-per-translation": lambda: ratings_histogram(self.gold, self.run.minimum)
        }
        if self.run.n_scored:
            found["segment-scores"] = lambda: score_histogram(self.gold)
            found["system-ranking"] = lambda: system_ranking(self.ranking)
        if self._ranks_several():
            found["system-significance"] = lambda: system_significance(self.ranking)
        return found

    def pictures(self) -> dict[str, Picture]:
        """The pictures there are of this run, by name."""
        return {name: make() for name, make in self.makers().items()}

    def _ranks_several(self) -> bool:
        complete = self.run.scores.filter(is_complete=True, translation__outputs__isnull=False)
        systems = complete.order_by().values("translation__outputs__system").distinct()
        return len(systems[:2]) > 1


def run_of(campaign: Campaign, number: str | int | None) -> GoldRun | None:
    """The run of that number, or without one the latest; None if there is none."""
    if number is None or number == "":
        return campaign.gold_runs.newest()
    return campaign.gold_runs.numbered(int(number)) if str(number).isdecimal() else None


def segment_rows(
    run: GoldRun, *, system: str = "", state: str = "", search: str = "", sort: str = "segment"
) -> QuerySet[GoldScore, Any]:
    """The score of every output; a translation that systems share has a row for each."""
    rows = run.scores.all()
    if system:
        rows = rows.filter(translation__outputs__system__name=system)
    if state in ("complete", "incomplete"):
        rows = rows.filter(is_complete=state == "complete")
    if search:
        rows = rows.filter(translation__segment__name__icontains=search)
    name = SORTABLE.get(sort.removeprefix("-"), SORTABLE["segment"])
    first = F(name).desc(nulls_last=True) if sort.startswith("-") else F(name).asc(nulls_last=True)
    # Down to the system: a page must not repeat or skip a row where systems share a translation.
    order = (first, "translation__segment__position", "translation", SORTABLE["system"])
    return rows.order_by(*order).values(
        "raw",
        "z",
        "z_se",
        "n",
        "is_complete",
        system=F("translation__outputs__system__name"),
        segment=F("translation__segment__name"),
        document=F("translation__segment__document"),
        text=F("translation__text"),
    )


def latest_agreement(campaign: Campaign) -> Job | None:
    """The latest job that measured agreement."""
    done = Job.objects.filter(
        campaign=campaign, kind="measure_agreement", state=Job.State.DONE
    ).order_by("-pk")
    return done.first()


def agreement_key(job: Job, campaign: Campaign) -> str:
    """What the curve is drawn from: the number of ratings wanted is marked in it."""
    return f"{job.code.hex}-{campaign.min_ratings}"


def agreement_picture(job: Job, campaign: Campaign) -> Picture:
    assert job.result is not None
    return how_many_ratings(job.result["curve"], campaign.min_ratings)
