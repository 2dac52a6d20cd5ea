"""The ranking of a campaign on its page, by command, and as LaTeX."""

import doctest
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from analysis.ranking.results import rank_by_judgements
from analysis.ranking.stored import latest_ranking
from analysis.ranking.tables import head_to_head_table, opinions_table, short_names, systems_table
from analysis.stats import trueskill as module
from analysis.tables.writing import to_latex
from da_platform.jobs.models import Job
from hits.archives import import_collection
from hits.models import Rank

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def plain_loop(monkeypatch):
    monkeypatch.setattr(module, "_one_run", module._one_run.py_func)


@pytest.fixture
def campaign(tmp_path):
    """Forty screens on which A beats B, and both beat C."""
    header = "srclang,trglang,srcIndex,segmentId,judgeID,system1Id,system1rank,system2Id,system2rank,rankingID"
    # A system has one rank on a screen.
    ranks = {"A": 1, "B": 2, "C": 3}
    rows = [
        f"de,en,{n},{n},judge{n % 3},{first},{ranks[first]},{second},{ranks[second]},{n}"
        for n in range(40)
        for first, second in [("A", "B"), ("C", "A"), ("B", "C")]
    ]
    path = tmp_path / "pairs.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    return import_collection(
        paths=[path],
        format="wmt-rankings",
        name="ranked",
        source_language="de",
        target_language="en",
    ).campaign


def test_systems_are_ranked_in_clusters_with_the_wins_behind_them(campaign):
    facts = rank_by_judgements(campaign, runs=5)
    assert [row["system"] for row in facts["systems"]] == ["A", "B", "C"]
    assert facts["n_judgements"] == 120 and facts["systems"][0]["expected_wins"] == 1.0
    assert rank_by_judgements(campaign, runs=5)["systems"] == facts["systems"]
    table = systems_table(facts)
    # The form of WMT15's table 6: the number of a cluster next to its first system, and a line below its last.
    assert [column.title for column in table.columns] == ["#", "score", "range", "system"]
    assert [row[0].text for row in table.rows] == ["1", "2", "3"]
    latex = to_latex(table)
    assert latex.count(r"\midrule") == 3 and "& $-$" in latex
    assert "Expected wins" in opinions_table(facts).note
    assert r"$\ddagger$" in to_latex(head_to_head_table(facts))
    shares = head_to_head_table(facts).rows[1]
    # In the row of B, the column of A: A was always ranked above.
    assert shares[1].text == "1.0‡" and shares[1].bold


def test_the_command_prints_tables_json_and_latex(campaign, capsys):
    call_command("rank_judgements", "ranked", "--runs", "3", "--json")
    assert json.loads(capsys.readouterr().out)["n_tasks"] == 40
    call_command("rank_judgements", "ranked", "--runs", "3", "--latex", "--table", "agreement")
    assert r"\begin{tabular}" in capsys.readouterr().out


def test_the_command_keeps_its_ranking_and_writes_report_tables_and_figures(
    admin_client, campaign, tmp_path, capsys
):
    call_command("rank_judgements", "ranked", "--runs", "3", "--seed", "9", "--out", str(tmp_path))
    written = {path.name for path in tmp_path.iterdir()}
    assert {"ranking.tex", "ranking.csv", "opinions.csv", "rank-ranges.pdf"} <= written
    assert str(tmp_path / "ranking.tex") in capsys.readouterr().err
    facts = latest_ranking(campaign)
    assert (
        facts["seed"] == 9
        and "Head-to-head"
        in admin_client.get(reverse("campaign_ranking", args=[campaign.code])).text
    )
    # The third opinion has its own ranges and clusters.
    assert [row["strength_cluster"] for row in facts["systems"]] == [1, 2, 3]
    assert "# by Bradley-Terry" in (tmp_path / "opinions.csv").read_text()


def test_the_page_takes_a_seed(admin_client, campaign):
    address = reverse("rank_judgements", args=[campaign.code])
    admin_client.post(address, {"runs": "3", "seed": "4", "trusted_only": "on", "lookup": "all"})
    assert Job.objects.get(kind="rank_judgements").arguments["seed"] == 4
    answer = admin_client.post(address, {"runs": "3", "seed": "-1", "lookup": "all"}, follow=True)
    assert "a seed from 0" in answer.text and Job.objects.count() == 1


def test_a_ranking_can_be_stopped_between_its_runs(campaign):
    told = []

    def stop(done, total):
        told.append((done, total))
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rank_by_judgements(campaign, runs=50, progress=stop)
    assert told == [(1, 52), (2, 52)]


def test_without_rankings_the_command_says_so(campaign):
    Rank.objects.all().delete()
    with pytest.raises(CommandError, match="No trusted worker"):
        call_command("rank_judgements", "ranked")


def test_the_page_shows_the_latest_ranking_with_downloads(admin_client, campaign):
    page = reverse("campaign_ranking", args=[campaign.code])
    assert "No ranking yet" in admin_client.get(page).text
    facts = json.loads(json.dumps(rank_by_judgements(campaign, runs=3)))
    Job.objects.create(
        kind="rank_judgements",
        campaign=campaign,
        state=Job.State.DONE,
        result=facts,
        finished_at=timezone.now(),
    )
    text = admin_client.get(page).text
    assert "Head-to-head comparison" in text and facts["signature"] in text
    assert admin_client.get(reverse("campaign_results", args=[campaign.code])).url == page
    for name in ("ranking", "head-to-head", "agreement"):
        for fmt in ("csv", "tex", "md"):
            assert (
                admin_client.get(
                    reverse("ranking_table", args=[campaign.code, name, fmt])
                ).status_code
                == 200
            )
    for name in ("rank-ranges", "head-to-head"):
        picture = admin_client.get(reverse("ranking_picture", args=[campaign.code, name, "svg"]))
        assert picture.content.startswith(b"<")


def test_the_examples_in_the_documentation_are_correct():
    page = Path(__file__).parents[2] / "docs" / "relative-ranking.md"
    result = doctest.testfile(str(page), module_relative=False)
    assert result.attempted > 5 and result.failed == 0


def test_names_of_files_of_wmt_are_short_in_tables_and_whole_in_csv():
    names = ["newstest2015.online-B.0.fi-en.txt", "newstest2015.uedin-jhu.4106.fi-en.txt"]
    assert list(short_names(names).values()) == ["online-B", "uedin-jhu"]
    assert short_names([*names, "mine"])["mine"] == "mine"
    assert short_names([*names, "mine"])[names[0]] == names[0]
    # Two submissions with one name keep their numbers.
    twice = [names[1], "newstest2015.uedin-jhu.4107.fi-en.txt"]
    assert list(short_names(twice).values()) == twice
