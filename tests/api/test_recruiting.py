"""Recruiting over the API: settings, links and the study."""

import pytest
from django.test import Client

from da_platform.jobs.models import Job
from hits.models import Invite, Recruitment, Submission
from tests.api.callers import caller
from tests.factories import make_campaign, make_hits, make_worker
from tests.recruits import CODES

pytestmark = pytest.mark.django_db

PROLIFIC = {"title": "Rate", "description": "Rate translations.", "minutes": 20} | CODES


def test_settings_are_read_and_saved():
    campaign, admin = make_campaign(), caller("admin")
    path = f"/campaigns/{campaign.code}/recruiting"
    assert admin.get(path).json()["is_open"] is True
    answer = admin.send("put", path, {"provider": "prolific", "values": PROLIFIC})
    assert answer.status_code == 200, answer.content
    assert answer.json()["settings"]["completed_code"] == "DONE1"
    assert answer.json()["landing_url"].endswith(campaign.get_absolute_url())
    assert Recruitment.objects.get().provider == "prolific"


def test_a_campaign_without_settings_recruits_by_links():
    campaign = make_campaign(is_open=False)
    recruiting = caller("admin").get(f"/campaigns/{campaign.code}/recruiting").json()
    assert (recruiting["provider"], recruiting["is_open"], recruiting["n_places_wanted"]) == (
        "link",
        False,
        0,
    )


def test_bad_values_are_reported_by_name():
    campaign, admin = make_campaign(), caller("admin")
    path = f"/campaigns/{campaign.code}/recruiting"
    answer = admin.send("put", path, {"provider": "prolific", "values": {"minutes": 0}})
    assert answer.status_code == 422
    assert any("minutes" in problem["reason"] for problem in answer.json()["problems"])
    assert Recruitment.objects.get().provider == "link"


def test_the_provider_cannot_change_after_the_first_submission():
    campaign = make_campaign()
    Submission.objects.create(
        recruitment=campaign.recruitment, worker=make_worker(), reference="visit"
    )
    path = f"/campaigns/{campaign.code}/recruiting"
    settings = {"provider": "prolific", "values": PROLIFIC}
    assert caller("admin").send("put", path, settings).status_code == 409


class TestLinks:
    def test_links_are_shown_once_and_let_people_in(self):
        campaign, admin = make_hits(is_open=False), caller("admin")
        path = f"/campaigns/{campaign.code}/invites"
        created = admin.post(path, {"n": 2, "label": "group", "days": 3})
        assert created.status_code == 201
        links = created.json()
        assert [link["label"] for link in links] == ["group 1", "group 2"]
        assert Client().get(links[0]["url"]).status_code == 302
        listed = admin.get(path)
        assert listed.json()["count"] == 2
        assert links[0]["url"].rsplit("/", 2)[1] not in listed.content.decode()

    def test_one_link_or_all_can_be_revoked(self):
        campaign, admin = make_hits(is_open=False), caller("admin")
        path = f"/campaigns/{campaign.code}/invites"
        links = admin.post(path, {"n": 3}).json()
        assert admin.post(f"{path}/revoke", {"ids": [links[0]["id"]]}).json() == {"n_revoked": 1}
        assert admin.post(f"{path}/revoke", {}).json() == {"n_revoked": 0}
        assert admin.post(f"{path}/revoke", {"everything": True}).json() == {"n_revoked": 2}
        assert not Invite.objects.usable().exists()

    def test_links_of_another_campaign_are_not_revoked(self):
        campaign, other, admin = make_campaign(), make_campaign(), caller("admin")
        link = admin.post(f"/campaigns/{other.code}/invites").json()[0]
        answer = admin.post(f"/campaigns/{campaign.code}/invites/revoke", {"ids": [link["id"]]})
        assert answer.json() == {"n_revoked": 0} and Invite.objects.usable().exists()

    def test_too_many_links_are_refused(self):
        path = f"/campaigns/{make_campaign().code}/invites"
        assert caller("admin").post(path, {"n": 5_001}).status_code == 422
        assert not Invite.objects.exists()


class TestStudy:
    def test_a_study_is_created_and_published(self, prolific):
        campaign, admin = make_hits(is_open=False, pay_per_hit="2.50"), caller("admin")
        base = f"/campaigns/{campaign.code}"
        settings = {"provider": "prolific", "values": PROLIFIC | {"is_automatic": True}}
        admin.send("put", f"{base}/recruiting", settings)
        created = admin.post(f"{base}/study")
        assert created.status_code == 201, created.content
        assert created.json()["study"] and created.json()["n_places"] == 15
        assert admin.post(f"{base}/study").status_code == 409
        published = admin.post(f"{base}/study/publish").json()
        assert (
            published["study"] == created.json()["study"] and published["status"] != "UNPUBLISHED"
        )

    def test_a_study_needs_prolific(self):
        path = f"/campaigns/{make_hits().code}/study"
        answer = caller("admin").post(path)
        assert answer.status_code == 409 and "Prolific" in answer.json()["detail"]

    @pytest.mark.parametrize(
        ("path", "kind"), [("sync", "sync_submissions"), ("places", "raise_places")]
    )
    def test_submissions_and_places_are_updated_by_a_job(self, path, kind):
        campaign = make_hits()
        answer = caller("admin").post(f"/campaigns/{campaign.code}/study/{path}")
        assert answer.status_code == 202 and Job.objects.get().kind == kind


def test_the_list_of_submissions_needs_the_same_number_of_queries_at_any_length(
    django_assert_num_queries,
):
    campaign, admin = make_campaign(), caller("admin")
    for number in range(3):
        Submission.objects.create(
            recruitment=campaign.recruitment, worker=make_worker(), reference=f"visit{number}"
        )
    path = f"/campaigns/{campaign.code}/submissions"
    admin.get(path)
    for limit in (1, 3):
        with django_assert_num_queries(6):
            assert len(admin.get(path, limit=limit).json()["items"]) == limit


def test_a_token_with_the_run_scope_does_not_see_workers():
    campaign = make_campaign()
    runner = caller("admin", scopes=("run",))
    assert runner.get(f"/campaigns/{campaign.code}/recruiting").status_code == 200
    assert runner.get(f"/campaigns/{campaign.code}/submissions").status_code == 403
    assert runner.get(f"/campaigns/{campaign.code}/devices").status_code == 403
