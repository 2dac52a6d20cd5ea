"""Built-in metrics of a campaign: computed once per text, by a job or the command."""

import json

import pytest
from django.core.management import CommandError, call_command

from analysis.metrics import DEFAULT_METRICS, computing
from analysis.metrics.catalogue import metrics_for
from analysis.metrics.computing import CannotComputeMetrics, compute_metrics
from analysis.models import Metric, MetricCounts
from analysis.scores.errors import ScoresRefused
from analysis.scores.reading import read_scores
from analysis.scores.storing import campaign_keys, stored_table
from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job, start_job
from hits.models import Segment, SystemOutput
from tests.factories import make_campaign, make_translations
from tests.people import make_person

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    campaign = make_campaign(name="baselines")
    make_translations(campaign, n_segments=3)
    return campaign


def test_every_output_and_every_system_gets_every_score(campaign):
    metrics = compute_metrics(campaign=campaign)
    assert [(metric.name, metric.level) for metric in metrics] == [
        (name, level) for name in DEFAULT_METRICS for level in ("segment", "system")
    ]
    assert {metric.n_scores for metric in metrics} == {6, 2}
    for metric in metrics:
        assert list(stored_table(metric).keys) == list(campaign_keys(campaign, metric.level))


def test_scores_are_computed_from_the_texts(campaign):
    (metric, _) = compute_metrics(campaign=campaign, names=["WER"])
    output = SystemOutput.objects.get(system__name="system-b", segment__name="segment-2")
    wer = metrics_for("en")["WER"]
    expected = wer.of_segment(wer.counts(str(output), output.segment.reference))
    table = stored_table(metric)
    assert table.scores[table.keys.index(("system-b", "segment-2"))] == expected > 0
    assert metric.signature == wer.signatures["segment"]
    assert metric.higher_is_better is False and metric.origin == "computed"


def test_a_merged_output_is_scored_by_its_own_text(campaign):
    output = SystemOutput.objects.get(system__name="system-a", segment__name="segment-1")
    SystemOutput.objects.filter(pk=output.pk).update(own_text=output.segment.reference)
    (metric, _) = compute_metrics(campaign=campaign, names=["WER"])
    assert stored_table(metric).scores[0] == 0


def test_no_text_is_counted_twice(campaign, monkeypatch):
    compute_metrics(campaign=campaign, names=["PER"])
    assert MetricCounts.objects.count() == 6

    def fail(*tokens):
        raise AssertionError("counted again")

    monkeypatch.setattr("analysis.metrics.catalogue.position_independent_errors", fail)
    first = Metric.objects.get(level="segment")
    assert compute_metrics(campaign=campaign, names=["PER"])[0] == first
    assert Metric.objects.count() == 2


def test_a_changed_text_is_counted_again_and_its_scores_are_replaced(campaign):
    (before, _) = compute_metrics(campaign=campaign, names=["WER"])
    Segment.objects.filter(name="segment-1").update(reference="something else")
    (after, _) = compute_metrics(campaign=campaign, names=["WER"])
    assert after.sha256 != before.sha256 and MetricCounts.objects.count() == 8
    assert Metric.objects.count() == 2 and stored_table(after).scores[0] > 1


def test_scores_do_not_depend_on_stored_counts(campaign):
    (metric, _) = compute_metrics(campaign=campaign, names=["BLEU"])
    before = stored_table(metric).scores.tolist()
    MetricCounts.objects.all().delete()
    Metric.objects.all().delete()
    (metric, _) = compute_metrics(campaign=campaign, names=["BLEU"])
    assert stored_table(metric).scores.tolist() == before


def test_progress_rises_to_the_number_of_texts(campaign, monkeypatch):
    monkeypatch.setattr(computing, "CHUNK_TEXTS", 2)
    reports = []
    compute_metrics(
        campaign=campaign, names=["WER", "PER"], progress=lambda *counts: reports.append(counts)
    )
    assert reports == sorted(reports) and reports[0] == (0, 12) and reports[-1] == (12, 12)
    assert (2, 12) in reports and (8, 12) in reports


def test_an_uploaded_metric_is_not_overwritten(campaign):
    compute_metrics(campaign=campaign, names=["WER"])
    Metric.objects.update(origin="uploaded", sha256="0" * 64)
    with pytest.raises(ScoresRefused, match="different segment scores of WER already"):
        compute_metrics(campaign=campaign, names=["WER"])


def test_missing_references_are_refused_by_name(campaign):
    Segment.objects.filter(name="segment-2").update(reference="")
    with pytest.raises(CannotComputeMetrics, match="no reference for 1 segments.*segment-2"):
        compute_metrics(campaign=campaign)


def test_a_campaign_without_outputs_is_refused():
    with pytest.raises(CannotComputeMetrics, match="no outputs yet"):
        compute_metrics(campaign=make_campaign())


def test_an_unknown_metric_is_refused(campaign):
    with pytest.raises(CannotComputeMetrics, match="Unknown metric: COMET. Choose from: BLEU"):
        compute_metrics(campaign=campaign, names=["BLEU", "COMET"])


# The job and the command ----------------------------------------------------------------------


def test_a_job_computes_metrics_and_reports_progress(campaign):
    ada = make_person("researcher", campaign)
    job = start_job(
        kind="compute_metrics", campaign=campaign, arguments={"names": ["PER"]}, started_by=ada
    )
    run_job(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.DONE and (job.n_done, job.n_total) == (6, 6)
    assert job.result == {
        "metrics": [{"name": "PER", "level": "segment"}, {"name": "PER", "level": "system"}]
    }
    assert Metric.objects.filter(uploaded_by=ada).count() == 2


def test_the_command_prints_the_systems_scores(campaign, capsys):
    call_command("compute_metrics", "baselines", "--metrics", "WER")
    out = capsys.readouterr().out
    assert out.startswith("WER (lower is better)  metric:WER|") and "system-a" in out


def test_the_command_prints_json(campaign, capsys):
    call_command("compute_metrics", "baselines", "--metrics", "BLEU", "chrF", "--json")
    facts = json.loads(capsys.readouterr().out)
    assert [fact["metric"] for fact in facts] == ["BLEU", "chrF"]
    assert set(facts[0]["systems"]) == {"system-a", "system-b"}


def test_the_command_writes_segment_scores_that_evaluate_reads(campaign, tmp_path):
    path = tmp_path / "scores.tsv"
    chosen = ["--metrics", "TER-Moses", "sBLEU", "--tokenise", "none", "--out", str(path)]
    call_command("compute_metrics", "baselines", *chosen)
    tables = {table.name: table for table in read_scores(path).tables}
    assert {name: table.higher_is_better for name, table in tables.items()} == {
        "TER-Moses": False,
        "sBLEU": True,
    }
    for metric in Metric.objects.filter(level="segment"):
        stored = stored_table(metric)
        assert tables[metric.name].keys == stored.keys
        assert tables[metric.name].scores.tolist() == stored.scores.tolist()
    with pytest.raises(CommandError, match="File exists"):
        call_command("compute_metrics", "baselines", *chosen)


def test_the_command_reports_what_is_wrong(campaign):
    Segment.objects.update(reference="")
    with pytest.raises(CommandError, match="has no reference for 3 segments"):
        call_command("compute_metrics", "baselines")
