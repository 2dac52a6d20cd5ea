"""The example campaigns of a fresh platform: what they show, and that they can be removed."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from analysis.examples.making import FINISHED_NAME, make_examples
from analysis.examples.other_tasks import TASK_EXAMPLES, missing_task_examples
from analysis.examples.removing import remove_examples
from analysis.gold.ranking import rank_systems
from analysis.models import Experiment
from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job
from hits.campaigns.demo import (
    DEMO_NAME,
    DRAFT_NAME,
    EXAMPLES_JOB,
    TASK_EXAMPLES_JOB,
    make_first_admin,
    prepare_demo_campaign,
    start_examples,
)
from hits.exceptions import RemovalRefused
from hits.models import Assignment, AuditEntry, Campaign, CampaignDraft, Participation, Rating
from hits.rating.assignments import take_assignment
from hits.workers.reading import FLAGS
from tests.addresses import addresses
from tests.factories import make_campaign, make_worker
from tests.people import browser_of, client_of

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("examples")]


@pytest.fixture(scope="module")
def shared_admin(shared_rows: None) -> User:
    """The first admin, after the examples were made: once for all tests here, each of which undoes its changes."""
    prepare_demo_campaign()
    made = make_first_admin()
    assert made
    make_examples(actor=made[0])
    return made[0]


@pytest.fixture
def examples(shared_admin: User) -> User:
    return User.objects.get(pk=shared_admin.pk)


@pytest.fixture
def finished(examples: User) -> Campaign:
    return Campaign.objects.get(name=FINISHED_NAME)


def test_the_first_page_shows_a_finished_a_collecting_and_a_waiting_campaign(examples):
    page = browser_of(examples).get(reverse("home")).content.decode()
    for text in (FINISHED_NAME, DEMO_NAME, DRAFT_NAME, "waiting for files", "Closed", "Open"):
        assert text in page
    assert "Remove the examples" in page


def test_every_translation_of_the_finished_one_has_gold_and_the_ranking_has_clusters(finished):
    run = finished.gold_runs.newest()
    assert (run.minimum, run.n_incomplete) == (15, 0)
    assert len({row["cluster"] for row in rank_systems(run).rows}) >= 3


def test_no_simulated_script_or_careless_worker_is_trusted(finished):
    trusted = finished.participations.trusted().values_list("worker__external_id", flat=True)
    assert {name.split("-")[0] for name in trusted} <= {"honest", "noisy", "lenient", "harsh"}


def test_four_metrics_and_a_qe_task_are_evaluated(finished):
    metrics, qe = finished.evaluations.order_by("number")
    names = set(metrics.metrics.values_list("name", flat=True))
    assert names == {"quillscore", "wordmatch", "editcost", "chrF"}
    assert qe.options["qe"] is True


def test_there_are_payments_decisions_with_reasons_and_held_hits(finished):
    assert finished.payment_runs.exists() and finished.pay_rules.exists()
    decided = finished.participations.exclude(decision="")
    assert set(decided.values_list("decision", flat=True)) == set(Participation.Decision.values)
    holds = Assignment.objects.exclude(hold="").values_list("hit__campaign__name", "hold")
    assert (FINISHED_NAME, "discarded") in holds and (DEMO_NAME, "held") in holds


# Pages that say there is nothing, and why that is right after the examples were made.
EMPTY = {
    "campaign_looks": "a campaign without looks",
    "campaign_ranking": "a campaign of ratings; the example of ranking is made on request",
    "presentation_effects": "texts shown one at a time; the examples of other tasks are made on request",
    "post_editions": "no post-editing; that example is made on request",
    "evaluate_pooled": "needs gold of two campaigns",
    "api_tokens": "an admin makes tokens when they are needed",
}


def pages() -> Iterator[tuple[str, bool]]:
    """The names of all pages without parameters, or with a campaign only."""
    for address in addresses():
        parameters = [name for name, _ in address.parameters]
        if parameters == ["code"] and address.is_of_a_campaign:
            yield address.name, True
        elif not parameters and address.rule not in ("anyone", None):
            yield address.name, False


def test_every_page_has_something_to_look_at(examples, finished):
    browser = browser_of(examples)
    empty = set()
    for name, has_campaign in pages():
        response = browser.get(reverse(name, args=[finished.code] if has_campaign else []))
        is_page = response.headers.get("Content-Type", "").startswith("text/html")
        if is_page and 'class="empty"' in response.content.decode():
            empty.add(name)
    assert sorted(empty ^ set(EMPTY)) == []


@pytest.mark.parametrize(
    ("page", "names"),
    {
        "campaign_overview": ["trusted", "unproven", "promised"],
        "campaign_workers": ["reliable", "drifting", "unproven", "unreliable", *FLAGS],
        "campaign_results": ["gold", "cluster", "z"],
        "campaign_segments": ["gold", "z"],
        "campaign_report": ["cluster", "z"],
        "campaign_metrics": ["gold"],
        "campaign_evaluate": ["gold"],
        "held_hits": ["held"],
    }.items(),
)
def test_words_are_explained_where_they_appear(examples, finished, page, names):
    html = browser_of(examples).get(reverse(page, args=[finished.code])).content.decode()
    assert [name for name in names if f'id="term-{name}"' not in html] == []


def test_a_worker_can_rate_in_the_one_that_collects(examples):
    campaign = Campaign.objects.get(name=DEMO_NAME)
    assert take_assignment(campaign=campaign, worker=make_worker())


def test_making_them_again_changes_nothing(examples):
    counts = Rating.objects.count(), Campaign.objects.count(), CampaignDraft.objects.count()
    make_examples(actor=examples)
    assert counts == (
        Rating.objects.count(),
        Campaign.objects.count(),
        CampaignDraft.objects.count(),
    )


def test_removing_them_deletes_everything_but_the_log_and_the_files_of_others(examples):
    own = make_campaign(name="mine")
    client = browser_of(examples)
    assert reverse("remove_examples") in client.get(reverse("home")).content.decode()
    assert Campaign.objects.examples().count() == 2
    page = client.post(reverse("remove_examples"), follow=True).content.decode()
    assert "The examples were removed." in page
    assert list(Campaign.objects.kept()) == [own]
    assert not Rating.objects.exists() and not CampaignDraft.objects.exists()
    assert not Experiment.objects.exists()
    assert AuditEntry.objects.filter(action="examples removed", actor=examples).count() == 1
    assert client.get(reverse("audit_log")).status_code == 200
    # And they do not come back.
    assert prepare_demo_campaign() is None
    start_examples()
    assert not Job.objects.filter(kind=EXAMPLES_JOB).exists()


def test_removed_ones_are_made_again_on_request(examples):
    remove_examples(actor=examples)
    browser = browser_of(examples)
    assert "Add the examples" in browser.get(reverse("home")).content.decode()
    browser.post(reverse("make_examples"), {"which": "removed"})
    job = Job.objects.get(kind=EXAMPLES_JOB)
    assert job.arguments == {"again": True}
    assert prepare_demo_campaign(again=True)


def test_a_draft_with_files_of_somebody_is_kept(examples):
    draft = CampaignDraft.objects.get(basics__name=DRAFT_NAME)
    draft.files = [{"name": "own.txt", "size": 10}]
    draft.save(update_fields=["files"])
    remove_examples(actor=examples)
    assert CampaignDraft.objects.get() == draft


def test_a_removed_example_cannot_be_opened(examples, finished):
    remove_examples(actor=examples)
    path = reverse("campaign_overview", args=[finished.code])
    assert browser_of(examples).get(path).status_code == 404


def test_they_are_not_removed_while_they_are_being_made(examples):
    start_examples()
    with pytest.raises(RemovalRefused):
        remove_examples(actor=examples)


def test_a_job_makes_them_once(examples):
    start_examples()
    start_examples()
    [job] = Job.objects.filter(kind=EXAMPLES_JOB)
    done = run_job(job.pk)
    assert done and done.state == Job.State.DONE


def test_only_admins_may_remove_them():
    assert client_of("researcher").post(reverse("remove_examples")).status_code == 403


def test_examples_of_other_tasks_are_made_once_on_request_and_removed_with_the_others(examples):
    browser = browser_of(examples)
    assert "Add examples of other tasks" in browser.get(reverse("home")).content.decode()
    browser.post(reverse("make_examples"))
    job = Job.objects.get(kind=TASK_EXAMPLES_JOB)
    run_job(job.pk)
    job.refresh_from_db()
    assert (job.error, job.state) == ("", "done")
    made = Campaign.objects.filter(name__in=[example.name for example in TASK_EXAMPLES])
    assert {campaign.status for campaign in made} == {"closed"}
    for campaign in made:
        verdicts = campaign.participations.values_list("worker__external_id", "trust")
        assert all(trust != "unreliable" for name, trust in verdicts if "honest" in name)
    assert missing_task_examples() == []
    assert "Add examples of other tasks" not in browser.get(reverse("home")).content.decode()
    remove_examples(actor=examples)
    assert not Campaign.objects.examples().exists()
    assert not Assignment.objects.filter(hit__campaign__in=made).exists()
