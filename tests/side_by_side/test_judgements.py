"""Differences between scores on a screen are judgements, too: TrueSkill, kappa and the report."""

import json
from itertools import combinations

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from analysis.ranking.report import make_report, report_as_pdf
from analysis.ranking.results import rank_by_judgements
from analysis.stats import trueskill as module
from analysis.stats.judgements import expand
from analysis.stats.roles import SCORED_ROLES
from da_platform.jobs.models import Job
from hits.models import Participation, QuestionnaireReply, Rating, SystemOutput
from hits.rating.assignments import submit_assignment
from hits.rating.joining import find_or_make_worker, take_part
from hits.side_by_side.arrays import load_rankings
from hits.side_by_side.saving import save_screen
from tests.documents.campaigns import taken_by
from tests.factories import make_campaign
from tests.people import client_of

from .campaigns import side_campaign

pytestmark = pytest.mark.django_db
# The last letter of the systems' names, from best to worst.
SCORES = {"a": 90, "b": 60, "c": 60}


@pytest.fixture(autouse=True)
def plain_loop(monkeypatch):
    monkeypatch.setattr(module, "_one_run", module._one_run.py_func)


def rate_by_system(assignment, scores=SCORES):
    """Give every output of a system the same score, and degraded ones 5."""
    outputs = SystemOutput.objects.filter(segment__campaign=assignment.hit.campaign)
    names = dict(outputs.values_list("translation", "system__name"))
    screens = {}
    for item in assignment.hit.items.order_by("position"):
        is_shown = item.role in SCORED_ROLES
        score = scores[names[item.translation_id][-1]] if is_shown else 5
        screens.setdefault(item.screen, {})[item.code] = score
    for screen, given in screens.items():
        save_screen(assignment=assignment, position=screen, scores=given)
    submit_assignment(assignment=assignment)


@pytest.fixture
def campaign():
    campaign = side_campaign()
    for name in ("alice", "bob"):
        worker = find_or_make_worker(provider="link", external_id=name)
        take_part(campaign=campaign, worker=worker)
        rate_by_system(taken_by(campaign, name))
    Participation.objects.update(trust="reliable")
    return campaign


def test_every_pair_on_a_screen_is_a_judgement_and_equal_scores_are_a_tie(campaign):
    judgements = expand(load_rankings(campaign, trusted_only=False))
    shown = {}
    for rating in Rating.objects.exclude(place=None).select_related("item"):
        if rating.item.role in SCORED_ROLES:
            key = rating.assignment_id, rating.item.screen
            shown.setdefault(key, []).append((rating.place, rating.score))
    expected = []
    for outputs in shown.values():
        for (_, one), (_, other) in combinations(sorted(outputs), 2):
            expected.append(int(np.sign(one - other)))
    assert sorted(judgements.outcomes.tolist()) == sorted(expected)
    assert 0 in expected and 1 in expected and -1 in expected
    assert len(np.unique(judgements.judges)) == 2


def test_only_trusted_workers_count_unless_all_are_wanted(campaign):
    Participation.objects.update(trust="unreliable")
    assert not len(load_rankings(campaign))
    assert len(load_rankings(campaign, trusted_only=False))


def test_systems_are_ranked_with_kappa_on_the_page_and_by_command(campaign, capsys):
    facts = json.loads(json.dumps(rank_by_judgements(campaign, runs=3, trusted_only=False)))
    assert facts["systems"][0]["system"] == "system-a"
    inter = next(row for row in facts["agreement"] if row["between"] == "inter")
    assert inter["kappa"] == 1
    assert "judgements:scores on a screen" in facts["signature"]
    call_command("rank_judgements", campaign.name, "--runs", "3", "--all-workers", "--json")
    assert json.loads(capsys.readouterr().out)["systems"] == facts["systems"]
    client = client_of("researcher", campaign)
    address = reverse("campaign_ranking", args=[campaign.code])
    assert "the one with the higher score was judged better" in client.get(address).text
    Job.objects.create(
        kind="rank_judgements",
        campaign=campaign,
        state=Job.State.DONE,
        result=facts,
        finished_at=timezone.now(),
    )
    page = client.get(address).text
    assert "Workers gave scores side by side" in page and "as from Appraise" not in page


def test_the_report_says_how_and_counts_what_workers_said(campaign):
    campaign.questionnaire = {
        "questions": [
            {
                "key": "native",
                "kind": "choice",
                "when": "before",
                "text": "Is English your native language?",
                "options": ["yes", "no"],
            }
        ]
    }
    campaign.save(update_fields=["questionnaire"])
    for participation in campaign.participations.all():
        QuestionnaireReply.objects.create(
            participation=participation, moment="before", answers={"native": "yes"}
        )
    report = make_report(campaign, rank_by_judgements(campaign, runs=3, trusted_only=False))
    assert "on a scale from 0 to 100" in report.methods[0]
    assert report.answers.n_replies == 2
    assert report.answers.as_json()[0]["counts"] == "yes: 2"
    assert report_as_pdf(report).startswith(b"%PDF")


def test_single_translations_give_no_judgements():
    campaign = make_campaign(name="alone")
    with pytest.raises(CommandError, match="do not see several outputs at once"):
        call_command("rank_judgements", "alone", "--runs", "3")
    assert campaign.presentation == "alone"
