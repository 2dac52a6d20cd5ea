"""What a screen reader announces on the rating page."""

import pytest
from playwright.sync_api import expect

from hits.models import Assignment, Campaign
from tests.browser.opening import Complaints, Visitor
from tests.browser.rating import expect_position, expect_saved, rate_by_keys
from tests.factories import make_hits

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser_spoken")]


def text_at(assignment: Assignment, position: int) -> str:
    return assignment.hit.items.get(position=position).text


def test_both_texts_of_every_item_are_announced_by_name(hit):
    page, assignment = hit
    texts = page.locator(".texts")
    expect(texts).to_have_attribute("aria-live", "polite")
    expect(texts).to_have_attribute("aria-atomic", "true")
    rate_by_keys(page, [50])
    expect_position(page, 2)
    reference = assignment.hit.items.get(position=2).translation.segment.reference
    description = f"Gray text: {reference} Black text: {text_at(assignment, 2)}"
    assert " ".join((texts.text_content() or "").split()) == description
    expect(page.get_by_role("slider")).to_have_accessible_description(description)


def test_a_single_text_is_announced_without_a_name(visitor: Visitor):
    page, assignment = visitor.open_hit(make_hits(n_segments=16, task=Campaign.Task.FLUENCY))
    description = text_at(assignment, 1)
    expect(page.get_by_role("slider")).to_have_accessible_description(description)


def test_only_failed_saving_is_announced(hit, complaints: Complaints):
    complaints.expected.append("Failed to load resource")
    page, _ = hit
    page.evaluate(
        """() => {
          window.spoken = [];
          const status = document.querySelector("[role=status]");
          new MutationObserver(() => window.spoken.push(status.textContent))
            .observe(status, { childList: true });
        }"""
    )
    rate_by_keys(page, [10, 20])
    expect_saved(page)
    assert page.evaluate("spoken") == []
    page.context.set_offline(True)
    rate_by_keys(page, [30], first=3)
    expect(page.get_by_role("status")).to_have_text("No connection. Waiting to be saved: 1")
    page.context.set_offline(False)
    expect(page.get_by_role("status")).to_have_text("")
