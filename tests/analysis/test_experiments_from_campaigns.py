"""Experiments whose files come from campaigns: what people concluded about systems, and post-editions."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone
from scipy.stats import mannwhitneyu

from analysis.experiments.base import ExperimentRefused, FilesOfExperimentRefused
from analysis.experiments.catalogue import KINDS
from analysis.experiments.from_campaigns import conclusions
from analysis.experiments.storing import run_stored, start_experiment
from analysis.metrics.catalogue import tokeniser_for, words_of
from analysis.models import Experiment, GoldScore
from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job
from hits.models import Campaign, SystemOutput
from tests.addresses import api_schema
from tests.api.callers import caller
from tests.evaluations import make_gold_run
from tests.experiments import raw
from tests.factories import make_campaign, make_translations
from tests.people import client_of, make_person

pytestmark = pytest.mark.django_db

REFERENCES = "the old house is on the hill\nshe read a book\nwe meet at noon\nit rains\n" * 5
POOR = "old house on hill\nshe reads book\nwe met in noon\nrain\n" * 5


def files():
    return {
        "outputs": [raw("system-a", REFERENCES), raw("system-b", POOR)],
        "references": [raw("ref", REFERENCES)],
    }


def start(kind="systems", *, inputs=None, campaigns=None, **given):
    experiment = start_experiment(
        kind=kind,
        name="From campaigns",
        inputs=files() if inputs is None else inputs,
        given={"resamples": 10, **given},
        owner=make_person("researcher"),
        campaigns=campaigns,
    )
    return run_stored(experiment)


def make_rated(shift: float, name: str) -> Campaign:
    """A campaign with gold, in which `system-a` is better by some standard deviations."""
    campaign = make_campaign(name=name)
    make_translations(campaign)
    run = make_gold_run(campaign)
    for score in GoldScore.objects.filter(run=run, translation__outputs__system__name="system-a"):
        GoldScore.objects.filter(pk=score.pk).update(z=score.z + shift)
    return campaign


def make_ranked(*clusters: int) -> Campaign:
    campaign = make_campaign(name="ranked", task="rank", hit_size=20)
    systems = [
        {"system": f"system-{letter}", "cluster": cluster}
        for letter, cluster in zip("ab", clusters, strict=True)
    ]
    Job.objects.create(
        campaign=campaign,
        kind="rank_judgements",
        state=Job.State.DONE,
        result={"systems": systems},
        finished_at=timezone.now(),
    )
    return campaign


# Conclusions ----------------------------------------------------------------------------------


def test_gold_gives_the_p_values_of_rank_sum_tests():
    campaign = make_rated(0.5, "rated")
    header, *rows = conclusions(campaign).content.decode().splitlines()
    assert header == "system\tother\tp"
    found = {tuple(row.split("\t")[:2]): float(row.split("\t")[2]) for row in rows}
    z = {
        name: list(
            GoldScore.objects.filter(translation__outputs__system__name=name).values_list(
                "z", flat=True
            )
        )
        for name in ("system-a", "system-b")
    }
    expected = mannwhitneyu(
        z["system-a"], z["system-b"], alternative="greater", method="asymptotic"
    )
    assert found["system-a", "system-b"] == pytest.approx(expected.pvalue)
    assert len(found) == 2


def test_people_decide_by_adequacy_and_otherwise_by_fluency():
    clear, unclear = make_rated(3, "clear"), make_rated(0, "unclear")
    backwards = make_rated(-3, "backwards")
    assert start(campaigns={"human_campaign": clear})["human"] == [[0, 1], [-1, 0]]
    assert start(campaigns={"human_campaign": unclear})["human"] == [[0, 0], [0, 0]]
    both = {"human_campaign": unclear, "fallback_campaign": backwards}
    result = start(campaigns=both)
    assert result["human"] == [[0, -1], [1, 0]]
    both = {"human_campaign": clear, "fallback_campaign": backwards}
    assert start(campaigns=both)["human"] == [[0, 1], [-1, 0]]
    # The stored file says where the conclusions came from.
    names = {each["role"]: each["name"] for each in result["inputs"]}
    assert names["human"] == "unclear gold 1.tsv"


def test_a_ranking_gives_its_clusters():
    assert start(campaigns={"human_campaign": make_ranked(1, 2)})["human"] == [[0, 1], [-1, 0]]


def test_campaigns_without_conclusions_are_refused():
    with pytest.raises(ExperimentRefused, match="has no gold yet"):
        start(campaigns={"human_campaign": make_campaign()})
    with pytest.raises(ExperimentRefused, match="has no ranking yet"):
        start(campaigns={"human_campaign": make_campaign(task="rank", hit_size=20)})
    with pytest.raises(ExperimentRefused, match="has no files for"):
        start(campaigns={"human_campaign": make_campaign(task="edit", hit_size=20)})
    with pytest.raises(ExperimentRefused, match="takes no edited_campaign"):
        start(campaigns={"edited_campaign": make_campaign(task="edit", hit_size=20)})
    rated = make_rated(1, "rated")
    doubled = files() | {"human": [raw("h.tsv", "system\tcluster\nsystem-a\t1\nsystem-b\t2\n")]}
    with pytest.raises(FilesOfExperimentRefused, match="is a second file for"):
        start(inputs=doubled, campaigns={"human_campaign": rated})


# Outputs --------------------------------------------------------------------------------------


def test_the_systems_of_a_campaign_are_tested_and_compared_with_its_own_conclusions():
    campaign = make_rated(3, "clear")
    for place, system in enumerate(campaign.systems.order_by("pk")):
        system.name = f"news.{'ab'[place]}.v1"
        system.save(update_fields=["name"])
    missing = SystemOutput.objects.filter(segment__campaign=campaign, segment__name="segment-3")
    missing.first().delete()
    campaigns = {"outputs_campaign": campaign, "human_campaign": campaign}
    result = start(inputs={}, campaigns=campaigns)
    assert result["systems"] == ["news.a.v1", "news.b.v1"]
    assert result["n_segments"] == 13 and result["human"] == [[0, 1], [-1, 0]]
    names = {each["role"]: each["name"] for each in result["inputs"]}
    assert names["references"] == "references of clear, without 1 segment.txt"
    assert names["sources"] == "sources of clear.txt"
    kept = campaign.segments.exclude(name="segment-3").order_by("position")
    lines = [raw(f"{system}.output", texts_of(kept, system)) for system in result["systems"]]
    references = "".join(f"{segment.reference}\n" for segment in kept)
    by_file = {"outputs": lines, "references": [raw("ref", references)]}
    assert start(inputs=by_file)["rows"] == result["rows"]


def texts_of(segments, system: str) -> str:
    return "".join(f"{segment.outputs.get(system__name=system)}\n" for segment in segments)


def test_a_campaign_without_references_gives_no_outputs():
    campaign = make_campaign(task="source")
    make_translations(campaign)
    campaign.segments.update(reference="")
    with pytest.raises(ExperimentRefused, match="has no segment with a reference"):
        start(inputs={}, campaigns={"outputs_campaign": campaign})
    with pytest.raises(FilesOfExperimentRefused, match="file is missing: outputs"):
        start(inputs={})


# Post-editions --------------------------------------------------------------------------------


@pytest.fixture
def edited(tmp_path) -> Campaign:
    """A campaign with post-editions of all outputs of two systems, but for one."""
    campaign = make_campaign(name="Edited", task="edit", hit_size=20)
    make_translations(campaign, n_segments=4)
    rows = [
        f"{output.system.name}\t{output.segment.name}\t{str(output).upper()}"
        for output in SystemOutput.objects.filter(system__campaign=campaign)
        if (output.system.name, output.segment.name) != ("system-a", "segment-2")
    ]
    table = tmp_path / "edits.tsv"
    table.write_text("\n".join(["system\tsegment\tpost_edition", *rows]) + "\n")
    call_command("import_post_editions", "Edited", str(table))
    return campaign


def outputs_of(campaign: Campaign, system: str) -> list[str]:
    outputs = SystemOutput.objects.filter(system__campaign=campaign, system__name=system)
    return [str(output) for output in outputs.order_by("segment__position")]


def test_post_editions_come_from_a_campaign_with_outputs_and_sources(edited):
    better = [text.upper() for text in outputs_of(edited, "system-a")]
    inputs = {"outputs": [raw("ape", "\n".join(better) + "\n")]}
    how = {"inputs": inputs, "campaigns": {"edited_campaign": edited}}
    result = start("ape", edited_system="system-a", **how)
    assert (result["n_segments"], result["n_left_out"]) == (3, 1)
    assert [row["number"] for row in result["sentences"]] == [1, 3, 4]
    assert result["changes"][0]["improved"] == 3
    assert result["sentences"][1]["source"].startswith("Quelle 3")
    ter = result["rows"][0]["estimates"]
    assert ter[0] > 0 and ter[1] == 0
    with pytest.raises(ExperimentRefused, match=r"\(edited_system\): system-a, system-b"):
        start("ape", **how)
    with pytest.raises(ExperimentRefused, match="has no post-editions by trusted editors"):
        empty = make_campaign(task="edit", hit_size=20)
        start("ape", inputs=inputs, campaigns={"edited_campaign": empty})


def test_word_tags_come_from_post_editions_of_a_campaign(edited, tmp_path):
    words = words_of(tokeniser_for("en"))
    lines = [" ".join(words(text)) for text in outputs_of(edited, "system-a")]
    # The output without a post-edition is tagged, too, and left out.
    tags = "".join(f"{' '.join('BAD' for _ in line.split())}\n" for line in lines)
    inputs = {"submissions": [raw("all.tags", tags)]}
    how = {"inputs": inputs, "campaigns": {"edited_campaign": edited}}
    result = start("words", edited_system="system-a", **how)
    assert (result["n_sentences"], result["n_left_out"]) == (3, 1)
    assert [row["number"] for row in result["sentences"]] == [0, 2, 3]
    assert [" ".join(row["words"]) for row in result["sentences"]] == [
        line for number, line in enumerate(lines) if number != 1
    ]
    assert result["sentences"][1]["source"].startswith("Quelle 3")
    assert 0.5 < result["share_bad"] < 1
    ignoring = start("words", edited_system="system-a", ignore_case=True, **how)
    assert ignoring["share_bad"] == 0
    (tmp_path / "all.tags").write_text(tags)
    arguments = ("--submissions", str(tmp_path / "all.tags"), "--resamples", "10")
    chosen = ("--edited-campaign", "Edited", "--edited-system", "system-a")
    call_command("experiment", "words", *arguments, *chosen, "--out", str(tmp_path / "report"))
    by_command = json.loads((tmp_path / "report" / "result.json").read_text())
    assert by_command["rows"] == result["rows"]
    sent = {"submissions": SimpleUploadedFile("all.tags", tags.encode()), "name": "Tags"}
    options = '{"resamples": 10, "edited_system": "system-a"}'
    sent |= {"kind": "words", "options": options, "edited_campaign": str(edited.code)}
    answer = caller("researcher").upload("/experiments", sent)
    assert answer.status_code == 202, answer.content
    assert run_stored(Experiment.objects.get(code=answer.json()["code"]))["rows"] == result["rows"]
    page = client_of("researcher").get(reverse("new_experiment", args=["words"]))
    assert f'value="{edited.code}"' in page.content.decode()
    with pytest.raises(FilesOfExperimentRefused, match="give the gold as tags, as post-editions"):
        start("words", edited_system="system-a", **how | {"inputs": inputs | {"gold": inputs["submissions"]}})  # fmt: skip


# Everywhere -----------------------------------------------------------------------------------


def test_page_api_and_command_take_campaigns(tmp_path):
    campaign = make_rated(3, "clear")
    upload = SimpleUploadedFile
    sent = {
        "name": "News",
        "outputs": [upload("system-a", REFERENCES.encode()), upload("system-b", POOR.encode())],
        "references": upload("ref", REFERENCES.encode()),
        "human_campaign": str(campaign.code),
    }
    client = client_of("researcher")
    options = {f"option_{each.name}": each.default for each in KINDS["systems"].options}
    page = client.post(
        reverse("new_experiment", args=["systems"]), sent | options | {"option_resamples": 10}
    )
    assert page.status_code == 302, page.content
    on_page = Experiment.objects.get()
    run_job(on_page.job.pk)
    on_page.refresh_from_db()
    for file in (*sent["outputs"], sent["references"]):
        file.seek(0)
    ada = caller("researcher")
    answer = ada.upload("/experiments", sent | {"kind": "systems", "options": '{"resamples": 10}'})
    assert answer.status_code == 202, answer.content
    by_api = Experiment.objects.get(code=answer.json()["code"])
    run_job(by_api.job.pk)
    by_api.refresh_from_db()
    paths = {}
    for name, text in (("system-a", REFERENCES), ("system-b", POOR), ("ref", REFERENCES)):
        paths[name] = tmp_path / name
        paths[name].write_text(text)
    out = tmp_path / "report"
    arguments = ("--outputs", str(paths["system-a"]), str(paths["system-b"]), "--resamples", "10")
    how = ("--references", str(paths["ref"]), "--human-campaign", "clear", "--out", str(out))
    call_command("experiment", "systems", *arguments, *how)
    by_command = json.loads((out / "result.json").read_text())
    assert by_command["human"] == on_page.result["human"] == [[0, 1], [-1, 0]]
    assert by_command["agreement"] == on_page.result["agreement"] == by_api.result["agreement"]
    with pytest.raises(CommandError, match="unclear"):
        unknown = (*how[:3], "unclear", "--out", str(tmp_path / "new"))
        call_command("experiment", "systems", *arguments, *unknown)


def test_nobody_reads_a_campaign_that_they_may_not_see():
    secret, own = make_rated(1, "secret"), make_campaign(name="own")
    sent = {
        "name": "News",
        "kind": "systems",
        "outputs": SimpleUploadedFile("a", b"one\n"),
        "references": SimpleUploadedFile("ref", b"one\n"),
        "human_campaign": str(secret.code),
    }
    member = caller("researcher", own)
    assert member.upload("/experiments", sent).status_code == 404
    client = client_of("researcher", own)
    address = reverse("new_experiment", args=["systems"])
    assert "secret" not in client.get(address).content.decode()
    refused = client.post(address, sent)
    assert refused.status_code == 422 and not Experiment.objects.exists()


def test_the_api_has_a_field_for_every_file_and_campaign_of_every_kind():
    body = api_schema()["paths"]["/api/v1/experiments"]["post"]["requestBody"]
    fields = json.dumps(body) + json.dumps(api_schema()["components"])
    for kind in KINDS.values():
        for role in (*kind.roles, *kind.campaigns):
            assert f'"{role.name}"' in fields, f"{kind.name}: {role.name}"
