"""Outputs rated against references of their own: the new campaign, and its gold next to that of the first."""

import csv
import io
from decimal import Decimal

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from analysis.evaluation.stored_evaluations import (
    GoldChoice,
    UploadChoice,
    evaluate_campaign,
    result_of,
)
from analysis.models import GoldUpload
from analysis.post_editions.importing import import_post_editions
from analysis.post_editions.own_references import bring_back_gold
from analysis.scores.score_tables import segment_of_output
from analysis.scores.storing import campaign_keys
from analysis.stats.roles import SCORED_ROLES
from hits.campaigns.building import build_hits
from hits.campaigns.editing import duplicate_campaign
from hits.models import AuditEntry, Campaign, Item, Participation, SystemOutput
from hits.post_editing.checking import check_post_editions
from tests.api.callers import caller
from tests.evaluations import make_gold_run, make_scored_campaign
from tests.factories import make_worker
from tests.people import client_of, make_person
from tests.scored_hits import do_hit

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    return make_scored_campaign(name="generic")


@pytest.fixture
def references(campaign, tmp_path):
    rng = np.random.default_rng(1)
    lines = ["system\tsegment\tpost_edition"]
    for key in campaign_keys(campaign, "segment"):
        lines.append("\t".join([*key, " ".join(rng.choice(list("abcdefgh"), 7))]))
    path = tmp_path / "edits.tsv"
    path.write_text("\n".join(lines) + "\n")
    return path


def make(references):
    call_command("rate_against", "generic", "--name", "own", "--references", str(references))
    return Campaign.objects.get(name="own")


def test_each_output_is_rated_against_its_own_reference(campaign, references, capsys):
    rated = make(references)
    assert "28 outputs, each with its own reference" in capsys.readouterr().out
    texts = {
        tuple(line.split("\t")[:2]): line.split("\t")[2]
        for line in references.read_text().splitlines()[1:]
    }
    for output in SystemOutput.objects.filter(system__campaign=campaign):
        key = output.system.name, output.segment.name
        segment = rated.segments.get(name=segment_of_output(key))
        assert segment.reference == texts[key] and segment.source == output.segment.source
        (rated_output,) = segment.outputs.all()
        assert (rated_output.system.name, str(rated_output)) == (key[0], str(output))


def test_its_gold_is_evaluated_next_to_that_of_the_first_campaign(campaign, references, capsys):
    rated = make(references)
    with pytest.raises(CommandError, match="own has no gold yet"):
        call_command("rate_against", "generic", "--name", "own", "--gold")
    make_gold_run(rated)
    call_command("rate_against", "generic", "--name", "own", "--gold")
    gold = GoldUpload.objects.get()
    assert gold.name == "own gold 1 (z)" and gold.n_scores == 28
    evaluation = evaluate_campaign(
        campaign=campaign, golds=[UploadChoice(str(gold.code)), GoldChoice(1)]
    )
    (pair,) = (p for p in result_of(evaluation).comparisons if p.level == "segment")
    assert pair.contrast is not None and pair.contrast.n == 28
    assert (pair.contrast.first, pair.contrast.second) == ("own gold 1 (z)", "gold 1")


def test_gold_of_an_unrelated_campaign_is_refused(campaign):
    other = make_scored_campaign(name="unrelated")
    with pytest.raises(Exception, match="unrelated was not made from it"):
        bring_back_gold(run=other.gold_runs.get(), campaign=campaign)


def test_several_references_for_one_output_are_refused(campaign, references):
    lines = references.read_text().splitlines()
    several = [f"{lines[0]}\teditor", f"{lines[1]}\talice", f"{lines[1]}\tbob"]
    references.write_text("\n".join(several) + "\n")
    with pytest.raises(CommandError, match="several references for one output"):
        make(references)
    assert not Campaign.objects.filter(name="own").exists()


def edited_copy(campaign, references, shows="source"):
    """The same outputs in a campaign for post-editing, with post-editions of all."""
    copy = duplicate_campaign(campaign=campaign, name="edited", actor=make_person("superuser"))
    copy.task, copy.hit_size, copy.shows = "edit", 20, shows
    copy.save(update_fields=["task", "hit_size", "shows"])
    import_post_editions(campaign=copy, source=references)
    return copy


def references_of(rated):
    return dict(rated.segments.values_list("name", "reference"))


def test_post_editions_of_another_campaign_serve_as_references(campaign, references):
    edited_copy(campaign, references)
    call_command("rate_against", "generic", "--name", "own", "--post-editions-of", "edited")
    make_again = campaign.name, "--name", "from file", "--references", str(references)
    call_command("rate_against", *make_again)
    by_campaign, by_file = (
        references_of(Campaign.objects.get(name=name)) for name in ("own", "from file")
    )
    assert by_campaign == by_file and len(by_file) == 28
    with pytest.raises(CommandError, match="no post-editions by trusted editors"):
        call_command("rate_against", "generic", "--name", "x", "--post-editions-of", "own")


def test_a_table_of_outputs_with_a_column_of_references_will_do(campaign, tmp_path):
    lines = ["system\tsegment\ttranslation\treference"]
    lines += [
        "\t".join([*key, "what the system wrote", f"reference of {key[0]}"])
        for key in campaign_keys(campaign, "segment")
    ]
    path = tmp_path / "outputs.tsv"
    path.write_text("\n".join(lines) + "\n")
    rated = make(path)
    for key in campaign_keys(campaign, "segment"):
        assert references_of(rated)[segment_of_output(key)] == f"reference of {key[0]}"


def test_the_page_creates_the_campaign_and_brings_its_gold_back(campaign, references):
    copy = edited_copy(campaign, references)
    client, url = client_of("superuser"), reverse("own_references", args=[campaign.code])
    assert str(copy.code) in client.get(url).content.decode()
    nothing = client.post(url, {"own-name": "own"})
    assert nothing.status_code == 422 and "Give either a file or a campaign" in (
        nothing.content.decode()
    )
    sent = {"own-name": "own", "own-post_editions_of": copy.code}
    answer = client.post(url, sent, follow=True)
    assert "28 outputs, each with its own reference" in answer.content.decode()
    rated = Campaign.objects.get(name="own")
    assert AuditEntry.objects.filter(campaign=rated, action="campaign created").exists()
    taken = client.post(url, sent)
    assert taken.status_code == 422 and "already exists" in taken.content.decode()
    make_gold_run(rated)
    gold_url = reverse("bring_back_gold", args=[campaign.code])
    assert client.post(gold_url, {"back-rated": copy.code}).status_code == 422
    client.post(gold_url, {"back-rated": rated.code})
    assert GoldUpload.objects.get(campaign=campaign).name == "own gold 1 (z)"


def test_the_api_creates_the_campaign_and_brings_its_gold_back(campaign, references):
    ada = caller("superuser", campaign)
    path = f"/api/v1/campaigns/{campaign.code}/own-references"
    file = SimpleUploadedFile("edits.tsv", references.read_bytes())
    answer = ada.client.post(path, {"file": file, "name": "own"})
    assert (answer.status_code, answer.json()["n_outputs"]) == (201, 28)
    rated = Campaign.objects.get(code=answer.json()["code"])
    body = {"rated": str(rated.code)}
    early = ada.post(f"/campaigns/{campaign.code}/own-references/gold", body)
    assert early.status_code == 409 and "has no gold yet" in early.json()["detail"]
    make_gold_run(rated)
    gold = ada.post(f"/campaigns/{campaign.code}/own-references/gold", body)
    assert (gold.status_code, gold.json()["n_scores"]) == (201, 28)
    neither = ada.client.post(path, {"name": "other"})
    assert neither.status_code == 409 and "Give either" in neither.json()["detail"]


def test_post_editions_made_from_the_reference_are_refused_unless_asked_for(campaign, references):
    edited_copy(campaign, references, shows="both")
    chosen = ["generic", "--name", "own", "--post-editions-of", "edited"]
    with pytest.raises(CommandError, match="editors of edited saw the reference"):
        call_command("rate_against", *chosen)
    call_command("rate_against", *chosen, "--even-from-reference")
    assert Campaign.objects.get(name="own").segments.count() == 28


def test_a_check_that_shows_the_reference_is_refused_too(campaign, references):
    copy = edited_copy(campaign, references)
    check_post_editions(campaign=copy, name="check", shows="reference")
    with pytest.raises(CommandError, match="checkers of check saw the reference"):
        call_command("rate_against", "generic", "--name", "own", "--post-editions-of", "edited")


def test_outputs_with_other_texts_are_refused(campaign, references):
    copy = edited_copy(campaign, references)
    other = SystemOutput.objects.filter(system__campaign=copy).first()
    SystemOutput.objects.filter(pk=other.pk).update(own_text="Another text.")
    name = f"segment {other.segment.name} by {other.system.name}"
    with pytest.raises(
        CommandError, match=f"different texts of 1 outputs, the first of them {name}"
    ):
        call_command("rate_against", "generic", "--name", "own", "--post-editions-of", "edited")


def test_the_new_campaign_has_the_settings_of_the_first(campaign, references):
    changed = {
        "trust_rule": "published",
        "degradation": "published",
        "pay_per_hit": Decimal("3.50"),
        "min_ratings": 4,
        "run_by": "A lab",
    }
    Campaign.objects.filter(pk=campaign.pk).update(**changed)
    rated = make(references)
    assert {name: getattr(rated, name) for name in changed} == changed


def collect(campaign):
    """Let alice, who is trusted, and a stranger, who is not, rate the campaign."""
    build_hits(campaign=campaign)
    Campaign.objects.filter(pk=campaign.pk).update(status="open")
    campaign.refresh_from_db()
    for name, decision in (("alice", "reinstated"), ("a stranger", "excluded")):
        worker = make_worker(f"{name} {campaign}")
        do_hit(campaign, worker, lambda item, name=name: item.pk % 100 if name == "alice" else 7)
        Participation.objects.update_or_create(
            campaign=campaign,
            worker=worker,
            defaults={"decision": decision, "decision_reason": "for this test"},
        )


def alices_ratings(campaign, system, segment):
    """Her scores of an output, as they follow from the items: of the output itself and its repeats."""
    output = SystemOutput.objects.get(
        system__campaign=campaign, system__name=system, segment__name=segment
    )
    items = Item.objects.filter(translation=output.translation_id, role__in=SCORED_ROLES)
    return sorted(pk % 100 for pk in items.values_list("pk", flat=True))


def test_contradictions_show_the_ratings_behind_both_golds(campaign, references):
    rated = make(references)
    for each in (campaign, rated):
        collect(each)
    gold = bring_back_gold(run=make_gold_run(rated, seed=5), campaign=campaign)
    evaluation = evaluate_campaign(
        campaign=campaign, golds=[UploadChoice(str(gold.code)), GoldChoice(1)]
    )
    answer = client_of("superuser").get(reverse("evaluation_contrast", args=[evaluation.code]))
    texts, rows = references_of(rated), answer.context["rows"]
    assert rows
    for row in rows:
        key = row.scores.system, row.scores.segment
        own_key = key[0], segment_of_output(key)
        assert row.texts.own_reference == texts[own_key[1]]
        assert sorted(row.texts.ratings) == alices_ratings(campaign, *key)
        assert sorted(row.texts.own_ratings) == alices_ratings(rated, *own_key)
        assert row.texts.ratings and row.texts.own_ratings and not row.texts.post_edition
    page = answer.content.decode()
    assert ">Own reference<" in page and ">Ratings against it<" in page
    assert ">Post-edition<" not in page
    url = reverse("evaluation_contradictions", args=[evaluation.code])
    first = next(csv.DictReader(io.StringIO(client_of("superuser").get(url).content.decode())))
    assert first["own_ratings"] == " ".join(map(str, rows[0].texts.own_ratings))
