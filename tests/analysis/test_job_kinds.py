"""Every kind of job runs its service once and returns the result."""

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.models import GoldRun
from da_platform.jobs.kinds import known_kinds
from da_platform.jobs.models import Job
from da_platform.jobs.running import restart, run_job, start_job
from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.models import Campaign
from hits.workers.trust import weigh_pending
from tests.factories import make_campaign, make_hits
from tests.simulated_crowds import demo_excerpt

pytestmark = pytest.mark.django_db

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture
def rated() -> Campaign:
    """A campaign with two honest ratings for every translation."""
    campaign = make_hits(n_segments=35, hit_size=100, min_ratings=2)
    simulate_workers(campaign=campaign, crowd={Behaviour.HONEST: 2}, seed=1)
    weigh_pending()
    return campaign


def run(job_kind: str, campaign: Campaign | None = None, /, **arguments: Any) -> Job:
    job = run_job(start_job(kind=job_kind, campaign=campaign, arguments=arguments).pk)
    assert job is not None
    return job


def test_the_job_kinds_are_registered():
    # Other tests may have registered more.
    assert set(known_kinds()) >= {
        "build_gold",
        "build_hits",
        "export",
        "import_campaign",
        "import_collection",
        "rank_systems",
        "release_expired",
        "weigh_evidence",
    }


def test_a_campaign_is_imported_and_its_hits_are_built(tmp_path):
    folder = demo_excerpt(tmp_path, n_segments=20)
    languages = {"source_language": "de", "target_language": "en"}
    done = run("import_campaign", name="news", path=str(folder), **languages)
    assert done.state == Job.State.DONE and done.result["n_outputs"] == 80
    built = run("build_hits", Campaign.objects.get(name="news"))
    assert built.result["n_hits"] == 1 and built.n_done == 100


def test_a_refused_import_gives_the_reason(tmp_path):
    failed = run(
        "import_campaign", name="x", path=str(tmp_path), source_language="de", target_language="en"
    )
    assert failed.state == Job.State.FAILED and "not imported" in failed.error
    assert not Campaign.objects.exists()


def test_gold_is_built_and_systems_are_ranked(rated):
    gold = run("build_gold", rated)
    assert gold.state == Job.State.DONE, gold.traceback
    assert gold.result["run"] == 1 and gold.result["n_scored"] == 70
    ranking = run("rank_systems", rated)
    assert {row["system"] for row in ranking.result["systems"]} == {"system-a", "system-b"}
    assert "version:" in ranking.result["signature"]


def test_gold_stored_by_an_interrupted_job_is_not_built_again(rated):
    job = run("build_gold", rated)
    Job.objects.filter(pk=job.pk).update(state=Job.State.QUEUED, finished_at=None, result=None)
    again = run_job(job.pk)
    assert again.state == Job.State.DONE and again.result == job.result
    assert GoldRun.objects.count() == 1


def test_gold_can_be_built_with_other_settings(rated):
    run("build_gold", rated, method="pooled", minimum=1)
    assert list(GoldRun.objects.values_list("method", "minimum")) == [("pooled", 1)]


def test_without_gold_there_is_no_ranking(rated):
    failed = run("rank_systems", rated)
    assert failed.state == Job.State.FAILED and "does not have this gold" in failed.error


def test_an_export_is_written_with_its_sidecar(rated, tmp_path):
    run("build_gold", rated)
    path = tmp_path / "segments.csv"
    done = run("export", rated, kind="segments", path=str(path), format="csv", run=1)
    assert done.state == Job.State.DONE, done.traceback
    assert done.result["n_rows"] == 70 == len(path.read_text().splitlines()) - 1
    meta = json.loads(path.with_name("segments.csv.meta.json").read_text())
    assert meta["sha256"] == done.result["sha256"]


def test_an_interrupted_export_is_written_again_but_a_refused_one_is_refused_again(rated, tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text("somebody else's\n")
    refused = run("export", rated, kind="ratings", path=str(path), format="csv")
    assert refused.state == Job.State.FAILED and "ratings.csv" in refused.error
    again = run_job(restart(refused).pk)
    assert again.state == Job.State.FAILED and "ratings.csv" in again.error
    assert path.read_text() == "somebody else's\n"
    Job.objects.filter(pk=again.pk).update(state=Job.State.QUEUED, finished_at=None)
    assert run_job(again.pk).state == Job.State.DONE
    assert path.read_text() != "somebody else's\n"


def import_old_collection() -> Job:
    [path] = DATA.glob("collections/appraise.csv")
    languages = {"source_language": "de", "target_language": "en"}
    return run("import_collection", name="old", paths=[str(path)], format="appraise", **languages)


def test_a_finished_collection_is_imported():
    done = import_old_collection()
    assert done.state == Job.State.DONE, done.traceback
    assert Campaign.objects.get(name="old").is_archive


def test_a_retried_import_does_not_take_over_another_campaign_of_that_name():
    make_campaign(name="old")
    refused = import_old_collection()
    assert refused.state == Job.State.FAILED
    # As if it had been created while the job was running.
    Campaign.objects.update(created_at=refused.finished_at)
    assert run_job(restart(refused).pk).state == Job.State.FAILED


def test_expired_places_are_released_by_a_job():
    assert run("release_expired").result == {"n_released": 0}
