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


def test_of_several_gold_runs_of_a_job_the_first_keeps_it(migrated_back):
    apps = migrated_back("0004_collections_and_gold_uploads")
    campaign = apps.get_model("hits", "Campaign").objects.create(
        name="Old", source_language="de", target_language="en", seed=1
    )
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
