"""Workers can report a text: stored once with the rating, out of the pairs, and no way out of being judged."""

import pytest
from django.test import Client
from django.urls import reverse

from analysis.stats.roles import Role
from hits.models import Assignment, Rating, TextReport
from hits.rating.assignments import submit_assignment, take_assignment
from hits.rating.reports import MOST_EXCUSED, SentReport, excused_items, report_text
from hits.workers.weighing import weigh
from tests.browser.opening import qualify, worker_cookie
from tests.factories import make_hits, make_worker, rate_items

pytestmark = pytest.mark.django_db


@pytest.fixture
def assignment() -> Assignment:
    campaign, worker = make_hits(), make_worker("alice")
    qualify(worker, campaign)
    taken = take_assignment(campaign=campaign, worker=worker)
    assert taken is not None
    return taken


def send(assignment: Assignment, position: int, **fields: object) -> int:
    client = Client()
    cookie = worker_cookie(assignment.worker, "")
    client.cookies[cookie["name"]] = cookie["value"]
    item = assignment.hit.items.get(position=position)
    form = {"position": position, "item": item.code, "score": 50, "elapsed_ms": 9, "active_ms": 9}
    return client.post(reverse("rate", args=[assignment.code]), form | fields).status_code


def test_a_report_is_stored_once_however_often_it_is_sent(assignment: Assignment):
    for reason in ("gray", "gray", "other"):
        assert send(assignment, 1, problem=reason) == 302
    report = TextReport.objects.get()
    assert (report.reason, report.item.position) == ("gray", 1)
    assert Rating.objects.count() == 1


def test_a_reason_that_we_do_not_know_is_ignored_and_a_refused_rating_reports_nothing(assignment):
    assert send(assignment, 1, problem="boredom") == 302
    assert send(assignment, 3, problem="gray") == 409
    assert not TextReport.objects.exists()
    assert Rating.objects.count() == 1


def pairs_counted(assignment: Assignment, positions: list[int]) -> tuple[int, int]:
    """The numbers of degraded pairs and repeats that count after these positions were reported."""
    for position in positions:
        report_text(assignment=assignment, screen=position, report=SentReport("display"))
    participation = assignment.worker.participations.get()
    fields = weigh(participation)
    return fields["n_pairs"], fields["n_repeats"]


@pytest.fixture
def submitted(assignment: Assignment) -> Assignment:
    rate_items(assignment)
    return submit_assignment(assignment=assignment)


def test_a_reported_text_is_out_of_the_pairs_whichever_side_it_is_on(submitted: Assignment):
    items = submitted.hit.items
    degraded = items.filter(role=Role.BAD_REFERENCE).first()
    repeat = items.filter(role=Role.REPEAT).first()
    n_pairs, n_repeats = pairs_counted(submitted, [])
    assert n_pairs and n_repeats
    counted = pairs_counted(submitted, [degraded.position, repeat.partner.position])
    assert counted == (n_pairs - 1, n_repeats - 1)


def test_beyond_a_few_reports_all_pairs_count(submitted: Assignment):
    all_pairs = pairs_counted(submitted, [])
    degraded = submitted.hit.items.filter(role=Role.BAD_REFERENCE)[: MOST_EXCUSED + 1]
    if len(degraded) <= MOST_EXCUSED:
        degraded = submitted.hit.items.exclude(role=Role.GENUINE)[: MOST_EXCUSED + 1]
    positions = [item.position for item in degraded]
    fewer = pairs_counted(submitted, positions[:-1])
    assert sum(fewer) < sum(all_pairs)
    assert len(excused_items([submitted.pk])) == MOST_EXCUSED
    assert pairs_counted(submitted, positions[-1:]) == all_pairs
