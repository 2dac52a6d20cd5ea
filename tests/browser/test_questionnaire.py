"""A worker answers the questions before and after the task: keyboard, phone, right to left, without scripts."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from hits.campaigns.questionnaires import set_questionnaire
from hits.models import Assignment, Campaign, QuestionnaireReply
from tests.browser.opening import PHONE, Visitor
from tests.browser.test_looks import axe_violations
from tests.factories import make_hits, rate_items
from tests.recruits import right_answer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser_words")]

GIVEN: dict[str, Any] = {
    "language": "en",
    "questions": [
        {"kind": "native_language", "required": True, "accept": ["de"]},
        {"kind": "proficiency", "language": "en", "required": True},
        {"key": "job", "kind": "choice", "text": "Do you translate?", "options": ["Yes", "No"]},
        {"key": "age", "kind": "number", "text": "How old are you?", "minimum": 16},
        {"key": "hard", "kind": "text", "when": "after", "text": "What was hard?"},
    ],
}


def asking(**fields: Any) -> Campaign:
    campaign = make_hits(**fields)
    set_questionnaire(campaign=campaign, actor=None, given=GIVEN)
    return campaign


def open_questions(page: Page, campaign: Campaign) -> None:
    page.goto(campaign.get_absolute_url())
    page.locator("main button").click()
    expect(page.locator(".question").first).to_be_visible()


def test_a_worker_answers_by_keyboard_and_again_at_the_end(page: Page):
    campaign = asking()
    open_questions(page, campaign)
    assert axe_violations(page) == []
    page.get_by_label("What is your native language?").focus()
    page.keyboard.type("German")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("Fluently")).to_be_checked()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.get_by_label("How old are you?")).to_be_focused()
    page.keyboard.type("34")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Start practice").wait_for()
    before = QuestionnaireReply.objects.get()
    assert before.answers == {"native_language": "de", "proficiency_en": "fluent", "age": 34}
    page.goto(f"/work/{campaign.code}/check/")
    page.get_by_label(right_answer(campaign), exact=True).check()
    page.get_by_role("button", name="Submit answer").click()
    page.locator("#slider").wait_for()
    rate_items(Assignment.objects.get())
    page.reload()
    page.get_by_label("What was hard?").fill("Names")
    page.get_by_role("button", name="Submit").click()
    page.get_by_text("completion code").wait_for()
    assert QuestionnaireReply.objects.get(moment="after").answers == {"hard": "Names"}


def test_who_does_not_fit_reads_a_neutral_message_on_a_phone_without_scripts(visitor: Visitor):
    page = visitor.open_context(java_script_enabled=False, **PHONE).new_page()
    campaign = asking(interface_language="ar")
    open_questions(page, campaign)
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    box = page.locator(".sheet").bounding_box()
    assert box and box["width"] <= 320 and box["x"] >= 0
    page.get_by_role("combobox").select_option("fr")
    page.get_by_role("radio").first.check()
    page.locator("main button").click()
    expect(page.locator("h1")).to_have_text("شكرًا لاهتمامك")
    assert not Assignment.objects.exists()
    page.goto(campaign.get_absolute_url())
    expect(page.locator("h1")).to_have_text("شكرًا لاهتمامك")
