"""How many ratings are enough: a second campaign as replicate, counts, time and pay."""

import json
from datetime import timedelta
from io import StringIO

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db.models import F
from django.urls import reverse

from analysis.gold.agreement import ReplicateRefused, measure_agreement
from analysis.gold.report import enough_ratings, make_report
from analysis.gold.runs import build_gold
from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job, start_job
from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.models import Assignment, Campaign, Rating, Translation
from hits.workers.trust import weigh_pending
from tests.factories import make_hits
from tests.people import client_of, make_person

pytestmark = pytest.mark.django_db


def rated(name: str, seed: int) -> Campaign:
    campaign = make_hits(name=name, n_segments=35, hit_size=100, min_ratings=3, pay_per_hit=2)
    simulate_workers(campaign=campaign, crowd={Behaviour.HONEST: 4}, seed=seed)
    weigh_pending()
    return campaign


@pytest.fixture
def campaign() -> Campaign:
    return rated("first", 4)


@pytest.fixture
def replicate() -> Campaign:
    return rated("second", 5)


def test_means_are_compared_with_the_replicates(campaign, replicate):
    halves, against = measure_agreement(campaign), measure_agreement(campaign, replicate=replicate)
    assert "curve:split-halves" in halves.curve.signature
    assert "curve:replicate" in against.curve.signature and against.replicate == "second"
    assert "order:time" in against.in_order.signature
    # Halves need two ratings for each N; a replicate brings its own.
    assert against.curve.n_translations[1] >= halves.curve.n_translations[1]
    assert against.as_json()["scatters"][0]["size"] == 1


def test_only_equal_texts_of_equal_segments_are_compared(campaign, replicate):
    changed = Translation.objects.filter(segment__campaign=replicate, segment__name="segment-1")
    changed.update(text="another text")
    before = measure_agreement(campaign).curve.n_translations[0]
    after = measure_agreement(campaign, replicate=replicate).curve.n_translations[0]
    assert after == before - 2
    Translation.objects.filter(segment__campaign=replicate).update(text=F("fingerprint"))
    with pytest.raises(ReplicateRefused, match="second has no trusted ratings"):
        measure_agreement(campaign, replicate=replicate)


def test_workers_of_both_campaigns_do_not_replicate_themselves(campaign):
    with pytest.raises(ReplicateRefused, match="by other workers"):
        measure_agreement(campaign, replicate=rated("the same workers", 4))
    shared = make_hits(name="shared", n_segments=35, hit_size=100, min_ratings=3)
    for seed in (4, 5):
        simulate_workers(campaign=shared, crowd={Behaviour.HONEST: 2}, seed=seed)
    weigh_pending()
    everyone = measure_agreement(shared).depth.mean
    n_of_others = measure_agreement(campaign, replicate=shared).curve.n_translations[0]
    assert everyone > 1 and n_of_others > 0


def test_ratings_repeats_time_and_pay_are_counted(campaign):
    Rating.objects.update(active_ms=3_000)
    agreement = measure_agreement(campaign)
    assert agreement.depth.least <= agreement.depth.mean <= agreement.depth.most
    assert 0 <= agreement.repeats.n_differ <= agreement.repeats.n_workers == agreement.n_workers
    assert agreement.effort.n_hits == Assignment.objects.counted().count()
    assert agreement.effort.median_seconds == 300
    assert agreement.effort.total_seconds == 300 * agreement.effort.n_hits
    assert agreement.effort.pay_per_hour == 24


def test_without_reported_times_a_hit_takes_from_start_to_submission(campaign):
    Rating.objects.update(active_ms=None)
    Assignment.objects.update(started_at=F("submitted_at") - timedelta(minutes=10))
    assert measure_agreement(campaign).effort.median_seconds == 600


def test_an_unrated_campaign_has_no_numbers():
    agreement = measure_agreement(make_hits())
    assert agreement.effort.n_hits == agreement.depth.most == 0
    assert np.isnan(agreement.effort.median_seconds) and not agreement.scatters
    assert enough_ratings(agreement.as_json())


def test_the_page_and_the_report_say_it_in_words(campaign, replicate):
    run = build_gold(campaign=campaign, minimum=2)
    arguments = {"replicate": str(replicate.code)}
    run_job(start_job(kind="measure_agreement", campaign=campaign, arguments=arguments).pk)
    address = reverse("campaign_results", args=[campaign.code])
    text = client_of("researcher").get(address).content.decode()
    assert "correlate with the means of second at r =" in text
    assert "USD per hour" in text and "ratings-against-gold.svg" in text
    report = make_report(run)
    assert "trusted ratings" in report.methods[-1]
    assert [picture.name for picture in report.pictures][-2:] == [
        "how-many-ratings",
        "ratings-against-gold",
    ]
    for fmt in ("svg", "csv"):
        picture = reverse("result_picture", args=[campaign.code, "ratings-against-gold", fmt])
        assert client_of("researcher").get(picture).status_code == 200


def test_results_stored_earlier_still_open(campaign):
    build_gold(campaign=campaign, minimum=2)
    job = start_job(kind="measure_agreement", campaign=campaign)
    run_job(job.pk)
    result = Job.objects.get(pk=job.pk).result
    for name in ("scatters", "depth", "repeats", "effort"):
        del result[name]
    for name in ("raw", "in_order", "in_order_raw", "replicate"):
        del result["curve"][name]
    Job.objects.filter(pk=job.pk).update(result=result)
    address = reverse("campaign_results", args=[campaign.code])
    text = client_of("researcher").get(address).content.decode()
    assert "how-many-ratings.svg" in text and "ratings-against-gold" not in text


def test_the_form_offers_campaigns_of_the_same_languages(campaign, replicate):
    other = make_hits(name="other languages", source_language="cs")
    client = client_of("researcher")
    page = client.get(reverse("campaign_results", args=[campaign.code])).content.decode()
    assert str(replicate.code) in page and str(other.code) not in page
    form = {"minimum": 3, "method": "per_worker", "replicate": replicate.code}
    client.post(reverse("build_gold", args=[campaign.code]), form)
    job = Job.objects.get(kind="measure_agreement")
    assert job.arguments == {"replicate": str(replicate.code)}


def test_a_job_refuses_a_campaign_that_its_person_may_not_see(campaign, replicate):
    job = start_job(
        kind="measure_agreement",
        campaign=campaign,
        arguments={"replicate": str(replicate.code)},
        started_by=make_person("researcher", campaign),
    )
    run_job(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.FAILED and "may not see it" in job.error


def test_the_command_prints_words_and_numbers(campaign, replicate):
    out = StringIO()
    call_command("measure_agreement", campaign.name, "--replicate", replicate.name, stdout=out)
    assert "Translations have" in out.getvalue() and "raw by time" in out.getvalue()
    out = StringIO()
    call_command("measure_agreement", campaign.name, "--json", stdout=out)
    assert json.loads(out.getvalue())["curve"]["replicate"] == ""


def test_the_command_refuses_a_replicate_without_shared_texts(campaign):
    with pytest.raises(CommandError, match="same names with the same texts"):
        call_command("measure_agreement", campaign.name, replicate=make_hits(name="unrated").name)
