"""Creating a campaign step by step."""

import io
import zipfile
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, override_settings
from django.urls import reverse

from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job, start_job
from hits.campaigns import drafts
from hits.models import AuditEntry, Campaign, CampaignDraft, Segment, Translation
from tests.people import client_of

pytestmark = pytest.mark.django_db

EXAMPLE = Path(django_settings.BASE_DIR) / "examples" / "demo-de-en" / "campaign"
BASICS = {"name": "News", "source_language": "de", "target_language": "en", "task": "reference"}
SETTINGS = {"hit_size": "40", "min_ratings": "3", "pay_per_hit": "1.50", "currency": "eur"}
SETTINGS |= {"lease_minutes": "60", "seed": ""}
SETTINGS |= {"degradation": "balanced", "trust_rule": "guarded", "drift": "count"}
SETTINGS |= {"max_hits_per_worker": "10"}


@pytest.fixture(autouse=True)
def _own_folder(tmp_path):
    with override_settings(UPLOADS_DIR=tmp_path / "uploads"):
        yield


@pytest.fixture
def client():
    return client_of("admin")


def step(name: str) -> str:
    return reverse(f"draft_{name}", args=[CampaignDraft.objects.get().code])


def text_file(name: str, *lines: str) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, "".join(f"{line}\n" for line in lines).encode())


def example_file(name: str) -> SimpleUploadedFile:
    return SimpleUploadedFile(Path(name).name, (EXAMPLE / name).read_bytes())


def example_files() -> dict[str, object]:
    names = sorted(path.name for path in (EXAMPLE / "systems").iterdir())
    systems = [example_file(f"systems/{name}") for name in names]
    texts = {name: example_file(f"{name}.txt") for name in ("sources", "references")}
    return {**texts, "systems": systems}


def send_all(client: Client, files: dict[str, object]) -> None:
    assert client.post(reverse("new_campaign"), BASICS).status_code == 302
    assert client.post(step("files"), files).url == step("settings")
    assert client.post(step("settings"), SETTINGS).url == step("check")


def test_text_files_become_a_campaign(client):
    send_all(client, example_files())
    page = client.get(step("check")).content.decode()
    assert "alder, birch, cedar, dogwood" in page and "84 segments" in page
    assert not Campaign.objects.exists()
    client.post(step("check"))
    redirect = client.get(step("check"))
    campaign = Campaign.objects.get()
    assert redirect.url == reverse("campaign_overview", args=[campaign.code])
    assert (campaign.currency, campaign.status, campaign.hit_size) == ("EUR", "draft", 40)
    assert campaign.systems.count() == 4 and Segment.objects.count() == 84
    assert AuditEntry.objects.get().action == "campaign created"
    assert not CampaignDraft.objects.exists()
    assert list(Path(django_settings.UPLOADS_DIR).iterdir()) == []


def test_a_zip_of_the_folder_becomes_the_same_campaign(client):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in EXAMPLE.rglob("*.txt"):
            archive.write(path, f"campaign/{path.relative_to(EXAMPLE)}")
    send_all(client, {"package": SimpleUploadedFile("demo.zip", packed.getvalue())})
    client.post(step("check"))
    assert Translation.objects.filter(segment__campaign__name="News").count() == 336


def test_a_double_click_makes_one_campaign(client):
    send_all(client, example_files())
    url = step("check")
    client.post(url)
    assert client.post(url).status_code == 302
    assert Campaign.objects.count() == 1


def test_problems_are_listed_by_file_and_line_and_nothing_is_stored(client):
    client.post(reverse("new_campaign"), BASICS)
    files = {
        "references": text_file("r.txt", "one", "two"),
        "systems": [text_file("A.txt", "eins", ""), text_file("B.txt", "eins")],
    }
    page = client.post(step("files"), files)
    text = " ".join(page.content.decode().split())
    assert page.status_code == 422
    assert 'class="mono">systems/A.txt</td><td data-label="Line" class="number">2</td>' in text
    assert "systems/B.txt" in text
    assert not Campaign.objects.exists()


def test_a_file_name_is_shown_as_text(client):
    client.post(reverse("new_campaign"), BASICS)
    files = {"references": text_file("r.txt", "one"), "systems": [text_file("<b>x.txt", "")]}
    page = client.post(step("files"), files).content.decode()
    assert "&lt;b&gt;x" in page and "<b>x" not in page


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": ""}, "This field is required."),
        ({"source_language": "xx-nope"}, "is not a known language code"),
        ({"task": "guess"}, "Select a valid choice"),
        ({"name": "a\u202eb"}, "This name"),
    ],
)
def test_the_first_step_names_invalid_values(client, change, message):
    page = client.post(reverse("new_campaign"), BASICS | change)
    assert page.status_code == 422 and message in page.content.decode()
    assert not CampaignDraft.objects.exists()


def test_settings_are_checked(client):
    client.post(reverse("new_campaign"), BASICS)
    client.post(step("files"), example_files())
    page = client.post(step("settings"), SETTINGS | {"hit_size": "50", "currency": "€"})
    assert page.status_code == 422
    assert "Enter three letters" in page.content.decode()


def test_a_package_and_text_files_together_are_refused(client):
    client.post(reverse("new_campaign"), BASICS)
    files = example_files() | {"package": text_file("a.tsv", "x")}
    assert "not both" in client.post(step("files"), files).content.decode()


def test_a_large_upload_is_imported_by_one_job(client, monkeypatch):
    monkeypatch.setattr(drafts, "IMPORTED_AT_ONCE", 10)
    send_all(client, example_files())
    url = step("check")
    client.post(url)
    client.post(url)
    job = Job.objects.get()
    assert (job.kind, job.state) == ("import_campaign", "queued")
    assert reverse("job_progress", args=[job.code]) in client.get(url).content.decode()
    run_job(job.pk)
    campaign = Campaign.objects.get()
    assert client.get(url).url == reverse("campaign_overview", args=[campaign.code])
    assert AuditEntry.objects.get().actor == job.started_by


def test_if_the_job_refuses_the_files_the_same_page_says_why_and_mends_them(client, monkeypatch):
    monkeypatch.setattr(drafts, "IMPORTED_AT_ONCE", 10)
    monkeypatch.setattr(drafts, "CHECKED_AT_ONCE", 10)
    files = {
        "references": text_file("r.txt", *[f"one {number}" for number in range(27)]),
        # More problems of one kind than are listed, before one of another.
        "systems": [text_file("A.txt", *["eins\x7f"] * 25, "zwei", "")],
    }
    send_all(client, files)
    url = step("check")
    client.post(url)
    run_job(Job.objects.get().pk)
    page = client.get(url).content.decode()
    assert "systems/A.txt</td>" in page and "Showing the first 20 of 26." in page
    assert "--clean" not in page and "<pre>" not in page
    assert "empty translations (1)" in page and "repair_allow_empty_translations" in page
    job_page = client.get(reverse("job", args=[Job.objects.get().code])).content.decode()
    assert url in job_page and "… and 6 more" in job_page
    choices = {"clean": "on", "allow_empty_translations": "on"}
    assert client.post(step("mend"), choices).url == url
    run_job(Job.objects.latest("pk").pk)
    assert client.get(url).url == reverse(
        "campaign_overview", args=[Campaign.objects.get(import_report__n_mends=25).code]
    )


def test_a_refused_import_without_a_draft_is_mended_on_its_own_page(client, tmp_path):
    table = tmp_path / "table.tsv"
    rows = ["segment\tsystem\treference\ttranslation\tscore", "1\tA\tone\teins\x7f\t0.5"]
    table.write_bytes(b"\xef\xbb\xbf" + "\n".join([*rows, ""]).encode())
    arguments = BASICS | {"path": str(table)}
    job = run_job(start_job(kind="import_campaign", arguments=arguments).pk)
    page = client.get(reverse("job", args=[job.code])).content.decode()
    assert "Columns to ignore: score" in page and "Clean the texts" in page
    client.post(reverse("mend_job", args=[job.code]), {"fix": ["0", "1"]})
    again = run_job(Job.objects.latest("pk").pk)
    assert again.state == "done", again.error
    assert again.arguments == arguments | {"clean": True, "ignore_columns": ["score"]}


def test_a_draft_belongs_to_the_person_who_started_it(client):
    client.post(reverse("new_campaign"), BASICS)
    urls = [step(name) for name in ("basics", "files", "settings", "check")]
    discard = reverse("discard_draft", args=[CampaignDraft.objects.get().code])
    bob = client_of("admin")
    assert {bob.get(url).status_code for url in urls} == {404}
    assert bob.post(discard).status_code == 404
    client.post(discard)
    assert not CampaignDraft.objects.exists()


def test_a_step_cannot_be_skipped(client):
    client.post(reverse("new_campaign"), BASICS)
    assert client.get(step("settings")).url == step("files")
    assert client.get(step("check")).url == step("files")


def test_a_request_that_is_too_large_is_refused_before_it_is_read(client):
    client.post(reverse("new_campaign"), BASICS)
    with override_settings(MAX_REQUEST_BYTES=1_000, MAX_SMALL_REQUEST_BYTES=1_000):
        answer = client.post(step("files"), {"package": text_file("a.tsv", "x" * 2_000)})
    assert answer.status_code == 413
    assert CampaignDraft.objects.get().files == []
