"""A whole HIT of documents by keyboard and by touch, with the network away in the middle, and without scripts."""

import pytest
from playwright.sync_api import Page, expect

from hits.models import Assignment, DocumentRating
from tests.browser.opening import PHONE, Complaints, Visitor
from tests.browser.rating import (
    expect_position,
    expect_saved,
    rate_by_keys,
    slider_place,
    stored_scores,
    type_score,
)
from tests.browser.test_looks import assert_accessible
from tests.documents.campaigns import document_campaign, last_of_runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser_slider")]

SCORES = [37 * position % 101 for position in range(1, 41)]
NARROW = PHONE | {"viewport": {"width": 320, "height": 640}}


def earlier_texts(assignment: Assignment, position: int) -> list[str]:
    item = assignment.hit.items.get(position=position)
    earlier = assignment.hit.items.filter(run=item.run, position__lt=position)
    return list(earlier.order_by("position").values_list("text", flat=True))


def expect_earlier(page: Page, assignment: Assignment, position: int) -> None:
    """The earlier segments of this document are on the page, and nothing of another one."""
    texts = earlier_texts(assignment, position)
    expect(page.locator("#earlier-texts .text-below")).to_have_text(texts)
    if texts:
        expect(page.locator("#earlier")).to_be_visible()
    else:
        expect(page.locator("#earlier")).to_be_hidden()


def finish(page: Page) -> None:
    page.wait_for_url("**/finish/")
    page.locator("main button").last.click()
    page.wait_for_url("**/done/")


def test_a_whole_hit_by_keyboard_with_the_network_away(
    visitor: Visitor, complaints: Complaints
) -> None:
    complaints.expected.append("Failed to load resource")
    page, assignment = visitor.open_hit(document_campaign(scores_documents=True))
    last = last_of_runs(assignment)
    for position, score in enumerate(SCORES, start=1):
        expect_position(page, position)
        expect_earlier(page, assignment, position)
        if position == 13:
            page.context.set_offline(True)
        type_score(page, score)
        page.keyboard.press("Enter")
        if position in last:
            # The same keys, for the whole document.
            expect(page.locator("#slider-whole")).to_be_focused()
            expect(page.locator("#next")).to_be_disabled()
            page.keyboard.press("End")
            page.keyboard.press("Enter")
        if position == 17:
            page.context.set_offline(False)
            expect_saved(page)
    finish(page)
    assert stored_scores(assignment) == SCORES
    wholes = DocumentRating.objects.filter(assignment=assignment).order_by("item__position")
    assert [row.item.position for row in wholes] == last
    assert {row.score for row in wholes} == {100}


def test_a_whole_hit_by_touch_on_a_narrow_phone(visitor: Visitor) -> None:
    page, assignment = visitor.open_hit(document_campaign(scores_documents=True), **NARROW)
    last, is_folded = last_of_runs(assignment), False
    for position, score in enumerate(SCORES, start=1):
        expect_position(page, position)
        if earlier_texts(assignment, position) and not is_folded:
            # Folded on a phone, one tap away.
            expect(page.locator("#earlier-texts")).to_be_hidden()
            page.locator("#earlier summary").tap()
            expect_earlier(page, assignment, position)
            assert_accessible(page, "documents on a phone")
            page.locator("#earlier summary").tap()
            is_folded = True
        page.locator("#slider").scroll_into_view_if_needed()
        page.touchscreen.tap(*slider_place(page, score))
        if position in last:
            if position == last[0]:
                assert_accessible(page, "the whole document on a phone")
            page.locator("#scale-whole .step").last.tap()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.locator("#next").tap()
    finish(page)
    stored = stored_scores(assignment)
    assert len(stored) == 40 and max(abs(a - b) for a, b in zip(stored, SCORES, strict=True)) <= 1
    assert set(DocumentRating.objects.values_list("score", flat=True)) == {50}


def test_earlier_segments_and_unsent_ratings_survive_a_reload(
    visitor: Visitor, complaints: Complaints
) -> None:
    complaints.expected.append("Failed to load resource")
    page, assignment = visitor.open_hit(document_campaign())
    position = next(
        item.position
        for item in assignment.hit.items.order_by("position")
        if item.position > 3 and len(earlier_texts(assignment, item.position)) == 3
    )
    rate_by_keys(page, SCORES[: position - 2])
    expect_saved(page)
    # The last rating is stored by the browser only, and the page is loaded again.
    page.route(
        "**/hit/**",
        lambda route: route.abort() if route.request.method == "POST" else route.continue_(),
    )
    rate_by_keys(page, [SCORES[position - 2]], first=position - 1)
    expect_position(page, position)
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    expect_position(page, position)
    expect_earlier(page, assignment, position)
    page.unroute("**/hit/**")
    page.reload()
    expect_saved(page)
    expect_position(page, position)
    expect_earlier(page, assignment, position)
    assert stored_scores(assignment) == SCORES[: position - 1]


def test_a_screen_reader_hears_the_current_texts_and_can_reach_the_earlier_ones(
    visitor: Visitor,
) -> None:
    page, assignment = visitor.open_hit(document_campaign())
    rate_by_keys(page, SCORES[:2])
    expect_position(page, 3)
    item = assignment.hit.items.get(position=3)
    reference = item.translation.segment.reference
    expect(page.get_by_role("slider")).to_have_accessible_description(
        f"Gray text: {reference} Black text: {item.text}"
    )
    if earlier_texts(assignment, 3):
        expect(page.get_by_role("region", name="Earlier in this document")).to_be_visible()
    assert_accessible(page, "documents")


def test_a_whole_hit_without_scripts(visitor: Visitor) -> None:
    campaign = document_campaign(scores_documents=True)
    page, assignment = visitor.open_hit(campaign, java_script_enabled=False)
    last = last_of_runs(assignment)
    for position, score in enumerate(SCORES, start=1):
        expect(page.locator("#progress")).to_have_text(f"{position} of 40")
        expect_earlier(page, assignment, position)
        page.locator(f"input[name=score][value='{score}']").check()
        if position in last:
            page.locator("input[name=document_score][value='70']").check()
        page.locator("#next").click()
    finish(page)
    assert stored_scores(assignment) == SCORES
    assert DocumentRating.objects.count() == len(last)
