"""The way to a first open campaign, as a checklist: files, check, build, recruit, open."""

from dataclasses import dataclass

from django.urls import reverse

from ..models import Campaign, CampaignDraft, Recruitment
from ..people.access import Visitor, campaigns_of


@dataclass(frozen=True, slots=True)
class Step:
    """A step is done, the current one, or still to come. Only the first two have a page."""

    label: str
    meaning: str
    url: str = ""
    is_done: bool = False
    is_current: bool = False


MEANINGS = {
    "Files": "Upload the sources, the references and the outputs of your systems.",
    "Check": "See what was read, choose the settings and import the campaign.",
    "Build": "Divide the translations into HITs, with hidden quality checks.",
    "Recruit": "Choose how workers join: by link, from Prolific or from another panel.",
    "Open": "Preview the task, then let workers start.",
}


def first_steps(user: Visitor) -> list[Step]:
    """Return the steps of a person's first campaign; none once a campaign has been opened.

    Examples do not count, except for the draft: it is there to be continued.
    """
    own = campaigns_of(user).filter(is_example=False)
    if own.exclude(status=Campaign.Status.DRAFT).exists():
        return []
    if campaign := own.first():
        return steps_of_campaign(campaign)
    return _steps_of_draft(CampaignDraft.objects.filter(owner=user.pk).first())


def steps_of_campaign(campaign: Campaign) -> list[Step]:
    overview = reverse("campaign_overview", args=[campaign.code])
    recruiting = reverse("campaign_recruiting", args=[campaign.code])
    has_way_in = Recruitment.objects.filter(campaign=campaign).exists()
    done = [True, True, campaign.hits.exists(), has_way_in, campaign.status != "draft"]
    return _steps(done, ["", "", overview, recruiting, overview])


def _steps_of_draft(draft: CampaignDraft | None) -> list[Step]:
    if draft is None:
        return _steps([False] * 5, [reverse("new_campaign")])
    pages = [reverse(name, args=[draft.code]) for name in ("draft_files", "draft_check")]
    return _steps([bool(draft.files), False, False, False, False], pages)


def _steps(done: list[bool], pages: list[str]) -> list[Step]:
    current = done.index(False) if False in done else len(done)
    pages = pages + [""] * (len(done) - len(pages))
    return [
        Step(label, meaning, page if number <= current else "", done[number], number == current)
        for number, ((label, meaning), page) in enumerate(zip(MEANINGS.items(), pages, strict=True))
    ]
