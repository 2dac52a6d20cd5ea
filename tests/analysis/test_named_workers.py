"""Gold from named workers only."""

import json

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from analysis.gold.named_workers import WorkersRefused, pseudonyms_of
from analysis.gold.runs import build_gold, ratings_of
from analysis.models import GoldRun
from da_platform.files.pseudonyms import Pseudonyms
from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job
from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.models import Campaign, Participation, Worker
from hits.workers.trust import weigh_pending
from tests.api.callers import caller
from tests.decisions import exclude
from tests.factories import make_hits, make_worker
from tests.people import client_of, make_person

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def shared_campaign(shared_rows):
    """One HIT of 60 items, rated by five honest workers."""
    campaign = make_hits(n_segments=21, hit_size=60, min_ratings=3)
    simulate_workers(campaign=campaign, crowd={Behaviour.HONEST: 5}, seed=2)
    weigh_pending()
    return campaign


@pytest.fixture
def campaign(shared_campaign):
    return Campaign.objects.get(pk=shared_campaign.pk)


@pytest.fixture
def trusted():
    people = Participation.objects.trusted().order_by("pk").select_related("worker")
    return [person.worker for person in people]


def pseudonym(campaign: Campaign, worker: Worker) -> str:
    return Pseudonyms(campaign.code, "worker").name(str(worker))


def leave_out(campaign: Campaign, worker: Worker) -> None:
    person = Participation.objects.get(campaign=campaign, worker=worker)
    exclude(participation=person, actor=make_person("admin"), reason="Not in this study.")


def build_by_command(campaign, path, lines, capsys):
    path.write_text("\n".join(lines) + "\n")
    call_command("build_gold", campaign.name, "--minimum", "1", "--workers", path, "--json")
    return json.loads(capsys.readouterr().out)


def test_only_named_workers_count(campaign, trusted, tmp_path, capsys):
    alice, bob, *others = trusted
    names = [pseudonym(campaign, alice), "", bob.external_id]
    run = build_by_command(campaign, tmp_path / "names.txt", names, capsys)
    assert run["n_named_workers"] == run["n_workers_trusted"] == 2
    assert "|named:2," in run["signature"]
    for worker in others:
        leave_out(campaign, worker)
    alone = build_gold(campaign=campaign, minimum=1)
    assert alone.input_digest == run["input_digest"] and "named" not in alone.signature


def test_a_named_worker_who_does_not_count_still_does_not(campaign, trusted):
    alice, bob, *_ = trusted
    leave_out(campaign, bob)
    run = build_gold(campaign=campaign, minimum=1, workers=[alice.pk, bob.pk])
    assert (run.n_named_workers, run.n_workers_trusted) == (2, 1)


def test_the_ratings_behind_such_a_run_are_those_of_the_named(campaign, trusted):
    run = build_gold(campaign=campaign, minimum=1, workers=[trusted[0].pk])
    assert set(ratings_of(run).worker) == {trusted[0].pk}


def test_the_fingerprint_tells_who_was_named_apart(campaign, trusted):
    keys = [worker.pk for worker in trusted]
    named = [
        build_gold(campaign=campaign, minimum=1, workers=pair).signature
        for pair in (keys[:2], keys[1::-1], keys[2:4])
    ]
    assert named[0] == named[1] != named[2]


def test_names_that_fit_nobody_or_somebody_twice_are_refused_by_line(campaign, trusted, tmp_path):
    alice = trusted[0]
    path = tmp_path / "names.txt"
    path.write_text(f"{alice}\nmallory\n{pseudonym(campaign, alice)}\n")
    with pytest.raises(CommandError) as refusal:
        call_command("build_gold", campaign.name, "--workers", path)
    assert "names.txt, line 2: no worker of this campaign is called 'mallory'" in str(refusal.value)
    assert "names.txt, line 3: names the same worker as line 1" in str(refusal.value)
    assert not GoldRun.objects.exists()


def test_an_id_of_two_providers_is_ambiguous(campaign, trusted, tmp_path):
    twin = Worker.objects.create(provider="panel", external_id=trusted[0].external_id)
    Participation.objects.create(campaign=campaign, worker=twin)
    path = tmp_path / "names.txt"
    path.write_text(f"{twin.external_id}\n")
    with pytest.raises(
        CommandError, match="line 1: .* matches 2 workers: write the provider first"
    ):
        call_command("build_gold", campaign.name, "--workers", path)
    assert pseudonyms_of(campaign, [str(twin)], by_id=True) == [pseudonym(campaign, twin)]


@pytest.mark.parametrize(
    ("content", "reason"),
    [("\n\n", "names no workers"), ("", "has no lines"), (None, "does not exist")],
)
def test_a_file_without_names_is_refused(campaign, tmp_path, content, reason):
    path = tmp_path / "names.txt"
    if content is not None:
        path.write_text(content)
    with pytest.raises(CommandError, match=reason):
        call_command("build_gold", campaign.name, "--workers", path)


def test_a_worker_of_another_campaign_is_unknown(campaign):
    other = make_worker("someone else")
    with pytest.raises(WorkersRefused, match="someone else"):
        pseudonyms_of(campaign, [str(other)], by_id=True)


class TestPage:
    def build(self, campaign, role, text):
        form = {"minimum": 1, "method": "per_worker", "workers": text}
        path = reverse("build_gold", args=[campaign.code])
        return client_of(role, campaign).post(path, form, follow=True).content.decode()

    def test_the_named_workers_are_stored_in_the_job_by_pseudonym(self, campaign, trusted):
        self.build(campaign, "admin", f"{trusted[0].external_id}\r\n{trusted[1]}\r\n")
        job = Job.objects.get(kind="build_gold")
        assert sorted(job.arguments["workers"]) == sorted(
            pseudonym(campaign, w) for w in trusted[:2]
        )
        run_job(job.pk)
        run = GoldRun.objects.get()
        assert run.named_workers == [worker.pk for worker in trusted[:2]]
        page = client_of("researcher", campaign).get(
            reverse("campaign_results", args=[campaign.code])
        )
        assert "only the 2 named workers could count" in page.content.decode()

    def test_researchers_cannot_find_out_ids(self, campaign, trusted):
        page = self.build(campaign, "researcher", trusted[0].external_id)
        assert "Gold was not built." in page and "no worker of this campaign is called" in page
        assert not Job.objects.filter(kind="build_gold").exists()
        self.build(campaign, "researcher", pseudonym(campaign, trusted[0]))
        assert Job.objects.filter(kind="build_gold").exists()


class TestApi:
    def test_workers_are_named_and_refused_by_line(self, campaign, trusted):
        path = f"/campaigns/{campaign.code}/gold"
        ada, grace = caller("researcher"), caller("admin")
        body = {"workers": [trusted[0].external_id]}
        refused = ada.post(path, body)
        assert refused.status_code == 422 and "line 1" in refused.content.decode()
        assert grace.post(path, body).status_code == 202
        run_job(Job.objects.get(kind="build_gold").pk)
        assert ada.get(f"{path}/1").json()["n_named_workers"] == 1
        assert ada.post(path, {"workers": []}).status_code == 422


def test_a_worker_who_was_forgotten_meanwhile_fails_the_job(campaign, trusted):
    names = pseudonyms_of(campaign, [str(trusted[0])], by_id=True)
    Worker.objects.filter(pk=trusted[0].pk).update(external_id="forgotten-1")
    job = Job.objects.create(kind="build_gold", campaign=campaign, arguments={"workers": names})
    job = run_job(job.pk)
    assert job.state == "failed" and "no longer a worker of" in job.error
