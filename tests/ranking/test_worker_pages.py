"""What the pages about workers say of those who rank."""

import pytest
from django.urls import reverse

from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.models import Assignment, AuditEntry, Participation
from hits.workers.pictures import picture_of_hit, pictures_of
from hits.workers.sides import sides_of, trusted_signs
from hits.workers.trust import weigh_pending
from tests.ranking.campaigns import ranking_campaign

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    campaign = ranking_campaign(n_segments=14, systems=tuple("ABCDE"), min_ratings=4)
    simulate_workers(
        campaign=campaign,
        crowd={Behaviour.HONEST: 3, Behaviour.RANDOM: 2},
        hits_per_worker=6,
        seed=3,
    )
    weigh_pending()
    return campaign


def test_the_sides_of_the_evidence_are_those_of_someone_who_ranks(campaign):
    signs = trusted_signs(campaign)
    person = campaign.participations.filter(trust="reliable").first()
    evidence = person.evidence.last()
    sides = {side.name: side for side in sides_of(evidence, campaign.trust_rule, signs)}
    assert list(sides) == ["pairs", "repeats", "agreement", "skips"]
    n_last = evidence.details["n_last"]
    assert f"Ranked {n_last} of {evidence.n_pairs} degraded outputs last" in sides["pairs"].text
    assert sides["pairs"].weight == "decides" and sides["pairs"].label == "Speaks for the worker"
    kappa = evidence.details["self_kappa"]["kappa"]
    assert f"their own repeats with kappa = {kappa:.2f}" in sides["repeats"].text
    assert (
        sides["agreement"].weight == "advises"
        and "trusted workers have" in sides["agreement"].trusted
    )
    assert sides["skips"].text == "Skipped no screen."


def test_every_page_about_workers_opens_and_says_why(admin_client, campaign):
    pages = ["campaign_overview", "campaign_workers", "worker_groups", "held_hits", "text_reports"]
    for name in [
        *pages,
        "campaign_results",
        "campaign_metrics",
        "campaign_payments",
        "campaign_settings",
    ]:
        answer = admin_client.get(reverse(name, args=[campaign.code]), follow=True)
        assert answer.status_code == 200, name
    for person in Participation.objects.filter(campaign=campaign):
        page = admin_client.get(
            reverse("campaign_worker", args=[campaign.code, person.worker.code])
        ).text
        assert "degraded outputs alone decide" in page and "degraded outputs last, alone" in page
        assert "Agrees with their own repeats" in page and "How texts were edited" not in page
        assert "Kappa with others" in page and "Scores out of order" not in page
    reasons = AuditEntry.objects.filter(campaign=campaign, action__contains="trust")
    assert any("degraded outputs last, alone" in entry.reason for entry in reasons)


def test_times_are_those_of_screens(campaign):
    """All texts of a screen are ranked at once, so that its time must not count for each of them."""
    person = Participation.objects.get(campaign=campaign, worker__external_id="honest-3-1")
    pictures = {picture.name: picture for picture in pictures_of(person)}
    assert set(pictures) == {"seconds-per-item", "claimed-time"}
    # Three screens in each of the HITs, and no time from one to the next is zero.
    n_hits = person.evidence.last().n_hits
    assert len(pictures["seconds-per-item"].rows) == 3 * n_hits
    for _, claimed, passed in pictures["claimed-time"].rows:
        assert 0 < claimed <= passed * 1.01
    assignment = Assignment.objects.filter(worker=person.worker).first()
    assert len(picture_of_hit(assignment).rows) == 3
