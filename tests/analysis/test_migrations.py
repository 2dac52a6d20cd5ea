"""Migrations that have to do with rows there are."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def migrated_back():
    """Give a function that takes the tables of analysis to a migration; they are whole again afterwards."""

    def migrate(name: str):
        executor = MigrationExecutor(connection)
        executor.migrate([("analysis", name)])
        return executor.loader.project_state([("analysis", name)]).apps

    yield migrate
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


def make_old_campaign(apps):
    return apps.get_model("hits", "Campaign").objects.create(
        name="Old", source_language="de", target_language="en", seed=1
    )


def test_of_several_gold_runs_of_a_job_the_first_keeps_it(migrated_back):
    apps = migrated_back("0004_collections_and_gold_uploads")
    campaign = make_old_campaign(apps)
    job = apps.get_model("analysis", "Job").objects.create(kind="build_gold", campaign=campaign)
    counts = dict.fromkeys(
        ["minimum", "n_workers", "n_workers_trusted", "n_ratings", "n_scored", "n_incomplete"], 1
    )
    runs = [
        apps.get_model("analysis", "GoldRun").objects.create(
            campaign=campaign, number=number, job=own, **counts
        )
        for number, own in ((1, None), (2, job), (3, job), (4, job))
    ]
    apps = migrated_back("0006_job_makes_one_gold_run")
    found = apps.get_model("analysis", "GoldRun").objects.order_by("number")
    assert [one.pk for one in found] == [one.pk for one in runs]
    assert [one.job_id for one in found] == [None, job.pk, None, None]


def test_metrics_keep_their_collection_and_those_without_one_get_one(migrated_back):
    apps = migrated_back("0006_job_makes_one_gold_run")
    campaign = make_old_campaign(apps)
    kept = apps.get_model("analysis", "ScoreCollection").objects.create(name="Kept")
    gone = "0b5cbd6c-6f0e-4b8e-9d6a-3f1d1d0f7a11"
    for key in (str(kept.code), gone, "by hand", ""):
        for name in ("BLEU", "TER"):
            metric = apps.get_model("analysis", "Metric").objects.create(
                campaign=None if key else campaign,
                collection=key,
                name=name,
                level="segment",
                origin="uploaded",
                n_scores=1,
            )
            apps.get_model("analysis", "MetricScore").objects.create(
                metric=metric, system="a", segment="1", position=0, score=0.5
            )
    apps = migrated_back("0009_metric_is_of_its_collection")
    found = apps.get_model("analysis", "Metric").objects.order_by("pk")
    homes = [one.collection.name if one.collection else None for one in found]
    lost = "Scores without a collection"
    assert homes == ["Kept"] * 2 + [lost] * 2 + ["by hand"] * 2 + [None] * 2
    assert [one.campaign_id for one in found[6:]] == [campaign.pk] * 2
    assert str(found[2].collection.code) == gone
    assert apps.get_model("analysis", "MetricScore").objects.count() == 8
    apps = migrated_back("0006_job_makes_one_gold_run")
    keys = apps.get_model("analysis", "Metric").objects.order_by("pk").values_list("collection")
    assert [key for (key,) in keys][:4] == [str(kept.code)] * 2 + [gone] * 2
    assert keys[6] == ("",)
