"""A text of a screen with several is reported with the answer, and out of the pairs that judge its worker."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from analysis.stats.roles import Role
from hits.campaigns.behaviours import Behaviour
from hits.models import Assignment, Campaign, Participation, TextReport
from hits.rating.reports import MOST_EXCUSED, SentReport, excused_items, report_text
from hits.task_kinds import kind_of
from hits.workers.trust import weigh_pending
from tests.hits.worker.steps import enter, take
from tests.people import client_of
from tests.ranking.campaigns import ranking_campaign
from tests.side_by_side.campaigns import side_campaign
from tests.simulated_crowds import collect

pytestmark = pytest.mark.django_db

FIELDS = {"rank": "rank", "reference": "score"}


def answer(client: Client, assignment: Assignment, **fields: object) -> int:
    """Answer the next screen as the plain form does, and report a text of it."""
    kind = kind_of(assignment.hit.campaign)
    position = kind.place_of(assignment).position
    [screen] = kind.screens(assignment, first=position, last=position)
    name = FIELDS[assignment.hit.campaign.task]
    codes = [output["code"] for output in screen["outputs"]]
    sent = {f"{name}-{code}": 1 for code in codes} | {"position": position}
    if "problem_item" in fields:
        fields["problem_item"] = codes[int(str(fields["problem_item"]))]
    address = reverse("rate", args=[assignment.code])
    return client.post(address, sent | fields).status_code


def open_ranking(**settings: Any) -> Campaign:
    return ranking_campaign(is_open=True, **settings)


@pytest.fixture(params=[side_campaign, open_ranking])
def campaign(request) -> Campaign:
    return request.param()


def test_a_report_names_a_text_of_the_screen_it_was_made_on(client: Client, campaign: Campaign):
    enter(client, campaign)
    assignment = take(client, campaign)
    assert answer(client, assignment) == 302
    assert answer(client, assignment, problem="display", problem_item=1) == 302
    report = TextReport.objects.get()
    assert (report.item.screen, report.reason) == (2, "display")
    assert report.item.position > 2, "the number of a screen is not a position"
    page = client_of("superuser").get(reverse("text_reports", args=[campaign.code])).text
    assert reverse("preview_item", args=[campaign.code, assignment.hit.number, 2]) in page
    assert report.item.text in page


def test_without_a_text_all_of_the_screen_are_reported_and_count_as_one(
    client: Client, campaign: Campaign
):
    enter(client, campaign)
    assignment = take(client, campaign)
    assert answer(client, assignment, problem="gray") == 302
    reported = set(TextReport.objects.values_list("item__screen", flat=True))
    assert (reported, TextReport.objects.count() > 1) == ({1}, True)
    for screen in range(2, MOST_EXCUSED + 1):
        report_text(assignment=assignment, screen=screen, report=SentReport("other"))
    assert len(excused_items([assignment.pk])) == TextReport.objects.count()


def test_a_screen_can_be_reported_and_skipped_and_both_are_shown(client: Client):
    campaign = open_ranking()
    enter(client, campaign)
    assignment = take(client, campaign)
    sent = {"problem": "offensive", "problem_item": 0, "skip": "broken"}
    assert answer(client, assignment, **sent) == 302
    page = client_of("superuser").get(reverse("text_reports", args=[campaign.code])).text
    assert "It is offensive or contains private information" in page
    assert "The texts are not shown properly" in page


def test_a_reported_output_is_out_of_the_pairs_of_someone_who_ranks():
    campaign = ranking_campaign(min_ratings=4)
    collect(campaign, {Behaviour.HONEST: 2}, seed=3, hits_per_worker=4)
    participation = Participation.objects.filter(evidence__n_pairs__gt=1).first()
    before = participation.evidence.last()
    assignment = participation.worker.assignments.filter(
        hit__items__role=Role.BAD_REFERENCE
    ).first()
    item = assignment.hit.items.filter(role=Role.BAD_REFERENCE).first()
    report_text(
        assignment=assignment,
        screen=item.screen,
        report=SentReport("display", str(item.code)),
    )
    fields = kind_of(campaign).weigh(participation)
    assert fields["n_pairs"] == before.n_pairs - 1
    weigh_pending()
