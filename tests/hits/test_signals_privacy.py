"""The privacy notice says what a campaign records, and forgetting a worker removes it."""

import pytest
from django.test import Client
from django.urls import reverse

from hits.models import Campaign, DeviceSighting, InputSignals
from hits.rating.assignments import submit_assignment
from hits.rating.signals import SentSignals
from hits.workers.forgetting import forget_worker
from tests.factories import make_hits, rate_items
from tests.hits.worker.steps import enter, take

pytestmark = pytest.mark.django_db

COUNTS, DEVICE, PROGRAM = (
    "move the pointer",
    "fingerprint of your device",
    "whether a program reads",
)


def notice(campaign: Campaign) -> str:
    return Client().get(reverse("privacy", args=[campaign.code])).content.decode()


@pytest.mark.parametrize("records", [True, False])
@pytest.mark.parametrize("has_canary", [True, False])
def test_the_notice_names_exactly_what_the_campaign_records(records, has_canary):
    text = notice(make_hits(records_signals=records, has_canary=has_canary))
    assert (COUNTS in text) == (DEVICE in text) == records
    assert (PROGRAM in text) == has_canary


@pytest.mark.parametrize("records", [True, False])
def test_devices_are_marked_only_if_the_campaign_records_them(client, records):
    campaign = make_hits(records_signals=records)
    enter(client, campaign)
    take(client, campaign)
    assert DeviceSighting.objects.exists() == records


def test_forgetting_a_worker_deletes_what_the_browser_counted(client):
    campaign = make_hits()
    worker = enter(client, campaign)
    assignment = take(client, campaign)
    rate_items(assignment)
    submit_assignment(assignment=assignment, signals=SentSignals())
    assert InputSignals.objects.exists()
    forget_worker(worker=worker, reason="on request")
    assert not InputSignals.objects.exists()
