"""The report on a ranking by judgements: methods, agreement, systems and figures, for a paper's appendix."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from django.db.models import Count, Max, Min, Q
from django.utils import timezone

from da_platform.extras import ExtraMissing
from da_platform.plots.rendering import Picture
from da_platform.wording import counted
from hits.hit_sizes import hidden_screens
from hits.languages import name_of
from hits.models import Assignment, Campaign, Participation
from hits.questionnaires.counting import ReplyCounts, count_answers

from ..stats.ranking_control import AGAINST_P, ENOUGH_DEGRADED, FEWEST_AGAINST
from ..stats.thresholds import RELIABLE_P
from ..tables.table import Table, number
from ..tables.typesetting import table_as_json, typeset
from ..tables.writing import content_of
from .pictures import PICTURES
from .results import Facts, is_from_scores
from .tables import tables_of

TEMPLATE = Path(__file__).with_name("report.typ")


@dataclass(frozen=True, slots=True)
class RankingReport:
    """What the page and the PDF show. `methods` are the paragraphs of a methods section."""

    campaign: Campaign
    facts: Facts
    methods: list[str]
    tables: list[Table]
    pictures: list[Picture]
    at: datetime
    # What workers said about themselves, if they were asked.
    answers: ReplyCounts | None = None


def make_report(campaign: Campaign, facts: Facts) -> RankingReport:
    """Return the report on a ranking, which `with_direct_assessment` may have put next to gold."""
    paragraphs = [
        _collecting(campaign, facts),
        _trusting(campaign),
        _scoring(facts),
        _agreeing(facts),
        _measuring(facts),
    ]
    return RankingReport(
        campaign=campaign,
        facts=facts,
        methods=list(filter(None, paragraphs)),
        tables=list(tables_of(facts).values()),
        pictures=[make(facts) for make in PICTURES.values()],
        at=timezone.now(),
        answers=count_answers(campaign) if campaign.questionnaire else None,
    )


# The text -------------------------------------------------------------------------------------


def _collecting(campaign: Campaign, facts: Facts) -> str:
    languages = f"{name_of(campaign.source_language)} to {name_of(campaign.target_language)}"
    judges = "trusted judges" if facts["trusted_only"] else "judges"
    counts = (
        f"{facts['n_tasks']:,} ranking tasks by {facts['n_judges']:,} {judges} gave "
        f"{facts['n_judgements']:,} pairwise judgements, expanded over systems that share an output."
    )
    if campaign.is_archive:
        return (
            f"The outputs of {len(facts['systems'])} systems for translation from {languages} were compared by "
            f"relative ranking; the rankings were imported. {counts}"
        )
    above = {
        Campaign.Shows.REFERENCE: "next to the reference",
        Campaign.Shows.SOURCE: "next to the source",
        Campaign.Shows.BOTH: "next to the source and the reference",
        Campaign.Shows.NOTHING: "without source or reference",
    }[Campaign.Shows(campaign.effective_shows)]
    chosen = {
        Campaign.OutputChoice.RANDOM: "at random",
        Campaign.OutputChoice.UNDECIDED: "of systems that could not be told apart yet (rank ranges of Bradley-Terry)",
    }[Campaign.OutputChoice(campaign.output_choice)]
    if facts.get("is_from_scores"):
        return (
            f"Workers rated up to {campaign.outputs_per_screen} outputs of one segment side by side, translated from "
            f"{languages}, on a scale from 0 to 100, {above}; each saw the outputs in another random order. Outputs with "
            "the same text were shown once. Of two outputs on a screen, the one with the higher score was judged better, and "
            f"equal scores are ties. {_work(campaign)} {counts} HITs were built with seed {campaign.seed}."
        )
    target = campaign.judgements_per_pair
    until = f", until each pair of systems had {target:,} judgements" if target else ""
    return (
        f"Judges ranked up to {campaign.outputs_per_screen} outputs of one segment, translated from {languages}, from "
        f"best (1) to worst, {above}; ties were allowed, and each judge saw the outputs in another random order. Outputs that "
        "differ only in case, punctuation and white space were shown once. Outputs were chosen "
        f"{chosen}{until}. {_work(campaign)} {counts} HITs were built with seed {campaign.seed}."
    )


def _work(campaign: Campaign) -> str:
    submitted = Assignment.objects.counted().filter(hit__campaign=campaign)
    work = submitted.aggregate(
        n=Count("pk"),
        people=Count("worker", distinct=True),
        first=Min("submitted_at"),
        last=Max("submitted_at"),
    )
    when = f" between {work['first']:%d %B %Y} and {work['last']:%d %B %Y}" if work["n"] else ""
    return (
        f"{counted(work['people'], 'worker')} submitted {counted(work['n'], 'assignment')}{when}."
    )


def _trusting(campaign: Campaign) -> str:
    if campaign.is_archive:
        return "There were no hidden outputs; judges counted unless those who collected the rankings left them out."
    people = campaign.participations.filter(
        worker__in=Assignment.objects.counted().filter(hit__campaign=campaign).values("worker")
    ).aggregate(
        **{
            name: Count("pk", filter=Q(trust=trust))
            for name, trust in (
                ("passed", Participation.Trust.RELIABLE),
                ("failed", Participation.Trust.UNRELIABLE),
                ("unproven", Participation.Trust.UNPROVEN),
            )
        }
    )
    counts = (
        f"{counted(people['passed'], 'judge')} passed, {people['failed']:,} did not, and {people['unproven']:,} were "
        "unproven."
    )
    if is_from_scores(campaign):
        return (
            "Some screens repeated another, in another order and with one output degraded. Workers were judged by their "
            f"ratings, as in direct assessment, under the {campaign.get_trust_rule_display().lower()}. {counts}"
        )
    kinds = hidden_screens(campaign.outputs_per_screen)
    degraded, hidden = sum(kinds), len(kinds)
    return (
        f"Of every three screens, one was hidden: {degraded} of {hidden} of these had a degraded output, and the others "
        "repeated a screen in another order. A judge was considered "
        "reliable if they ranked degraded outputs last, alone, more often than by chance (exact test over all of "
        f"the judge's screens, p < {RELIABLE_P:g}), and unreliable if p > {AGAINST_P:g} after {FEWEST_AGAINST} "
        f"screens or if {ENOUGH_DEGRADED} screens were not enough. {counts}"
    )


def _scoring(facts: Facts) -> str:
    n_clusters = len({row["cluster"] for row in facts["systems"]})
    return (
        "Systems were scored by TrueSkill with the parameters of WMT15; the score is the mean over independent runs (see "
        "the signature). Rank ranges leave out the best and worst 2.5% of the runs. A cluster ends below a system whose worst "
        "rank is better than the best of everyone below; there are "
        f"{counted(n_clusters, 'cluster')} of {counted(len(facts['systems']), 'system')}. Pairs of systems were also "
        "compared by a two-sided sign test without ties."
    )


def _agreeing(facts: Facts) -> str:
    sentences = []
    for row in facts["agreement"]:
        if row["counting"] == "strict" and row["kappa"] is not None:
            who = (
                "Different judges" if row["between"] == "inter" else "Judges and their own repeats"
            )
            sentences.append(
                f"{who} agree with kappa = {row['kappa']:.3f} ({row['word']}, as in Landis and Koch) over "
                f"{counted(row['n_comparable'], 'comparison')} of the same two outputs."
            )
    return " ".join(sentences)


def _measuring(facts: Facts) -> str:
    metrics = facts.get("metrics") or {}
    if not metrics.get("n_preferences"):
        return ""
    text = (
        f"{metrics['share_ties']:.1%} of the judgements are ties. As judges contradict each other, no metric can have a "
        f"tau above {metrics['ceiling']:.3f} on the others."
    )
    if metrics["segments"]:
        best = metrics["segments"][0]
        text += f" The highest of {counted(len(metrics['segments']), 'metric')} is {number(best['tau']).text} ({best['metric']})."
    return text


# The PDF and files ----------------------------------------------------------------------------


def write_files(report: RankingReport, folder: Path) -> list[Path]:
    """Write the report, each table as LaTeX and CSV, and each figure as PDF and SVG; return the paths.

    Without the extra for reports, everything but the report is written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = {
        f"{table.name}.{fmt}": content_of(table, fmt)
        for table in report.tables
        for fmt in ("tex", "csv")
    }
    for picture in report.pictures:
        for fmt, content in picture.render_all(("pdf", "svg")).items():
            files[f"{picture.name}.{fmt}"] = content
    with suppress(ExtraMissing):
        files["report.pdf"] = report_as_pdf(report)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return [folder / name for name in files]


def report_as_pdf(report: RankingReport) -> bytes:
    """Typeset the report as PDF."""
    return typeset(TEMPLATE, _as_json(report), report.pictures)


def _as_json(report: RankingReport) -> dict[str, Any]:
    return {
        "name": report.campaign.name,
        "at": f"{report.at:%d %B %Y %H:%M} UTC",
        "signature": report.facts["signature"],
        "methods": report.methods,
        "answers": report.answers.as_json() if report.answers else [],
        "tables": [table_as_json(table) for table in report.tables],
    }
