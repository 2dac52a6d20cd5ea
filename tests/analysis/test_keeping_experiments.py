"""Finished experiments: the whole report as a zip, all pictures in the API, renaming and deleting."""

import io
from zipfile import ZipFile

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from analysis.experiments.storing import run_stored, start_experiment
from analysis.models import Experiment, ExperimentFile
from da_platform.jobs.running import run_job
from hits.models import AuditEntry
from tests.api.callers import caller
from tests.experiments import APE_TEXTS, ape_files, make_experiment, raw
from tests.factories import make_campaign
from tests.people import client_of, make_person

pytestmark = pytest.mark.django_db


def contents(archive: bytes) -> dict[str, bytes]:
    with ZipFile(io.BytesIO(archive)) as found:
        return {name: found.read(name) for name in found.namelist()}


def test_page_and_api_give_the_folder_that_the_command_writes(tmp_path):
    stored = start_experiment(
        kind="ape",
        name="Two post-editors",
        inputs=ape_files(),
        given={"resamples": 20},
        owner=make_person("researcher"),
    )
    address = reverse("experiment_report", args=[stored.code])
    client, ada = client_of("researcher"), caller("researcher")
    assert client.get(address).status_code == 404
    run_stored(stored)
    page = client.get(reverse("experiment", args=[stored.code])).content.decode()
    assert f'href="{address}"' in page
    on_page = client.get(address)
    assert 'filename="two-post-editors.zip"' in on_page["Content-Disposition"]
    assert ada.get(f"/experiments/{stored.code}/report").content == on_page.content
    paths = {}
    for role, text in APE_TEXTS.items():
        paths[role] = tmp_path / f"{role}.txt"
        paths[role].write_text(text)
    files = [f"--{role.replace('_', '-')}={paths[role]}" for role in ("before", "post_editions", "sources")]  # fmt: skip
    outputs = ("--outputs", str(paths["careful"]), str(paths["eager"]))
    out = tmp_path / "report"
    call_command("experiment", "ape", *files, *outputs, "--resamples", "20", "--out", str(out))
    written = {
        str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()
    }
    assert contents(on_page.content) == written


def test_the_api_lists_the_pictures_of_every_pair():
    texts = "the old house is big\nshe read a book\n"
    names = ("a", "b", "c")
    ada = caller("researcher")
    stored = start_experiment(
        kind="systems",
        name="Three",
        inputs={
            "outputs": [
                raw(name, texts.replace("old", "new", place % 2)) for place, name in enumerate(names)
            ],
            "references": [raw("ref", texts)],
        },
        given={"resamples": 10, "metrics": "BLEU"},
        owner=make_person("researcher"),
    )  # fmt: skip
    run_stored(stored)
    listed = ada.get(f"/experiments/{stored.code}").json()["pictures"]
    # A heat map for each test, the best two systems, and all pairs, among which may be the best two.
    assert len(listed) == len(set(listed)) and len(listed) >= 3 + 3
    for name in listed:
        answer = ada.get(f"/experiments/{stored.code}/pictures/{name}", format="csv")
        assert answer.status_code == 200, name


def test_an_owner_renames_and_deletes_on_the_page():
    client, ada = Client(), make_person("researcher")
    client.force_login(ada)
    stored = make_experiment(ada)
    address = reverse("change_experiment", args=[stored.code])
    page = client.get(reverse("experiment", args=[stored.code])).content.decode()
    assert "Delete experiment" in page
    client.post(address, {"do": "rename", "name": "Our taggers"})
    stored.refresh_from_db()
    assert stored.name == "Our taggers"
    for name in ("", "x" * 101):
        answer = client.post(address, {"do": "rename", "name": name}, follow=True)
        assert "The name" in answer.content.decode()
    stored.refresh_from_db()
    assert stored.name == "Our taggers"
    refused = client.post(address, {"do": "delete"}, follow=True)
    assert "still running" in refused.content.decode()
    run_job(stored.job.pk)
    answer = client.post(address, {"do": "delete"}, follow=True)
    assert "Our taggers was deleted." in answer.content.decode()
    assert not Experiment.objects.exists() and not ExperimentFile.objects.exists()
    entry = AuditEntry.objects.get(action="experiment deleted")
    assert entry.details == {"kind": "words", "name": "Our taggers"}


def test_others_only_look_and_admins_may_do_the_same():
    stored = make_experiment(make_person("admin"))
    address, page = f"/experiments/{stored.code}", reverse("experiment", args=[stored.code])
    change = reverse("change_experiment", args=[stored.code])
    researcher = client_of("researcher")
    assert "Delete experiment" not in researcher.get(page).content.decode()
    assert researcher.post(change, {"do": "delete"}).status_code == 403
    ada = caller("researcher")
    assert ada.send("delete", address).status_code == 403
    assert ada.send("patch", address, {"name": "Mine"}).status_code == 403
    assert client_of("researcher", make_campaign()).post(change).status_code == 404
    root = caller("superuser")
    assert root.send("patch", address, {"name": "Taggers"}).json()["name"] == "Taggers"
    assert root.send("patch", address, {"name": ""}).status_code == 422
    assert root.send("delete", address).status_code == 409
    run_job(stored.job.pk)
    assert root.send("delete", address).json()["name"] == "Taggers"
    assert root.get(address).status_code == 404
