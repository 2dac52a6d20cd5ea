"""The job pages: who can open them, and what they show."""

import re

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job, start_job
from hits.models import Membership
from hits.people.job_access import cancel_job, retry_job, visible_jobs
from hits.people.tokens import make_token
from hits.views.jobs import JOBS_PER_PAGE
from tests.analysis import slow_jobs  # noqa: F401  (registers its kinds)
from tests.api.callers import ALL_SCOPES, Caller, caller
from tests.factories import make_campaign
from tests.people import PEOPLE, client_of, make_person

pytestmark = pytest.mark.django_db

PAGES = [("jobs", "get"), ("job", "get"), ("job_progress", "get")]
ACTIONS = [("cancel_job", "post"), ("retry_job", "post")]


def make_job(kind: str = "count_slowly") -> Job:
    return start_job(kind=kind, arguments={"steps": 3})


def address(name: str, job: Job) -> str:
    return reverse(name, args=[] if name == "jobs" else [job.code])


def page_of(job: Job, role: str = "researcher") -> str:
    return client_of(role).get(address("job", job)).content.decode()


@pytest.mark.parametrize("role", PEOPLE)
@pytest.mark.parametrize(("name", "method"), PAGES + ACTIONS)
def test_only_staff_can_open_them(role, name, method):
    job = make_job("refuse")
    if name == "retry_job":
        run_job(job.pk)
    before = Job.objects.values().get()
    answer = getattr(client_of(role), method)(address(name, job))
    if role in ("researcher", "admin", "superuser"):
        assert answer.status_code == (200 if method == "get" else 302)
        return
    if role == "outsider":
        assert answer.status_code == 403
    else:
        assert answer.status_code == 302 and answer.url.startswith(reverse("login"))
    assert Job.objects.values().get() == before


@pytest.mark.parametrize(("name", "method"), PAGES + ACTIONS)
def test_each_address_accepts_one_method(name, method):
    other = "post" if method == "get" else "get"
    answer = getattr(client_of("researcher"), other)(address(name, make_job()))
    assert answer.status_code == 405


@pytest.mark.parametrize(("name", "method"), ACTIONS)
def test_a_form_from_another_site_changes_nothing(name, method):
    client = client_of("researcher")
    client.handler.enforce_csrf_checks = True
    job = make_job()
    assert client.post(address(name, job)).status_code == 403
    job.refresh_from_db()
    assert job.state == "queued"


def test_the_list_is_paginated_and_needs_the_same_number_of_queries_at_any_length(
    django_assert_num_queries,
):
    client, campaign = client_of("researcher"), make_campaign()
    ada = User.objects.get()
    for n in (1, JOBS_PER_PAGE + 1):
        Job.objects.bulk_create(
            Job(kind="count_slowly", campaign=campaign, started_by=ada) for _ in range(n)
        )
        # Session, user, second factor, memberships, count, and one for all rows.
        with django_assert_num_queries(6):
            page = client.get(reverse("jobs")).content.decode()
        assert page.count("Count slowly") == min(n, JOBS_PER_PAGE)
    assert "Page 1 of 2" in page and "?page=2" in page
    assert client.get(reverse("jobs"), {"page": "nonsense"}).status_code == 200


def test_an_empty_list_says_what_to_do():
    assert "start_job" in client_of("researcher").get(reverse("jobs")).content.decode()


def test_the_page_of_a_running_job_shows_progress_and_refreshes_with_and_without_scripts():
    job = make_job()
    Job.objects.update(state="running", n_done=7, n_total=9, log="2 o'clock <b>\n")
    page = page_of(job)
    assert 'max="9" value="7"' in page and "7 of 9" in page
    assert "2 o&#x27;clock &lt;b&gt;" in page
    assert f'data-progress="{address("job_progress", job)}"' in page and "hits/job.js" in page
    assert '<noscript><meta http-equiv="refresh" content="5"></noscript>' in page
    assert address("cancel_job", job) in page and address("retry_job", job) not in page
    assert " style=" not in page and "<style" not in page and "onclick" not in page


def test_a_screen_reader_announces_the_state_but_not_every_step():
    page = page_of(make_job())
    spoken = re.findall('<span[^>]*role="status"[^>]*>([^<]*)</span>', page)
    assert spoken == ["Waiting"] and page.count('role="status"') == 1


def test_the_progress_response_is_small_and_never_cached():
    job = make_job()
    Job.objects.update(state="running", n_done=7, n_total=9)
    answer = client_of("researcher").get(address("job_progress", job))
    assert answer.json() == {
        "state": "running",
        "label": "Running",
        "n_done": 7,
        "n_total": 9,
        "log": "",
        "is_finished": False,
    }
    assert "no-store" in answer["Cache-Control"]


def test_the_page_of_a_finished_job_shows_its_result_and_does_not_refresh():
    job = run_job(make_job().pk)
    page = page_of(job)
    assert "&quot;n_steps&quot;: 3" in page and "Counted." in page
    assert "job.js" not in page and "refresh" not in page
    assert "cancel" not in page and "retry" not in page


def test_only_a_superuser_sees_the_details_of_an_error():
    job = run_job(make_job("break_down").pk)
    staff = page_of(job)
    assert "Something went wrong; the administrators can see the details." in staff
    assert "ZeroDivisionError" not in staff
    assert "ZeroDivisionError" in page_of(job, "superuser")
    assert client_of("user").get(address("job_progress", job)).status_code == 403


def test_staff_can_cancel_and_retry_with_buttons():
    client, job = client_of("researcher"), make_job()
    assert client.post(address("cancel_job", job)).url == address("job", job)
    job.refresh_from_db()
    assert job.state == "cancelled" and "Cancelled by researcher0." in job.log
    assert "Retry" in client.get(address("job", job)).content.decode()
    client.post(address("retry_job", job))
    job.refresh_from_db()
    assert job.state == "queued" and "Retried by researcher0." in job.log


def test_cancelling_a_finished_job_is_refused():
    client, job = client_of("researcher"), run_job(make_job().pk)
    answer = client.post(address("cancel_job", job))
    assert answer.status_code == 409 and "already finished" in answer.content.decode()


# Kinds of jobs, by who can cancel and retry those that somebody else started.
FOR_ADMINS = ("build_hits", "raise_places", "recompute_workers", "import_campaign", "export", "pay")
FOR_RESEARCHERS = ("build_gold", "measure_agreement", "evaluate", "compute_metrics")


def change(action: str, role: str, job: Job) -> int:
    """Try it on the page and through the API; return the status of the page."""
    before = Job.objects.values().get(pk=job.pk)
    page = client_of(role, job.campaign).post(reverse(f"{action}_job", args=[job.code]))
    Job.objects.filter(pk=job.pk).update(**before)
    program = caller(role, job.campaign).post(f"/jobs/{job.code}/{action}")
    assert program.status_code in (page.status_code, {302: 200}.get(page.status_code, 404))
    return page.status_code


@pytest.mark.parametrize(("action", "state"), [("cancel", "queued"), ("retry", "cancelled")])
@pytest.mark.parametrize("kind", FOR_ADMINS + FOR_RESEARCHERS)
def test_only_people_who_may_start_a_job_can_cancel_or_retry_it(action, state, kind):
    campaign, ada = make_campaign(), make_person("superuser")
    finished = timezone.now() if state == "cancelled" else None
    job = Job.objects.create(
        kind=kind, campaign=campaign, started_by=ada, state=state, finished_at=finished
    )
    refused = 404 if kind == "pay" else 403
    assert change(action, "outsider", job) == 403
    assert change(action, "researcher", job) == (302 if kind in FOR_RESEARCHERS else refused)
    Job.objects.filter(pk=job.pk).update(state=state, finished_at=finished)
    assert change(action, "admin", job) == 302


@pytest.mark.parametrize("state", ["queued", "cancelled"])
def test_buttons_are_shown_only_to_people_who_may_use_them(state):
    finished = timezone.now() if state == "cancelled" else None
    campaign = make_campaign()
    job = Job.objects.create(
        kind="build_hits", campaign=campaign, state=state, finished_at=finished
    )
    for role, is_shown in (("researcher", False), ("admin", True)):
        page = client_of(role, campaign).get(address("job", job)).content.decode()
        assert ("/cancel/" in page or "/retry/" in page) is is_shown


def test_a_former_member_cannot_cancel_a_job_they_started():
    eve = make_person("researcher", make_campaign(name="Another"))
    job = start_job(kind="build_gold", campaign=make_campaign(), started_by=eve)
    with pytest.raises(PermissionDenied):
        cancel_job(job, eve)


@pytest.mark.parametrize("role", ["researcher", "admin"])
def test_a_former_member_does_not_see_jobs_they_started(role):
    campaign, other = make_campaign(), make_campaign(name="Another")
    eve = make_person(role, campaign)
    Membership.objects.create(user=eve, campaign=other, level=role)
    job = start_job(kind="build_gold", campaign=campaign, started_by=eve)
    browser, program = Client(), Caller(make_token(user=eve, name="x", scopes=ALL_SCOPES)[1])
    browser.force_login(eve)
    for expected in (200, 404):
        assert browser.get(address("job", job)).status_code == expected
        assert browser.get(address("job_progress", job)).status_code == expected
        assert program.get(f"/jobs/{job.code}").status_code == expected
        assert program.get("/jobs").json()["count"] == (expected == 200)
        assert (str(job.code) in browser.get(reverse("jobs")).content.decode()) is (expected == 200)
        Membership.objects.filter(user=eve, campaign=campaign).delete()
    for action in ("cancel", "retry"):
        assert browser.post(address(f"{action}_job", job)).status_code == 404
        assert program.post(f"/jobs/{job.code}/{action}").status_code == 404


def test_a_former_admin_does_not_see_payment_jobs_they_started():
    campaign = make_campaign()
    eve = make_person("admin", campaign)
    job = start_job(kind="pay", campaign=campaign, started_by=eve)
    Membership.objects.filter(user=eve).update(level="researcher")
    assert not visible_jobs(eve).filter(pk=job.pk).exists()


def test_a_member_can_cancel_and_retry_their_own_job_without_a_campaign():
    eve, bob = (make_person("researcher", make_campaign(name=name)) for name in ("A", "B"))
    job = start_job(kind="evaluate_again", started_by=eve)
    with pytest.raises(PermissionDenied):
        cancel_job(job, bob)
    assert retry_job(cancel_job(job, eve), eve).state == "queued"


def test_the_masthead_links_to_the_jobs_for_staff_only():
    link = f'href="{reverse("jobs")}"'
    assert link in client_of("researcher").get(reverse("home")).content.decode()
    for role in ("user", "stranger"):
        assert link not in client_of(role).get(reverse("home")).content.decode()


def test_a_job_without_a_starter_was_started_by_the_platform():
    job = Job.objects.create(kind="count_slowly", finished_at=timezone.now(), state="done")
    assert "the platform" in page_of(job)
