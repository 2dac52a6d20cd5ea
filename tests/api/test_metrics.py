"""Metric scores over the API: uploaded, confirmed and computed."""

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


def number_segments(campaign):
    for n in (1, 2):
        campaign.segments.filter(name=f"segment-{n}").update(name=str(n))


def upload(ada, campaign, text=SCORES, **fields):
    file = SimpleUploadedFile("scores.tsv", text.encode())
    return ada.client.post(f"/api/v1/campaigns/{campaign.code}/metrics", {"file": file, **fields})


def test_a_file_is_stored_with_the_given_directions(campaign):
    answer = upload(caller("researcher", campaign), campaign, lower=["TER"], higher=["X"])
    assert answer.status_code == 201
    ways = {metric["name"]: metric["higher_is_better"] for metric in answer.json()}
    assert ways == {"TER": False, "X": True}
    assert Metric.objects.get(name="TER").uploaded_by.username.startswith("researcher")


def test_a_direction_is_suggested_until_it_is_confirmed(campaign):
    ada = caller("researcher", campaign)
    metric = upload(ada, campaign).json()[0]
    assert (metric["higher_is_better"], metric["suggested"]) == (None, "lower")
    address = f"/campaigns/{campaign.code}/metrics/{metric['code']}/direction"
    answer = ada.post(address, {"higher_is_better": False}).json()
    assert (answer["higher_is_better"], answer["suggested"]) == (False, None)


def test_the_format_can_change_the_suggested_direction(campaign):
    text = "".join(f"system-{system}\t0.{n}\n" for system in "ab" for n in (1, 2))
    number_segments(campaign)
    (metric,) = upload(
        caller("researcher", campaign), campaign, text, format="mt-metrics-eval", name="TER"
    ).json()
    assert metric["suggested"] == "higher"


RANKED = "".join(f"qe\t{n}\t0.{n}\t{3 - n}\n" for n in (1, 2))


@pytest.mark.parametrize(
    ("fields", "names"), [({}, {"qe"}), ({"ranks": True}, {"qe", "qe (ranks)"})]
)
def test_rankings_are_left_out_by_default(fields, names):
    campaign = make_campaign()
    make_translations(campaign, n_segments=2, n_systems=1)
    number_segments(campaign)
    ada = caller("researcher", campaign)
    answer = upload(ada, campaign, RANKED, system="system-a", **fields)
    assert {metric["name"] for metric in answer.json()} == names


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
    assert [metric["name"] for metric in listed] == ["TER", "X"]
    scores = ada.get(f"{address}/{listed[0]['code']}/scores").json()
    assert scores["count"] == 4
    assert scores["items"][0] == {"system": "system-a", "segment": "segment-1", "score": 0.5}


def test_built_in_metrics_are_computed_by_a_job(campaign):
    ada = caller("researcher", campaign)
    answer = ada.post(f"/campaigns/{campaign.code}/metrics/compute", {"names": ["WER", "WER"]})
    assert answer.status_code == 202
    assert Job.objects.get().arguments == {"names": ["WER"]}
    body = {"names": ["TER-cased"], "tokenise": "none"}
    ada.post(f"/campaigns/{campaign.code}/metrics/compute", body)
    assert Job.objects.latest("pk").arguments == body
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


def test_post_editions_become_gold_that_an_evaluation_can_take(campaign):
    ada = caller("researcher", campaign)
    upload(ada, campaign, lower=["TER"], higher=["X"])
    lines = ["system\tsegment\tpost_edition"]
    lines += [
        f"system-{system}\tsegment-{segment}\ta better text {'and more ' * segment}"
        for segment in (1, 2)
        for system in "ab"
    ]
    file = SimpleUploadedFile("pe.tsv", "\n".join(lines).encode())
    path = f"/api/v1/campaigns/{campaign.code}/metrics/post-editions"
    answer = ada.client.post(path, {"file": file, "names": ["TER", "WER"]})
    assert answer.status_code == 201 and answer.json()["metrics"] == []
    assert [gold["name"] for gold in answer.json()["golds"]] == ["HTER", "HWER"]
    (hter, _) = ada.get(f"/campaigns/{campaign.code}/golds").json()["items"]
    assert (hter["kind"], hter["higher_is_better"], hter["n_scores"]) == ("hter", False, 4)
    body = {"golds": [{"upload": hter["code"]}]}
    answer = ada.post(f"/campaigns/{campaign.code}/evaluations", body)
    assert answer.status_code == 202
    assert Job.objects.get().arguments["golds"] == [{"upload": hter["code"]}]


def test_judgements_are_stored_once_and_taken_by_an_evaluation(campaign):
    ada = caller("researcher", campaign)
    upload(ada, campaign, lower=["TER"], higher=["X"])
    path = f"/api/v1/campaigns/{campaign.code}/judgements"
    content = b"segment\tbetter\tworse\nsegment-1\tsystem-a\tsystem-b\n"
    first, second = (
        ada.client.post(path, {"file": SimpleUploadedFile("people.tsv", content)}).json()
        for _ in range(2)
    )
    assert first == second and first["n_judgements"] == 1
    body = {"judgements": first["code"]}
    assert ada.post(f"/campaigns/{campaign.code}/evaluations", body).status_code == 202
    assert Job.objects.get().arguments["judgements"] == first["code"]
    unknown = SimpleUploadedFile("people.tsv", content.replace(b"-b", b"-c"))
    refused = ada.client.post(path, {"file": unknown})
    assert refused.status_code == 422 and "system-c" in refused.content.decode()
    assert ada.client.post(path, {"name": "x", "file": unknown}).status_code == 422
