"""What a worker's ratings are worth in weighted gold, and why, in words."""

from django.db.models import QuerySet

from hits.models import Campaign, Participation

from ..models import GoldRun, GoldWeight
from ..stats.weighted_scores import FULL_WEIGHT


def weights_of(run: GoldRun | None) -> QuerySet[GoldWeight]:
    """Return the weights of a run with their workers, the heaviest first."""
    return GoldWeight.objects.filter(run=run).select_related("worker").order_by("-weight", "worker")


def newest_weighted(campaign: Campaign) -> GoldRun | None:
    return campaign.gold_runs.weighted().newest()


def latest_weight(participation: Participation) -> GoldWeight | None:
    """Return the worker's weight in the newest gold that weighs workers; None without one."""
    weights = GoldWeight.objects.filter(
        run__campaign=participation.campaign_id, worker=participation.worker_id
    )
    return weights.select_related("run").order_by("-run").first()


def reasons_for(weight: GoldWeight) -> list[str]:
    """Say why a worker weighs what they weigh, one sentence for each reason."""
    reasons = [
        f"Lowers degraded texts by {weight.discrimination:.2f} standard deviations of the worker’s own scores "
        f"({_seen(weight.own_discrimination, weight.n_pairs, 'pair')}; fewer pairs are pulled further towards the "
        "mean of all workers).",
        f"Variance of repeats {weight.repeat_variance:.2f} "
        f"({_seen(weight.own_repeat_variance, weight.n_repeats, 'repeat')}).",
    ]
    if weight.agreement is not None:
        reasons.append(
            f"Follows the others on the same translations like someone who lowers degraded texts by {weight.agreement:.2f}."
        )
    if weight.weight == 0:
        reasons.append("Does not lower degraded texts, so these ratings do not count.")
    elif weight.weight < FULL_WEIGHT:
        reasons.append(
            f"Below {FULL_WEIGHT:g}, a rating is only a part of one towards the ratings that a score needs: "
            f"{weight.weight / FULL_WEIGHT:.2f}."
        )
    return reasons


def _seen(observed: float | None, n: int, noun: str) -> str:
    if observed is None:
        return f"no {noun}s"
    return f"observed {observed:.2f} over {n} {noun if n == 1 else noun + 's'}"
