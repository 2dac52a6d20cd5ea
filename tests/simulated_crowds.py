"""Campaigns and simulated crowds for end-to-end tests."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from hits.campaigns.building import build_hits
from hits.campaigns.demo import DEMO_FOLDER
from hits.campaigns.importing import import_campaign
from hits.campaigns.lifecycle import change_status
from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.models import HIT, Assignment, Campaign, Participation
from hits.rating.places import with_standing
from hits.workers.trust import weigh_pending

CAREFUL = (Behaviour.HONEST, Behaviour.LENIENT, Behaviour.HARSH)
CARELESS = (Behaviour.RANDOM, Behaviour.CONSTANT, Behaviour.ADVERSARIAL)


def half_careless(n_workers: int) -> dict[Behaviour, int]:
    """Return a crowd in which every second worker is careless, most of them clicking at random."""
    n_others = n_workers // 12
    n_most = n_workers // 2 - 2 * n_others
    return dict.fromkeys((*CAREFUL, *CARELESS), n_others) | {
        Behaviour.HONEST: n_most,
        Behaviour.RANDOM: n_most,
    }


def open_demo(name: str, *, folder: Path = DEMO_FOLDER, **settings: Any) -> Campaign:
    """Import a folder of demo texts, build its HITs and open it to workers.

    HITs and verdicts are as published, unless the settings say otherwise.
    """
    published = {"degradation": "published", "trust_rule": "published"}
    campaign = import_campaign(
        path=folder,
        name=name,
        source_language="de",
        target_language="en",
        **published | settings,
    ).campaign
    build_hits(campaign=campaign)
    return change_status(campaign=campaign, to=Campaign.Status.OPEN)


def demo_excerpt(folder: Path, *, n_segments: int) -> Path:
    """Write the demo campaign's first segments into a folder."""
    for file in DEMO_FOLDER.rglob("*.txt"):
        excerpt = folder / file.relative_to(DEMO_FOLDER)
        excerpt.parent.mkdir(parents=True, exist_ok=True)
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        excerpt.write_text("".join(lines[:n_segments]), encoding="utf-8")
    return folder


def collect(
    campaign: Campaign,
    crowd: dict[Behaviour, int],
    *,
    seed: int,
    truth_seed: int | None = None,
    hits_per_worker: int = 1,
    look: Callable[[Assignment], object] = lambda assignment: None,
) -> None:
    """Let workers rate one by one until no place is open, weighing each HIT when it is submitted.

    `look` is called with each submitted assignment before it is weighed.
    """

    def after_hit(assignment: Assignment) -> None:
        look(assignment)
        weigh_pending()

    simulate_workers(
        campaign=campaign,
        crowd=crowd,
        hits_per_worker=hits_per_worker,
        seed=seed,
        truth_seed=truth_seed,
        after_hit=after_hit,
    )


def n_promised(hit: HIT) -> int:
    """Count the workers who are working on this HIT or have submitted it, and are not discarded."""
    held = with_standing(
        Assignment.objects.filter(hit=hit, status__in=["in_progress", "submitted"])
    )
    return held.filter(is_discarded=False).count()


def n_trusted(hit: HIT) -> int:
    return with_standing(hit.assignments.submitted()).filter(is_trusted=True).count()


def n_proven_late(hit: HIT) -> int:
    """Count trusted workers of this HIT who were discarded for a while, so that their place was reopened."""
    trusted = with_standing(hit.assignments.submitted()).filter(is_trusted=True)
    return (
        Participation.objects.filter(
            campaign=hit.campaign_id,
            worker__in=trusted.values("worker"),
            evidence__verdict=Participation.Trust.UNRELIABLE,
        )
        .distinct()
        .count()
    )
