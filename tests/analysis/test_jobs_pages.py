"""The pages of jobs: who may open them, and what they show."""

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
DEEDS = [("cancel_job", "post"), ("retry_job", "post")]


def make_job(kind: str = "count_slowly") -> Job:
    return start_job(kind=kind, arguments={"steps": 3})


def address(name: str, job: Job) -> str:
    return reverse(name, args=[] if name == "jobs" else [job.code])


@pytest.mark.parametrize("role", PEOPLE)
@pytest.mark.parametrize(("name", "method"), PAGES + DEEDS)
def test_only_staff_come_in(role, name, method):
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


@pytest.mark.parametrize(("name", "method"), PAGES + DEEDS)
def test_each_address_takes_one_method(name, method):
    other = "post" if method == "get" else "get"
    answer = getattr(client_of("researcher"), other)(address(name, make_job()))
    assert answer.status_code == 405


@pytest.mark.parametrize(("name", "method"), DEEDS)
def test_a_form_from_elsewhere_changes_nothing(name, method):
    client = client_of("researcher")
    client.handler.enforce_csrf_checks = True
    job = make_job()
    assert client.post(address(name, job)).status_code == 403
    job.refresh_from_db()
    assert job.state == "queued"


def test_the_list_has_pages_and_asks_the_database_as_often_however_many_jobs(
    django_assert_num_queries,
):
    client, campaign = client_of("researcher"), make_campaign()
    ada = User.objects.get()
    for n in (1, JOBS_PER_PAGE + 1):
        Job.objects.bulk_create(
            Job(kind="count_slowly", campaign=campaign, started_by=ada) for _ in range(n)
        )
        # Session, user, second factor, what they may see, count, and one for all rows.
        with django_assert_num_queries(6):
            page = client.get(reverse("jobs")).content.decode()
        assert page.count("count_slowly") == min(n, JOBS_PER_PAGE)
    assert "Page 1 of 2" in page and "?page=2" in page
    assert client.get(reverse("jobs"), {"page": "nonsense"}).status_code == 200


def test_an_empty_list_says_what_to_do():
    assert "start_job" in client_of("researcher").get(reverse("jobs")).content.decode()


def test_a_running_jobs_page_shows_progress_and_looks_again_with_and_without_scripts():
    job = make_job()
    Job.objects.update(state="running", n_done=7, n_total=9, log="2 o'clock <b>\n")
    page = client_of("researcher").get(address("job", job)).content.decode()
    assert 'max="9" value="7"' in page and "7 of 9" in page
    assert "2 o&#x27;clock &lt;b&gt;" in page
    assert f'data-progress="{address("job_progress", job)}"' in page and "hits/job.js" in page
    assert '<noscript><meta http-equiv="refresh" content="5"></noscript>' in page
    assert address("cancel_job", job) in page and address("retry_job", job) not in page
    assert " style=" not in page and "<style" not in page and "onclick" not in page


def test_a_screen_reader_is_told_the_state_and_not_every_step():
    page = client_of("researcher").get(address("job", make_job())).content.decode()
    spoken = re.findall('<span[^>]*role="status"[^>]*>([^<]*)</span>', page)
    assert spoken == ["Waiting"] and page.count('role="status"') == 1


def test_what_the_script_asks_for_is_small_and_never_cached():
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


def test_a_finished_jobs_page_shows_its_result_and_rests():
    job = run_job(make_job().pk)
    page = client_of("researcher").get(address("job", job)).content.decode()
    assert "&quot;n_steps&quot;: 3" in page and "Counted." in page
    assert "job.js" not in page and "refresh" not in page
    assert "cancel" not in page and "retry" not in page


def test_only_a_superuser_sees_the_details_of_an_error():
    job = run_job(make_job("break_down").pk)
    staff = client_of("researcher").get(address("job", job)).content.decode()
    assert "Something went wrong; the administrators can see the details." in staff
    assert "ZeroDivisionError" not in staff
    assert "ZeroDivisionError" in client_of("superuser").get(address("job", job)).content.decode()
    progress = client_of("user")
    assert progress.get(address("job_progress", job)).status_code == 403


def test_staff_cancel_and_retry_by_button():
    client, job = client_of("researcher"), make_job()
    assert client.post(address("cancel_job", job)).url == address("job", job)
    job.refresh_from_db()
    assert job.state == "cancelled" and "Cancelled by researcher0." in job.log
    assert "Retry" in client.get(address("job", job)).content.decode()
    client.post(address("retry_job", job))
    job.refresh_from_db()
    assert job.state == "queued" and "Retried by researcher0." in job.log


def test_a_button_pressed_too_late_is_answered_kindly():
    client, job = client_of("researcher"), run_job(make_job().pk)
    answer = client.post(address("cancel_job", job))
    assert answer.status_code == 409 and "already finished" in answer.content.decode()


# By kind of job: who of its campaign may cancel and retry what another has started.
FOR_ADMINS = ("build_hits", "raise_places", "recompute_workers", "import_campaign", "export", "pay")
FOR_RESEARCHERS = ("build_gold", "measure_agreement", "evaluate", "compute_metrics")


def change(deed: str, role: str, job: Job) -> int:
    """Ask for it on the page and by a program; return the page's answer."""
    before = Job.objects.values().get(pk=job.pk)
    page = client_of(role, job.campaign).post(reverse(f"{deed}_job", args=[job.code]))
    Job.objects.filter(pk=job.pk).update(**before)
    program = caller(role, job.campaign).post(f"/jobs/{job.code}/{deed}")
    assert program.status_code in (page.status_code, {302: 200}.get(page.status_code, 404))
    return page.status_code


@pytest.mark.parametrize(("deed", "state"), [("cancel", "queued"), ("retry", "cancelled")])
@pytest.mark.parametrize("kind", FOR_ADMINS + FOR_RESEARCHERS)
def test_whoever_may_not_start_a_job_may_not_cancel_or_retry_it(deed, state, kind):
    campaign, ada = make_campaign(), make_person("superuser")
    finished = timezone.now() if state == "cancelled" else None
    job = Job.objects.create(
        kind=kind, campaign=campaign, started_by=ada, state=state, finished_at=finished
    )
    refused = 404 if kind == "pay" else 403
    assert change(deed, "outsider", job) == 403
    assert change(deed, "researcher", job) == (302 if kind in FOR_RESEARCHERS else refused)
    Job.objects.filter(pk=job.pk).update(state=state, finished_at=finished)
    assert change(deed, "admin", job) == 302


@pytest.mark.parametrize("state", ["queued", "cancelled"])
def test_whoever_may_neither_cancel_nor_retry_sees_no_button(state):
    finished = timezone.now() if state == "cancelled" else None
    campaign = make_campaign()
    job = Job.objects.create(
        kind="build_hits", campaign=campaign, state=state, finished_at=finished
    )
    for role, is_shown in (("researcher", False), ("admin", True)):
        page = client_of(role, campaign).get(address("job", job)).content.decode()
        assert ("/cancel/" in page or "/retry/" in page) is is_shown


def test_whoever_lost_their_part_in_a_campaign_cannot_retry_what_they_started_there():
    campaign, eve = make_campaign(), make_person("researcher", make_campaign(name="Another"))
    job = start_job(kind="build_gold", campaign=campaign, started_by=eve)
    with pytest.raises(PermissionDenied):
        cancel_job(job, eve)


@pytest.mark.parametrize("role", ["researcher", "admin"])
def test_whoever_lost_their_part_in_a_campaign_sees_nothing_of_what_they_started_there(role):
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
    for deed in ("cancel", "retry"):
        assert browser.post(address(f"{deed}_job", job)).status_code == 404
        assert program.post(f"/jobs/{job.code}/{deed}").status_code == 404


def test_who_is_no_longer_an_admin_sees_no_payments_that_they_started():
    campaign = make_campaign()
    eve = make_person("admin", campaign)
    job = start_job(kind="pay", campaign=campaign, started_by=eve)
    Membership.objects.filter(user=eve).update(level="researcher")
    assert not visible_jobs(eve).filter(pk=job.pk).exists()


def test_a_member_looks_after_their_own_job_that_is_of_no_campaign():
    eve, bob = (make_person("researcher", make_campaign(name=name)) for name in ("A", "B"))
    job = start_job(kind="evaluate_again", started_by=eve)
    with pytest.raises(PermissionDenied):
        cancel_job(job, bob)
    assert retry_job(cancel_job(job, eve), eve).state == "queued"


def test_the_masthead_leads_staff_there_and_nobody_else():
    link = f'href="{reverse("jobs")}"'
    assert link in client_of("researcher").get(reverse("home")).content.decode()
    assert link not in client_of("user").get(reverse("home")).content.decode()
    assert link not in client_of("stranger").get(reverse("home")).content.decode()


def test_a_job_nobody_started_is_the_platforms():
    job = Job.objects.create(kind="count_slowly", finished_at=timezone.now(), state="done")
    assert "the platform" in client_of("researcher").get(address("job", job)).content.decode()
