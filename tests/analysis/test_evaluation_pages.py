"""Evaluation pages: uploads, directions, results, and who sees what."""

import json

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from analysis.evaluation.access import visible_evaluations
from analysis.evaluation.stored_evaluations import PooledChoice, evaluate_pooled, result_of
from analysis.evaluation.uploading import store_uploaded_scores
from analysis.models import Evaluation, GoldUpload, Metric, ScoreCollection
from analysis.scores.raw_files import RawFile
from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job, start_job
from hits.models import AuditEntry, Membership
from tests.evaluations import (
    gold_lines,
    make_campaign_evaluation,
    make_collection,
    make_collection_evaluation,
    make_gold_run,
    make_scored_campaign,
    score_lines,
)
from tests.factories import make_campaign, make_translations
from tests.people import client_of

pytestmark = pytest.mark.django_db


def file(content: str | bytes, name: str = "scores.tsv") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content if isinstance(content, bytes) else content.encode())


def owner_of(client: Client) -> User:
    return User.objects.get(pk=client.session["_auth_user_id"])


@pytest.fixture
def client() -> Client:
    return client_of("researcher")


@pytest.fixture
def collection(client: Client) -> ScoreCollection:
    client.post(reverse("new_collection"), {"name": "WMT"})
    return ScoreCollection.objects.get()


def gold_form(kind: str, direction: str, content: str = gold_lines(), name: str = "gold.tsv"):
    upload = {"gold-uploads": file(content, name), "gold-kind": kind}
    return upload | {"gold-direction": direction}


def send(client: Client, page: str, home, **fields):
    return client.post(reverse(page, args=[home.code]), fields)


def text_of(client: Client, page: str, *args, **query) -> str:
    answer = client.get(reverse(page, args=args), query)
    assert answer.status_code == 200
    return answer.content.decode()


# Uploads --------------------------------------------------------------------------------------


def test_an_empty_list_says_what_to_do(client):
    text = text_of(client, "evaluations")
    assert "No evaluations yet" in text and reverse("new_collection") in text


def test_a_collection_needs_a_name(client):
    assert client.post(reverse("new_collection"), {"name": " "}).status_code == 422
    assert not ScoreCollection.objects.exists()


def test_uploaded_scores_need_a_confirmed_direction(client, collection):
    send(client, "collection_scores", collection, uploads=file(score_lines("BLEU", "TER", "odd")))
    directions = set(collection.metrics.values_list("name", "higher_is_better"))
    assert directions == {("BLEU", None), ("TER", None), ("odd", None)}
    text = text_of(client, "collection_metrics", collection.code)
    assert "Confirm metric directions" in text and "seems to be an error rate" in text
    assert "no hint in the name" in text
    form = text[text.index("Confirm metric directions") : text.index("left unmarked</label>")]
    assert " checked" not in form


def test_only_the_given_directions_are_confirmed(client, collection):
    send(client, "collection_scores", collection, uploads=file(score_lines("BLEU", "TER")))
    send(client, "collection_directions", collection, rest="")
    assert collection.metrics.unconfirmed().count() == 2
    ter = collection.metrics.get(name="TER")
    send(client, "collection_directions", collection, **{f"way-{ter.code}": "lower"})
    ter.refresh_from_db()
    assert (ter.higher_is_better, ter.direction_confirmed_by) == (False, owner_of(client))
    assert collection.metrics.unconfirmed().get().name == "BLEU"


def test_one_direction_for_the_rest_leaves_marked_metrics_alone(client, collection):
    send(client, "collection_scores", collection, uploads=file(score_lines("BLEU", "TER", "chrF")))
    ter = collection.metrics.get(name="TER")
    fields = {f"way-{ter.code}": "lower", "rest": "higher"}
    send(client, "collection_directions", collection, **fields)
    ways = dict(collection.metrics.values_list("name", "higher_is_better"))
    assert ways == {"BLEU": True, "TER": False, "chrF": True}


def test_a_direction_can_be_corrected_and_both_are_in_the_audit_log(client, collection):
    send(client, "collection_scores", collection, uploads=file(score_lines("BLEU")))
    send(client, "collection_directions", collection, rest="lower")
    bleu = collection.metrics.get()
    send(client, "collection_directions", collection, metric=str(bleu.code), way="higher")
    bleu.refresh_from_db()
    assert bleu.higher_is_better is True
    assert AuditEntry.objects.filter(action="metric_direction_confirmed").count() == 2


def test_gold_without_a_direction_is_refused(client, collection):
    form = gold_form("mqm", "")
    assert send(client, "collection_gold", collection, **form).status_code == 422
    assert not GoldUpload.objects.exists()


def test_gold_is_stored_once_and_replaced_only_on_request(client, collection):
    def upload(content: str, **more: str):
        form = gold_form("mqm", "lower", content)
        return send(client, "collection_gold", collection, **form, **more)

    assert upload(gold_lines()).status_code == upload(gold_lines()).status_code == 302
    stored = GoldUpload.objects.get()
    assert (stored.kind, stored.higher_is_better, stored.n_scores) == ("mqm", False, 36)
    other = gold_lines().replace("A\t1\t", "A\t1\t9")
    refused = upload(other)
    assert refused.status_code == 422 and "different segment gold" in refused.content.decode()
    assert upload(other, **{"gold-replace": "on"}).status_code == 302
    assert GoldUpload.objects.get().sha256 != stored.sha256


BAD_FILES = {
    "text among numbers": (
        score_lines("BLEU").replace("B\t3\t", "B\t3\tx"),
        13,
        "not a finite number",
    ),
    "a doubled row": (score_lines("BLEU") + "A\t1\t0.5\n", 38, "already has a score"),
    "too few cells": (score_lines("BLEU") + "A\t10\n", 38, "has 2 cells"),
    "not a number": (score_lines("BLEU").replace("A\t2\t", "A\t2\tNaN"), 3, "not a finite number"),
    "no scores": ("system\tsegment\nA\t1\n", 1, "no column with scores"),
    "an unknown format": ("one two three\nfour\n", 1, "has neither a header"),
    "another encoding": (score_lines("BLEU").encode() + b"A\t10\t\xff\n", 38, "is not UTF-8"),
    "a zip file": (b"PK\x03\x04abc", "", "is compressed (zip)"),
    "nothing": (b"\n", "", "only empty lines"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_is_named_with_line_and_reason_and_nothing_is_stored(client, collection, name):
    content, line, reason = BAD_FILES[name]
    files = [file(score_lines("chrF"), "good.tsv"), file(content, "bad.tsv")]
    answer = send(client, "collection_scores", collection, uploads=files)
    text = answer.content.decode()
    assert answer.status_code == 422 and not Metric.objects.exists()
    assert "bad.tsv" in text and reason in text
    assert f'data-label="Line" class="number">{line}<' in text


def test_all_bad_files_are_named_at_once(client, collection):
    files = [file("system\tsegment\tx\nA\t1\ty\n", f"bad{i}.tsv") for i in (1, 2)]
    text = send(client, "collection_scores", collection, uploads=files).content.decode()
    assert "bad1.tsv" in text and "bad2.tsv" in text and "Fix the 2 problems" in text


def test_files_that_are_too_large_together_are_refused(client, collection, monkeypatch):
    monkeypatch.setattr("analysis.evaluation.uploading.MAX_FILE_BYTES", 100)
    answer = send(client, "collection_scores", collection, uploads=file(score_lines("BLEU")))
    assert answer.status_code == 422 and "upload fewer at once" in answer.content.decode()


def test_a_campaign_accepts_scores_of_its_own_outputs_only(client):
    campaign = make_campaign()
    make_translations(campaign, n_segments=3)
    answer = send(client, "campaign_scores", campaign, uploads=file(score_lines("BLEU")))
    text = answer.content.decode()
    assert answer.status_code == 422 and not Metric.objects.exists()
    assert "has no score for segment segment-1 by system-a" in text
    answer = send(client, "campaign_gold", campaign, **gold_form("da", "higher"))
    assert answer.status_code == 422
    assert "the campaign has no segment 1 by A" in answer.content.decode()


def test_hostile_names_stay_text(client, collection):
    nasty = "<img src=x>"
    send(client, "collection_scores", collection, uploads=file(score_lines(nasty), f"{nasty}.tsv"))
    text = text_of(client, "collection_metrics", collection.code)
    assert nasty not in text and "&lt;img src=x&gt;" in text


def test_the_built_in_metrics_are_computed_by_a_button(client):
    campaign = make_campaign()
    make_translations(campaign, n_segments=3)
    answer = send(client, "compute_metrics", campaign, names=["TER-Moses", "WER"], tokenise="none")
    job = Job.objects.get()
    assert job.arguments == {"names": ["TER-Moses", "WER"], "tokenise": "none"}
    assert answer.url == reverse("job", args=[job.code])
    assert run_job(job.pk).state == "done"
    text = text_of(client, "campaign_metrics", campaign.code)
    assert "Computed here" in text and text.count(">WER</th>") == 2
    assert send(client, "compute_metrics", campaign).status_code == 302
    assert Job.objects.count() == 1


# Evaluating -----------------------------------------------------------------------------------


def evaluate(client: Client, page: str, home, **fields) -> Evaluation:
    answer = send(client, page, home, seed=1, **fields)
    assert answer.status_code == 302, answer.context["form"].errors
    job = run_job(Job.objects.latest("pk").pk)
    assert job is not None and job.state == "done", job and job.error
    evaluation = Evaluation.objects.get(code=job.result["evaluation"])
    assert reverse("evaluation", args=[evaluation.code]) in text_of(client, "job", job.code)
    return evaluation


def test_from_files_to_the_result_without_a_campaign(client, collection):
    send(client, "collection_scores", collection, uploads=file(score_lines("good", "poor")))
    send(client, "collection_gold", collection, **gold_form("hter", "lower", name="human.tsv"))
    send(client, "collection_directions", collection, rest="lower")
    upload = GoldUpload.objects.get()
    evaluation = evaluate(
        client,
        "collection_evaluate",
        collection,
        golds=[f"upload-{upload.code}"],
        metrics=[str(metric.code) for metric in collection.metrics.all()],
        qe="on",
        baseline="poor",
        sort="mae",
        without="C\n",
    )
    assert (evaluation.collection, evaluation.created_by) == (collection, owner_of(client))
    assert evaluation.options["without_systems"] == ["C"] and evaluation.options["qe"] is True
    text = text_of(client, "evaluation", evaluation.code)
    for phrase in (
        "Predictions against human",
        "Segment-level agreement with human",
        "Predictions of human",
        "System-level agreement with human",
        "Pearson correlation with human by system",
        "t test by segment",
        "not outperformed",
        "not significantly different from poor",
        "Sorted by MAE",
        upload.sha256,
        evaluation.input_digest,
    ):
        assert phrase in text, phrase


def test_a_baseline_needs_quality_estimation(client):
    campaign = make_scored_campaign()
    fields = {"golds": ["z-1"], "metrics": [], "baseline": "BLEU", "seed": 1}
    answer = send(client, "campaign_evaluate", campaign, **fields)
    assert answer.status_code == 422
    assert "A baseline needs quality estimation." in answer.content.decode()


def test_a_campaign_is_evaluated_against_two_golds_side_by_side(client):
    campaign = make_scored_campaign()
    content = "system\tsegment\tscore\n" + "".join(
        f"system-{s}\tsegment-{i}\t{(i * 7 + ord(s)) % 11}\n" for i in range(1, 15) for s in "ab"
    )
    form = gold_form("hter", "lower", content, "hter.tsv")
    assert send(client, "campaign_gold", campaign, **form).status_code == 302
    upload = campaign.gold_uploads.get()
    evaluation = evaluate(
        client,
        "campaign_evaluate",
        campaign,
        golds=["z-1", f"upload-{upload.code}"],
        metrics=[str(metric.code) for metric in campaign.metrics.all()],
    )
    compared = result_of(evaluation).comparisons[0]
    assert (compared.first, compared.second) == ("gold 1", "hter")
    text = text_of(client, "evaluation", evaluation.code)
    assert "Segment-level correlations with gold 1 and with hter" in text and "rank-changes" in text


JUDGEMENTS = "segment\tbetter\tworse\n1\tA\tB\n1\tA\tB\n1\tB\tA\n2\tC\tD\n"


def test_judgements_of_people_are_uploaded_with_the_evaluation(client):
    collection = make_collection(owner_of(client))
    chosen = {
        "golds": [f"upload-{collection.gold_uploads.get().code}"],
        "metrics": [str(metric.code) for metric in collection.metrics.all()],
    }
    people = {"judgements": file(JUDGEMENTS, "people.tsv")}
    evaluation = evaluate(client, "collection_evaluate", collection, **chosen, **people)
    judged = result_of(evaluation).judged
    # Two against one and one alone: (2 - 1 + 1) / 4.
    assert (judged.n, judged.ceiling) == (4, 0.5)
    assert "judgements:4" in evaluation.signature
    text = text_of(client, "evaluation", evaluation.code)
    assert "Judgements of people" in text and evaluation.judgements.sha256 in text
    check = start_job(kind="evaluate_again", arguments={"evaluation": str(evaluation.code)})
    assert run_job(check.pk).result["is_same"]
    evaluation.judgements.delete()
    refused = run_job(
        start_job(kind="evaluate_again", arguments={"evaluation": str(evaluation.code)}).pk
    )
    assert refused.state == "failed" and "judgements of this evaluation" in refused.error


def test_bad_judgements_are_shown_on_the_page_and_start_nothing(client):
    collection = make_collection(owner_of(client))
    answer = send(
        client,
        "collection_evaluate",
        collection,
        golds=[f"upload-{collection.gold_uploads.get().code}"],
        metrics=[str(collection.metrics.first().code)],
        judgements=file("segment\tbetter\tworse\n1\tA\tA\n", "people.tsv"),
        seed=1,
    )
    assert answer.status_code == 422 and not Job.objects.exists()
    assert "prefers a system to itself" in answer.content.decode()


def test_judgements_of_unknown_translations_are_refused(client):
    campaign = make_scored_campaign()
    answer = send(
        client,
        "campaign_evaluate",
        campaign,
        golds=["z-1"],
        metrics=[str(campaign.metrics.first().code)],
        judgements=file(JUDGEMENTS, "people.tsv"),
        seed=1,
    )
    assert answer.status_code == 422 and "the campaign has no segment 1 by A" in str(answer.content)


def test_campaigns_are_pooled_and_the_evaluation_is_reproducible(client):
    campaigns = [make_scored_campaign(), make_scored_campaign()]
    make_gold_run(campaigns[1], seed=5)
    codes = [str(campaign.code) for campaign in campaigns]
    form = {"campaigns": codes, "uses": ["z", "raw"], "seed": 1}
    assert client.post(reverse("evaluate_pooled"), form).status_code == 302
    job = run_job(Job.objects.latest("pk").pk)
    assert job.state == "done", job.error
    evaluation = Evaluation.objects.get()
    assert set(evaluation.pooled.all()) == set(campaigns) and evaluation.campaign is None
    assert [gold.gold.n for gold in result_of(evaluation).golds] == [56, 56]
    again = run_job(
        start_job(kind="evaluate_again", arguments={"evaluation": str(evaluation.code)}).pk
    )
    assert again.result["is_same"] is True
    text = text_of(client, "evaluation", evaluation.code)
    assert "2 sets were pooled" in text and "the numbers are identical, to the last bit" in text
    assert campaigns[0].name in text_of(client, "evaluations")


def test_pooling_needs_at_least_two_campaigns(client):
    form = {"campaigns": [str(make_scored_campaign().code)], "uses": "z", "seed": 1}
    make_scored_campaign()
    answer = client.post(reverse("evaluate_pooled"), form)
    assert answer.status_code == 422 and "at least two" in answer.content.decode()


def test_missing_inputs_are_reported_before_a_job_starts(client, collection):
    text = text_of(client, "collection_evaluate", collection.code)
    assert "There is no gold yet" in text and "There are no metric scores yet" in text
    answer = send(client, "collection_evaluate", make_collection(), seed=1)
    assert answer.status_code == 422 and "at least one metric" in answer.content.decode()
    assert not Job.objects.exists()


def test_a_metric_without_a_direction_is_not_offered(client):
    collection = make_collection(None, "good:higher", "open")
    text = text_of(client, "collection_evaluate", collection.code)
    assert "1 metric without a confirmed direction" in text
    open_one = collection.metrics.unconfirmed().get()
    answer = send(client, "collection_evaluate", collection, seed=1, metrics=[str(open_one.code)])
    assert answer.status_code == 422


def test_gold_of_another_collection_cannot_be_chosen(client):
    collection, other = make_collection(), make_collection()
    upload = other.gold_uploads.get()
    metrics = [str(metric.code) for metric in collection.metrics.all()]
    fields = {"golds": [f"upload-{upload.code}"], "metrics": metrics}
    assert send(client, "collection_evaluate", collection, seed=1, **fields).status_code == 422
    arguments = {"collection": collection.key, "golds": [{"upload": str(upload.code)}]}
    job = run_job(start_job(kind="evaluate_collection", arguments=arguments).pk)
    assert job.state == "failed" and "does not exist" in job.error


def test_results_are_broken_down_by_uploaded_documents_and_texts(client, collection):
    send(client, "collection_scores", collection, uploads=file(score_lines("good:higher")))
    fields = gold_form("da", "higher") | {
        "gold-documents": file("".join(f"doc{i // 5}\n" for i in range(9)), "docs.txt"),
        "gold-texts": file("".join("word " * (i + 1) + "\n" for i in range(9)), "texts.txt"),
    }
    assert send(client, "collection_gold", collection, **fields).status_code == 302
    evaluation = evaluate(
        client,
        "collection_evaluate",
        collection,
        golds=[f"upload-{GoldUpload.objects.get().code}"],
        metrics=[str(collection.metrics.get().code)],
    )
    by = {breakdown.by: breakdown.groups for breakdown in result_of(evaluation).golds[0].breakdowns}
    assert by["document"] == ("doc0", "doc1") and by["length"][0] == "1–3 words"


def test_documents_that_do_not_fit_the_gold_are_refused(client, collection):
    documents = {"gold-documents": file("one\n", "docs.txt")}
    answer = send(client, "collection_gold", collection, **gold_form("da", "higher"), **documents)
    assert answer.status_code == 422 and not GoldUpload.objects.exists()
    assert "has 1 lines for 9 segments" in answer.content.decode()


# Downloads ------------------------------------------------------------------------------------


@pytest.mark.parametrize("fmt", ["tex", "md", "csv"])
def test_every_table_can_be_downloaded(client, fmt):
    evaluation = make_collection_evaluation()
    tables = client.get(reverse("evaluation", args=[evaluation.code])).context["tables"]
    assert len(tables) >= 3
    for item in tables:
        answer = client.get(reverse("evaluation_table", args=[evaluation.code, item.name, fmt]))
        assert answer.status_code == 200 and f"{item.name}.{fmt}" in answer["Content-Disposition"]
        assert fmt == "csv" or item.table.note.split()[0].encode() in answer.content


def test_every_picture_can_be_downloaded(client):
    evaluation = make_collection_evaluation()
    pictures = client.get(reverse("evaluation", args=[evaluation.code])).context["pictures"]
    names = [picture.name for picture in pictures]
    scatters = ["scatter-good-gold", "scatter-poor-gold"]
    assert names == ["significance-gold", "between-metrics", *scatters]
    starts = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF", "csv": b""}
    for name in (names[0], names[2]):
        for fmt, start in starts.items():
            answer = client.get(reverse("evaluation_picture", args=[evaluation.code, name, fmt]))
            assert answer.status_code == 200 and answer.content.startswith(start)
    for name, fmt in (("portrait", "svg"), (names[0], "gif")):
        answer = client.get(reverse("evaluation_picture", args=[evaluation.code, name, fmt]))
        assert answer.status_code == 404
    wrong = client.get(reverse("evaluation_table", args=[evaluation.code, "segment-gold", "exe"]))
    assert wrong.status_code == 404


def test_the_measure_of_the_significance_map_can_be_chosen(client):
    evaluation = make_collection_evaluation()
    names = {test["measure"] for test in evaluation.result["golds"][0]["tests"]}
    assert "spearman" in names
    text = client.get(
        reverse("evaluation", args=[evaluation.code]), {"measure": "segment-spearman"}
    ).content.decode()
    assert '<option value="segment-spearman" selected>Spearman, segment level</option>' in text
    assert "significance-segment-spearman-" in text


def test_the_json_is_what_was_stored(client):
    evaluation = make_collection_evaluation()
    answer = client.get(reverse("evaluation_json", args=[evaluation.code]))
    assert json.loads(answer.content) == evaluation.result


def test_run_again_shows_the_same_numbers(client):
    evaluation = make_collection_evaluation()
    answer = send(client, "check_evaluation", evaluation)
    job = Job.objects.get()
    assert answer.url == reverse("job", args=[job.code])
    assert run_job(job.pk).result["is_same"] is True
    assert "the numbers are identical, to the last bit" in text_of(
        client, "evaluation", evaluation.code
    )
    Evaluation.objects.update(result=evaluation.result | {"signature": "tampered"})
    run_job(start_job(kind="evaluate_again", arguments={"evaluation": str(evaluation.code)}).pk)
    assert "the numbers differ" in text_of(client, "evaluation", evaluation.code)


def test_an_evaluation_reports_that_its_scores_were_replaced(client):
    evaluation = make_collection_evaluation()
    raw = RawFile("new.tsv", score_lines("poor:higher", seed=9).encode())
    store_uploaded_scores(files=[raw], home=evaluation.collection, replace=True)
    text = text_of(client, "evaluation", evaluation.code)
    assert "have since been replaced or removed" in text and "scatter-" not in text
    scatter = reverse("evaluation_picture", args=[evaluation.code, "scatter-poor-gold", "svg"])
    assert client.get(scatter).status_code == 410
    job = run_job(
        start_job(kind="evaluate_again", arguments={"evaluation": str(evaluation.code)}).pk
    )
    assert job.state == "failed" and "replaced or removed" in job.error


# Who sees what --------------------------------------------------------------------------------


def test_a_researcher_of_one_campaign_does_not_see_evaluations_of_another():
    visible, other = make_campaign_evaluation(), make_campaign_evaluation()
    pooled = evaluate_pooled(
        golds=[
            PooledChoice(
                tuple((str(evaluation.campaign.code), 1) for evaluation in (visible, other))
            )
        ]
    )
    from_files = make_collection_evaluation()
    alice = client_of("researcher", visible.campaign)
    assert list(visible_evaluations(owner_of(alice))) == [visible]
    text = text_of(alice, "evaluations")
    assert str(visible.code) in text
    for hidden in (other, pooled, from_files):
        assert str(hidden.code) not in text
        for page in ("evaluation", "evaluation_json"):
            assert alice.get(reverse(page, args=[hidden.code])).status_code == 404
        for page, name, fmt in (
            ("evaluation_table", "segment-gold-1", "csv"),
            ("evaluation_picture", "between-metrics", "svg"),
        ):
            assert alice.get(reverse(page, args=[hidden.code, name, fmt])).status_code == 404
        assert send(alice, "check_evaluation", hidden).status_code == 404
    hidden_files = from_files.collection
    assert alice.get(reverse("collection_metrics", args=[hidden_files.code])).status_code == 404
    assert send(alice, "collection_scores", hidden_files, uploads=file("x")).status_code == 404
    assert not Job.objects.exists()


def test_a_pooled_evaluation_is_visible_to_members_of_all_its_campaigns():
    campaigns = [make_scored_campaign(), make_scored_campaign()]
    pooled = evaluate_pooled(
        golds=[PooledChoice(tuple((str(campaign.code), 1) for campaign in campaigns))]
    )
    alice = client_of("researcher", campaigns[0])
    assert alice.get(reverse("evaluation", args=[pooled.code])).status_code == 404
    Membership.objects.create(user=owner_of(alice), campaign=campaigns[1], level="researcher")
    assert alice.get(reverse("evaluation", args=[pooled.code])).status_code == 200


def test_only_members_can_pool_a_campaign():
    campaigns = [make_scored_campaign(), make_scored_campaign()]
    alice = client_of("researcher", campaigns[0])
    codes = [str(campaign.code) for campaign in campaigns]
    answer = alice.post(reverse("evaluate_pooled"), {"campaigns": codes, "uses": "z", "seed": 1})
    assert answer.status_code == 422
    arguments = {"runs": [[code, 1] for code in codes]}
    job = start_job(kind="evaluate_pooled", arguments=arguments, started_by=owner_of(alice))
    assert run_job(job.pk).state == "failed" and not Evaluation.objects.exists()


def test_uploads_are_visible_to_their_owner_and_to_researchers_of_all_campaigns(client):
    campaign = make_campaign()
    alice, bob = client_of("researcher", campaign), client_of("researcher", campaign)
    evaluation = make_collection_evaluation(owner_of(alice))
    address = reverse("evaluation", args=[evaluation.code])
    assert [person.get(address).status_code for person in (alice, bob, client)] == [200, 404, 200]


def test_the_list_needs_the_same_number_of_queries_at_any_length(
    client, django_assert_max_num_queries
):
    make_collection_evaluation()
    counts = []
    for _ in range(2):
        with django_assert_max_num_queries(12) as queries:
            text_of(client, "evaluations")
        counts.append(len(queries))
        make_collection_evaluation()
        make_campaign_evaluation()
    assert counts[0] == counts[1]


def test_the_metrics_page_needs_the_same_number_of_queries_at_any_length(
    client, django_assert_max_num_queries
):
    counts = []
    for names in (("a:higher",), ("a:higher", "b:lower", "c", "d")):
        collection = make_collection(None, *names)
        with django_assert_max_num_queries(12) as queries:
            text_of(client, "collection_metrics", collection.code)
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_the_page_has_the_levels_and_random_draws_of_the_command(client):
    campaign = make_scored_campaign()
    fields = {"golds": ["z-1"], "metrics": [str(metric.code) for metric in campaign.metrics.all()]}
    chosen = {"alpha": "0.01", "confidence": "0.9", "n_resamples": "50"}
    options = evaluate(client, "campaign_evaluate", campaign, **fields, **chosen).options
    assert (options["alpha"], options["confidence"], options["n_resamples"]) == (0.01, 0.9, 50)
    for name, value in (("alpha", "1"), ("confidence", "0"), ("n_resamples", "0")):
        answer = send(client, "campaign_evaluate", campaign, seed=1, **fields, **{name: value})
        assert answer.status_code == 422 and name in answer.context["form"].errors


def test_the_suggested_directions_can_be_accepted_at_once(client, collection):
    send(client, "collection_scores", collection, uploads=file(score_lines("BLEU", "TER", "odd")))
    send(client, "collection_directions", collection, rest="suggested")
    ways = dict(collection.metrics.values_list("name", "higher_is_better"))
    assert ways == {"BLEU": True, "TER": False, "odd": None}
