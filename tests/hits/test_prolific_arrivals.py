"""Arriving from Prolific and returning: ids in the address, signed launches, completion codes."""

import base64
import hmac
import json
import time
from hashlib import sha256
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from hits.models import Assignment, Campaign, Participation, Submission, Worker
from hits.recruiting.providers import prolific_tokens
from tests.factories import make_hits
from tests.recruits import (
    CODES,
    begin,
    choose_prolific,
    follow,
    hand_in,
    make_prolific_campaign,
    send,
    take_hit,
    wrong_answer,
)
from tests.simulators.prolific import ProlificSimulator, Session, new_id, signing_key

pytestmark = pytest.mark.django_db

SIGNED = {"requires_token": True}


@pytest.fixture
def campaign(prolific: ProlificSimulator) -> Campaign:
    return make_prolific_campaign(prolific)


def study_of(campaign: Any) -> str:
    return campaign.recruitment.study


def join(prolific: ProlificSimulator, campaign: Any, participant: str | None = None) -> Session:
    return prolific.join(study_of(campaign), participant)


def exit_url(prolific: ProlificSimulator, code: str) -> str:
    return f"{prolific.url}/submissions/complete?cc={code}"


# Arriving ------------------------------------------------------------------------------------


def test_workers_arrive_rate_and_return_with_the_code(prolific, campaign):
    session = join(prolific, campaign)
    client, arrived = send(prolific, session)
    assert arrived.status_code == 303 and arrived.url == campaign.get_absolute_url()
    assignment = begin(client, campaign)
    assert assignment.worker.external_id == session.participant
    assert assignment.submission.reference == session.id
    done = hand_in(client, assignment)
    assert done.status_code == 303 and done.url == exit_url(prolific, CODES["completed_code"])
    assert httpx.get(done.url).status_code == 200 and prolific.completions == ["DONE1"]


def test_a_worker_can_continue_on_another_device(prolific, campaign):
    session = join(prolific, campaign)
    client, _ = send(prolific, session)
    assignment = begin(client, campaign)
    other_device, _ = send(prolific, session)
    assert "Welcome back" in other_device.get(campaign.get_absolute_url()).content.decode()
    assert hand_in(other_device, assignment).status_code == 303
    assert Worker.objects.count() == Submission.objects.count() == 1


def test_a_visit_is_for_one_hit(prolific):
    campaign = make_prolific_campaign(prolific, n_segments=28)
    client, _ = send(prolific, join(prolific, campaign))
    assignment = begin(client, campaign)
    hand_in(client, assignment)
    again = client.get(reverse("next_hit", args=[campaign.code]))
    assert again.url == reverse("done", args=[assignment.code])
    assert Assignment.objects.count() == 1


def test_a_stranger_without_ids_is_not_admitted(prolific, campaign, client):
    page = client.get(campaign.get_absolute_url()).content.decode()
    assert "by invitation" in page
    client.post(campaign.get_absolute_url())
    assert not Participation.objects.exists()


def test_other_parameters_are_not_an_arrival(prolific, campaign, client):
    assert client.get(campaign.get_absolute_url(), {"utm_source": "x"}).status_code == 200
    assert not Worker.objects.exists()


def test_a_session_belongs_to_its_first_participant(prolific, campaign):
    session = join(prolific, campaign)
    send(prolific, session)
    thief = Session(session.id, new_id(), session.study)
    _, answer = send(prolific, thief)
    assert answer.status_code == 404 and "not valid" in answer.content.decode()
    assert [worker.external_id for worker in Worker.objects.all()] == [session.participant]


def test_an_id_with_a_forged_session_is_refused(prolific, campaign):
    session = join(prolific, campaign)
    send(prolific, session)
    made_up = Session(new_id(), session.participant, session.study)
    client, answer = send(prolific, made_up)
    assert answer.status_code == 404
    assert "by invitation" in client.get(campaign.get_absolute_url()).content.decode()


@pytest.mark.parametrize("name", ["PROLIFIC_PID", "STUDY_ID", "SESSION_ID"])
@pytest.mark.parametrize("value", ["", "../x", "a" * 65, "Ω", "x y"])
def test_invalid_ids_are_refused(prolific, campaign, client, name, value):
    ids = prolific.ids_of(join(prolific, campaign)) | {name: value}
    assert client.get(campaign.get_absolute_url(), ids).status_code == 404
    assert not Worker.objects.exists()


def test_an_id_given_twice_is_refused(prolific, campaign, client):
    url = prolific.launch_url(join(prolific, campaign))
    assert follow(client, f"{url}&PROLIFIC_PID={new_id()}").status_code == 404


def test_a_link_for_another_study_is_refused(prolific, client):
    ours, other = make_prolific_campaign(prolific), make_prolific_campaign(prolific)
    ids = prolific.ids_of(join(prolific, other))
    assert client.get(ours.get_absolute_url(), ids).status_code == 404


def test_arrivals_without_a_study_are_refused(prolific, client):
    campaign = make_hits(is_open=False)
    choose_prolific(campaign)
    ids = {"PROLIFIC_PID": new_id(), "STUDY_ID": "", "SESSION_ID": new_id()}
    assert client.get(campaign.get_absolute_url(), ids).status_code == 404


# Signed launches -----------------------------------------------------------------------------


def test_a_signed_launch_is_marked_as_such(prolific):
    campaign = make_prolific_campaign(prolific, settings=SIGNED)
    _, answer = send(prolific, join(prolific, campaign))
    assert answer.status_code == 303
    assert Submission.objects.get().is_verified


def test_an_unsigned_launch_is_refused_where_signatures_are_required(prolific, client):
    campaign = make_prolific_campaign(prolific, settings=SIGNED)
    ids = prolific.ids_of(join(prolific, campaign))
    assert client.get(campaign.get_absolute_url(), ids).status_code == 404


def test_after_a_signed_launch_an_unsigned_one_is_refused(prolific, campaign, client):
    session = join(prolific, campaign)
    ids = prolific.ids_of(session)
    signed = ids | {"prolific_token": prolific.token(session)}
    assert Client().get(campaign.get_absolute_url(), signed).status_code == 303
    assert client.get(campaign.get_absolute_url(), ids).status_code == 404


def test_an_unsigned_launch_elsewhere_identifies_nobody_where_signatures_are_required(prolific):
    signed = make_prolific_campaign(prolific, settings=SIGNED)
    unsigned = make_prolific_campaign(prolific)
    session = join(prolific, signed)
    bob, _ = send(prolific, session)
    assignment = begin(bob, signed)
    made_up = Session("made-up", session.participant, study_of(unsigned))
    mallory, answer = send(prolific, made_up)
    assert answer.status_code == 303
    assert mallory.get(reverse("next_hit", args=[signed.code])).url == signed.get_absolute_url()
    assert mallory.get(reverse("rate", args=[assignment.code])).status_code == 404
    assert hand_in(bob, assignment).url == exit_url(prolific, CODES["completed_code"])


NOW = int(time.time())
FORGERIES: dict[str, dict[str, Any]] = {
    "expired": {"iat": NOW - 400, "exp": NOW - 280},
    "long-lived": {"iat": NOW - 400, "exp": NOW + 9_999},
    "no expiry": {"exp": None},
    "no time of issue": {"iat": None},
    "another issuer": {"iss": "https://prolific.example"},
    "another address": {"aud": "http://testserver/work/00000000-0000-0000-0000-000000000000/"},
    "another host": {"aud": "http://elsewhere/"},
    "another session": {"sub": "f" * 24},
    "no ids": {"prolific": None},
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_token_that_is_not_for_this_launch_is_refused(prolific, forgery):
    campaign = make_prolific_campaign(prolific, settings=SIGNED)
    session = join(prolific, campaign)
    claims = FORGERIES[forgery]
    if None in claims.values():
        payload = jwt.decode(prolific.token(session), options={"verify_signature": False})
        for name in claims:
            del payload[name]
        token = jwt.encode(payload, prolific.key, algorithm="RS256", headers={"kid": prolific.kid})
        ids = prolific.ids_of(session) | {"prolific_token": token}
        answer = Client().get(campaign.get_absolute_url(), ids)
    else:
        _, answer = send(prolific, session, **claims)
    assert answer.status_code == 404
    assert not Worker.objects.exists()


def test_an_expired_launch_says_what_to_do(prolific):
    campaign = make_prolific_campaign(prolific, settings=SIGNED)
    _, answer = send(prolific, join(prolific, campaign), **FORGERIES["expired"])
    assert "no longer valid" in answer.content.decode()


def test_a_token_of_another_study_is_refused(prolific, client):
    ours = make_prolific_campaign(prolific, settings=SIGNED)
    other = make_prolific_campaign(prolific, settings=SIGNED)
    session = join(prolific, other)
    # Genuine, but for another study.
    landing = f"http://testserver{ours.get_absolute_url()}"
    signed = {"prolific_token": prolific.token(session, aud=landing)}
    ids = prolific.ids_of(session) | signed
    assert client.get(ours.get_absolute_url(), ids).status_code == 404
    assert client.get(ours.get_absolute_url(), signed).status_code == 404


@pytest.mark.parametrize("name", ["PROLIFIC_PID", "SESSION_ID", "STUDY_ID"])
def test_ids_that_contradict_the_token_are_refused(prolific, client, name):
    campaign = make_prolific_campaign(prolific, settings=SIGNED)
    session = join(prolific, campaign)
    ids = prolific.ids_of(session) | {"prolific_token": prolific.token(session), name: new_id()}
    assert client.get(campaign.get_absolute_url(), ids).status_code == 404


def test_another_key_under_the_same_name_is_refused(prolific):
    campaign = make_prolific_campaign(prolific, settings=SIGNED)
    _, answer = send(prolific, join(prolific, campaign), key=signing_key("a forger's"))
    assert answer.status_code == 404


def test_a_token_without_a_signature_is_refused(prolific, client):
    campaign = make_prolific_campaign(prolific, settings=SIGNED)
    session = join(prolific, campaign)
    claims = jwt.decode(prolific.token(session), options={"verify_signature": False})
    token = jwt.encode(claims, None, algorithm="none", headers={"kid": prolific.kid})
    ids = prolific.ids_of(session) | {"prolific_token": token}
    assert client.get(campaign.get_absolute_url(), ids).status_code == 404


def test_the_public_key_is_not_accepted_as_a_symmetric_secret(prolific, client):
    campaign = make_prolific_campaign(prolific, settings=SIGNED)
    session = join(prolific, campaign)
    public = prolific.key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    header = {"alg": "HS256", "typ": "JWT", "kid": prolific.kid}
    _, claims, _ = prolific.token(session).split(".")
    # By hand, because PyJWT refuses to sign like this.
    signed = f"{unpadded(json.dumps(header).encode())}.{claims}"
    signature = unpadded(hmac.new(public, signed.encode(), sha256).digest())
    ids = prolific.ids_of(session) | {"prolific_token": f"{signed}.{signature}"}
    assert client.get(campaign.get_absolute_url(), ids).status_code == 404


def unpadded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def test_keys_are_fetched_once_and_again_when_they_change(prolific):
    campaign = make_prolific_campaign(prolific, settings=SIGNED, min_ratings=9)
    for _ in range(3):
        assert send(prolific, join(prolific, campaign))[1].status_code == 303
    fetched = [request for request in prolific.requests if "jwks" in request]
    assert len(fetched) == 1
    prolific.key, prolific.kid = signing_key("key-2"), "key-2"
    assert send(prolific, join(prolific, campaign))[1].status_code == 303


def test_unknown_key_names_do_not_cause_unlimited_key_requests(prolific):
    campaign = make_prolific_campaign(prolific, settings=SIGNED, min_ratings=9)
    send(prolific, join(prolific, campaign))
    for number in range(5):
        prolific.kid = f"unknown-{number}"
        token = prolific.token(session := join(prolific, campaign))
        real, prolific.kid = prolific.kid, "key-1"
        ids = prolific.ids_of(session) | {"prolific_token": token}
        assert Client().get(campaign.get_absolute_url(), ids).status_code == 404, real
    assert len([request for request in prolific.requests if "jwks" in request]) == 2


def test_unreachable_keys_give_a_temporary_error(prolific):
    campaign = make_prolific_campaign(prolific, settings=SIGNED)
    session = join(prolific, campaign)
    prolific.failing = 500
    client, answer = send(prolific, session)
    assert answer.status_code == 503 and "temporarily unavailable" in answer.content.decode()
    prolific.failing = None
    assert follow(client, prolific.launch_url(session)).status_code == 303


def test_tokens_are_valid_for_two_minutes():
    assert prolific_tokens.LIFETIME.total_seconds() == 120
    assert prolific_tokens.LEEWAY.total_seconds() <= 30


@pytest.fixture(autouse=True)
def _no_keys_left_over() -> None:
    cache.clear()


# Leaving -------------------------------------------------------------------------------------


def test_a_worker_who_declines_returns_with_the_no_consent_code(prolific, campaign):
    session = join(prolific, campaign)
    client, _ = send(prolific, session)
    page = client.get(campaign.get_absolute_url()).content.decode()
    assert (decline := reverse("decline", args=[campaign.code])) in page
    answer = client.get(decline)
    assert answer.status_code == 303
    assert answer.url == exit_url(prolific, CODES["no_consent_code"])
    assert not Participation.objects.exists()


def test_a_worker_who_fails_the_check_returns_with_the_screened_out_code(prolific, campaign):
    client, _ = send(prolific, join(prolific, campaign))
    client.post(campaign.get_absolute_url())
    check = reverse("check", args=[campaign.code])
    wrong = {"answer": wrong_answer(campaign)}
    # Prolific requires two tries.
    assert "NOTFIT" not in client.post(check, wrong).content.decode()
    page = client.post(check, wrong).content.decode()
    assert exit_url(prolific, CODES["screened_out_code"]) in page


def test_a_worker_who_finds_no_hit_can_return(prolific):
    campaign = make_prolific_campaign(prolific, min_ratings=2)
    for _ in range(2):
        begin(send(prolific, join(prolific, campaign))[0], campaign)
    prolific.studies[study_of(campaign)]["total_available_places"] += 1
    late, _ = send(prolific, join(prolific, campaign))
    page = take_hit(late, campaign).content.decode()
    assert "There are no more texts for you" in page
    assert exit_url(prolific, CODES["screened_out_code"]) in page


def test_without_the_automatic_return_a_link_with_the_code_is_shown(prolific):
    campaign = make_prolific_campaign(prolific, settings={"is_automatic": False})
    client, _ = send(prolific, join(prolific, campaign))
    page = hand_in(client, begin(client, campaign))
    assert page.status_code == 200
    assert f'href="{exit_url(prolific, "DONE1")}"' in page.content.decode()
    assert "Rate another" not in page.content.decode()
