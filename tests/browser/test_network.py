"""With a bad network or a failing server, workers can go on and every rating is stored exactly once."""

import re

import pytest
from django.conf import settings
from playwright.sync_api import Page, Route, expect

from hits.hit_sizes import RATING_SIZES
from hits.models import Assignment
from hits.recruiting.visitors import COOKIE
from tests.browser.opening import Complaints, Visitor, assignment_of, rating_address, worker_cookie
from tests.browser.rating import (
    expect_position,
    expect_saved,
    rate_by_keys,
    stored_in_order,
    stored_scores,
    wait_until,
)
from tests.factories import make_hits, make_worker, rate_items

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser_network")]

HIT_ADDRESS = re.compile(r"/hit/[0-9a-f-]+/$")
SCORES = [61 * position % 101 for position in range(1, 41)]
# As in rate.js.
LONGEST_RETRY_MS = 15_000
REFUSED_MS = 4_000


@pytest.fixture(autouse=True)
def failed_requests_are_expected(complaints: Complaints) -> None:
    complaints.expected.append("Failed to load resource")


def expect_waiting(page: Page, n_ratings: int) -> None:
    """Wait until the page shows the number of unsent ratings, and not that all are saved."""
    state = page.locator("#save-state")
    expect(state).to_have_text(f"No connection. Waiting to be saved: {n_ratings}")
    expect(state).to_have_class("save-state is-offline")
    expect(page.get_by_text("Saved", exact=True)).to_have_count(0)


def answer_ratings(page: Page, status: int, *, body: str = "<h1>Sorry.</h1>") -> None:
    page.route(
        HIT_ADDRESS,
        lambda route: (
            route.fulfill(status=status, body=body)
            if route.request.method == "POST"
            else route.continue_()
        ),
    )


def test_ten_items_are_rated_offline_and_stored_when_the_network_is_back(hit):
    page, assignment = hit
    rate_by_keys(page, SCORES[:5])
    expect_saved(page)
    page.context.set_offline(True)
    for position in range(6, 16):
        rate_by_keys(page, [SCORES[position - 1]], first=position)
        expect_waiting(page, position - 5)
    assert stored_scores(assignment) == SCORES[:5]
    page.context.set_offline(False)
    expect_saved(page)
    expect_position(page, 16)
    assert stored_scores(assignment) == SCORES[:15]
    rate_by_keys(page, SCORES[15:], first=16)
    page.wait_for_url(re.compile("/finish/$"))
    assert stored_scores(assignment) == SCORES
    assert stored_in_order(assignment)


def test_a_network_that_returns_during_an_attempt_is_used_at_once(hit):
    page, assignment = hit
    hanging: list[Route] = []
    page.context.set_offline(True)
    rate_by_keys(page, SCORES[:10])
    expect_waiting(page, 10)
    # The page now tries only every 15 seconds. One more attempt hangs while the network returns.
    page.route(HIT_ADDRESS, lambda route: hanging.append(route))
    rate_by_keys(page, [SCORES[10]], first=11)
    wait_until(page, lambda: bool(hanging), timeout_ms=60_000)
    page.context.set_offline(False)
    hanging[0].abort()
    page.unroute(HIT_ADDRESS)
    # Long before the next attempt would be due.
    expect(page.locator("#save-state")).to_have_text("Saved", timeout=10_000)
    assert stored_scores(assignment) == SCORES[:11]


def test_the_page_waits_when_it_runs_out_of_items(hit):
    page, assignment = hit
    n_sent = RATING_SIZES.n_ahead(assignment.hit.size)
    page.context.set_offline(True)
    rate_by_keys(page, SCORES[:n_sent])
    expect(page.locator("#save-state")).to_have_text(re.compile("The next text will appear"))
    expect(page.locator("#text-below")).to_have_text("…")
    page.keyboard.type("50")
    page.keyboard.press("Enter")
    page.context.set_offline(False)
    expect_position(page, n_sent + 1)
    expect(page.locator("#slider")).not_to_have_class(re.compile("is-set"))
    expect(page.locator("#next")).to_be_disabled()
    assert stored_scores(assignment) == SCORES[:n_sent]


@pytest.fixture
def timed_hit(visitor: Visitor) -> tuple[Page, Assignment]:
    """The rating page of a new worker, with a clock that can be moved forward."""
    assignment = assignment_of(make_worker(), make_hits())
    page = visitor.open_context(worker=assignment.worker).new_page()
    page.clock.install()
    page.goto(rating_address(assignment))
    return page, assignment


def test_errors_that_are_not_from_the_platform_are_waited_out(timed_hit):
    """They may come from a proxy or the login page of a hotel network."""
    page, assignment = timed_hit
    loads: list[Page] = []
    page.on("load", lambda loaded: loads.append(loaded))
    for n_stored, status in zip(range(0, 20, 4), (400, 403, 404, 409, 503), strict=True):
        answer_ratings(page, status)
        rate_by_keys(page, SCORES[n_stored : n_stored + 4], first=n_stored + 1)
        expect_waiting(page, 4)
        page.clock.run_for(2_500)
        expect_waiting(page, 4)
        assert stored_scores(assignment) == SCORES[:n_stored] and loads == [], status
        page.unroute(HIT_ADDRESS)
        page.clock.fast_forward(LONGEST_RETRY_MS)
        expect_saved(page)
        assert stored_scores(assignment) == SCORES[: n_stored + 4], status
    assert stored_in_order(assignment)


def test_after_an_error_of_the_platform_the_worker_rates_again(timed_hit):
    page, assignment = timed_hit
    for n_stored, status in ((2, 400), (5, 409)):
        rate_by_keys(page, SCORES[n_stored - 2 : n_stored], first=n_stored - 1)
        expect_saved(page)
        answer_ratings(page, status, body='{"error": "Not this one."}')
        rate_by_keys(page, [99], first=n_stored + 1)
        state = page.locator("#save-state")
        expect(state).to_have_text(re.compile("^Some of your work could not be saved"))
        page.unroute(HIT_ADDRESS)
        page.clock.fast_forward(REFUSED_MS)
        expect_position(page, n_stored + 1)
        expect(state).not_to_have_text(re.compile("^Some of your work could not be saved"))
        rate_by_keys(page, [SCORES[n_stored]], first=n_stored + 1)
        expect_saved(page)
        assert stored_scores(assignment) == SCORES[: n_stored + 1], status


def test_a_browser_without_abort_signal_timeouts_sends_its_ratings(visitor: Visitor):
    assignment = assignment_of(make_worker(), make_hits())
    page = visitor.open_context(worker=assignment.worker).new_page()
    page.add_init_script("delete AbortSignal.timeout")
    page.goto(rating_address(assignment))
    rate_by_keys(page, SCORES[:2])
    expect_saved(page)
    assert stored_scores(assignment) == SCORES[:2]


def test_a_rating_whose_answer_is_lost_is_stored_once(hit):
    page, assignment = hit
    lost: list[str] = []

    def lose_first_answer(route: Route) -> None:
        data = route.request.post_data or ""
        if data in lost:
            route.continue_()
            return
        lost.append(data)
        route.fetch()
        route.abort()

    page.route(HIT_ADDRESS, lose_first_answer)
    rate_by_keys(page, SCORES[:3])
    expect_saved(page)
    assert len(lost) == 3
    assert stored_scores(assignment) == SCORES[:3]
    expect_position(page, 4)


def test_the_last_rating_waits_for_the_network(visitor: Visitor):
    assignment = assignment_of(make_worker(), make_hits())
    rate_items(assignment, n_items=39)
    page = visitor.open_context(worker=assignment.worker).new_page()
    page.goto(rating_address(assignment))
    page.context.set_offline(True)
    rate_by_keys(page, [77], first=40)
    expect_waiting(page, 1)
    # Nothing is left to rate.
    expect(page.locator("#text-below")).to_have_text("…")
    expect(page.locator("#next")).to_be_disabled()
    page.context.set_offline(False)
    page.wait_for_url(re.compile("/finish/$"))
    assert stored_scores(assignment)[-1] == 77


# Reloading and returning -----------------------------------------------------------------------


def test_a_reload_resumes_at_the_same_item(hit):
    page, assignment = hit
    rate_by_keys(page, SCORES[:7])
    expect_saved(page)
    text = page.locator("#text-below").inner_text()
    page.reload()
    expect_position(page, 8)
    expect(page.locator("#text-below")).to_have_text(text)
    rate_by_keys(page, [SCORES[7]], first=8)
    expect_saved(page)
    assert stored_scores(assignment) == SCORES[:8]


def test_a_reload_with_unsent_ratings_loses_none(hit):
    page, assignment = hit
    page.context.set_offline(True)
    rate_by_keys(page, SCORES[:6])
    expect_waiting(page, 6)
    text = page.locator("#text-below").inner_text()
    # Still refused after the reload, so that only the reloaded page can send them.
    answer_ratings(page, 503)
    page.context.set_offline(False)
    page.reload()
    expect_position(page, 7)
    expect_waiting(page, 6)
    expect(page.locator("#text-below")).to_have_text(text)
    assert stored_scores(assignment) == []
    page.unroute(HIT_ADDRESS)
    expect_saved(page)
    assert stored_scores(assignment) == SCORES[:6]
    assert stored_in_order(assignment)


def test_unsent_ratings_of_a_closed_tab_are_sent_by_the_next_one(hit):
    page, assignment = hit
    rate_by_keys(page, SCORES[:2])
    expect_saved(page)
    page.context.set_offline(True)
    rate_by_keys(page, SCORES[2:5], first=3)
    page.close()
    page.context.set_offline(False)
    other = page.context.new_page()
    other.goto(assignment.hit.campaign.get_absolute_url())
    other.get_by_role("link", name="Continue").click()
    expect_position(other, 6)
    expect_saved(other)
    assert stored_scores(assignment) == SCORES[:5]


def test_unsent_ratings_survive_a_new_csrf_token(hit):
    """Logging in in another tab changes the CSRF token, so the server refuses the old one."""
    page, assignment = hit
    cookies = [c for c in page.context.cookies() if c["name"] == settings.CSRF_COOKIE_NAME]
    page.context.add_cookies([cookies[0] | {"value": "x" * 32}])
    rate_by_keys(page, SCORES[:1])
    wait_until(page, lambda: stored_scores(assignment) == SCORES[:1])
    expect_position(page, 2)
    expect_saved(page)


def test_unsent_ratings_survive_a_lost_cookie(hit):
    page, assignment = hit
    page.context.clear_cookies(name=COOKIE)
    rate_by_keys(page, SCORES[:1])
    expect(page.get_by_role("alert")).to_have_text("We could not find your task in this browser.")
    origin = page.url.split("/hit/")[0]
    page.context.add_cookies([worker_cookie(assignment.worker, origin)])
    page.reload()
    expect_position(page, 2)
    expect_saved(page)
    assert stored_scores(assignment) == SCORES[:1]


def test_unsent_ratings_survive_a_lost_cookie_without_local_storage(visitor: Visitor):
    assignment = assignment_of(make_worker(), make_hits())
    page = visitor.open_context(worker=assignment.worker).new_page()
    page.add_init_script("Storage.prototype.setItem = () => { throw new Error('full'); }")
    page.goto(rating_address(assignment))
    cookies = [cookie for cookie in page.context.cookies() if cookie["name"] == COOKIE]
    page.context.clear_cookies(name=COOKIE)
    rate_by_keys(page, SCORES[:2])
    expect_waiting(page, 2)
    page.context.add_cookies(cookies)
    expect_saved(page)
    assert stored_scores(assignment) == SCORES[:2]


def test_going_back_to_a_cached_page_shows_the_next_item_to_rate(hit):
    page, assignment = hit
    rate_items(assignment, n_items=5)
    expect_position(page, 1)
    page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    expect_position(page, 6)


def test_the_fields_of_the_plain_form_belong_to_one_item(hit):
    page, assignment = hit
    rate_by_keys(page, SCORES[:2])
    expect_position(page, 3)
    first = assignment.hit.items.get(position=1)
    expect(page.locator("[name=position]")).to_have_value("1")
    expect(page.locator("[name=item]")).to_have_value(str(first.code))


# Two tabs --------------------------------------------------------------------------------------


def test_two_tabs_store_one_rating_per_item_and_the_slower_one_catches_up(hit):
    fast, assignment = hit
    slow = fast.context.new_page()
    slow.goto(fast.url)
    expect_position(slow, 1)
    rate_by_keys(fast, SCORES[:5])
    expect_saved(fast)
    rate_by_keys(slow, [3])
    expect_position(slow, 6)
    assert stored_scores(assignment) == SCORES[:5]
    rate_by_keys(slow, [SCORES[5]], first=6)
    expect_saved(slow)
    rate_by_keys(fast, [4], first=6)
    expect_saved(fast)
    expect_position(fast, 7)
    assert stored_scores(assignment) == SCORES[:6]


def test_two_offline_tabs_keep_the_ratings_of_both(hit):
    first, assignment = hit
    second = first.context.new_page()
    second.goto(first.url)
    expect_position(second, 1)
    first.context.set_offline(True)
    rate_by_keys(first, SCORES[:4])
    rate_by_keys(second, SCORES[:2])
    expect_waiting(second, 2)
    # Both are closed before they can send anything.
    first.close()
    second.close()
    first.context.set_offline(False)
    third = first.context.new_page()
    third.goto(rating_address(assignment))
    expect_position(third, 5)
    expect_saved(third)
    assert stored_scores(assignment) == SCORES[:4]


def test_an_old_tab_of_a_finished_hit_goes_to_the_last_page(hit):
    page, assignment = hit
    rate_items(assignment)
    rate_by_keys(page, [50])
    page.wait_for_url(re.compile("/finish/$"))
    assert stored_scores(assignment)[0] == 1


# Repeated input --------------------------------------------------------------------------------


def expect_one_rating(page: Page, assignment: Assignment, score: int) -> None:
    expect_position(page, 2)
    expect_saved(page)
    # By then, a second press would have had its effect.
    page.wait_for_timeout(300)
    expect_position(page, 2)
    expect(page.locator("#slider")).not_to_have_class(re.compile("is-set"))
    assert stored_scores(assignment) == [score]


def test_a_double_click_on_next_rates_one_item(hit):
    page, assignment = hit
    page.keyboard.type("42")
    page.locator("#next").dblclick()
    expect_one_rating(page, assignment, 42)


@pytest.mark.parametrize("place", ["#slider", "#next"])
@pytest.mark.parametrize(
    "events", [["down"] * 20 + ["up"], ["down", "up"] * 2], ids=["held down", "pressed twice"]
)
def test_a_repeated_enter_rates_one_item(hit, place: str, events: list[str]):
    page, assignment = hit
    page.keyboard.type("42")
    page.locator(place).focus()
    for event in events:
        getattr(page.keyboard, event)("Enter")
    expect_one_rating(page, assignment, 42)
