"""Scores over the API: uploaded, confirmed, computed."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from analysis.models import Metric
from da_platform.jobs.models import Job
from tests.api.callers import caller
from tests.factories import make_campaign, make_translations

pytestmark = pytest.mark.django_db

SCORES = "system\tsegment\tTER\tX\n" + "".join(
    f"system-{system}\tsegment-{segment}\t0.5\t2\n" for segment in (1, 2) for system in "ab"
)


@pytest.fixture
def campaign():
    campaign = make_campaign()
    make_translations(campaign, n_segments=2)
    return campaign


def upload(ada, campaign, text=SCORES, **fields):
    file = SimpleUploadedFile("scores.tsv", text.encode())
    return ada.client.post(f"/api/v1/campaigns/{campaign.code}/metrics", {"file": file, **fields})


def test_a_file_is_stored_with_the_directions_that_were_said(campaign):
    answer = upload(caller("researcher", campaign), campaign, lower=["TER"], higher=["X"])
    assert answer.status_code == 201
    ways = {one["name"]: one["higher_is_better"] for one in answer.json()}
    assert ways == {"TER": False, "X": True}
    assert Metric.objects.get(name="TER").uploaded_by.username.startswith("researcher")


def test_a_direction_is_suggested_and_counts_once_confirmed(campaign):
    ada = caller("researcher", campaign)
    metric = upload(ada, campaign).json()[0]
    assert (metric["higher_is_better"], metric["suggested"]) == (None, "lower")
    address = f"/campaigns/{campaign.code}/metrics/{metric['code']}/direction"
    answer = ada.post(address, {"higher_is_better": False}).json()
    assert (answer["higher_is_better"], answer["suggested"]) == (False, None)


def test_a_format_that_turns_every_score_suggests_so_here_as_on_the_page(campaign):
    text = "".join(f"system-{system}\t0.{n}\n" for system in "ab" for n in (1, 2))
    numbered = {"segment-1": "1", "segment-2": "2"}
    for name, number in numbered.items():
        campaign.segments.filter(name=name).update(name=number)
    (metric,) = upload(
        caller("researcher", campaign), campaign, text, format="mt-metrics-eval", name="TER"
    ).json()
    assert metric["suggested"] == "higher"


RANKED = "".join(f"qe\tsegment-{n}\t0.{n}\t{3 - n}\n" for n in (1, 2))


@pytest.mark.parametrize(
    ("asked", "names"), [({}, {"qe"}), ({"ranks": True}, {"qe", "qe (ranks)"})]
)
def test_rankings_beside_scores_are_left_out_unless_asked_for(asked, names):
    campaign = make_campaign()
    make_translations(campaign, n_segments=2, n_systems=1)
    for n in (1, 2):
        campaign.segments.filter(name=f"segment-{n}").update(name=str(n))
    answer = upload(
        caller("researcher", campaign),
        campaign,
        RANKED.replace("segment-", ""),
        system="system-a",
        **asked,
    )
    assert {one["name"] for one in answer.json()} == names


def test_a_bad_file_is_refused_with_file_line_and_reason(campaign):
    answer = upload(caller("researcher", campaign), campaign, SCORES.replace("0.5", "good", 1))
    assert answer.status_code == 422 and answer.json()["n_problems"] == 1
    assert answer.json()["problems"][0]["line"] == 2
    assert not Metric.objects.exists()


def test_the_same_file_twice_is_stored_once(campaign):
    ada = caller("researcher", campaign)
    assert upload(ada, campaign).json() == upload(ada, campaign).json()
    assert Metric.objects.count() == 2


def test_metrics_and_their_scores_are_listed(campaign):
    ada = caller("researcher", campaign)
    upload(ada, campaign)
    address = f"/campaigns/{campaign.code}/metrics"
    listed = ada.get(address).json()["items"]
    assert [one["name"] for one in listed] == ["TER", "X"]
    scores = ada.get(f"{address}/{listed[0]['code']}/scores").json()
    assert scores["count"] == 4
    assert scores["items"][0] == {"system": "system-a", "segment": "segment-1", "score": 0.5}


def test_baselines_are_computed_by_a_job(campaign):
    ada = caller("researcher", campaign)
    answer = ada.post(f"/campaigns/{campaign.code}/metrics/compute", {"names": ["WER", "WER"]})
    assert answer.status_code == 202
    assert Job.objects.get().arguments == {"names": ["WER"]}
    refused = ada.post(f"/campaigns/{campaign.code}/metrics/compute", {"names": ["COMET"]})
    assert refused.status_code == 422 and "WER" in json.dumps(refused.json())


def test_a_metric_of_another_campaign_does_not_exist(campaign):
    other = make_campaign()
    upload(caller("researcher", campaign), campaign)
    metric = Metric.objects.first()
    stranger = caller("researcher", other)
    answer = stranger.post(
        f"/campaigns/{other.code}/metrics/{metric.code}/direction", {"higher_is_better": True}
    )
    assert answer.status_code == 404
