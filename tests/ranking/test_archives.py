"""Finished rankings are read from WMT's files, and written in the same layouts."""

import gzip

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import reverse

from analysis.stats.judgements import complete_tasks, expand
from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job
from hits.archives import import_collection, rankings
from hits.exceptions import ImportRefused
from hits.models import Campaign, Rank, SystemOutput
from hits.ranking.arrays import load_rankings
from tests.api.callers import caller

pytestmark = pytest.mark.django_db

XML = """<?xml version="1.0"?>
<results>
<HIT hit-id="h1" source-language="deu" target-language="eng">
  <ranking-task id="7"><ranking-result user="alice" duration="00:00:12.5">
    <translation system="A,B" rank="1"/><translation system="C" rank="2"/><translation system="ref.1" rank="1"/>
  </ranking-result></ranking-task>
  <ranking-task id="8"><ranking-result user="alice" duration="00:00:02">
    <translation system="A" rank="-1"/><translation system="C" rank="-1"/>
  </ranking-result></ranking-task>
  <ranking-task id="9"><ranking-result user="alice" duration="00:00:02"></ranking-result></ranking-task>
</HIT>
<HIT hit-id="h2" source-language="ces" target-language="eng"/>
</results>
"""
PAIRS = """srclang,trglang,srcIndex,segmentId,judgeID,system1Id,system1rank,system2Id,system2rank,rankingID
deu,eng,7,7,judge1,A+B,1,C,2,1
deu,eng,7,7,judge1,A+B,1,D,1,1
deu,eng,7,7,judge1,C,2,D,1,1
"""
FIVE = """srclang,trglang,srcIndex,documentId,segmentId,judgeId,system1Number,system1Id,system2Number,system2Id,system1rank,system2rank
German,English,7,-1,7,judge1,1,A,2,B,1,2
"""


def imported(path, format, name="ranked"):
    return import_collection(
        paths=[path], format=format, name=name, source_language="de", target_language="en"
    )


def written(folder, name, text):
    path = folder / name
    path.write_text(text)
    return path


def n_judgements(campaign):
    return len(expand(complete_tasks(load_rankings(campaign))))


def test_appraise_xml_becomes_a_closed_campaign(tmp_path):
    path = tmp_path / "rankings.xml.gz"
    path.write_bytes(gzip.compress(XML.encode()))
    summary = imported(path, "appraise-rankings")
    assert (summary.n_systems, summary.n_hits, summary.n_trusted) == (3, 1, 1)
    assert summary.campaign.task == Campaign.Task.RANK
    assert "1 HITs with 3 ranking tasks, 1 of them without outputs" in summary.notes[0]
    assert n_judgements(summary.campaign) == 3
    assert Rank.objects.filter(rank=None, skip="other").count() == 2
    assert SystemOutput.objects.filter(segment__name="7").count() == 3


@pytest.mark.parametrize(("text", "expected"), [(PAIRS, 6), (FIVE, 1)])
def test_wmt_csv_of_pairs_or_of_several_systems_is_read(tmp_path, text, expected):
    summary = imported(written(tmp_path, "pairs.csv", text), "wmt-rankings")
    assert n_judgements(summary.campaign) == expected


@pytest.mark.parametrize(
    ("name", "format", "text", "complaint"),
    [
        ("a.xml", "appraise-rankings", "<results><HIT", "not XML"),
        ("a.xml", "appraise-rankings", XML.replace('rank="2"', 'rank="two"'), "not a whole number"),
        ("a.xml", "appraise-rankings", XML.replace('"C" rank="2"', '"A" rank="2"'), "twice"),
        ("a.xml", "appraise-rankings", "<results/>", "no rankings of these languages"),
        ("a.csv", "wmt-rankings", PAIRS.replace("judge1,C,2", "judge1,C,3"), "two ranks"),
        ("a.csv", "wmt-rankings", PAIRS.replace("segmentId", "segment"), "no column segmentId"),
        ("a.csv", "wmt-rankings", PAIRS.replace("D,1,1", "D,0,1"), "neither -1"),
    ],
)
def test_faulty_files_are_refused_and_nothing_is_stored(tmp_path, name, format, text, complaint):
    with pytest.raises(ImportRefused, match=complaint):
        imported(written(tmp_path, name, text), format)
    assert not Campaign.objects.exists()


@pytest.mark.parametrize(
    ("ending", "format"), [("csv", "wmt-rankings"), ("xml", "appraise-rankings")]
)
def test_what_is_exported_can_be_imported_again(tmp_path, ending, format):
    original = imported(written(tmp_path, "a.xml", XML), "appraise-rankings").campaign
    path = tmp_path / f"out.{ending}"
    call_command("export_rankings", original.name, str(path), verbosity=0)
    assert "alice" not in path.read_text()
    copy = imported(path, format, name="copy").campaign
    assert n_judgements(copy) == n_judgements(original) == 3


def upload(name, text):
    return SimpleUploadedFile(name, text.encode())


@pytest.fixture
def uploads(tmp_path, settings):
    settings.UPLOADS_DIR = tmp_path


def run_the_job():
    job = Job.objects.get(kind="import_collection")
    run_job(job.pk)
    job.refresh_from_db()
    return job


def test_a_collection_is_imported_from_the_page_by_a_job(admin_client, uploads):
    page = reverse("import_collection")
    assert "Appraise: rankings" in admin_client.get(page).text
    basics = {"name": "ranked", "source_language": "de", "target_language": "en"}
    sent = basics | {"format": "appraise-rankings", "trust": "evidence"}
    missing = admin_client.post(page, sent)
    assert missing.status_code == 422 and "required" in missing.text
    answer = admin_client.post(page, sent | {"collection": upload("a.xml", XML)})
    job = run_the_job()
    assert answer.url == reverse("job", args=[job.code])
    assert job.state == Job.State.DONE, job.error
    campaign = Campaign.objects.get(name="ranked")
    assert campaign.task == "rank" and n_judgements(campaign) == 3
    again = admin_client.post(page, sent | {"collection": upload("a.xml", XML)})
    assert again.status_code == 422 and "There is a campaign with this name." in again.text


def test_workers_can_be_named_in_a_file_and_bad_files_end_in_problems(admin_client, uploads):
    page = reverse("import_collection")
    sent = {
        "name": "ranked",
        "source_language": "de",
        "target_language": "en",
        "format": "wmt-rankings",
        "trust": "listed",
    }
    assert (
        "Choose this file"
        in admin_client.post(page, sent | {"collection": upload("a.csv", PAIRS)}).text
    )
    admin_client.post(
        page,
        sent | {"collection": upload("a.csv", PAIRS), "trusted": upload("who.txt", "judge1\n")},
    )
    assert run_the_job().state == Job.State.DONE
    assert Campaign.objects.get(name="ranked").participations.get().decision == "reinstated"
    Job.objects.all().delete()
    bad = upload("b.csv", PAIRS.replace(",2,1\n", ",x,1\n"))
    admin_client.post(page, sent | {"name": "bad", "trust": "all", "collection": bad})
    job = run_the_job()
    assert job.state == Job.State.FAILED and "whole number" in str(job.problems)


def test_a_collection_is_imported_and_written_by_the_api(uploads):
    api = caller("superuser")
    form = {
        "name": "ranked",
        "source_language": "de",
        "target_language": "en",
        "format": "wmt-rankings",
        "file": upload("a.csv", PAIRS),
    }
    answer = api.client.post("/api/v1/campaigns/archives", form)
    assert answer.status_code == 202, answer.text
    run_the_job()
    campaign = Campaign.objects.get(name="ranked")
    address = f"/api/v1/campaigns/{campaign.code}/judgements/rankings"
    written = b"".join(api.client.get(address).streaming_content).decode()
    assert written.splitlines()[0] == PAIRS.splitlines()[0] and "A+B,1" in written
    xml = b"".join(api.client.get(address, {"format": "xml"}).streaming_content)
    assert xml.count(b"<ranking-task") == 1
    unknown = api.client.post("/api/v1/campaigns/archives", form | {"colour": "red"})
    assert unknown.status_code == 422


def test_a_file_that_unpacks_to_too_much_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(rankings, "MAX_BYTES", 500)
    path = tmp_path / "rankings.xml.gz"
    path.write_bytes(gzip.compress(XML.encode()))
    with pytest.raises(ImportRefused, match="more than 500 bytes"):
        imported(path, "appraise-rankings")
