"""Reports about texts: stored once with the answer, and out of the pairs that say whether a worker is reliable."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import QuerySet

from ..models import Assignment, Campaign, Item, Rank, TextReport

# The reported texts of up to so many screens of a HIT are left out of its pairs. Beyond it all pairs count, so that
# reporting every degraded text is no way to avoid being judged.
MOST_EXCUSED = 3


@dataclass(frozen=True, slots=True)
class SentReport:
    """What is wrong, and with which text of the screen; empty if the worker did not say which."""

    reason: str
    item_code: str = ""


def read_report(sent: Mapping[str, str]) -> SentReport | None:
    """Return the report sent with an answer, or None if there is none with a reason that we know."""
    reason = sent.get("problem", "")
    if reason not in TextReport.Reason.values:
        return None
    return SentReport(reason, sent.get("problem_item", ""))


def report_text(*, assignment: Assignment, screen: int, report: SentReport) -> None:
    """Store that something is wrong with a text of a screen, or with all of them if the worker did not say which.

    A second report of the same text changes nothing.
    """
    items = list(Item.objects.only("pk", "code").filter(hit=assignment.hit_id, screen=screen))
    named = [item for item in items if str(item.code) == report.item_code]
    reports = [
        TextReport(assignment=assignment, item=item, reason=report.reason)
        for item in named or items
    ]
    TextReport.objects.bulk_create(reports, ignore_conflicts=True)


def excused_items(assignments: Iterable[int]) -> set[tuple[int, int]]:
    """Return the reported items, as (assignment, item), that are left out of the pairs."""
    return _excused(TextReport.objects.filter(assignment__in=list(assignments)))


def excused_items_in(campaign: Campaign) -> set[tuple[int, int]]:
    """Return the same for all assignments of a campaign."""
    return _excused(TextReport.objects.filter(assignment__hit__campaign=campaign))


def _excused(reports: QuerySet[TextReport]) -> set[tuple[int, int]]:
    reported = set(reports.values_list("assignment_id", "item_id", "item__screen"))
    screens = Counter(assignment for assignment, _ in {(row[0], row[2]) for row in reported})
    return {
        (assignment, item)
        for assignment, item, _ in reported
        if screens[assignment] <= MOST_EXCUSED
    }


def skipped_screens(campaign: Campaign) -> QuerySet[Rank]:
    """Return an answer of each screen that somebody could not rank, with the reason, the latest first."""
    skipped = Rank.objects.filter(assignment__hit__campaign=campaign, place=1).exclude(skip="")
    return skipped.select_related("assignment__worker", "item__hit").order_by("-received_at", "-pk")
