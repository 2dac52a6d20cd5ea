"""Rankings next to metrics, groups of judges and direct assessment: by command, on the page, by the API."""

import json

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from analysis.gold.named_workers import WorkersRefused
from analysis.ranking.judge_groups import groups_in
from analysis.ranking.results import rank_by_judgements
from analysis.ranking.stored import with_direct_assessment
from analysis.ranking.tables import metrics_table, tables_of
from analysis.stats import trueskill as module
from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job
from hits.archives import import_collection
from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.models import Worker
from tests.api.callers import caller
from tests.evaluations import make_gold_run
from tests.factories import make_campaign, make_translations
from tests.ranking.campaigns import ranking_campaign

pytestmark = pytest.mark.django_db

HEADER = "srclang,trglang,srcIndex,segmentId,judgeID,system1Id,system1rank,system2Id,system2rank,rankingID"
# Segment, judge, and the ranks of A, B and C.
SCREENS = [
    ("1", "ann", (1, 2, 3)),
    ("1", "ben", (2, 1, 3)),
    ("2", "cat", (1, 1, 3)),
]
# What a metric makes of them, higher is better.
SCORES = {"1": (3, 2, 1), "2": (3, 1, 1)}


@pytest.fixture(autouse=True)
def plain_loop(monkeypatch):
    monkeypatch.setattr(module, "_one_run", module._one_run.py_func)


@pytest.fixture
def campaign(tmp_path):
    rows = [
        f"de,en,{segment},{segment},{judge},{one},{ranks[a]},{other},{ranks[b]},{number}"
        for number, (segment, judge, ranks) in enumerate(SCREENS)
        for (a, one), (b, other) in [
            ((0, "A"), (1, "B")),
            ((0, "A"), (2, "C")),
            ((1, "B"), (2, "C")),
        ]
    ]
    path = tmp_path / "pairs.csv"
    path.write_text("\n".join([HEADER, *rows]) + "\n")
    return import_collection(
        paths=[path],
        format="wmt-rankings",
        name="ranked",
        source_language="de",
        target_language="en",
    ).campaign


@pytest.fixture
def metric(campaign, tmp_path):
    rows = [
        f"{system}\t{segment}\t{score}\t{-score}"
        for segment, scores in SCORES.items()
        for system, score in zip("ABC", scores, strict=True)
    ]
    path = tmp_path / "scores.tsv"
    titles = "system\tsegment\tGood:higher\tErrors:lower"
    path.write_text("\n".join([titles, *rows]) + "\n")
    call_command("add_scores", "ranked", str(path))


def ranked(campaign, **how):
    """Rank the systems in a job, as the page and the API do."""
    facts = json.loads(json.dumps(rank_by_judgements(campaign, runs=3, **how)))
    Job.objects.create(
        kind="rank_judgements",
        campaign=campaign,
        state=Job.State.DONE,
        result=facts,
        finished_at=timezone.now(),
    )
    return facts


# Metrics --------------------------------------------------------------------------------------


def test_tau_and_its_ceiling_by_hand(campaign, metric):
    facts = rank_by_judgements(campaign, runs=3)["metrics"]
    assert (facts["n_judgements"], facts["n_ties"], facts["n_preferences"]) == (9, 1, 8)
    # The judges contradict each other once: of those two judgements one is right.
    assert (facts["ceiling"], facts["accuracy_ceiling"]) == (6 / 8, 7 / 8)
    for row in facts["segments"]:
        # Six agree, one does not, and B and C tie for the metric in segment 2.
        assert (row["tau"], row["accuracy"]) == (5 / 8, 6 / 8)
        assert row["tau_decided"] == pytest.approx(5 / 7)
        assert (row["n"], row["n_tied"], row["n_missing"]) == (8, 1, 0)
    assert {row["metric"]: row["higher_is_better"] for row in facts["segments"]} == {
        "Good": True,
        "Errors": False,
    }


def test_system_scores_are_correlated_with_the_ranking(campaign, metric):
    facts = rank_by_judgements(campaign, runs=3)
    by_system = {row["system"]: row for row in facts["systems"]}
    # Means over the segments.
    metric_scores = np.array([3, 1.5, 1])
    rows = facts["metrics"]["systems"]
    assert {row["metric"] for row in rows} == {"Good", "Errors"}
    for row in rows:
        assert row["is_mean"] and row["n"] == 3
        for name, gold in (("pearson", "score"), ("expected_wins", "expected_wins")):
            r = np.corrcoef(metric_scores, [by_system[system][gold] for system in "ABC"])[0, 1]
            assert row[name] == pytest.approx(r)


def test_metrics_without_a_direction_are_left_out_and_named(campaign, metric):
    campaign.metrics.filter(name="Errors").update(
        higher_is_better=None, direction_confirmed_at=None
    )
    facts = rank_by_judgements(campaign, runs=3)["metrics"]
    assert [row["metric"] for row in facts["segments"]] == ["Good"]
    assert facts["unconfirmed"] == ["Errors"]


def test_the_table_says_what_any_metric_can_reach(campaign, metric):
    table = metrics_table(rank_by_judgements(campaign, runs=3))
    assert "11.1% are ties" in table.note and "a tau above 0.750" in table.note
    assert table.rows[0][1].text == ".625"


# Groups ---------------------------------------------------------------------------------------


def test_kappa_is_measured_within_groups_of_judges(campaign):
    groups = groups_in(campaign, "ann, experts\nben\texperts\n\ncat, crowd", by_id=True)
    rows = rank_by_judgements(campaign, runs=3, groups=groups)["groups"]
    inter = {
        row["group"]: row
        for row in rows
        if (row["between"], row["counting"]) == ("inter", "strict")
    }
    # Ann and Ben agree on two of three pairs, without ties; nobody ranked with Cat.
    assert (inter["experts"]["n_agree"], inter["experts"]["n_comparable"]) == (2, 3)
    assert inter["experts"]["kappa"] == pytest.approx((2 / 3 - 1 / 2) / (1 / 2))
    assert inter["experts"]["word"] == "fair"
    assert (inter["crowd"]["n_judges"], inter["crowd"]["kappa"]) == (1, None)


def test_without_groups_judges_are_grouped_by_how_they_came(campaign):
    assert rank_by_judgements(campaign, runs=3)["groups"] == []
    Worker.objects.filter(external_id="ranked/cat").update(provider="prolific")
    rows = rank_by_judgements(campaign, runs=3)["groups"]
    assert {row["group"]: row["n_judges"] for row in rows}.pop("prolific") == 1


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("dora, experts", "no worker of this campaign is called 'dora'"),
        ("ann", "needs a worker and a group"),
        ("ann, a\nann, b", "names the same worker as line 1"),
        (f"ann, {'x' * 101}", "more than 100 characters"),
        ("\n", "names no workers"),
    ],
)
def test_faulty_groups_are_refused(campaign, text, complaint):
    with pytest.raises(WorkersRefused, match=complaint):
        groups_in(campaign, text, by_id=True)


def test_only_those_who_see_ids_may_name_judges_by_id(campaign):
    with pytest.raises(WorkersRefused):
        groups_in(campaign, "ann, experts", by_id=False)


# Next to direct assessment --------------------------------------------------------------------


def gold_for(names, campaign_name):
    """Gold for these systems."""
    campaign = make_campaign(name=campaign_name, source_language="de", target_language="en")
    make_translations(campaign, n_systems=len(names))
    for system, name in zip(campaign.systems.order_by("pk"), names, strict=True):
        system.name = name
        system.save(update_fields=["name"])
    return make_gold_run(campaign)


def test_the_same_systems_stand_next_to_their_gold(campaign):
    run = gold_for("ABCD", "rated")
    facts = with_direct_assessment(rank_by_judgements(campaign, runs=3), run)
    other = facts["direct_assessment"]
    assert (other["campaign"], other["n"]) == ("rated", 3)
    z = {row["system"]: row["z"] for row in other["rows"]}
    scores = {row["system"]: row["score"] for row in facts["systems"]}
    r = np.corrcoef([scores[name] for name in "ABC"], [z[name] for name in "ABC"])[0, 1]
    assert other["pearson"] == pytest.approx(r)
    assert other["signature"].startswith("gold:test|seed:1|")


def test_the_gold_that_shares_most_systems_is_taken_unless_another_is_named(
    campaign, admin_client, capsys
):
    gold_for("ABCD", "three shared")
    fewer = gold_for("BCX", "two shared").campaign
    gold_for("AXY", "one shared")
    call_command("rank_judgements", "ranked", "--runs", "3", "--json")
    assert json.loads(capsys.readouterr().out)["direct_assessment"]["campaign"] == "three shared"
    call_command("rank_judgements", "ranked", "--runs", "3", "--json", "--gold", "two shared")
    assert json.loads(capsys.readouterr().out)["direct_assessment"]["n"] == 2
    with pytest.raises(CommandError, match="one shared has no gold for two"):
        call_command("rank_judgements", "ranked", "--runs", "3", "--gold", "one shared")
    ranked(campaign)
    address = reverse("campaign_ranking", args=[campaign.code])
    assert "next to direct assessment of three shared" in admin_client.get(address).text
    page = admin_client.get(address, {"gold": str(fewer.code)}).text
    assert "next to direct assessment of two shared" in page and "one shared" not in page
    assert admin_client.get(address, {"gold": str(campaign.code)}).status_code == 404


# The same everywhere --------------------------------------------------------------------------


def test_the_command_prints_every_table(campaign, metric, tmp_path, capsys):
    path = tmp_path / "groups.tsv"
    path.write_text("ann\texperts\nben\texperts\n")
    how = ["--runs", "3", "--groups", str(path)]
    call_command("rank_judgements", "ranked", *how)
    text = capsys.readouterr().out
    for caption in (
        "Three ways to score",
        "Agreement within groups",
        "Agreement of metrics",
        "Correlation of metrics",
    ):
        assert caption in text
    with pytest.raises(CommandError, match="no other campaign with these languages"):
        call_command("rank_judgements", "ranked", "--runs", "3", "--table", "direct-assessment")
    with pytest.raises(CommandError, match="has no gold"):
        call_command("rank_judgements", "ranked", "--runs", "3", "--gold", "ranked")


def test_page_report_and_files_show_what_the_job_found(admin_client, campaign, metric):
    pytest.importorskip("typst")
    facts = ranked(campaign, groups=groups_in(campaign, "ann, experts\nben, experts", by_id=True))
    text = admin_client.get(reverse("campaign_ranking", args=[campaign.code])).text
    report = admin_client.get(reverse("ranking_report", args=[campaign.code])).text
    for table in tables_of(facts).values():
        assert table.caption in text and table.caption in report
        for fmt in ("tex", "md", "csv"):
            address = reverse("ranking_table", args=[campaign.code, table.name, fmt])
            assert admin_client.get(address).status_code == 200
    assert "no metric can have a tau above 0.750" in report
    pdf = admin_client.get(reverse("ranking_report_pdf", args=[campaign.code]))
    assert pdf.content.startswith(b"%PDF")


def test_groups_are_checked_on_the_page_and_by_the_api(admin_client, campaign):
    address = reverse("rank_judgements", args=[campaign.code])
    refused = admin_client.post(
        address, {"runs": 3, "lookup": "all", "groups": "dora, x"}, follow=True
    )
    assert "no worker of this campaign is called" in refused.text and not Job.objects.exists()
    admin_client.post(address, {"runs": 3, "lookup": "all", "groups": "ann, experts\nben, experts"})
    [job] = Job.objects.all()
    assert set(job.arguments["groups"].values()) == {"experts"}
    run_job(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.DONE and job.result["groups"][0]["group"] == "experts"


def test_the_api_has_the_tables_the_report_and_the_gold_next_to_them(campaign, metric):
    pytest.importorskip("typst")
    api, path = caller("superuser"), f"/campaigns/{campaign.code}/judgements/ranking"
    assert api.get(path).status_code == api.get(f"{path}/report").status_code == 404
    refused = api.post(path, {"groups": {"dora": "experts"}})
    assert refused.status_code == 422 and "no worker of this campaign" in refused.text
    started = api.post(path, {"runs": 3, "groups": {"ann": "experts", "ben": "experts"}})
    run_job(Job.objects.get(code=started.json()["code"]).pk)
    code = gold_for("ABCD", "rated").campaign.code
    facts = api.get(path, gold=code).json()
    assert facts["metrics"]["ceiling"] == 0.75 and facts["groups"][0]["group"] == "experts"
    assert facts["direct_assessment"]["code"] == str(code)
    for name in ("ranking", "metrics", "agreement-by-group", "direct-assessment"):
        latex = api.get(f"{path}/tables/{name}", format="tex")
        assert r"\begin{tabular}" in latex.text, name
    assert api.get(f"{path}/tables/nothing").status_code == 404
    assert api.get(path, gold=campaign.code).status_code == 404
    assert api.get(f"{path}/report").content.startswith(b"%PDF")


def test_a_ranking_campaign_has_a_report_before_and_after_it_is_ranked(admin_client):
    campaign = ranking_campaign(n_segments=4, min_ratings=3)
    address = reverse("ranking_report", args=[campaign.code])
    assert admin_client.get(address).url == reverse("campaign_ranking", args=[campaign.code])
    simulate_workers(campaign=campaign, crowd={Behaviour.HONEST: 3}, hits_per_worker=4, seed=1)
    ranked(campaign, trusted_only=False)
    text = admin_client.get(address).text
    assert "Judges ranked up to 5 outputs of one segment" in text and "3 workers submitted" in text
    assert "Different judges agree with kappa" in text
