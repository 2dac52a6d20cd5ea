"""Workers arrive from Prolific or by invite link and return, with and without scripts."""

import re
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from hits.models import Assignment, Campaign, Invite, Recruitment, Submission, Worker
from hits.recruiting.arrivals import sync_submissions
from hits.recruiting.invites import make_invites
from hits.recruiting.providers import provider_for
from tests.browser.opening import PHONE, Complaints, Visitor
from tests.browser.rating import rate_by_keys
from tests.browser.staff_pages import staff_context
from tests.browser.test_looks import axe_violations
from tests.factories import make_hits, rate_items
from tests.recruits import choose_panel, make_prolific_campaign, right_answer
from tests.simulators.prolific import ProlificSimulator

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser_recruiting"),
]

SCORES = [37 * position % 101 for position in range(1, 41)]


@pytest.fixture
def study(prolific: ProlificSimulator, live_server: Any, complaints: Complaints) -> Campaign:
    """A campaign at Prolific, the only other site that browsers may open."""
    complaints.expected.append(f"left the server: {prolific.url}")
    return make_prolific_campaign(prolific, host=live_server.url, min_ratings=2)


def agree_and_qualify(page: Page, campaign: Campaign) -> None:
    """Agree and answer the question, skipping the practice."""
    page.get_by_role("button").click()
    page.wait_for_url(re.compile("/instructions/"))
    page.goto(reverse("check", args=[campaign.code]))
    page.get_by_label(right_answer(campaign), exact=True).check()
    page.get_by_role("button", name="Submit answer").click()


def test_from_prolific_to_the_approval(prolific: ProlificSimulator, study: Campaign, page: Page):
    session = prolific.join(study.recruitment.study)
    page.goto(prolific.launch_url(session))
    # No id stays in the address bar.
    assert page.url.endswith(study.get_absolute_url())
    agree_and_qualify(page, study)
    rate_by_keys(page, SCORES)
    page.get_by_role("button", name="Submit").click()
    # Our form leads straight to Prolific; the Content Security Policy allows it.
    expect(page.get_by_role("heading", name="Thanks")).to_be_visible()
    assert page.url == f"{prolific.url}/submissions/complete?cc=DONE1"
    [code] = prolific.completions
    prolific.complete(session, code)
    recruitment = Recruitment.objects.get()
    sync_submissions(recruitment=recruitment)
    submission = Submission.objects.get()
    assert submission.assignment.status == Assignment.Status.SUBMITTED
    provider_for(recruitment).approve(submission)
    assert session.status == "APPROVED"


def test_workers_return_to_prolific_without_scripts_too(
    prolific: ProlificSimulator, study: Campaign, visitor: Visitor
):
    page = visitor.open_context(java_script_enabled=False).new_page()
    page.goto(prolific.launch_url(prolific.join(study.recruitment.study)))
    agree_and_qualify(page, study)
    rate_items(Assignment.objects.get())
    page.reload()
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", name="Thanks")).to_be_visible()


def test_declining_leads_back_to_prolific(prolific: ProlificSimulator, study: Campaign, page: Page):
    page.goto(prolific.launch_url(prolific.join(study.recruitment.study)))
    page.get_by_role("link", name="I do not want to take part").click()
    expect(page.get_by_role("heading", name="Thanks")).to_be_visible()
    assert prolific.completions == ["NOTHANKS"]


def test_a_personal_link_continues_on_the_phone(visitor: Visitor, live_server: Any):
    campaign = make_hits(is_open=False)
    [invite] = make_invites(campaign=campaign, n=1, actor=None)
    link = f"{live_server.url}{reverse('join', args=[invite.token])}"
    desktop = visitor.open_context().new_page()
    desktop.goto(link)
    assert invite.token not in desktop.url
    agree_and_qualify(desktop, campaign)
    rate_by_keys(desktop, SCORES[:5])
    expect(desktop.locator("#progress")).to_have_text("6 of 40")
    phone = visitor.open_context(**PHONE).new_page()
    phone.goto(link)
    phone.get_by_role("link", name="Continue").click()
    expect(phone.locator("#progress")).to_have_text("6 of 40")
    assert Worker.objects.count() == 1


@pytest.mark.parametrize("options", [{}, PHONE], ids=["desktop", "phone"])
def test_refusals_are_accessible(visitor: Visitor, complaints: Complaints, options: dict[str, Any]):
    complaints.expected.append("404 (Not Found)")
    page = visitor.open_context(**options).new_page()
    closed = make_hits(is_open=False)
    for url in (
        reverse("join", args=["x" * 22]),
        closed.get_absolute_url(),
        reverse("decline", args=[closed.code]),
    ):
        page.goto(url)
        assert axe_violations(page) == [], url
        assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]


# The page for admins -------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, PHONE], ids=["desktop", "phone"])
def test_the_recruiting_page_is_accessible(
    prolific: ProlificSimulator, visitor: Visitor, options: dict[str, Any]
):
    page = staff_context(visitor, **options).new_page()
    panel = make_hits(is_open=False)
    choose_panel(panel)
    for campaign in (make_hits(is_open=False), make_prolific_campaign(prolific), panel):
        make_invites(campaign=campaign, n=3, actor=None, label="A rather long label of a link")
        page.goto(reverse("campaign_recruiting", args=[campaign.code]))
        assert axe_violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]


def test_an_admin_creates_links_and_revokes_them(visitor: Visitor):
    page = staff_context(visitor, java_script_enabled=False).new_page()
    campaign = make_hits(is_open=False)
    page.goto(reverse("campaign_recruiting", args=[campaign.code]))
    page.get_by_label("Number of links").fill("2")
    page.get_by_role("button", name="Create and show").click()
    links = page.locator("code", has_text="/join/")
    expect(links).to_have_count(2)
    worker = visitor.open_context().new_page()
    worker.goto(links.first.inner_text())
    agree_and_qualify(worker, campaign)
    expect(worker.locator("#progress")).to_be_visible()
    page.goto(reverse("campaign_recruiting", args=[campaign.code]))
    # It cannot be undone, so one click is not enough.
    expect(page.get_by_role("button", name="Revoke all")).to_be_hidden()
    page.get_by_text("Revoke all links").click()
    page.get_by_role("button", name="Revoke all").click()
    expect(page.get_by_text("Revoked 2 links.")).to_be_visible()
    assert not Invite.objects.usable().exists()
