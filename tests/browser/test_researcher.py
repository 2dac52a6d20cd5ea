"""A researcher's way from a closed campaign to a table for a paper, with its number of clicks."""

from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Locator, Page, expect

from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job
from hits.campaigns.lifecycle import change_status
from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.models import Campaign, SystemOutput
from hits.workers.trust import weigh_pending
from tests.browser.keyboard import tab_to
from tests.browser.opening import PHONE, Visitor
from tests.browser.staff_pages import staff_context
from tests.browser.test_looks import AXE_TAGS, axe_violations
from tests.browser.test_staff_looks import assert_it_fits
from tests.factories import make_hits

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser_staff")]

# From the list of campaigns to the downloaded table.
MOST_CLICKS = 11


class Clicks:
    """Clicks through pages, checks each page on the way, and counts."""

    def __init__(self, page: Page, *, by_keyboard: bool = False) -> None:
        self.page = page
        self.n = 0
        self._by_keyboard = by_keyboard

    def on(self, part: Locator) -> None:
        self.n += 1
        if self._by_keyboard:
            tab_to(self.page, part)
            self.page.keyboard.press("Enter")
        else:
            part.click()

    def link(self, name: str) -> None:
        self.on(self.page.get_by_role("link", name=name, exact=True).first)

    def button(self, name: str) -> None:
        self.on(self.page.get_by_role("button", name=name, exact=True).first)

    def job(self, link: str) -> None:
        """Run the waiting jobs; the page of the job then offers the next step."""
        expect(self.page.get_by_text("This page shows the result")).to_be_visible()
        for job in Job.objects.unfinished().order_by("pk"):
            done = run_job(job.pk)
            assert done is not None and done.state == "done", done and done.error
        expect(self.page.get_by_role("link", name=link, exact=True)).to_be_visible()
        assert axe_violations(self.page, only=AXE_TAGS) == []
        assert_it_fits(self.page, link)
        self.link(link)


@pytest.fixture
def campaign() -> Campaign:
    campaign = make_hits(name="News", n_segments=35, hit_size=100, min_ratings=2)
    simulate_workers(campaign=campaign, crowd={Behaviour.HONEST: 2}, seed=1)
    weigh_pending()
    change_status(campaign=campaign, to=Campaign.Status.CLOSED)
    return campaign


def write_scores(campaign: Campaign, folder: Path) -> Path:
    """Scores of two metrics, one of which says nothing."""
    outputs = SystemOutput.objects.filter(system__campaign=campaign).order_by("pk")
    keys = outputs.values_list("system__name", "segment__name")
    rows = [f"{s}\t{g}\t{n % 7 + n / 100}\t{n % 3}" for n, (s, g) in enumerate(keys)]
    path = folder / "scores.tsv"
    path.write_text("\n".join(["system\tsegment\tCOMET\tBLEU", *rows]) + "\n")
    return path


@pytest.mark.parametrize(
    "way",
    [
        "mouse",
        pytest.param("keyboard", marks=pytest.mark.slow),
        pytest.param("phone", marks=pytest.mark.slow),
    ],
)
def test_from_a_closed_campaign_to_a_table(
    visitor: Visitor, campaign: Campaign, tmp_path: Path, way: str
):
    options = PHONE if way == "phone" else {}
    page = staff_context(visitor, "researcher", **options).new_page()
    clicks = Clicks(page, by_keyboard=way == "keyboard")
    page.goto(reverse("home"))
    clicks.link("News")
    clicks.link("Results")
    clicks.button("Build gold")
    clicks.job("Evaluate metrics against it")
    page.get_by_label("Score files").set_input_files(write_scores(campaign, tmp_path))
    clicks.button("Upload scores")
    expect(page.get_by_text("Stored 2 metrics.")).to_be_visible()
    page.get_by_label("All metrics left unmarked").select_option("suggested")
    clicks.button("Confirm directions")
    clicks.link("Evaluate")
    clicks.button("Evaluate")
    clicks.job("View evaluation")
    expect(page.get_by_role("heading", name="Metrics against gold 1")).to_be_visible()
    assert axe_violations(page, only=AXE_TAGS) == []
    assert_it_fits(page, "evaluation")
    for kind, start in (("LaTeX", r"% Needs \usepackage{booktabs}"), ("CSV", "metric,r,")):
        with page.expect_download() as download:
            clicks.link(f"Segment-level agreement with gold 1 as {kind}")
        assert Path(download.value.path()).read_text().startswith(start)
    assert clicks.n <= MOST_CLICKS, clicks.n
