"""Every job ends in a sentence and a way on; a refused evaluation can be run again without what was refused."""

from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.test import Client
from django.urls import resolve, reverse

from analysis.evaluation.uploading import store_uploaded_scores
from analysis.models import Evaluation, ScoreCollection
from analysis.scores.raw_files import RawFile
from da_platform.jobs.kinds import Kind, known_kinds
from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job, start_job
from hits.models import Campaign
from tests.evaluations import make_collection, make_scored_campaign, score_lines
from tests.factories import make_campaign
from tests.people import client_of, make_person

pytestmark = pytest.mark.django_db

# The result of each kind of job, as short as it can be.
COUNTS = {"pearson": 0.5, "n_pairs": 12}
CODE = str(uuid4())
RESULTS: dict[str, tuple[dict[str, Any], str]] = {
    "build_gold": (
        {"run": 1, "n_scored": 1, "n_ratings": 30, "n_incomplete": 2},
        "Gold 1 has scores of 1 translation, from 30",
    ),
    "measure_agreement": ({"between": COUNTS, "within": COUNTS}, "r = 0.50 over 12 pairs"),
    "measure_editor_agreement": (
        {"n_pairs": 12, "n_outputs": 6, "n_editors": 4, "mean": 0.25, "share_equal": 0.5},
        "is 0.250 on average; 50% of 12 pairs",
    ),
    "measure_presentation": (
        {
            "screens": {"pvalue": 0.25},
            "documents": None,
            "context": {"against": "alone", "systems": ["A", "B"], "adjusted": [0.01, 0.4]},
        },
        "Places on a screen: p = 0.25. Against alone: 1 of 2 systems differ.",
    ),
    "rank_systems": ({"systems": [{"system": "A", "cluster": 1}]}, "First: A."),
    "rank_judgements": (
        {"systems": [{"system": "A", "cluster": 1}], "n_judgements": 7},
        "1 system in 1 cluster, from 7 judgements. First: A.",
    ),
    "evaluate": ({"evaluation": CODE, "winners": {"gold 1": ["BLEU"]}}, "outperforms BLEU"),
    "evaluate_collection": ({"evaluation": CODE}, "The evaluation is finished."),
    "evaluate_pooled": ({"evaluation": CODE, "winners": {}}, "The evaluation is finished."),
    "evaluate_again": ({"evaluation": CODE, "is_same": True}, "identical"),
    "run_experiment": ({"experiment": CODE, "findings": ["A wins.", "B loses."]}, "A wins."),
    "compute_metrics": ({"metrics": [{"name": "BLEU", "level": "segment"}]}, "Scores of BLEU"),
    "compute_targeted": ({"stored": ["HTER", "PET"]}, "are stored: HTER"),
    "export": (
        {"n_rows": 2, "path": "/tmp/x.csv"},
        "Wrote 2 rows to the file /tmp/x.csv on the server.",
    ),
    "make_task_examples": ({"campaigns": [CODE]}, "1 example campaign"),
    "make_examples": ({"campaigns": [CODE, CODE]}, "2 example campaigns"),
    "weigh_evidence": ({"n_weighed": 3, "n_failed": 1}, "3 assignments. 1 could not"),
    "recompute_workers": (
        {"n_workers": 9, "n_evidence_changed": 2, "n_trust_changed": 1, "n_failed": 0},
        "Of 9 workers",
    ),
    "release_expired": ({"n_released": 0}, "Released 0 expired assignments."),
    "sync_submissions": ({"n_changed": 1}, "1 submission changed."),
    "raise_places": ({"n_places": 40}, "40 places"),
    "build_hits": ({"n_hits": 2}, "The campaign has 2 HITs."),
    "add_round": (
        {"n_hits": 2, "n_pairs": 3, "n_undecided": 1},
        "Added 2 HITs for 3 pairs of systems that lacked judgements. 1 pair of systems cannot be told apart yet.",
    ),
    "take_look": (
        {
            "look": 2,
            "n_pairs": 3,
            "n_undecided": 1,
            "is_last": False,
            "open_systems": ["A", "B"],
            "n_hits": 4,
        },
        "Look 2: 2 of 3 pairs decided. 2 systems go on, in 4 more HITs.",
    ),
    "import_campaign": ({"campaign": CODE, "name": "News"}, "Imported News."),
    "import_collection": ({"campaign": CODE, "name": "News"}, "Imported News."),
    "pay": ({"paid": "3.00", "states": {"sent": 2}}, "Paid 3.00"),
}


def product_kinds() -> dict[str, Kind]:
    """The kinds of the product, without those that other tests register."""
    kinds = known_kinds()
    return {
        name: kind for name, kind in kinds.items() if kind.run.__module__ in settings.JOB_MODULES
    }


@pytest.mark.parametrize("name", product_kinds())
def test_every_kind_has_a_title_and_ends_in_a_sentence(name):
    kind = product_kinds()[name]
    assert kind.title and "_" not in kind.title
    result, sentence = RESULTS[name]
    assert kind.outcome is not None
    campaign = Campaign(name="News", currency="EUR")
    arguments = {"run": CODE, "kind": "ratings", "format": "csv"}
    campaigns = [campaign] if kind.needs_campaign else [campaign, None]
    for of_campaign in campaigns:
        outcome = kind.outcome(Job(campaign=of_campaign, arguments=arguments), result)
        assert sentence in outcome.sentence
        assert outcome.links
        for label, url in outcome.links:
            assert label and resolve(url.partition("?")[0])


def test_an_exported_table_can_be_downloaded(tmp_path):
    campaign = make_scored_campaign()
    arguments = {"kind": "systems", "format": "tsv", "run": 1, "path": str(tmp_path / "x.tsv")}
    job = run_job(start_job(kind="export", campaign=campaign, arguments=arguments).pk)
    assert job is not None and job.state == "done", job and job.error
    client, address = (
        client_of("researcher"),
        reverse("result_export", args=[campaign.code, "systems", "tsv"]),
    )
    assert f'class="button" href="{address}?run=1">Download system ranking</a>' in page(client, job)
    content = b"".join(client.get(f"{address}?run=1").streaming_content)
    assert content == (tmp_path / "x.tsv").read_bytes()


def test_an_export_that_no_page_offers_leads_to_the_results():
    job = Job(campaign=Campaign(), arguments={"kind": "judgements", "format": "csv"})
    outcome = product_kinds()["export"].outcome(job, {"n_rows": 2, "path": "/tmp/x.csv"})
    assert [label for label, _ in outcome.links] == ["View results and exports"]


def page(client: Client, job: Job) -> str:
    return client.get(reverse("job", args=[job.code])).content.decode()


def test_the_page_of_a_finished_job_has_its_sentence_and_a_button():
    campaign, client = make_scored_campaign(), client_of("researcher")
    job = run_job(start_job(kind="evaluate", campaign=campaign).pk)
    assert job is not None
    text = page(client, job)
    assert (
        "Evaluate metrics</h1>" in text and "no other metric significantly outperforms good" in text
    )
    assert (
        f'<a class="button" href="{reverse("evaluation", args=[job.result["evaluation"]])}"' in text
    )
    # The result as JSON is for programs.
    assert text.index("For programs") < text.index("&quot;evaluation&quot;")


def test_a_researcher_gets_no_button_to_a_page_of_admins():
    campaign = make_campaign()
    job = start_job(kind="recompute_workers", campaign=campaign)
    counts = {"n_workers": 1, "n_evidence_changed": 0, "n_trust_changed": 0, "n_failed": 0}
    Job.objects.update(state="done", finished_at=job.created_at, result=counts)
    link = reverse("campaign_workers", args=[campaign.code])
    sentence = "Of 1 worker, the evidence of 0"
    for role, is_shown in (("researcher", False), ("admin", True)):
        text = page(client_of(role, campaign), job)
        assert sentence in text and (f'class="button" href="{link}"' in text) is is_shown


# Refused evaluations --------------------------------------------------------------------------


@pytest.fixture
def collection() -> ScoreCollection:
    """Metrics that also scored a system that the gold does not have; one of them lacks a row."""
    collection = make_collection(None, "gappy:higher")
    lines = score_lines("BLEU:higher", "chrF:higher").splitlines()
    extra = [f"synthetic_ref\t{i}\t0.5\t0.5" for i in range(1, 10)]
    content = "\n".join([*lines, *extra, "A\t99\t1\t1"]).encode()
    store_uploaded_scores(files=[RawFile("more.tsv", content)], home=collection)
    gappy = collection.metrics.get(name="gappy")
    gappy.scores.filter(system="A", segment="1").delete()
    return collection


def failed(collection: ScoreCollection, **arguments: Any) -> Job:
    arguments = {"collection": str(collection.code)} | arguments
    ada = make_person("superuser")
    job = run_job(start_job(kind="evaluate_collection", arguments=arguments, started_by=ada).pk)
    assert job is not None and job.state == Job.State.FAILED
    return job


def test_its_problems_are_grouped_and_have_fixes(collection):
    job = failed(collection)
    assert [problem["reason"] for problem in job.problems] == [
        "has no score for segment 1 by A",
        "system synthetic_ref is not in the gold, but has 18 scores by BLEU and chrF",
        "have scores for segment 99 by A, which is not in the gold",
    ]
    text = page(client_of("superuser"), job)
    for label in ("Leave out gappy", "Leave out synthetic_ref", "Ignore these scores"):
        assert label in text
    assert "Run again with these changes" in text


def test_one_click_runs_it_again_with_all_fixes(collection):
    job, client = failed(collection), client_of("superuser")
    answer = client.post(reverse("mend_job", args=[job.code]), {"fix": ["0", "1", "2"]})
    again = Job.objects.latest("pk")
    assert answer.url == reverse("job", args=[again.code]) and again.pk != job.pk
    assert again.arguments["options"] == {
        "without_systems": ["synthetic_ref"],
        "ignore_extra": True,
    }
    done = run_job(again.pk)
    assert done.state == "done", done.error
    names = set(Evaluation.objects.get().metrics.values_list("name", flat=True))
    assert names == {"BLEU", "chrF"}


def test_only_the_chosen_fixes_are_applied(collection):
    job, client = failed(collection), client_of("superuser")
    client.post(reverse("mend_job", args=[job.code]), {"fix": ["1"]})
    arguments = Job.objects.latest("pk").arguments
    assert arguments["options"] == {"without_systems": ["synthetic_ref"]}
    assert "metrics" not in arguments


@pytest.mark.parametrize("chosen", [[], ["9"], ["x"]])
def test_without_a_fix_nothing_is_started(collection, chosen):
    job = failed(collection)
    answer = client_of("superuser").post(reverse("mend_job", args=[job.code]), {"fix": chosen})
    assert answer.status_code == 409 and Job.objects.count() == 1


def test_the_last_metric_is_not_left_out(collection):
    gappy = str(collection.metrics.get(name="gappy").code)
    job = failed(collection, metrics=[gappy])
    answer = client_of("superuser").post(reverse("mend_job", args=[job.code]), {"fix": ["0"]})
    assert answer.status_code == 409 and "No metric would be left" in answer.content.decode()


def test_a_misspelt_system_or_baseline_is_dropped(collection):
    options = {"without_systems": ["synthetic_ref", "zzz"], "qe": True, "baseline": "none"}
    job = failed(collection, options=options)
    client_of("superuser").post(reverse("mend_job", args=[job.code]), {"fix": ["0", "1"]})
    changed = Job.objects.latest("pk").arguments["options"]
    assert changed == {"without_systems": ["synthetic_ref"], "qe": True, "baseline": ""}


def test_others_cannot_run_it_again(collection):
    job = failed(collection)
    answer = client_of("researcher", make_campaign()).post(
        reverse("mend_job", args=[job.code]), {"fix": ["1"]}
    )
    assert answer.status_code == 404 and Job.objects.count() == 1
