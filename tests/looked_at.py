"""Campaigns that stop when their ranking is decided, with workers who do what is offered."""

from django.utils import timezone

from hits.campaigns.building import build_hits
from hits.campaigns.lifecycle import change_status
from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.models import Campaign, Look, SystemOutput
from hits.workers.trust import weigh_pending
from tests.factories import make_campaign, make_translations

# The first and second are equal, and the third is far below.
QUALITIES = {"system-a": 70.0, "system-b": 70.0, "system-c": 30.0}


def make_looked_at(**fields):
    """Make an open campaign of three systems with three looks, after 20 segments each."""
    # An early look with few workers needs a rule that is not too strict early.
    settings = {
        "n_looks": 3,
        "looks_spending": "pocock",
        "looks_least_chance": 0,
        "min_ratings": 4,
        "hit_size": 60,
    }
    campaign = make_campaign(**settings | fields)
    make_translations(campaign, n_segments=60, n_systems=3)
    build_hits(campaign=campaign)
    return change_status(campaign=campaign, to="open")


def qualities(campaign, by_system=QUALITIES):
    """Return true qualities: of the system, and of the segment."""
    outputs = SystemOutput.objects.filter(segment__campaign=campaign).select_related(
        "system", "segment"
    )
    return {
        row.translation_id: by_system[row.system.name] + 2.0 * (row.segment.position % 7)
        for row in outputs
    }


def collect(campaign, *, seed=1, n_workers=14, by_system=QUALITIES):
    """Let honest workers do all open HITs."""
    campaign.refresh_from_db()
    simulate_workers(
        campaign=campaign,
        crowd={Behaviour.HONEST: n_workers},
        hits_per_worker=1,
        seed=seed,
        qualities=qualities(campaign, by_system),
        after_hit=lambda assignment: weigh_pending(),
    )


def made_up_look(campaign: Campaign) -> Look:
    """Store a first look that decided two of three pairs, as if it had been taken."""
    numbers = {"low": 0.05, "high": 0.65, "p": 0.00001, "chance": 0.99}
    pairs = [
        {"system": "A", "other": "C", "difference": 0.35, "state": "decided"} | numbers,
        {"system": "B", "other": "C", "difference": 0.31, "state": "decided"} | numbers,
        {"system": "A", "other": "B", "difference": 0.04, "state": "open"} | numbers | {"p": 0.4},
    ]
    result = {
        "run": 1,
        "boundary": 3.71,
        "n_pairs": 3,
        "n_undecided": 1,
        "n_open": 1,
        "open_systems": ["A", "B"],
        "pairs": pairs,
        "n_ratings": 1_234,
        "n_assignments": 20,
        "signature": "looks:3|spend:obrien_fleming,alpha=0.05",
    }
    return Look.objects.create(
        campaign=campaign, number=1, share=1 / 3, result=result, concluded_at=timezone.now()
    )
