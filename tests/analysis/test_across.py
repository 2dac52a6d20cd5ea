"""One table of metrics over several evaluations: by command, page and API."""

import csv
import io

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from analysis.evaluation.across import TitledResult, table_across
from analysis.evaluation.engine import evaluate
from analysis.evaluation.results import Options
from analysis.evaluation.stored_evaluations import result_of
from tests.analysis.evaluation_tables import gold_table, metric
from tests.api.callers import caller
from tests.evaluations import make_campaign_evaluation, make_scored_campaign
from tests.people import client_of


@pytest.fixture(scope="module")
def results():
    first = evaluate([metric("good", 0.3), metric("poor", 4)], [gold_table("da")]).result
    second = evaluate([metric("good", 1), metric("new", 1)], [gold_table("da")]).result
    return [TitledResult("cs-en", first), TitledResult("de-en", second)]


def test_every_column_has_its_correlations_and_winners(results):
    table = table_across(results)
    assert [column.title for column in table.columns] == ["metric", "cs-en", "de-en", "mean"]
    rows = {row[0].value: row[1:] for row in table.rows}
    # Metrics that some column does not have come last, without a mean.
    assert list(rows) == ["good", "poor", "new"]
    for place, each in enumerate(results):
        for row in each.result.golds[0].segment:
            cell = rows[row.metric][place]
            assert (cell.value, cell.bold) == (row.pearson.estimate, row.is_winner)
    assert rows["good"][2].value == np.mean([cell.value for cell in rows["good"][:2]])
    assert rows["poor"][1].text == rows["new"][0].text == rows["poor"][2].text == "–"
    assert "cs-en 100, de-en 100" in table.note and "Holm" in table.note


def test_errors_have_the_lowest_mean_first():
    options = Options(qe=True, n_resamples=10)
    result = evaluate([metric("poor", 4), metric("good", 0.3)], [gold_table("da")], options=options)
    (gold,) = result.result.golds
    for measure in ("mae", "rmse"):
        table = table_across([TitledResult("cs-en", result.result)], measure=measure)
        assert [row[0].value for row in table.rows] == ["good", "poor"]
        errors = {row.metric: getattr(row, measure).estimate for row in gold.predictions}
        assert [row[1].value for row in table.rows] == [errors["good"], errors["poor"]]
        assert "Lower is better" in table.note and ("Bold" in table.note) == (measure == "mae")


def test_areas_are_those_of_evaluations_that_ask_what_is_good_enough():
    options = Options(good_enough=0, n_resamples=10)
    tables = [metric("poor", 4), metric("good", 0.3)]
    asked = evaluate(tables, [gold_table("da")], options=options).result
    found = asked.golds[0].good_enough
    assert found is not None
    for measure in ("roc", "precision"):
        table = table_across([TitledResult("cs-en", asked)], measure=measure)
        values = {row.metric: getattr(row, measure).estimate for row in found.rows}
        assert [(row[0].value, row[1].value) for row in table.rows] == list(values.items())
        assert "Bold" not in table.note and "Lower" not in table.note
    other = evaluate(tables, [gold_table("da")]).result
    assert not table_across([TitledResult("cs-en", other)], measure="roc").rows


def test_several_golds_have_a_column_each():
    golds = [gold_table("da"), gold_table("mqm", scores=gold_table().scores[::-1])]
    result = evaluate([metric("good", 0.3)], golds).result
    titles = [column.title for column in table_across([TitledResult("cs-en", result)]).columns]
    assert titles == ["metric", "cs-en, da", "cs-en, mqm", "mean"]


def test_the_command_reads_reports(results, tmp_path, capsys):
    for each in results:
        (tmp_path / each.title).mkdir()
        (tmp_path / each.title / "result.json").write_text(each.result.to_json())
    folders = [str(tmp_path / each.title) for each in results]
    call_command("tabulate_evaluations", *folders)
    assert capsys.readouterr().out.count("| cs-en |") == 1
    call_command("tabulate_evaluations", *folders, "--format", "csv")
    assert capsys.readouterr().out.startswith("metric,cs-en,de-en,mean\n")
    (tmp_path / "odd.json").write_text("[]")
    with pytest.raises(CommandError, match="odd.json is not the result of an evaluation"):
        call_command("tabulate_evaluations", str(tmp_path / "odd.json"))
    with pytest.raises(CommandError, match="Cannot read"):
        call_command("tabulate_evaluations", str(tmp_path / "missing.json"))


@pytest.mark.django_db
def test_page_and_api_have_the_same_table():
    evaluations = [
        make_campaign_evaluation(make_scored_campaign(name=pair, source_language=pair))
        for pair in ("cs", "de")
    ]
    client = client_of("researcher")
    codes = [str(evaluation.code) for evaluation in evaluations]
    page = reverse("evaluations_across")
    assert page in client.get(reverse("evaluations")).content.decode()
    assert codes[0] in client.get(page).content.decode()
    answer = client.get(page, {"evaluation": codes})
    table = answer.context["shown"].table
    assert [column.title for column in table.columns] == ["metric", "cs-en", "de-en", "mean"]
    assert answer.content.decode().count(" checked") == 2
    file = reverse("evaluations_across_file", args=["csv"])
    content = client.get(file, {"evaluation": codes}).content
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    best = result_of(evaluations[0]).golds[0].segment[0]
    assert float(rows[0]["cs-en"]) == best.pearson.estimate
    assert client.get(page, {"evaluation": ["x"]}).status_code == 404
    content_of_kendall = client.get(file, {"evaluation": codes, "measure": "kendall"}).content
    (row, *_) = csv.DictReader(io.StringIO(content_of_kendall.decode()))
    kendalls = {each.metric: each.kendall for each in result_of(evaluations[0]).golds[0].segment}
    assert float(row["cs-en"]) == kendalls[row["metric"]].estimate
    assert client.get(file).url == page
    campaigns = [evaluation.campaign for evaluation in evaluations]
    ada = caller("researcher", campaigns[0])
    path = f"/campaigns/{campaigns[0].code}/evaluation-table?others={campaigns[1].code}"
    assert ada.get(path).status_code == 404
    bob = caller("researcher")
    assert bob.get(path).content == content
    assert bob.get(f"{path}&measure=kendall").content == content_of_kendall
    assert bob.get(f"{path}&measure=x").status_code == 422
