"""What migrations do to the rows of earlier versions."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from hits.models import Campaign


@pytest.mark.django_db(transaction=True)
def test_earlier_campaigns_stay_as_published():
    executor = MigrationExecutor(connection)
    latest = [node for node in executor.loader.graph.leaf_nodes() if node[0] == "hits"]
    executor.migrate([("hits", "0001_initial")])
    try:
        earlier = executor.loader.project_state([("hits", "0001_initial")]).apps
        earlier.get_model("hits", "Campaign").objects.create(
            name="Earlier", source_language="de", target_language="en"
        )
    finally:
        executor = MigrationExecutor(connection)
        executor.migrate(latest)
    campaign = Campaign.objects.get()
    assert (campaign.degradation, campaign.trust_rule) == ("published", "published")
    assert campaign.max_hits_per_worker is None and not campaign.records_signals
    assert (campaign.drift, campaign.has_canary) == ("count", False)
