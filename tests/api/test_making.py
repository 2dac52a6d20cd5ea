"""Campaigns over the API: created, changed, built, copied and estimated."""

import io
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import override_settings

from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job
from hits.campaigns import drafts
from hits.campaigns.building import build_hits
from hits.campaigns.demo import DEMO_FOLDER
from hits.models import AuditEntry, Campaign, CampaignDraft, Translation
from hits.rating.assignments import take_assignment
from tests.api.callers import caller
from tests.factories import make_campaign, make_hits, make_translations, make_worker

pytestmark = pytest.mark.django_db

BASICS = {"name": "News", "source_language": "de", "target_language": "en"}


@pytest.fixture(autouse=True)
def uploads_folder(tmp_path):
    with override_settings(UPLOADS_DIR=tmp_path / "uploads"):
        yield tmp_path / "uploads"


def text_file(name: str, *lines: str) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, "".join(f"{line}\n" for line in lines).encode())


def zipped() -> SimpleUploadedFile:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in DEMO_FOLDER.rglob("*.txt"):
            archive.write(path, f"campaign/{path.relative_to(DEMO_FOLDER)}")
    return SimpleUploadedFile("demo.zip", packed.getvalue())


def lines() -> dict[str, object]:
    return {
        "sources": text_file("any.txt", "eins", "zwei"),
        "references": text_file("other.txt", "one", "two"),
        "systems": [text_file("a.txt", "one.", "two."), text_file("b.txt", "1", "2")],
    }


class TestMaking:
    def test_a_zip_becomes_a_campaign(self, uploads_folder):
        fields = BASICS | {"package": zipped(), "hit_size": 40, "pay_per_hit": "1.50"}
        answer = caller("admin").upload("/campaigns", fields)
        assert answer.status_code == 201, answer.content
        assert (answer.json()["n_systems"], answer.json()["n_translations"]) == (4, 336)
        campaign = Campaign.objects.get()
        assert (campaign.hit_size, str(campaign.pay_per_hit), campaign.status) == (
            40,
            "1.50",
            "draft",
        )
        assert AuditEntry.objects.filter(action="campaign created", campaign=campaign).exists()
        assert not CampaignDraft.objects.exists() and list(uploads_folder.iterdir()) == []

    def test_text_files_become_a_campaign(self):
        answer = caller("admin").upload("/campaigns", BASICS | lines())
        assert answer.status_code == 201, answer.content
        assert set(Campaign.objects.get().systems.values_list("name", flat=True)) == {"a", "b"}

    def test_a_large_campaign_is_imported_by_a_job(self, monkeypatch):
        monkeypatch.setattr(drafts, "IMPORTED_AT_ONCE", 10)
        answer = caller("admin").upload("/campaigns", BASICS | lines())
        assert answer.status_code == 202 and not Campaign.objects.exists()
        job = run_job(Job.objects.get(code=answer.json()["code"]).pk)
        assert job.result["campaign"] == str(Campaign.objects.get().code)

    def test_bad_files_are_reported_and_nothing_is_stored(self, uploads_folder):
        short = lines() | {"systems": [text_file("a.txt", "one.")]}
        answer = caller("admin").upload("/campaigns", BASICS | short)
        assert answer.status_code == 422
        problem = answer.json()["problems"][0]
        assert problem["file"].endswith("a.txt") and problem["reason"]
        assert not Campaign.objects.exists() and not CampaignDraft.objects.exists()
        assert list(uploads_folder.iterdir()) == []

    @pytest.mark.parametrize(
        ("field", "value"),
        [("currency", "eu"), ("hit_size", 41), ("name", "a\tb"), ("source_language", "xx-yy")],
    )
    def test_bad_fields_are_reported_by_name(self, field, value):
        answer = caller("admin").upload("/campaigns", BASICS | lines() | {field: value})
        assert answer.status_code == 422
        assert field in answer.json()["problems"][0]["reason"]
        assert not Campaign.objects.exists()

    def test_missing_files_are_refused(self):
        answer = caller("admin").upload("/campaigns", BASICS)
        assert answer.status_code == 422 and "No files" in answer.json()["detail"]

    @pytest.mark.parametrize("role", ["researcher", "outsider"])
    def test_only_admins_of_the_platform_can_create_campaigns(self, role):
        assert caller(role).upload("/campaigns", BASICS | lines()).status_code == 403
        member = caller("admin", make_campaign())
        assert member.upload("/campaigns", BASICS | lines()).status_code == 403


class TestBuilding:
    def test_hits_are_built_by_a_job(self):
        campaign = make_campaign()
        make_translations(campaign)
        answer = caller("admin").post(f"/campaigns/{campaign.code}/hits")
        assert answer.status_code == 202
        assert run_job(Job.objects.get().pk).result["n_hits"] == campaign.hits.count() == 1

    def test_hits_can_be_rebuilt(self):
        campaign, admin = make_campaign(), caller("admin")
        make_translations(campaign)
        build_hits(campaign=campaign)
        before = campaign.hits.get().pk
        admin.post(f"/campaigns/{campaign.code}/hits", {"rebuild": True})
        assert run_job(Job.objects.get().pk).state == "done"
        assert campaign.hits.get().pk != before


class TestSettings:
    def test_editable_settings_are_listed_and_changed(self):
        campaign, admin = make_hits(), caller("admin")
        path = f"/campaigns/{campaign.code}/settings"
        assert "min_ratings" in admin.get(path).json()["editable"]
        answer = admin.send("patch", path, {"min_ratings": 3, "name": "Other", "currency": "eur"})
        assert answer.status_code == 200, answer.content
        campaign.refresh_from_db()
        assert (campaign.min_ratings, campaign.name, campaign.currency) == (3, "Other", "EUR")
        assert campaign.hits.get().places_left == 3
        assert answer.json()["seed"] == campaign.seed

    def test_a_spending_cap_can_be_removed(self):
        campaign = make_campaign(spending_cap=5)
        path = f"/campaigns/{campaign.code}/settings"
        answer = caller("admin").send("patch", path, {"spending_cap": None})
        assert answer.status_code == 200 and answer.json()["spending_cap"] is None

    def test_the_pay_cannot_change_once_a_worker_has_started(self):
        campaign = make_hits()
        take_assignment(campaign=campaign, worker=make_worker())
        path = f"/campaigns/{campaign.code}/settings"
        answer = caller("admin").send("patch", path, {"pay_per_hit": "0.10", "min_ratings": 3})
        assert answer.status_code == 409 and "no longer" in answer.json()["detail"]
        campaign.refresh_from_db()
        assert campaign.min_ratings == 15

    def test_a_duplicate_name_is_refused(self):
        make_campaign(name="Taken")
        path = f"/campaigns/{make_campaign().code}/settings"
        answer = caller("admin").send("patch", path, {"name": "Taken"})
        assert answer.status_code == 422 and "name" in answer.json()["detail"]

    def test_instructions_are_plain_text(self):
        campaign, admin = make_campaign(), caller("admin")
        path = f"/campaigns/{campaign.code}/instructions"
        answer = admin.send("put", path, {"instructions": "Read.\n\n- Rate."})
        assert answer.json()["instructions"] == "Read.\n\n- Rate."
        refused = admin.send("put", path, {"instructions": "Read.\x07"})
        assert refused.status_code == 422 and "Line 1" in refused.json()["detail"]


def test_a_copy_has_the_same_texts_and_another_seed():
    campaign, admin = make_hits(), caller("admin")
    path = f"/campaigns/{campaign.code}/duplicate"
    answer = admin.post(path, {"name": "Copy"})
    assert answer.status_code == 201 and answer.json()["n_translations"] == 28
    copy = Campaign.objects.get(name="Copy")
    assert copy.seed != campaign.seed and not copy.hits.exists()
    assert admin.post(path, {"name": "Copy"}).status_code == 422
    assert Translation.objects.count() == 56


def test_an_estimate_uses_the_campaigns_numbers_or_the_given_ones():
    campaign, admin = make_hits(min_ratings=2, pay_per_hit=2), caller("admin")
    path = f"/campaigns/{campaign.code}/estimate"
    usual = admin.get(path, passing=100, fee=0).json()
    assert (usual["n_assignments"], usual["total"]) == (2, "4.00")
    other = admin.get(path, passing=50, fee=10, pay=3, ratings=1).json()
    # One HIT, and half of the work passes: two assignments of 3, plus a tenth.
    assert (other["n_assignments"], other["to_workers"], other["total"]) == (2, "6.00", "6.60")
    assert admin.get(path, passing=0).status_code == 422
