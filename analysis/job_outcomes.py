"""What came out of each kind of job, in a sentence with links to where it can be seen."""

from typing import Any
from uuid import UUID

from django.urls import reverse

from da_platform.jobs.kinds import Outcome
from da_platform.jobs.models import Job
from da_platform.wording import counted

from .exporting.offered import DOWNLOAD_FORMATS, DOWNLOADS
from .scores.fixes import listed
from .stats.thresholds import ALPHA

Result = dict[str, Any]


def _page(label: str, name: str, job: Job, query: str = "") -> tuple[str, str]:
    assert job.campaign is not None
    return label, reverse(name, args=[job.campaign.code]) + query


def gold_built(job: Job, result: Result) -> Outcome:
    sentence = (
        f"Gold {result['run']} has scores of {counted(result['n_scored'], 'translation')}, from "
        f"{counted(result['n_ratings'], 'rating')}."
    )
    if result["n_incomplete"]:
        sentence += f" {result['n_incomplete']:,} have too few ratings for one."
    link = _page(f"View gold {result['run']}", "campaign_results", job, f"?run={result['run']}")
    return Outcome(sentence, (link, _page("Evaluate metrics against it", "campaign_metrics", job)))


def look_taken(job: Job, result: Result) -> Outcome:
    if n_translations := result.get("n_translations"):
        going_on = counted(result["n_wide"], "translation")
        found = f"{result['n_wide']:,} of {counted(n_translations, 'score')} still too uncertain"
    else:
        going_on = counted(len(result["open_systems"]), "system")
        n_decided = result["n_pairs"] - result["n_undecided"]
        found = f"{n_decided:,} of {counted(result['n_pairs'], 'pair')} decided"
    follows = (
        "This was the last look: no more places are offered."
        if result["is_last"]
        else f"{going_on} go on, in {counted(result['n_hits'], 'more HIT')}."
    )
    sentence = f"Look {result['look']}: {found}. {follows}"
    return Outcome(sentence, (_page("View the looks", "campaign_looks", job),))


def agreement_measured(job: Job, result: Result) -> Outcome:
    between, within = result["between"], result["within"]
    sentence = (
        f"Different workers agree with r = {_shown(between['pearson'])} over "
        f"{counted(between['n_pairs'], 'pair')} of ratings; the same worker, on repeats, with r = "
        f"{_shown(within['pearson'])} over {counted(within['n_pairs'], 'pair')}."
    )
    return Outcome(sentence, (_page("View results", "campaign_results", job),))


def editor_agreement_measured(job: Job, result: Result) -> Outcome:
    from .post_editions.agreement import in_words

    return Outcome(in_words(result), (_page("View post-editions", "post_editions", job),))


def presentation_measured(job: Job, result: Result) -> Outcome:
    names = {"screens": "on a screen", "documents": "in a document"}
    sentences = [
        f"Places {where}: p = {_shown(result[name]['pvalue'])}."
        for name, where in names.items()
        if result[name]
    ]
    if context := result["context"]:
        n_different = sum(p is not None and p < ALPHA for p in context["adjusted"])
        sentences.append(
            f"Against {context['against']}: {n_different} of {counted(len(context['systems']), 'system')} differ."
        )
    return Outcome(" ".join(sentences), (_page("View effects", "presentation_effects", job),))


def systems_ranked(job: Job, result: Result) -> Outcome:
    systems = result["systems"]
    if not systems:
        sentence = "No system has a score yet, so there is nothing to rank."
        return Outcome(sentence, (_page("View the results", "campaign_results", job),))
    n_clusters = max(row["cluster"] for row in systems)
    first = [row["system"] for row in systems if row["cluster"] == 1]
    sentence = (
        f"{counted(len(systems), 'system')} in {counted(n_clusters, 'cluster')}. "
        f"First: {listed(first)}."
    )
    return Outcome(sentence, (_page("View the ranking", "campaign_results", job),))


def judgements_ranked(job: Job, result: Result) -> Outcome:
    n_clusters = max(row["cluster"] for row in result["systems"])
    sentence = (
        f"{counted(len(result['systems']), 'system')} in {counted(n_clusters, 'cluster')}, from "
        f"{counted(result['n_judgements'], 'judgement')}. First: {result['systems'][0]['system']}."
    )
    return Outcome(sentence, (_page("View the ranking", "campaign_ranking", job),))


def experiment_run(job: Job, result: Result) -> Outcome:
    address = reverse("experiment", args=[result["experiment"]])
    return Outcome(result["findings"][0], (("View the experiment", address),))


def evaluated(job: Job, result: Result) -> Outcome:
    sentences = [
        f"Against {gold}, no other metric significantly outperforms {listed(winners)}."
        for gold, winners in result.get("winners", {}).items()
        if winners
    ]
    sentence = " ".join(sentences) or "The evaluation is finished."
    return Outcome(sentence, (_evaluation("View evaluation", result["evaluation"]),))


def evaluated_again(job: Job, result: Result) -> Outcome:
    sentence = (
        "The numbers are identical, to the last bit."
        if result["is_same"]
        else "The numbers differ from the stored ones. The software may have changed since."
    )
    return Outcome(sentence, (_evaluation("View evaluation", result["evaluation"]),))


def _evaluation(label: str, code: str) -> tuple[str, str]:
    return label, reverse("evaluation", args=[UUID(code)])


def metrics_computed(job: Job, result: Result) -> Outcome:
    names = list(dict.fromkeys(metric["name"] for metric in result["metrics"]))
    sentence = f"Scores of {listed(names)} are stored, for segments and for systems."
    links = (
        _page("View metrics", "campaign_metrics", job),
        _page("Evaluate them", "campaign_evaluate", job),
    )
    return Outcome(sentence, links)


def targeted_computed(job: Job, result: Result) -> Outcome:
    counts = result.get("n_scores", {})
    names = [f"{name} ({counts[name]:,})" if name in counts else name for name in result["stored"]]
    sentence = f"Scores of outputs are stored: {listed(names)}."
    links = (
        _page("View metrics and gold", "campaign_metrics", job),
        _page("Evaluate", "campaign_evaluate", job),
    )
    return Outcome(sentence, links)


def exported(job: Job, result: Result) -> Outcome:
    """The server's file has no page, so the table itself can be downloaded, as the results page offers it."""
    asked = job.arguments
    kind, format = asked["kind"], asked["format"]
    sentence = (
        f"Wrote {counted(result['n_rows'], 'row')} to the file {result['path']} on the server."
    )
    results = _page("View results and exports", "campaign_results", job)
    if kind not in DOWNLOADS or format not in DOWNLOAD_FORMATS:
        return Outcome(sentence, (results,))
    if asked.get("real_ids") or asked.get("history"):
        sentence += " The download has pseudonyms and the latest evidence only."
    assert job.campaign is not None
    address = reverse("result_export", args=[job.campaign.code, kind, format])
    run = f"?run={asked['run']}" if asked.get("run") else ""
    return Outcome(sentence, ((f"Download {DOWNLOADS[kind].lower()}", address + run), results))


def examples_made(job: Job, result: Result) -> Outcome:
    sentence = f"{counted(len(result['campaigns']), 'example campaign')} can now be explored."
    return Outcome(sentence, (("View campaigns", reverse("home")),))


def _shown(r: float | None) -> str:
    return "unknown" if r is None else f"{r:.2f}"
