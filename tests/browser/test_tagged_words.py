"""A researcher uploads word tags, and reads them sentence by sentence on a phone, in light and in dark mode."""

from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from analysis.models import Experiment
from da_platform.jobs.running import run_job
from tests.browser.opening import PHONE, Complaints, Visitor
from tests.browser.staff_pages import staff_context
from tests.browser.test_looks import axe_violations
from tests.browser.test_staff_looks import assert_it_fits
from tests.subprocesses import CHECKOUT

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser_staff")]

FOLDER = Path(CHECKOUT) / "examples" / "words"


@pytest.fixture
def page(visitor: Visitor) -> Page:
    phone = PHONE | {"viewport": {"width": 360, "height": 740}}
    return staff_context(visitor, "researcher", **phone).new_page()


def fill_form(page: Page, *submissions: Path) -> None:
    page.goto(reverse("new_experiment", args=["words"]))
    page.get_by_label("Name", exact=True).fill("Our taggers")
    page.get_by_label("Submissions").set_input_files(submissions)
    page.get_by_label("Outputs").set_input_files(FOLDER / "mt.tok")
    page.locator("input[name=post_editions]").set_input_files(FOLDER / "pe.tok")
    page.get_by_label("Resamples").fill("50")
    page.get_by_role("button", name="Start").click()


def test_tags_are_shown_in_their_sentences_worst_first(page: Page):
    fill_form(page, FOLDER / "careful.tags", FOLDER / "graded.tags")
    expect(page.get_by_text("There is no result yet.")).to_be_visible()
    experiment = Experiment.objects.get()
    assert experiment.job is not None
    run_job(experiment.job.pk)
    page.reload()
    expect(page.get_by_text("graded has the highest Matthews (0.851).")).to_be_visible()
    page.locator("select[name=submission]").select_option("careful")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".sentences .quiet")).to_have_count(5)
    counts = [
        int(text.split(": ")[1].split()[0])
        for text in page.locator(".sentences .quiet").all_inner_texts()
    ]
    assert counts[0] == max(counts) > 0
    # Colours apart, words that were missed and false alarms have different lines.
    lines = {
        mark: page.locator(f".hint mark.{mark}").evaluate(
            "mark => getComputedStyle(mark).textDecorationLine + getComputedStyle(mark).textDecorationStyle"
        )
        for mark in ("found", "missed", "alarm")
    }
    assert len(set(lines.values())) == 3 and not any("none" in line for line in lines.values())
    wrong = page.locator(".sentences li").first.locator("mark.missed, mark.alarm")
    assert wrong.count() == counts[0]
    assert_it_fits(page, "tagged words")
    # In light and in dark mode.
    assert axe_violations(page) == []


def test_a_bad_file_is_explained(page: Page, tmp_path: Path, complaints: Complaints):
    complaints.expected.append("422 (Unprocessable")
    bad = tmp_path / "bad.tags"
    bad.write_text((FOLDER / "careful.tags").read_text().replace("BAD", "WRONG", 1))
    fill_form(page, bad)
    refusal = page.get_by_role("alert")
    expect(refusal.get_by_role("row", name="'WRONG' is neither OK nor BAD")).to_be_visible()
    expect(refusal.get_by_text("bad.tags")).to_be_visible()
    assert not Experiment.objects.exists()
    assert_it_fits(page, "refused tags")
