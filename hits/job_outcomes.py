"""What came out of each kind of job, in a sentence with links to where it can be seen."""

from typing import Any
from uuid import UUID

from django.urls import reverse

from da_platform.jobs.kinds import Outcome
from da_platform.jobs.models import Job

Result = dict[str, Any]


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _page(label: str, name: str, job: Job) -> tuple[str, str]:
    assert job.campaign is not None
    return label, reverse(name, args=[job.campaign.code])


def evidence_weighed(job: Job, result: Result) -> Outcome:
    sentence = f"Computed the evidence of {_count(result['n_weighed'], 'assignment')}."
    if result["n_failed"]:
        sentence += f" {result['n_failed']:,} could not be computed; the server's log says why."
    links = (_page("View workers", "campaign_workers", job),) if job.campaign else ()
    return Outcome(sentence, links)


def workers_recomputed(job: Job, result: Result) -> Outcome:
    sentence = (
        f"Of {_count(result['n_workers'], 'worker')}, the evidence of {result['n_evidence_changed']:,} "
        f"and the trust in {result['n_trust_changed']:,} changed."
    )
    if result["n_failed"]:
        sentence += f" {result['n_failed']:,} could not be judged and stay as they were."
    return Outcome(sentence, (_page("View workers", "campaign_workers", job),))


def expired_released(job: Job, result: Result) -> Outcome:
    return Outcome(f"Released {_count(result['n_released'], 'expired assignment')}.")


def submissions_synced(job: Job, result: Result) -> Outcome:
    sentence = f"{_count(result['n_changed'], 'submission')} changed."
    return Outcome(sentence, (_page("View recruiting", "campaign_recruiting", job),))


def places_raised(job: Job, result: Result) -> Outcome:
    sentence = f"The study now has {_count(result['n_places'], 'place')}."
    return Outcome(sentence, (_page("View recruiting", "campaign_recruiting", job),))


def hits_built(job: Job, result: Result) -> Outcome:
    sentence = f"The campaign has {_count(result['n_hits'], 'HIT')}"
    if "n_items" in result:
        sentence += (
            f" with {_count(result['n_items'], 'item')}, made from "
            f"{_count(result['n_translations'], 'translation')}"
        )
    return Outcome(f"{sentence}.", (_page("Check and open it", "campaign_overview", job),))


def round_added(job: Job, result: Result) -> Outcome:
    undecided = f"{_count(result['n_undecided'], 'pair')} of systems cannot be told apart yet."
    if result["n_hits"]:
        sentence = (
            f"Added {_count(result['n_hits'], 'HIT')} for {_count(result['n_pairs'], 'pair')} of systems "
            f"that lacked judgements. {undecided}"
        )
    else:
        sentence = f"No pair of systems lacks judgements, so no HITs were added. {undecided}"
    return Outcome(sentence, (_page("View campaign", "campaign_overview", job),))


def campaign_imported(job: Job, result: Result) -> Outcome:
    sentence = f"Imported {result['name']}"
    if "n_systems" in result:
        sentence += (
            f": {_count(result['n_systems'], 'system')}, {_count(result['n_segments'], 'segment')}, "
            f"{_count(result['n_outputs'], 'output')}"
        )
    address = reverse("campaign_overview", args=[UUID(result["campaign"])])
    return Outcome(f"{sentence}.", (("View campaign", address),))


def payments_sent(job: Job, result: Result) -> Outcome:
    assert job.campaign is not None
    currency = job.campaign.currency
    states = ", ".join(f"{n:,} {state}" for state, n in result["states"].items())
    args = [job.campaign.code, UUID(job.arguments["run"])]
    link = ("View payments", reverse("payment_run", args=args))
    return Outcome(f"Paid {result['paid']} {currency} ({states}).", (link,))
