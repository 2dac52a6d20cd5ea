"""A campaign's sample: its size, what it is chosen by, and how likely each translation was to be drawn."""

from collections.abc import Mapping

from django.utils.module_loading import import_string

from ..models import Campaign, SampleChance, Translation

ROWS_PER_INSERT = 2_000

# By `Campaign.sample_choice`: the name of a function that returns how much a campaign's outputs differ on each segment,
# by key; missing segments count as the mean. By name, because these functions load NumPy. Others register theirs.
SPREADS: dict[str, str] = {
    Campaign.SampleChoice.DIFFERING: "hits.campaigns.sampling.spread_of_texts"
}


def n_to_rate(campaign: Campaign) -> int:
    """Count the translations that are or will be in HITs."""
    n = Translation.objects.filter(segment__campaign=campaign).count()
    return n if campaign.sample_size is None else min(n, campaign.sample_size)


def spread_of(campaign: Campaign) -> Mapping[int, float]:
    spreads: Mapping[int, float] = import_string(SPREADS[campaign.sample_choice])(campaign)
    return spreads


def store_chances(campaign: Campaign, chances: Mapping[int, float]) -> None:
    """Replace the stored chances of the campaign's sample."""
    SampleChance.objects.filter(translation__segment__campaign=campaign).delete()
    SampleChance.objects.bulk_create(
        (SampleChance(translation_id=pk, chance=chance) for pk, chance in chances.items()),
        batch_size=ROWS_PER_INSERT,
    )


def load_chances(campaign: Campaign) -> dict[int, float]:
    """Return how likely each translation of the sample was to be drawn; empty if all were equally likely."""
    rows = SampleChance.objects.filter(translation__segment__campaign=campaign)
    return dict(rows.values_list("translation_id", "chance").iterator(10_000))
