"""What became of post-editions that somebody else checked."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet, Subquery

from analysis.stats.roles import Role

from ..models import Assignment, Campaign, EditionToCheck, PostEdition
from ..rating.places import with_standing

# A post-edition: its assignment and its item.
Edition = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Check:
    """What a trusted checker made of a post-edition; the same text if nothing had to be changed."""

    text: str
    checker: int
    checker_code: str


def checked_editions(campaign: Campaign) -> QuerySet[Any]:
    """Annotate a campaign's checked post-editions with `text`, `checker` (a worker's key) and `checker_code`.

    The first check counts, where several trusted workers checked a post-edition.
    """
    links = EditionToCheck.objects.filter(translation__segment__campaign__checks=campaign)
    # One of a check that was closed too early may be in another one.
    newer = EditionToCheck.objects.filter(
        assignment=OuterRef("assignment"), item=OuterRef("item"), pk__gt=OuterRef("pk")
    )
    counted = with_standing(Assignment.objects.counted().filter(hit__campaign__checks=campaign))
    answers = PostEdition.objects.filter(
        assignment__in=counted.filter(is_trusted=True).values("pk"),
        item__role=Role.GENUINE.value,
        item__translation=OuterRef("translation"),
    ).order_by("received_at", "assignment", "item")
    return (
        links.filter(~Exists(newer))
        .annotate(
            text=Subquery(answers.values("text")[:1]),
            checker=Subquery(answers.values("assignment__worker")[:1]),
            checker_code=Subquery(answers.values("assignment__worker__code")[:1]),
        )
        .filter(text__isnull=False)
    )


def checks_of(campaign: Campaign, assignments: Iterable[int] | None = None) -> dict[Edition, Check]:
    """Return the checks of a campaign's post-editions, perhaps only of those in these assignments."""
    editions = checked_editions(campaign)
    if assignments is not None:
        editions = editions.filter(assignment__in=assignments)
    rows = editions.values_list(*("assignment_id", "item_id", "text", "checker", "checker_code"))
    return {
        (assignment, item): Check(text, checker, str(code))
        for assignment, item, text, checker, code in rows
    }


@dataclass(frozen=True, slots=True)
class CheckProgress:
    """A campaign that checks post-editions of another one, and how many of them have been checked."""

    campaign: Campaign
    n_post_editions: int
    n_checked: int


def progress_of_checks(campaign: Campaign, visible: QuerySet[Campaign]) -> list[CheckProgress]:
    """Return those of the visible campaigns that check a campaign's post-editions, oldest first."""
    home = "translation__segment__campaign"
    links = EditionToCheck.objects.filter(translation__segment__campaign__checks=campaign)
    n_editions = Counter(links.values_list(home, flat=True))
    n_checked = Counter(checked_editions(campaign).values_list(home, flat=True))
    return [
        CheckProgress(check, n_editions[check.pk], n_checked[check.pk])
        for check in visible.filter(checks=campaign).order_by("pk")
    ]
