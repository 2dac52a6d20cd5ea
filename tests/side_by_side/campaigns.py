"""Campaigns whose outputs are rated side by side, for tests."""

from typing import Any

from hits.campaigns.building import build_hits
from hits.campaigns.lifecycle import change_status
from hits.models import Campaign
from tests.factories import make_campaign, make_translations


def side_campaign(*, n_segments: int = 14, n_systems: int = 3, **settings: Any) -> Campaign:
    """Return an open campaign with HITs of 40 items, three outputs on a screen."""
    campaign = make_campaign(
        **{"presentation": "side", "outputs_per_screen": 3, "min_ratings": 2} | settings
    )
    make_translations(campaign, n_segments=n_segments, n_systems=n_systems)
    build_hits(campaign=campaign)
    return change_status(campaign=campaign, to=Campaign.Status.OPEN)
