"""A campaign's report: methods, people, systems and figures, for a paper's appendix."""

from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from django.db.models import Count, Max, Min, Q, Sum
from django.utils import timezone

from da_platform.plots.rendering import Picture
from da_platform.wording import counted
from hits.languages import name_of
from hits.models import Assignment, AssignmentQuerySet, Campaign, Look, Participation
from hits.questionnaires.counting import ReplyCounts, count_answers
from hits.task_kinds import kind_of

from ..models import GoldRun
from ..stats.thresholds import (
    AGAINST_P,
    AGREEMENT_P,
    ENOUGH_AGREEMENT_ITEMS,
    ENOUGH_PAIRS,
    FEWEST_AGREEMENT_ITEMS,
    FEWEST_OTHERS,
    MINIMUM_PAIRS,
    RELIABLE_P,
    WINDOW_HITS,
)
from ..tables.table import Table
from ..tables.typesetting import table_as_json, typeset
from .document_tables import document_table
from .presentation_effects import Facts, latest_effects
from .presentation_pictures import pictures_of
from .presentation_tables import in_words, tables_of
from .ranking import SystemRanking
from .results import Results, agreement_pictures, latest_agreement

TEMPLATE = Path(__file__).with_name("report.typ")


@dataclass(frozen=True, slots=True)
class People:
    """Counts of workers when a run was made.

    `n_recruited` agreed to take part. Verdicts of the evidence and decisions by hand are counted
    separately, as of today.
    """

    n_recruited: int
    n_finished: int
    n_passed: int
    n_unreliable: int
    n_unproven: int
    n_excluded: int
    n_reinstated: int


@dataclass(frozen=True, slots=True)
class Work:
    """Work submitted before a run; `n_ratings` includes the ratings of unreliable workers.

    `n_not_counted` assignments, held or discarded for impossible times, are not among `n_assignments`.
    """

    n_assignments: int
    n_late: int
    n_ratings: int
    first: datetime | None
    last: datetime | None
    n_not_counted: int


@dataclass(frozen=True, slots=True)
class CampaignReport:
    campaign: Campaign
    run: GoldRun
    people: People
    work: Work
    ranking: SystemRanking | None
    agreement: dict[str, Any] | None
    agreement_at: datetime | None
    pictures: list[Picture]
    at: datetime
    # What workers answered about themselves, if the campaign asked.
    answers: ReplyCounts | None = None
    # Effects of presentation, if they were measured.
    effects: Facts | None = None

    @property
    def ranked(self) -> list[dict[str, Any]]:
        """One record per system, best first."""
        return self.ranking.rows if self.ranking else []

    @property
    def effect_tables(self) -> list[Table]:
        return list(tables_of(self.effects).values()) if self.effects else []

    @property
    def effect_pictures(self) -> list[Picture]:
        return list(pictures_of(self.effects).values()) if self.effects else []

    @property
    def document_table(self) -> Table | None:
        """The scores of documents, if the campaign has any."""
        return document_table(self.run)

    @property
    def systems_note(self) -> str:
        """The caption of the table of systems."""
        if self.ranking is None:
            return ""
        return (
            f"Systems by {self.ranking.ranked_by}, with intervals over {self.ranking.interval_over}. A line "
            f"separates clusters ({self.ranking.test_in_words})."
        )

    @property
    def methods(self) -> list[str]:
        """The paragraphs of a methods section."""
        return [
            _collecting(self),
            _trusting(self),
            _scoring(self),
            *stopping(self.campaign),
            *_agreeing(self),
            *(in_words(self.effects) if self.effects else []),
        ]


def make_report(run: GoldRun) -> CampaignReport:
    campaign, results, job = run.campaign, Results(run), latest_agreement(run.campaign)
    pictures = list(results.pictures().values())
    if job:
        pictures += agreement_pictures(job, campaign)
    return CampaignReport(
        campaign=campaign,
        run=run,
        people=_people(run),
        work=_work(run),
        ranking=results.ranking if run.n_scored else None,
        agreement=job.result if job else None,
        agreement_at=job.finished_at if job else None,
        pictures=pictures,
        at=timezone.now(),
        answers=count_answers(campaign) if campaign.questionnaire else None,
        effects=latest_effects(campaign),
    )


def _people(run: GoldRun) -> People:
    has_rated = Q(worker__in=_submitted(run).counted().values("worker"))
    # Imported work has no record of consent.
    has_agreed = Q(consented_at__lte=run.created_at) | Q(consented_at=None) & has_rated
    recruited = run.campaign.participations.filter(has_agreed)
    rated = recruited.filter(has_rated)
    return People(
        n_finished=run.n_workers,
        **rated.aggregate(
            n_passed=_count_if(trust__in=Participation.TRUSTED),
            n_unreliable=_count_if(trust=Participation.Trust.UNRELIABLE),
            n_unproven=_count_if(trust=Participation.Trust.UNPROVEN),
        ),
        **recruited.aggregate(
            n_recruited=Count("pk"),
            n_excluded=_count_if(decision=Participation.Decision.EXCLUDED),
            n_reinstated=_count_if(decision=Participation.Decision.REINSTATED),
        ),
    )


def _count_if(**facts: Any) -> Count:
    return Count("pk", filter=Q(**facts))


def _submitted(run: GoldRun) -> AssignmentQuerySet:
    submitted = Assignment.objects.submitted().filter(hit__campaign=run.campaign)
    return submitted.filter(submitted_at__lte=run.created_at)


def _work(run: GoldRun) -> Work:
    is_not_counted = Q(hold__in=Assignment.NOT_COUNTED)
    return Work(
        **_submitted(run).aggregate(
            n_assignments=Count("pk", filter=~is_not_counted),
            n_late=Count("pk", filter=Q(is_late=True) & ~is_not_counted),
            n_ratings=Sum("hit__size", filter=~is_not_counted, default=0),
            first=Min("submitted_at", filter=~is_not_counted),
            last=Max("submitted_at", filter=~is_not_counted),
            n_not_counted=Count("pk", filter=is_not_counted),
        )
    )


# The text -------------------------------------------------------------------------------------


def _collecting(report: CampaignReport) -> str:
    campaign, work, people = report.campaign, report.work, report.people
    languages = f"{name_of(campaign.source_language)} to {name_of(campaign.target_language)}"
    when = (
        f" between {work.first:%d %B %Y} and {work.last:%d %B %Y}"
        if work.first and work.last
        else ""
    )
    drawn = ""
    if campaign.sample_size is not None:
        drawn = (
            f" A sample of {counted(campaign.sample_size, 'translation')} was rated, drawn "
            f"{campaign.get_sample_choice_display()[:1].lower()}{campaign.get_sample_choice_display()[1:]}."
        )
    kind = kind_of(campaign)
    return (
        f"Translations from {languages} {kind.in_report(campaign)}. {counted(people.n_recruited, 'worker')} "
        f"agreed to take part, and {people.n_finished:,} of them submitted at least one HIT. They submitted "
        f"{counted(work.n_assignments, 'assignment')}{when} with {counted(work.n_ratings, kind.answer_noun)} "
        "in total, including degraded and repeated items. HITs were built with seed "
        f"{campaign.seed}.{drawn}"
    )


_RECIPES = {
    Campaign.Degradation.BALANCED: (
        "Each HIT contained degraded translations, hidden among the other items and made so that on average "
        "they share as much with the text shown in gray as the originals do (balanced degradation)."
    ),
    Campaign.Degradation.PUBLISHED: (
        "Each HIT contained degraded translations, hidden among the other items and made by replacing a span "
        "of words (published degradation)."
    ),
}
_RULES = {
    Campaign.TrustRule.GUARDED: (
        " and, once they had rated "
        f"{FEWEST_AGREEMENT_ITEMS} translations with ratings by at least {FEWEST_OTHERS} other reliable "
        "workers each, if their standardised scores followed the mean of the others (one-sided test of "
        f"Pearson's r, p < {AGREEMENT_P:g}). Either test spoke against a worker if p > {AGAINST_P:g}, or "
        f"if {ENOUGH_PAIRS} pairs or {ENOUGH_AGREEMENT_ITEMS} translations were not enough to pass it; in "
        "between, the worker stayed unproven (guarded rule). HITs with impossible times were held until a "
        "person decided about them."
    ),
    Campaign.TrustRule.PUBLISHED: "; the verdict followed every HIT (published rule).",
}
_DRIFTS = {
    Campaign.Drift.COUNT: "ratings of workers who passed over all HITs were counted even if it failed.",
    Campaign.Drift.LEAVE_OUT_SINCE: (
        "ratings since the first HIT of a worker's earliest failed window were left out."
    ),
    Campaign.Drift.LEAVE_OUT: "all ratings of workers who failed it at any point were left out.",
}


def _trusting(report: CampaignReport) -> str:
    people, run = report.people, report.run
    share = f" ({people.n_passed / people.n_finished:.0%})" if people.n_finished else ""
    text = (
        f"{_RECIPES[Campaign.Degradation(report.campaign.degradation)]} A worker was considered "
        "reliable if they scored these lower than the genuine translations (one-sided paired t-test "
        f"over all of the worker's pairs, p < {RELIABLE_P:g}, at least {MINIMUM_PAIRS} pairs)"
        f"{_RULES[Campaign.TrustRule(report.campaign.trust_rule)]}{_held(report.work)} The same "
        f"test over the latest {WINDOW_HITS} HITs monitored drift: "
        f"{_DRIFTS[Campaign.Drift(report.campaign.drift)]} "
        f"By {report.at:%d %B %Y} {counted(people.n_passed, 'worker')}{share} passed, "
        f"{people.n_unreliable:,} did not, and {people.n_unproven:,} were unproven."
    )
    if people.n_excluded or people.n_reinstated:
        text += f" Manually, {people.n_excluded:,} were excluded and {people.n_reinstated:,} reinstated."
    return text + (
        f" Gold {run.number}, of {run.created_at:%d %B %Y}, is based on the ratings of "
        f"{run.n_workers_trusted:,} of the {counted(run.n_workers, 'worker')}."
    )


def _held(work: Work) -> str:
    if not work.n_not_counted:
        return ""
    return f" {counted(work.n_not_counted, 'such HIT')} did not count."


def _scoring(report: CampaignReport) -> str:
    run = report.run
    repeats = {
        GoldRun.Method.PER_WORKER: "after averaging a worker's repeated ratings of the same translation",
        GoldRun.Method.POOLED: "counting every rating",
        GoldRun.Method.WEIGHTED: "weighting each worker by how clearly they scored degraded translations lower "
        "and how closely they repeated their scores",
    }[GoldRun.Method(run.method)]
    by = (
        "workers who could be weighed"
        if run.method == GoldRun.Method.WEIGHTED
        else "trusted workers"
    )
    systems = report.ranking.ranked_by if report.ranking else "mean z over segments"
    return (
        "Ratings were standardised per worker (mean and sample standard deviation over all of the "
        f"worker's items) and averaged per translation, {repeats}. This used {run.n_ratings:,} ratings "
        f"of genuine and repeated items by {by}. {run.n_scored:,} translations have the "
        f"{run.minimum} ratings needed for a score; {run.n_incomplete:,} do not and have no score. "
        f"Systems were ranked by {systems}{_comparing(report.ranking)}."
        + "".join(f" {sentence}" for sentence in helped(run.helper))
    )


def helped(helper: dict[str, Any] | None) -> list[str]:
    """Say in words how a metric helped to score systems; `helper` is that of a gold run."""
    if helper is None:
        return []
    if helper["metric"] is None:
        return [
            f"System scores are for all {helper['n_outputs']:,} outputs, of which "
            f"{helper['n_rated']:,} have a score: each of these is weighted by 1 / its chance of "
            "being drawn."
        ]
    text = (
        f"System scores are for all {helper['n_outputs']:,} outputs, of which "
        f"{helper['n_rated']:,} have a score: they are corrected by {helper['metric']}, which has "
        "scores for all"
    )
    if helper["r"] is None or helper["gain"] is None:
        return [f"{text}, but does not vary with the scores, so it changed nothing."]
    text = f"{text} (control variate; r = {helper['r']:.2f} within systems)"
    if helper["n_rated"] == helper["n_outputs"]:
        return [f"{text}. As all outputs have a score, there was nothing to correct."]
    gain = round(100 * (helper["gain"] - 1))
    if gain <= 0:
        return [f"{text}. This did not make the differences between systems more precise."]
    return [
        f"{text}. For the differences between systems, this is worth {gain} % more rated segments."
    ]


def _comparing(ranking: SystemRanking | None) -> str:
    if ranking is None:
        return ""
    return (
        f", with 95 % intervals over {ranking.interval_over}, and compared pairwise "
        f"({ranking.test_in_words}). A line separates clusters where every system above significantly beats "
        "every system below"
    )


def stopping(campaign: Campaign) -> list[str]:
    """Say by which rule the campaign stops and what its looks decided; nothing for a campaign without looks."""
    if campaign.n_looks is None:
        return []
    latest = campaign.looks.concluded().order_by("-number").first()
    if campaign.looks_at_gold:
        return [_rated_again(campaign, latest)]
    spending = {
        Campaign.Spending.OBRIEN_FLEMING: "O'Brien and Fleming",
        Campaign.Spending.POCOCK: "Pocock",
    }[Campaign.Spending(campaign.looks_spending)]
    text = (
        f"By a rule fixed before the first rating, the segments were rated in {campaign.n_looks} equal parts. After "
        "each, every two systems were compared by group sequential tests (Lan and DeMets, spending as "
        f"{spending}; Holm's method over all pairs), with a chance of at most {campaign.looks_alpha:g} of any wrong "
        "conclusion over all pairs and looks. The next part was rated only for systems with an undecided pair "
        f"that had a chance of at least {campaign.looks_least_chance:g} to be decided by the last look."
    )
    if latest is None:
        return [f"{text} No look has been taken yet."]
    decided = [
        f"{pair['system']} above {pair['other']} (p {_p(pair['p'])})"
        for pair in latest.result["pairs"]
        if pair["state"] == "decided"
    ]
    found = f": {'; '.join(decided)}" if decided else ""
    return [
        f"{text} Look {latest.number}, {'the last,' if latest.is_last else 'not yet the last,'} at "
        f"{latest.share:.0%} of the plan, saw {counted(latest.result['n_assignments'], 'assignment')} and decided "
        f"{latest.n_decided:,} of {counted(latest.result['n_pairs'], 'pair')}{found}. These p-values hold for all pairs "
        "and looks; those of the table above assume a single look, and differences decided early "
        "are somewhat too large."
    ]


def _rated_again(campaign: Campaign, latest: Look | None) -> str:
    text = (
        f"By a rule fixed before the first rating, every translation was rated {campaign.min_ratings} times, and in up to "
        f"{campaign.n_looks - 1 if campaign.n_looks else 0} further rounds as often again while the standard error of its "
        f"score was above {campaign.looks_width:g}, with variances shrunk towards their mean."
    )
    if latest is None:
        return f"{text} No look has been taken yet."
    return (
        f"{text} At look {latest.number}, {latest.n_wide:,} of "
        f"{counted(latest.result['n_translations'], 'score')} were less certain than that."
    )


def _p(p: float) -> str:
    return "< .0001" if p < 0.0001 else f"= {p:.4f}"


def _agreeing(report: CampaignReport) -> list[str]:
    if report.agreement is None:
        return []
    between, within = report.agreement["between"], report.agreement["within"]
    if between["pearson"] is None:
        return []
    text = (
        f"As measured on {report.agreement_at:%d %B %Y}, two workers' single ratings of the same "
        f"translation correlate at r = "
        f"{between['pearson']:.2f} ({counted(between['n_pairs'], 'pair')})"
    )
    if within["pearson"] is not None:
        text += f", a worker's two ratings of it at r = {within['pearson']:.2f} ({counted(within['n_pairs'], 'pair')})"
    return [f"{text}.", *enough_ratings(report.agreement)]


def enough_ratings(agreement: dict[str, Any]) -> list[str]:
    """Say in words how many ratings there are, what they agree with, and what they took.

    `agreement` comes from `CampaignAgreement.as_json`; results stored earlier lack most of it.
    """
    if "depth" not in agreement:
        return []
    depth, repeats, effort = (agreement[name] for name in ("depth", "repeats", "effort"))
    curve = agreement["curve"]
    spread = (
        f"{depth['least']:,} to {depth['most']:,} trusted ratings, {depth['mean']:.1f} on average"
        if depth["least"] < depth["most"]
        else counted(depth["most"], "trusted rating") + " each"
    )
    sentences = [f"Translations have {spread}."]
    measured = [(n, r) for n, r in zip(curve["sizes"], curve["r"], strict=True) if r is not None]
    if measured:
        n, r = measured[-1]
        means = "Single ratings" if n == 1 else f"Means of {n:,} ratings"
        others = f"the means of {curve['replicate']}" if curve["replicate"] else "as many others"
        sentences.append(f"{means} correlate with {others} at r = {r:.2f}.")
    sentences += [reliable_ranking(each) for each in agreement.get("reliability", [])]
    sentences += worth_of_one(agreement.get("value"))
    if repeats["n_workers"]:
        sentences.append(
            f"Of the {counted(repeats['n_workers'], 'trusted worker')} with at least {MINIMUM_PAIRS} "
            f"repeats, {repeats['n_differ']:,} scored them significantly differently from the originals "
            f"(two-sided paired t-test, p < {RELIABLE_P:g}); {RELIABLE_P:.0%} would by chance."
        )
    if effort["n_hits"]:
        sentences.append(
            f"A HIT took {effort['median_seconds'] / 60:.1f} minutes (median), and all "
            f"{effort['n_hits']:,} took {effort['total_seconds'] / 3600:.1f} hours."
        )
    if effort["pay_per_hour"] is not None:
        sentences.append(
            f"At the median time, pay was {effort['pay_per_hour']:.2f} {effort['currency']} per hour."
        )
    return [" ".join(sentences)]


def worth_of_one(value: dict[str, Any] | None) -> list[str]:
    """Say in words what one more rating of each translation buys; `value` is from `measure_value`."""
    if not value:
        return []
    now, one = value["rows"][:2]
    sentences = []
    if now["reliability"] is not None:
        sentences.append(
            f"Scores of {now['n_ratings']:.3g} ratings have a reliability of {now['reliability']:.2f}, so no metric "
            f"can be expected to correlate with them above r = {now['ceiling']:.2f}; one more rating of each "
            f"would raise these to {one['reliability']:.2f} and {one['ceiling']:.2f}."
        )
    if value["n_systems"] > 1:
        sentences.append(
            f"It would lower the standard error of a difference between two systems from {now['difference_error']:.3f} "
            f"to {one['difference_error']:.3f}; the same ratings on more segments, to {one['error_on_segments']:.3f}."
        )
    if value["cost_of_one"] and sentences:
        sentences.append(
            f"It would cost {value['cost_of_one']} {value['currency']}, with the usual fee and the work that does not pass."
        )
    return sentences


def reliable_ranking(reliability: dict[str, Any]) -> str:
    """Say in words how well two halves of the workers agree; `reliability` is from `Reliability.as_json`."""
    by = {"weighted": "weighted ratings", "pooled": "trusted workers, every rating counted"}.get(
        reliability["method"], "trusted workers"
    )
    systems, segments = reliability["systems"], reliability["segments"]
    if systems["r"] is None:
        return f"There are too few {by} or systems to compare halves of the workers."
    # Earlier jobs stored the range of the splits only, as `low` and `high`.
    low, high = systems.get("range_low", systems["low"]), systems.get("range_high", systems["high"])
    interval = (
        f"95 % interval {systems['low']:.2f} to {systems['high']:.2f}; "
        if "range_low" in systems and systems["low"] is not None
        else ""
    )
    text = (
        f"System scores from two random halves of the workers ({by}) correlate at r = {systems['r']:.2f} "
        f"({interval}mean of {reliability['n_splits']} splits, 95 % of which lie between {low:.2f} and {high:.2f})"
    )
    if segments["r"] is not None:
        text += f", segment scores at r = {segments['r']:.2f}"
    text += f". For all workers, that predicts a reliability of {systems['full']:.2f}"
    if systems.get("full_low") is not None:
        text += f" ({systems['full_low']:.2f} to {systems['full_high']:.2f})"
    if segments["r"] is not None:
        text += f", for segment scores {segments['full']:.2f}"
    return f"{text} (Spearman-Brown)."


# The PDF --------------------------------------------------------------------------------------


def report_as_pdf(report: CampaignReport) -> bytes:
    """Typeset the report as PDF."""
    pictures = [*report.pictures, *report.effect_pictures]
    return typeset(TEMPLATE, _as_json(report), pictures)


def _as_json(report: CampaignReport) -> dict[str, Any]:
    return {
        "name": report.campaign.name,
        "at": f"{report.at:%d %B %Y %H:%M} UTC",
        "run": report.run.number,
        "signature": report.run.signature,
        "digest": report.run.input_digest,
        "methods": report.methods,
        "people": asdict(report.people),
        "answers": report.answers.as_json() if report.answers else [],
        "systems": report.ranked,
        "systems_note": report.systems_note,
        "documents": [table_as_json(table) for table in (report.document_table,) if table],
        "effects": [table_as_json(table) for table in report.effect_tables],
    }
