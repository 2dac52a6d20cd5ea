"""From an experiment's outputs to a campaign in which people rate or rank them."""

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.urls import reverse

from analysis.experiments.ape_tables import NOTHING_DONE
from analysis.experiments.storing import run_stored, start_experiment
from analysis.models import Experiment
from hits.models import Campaign, CampaignDraft, SystemOutput
from tests.api.callers import caller
from tests.experiments import APE_TEXTS, ape_files, make_experiment
from tests.people import client_of, make_person
from tests.subprocesses import CHECKOUT

pytestmark = pytest.mark.django_db

FORM = {"name": "People judge APE", "source_language": "de", "task": "reference"}


def make_ape(owner: User | None = None, **texts: str) -> Experiment:
    experiment = start_experiment(
        kind="ape",
        name="APE",
        inputs=ape_files(**texts),
        given={"resamples": 10, "source_language": "de"},
        owner=owner or make_person("admin"),
    )
    run_stored(experiment)
    return experiment


def text_of(campaign: Campaign, system: str, segment: str) -> str:
    output = SystemOutput.objects.get(
        system__campaign=campaign, system__name=system, segment__name=segment
    )
    return str(output)


@pytest.mark.parametrize("task", ["reference", "source", "rank"])
def test_two_clicks_make_a_campaign_of_all_versions(task):
    experiment, client = make_ape(), client_of("admin")
    page = client.get(reverse("experiment", args=[experiment.code])).content.decode()
    assert 'name="source_language" value="de"' in page and 'value="APE"' in page
    address = reverse("experiment_campaign", args=[experiment.code])
    prepared = client.post(address, FORM | {"task": task})
    check = client.get(prepared.url).content.decode()
    assert "<strong>3 systems</strong>" in check and "12 segments" in check
    client.post(prepared.url)
    client.get(prepared.url)
    campaign = Campaign.objects.get(name="People judge APE")
    assert campaign.task == task and campaign.source_language == "de"
    assert [*campaign.systems.values_list("name", flat=True)] == [NOTHING_DONE, "careful", "eager"]
    first = campaign.segments.get(name="1")
    assert first.reference == APE_TEXTS["post_editions"].splitlines()[0]
    assert first.source == APE_TEXTS["sources"].splitlines()[0]
    assert text_of(campaign, "eager", "8") == "Please shut the door."
    assert text_of(campaign, NOTHING_DONE, "8") == "Please close the door."
    assert not CampaignDraft.objects.exists()


def test_sentences_that_were_left_out_are_not_rated_and_empty_outputs_are_missing():
    edits = APE_TEXTS["post_editions"].replace("Please close the door.", "")
    outputs = APE_TEXTS["eager"].replace("The train has a delay.", "")
    experiment = make_ape(post_editions=edits, outputs=outputs)
    client = client_of("admin")
    prepared = client.post(reverse("experiment_campaign", args=[experiment.code]), FORM)
    client.post(prepared.url)
    campaign = Campaign.objects.get(name="People judge APE")
    names = set(campaign.segments.values_list("name", flat=True))
    assert names == {str(number) for number in range(1, 13)} - {"8"}
    missing = SystemOutput.objects.filter(system__name="outputs", segment__name="4")
    assert not missing.filter(system__campaign=campaign).exists()


def test_without_sources_people_see_the_post_edition_alone():
    inputs = ape_files() | {"sources": []}
    experiment = start_experiment(
        kind="ape", name="APE", inputs=inputs, given={"resamples": 10}, owner=make_person("admin")
    )
    run_stored(experiment)
    client, address = client_of("admin"), reverse("experiment_campaign", args=[experiment.code])
    refused = client.post(address, FORM | {"task": "source"})
    assert refused.status_code == 422 and "source is not one of" in refused.content.decode()
    prepared = client.post(address, FORM | {"task": "rank"})
    client.post(prepared.url)
    assert Campaign.objects.get(name="People judge APE").shows == "reference"


def test_a_name_that_is_taken_is_refused_on_the_page():
    experiment, client = make_ape(), client_of("admin")
    address = reverse("experiment_campaign", args=[experiment.code])
    client.post(client.post(address, FORM).url)
    refused = client.post(address, FORM)
    assert refused.status_code == 422 and "already exists" in refused.content.decode()
    unknown = client.post(address, FORM | {"name": "Other", "source_language": "klingon"})
    assert unknown.status_code == 422 and "not a known language code" in unknown.content.decode()


def test_only_admins_create_campaigns_and_only_of_finished_outputs():
    ada = make_person("researcher")
    experiment, client = make_ape(owner=ada), client_of("researcher")
    assert (
        "Prepare campaign"
        not in client.get(reverse("experiment", args=[experiment.code])).content.decode()
    )
    address = reverse("experiment_campaign", args=[experiment.code])
    assert client.post(address, FORM).status_code == 403
    words = make_experiment(ada)
    admin = client_of("admin")
    assert (
        "Prepare campaign"
        not in admin.get(reverse("experiment", args=[words.code])).content.decode()
    )
    of_words = reverse("experiment_campaign", args=[words.code])
    assert admin.post(of_words, FORM).status_code == 404
    Experiment.objects.filter(pk=experiment.pk).update(result=None)
    assert admin.post(address, FORM).status_code == 404


def test_the_api_creates_the_same_campaign():
    experiment, admin = make_ape(), caller("admin")
    path = f"/experiments/{experiment.code}/campaign"
    assert caller("researcher").post(path, {"task": "rank"}).status_code == 403
    created = admin.post(path, {"task": "rank"})
    assert created.status_code == 201, created.content
    campaign = Campaign.objects.get()
    assert (campaign.name, campaign.source_language, campaign.task) == ("APE", "de", "rank")
    assert created.json()["code"] == str(campaign.code)
    again = admin.post(path, {"task": "rank"})
    assert again.status_code == 422 and "already exists" in again.content.decode()
    assert admin.post(path, {"task": "edit"}).status_code == 422


def test_the_command_writes_the_files_of_a_campaign(tmp_path):
    folder = Path(CHECKOUT) / "examples" / "ape"
    outputs = sorted(str(path) for path in (folder / "outputs").iterdir())
    before, edits = str(folder / "before.txt"), str(folder / "post-editions.txt")
    files = ("--before", before, "--post-editions", edits, "--outputs", *outputs)
    out = tmp_path / "report"
    call_command("experiment", "ape", *files, "--resamples", "10", "--out", str(out))
    languages = ("--source-language", "de", "--target-language", "en")
    call_command("import_campaign", str(out / "campaign"), "--name", "From files", *languages)
    campaign = Campaign.objects.get(name="From files")
    assert text_of(campaign, "careful", "2") == "She read the book yesterday."
