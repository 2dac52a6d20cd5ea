"""Outputs rated against references of their own: the new campaign, and its gold next to that of the first."""

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from analysis.evaluation.stored_evaluations import (
    GoldChoice,
    UploadChoice,
    evaluate_campaign,
    result_of,
)
from analysis.models import GoldUpload
from analysis.post_editions.own_references import bring_back_gold, segment_of
from analysis.scores.storing import campaign_keys
from hits.models import Campaign, SystemOutput
from tests.evaluations import make_gold_run, make_scored_campaign

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
        segment = rated.segments.get(name=segment_of(key))
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
