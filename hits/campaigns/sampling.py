"""Draw the random sample of translations that a campaign has rated."""

from collections.abc import Sequence

import numpy as np

from ..models import Campaign, SystemOutput, Translation

# Keeps the draw apart from the streams with which HITs are planned.
_STREAM = (0, 1)


def n_to_rate(campaign: Campaign) -> int:
    """Count the translations that are or will be in HITs."""
    n = Translation.objects.filter(segment__campaign=campaign).count()
    return n if campaign.sample_size is None else min(n, campaign.sample_size)


def sampled_translations(campaign: Campaign) -> set[int] | None:
    """Return the keys of the translations to rate, or None for all of them."""
    if campaign.sample_size is None:
        return None
    outputs = SystemOutput.objects.filter(system__campaign=campaign)
    ordered = outputs.order_by("segment__position", "system").values_list("translation", flat=True)
    return draw(list(ordered), size=campaign.sample_size, seed=campaign.seed)


def draw(translations: Sequence[int], *, size: int, seed: int) -> set[int]:
    """Draw outputs (system times segment) at random until they have `size` different translations.

    A translation that several systems share has as many chances, as in a sample of outputs, but is
    rated once. The same outputs and seed give the same sample, and a larger sample contains it.
    """
    rng = np.random.default_rng([seed, *_STREAM])
    drawn: set[int] = set()
    for index in rng.permutation(len(translations)).tolist():
        if len(drawn) == size:
            break
        drawn.add(translations[index])
    return drawn
