"""What came out of each kind of job, in a sentence with links to where it can be seen."""

from typing import Any
from uuid import UUID

from django.urls import reverse

from da_platform.jobs.kinds import Outcome
from da_platform.jobs.models import Job
from da_platform.wording import counted

Result = dict[str, Any]
# Of jobs that are about all campaigns.
ALL_CAMPAIGNS = ("View campaigns", "/")


def _page(label: str, name: str, job: Job) -> tuple[str, str]:
    assert job.campaign is not None
    return label, reverse(name, args=[job.campaign.code])


def evidence_weighed(job: Job, result: Result) -> Outcome:
    sentence = f"Computed the evidence of {counted(result['n_weighed'], 'assignment')}."
    if result["n_failed"]:
        sentence += f" {result['n_failed']:,} could not be computed; the server's log says why."
    link = _page("View workers", "campaign_workers", job) if job.campaign else ALL_CAMPAIGNS
    return Outcome(sentence, (link,))


def workers_recomputed(job: Job, result: Result) -> Outcome:
    sentence = (
        f"Of {counted(result['n_workers'], 'worker')}, the evidence of {result['n_evidence_changed']:,} "
        f"and the trust in {result['n_trust_changed']:,} changed."
    )
    if result["n_failed"]:
        sentence += f" {result['n_failed']:,} could not be judged and stay as they were."
    return Outcome(sentence, (_page("View workers", "campaign_workers", job),))


def expired_released(job: Job, result: Result) -> Outcome:
    sentence = f"Released {counted(result['n_released'], 'expired assignment')}."
    return Outcome(sentence, (ALL_CAMPAIGNS,))


def submissions_synced(job: Job, result: Result) -> Outcome:
    sentence = f"{counted(result['n_changed'], 'submission')} changed."
    return Outcome(sentence, (_page("View recruiting", "campaign_recruiting", job),))


def places_raised(job: Job, result: Result) -> Outcome:
    sentence = f"The study now has {counted(result['n_places'], 'place')}."
    return Outcome(sentence, (_page("View recruiting", "campaign_recruiting", job),))


def hits_built(job: Job, result: Result) -> Outcome:
    sentence = f"The campaign has {counted(result['n_hits'], 'HIT')}"
    if "n_items" in result:
        sentence += (
            f" with {counted(result['n_items'], 'item')}, made from "
            f"{counted(result['n_translations'], 'translation')}"
        )
    return Outcome(f"{sentence}.", (_page("Check and open it", "campaign_overview", job),))


def round_added(job: Job, result: Result) -> Outcome:
    undecided = f"{counted(result['n_undecided'], 'pair')} of systems cannot be told apart yet."
    if n_given_up := result.get("n_given_up"):
        undecided += (
            f" No more is asked about {counted(n_given_up, 'pair')}: workers skip most of these screens, or no "
            "segment has different outputs."
        )
    if result["n_hits"]:
        sentence = (
            f"Added {counted(result['n_hits'], 'HIT')} for {counted(result['n_pairs'], 'pair')} of systems "
            f"that lacked judgements. {undecided}"
        )
    else:
        sentence = f"No pair of systems lacks judgements, so no HITs were added. {undecided}"
    return Outcome(sentence, (_page("View campaign", "campaign_overview", job),))


def campaign_imported(job: Job, result: Result) -> Outcome:
    sentence = f"Imported {result['name']}"
    if "n_systems" in result:
        sentence += (
            f": {counted(result['n_systems'], 'system')}, {counted(result['n_segments'], 'segment')}, "
            f"{counted(result['n_outputs'], 'output')}"
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
