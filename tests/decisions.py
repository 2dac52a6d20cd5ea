"""Short names for an admin's decisions about a worker."""

from functools import partial

from hits.models import Participation
from hits.workers.trust import decide_about

exclude = partial(decide_about, decision=Participation.Decision.EXCLUDED)
reinstate = partial(decide_about, decision=Participation.Decision.REINSTATED)
let_evidence_decide = partial(decide_about, decision="")
