"""Post-editions: human-targeted metrics and times, as metrics or as gold, from file to evaluation."""

from functools import partial
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db.models import F, Value
from django.db.models.functions import Concat
from django.urls import reverse
from numpy.testing import assert_allclose
from sacrebleu.metrics import BLEU, CHRF, TER

from analysis.evaluation import stored_evaluations
from analysis.evaluation.results import Options
from analysis.evaluation.stored_evaluations import (
    UploadChoice,
    evaluate_again,
    evaluate_campaign,
    result_of,
)
from analysis.metrics.catalogue import targeted_metrics_for
from analysis.models import Evaluation, GoldUpload, Metric
from analysis.post_editions import measures, reading
from analysis.post_editions.collected import measurer
from analysis.post_editions.importing import import_post_editions
from analysis.post_editions.measures import compute_targeted
from analysis.post_editions.reading import EditedText, PostEditions
from analysis.scores.errors import ScoresRefused
from analysis.scores.raw_files import RawFile
from analysis.scores.storing import campaign_keys, stored_table
from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job, start_job
from hits.campaigns.editing import duplicate_campaign
from hits.models import Segment, SystemOutput
from tests.api.callers import caller
from tests.evaluations import make_scored_campaign
from tests.factories import make_campaign, make_translations
from tests.people import client_of, make_person

pytestmark = pytest.mark.django_db

HEADER = "system\tsegment\tpost_edition"


@pytest.fixture
def campaign():
    campaign = make_campaign(name="edited")
    make_translations(campaign, n_segments=3)
    return campaign


def output(system, segment):
    return str(SystemOutput.objects.get(system__name=system, segment__name=segment))


def post_editions(campaign, text="a better text"):
    keys = campaign_keys(campaign, "segment")
    rows = [f"{system}\t{segment}\t{text}" for system, segment in keys]
    return RawFile("pe.tsv", "\n".join([HEADER, *rows]).encode())


def rows_of(*rows, columns=("editor", "seconds")):
    lines = ["\t".join([HEADER, *columns]), *("\t".join(map(str, row)) for row in rows)]
    return RawFile("pe.tsv", "\n".join(lines).encode())


def score(name, translation, *targets, **settings):
    metric = targeted_metrics_for("en", tokenise="none", **settings)[name]
    return metric.of_segment(metric.counts(translation, *targets))


# Human-targeted metrics -----------------------------------------------------------------------


def test_hter_is_edits_per_word_of_the_post_edition():
    # A shift and a replaced word, over five words.
    assert score("TER", "c d a b x", "a b c d y") == 2 / 5
    assert score("WER", "c d a b x", "a b c d y") == 1


@pytest.mark.parametrize("name", ["TER", "WER", "PER", "CDER", "TER-Moses"])
def test_error_rates_are_capped_and_ignore_case_unless_told_otherwise(name):
    assert score(name, "The cat", "the cat") == 0
    assert score(name, "The cat", "the cat", ignore_case=False) == 1 / 2
    assert score(name, "v w x y z", "a") == 1
    assert score(name, "v w x y z", "a", cap=False) > 1


def test_ter_cased_keeps_case_and_bleu_follows_the_choice():
    assert score("TER-cased", "The cat", "the cat") == 1 / 2
    assert (
        score("sBLEU", "The cat", "the cat")
        == 1
        > score("sBLEU", "The cat", "the cat", ignore_case=False)
    )


def test_texts_are_tokenised():
    metric = targeted_metrics_for("en")["TER"]
    assert metric.of_segment(metric.counts("A cat, sat.", "A cat sat.")) == 1 / 4


def test_a_systems_error_rate_counts_capped_errors_over_all_words():
    metric = targeted_metrics_for("en", tokenise="none")["WER"]
    counts = np.array([metric.counts("v w x", "a"), metric.counts("b c d", "b c d")])
    assert metric.of_system(counts, [], []) == 1 / 4


def test_settings_have_different_signatures():
    signatures = {
        targeted_metrics_for("en", ignore_case=case, cap=cap)["TER"].signatures["segment"]
        for case in (True, False)
        for cap in (True, False)
    }
    assert len(signatures) == 4
    assert all(text.startswith("ref:post-edition|metric:TER|") for text in signatures)


def test_with_several_post_editions_the_closest_one_counts_over_their_mean_length():
    assert score("TER", "a b c", "x y z w", "a b d d") == 2 / 4
    assert score("WER", "a b c", "a b c d e", "a b c") == 0


@pytest.mark.parametrize(
    ("name", "theirs"),
    [
        ("BLEU", BLEU(effective_order=True, lowercase=True, tokenize="none")),
        ("chrF", CHRF(lowercase=True)),
    ],
)
def test_several_references_are_scored_as_by_sacrebleu(name, theirs):
    targets = "the cat is on the mat", "a cat sat there"
    expected = theirs.sentence_score("the cat sat on a mat", targets).score
    assert_allclose(score(name, "the cat sat on a mat", *targets), expected)
    expected = TER().sentence_score("the cat sat on a mat", targets).score
    assert_allclose(100 * score("TER", "the cat sat on a mat", *targets), expected)


def test_smoothed_bleu_matches_n_grams_of_any_reference():
    # Against both: 4 of 4 words, 2 of 3 bigrams, nothing longer; the closer length is 4.
    assert_allclose(
        score("sBLEU", "a b c d", "a b x x x", "y y c d"),
        (5 / 5 * 3 / 4 * 1 / 3 * 1 / 2) ** (1 / 4),
    )


def test_system_scores_take_different_numbers_of_references():
    metric = targeted_metrics_for("en")["chrF"]
    texts, targets = ["a cat sat", "a dog"], [("a cat sat down", "a cat"), ("a dog ran",)]
    rows = np.array([metric.counts(text, *refs) for text, refs in zip(texts, targets, strict=True)])
    theirs = CHRF(lowercase=True).corpus_score(
        texts, [["a cat sat down", "a dog ran"], ["a cat", None]]
    )
    assert_allclose(metric.of_system(rows, texts, targets), theirs.score)


# Storing --------------------------------------------------------------------------------------


def test_scores_are_stored_as_metrics(campaign):
    Segment.objects.update(reference="")
    text = output("system-a", "segment-1")
    stored = compute_targeted(
        campaign=campaign, names=["TER", "sBLEU"], post_editions=post_editions(campaign, text)
    )
    assert [(row.name, row.level) for row in stored] == [
        (name, level) for name in ("HTER", "HsBLEU") for level in ("segment", "system")
    ]
    assert stored_table(stored[0]).scores[0] == 0 and stored_table(stored[2]).scores[0] == 1


def test_gold_needs_no_post_edition_of_every_output(campaign):
    text = output("system-a", "segment-2")
    edited = rows_of(("system-a", "segment-2", text), columns=())
    with pytest.raises(ScoresRefused, match="no post-edition of segment segment-1 by system-a"):
        compute_targeted(campaign=campaign, post_editions=edited, names=["TER"])
    (gold,) = compute_targeted(campaign=campaign, post_editions=edited, names=["TER"], use="gold")
    assert (gold.name, gold.kind, gold.higher_is_better, gold.n_scores) == (
        "HTER",
        "hter",
        False,
        1,
    )
    assert gold.table["score"] == [0] and gold.table["text"] == [text]


def test_times_are_averaged_over_editors_and_divided_by_the_words_of_the_output(campaign):
    n_words = len(output("system-a", "segment-1").split())
    edited = rows_of(
        ("system-a", "segment-1", "one text", "alice", 10),
        ("system-a", "segment-1", "another text", "bob", 20),
    )
    golds = compute_targeted(
        campaign=campaign, post_editions=edited, names=["TER"], use="gold", tokenise="none"
    )
    scores = {gold.name: gold.table["score"] for gold in golds}
    assert scores["PET"] == [15] and scores["PET-per-word"] == [15 / n_words]
    assert "nrefs:var" in golds[0].signature
    assert not any(gold.higher_is_better for gold in golds)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("system-a\tsegment-2", "system-x\tsegment-2"), "no segment segment-2 by system-x"),
        (("system-b\tsegment-1", "system-a\tsegment-1"), "line 3: is a second post-edition"),
        (("\tpost_edition", "\ttext"), "must have the columns system, segment and post_edition"),
        (("system-a\tsegment-1\ta better text", "system-a\tsegment-1\t"), "post-edition is empty"),
    ],
)
def test_bad_post_editions_are_refused(campaign, change, reason):
    raw = post_editions(campaign)
    changed = RawFile("pe.tsv", raw.content.decode().replace(*change, 1).encode())
    with pytest.raises(ScoresRefused, match=reason):
        compute_targeted(campaign=campaign, post_editions=changed, use="gold")
    assert not Metric.objects.exists() and not GoldUpload.objects.exists()


@pytest.mark.parametrize(
    ("seconds", "reason"),
    [("-1", "time is negative"), ("soon", "time 'soon' is not"), ("", "no time")],
)
def test_bad_times_are_refused(campaign, seconds, reason):
    edited = rows_of(("system-a", "segment-1", "one text", "alice", seconds))
    with pytest.raises(ScoresRefused, match=reason):
        compute_targeted(campaign=campaign, post_editions=edited, use="gold")


# Evaluating -----------------------------------------------------------------------------------


def test_metrics_and_times_are_evaluated_against_computed_hter(campaign):
    keys = list(campaign_keys(campaign, "segment"))
    edited = rows_of(
        *((*key, " ".join("abcdefgh"[: i + 1]), "alice", i + 1) for i, key in enumerate(keys))
    )
    (gold, *_) = compute_targeted(
        campaign=campaign, post_editions=edited, names=["WER"], use="gold", cap=False
    )
    compute_targeted(campaign=campaign, post_editions=edited, names=["PER"])
    evaluation = evaluate_campaign(campaign=campaign, golds=[UploadChoice(str(gold.code))])
    (against,) = result_of(evaluation).golds
    assert {row.metric for row in against.segment} == {"HPER", "PET", "PET-per-word"}
    assert against.comparison is not None and against.gold.kind == "other"


# Page, API and command ------------------------------------------------------------------------


def upload(campaign, client, raw, **fields):
    file = SimpleUploadedFile(raw.name, raw.content)
    data = {"edited-upload": file, "edited-use": "gold", "edited-names": ["TER"]}
    page = reverse("campaign_post_editions", args=[campaign.code])
    return client.post(page, data | {f"edited-{name}": value for name, value in fields.items()})


def test_the_page_stores_gold_that_can_be_chosen(campaign):
    client = client_of("researcher")
    answer = upload(campaign, client, post_editions(campaign), cap="on")
    assert answer.url == reverse("campaign_metrics", args=[campaign.code])
    gold = GoldUpload.objects.get()
    assert "clip:1" in gold.signature and "case:mixed" in gold.signature
    compute_targeted(campaign=campaign, post_editions=post_editions(campaign), names=["PER"])
    text = client.get(reverse("campaign_evaluate", args=[campaign.code])).content.decode()
    assert f'value="upload-{gold.code}"' in text


def test_the_page_shows_what_is_wrong(campaign, monkeypatch):
    client = client_of("researcher")
    answer = upload(campaign, client, RawFile("pe.tsv", b"system\tsegment\ttext\n"))
    assert answer.status_code == 422 and "must have the columns" in answer.content.decode()
    monkeypatch.setattr(measures, "MOST_TEXTS_AT_ONCE", 5)
    answer = upload(campaign, client, post_editions(campaign))
    assert answer.status_code == 422 and "use the command" in answer.content.decode()


def test_the_command_stores_metrics_or_gold(campaign, tmp_path, capsys):
    path = tmp_path / "pe.tsv"
    path.write_bytes(post_editions(campaign).content)
    chosen = ["edited", "--metrics", "PER", "--post-editions", str(path)]
    call_command("compute_metrics", *chosen, "--case-sensitive", "--uncapped")
    out = capsys.readouterr().out
    assert out.startswith("HPER (lower is better)") and "case:mixed" in out and "clip:no" in out
    call_command("compute_metrics", *chosen, "--gold")
    assert capsys.readouterr().out == "Stored gold HPER: 6 scores.\n"
    with pytest.raises(CommandError, match="--gold needs --post-editions"):
        call_command("compute_metrics", "edited", "--gold")


def test_collected_post_editions_become_hter_and_times(campaign, monkeypatch):
    edits = [
        SimpleNamespace(
            systems=("system-a", "system-b"),
            segment="segment-1",
            text=text,
            final=text,
            check=None,
            worker_code=editor,
            seconds=seconds,
        )
        for editor, text, seconds in (("alice", "one text", 10), ("bob", "another one", None))
    ]
    monkeypatch.setattr(reading, "load_edited_outputs", lambda campaign, trusted_only: iter(edits))
    client = client_of("researcher")
    page = reverse("campaign_post_editions", args=[campaign.code])
    fields = {"edited-use": "gold", "edited-names": ["TER"], "edited-cap": "on"}
    answer = client.post(page, fields)
    job = Job.objects.get()
    assert answer.url == reverse("job", args=[job.code])
    assert run_job(job.pk).state == "done"
    golds = {gold.name: gold for gold in GoldUpload.objects.all()}
    assert golds.keys() == {"HTER", "PET", "PET-per-word"}
    assert golds["PET"].table["score"] == [10, 10]
    assert golds["HTER"].table["system"] == ["system-a", "system-b"]


def test_without_any_post_editions_the_command_says_so(campaign):
    with pytest.raises(CommandError, match="no post-editions by trusted editors"):
        call_command("compute_metrics", "edited", "--post-editions")


# Of another campaign, and incomplete ----------------------------------------------------------


@pytest.fixture
def edited_elsewhere(campaign):
    """The same outputs in a campaign for post-editing: each post-edition a word longer, and none of the last output."""
    copy = duplicate_campaign(campaign=campaign, name="elsewhere", actor=make_person("superuser"))
    copy.task, copy.hit_size = "edit", 20
    copy.save(update_fields=["task", "hit_size"])
    keys = list(campaign_keys(copy, "segment"))[:-1]
    rows = [(*key, f"{output_of(copy, *key)} more", "alice", 10) for key in keys]
    import_post_editions(campaign=copy, source=rows_of(*rows))
    return copy


def output_of(campaign, system, segment):
    outputs = SystemOutput.objects.filter(system__campaign=campaign)
    return str(outputs.get(system__name=system, segment__name=segment))


def test_post_editions_of_another_campaign_become_gold_of_this_one(
    campaign, edited_elsewhere, capsys
):
    call_command(
        *("compute_metrics", "edited", "--post-editions-of", "elsewhere"),
        *("--metrics", "TER", "--gold", "--tokenise", "none"),
    )
    assert "Stored gold HTER: 5 scores." in capsys.readouterr().out
    gold = GoldUpload.objects.get(name="HTER")
    assert gold.campaign == campaign
    keys = list(campaign_keys(campaign, "segment"))[:-1]
    n_words = [len(output_of(campaign, *key).split()) for key in keys]
    assert gold.table["score"] == [1 / (n + 1) for n in n_words]


def test_pages_and_api_offer_the_campaigns_whose_post_editions_fit(campaign, edited_elsewhere):
    client = client_of("superuser")
    page = client.get(reverse("campaign_metrics", args=[campaign.code])).content.decode()
    assert f'<option value="{edited_elsewhere.code}">elsewhere</option>' in page
    fields = {"edited-use": "gold", "edited-names": ["TER"]}
    fields |= {"edited-post_editions_of": edited_elsewhere.code}
    client.post(reverse("campaign_post_editions", args=[campaign.code]), fields)
    assert run_job(Job.objects.get().pk).state == "done"
    assert GoldUpload.objects.get(campaign=campaign, name="HTER").n_scores == 5
    ada = caller("superuser", campaign)
    path = f"/campaigns/{campaign.code}/metrics/compute-targeted"
    body = {"names": ["WER"], "post_editions_of": str(edited_elsewhere.code)}
    assert ada.post(path, body).status_code == 202
    assert run_job(Job.objects.latest("pk").pk).state == "done"
    assert GoldUpload.objects.get(campaign=campaign, name="HWER").n_scores == 5


def test_nobody_uses_post_editions_of_a_campaign_they_may_not_see(campaign, edited_elsewhere):
    ada = caller("researcher", campaign)
    path = f"/campaigns/{campaign.code}/metrics/compute-targeted"
    body = {"post_editions_of": str(edited_elsewhere.code)}
    assert ada.post(path, body).status_code == 404
    job = start_job(
        kind="compute_targeted",
        campaign=campaign,
        arguments=body,
        started_by=make_person("researcher", campaign),
    )
    assert "may not see it" in run_job(job.pk).error
    client = client_of("researcher", campaign)
    page = client.get(reverse("campaign_metrics", args=[campaign.code])).content.decode()
    assert str(edited_elsewhere.code) not in page


def test_post_editions_of_other_outputs_are_refused(campaign, edited_elsewhere):
    def compute():
        call_command("compute_metrics", "edited", "--post-editions-of", "elsewhere", "--gold")

    first = SystemOutput.objects.filter(system__campaign=campaign).order_by("segment__position")
    SystemOutput.objects.filter(pk=first[0].pk).update(own_text="Something else.")
    with pytest.raises(CommandError, match="different texts of 1 outputs"):
        compute()
    edited_elsewhere.segments.update(name=Concat(Value("x"), F("name")))
    with pytest.raises(CommandError, match="matched by the names of system and segment"):
        compute()
    edited_elsewhere.target_language = "de"
    edited_elsewhere.save(update_fields=["target_language"])
    with pytest.raises(CommandError, match="different target languages"):
        compute()


def test_metrics_may_be_partial_if_that_is_said(campaign, edited_elsewhere, capsys):
    last = list(campaign_keys(campaign, "segment"))[-1]
    chosen = ["compute_metrics", "edited", "--post-editions-of", "elsewhere", "--metrics", "TER"]
    with pytest.raises(CommandError, match=f"no post-edition of segment {last[1]} by {last[0]}"):
        call_command(*chosen)
    call_command(*chosen, "--partial")
    assert "Stored metric HTER: 5 scores." in capsys.readouterr().out
    assert set(Metric.objects.values_list("name", "level", "n_scores")) == {
        (name, "segment", 5) for name in ("HTER", "PET", "PET-per-word")
    }


def test_times_of_some_outputs_are_gold_of_those_and_no_metric_unless_it_may_be_partial(campaign):
    keys = list(campaign_keys(campaign, "segment"))
    edited = PostEditions()
    for place, key in enumerate(keys):
        edited.add(EditedText(key, "a text", "alice", None if place == 2 else 10 + place))
    with mock.patch.object(measures, "read_post_editions", return_value=edited):
        compute = partial(compute_targeted, campaign=campaign, post_editions=Path("x"))
        with pytest.raises(ScoresRefused, match=f"no time of segment {keys[2][1]} by {keys[2][0]}"):
            compute(names=["TER"])
        golds = {gold.name: gold for gold in compute(names=["TER"], use="gold")}
        assert (golds["HTER"].n_scores, golds["PET"].n_scores) == (6, 5)
        assert golds["PET"].table["score"] == [10, 11, 13, 14, 15]
        metrics = {metric.name: metric for metric in compute(names=["TER"], partial=True)}
        assert (metrics["HTER"].n_scores, metrics["PET"].n_scores) == (6, 5)


# Pooled ---------------------------------------------------------------------------------------


def test_hter_of_several_campaigns_is_pooled_as_gold(campaign):
    other = make_campaign(name="second")
    make_translations(other, n_segments=3)
    client = client_of("superuser")
    page = reverse("evaluate_pooled")
    for each in (campaign, other):
        keys = list(campaign_keys(each, "segment"))
        rows = [(*key, " ".join("abcdefgh"[: i + 1])) for i, key in enumerate(keys)]
        edited = rows_of(*rows, columns=())
        compute_targeted(campaign=each, post_editions=edited, names=["WER"], use="gold", cap=False)
        compute_targeted(campaign=each, post_editions=edited, names=["PER"], cap=False)
    codes = [str(each.code) for each in (campaign, other)]
    answer = client.post(page, {"campaigns": codes, "uses": ["upload-HWER"], "seed": 1})
    assert answer.status_code == 302, answer.context["form"].errors
    job = run_job(Job.objects.latest("pk").pk)
    assert job.state == "done", job.error
    evaluation = Evaluation.objects.get(code=job.result["evaluation"])
    (against,) = result_of(evaluation).golds
    assert (against.gold.name, against.segment[0].metric) == ("HWER", "HPER")
    golds = [GoldUpload.objects.get(campaign=each).table["score"] for each in (campaign, other)]
    scores = [
        stored_table(each.metrics.get(name="HPER", level="segment")).scores
        for each in (campaign, other)
    ]
    r = np.corrcoef(np.concatenate(golds), np.concatenate(scores))[0, 1]
    assert_allclose(against.segment[0].pearson.estimate, r)
    assert evaluate_again(evaluation).result.to_dict() == evaluation.result
    GoldUpload.objects.filter(campaign=other).delete()
    refused = client.post(page, {"campaigns": codes, "uses": ["upload-HWER"], "seed": 1})
    assert refused.status_code == 422


def test_a_campaign_without_the_chosen_gold_is_named(campaign):
    rated, other = make_scored_campaign(name="rated"), make_campaign(name="second")
    make_translations(other, n_segments=3)
    for each in (campaign, other):
        edited = post_editions(each)
        compute_targeted(campaign=each, post_editions=edited, names=["TER"], use="gold")
    codes = [str(each.code) for each in (campaign, rated)]
    answer = client_of("superuser").post(
        reverse("evaluate_pooled"), {"campaigns": codes, "uses": ["upload-HTER", "z"], "seed": 1}
    )
    text = answer.content.decode()
    assert answer.status_code == 422
    assert "rated has no such gold: HTER (HTER)." in text
    assert "edited has no such gold: Standardised scores (z)." in text


# Words of the output --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "text", "n_words"),
    [("en", "The cat, sat.", 5), ("zh", "这是一只猫。", 6), ("ja", "猫がいる。", 5)],
)
def test_times_are_divided_by_the_same_words_everywhere(language, text, n_words, monkeypatch):
    monkeypatch.setattr("analysis.metrics.catalogue._has_dictionary", lambda language: False)
    campaign = make_campaign(name="times", target_language=language, source_language="fr")
    make_translations(campaign, n_segments=4, n_systems=1)
    SystemOutput.objects.update(own_text=text)
    keys = list(campaign_keys(campaign, "segment"))
    # The source is longer than the output.
    campaign.segments.update(source=" ".join("abcdefghijkl"))
    edited = rows_of(*((*key, "x y", "alice", 12 * (i + 1)) for i, key in enumerate(keys)))
    golds = compute_targeted(campaign=campaign, post_editions=edited, use="gold", names=["TER"])
    by_name = {gold.name: gold for gold in golds}
    per = [12 * (i + 1) / n_words for i in range(4)]
    assert_allclose(by_name["PET-per-word"].table["score"], per)
    compute_targeted(campaign=campaign, post_editions=edited, names=["TER"])
    evaluation = evaluate_campaign(
        campaign=campaign,
        golds=[UploadChoice(str(by_name["PET"].code))],
        metrics=list(campaign.metrics.filter(name="PET")),
        options=Options(per_word=True, qe=True),
    )
    rows = stored_evaluations.rows_of(evaluation, "PET", ["PET"])
    assert_allclose(rows.gold, per)
    shown = measurer(language)(text, "x y", 12.0)
    assert shown.seconds_per_word == pytest.approx(12 / n_words)
