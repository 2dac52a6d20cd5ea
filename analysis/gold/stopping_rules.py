"""The rule by which a campaign stops, and the work that a look is about."""

from typing import cast

import numpy as np

from hits.models import Campaign, Look
from hits.rating.arrays import Ids

from ..stats.signature import signature
from ..stats.stopping import Rule, Spending


def rule_of(campaign: Campaign) -> Rule | None:
    """Return when the campaign's ranking counts as decided; None if looks do not decide that."""
    if campaign.n_looks is None or campaign.looks_at_gold:
        return None
    return Rule(
        campaign.n_looks,
        campaign.looks_alpha,
        cast(Spending, campaign.looks_spending),
        campaign.looks_least_chance,
    )


def stopping_facts(campaign: Campaign) -> str | None:
    """Return what signatures say about the rule; None if everything is rated."""
    if campaign.looks_at_gold:
        return signature(looks=campaign.n_looks, wide=f"shrunk-se>{campaign.looks_width:g}")
    rule = rule_of(campaign)
    return None if rule is None else rule.signature


def assignments_of(look: Look) -> Ids:
    """Return the keys of the assignments that the look is about."""
    return np.array(look.assignments.order_by("pk").values_list("pk", flat=True), dtype=np.int64)
