"""Data for the pages of results: a run's scores, ranking, figures and agreement."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import F, QuerySet

from da_platform.jobs.models import Job
from da_platform.plots.rendering import Picture
from hits.models import Campaign

from ..models import GoldRun, GoldScore
from .gold_arrays import GoldArrays
from .pictures import (
    how_many_ratings,
    ratings_against_gold,
    ratings_histogram,
    score_histogram,
    system_ranking,
    system_significance,
)
from .ranking import SystemRanking, rank_systems
from .runs import gold_scores

# Sortable columns of the table of segment scores.
SORTABLE = {
    "segment": "translation__segment__position",
    "system": "translation__outputs__system__name",
    "z": "z",
    "raw": "raw",
    "n": "n",
}


@dataclass(frozen=True)
class Results:
    """A run and its scores, ranking and figures, computed on first use."""

    run: GoldRun

    @cached_property
    def gold(self) -> GoldArrays:
        return gold_scores(self.run)

    @cached_property
    def ranking(self) -> SystemRanking:
        return rank_systems(self.run, gold=self.gold)

    def makers(self) -> dict[str, Callable[[], Picture]]:
        """Return functions that make the figures of this run, by name. Most figures are cached."""
        makers: dict[str, Callable[[], Picture]] = {
            "ratings-per-translation": lambda: ratings_histogram(self.gold, self.run.minimum)
        }
        if self.run.n_scored:
            makers["segment-scores"] = lambda: score_histogram(self.gold)
            makers["system-ranking"] = lambda: system_ranking(self.ranking)
        if self._ranks_several():
            makers["system-significance"] = lambda: system_significance(self.ranking)
        return makers

    def pictures(self) -> dict[str, Picture]:
        """Return the figures of this run, by name."""
        return {name: make() for name, make in self.makers().items()}

    def _ranks_several(self) -> bool:
        complete = self.run.scores.filter(is_complete=True, translation__outputs__isnull=False)
        systems = complete.order_by().values("translation__outputs__system").distinct()
        return len(systems[:2]) > 1


def run_of(campaign: Campaign, number: str | int | None) -> GoldRun | None:
    """Return the run of a number, or the latest run without one; None if there is none."""
    if number is None or number == "":
        return campaign.gold_runs.newest()
    return campaign.gold_runs.numbered(int(number)) if str(number).isdecimal() else None


def segment_rows(
    run: GoldRun, *, system: str = "", state: str = "", search: str = "", sort: str = "segment"
) -> QuerySet[GoldScore, Any]:
    """Return the score of every output; a translation shared by systems has a row for each."""
    rows = run.scores.all()
    if system:
        rows = rows.filter(translation__outputs__system__name=system)
    if state in ("complete", "incomplete"):
        rows = rows.filter(is_complete=state == "complete")
    if search:
        rows = rows.filter(translation__segment__name__icontains=search)
    name = SORTABLE.get(sort.removeprefix("-"), SORTABLE["segment"])
    first = F(name).desc(nulls_last=True) if sort.startswith("-") else F(name).asc(nulls_last=True)
    # A total order, so that no page repeats or skips a row where systems share a translation.
    order = (first, "translation__segment__position", "translation", SORTABLE["system"])
    return rows.order_by(*order).values(
        "raw",
        "z",
        "z_se",
        "z_low",
        "z_high",
        "n",
        "is_complete",
        system=F("translation__outputs__system__name"),
        segment=F("translation__segment__name"),
        document=F("translation__segment__document"),
        text=F("translation__text"),
    )


# Figures that belong to an agreement job, not to a run.
AGREEMENT_PICTURES = ("how-many-ratings", "ratings-against-gold")


def latest_agreement(campaign: Campaign) -> Job | None:
    """Return the latest job that measured agreement."""
    done = Job.objects.filter(
        campaign=campaign, kind="measure_agreement", state=Job.State.DONE
    ).order_by("-pk")
    return done.first()


def agreement_key(job: Job, campaign: Campaign) -> str:
    """Return a cache key for the figures, which depends on the job and the campaign's minimum."""
    return f"{job.code.hex}-{campaign.min_ratings}"


def agreement_makers(job: Job, campaign: Campaign) -> dict[str, Callable[[], Picture]]:
    """Return functions that make the figures of an agreement job, by name."""
    result = job.result
    assert result is not None
    makers: dict[str, Callable[[], Picture]] = {
        "how-many-ratings": lambda: how_many_ratings(result["curve"], campaign.min_ratings)
    }
    # Earlier jobs did not store points.
    if scatters := result.get("scatters"):
        replicate = result["curve"]["replicate"]
        makers["ratings-against-gold"] = lambda: ratings_against_gold(scatters, replicate)
    return makers


def agreement_pictures(job: Job, campaign: Campaign) -> list[Picture]:
    return [make() for make in agreement_makers(job, campaign).values()]
