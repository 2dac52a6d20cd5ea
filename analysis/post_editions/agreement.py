"""The latest measurement of how well the editors of a campaign agree, and what it says; web pages need no metrics for it."""

from typing import Any

from da_platform.jobs.models import Job
from hits.models import Campaign

HTER = "HTER"
KIND = "measure_editor_agreement"


def latest_agreement_of_editors(campaign: Campaign) -> Job | None:
    """Return the latest job that measured it."""
    done = Job.objects.filter(campaign=campaign, kind=KIND, state=Job.State.DONE)
    return done.order_by("-pk").first()


def in_words(facts: dict[str, Any]) -> str:
    """Say how well editors agree, from the JSON of a `collected.EditorAgreement`."""
    if not facts["n_pairs"]:
        return "No output has been edited by two trusted editors."
    return (
        f"The HTER of one editor against another is {facts['mean']:.3f} on average; "
        f"{facts['share_equal']:.0%} of {facts['n_pairs']:,} pairs are identical ({facts['n_outputs']:,} outputs, "
        f"{facts['n_editors']:,} editors)."
    )
