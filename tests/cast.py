"""A campaign with honest and careless workers, for tests of the pages about them."""

from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.models import Assignment, Campaign, Participation
from hits.workers.trust import weigh_pending
from tests.factories import make_hits


def campaign_with_workers() -> Campaign:
    """A campaign with two honest and two unreliable workers, and two places on each HIT."""
    campaign = make_hits(
        name="News", n_segments=70, hit_size=100, min_ratings=2, pay_per_hit=2, currency="EUR"
    )
    for behaviour in (Behaviour.RANDOM, Behaviour.HONEST):
        simulate_workers(
            campaign=campaign,
            crowd={behaviour: 2},
            hits_per_worker=2,
            seed=3,
            after_hit=lambda assignment: weigh_pending(),
        )
    Assignment.objects.filter(worker__external_id__startswith="honest").update(
        comment="Fine, <b>thank you</b>."
    )
    return campaign


def worker_like(kind: str) -> Participation:
    """The first worker of a kind."""
    participations = Participation.objects.filter(worker__external_id__startswith=kind)
    return participations.select_related("worker").order_by("pk")[0]
