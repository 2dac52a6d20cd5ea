"""The page of a job shows its progress and can cancel it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection
from django.urls import reverse
from playwright.sync_api import Page, expect

from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job, start_job
from tests.analysis import slow_jobs  # noqa: F401  (registers its kinds)
from tests.browser.opening import PHONE, Visitor
from tests.browser.staff_pages import staff_context
from tests.browser.test_looks import assert_accessible

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser_jobs")]


@contextmanager
def running(**arguments: Any) -> Iterator[Job]:
    """A job that runs in another thread, with its own connection."""
    job = start_job(kind="count_slowly", arguments=arguments)

    def work() -> None:
        try:
            run_job(job.pk)
        finally:
            connection.close()

    worker = threading.Thread(target=work)
    worker.start()
    try:
        yield job
    finally:
        Job.objects.filter(pk=job.pk, cancel_requested_at=None, finished_at=None).update(
            cancel_requested_at=job.created_at
        )
        worker.join(30)
        assert not worker.is_alive()


def open_job(visitor: Visitor, job: Job, **options: Any) -> Page:
    page = staff_context(visitor, "researcher", **options).new_page()
    page.goto(reverse("job", args=[job.code]))
    return page


def n_done(page: Page) -> int:
    return int(page.locator("[data-count]").inner_text().split()[0])


def test_progress_moves_without_a_reload_until_the_job_is_done(visitor: Visitor):
    with running(steps=14, seconds=0.25) as job:
        page = open_job(visitor, job)
        loads = []
        page.on("load", lambda page: loads.append(page.url))
        expect(page.locator("[data-count]")).to_contain_text("of 14")
        first = n_done(page)
        expect(page.locator("[data-count]")).not_to_have_text(f"{first} of 14")
        assert n_done(page) > first and loads == []
        assert page.locator("[data-bar]").evaluate("bar => bar.value") >= n_done(page) - 1
        assert page.locator("[data-bar]").get_attribute("max") == "14"
        # The page notices the end, reloads itself once and stops polling.
        expect(page.locator(".status")).to_have_text("Done")
        assert len(loads) == 1
        expect(page.locator("[data-log]")).to_contain_text("Counted.")
        expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
        requests = []
        page.on("request", lambda request: requests.append(request.url))
        # Longer than the page waits between two requests.
        page.wait_for_timeout(1500)
        assert requests == []


def test_a_running_job_can_be_cancelled(visitor: Visitor):
    with running(steps=400, seconds=0.1) as job:
        page = open_job(visitor, job)
        expect(page.locator("[data-count]")).to_contain_text("of 400")
        page.get_by_role("button", name="Cancel").click()
        expect(page.locator(".status")).to_have_text("Cancelled")
        expect(page.locator("[data-log]")).to_contain_text("Cancelled by researcher")
        expect(page.get_by_role("button", name="Retry")).to_be_visible()
        job.refresh_from_db()
        assert job.state == Job.State.CANCELLED and job.n_done < 400


def test_the_page_recovers_from_a_lost_connection(visitor: Visitor, complaints: Any):
    complaints.expected.append("Failed to load resource")
    with running(steps=400, seconds=0.1) as job:
        page = open_job(visitor, job)
        expect(page.locator("[data-count]")).to_contain_text("of 400")
        page.context.set_offline(True)
        with page.expect_event("requestfailed"):
            pass
        before = n_done(page)
        page.context.set_offline(False)
        expect(page.locator("[data-count]")).not_to_have_text(f"{before} of 400")


@pytest.mark.parametrize("options", [{}, PHONE], ids=["desktop", "phone"])
def test_the_page_is_accessible(visitor: Visitor, options: dict[str, Any]):
    with running(steps=400, seconds=0.1) as job:
        page = open_job(visitor, job, **options)
        expect(page.locator("[data-count]")).to_contain_text("of 400")
        assert_accessible(page)
