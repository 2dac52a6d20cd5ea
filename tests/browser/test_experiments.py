"""An admin uploads outputs before and after automatic post-editing, reads the table, and makes a campaign of them."""

import re
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from analysis.models import Experiment
from da_platform.jobs.running import run_job
from hits.models import Campaign
from tests.browser.opening import Complaints, Visitor
from tests.browser.staff_pages import staff_context
from tests.browser.test_looks import axe_violations
from tests.subprocesses import CHECKOUT

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser_staff")]

FOLDER = Path(CHECKOUT) / "examples" / "ape"
CAREFUL, EAGER = (FOLDER / "outputs" / f"{name}.txt" for name in ("careful", "eager"))


@pytest.fixture
def page(visitor: Visitor) -> Page:
    return staff_context(visitor, "admin").new_page()


def fill_form(page: Page) -> None:
    page.goto(reverse("experiments"))
    page.get_by_role("link", name="New: Automatic post-editing").click()
    page.get_by_label("Name", exact=True).fill("Our post-editors")
    page.locator("[name=before]").set_input_files(FOLDER / "before.txt")
    page.locator("[name=outputs]").set_input_files([CAREFUL, EAGER])
    page.locator("[name=post_editions]").set_input_files(FOLDER / "post-editions.txt")
    page.locator("[name=sources]").set_input_files(FOLDER / "sources.txt")
    page.locator("[name=option_source_language]").fill("de")


def test_from_files_to_the_table_the_sentences_and_a_campaign(page: Page):
    fill_form(page)
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("There is no result yet.")).to_be_visible()
    experiment = Experiment.objects.get()
    assert experiment.job is not None
    run_job(experiment.job.pk)
    page.reload()
    expect(page.get_by_text("careful modified 6 of 12 sentences")).to_be_visible()
    for row in (r"^TER careful −9\.09", r"^eager 12 1\.000 5 7"):
        expect(page.get_by_role("row", name=re.compile(row))).to_be_visible()
    page.locator("select[name=system]").select_option("eager")
    page.locator("select[name=list]").select_option("Improved")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_text("5 sentences, those that changed most first.")).to_be_visible()
    shown = page.locator(".sentences li").filter(has_text="Line 12")
    expect(shown.locator("del").first).to_have_text("keys.")
    expect(shown.locator("ins").first).to_have_text("key.")
    assert axe_violations(page) == []
    page.get_by_label("Relative ranking of several outputs").check()
    page.get_by_role("button", name="Prepare campaign").click()
    expect(page.get_by_text("(do nothing), careful, eager")).to_be_visible()
    page.get_by_role("button", name="Import campaign").click()
    expect(page.get_by_text("Our post-editors was imported.")).to_be_visible()
    campaign = Campaign.objects.get()
    assert (campaign.task, campaign.source_language, campaign.segments.count()) == (
        "rank",
        "de",
        12,
    )


def test_what_is_wrong_with_files_is_listed_by_file_and_line(
    page: Page, tmp_path: Path, complaints: Complaints
):
    complaints.expected.append("422 (Unprocessable")
    short, broken = tmp_path / "short.txt", tmp_path / "broken.txt"
    short.write_text("Only one line.\n")
    broken.write_text(EAGER.read_text().replace("home", "ho\x00me"))
    fill_form(page)
    page.locator("[name=outputs]").set_input_files([short, broken])
    page.get_by_role("button", name="Start").click()
    refusal = page.get_by_role("alert")
    for row in ("short.txt has 1 line, but before.txt has 12", "broken.txt 1 contains a control"):
        expect(refusal.get_by_role("row", name=row)).to_be_visible()
    assert not Experiment.objects.exists()
