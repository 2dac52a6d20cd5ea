"""An admin creates a campaign from files and watches it on the dashboard."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.test import override_settings
from django.urls import reverse
from playwright.sync_api import Page, expect

from hits.models import Assignment, Campaign, Rating
from hits.rating.assignments import submit_assignment
from hits.rating.practice import practice_for
from tests.browser.opening import PHONE, Visitor, assignment_of
from tests.browser.staff_pages import make_busy_campaign, staff_context
from tests.browser.test_staff_looks import assert_it_fits
from tests.factories import make_hits, make_worker, rate_items

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser_staff")]

EXAMPLE = Path(settings.BASE_DIR) / "examples" / "demo-de-en" / "campaign"


@pytest.fixture(autouse=True)
def _upload_folder(tmp_path):
    with override_settings(UPLOADS_DIR=tmp_path / "uploads"):
        yield


@pytest.fixture
def page(visitor: Visitor) -> Page:
    return staff_context(visitor).new_page()


def name_campaign(page: Page, name: str = "News") -> None:
    page.goto(reverse("home"))
    page.get_by_role("link", name="Create your first campaign").click()
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Source language").fill("de")
    page.get_by_label("Target language").fill("en")
    page.get_by_role("button", name="Next: files").click()


def choose_files(page: Page, folder: Path) -> None:
    page.get_by_label("System outputs").set_input_files(sorted(folder.glob("systems/*.txt")))
    page.get_by_label(re.compile("^References")).set_input_files(folder / "references.txt")
    page.get_by_label("Sources").set_input_files(folder / "sources.txt")
    page.get_by_role("button", name="Upload and check").click()


def test_from_files_to_an_open_campaign_and_its_copy(page: Page):
    name_campaign(page)
    choose_files(page, EXAMPLE)
    page.get_by_label("Trusted ratings per translation").fill("5")
    page.get_by_label("Pay per HIT").fill("1.20")
    page.get_by_role("button", name="Next: check").click()
    expect(page.get_by_text("alder, birch, cedar, dogwood")).to_be_visible()
    page.get_by_role("button", name="Import campaign").click()
    expect(page.get_by_text("News was imported.")).to_be_visible()
    page.get_by_role("button", name="Build HITs").click()
    expect(page.get_by_text("Built 5 HITs of 100 items.")).to_be_visible()
    preview(page)
    page.get_by_role("button", name="Open campaign").click()
    expect(page.locator("h1 .status")).to_have_text("Open")
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("h1 .status")).to_have_text("Paused")
    page.get_by_role("link", name="Settings").click()
    page.get_by_label("Name of the copy").fill("News again")
    page.get_by_role("button", name="Duplicate").click()
    expect(page.locator("h1")).to_contain_text("News again Draft")
    first, copy = Campaign.objects.order_by("pk")
    assert (first.status, copy.status) == ("paused", "draft") and first.seed != copy.seed


# From the list of campaigns until workers can come in.
MOST_CLICKS = 8


@pytest.mark.parametrize("way", ["desktop", pytest.param("phone", marks=pytest.mark.slow)])
def test_from_a_table_to_a_campaign_that_workers_can_join_in_eight_clicks(
    visitor: Visitor, tmp_path: Path, way: str
):
    page = staff_context(visitor, **(PHONE if way == "phone" else {})).new_page()
    table = tmp_path / "news.tsv"
    table.write_text(table_of(EXAMPLE), encoding="utf-8")
    # A busy machine takes a while to build.
    page.set_default_timeout(60_000)
    page.add_init_script(COUNT_CLICKS)
    page.goto(reverse("home"))
    page.get_by_role("link", name="Create your first campaign").click()
    for label, text in (("Name", "News"), ("Source language", "de"), ("Target language", "en")):
        page.get_by_label(label, exact=True).fill(text)
    page.get_by_role("button", name="Next: files").click()
    with page.expect_file_chooser() as chooser:
        page.get_by_label("One file").click()
    chooser.value.set_files(table)
    page.get_by_role("button", name="Upload and check").click()
    page.get_by_label("Pay per HIT").fill("2.00")
    page.get_by_role("button", name="Next: check").click()
    # The cost and a question, before anything is imported.
    expect(page.get_by_role("heading", name="Cost", exact=True)).to_be_visible()
    expect(page.get_by_text("no spending cap")).to_be_visible()
    page.get_by_role("button", name="Import campaign").click()
    page.get_by_role("button", name="Build HITs").click()
    expect(page.get_by_text("a provider’s fee of 33 %")).to_be_visible()
    assert_it_fits(page, "before opening")
    page.get_by_role("button", name="Open to anyone with the link without a cap").click()
    expect(page.locator("h1 .status")).to_have_text("Open")
    assert page.evaluate("Number(sessionStorage.getItem('clicks'))") <= MOST_CLICKS
    address = page.get_by_role("link", name="/work/").inner_text()
    worker = visitor.open_context().new_page()
    worker.goto(address)
    worker.get_by_role("button").first.click()
    expect(worker.get_by_role("heading", name="What to do")).to_be_visible()


# In the browser, so that it counts what really happened.
COUNT_CLICKS = """
addEventListener("click", (event) => {
  if (event.isTrusted) sessionStorage.setItem("clicks", 1 + Number(sessionStorage.getItem("clicks")));
}, true);
"""


def table_of(folder: Path) -> str:
    """The campaign in a folder as one table, with a row for each output."""
    sources, references = (lines_of(folder / f"{name}s.txt") for name in ("source", "reference"))
    rows = [("segment", "system", "translation", "source", "reference")]
    for path in sorted(folder.glob("systems/*.txt")):
        texts = zip(lines_of(path), sources, references, strict=True)
        rows += [(f"{n}", path.stem, *row) for n, row in enumerate(texts, start=1)]
    return "".join("\t".join(row) + "\n" for row in rows)


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def preview(page: Page) -> None:
    """Go from the landing page through the first HIT; nothing is stored."""
    page.get_by_role("link", name="Preview as a worker").click()
    page.get_by_role("link", name="I agree and want to start").click()
    page.get_by_role("link", name="Start practice").click()
    for onward in ("Next text", "Next text", "Continue"):
        expect(page.locator("#next")).to_be_disabled()
        page.locator("#slider").press("5")
        page.locator("#next").click()
        page.get_by_role("link", name=onward).click()
    answer_the_question(page)
    expect(page.locator("#progress")).to_have_text("1 of 100")
    expect(page.locator("#next")).to_be_disabled()
    page.locator("#slider").press("7")
    page.locator("#next").click()
    expect(page.locator("#progress")).to_have_text("2 of 100")
    page.get_by_label("HIT").fill("3")
    page.get_by_label("item").fill("50")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("#progress")).to_have_text("50 of 100")
    page.get_by_role("link", name="Finish").click()
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_text("EXAMPLE")).to_be_visible()
    page.get_by_role("link", name="Take another set of texts").click()
    expect(page.locator("#progress")).to_have_text("1 of 100")
    page.get_by_role("link", name="Exit preview").click()
    assert not Rating.objects.exists() and not Assignment.objects.exists()


def answer_the_question(page: Page) -> None:
    """Give a wrong answer, then the right one."""
    check = practice_for("en", "reference").check
    wrong = next(option for option in check.options if option != check.right)
    page.get_by_label(wrong, exact=True).check()
    page.get_by_role("button", name="Submit answer").click()
    expect(page.get_by_role("alert")).to_contain_text("That is not correct")
    page.get_by_label(check.right, exact=True).check()
    page.get_by_role("button", name="Submit answer").click()


def test_a_bad_upload_can_be_fixed_from_its_error_messages(page: Page, tmp_path, complaints):
    complaints.expected.append("422 (Unprocessable")
    folder = tmp_path / "bad"
    (folder / "systems").mkdir(parents=True)
    lines = [f"Line number {i} of a text" for i in range(30)]
    for name in ("sources", "references", "systems/A", "systems/B"):
        (folder / f"{name}.txt").write_text("".join(f"{name} {line}\n" for line in lines))
    good = (folder / "systems" / "B.txt").read_bytes()
    (folder / "systems" / "B.txt").write_bytes(good.replace(b"number 6", b"number \xff"))
    name_campaign(page)
    choose_files(page, folder)
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("systems/B.txt")
    expect(alert.get_by_role("row").nth(1)).to_contain_text("7")
    expect(alert).to_contain_text("is not UTF-8")
    assert not Campaign.objects.exists()
    (folder / "systems" / "B.txt").write_bytes(good)
    page.get_by_label("System outputs").set_input_files(sorted(folder.glob("systems/*.txt")))
    page.get_by_label(re.compile("^References")).set_input_files(folder / "references.txt")
    page.get_by_role("button", name="Next: settings").click()
    expect(page.get_by_label("Items per HIT")).to_be_visible()


def test_the_dashboard_follows_what_workers_do(page: Page, visitor: Visitor):
    campaign = make_hits(min_ratings=3)
    page.clock.install()
    page.goto(reverse("campaign_overview", args=[campaign.code]))
    unproven = page.locator(".tiles div").filter(has_text="Unproven").locator("dd").first
    expect(unproven).to_have_text("0")
    assignment = assignment_of(make_worker(), campaign)
    rate_items(assignment)
    submit_assignment(assignment=assignment)
    page.clock.run_for(6_000)
    expect(unproven).to_have_text("1")
    expect(page.locator(".events li").first).to_contain_text("HIT 1 submitted")


def test_the_dashboard_does_not_change_while_text_is_selected(page: Page):
    campaign = make_hits(min_ratings=3)
    page.clock.install()
    page.goto(reverse("campaign_overview", args=[campaign.code]))
    before = page.locator("#dashboard .spread small").inner_text()
    page.evaluate("getSelection().selectAllChildren(document.querySelector('#forecast-heading'))")
    with page.expect_response("**/live/"):
        page.clock.run_for(6_000)
    assert page.locator("#dashboard .spread small").inner_text() == before


def test_live_costs_agree_with_the_server(page: Page):
    campaign = make_busy_campaign()
    page.goto(reverse("campaign_cost", args=[campaign.code]))
    total = page.locator("[data-out=total]")
    for pay, fee, passing, ratings in [("3.33", "33", "35", "15"), ("0.07", "12.5", "99", "7")]:
        fields = {"pay": pay, "fee": fee, "passing": passing, "ratings": ratings}
        for name, value in fields.items():
            page.locator(f"#{name}").fill(value)
        outs = page.locator("[data-out]")
        live = outs.all_inner_texts()
        page.get_by_role("button", name="Calculate").click()
        expect(page.locator("#ratings")).to_have_value(ratings)
        assert outs.all_inner_texts() == live
    before = total.inner_text()
    page.get_by_label("Pay per HIT", exact=True).press("End")
    expect(total).not_to_have_text(before)


def test_costs_are_calculated_without_scripts(visitor: Visitor):
    campaign = make_busy_campaign()
    page = staff_context(visitor, java_script_enabled=False).new_page()
    page.goto(reverse("campaign_cost", args=[campaign.code]))
    page.locator("#pay").fill("5")
    page.get_by_role("button", name="Calculate").click()
    expect(page.locator("#pay")).to_have_value("5")
    # Eight assignments were done for 2 each, and six count. Two are missing; as three of four pass, three more are paid.
    expect(page.locator("[data-out=workers]")).to_have_text("31.00")
