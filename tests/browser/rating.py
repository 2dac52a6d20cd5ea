"""What a worker does on the rating page, and what of it is stored."""

from collections.abc import Callable, Iterable
from time import monotonic

from playwright.sync_api import Page, expect

from hits.models import Assignment
from tests.browser.opening import TIMEOUT_MS


def expect_position(page: Page, position: int) -> None:
    """Wait until the page shows the item at this position, whatever language the page speaks."""
    # The item itself has to be there too: who types faster than the server answers gets ahead of it.
    place = f"body:has(#meter[value='{position - 1}']) #rating-form[data-shown='yes']"
    expect(page.locator(place)).to_be_attached()


# Digits that come later than this after the one before begin another number.
DIGIT_MS = 900


def type_score(page: Page, score: int) -> None:
    """Type the digits, and like a person look whether the slider took them for one number."""
    slider = page.locator("#slider")
    for _ in range(5):
        page.keyboard.type(f"{score:02}")
        if slider.get_attribute("aria-valuenow") == str(score):
            return
        # The machine was too busy to type so fast.
        page.wait_for_timeout(DIGIT_MS + 100)
    raise AssertionError(f"The slider does not show {score}.")


def rate_by_keys(page: Page, scores: Iterable[int], *, first: int = 1) -> None:
    """Rate as many items as there are scores, by digits and Enter; the slider has the focus."""
    for position, score in enumerate(scores, start=first):
        expect_position(page, position)
        type_score(page, score)
        page.keyboard.press("Enter")


def expect_saved(page: Page) -> None:
    state = page.locator("#save-state")
    expect(state).to_have_text(state.get_attribute("data-saved") or "")


def stored_scores(assignment: Assignment) -> list[int]:
    """The scores the server has, in the order of the items."""
    return list(assignment.ratings.order_by("item__position").values_list("score", flat=True))


def stored_in_order(assignment: Assignment) -> bool:
    moments = list(
        assignment.ratings.order_by("item__position").values_list("received_at", flat=True)
    )
    return moments == sorted(moments)


def wait_until(page: Page, is_so: Callable[[], bool], *, timeout_ms: int = TIMEOUT_MS) -> None:
    """Let the page run until something holds that cannot be seen on it."""
    deadline = monotonic() + timeout_ms / 1000
    while not is_so():
        assert monotonic() < deadline, "It did not come to pass in time."
        page.wait_for_timeout(25)


SLIDER_PLACE = """(slider, score) => {
  const box = slider.getBoundingClientRect();
  const share = getComputedStyle(slider).direction === "rtl" ? 1 - score / 100 : score / 100;
  return [box.left + box.width * share, box.top + box.height / 2];
}"""


def slider_place(page: Page, score: int) -> tuple[float, float]:
    """Where on the screen a score lies on the slider."""
    x, y = page.locator("#slider").evaluate(SLIDER_PLACE, score)
    return x, y
