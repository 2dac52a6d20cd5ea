"""Reports about texts: stored once with the rating, and out of the pairs that say whether a worker is reliable."""

from collections import Counter
from collections.abc import Iterable, Mapping

from django.db.models import QuerySet

from ..models import Assignment, Campaign, Item, TextReport

# Up to so many reported texts of a HIT are left out of its pairs. Beyond it all pairs count, so that reporting
# every degraded text is no way to avoid being judged.
MOST_EXCUSED = 3


def read_reason(sent: Mapping[str, str]) -> str:
    """Return the reason sent with a rating, or an empty string if there is none that we know."""
    reason = sent.get("problem", "")
    return reason if reason in TextReport.Reason.values else ""


def report_text(*, assignment: Assignment, position: int, reason: str) -> None:
    """Store that something is wrong with the text. A second report of the same text changes nothing."""
    item = Item.objects.only("pk").get(hit_id=assignment.hit_id, position=position)
    report = TextReport(assignment=assignment, item=item, reason=reason)
    TextReport.objects.bulk_create([report], ignore_conflicts=True)


def excused_items(assignments: Iterable[int]) -> set[tuple[int, int]]:
    """Return the reported items, as (assignment, item), that are left out of the pairs."""
    return _excused(TextReport.objects.filter(assignment__in=list(assignments)))


def excused_items_in(campaign: Campaign) -> set[tuple[int, int]]:
    """Return the same for all assignments of a campaign."""
    return _excused(TextReport.objects.filter(assignment__hit__campaign=campaign))


def _excused(reports: QuerySet[TextReport]) -> set[tuple[int, int]]:
    reported = set(reports.values_list("assignment_id", "item_id"))
    n_reported = Counter(assignment for assignment, _ in reported)
    return {pair for pair in reported if n_reported[pair[0]] <= MOST_EXCUSED}
