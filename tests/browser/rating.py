"""Rate on the rating page, and read the stored scores."""

from collections.abc import Callable, Iterable
from time import monotonic

from playwright.sync_api import Page, expect

from hits.models import Assignment, Campaign
from tests.browser.opening import TIMEOUT_MS


def agree(page: Page, campaign: Campaign) -> None:
    """Go from the landing page to the instructions."""
    page.goto(campaign.get_absolute_url())
    page.locator("main button").click()
    expect(page.locator(".example").first).to_be_visible()


def expect_position(page: Page, position: int) -> None:
    """Wait until the page shows the item at this position, in any language."""
    # The meter moves on before the server has sent the item.
    place = f"body:has(#meter[value='{position - 1}']) #rating-form[data-shown='yes']"
    expect(page.locator(place)).to_be_attached()


# A digit that comes later than this after the last one starts a new number.
DIGIT_MS = 900


def type_score(page: Page, score: int) -> None:
    """Type the digits until the slider takes them as one number."""
    slider = page.locator("#slider")
    for _ in range(5):
        page.keyboard.type(f"{score:02}")
        if slider.get_attribute("aria-valuenow") == str(score):
            return
        # The machine was too slow.
        page.wait_for_timeout(DIGIT_MS + 100)
    raise AssertionError(f"The slider does not show {score}.")


def rate_by_keys(page: Page, scores: Iterable[int], *, first: int = 1) -> None:
    """Rate items with these scores by typing digits and Enter while the slider has the focus."""
    for position, score in enumerate(scores, start=first):
        expect_position(page, position)
        type_score(page, score)
        page.keyboard.press("Enter")


def expect_saved(page: Page) -> None:
    state = page.locator("#save-state")
    expect(state).to_have_text(state.get_attribute("data-saved") or "")


def stored_scores(assignment: Assignment) -> list[int]:
    """The scores in the database, in the order of the items."""
    return list(assignment.ratings.order_by("item__position").values_list("score", flat=True))


def stored_in_order(assignment: Assignment) -> bool:
    moments = list(
        assignment.ratings.order_by("item__position").values_list("received_at", flat=True)
    )
    return moments == sorted(moments)


def wait_until(page: Page, condition: Callable[[], bool], *, timeout_ms: int = TIMEOUT_MS) -> None:
    """Let the page run until the condition holds, which cannot be seen on the page."""
    deadline = monotonic() + timeout_ms / 1000
    while not condition():
        assert monotonic() < deadline, "The condition did not hold in time."
        page.wait_for_timeout(25)


SLIDER_PLACE = """(slider, score) => {
  const box = slider.getBoundingClientRect();
  const share = getComputedStyle(slider).direction === "rtl" ? 1 - score / 100 : score / 100;
  return [box.left + box.width * share, box.top + box.height / 2];
}"""


def slider_place(page: Page, score: int) -> tuple[float, float]:
    """The place of a score on the slider, in pixels."""
    x, y = page.locator("#slider").evaluate(SLIDER_PLACE, score)
    return x, y
