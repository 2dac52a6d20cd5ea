"""A researcher uploads files, confirms directions, and gets a heat map and a LaTeX table."""

import re
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from analysis.models import Evaluation, Metric, ScoreCollection
from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job
from tests.browser.opening import Visitor
from tests.browser.staff_pages import staff_context
from tests.evaluations import (
    gold_lines,
    make_campaign_evaluation,
    score_lines,
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser_staff")]

# Whether the browser can draw an image.
IS_DRAWN = "image => image.decode().then(() => image.naturalWidth > 100)"


@pytest.fixture
def page(visitor: Visitor) -> Page:
    return staff_context(visitor, "researcher").new_page()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "scores.tsv").write_text(score_lines("BLEU", "TER"))
    (tmp_path / "hter.tsv").write_text(gold_lines())
    return tmp_path


def upload(page: Page, folder: Path) -> None:
    page.goto(reverse("evaluations"))
    page.get_by_role("link", name="Start from files").click()
    page.get_by_label("Name", exact=True).fill("My files")
    page.get_by_role("button", name="Next: files").click()
    page.get_by_label("Score files").set_input_files(folder / "scores.tsv")
    page.get_by_role("button", name="Upload scores").click()
    expect(page.get_by_text("Stored 2 metrics.")).to_be_visible()
    page.get_by_label("Gold files").set_input_files(folder / "hter.tsv")
    page.get_by_label("What it measures").select_option("HTER")
    page.get_by_label("Higher is better").check()
    page.get_by_role("button", name="Upload gold").click()
    expect(page.get_by_text("Stored gold")).to_be_visible()


def run_waiting_job(page: Page) -> Job:
    """Run the job of this page, which then reloads itself."""
    expect(page).to_have_url(re.compile("/jobs/"))
    job = run_job(Job.objects.latest("pk").pk)
    assert job is not None and job.state == "done", job and job.error
    return job


def walk_from_files_to_the_result(page: Page, folder: Path) -> None:
    upload(page, folder)
    for name in ("BLEU", "TER"):
        for way in ("higher", "lower"):
            expect(page.get_by_label(f"{way} {name} (segments)")).not_to_be_checked()
    page.get_by_label("higher BLEU (segments)").check()
    page.get_by_label("higher TER (segments)").check()
    page.get_by_role("button", name="Confirm directions").click()
    expect(page.get_by_text("Confirmed the direction of 2 metrics.")).to_be_visible()
    page.get_by_role("link", name="Evaluate", exact=True).click()
    page.get_by_role("button", name="Evaluate").click()
    expect(page.get_by_role("heading", name="Evaluate metrics from files")).to_be_visible()
    run_waiting_job(page)
    page.get_by_role("link", name="View evaluation").click()
    expect(page.get_by_role("heading", name="Metrics against hter")).to_be_visible()


def test_from_files_to_the_heat_map_and_a_latex_table(page: Page, folder: Path):
    walk_from_files_to_the_result(page, folder)
    map_ = page.locator("img[src*=significance]")
    map_.scroll_into_view_if_needed()
    assert map_.evaluate(IS_DRAWN)
    with page.expect_download() as download:
        page.get_by_role("link", name="Segment-level agreement with hter as LaTeX").click()
    table = Path(download.value.path()).read_text()
    assert download.value.suggested_filename == "segment-hter.tex"
    assert r"\toprule" in table and "t test by segment" in table and "BLEU" in table
    page.get_by_role("button", name="Run again").click()
    run_waiting_job(page)
    page.get_by_role("link", name="View evaluation").click()
    expect(page.get_by_text("the numbers are identical, to the last bit")).to_be_visible()


def test_it_works_without_scripts(visitor: Visitor, folder: Path):
    page = staff_context(visitor, "researcher", java_script_enabled=False).new_page()
    walk_from_files_to_the_result(page, folder)
    assert Evaluation.objects.count() == 1


def test_the_points_of_a_scatter_plot_show_their_texts_by_pointer_and_by_keyboard(page: Page):
    evaluation = make_campaign_evaluation()
    page.goto(reverse("evaluation", args=[evaluation.code]))
    page.get_by_label("Scatter plot of").select_option("poor")
    page.get_by_role("button", name="Show").click()
    figure = page.locator("[data-points]")
    slider, text = figure.get_by_role("slider"), figure.locator(".chosen")
    figure.scroll_into_view_if_needed()
    # The first figure of a process takes seconds to draw on a busy machine.
    expect(slider).to_be_enabled(timeout=60_000)
    slider.focus()
    expect(text).to_contain_text("Text ")
    lowest = text.inner_text()
    slider.press("ArrowRight")
    expect(text).not_to_have_text(lowest)
    label = text.locator("p").first.inner_text()
    assert "poor" in label and label in str(slider.get_attribute("aria-valuetext"))
    mark = figure.locator(".plot-mark").bounding_box()
    slider.press("End")
    expect(text).not_to_contain_text(label)
    assert mark is not None
    page.mouse.move(mark["x"] + mark["width"] / 2, mark["y"] + mark["height"] / 2)
    expect(text).to_contain_text(label)


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        (score_lines("BLEU").replace("A\t4\t", "A\t4\tx"), "5", "is not a finite number"),
        (score_lines("BLEU") + "A\t1\t1\n", "38", "already has a score"),
        (score_lines("BLEU") + "A\n", "38", "has 1 cells"),
        ("segment\tsystem\n1\tA\n", "1", "has no column with scores"),
        ("nothing that we know\n", "1", "has neither a header"),
    ],
)
def test_a_bad_file_is_explained(page: Page, tmp_path, complaints, content, line, reason):
    complaints.expected.append("422 (Unprocessable")
    collection = ScoreCollection.objects.create(name="x", owner=None)
    (tmp_path / "bad.tsv").write_text(content)
    page.goto(reverse("collection_metrics", args=[collection.code]))
    page.get_by_label("Score files").set_input_files(tmp_path / "bad.tsv")
    page.get_by_role("button", name="Upload scores").click()
    row = page.get_by_role("alert").get_by_role("row").nth(1)
    expect(row.get_by_role("cell").nth(0)).to_have_text("bad.tsv")
    expect(row.get_by_role("cell").nth(1)).to_have_text(line)
    expect(row.get_by_role("cell").nth(2)).to_contain_text(reason)
    assert not Metric.objects.exists()
