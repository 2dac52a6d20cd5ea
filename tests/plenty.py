"""A platform with n rows of everything that pages and the API list."""

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from analysis.evaluation.stored_evaluations import evaluate_campaign, evaluate_collection
from analysis.evaluation.uploading import GoldReading, store_uploaded_gold
from analysis.gold.presentation import as_json
from analysis.gold.runs import build_gold
from analysis.models import Evaluation, Experiment, GoldRun, Metric, ScoreCollection
from analysis.ranking.results import rank_by_judgements
from analysis.scores.gold_tables import campaign_gold
from analysis.scores.raw_files import RawFile
from analysis.scores.score_tables import ScoreTable
from analysis.scores.storing import ScoreSource, store_scores
from analysis.stats.judgements import Rankings
from analysis.stats.presentation import place_effect
from analysis.stats.roles import Role
from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job, start_job
from hits.campaigns.building import build_hits
from hits.campaigns.lifecycle import change_status
from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.media.detecting import FileType
from hits.media.storing import store_media
from hits.models import (
    ApiToken,
    Assignment,
    Campaign,
    CampaignDraft,
    DeviceSighting,
    ImportReport,
    InputSignals,
    Item,
    Membership,
    Payment,
    PaymentRun,
    PayRule,
    PostEdition,
    Submission,
    Worker,
)
from hits.people.audit import record
from hits.people.tokens import make_token
from hits.questionnaires.answering import store_reply
from hits.rating.reports import SentReport, report_text
from hits.recruiting.invites import make_invites
from hits.workers.trust import weigh_pending
from tests.addresses import Address, addresses
from tests.evaluations import gold_lines, make_collection
from tests.experiments import make_experiment
from tests.factories import make_campaign, make_translations, make_worker
from tests.media import png
from tests.paying import confirm
from tests.people import make_person

BASICS = {"name": "Draft", "source_language": "de", "target_language": "en", "task": "reference"}


@dataclass(frozen=True)
class Plenty:
    """A campaign with n of everything, and one of each for addresses."""

    campaign: Campaign
    collection: ScoreCollection
    admin: User
    superuser: User

    @property
    def experiment(self) -> Experiment:
        return Experiment.objects.latest("pk")

    @property
    def item(self) -> Item:
        items = Item.objects.filter(hit__campaign=self.campaign)
        return items.exclude(translation__segment__media=None).earliest("pk")

    @property
    def assignment(self) -> Assignment:
        return self.unpaid.latest("pk")

    @property
    def unpaid(self) -> Any:
        return Assignment.objects.submitted().filter(hit__campaign=self.campaign, payments=None)

    @property
    def worker(self) -> Worker:
        return self.assignment.worker

    @property
    def run(self) -> PaymentRun:
        return self.campaign.payment_runs.latest("pk")

    @property
    def payment(self) -> Payment:
        return self.run.payments.latest("pk")

    @property
    def rule(self) -> PayRule:
        return self.campaign.pay_rules.latest("pk")

    @property
    def gold(self) -> GoldRun:
        return self.campaign.gold_runs.latest("number")

    @property
    def metric(self) -> Metric:
        return self.campaign.metrics.latest("pk")

    @property
    def evaluation(self) -> Evaluation:
        return self.campaign.evaluations.latest("number")

    @property
    def job(self) -> Job:
        return self.campaign.jobs.latest("pk")

    @property
    def draft(self) -> CampaignDraft:
        return self.superuser.drafts.latest("pk")

    @property
    def token(self) -> ApiToken:
        return self.admin.api_tokens.latest("pk")

    @property
    def membership(self) -> Membership:
        return self.campaign.memberships.latest("pk")


def make_plenty(n: int, *, admin: User, superuser: User) -> Plenty:
    """Make n of everything for an admin of some campaigns, and drafts for a superuser.

    Admins of single campaigns cannot create drafts.
    """
    campaign = make_campaign(hit_size=40, min_ratings=2 * n, pay_per_hit=Decimal("1.50"))
    Membership.objects.create(user=admin, campaign=campaign, level="admin")
    # Few enough for one page of segments.
    make_translations(campaign, n_segments=12, n_systems=2 * n)
    campaign.segments.update(document="news")
    build_hits(campaign=campaign)
    change_status(campaign=campaign, to=Campaign.Status.OPEN)
    _add_media(campaign, n)
    mends = [["A.txt", number, "removed U+007F"] for number in range(1, n + 1)]
    ImportReport.objects.create(
        campaign=campaign, options={"clean": True}, notes=["a note"], n_mends=n, mends=mends
    )
    _add_paid_work(campaign, admin, n)
    _add_arrivals(campaign, admin, n)
    _add_people(campaign, admin, n)
    for _ in range(n):
        CampaignDraft.objects.create(owner=superuser, basics=BASICS)
    _add_ranking(campaign)
    _add_effects(campaign)
    _add_post_editions(campaign, n)
    _add_results(campaign, n)
    _add_jobs(campaign, admin, n)
    for number in range(n):
        make_experiment(admin, f"Words {number}")
    return Plenty(campaign, _make_collections(admin, n), admin, superuser)


def _add_paid_work(campaign: Campaign, admin: User, n: int) -> None:
    """Workers who each do n HITs; half are paid in a run each, the others together, the last not."""
    for number in range(n + 1):
        simulate_workers(
            campaign=campaign, crowd={Behaviour.HONEST: 1}, hits_per_worker=n, seed=number
        )
        weigh_pending()
        Assignment.objects.filter(worker__external_id=f"honest-{number}-1").update(
            hold=Assignment.Hold.COUNTED, hold_reason="Too fast.", held_at=timezone.now()
        )
        if number < n // 2 or number == n - 1:
            confirm(campaign, is_by_hand=True)
    for assignment in Assignment.objects.submitted().filter(hit__campaign=campaign):
        InputSignals.objects.create(assignment=assignment, items=[[3, 1, 0, 0, 0]] * 40)
        report_text(assignment=assignment, screen=1, report=SentReport("other"))
    for participation in campaign.participations.all():
        store_reply(participation=participation, moment="before", answers={"native_language": "de"})
    run = campaign.payment_runs.latest("pk")
    run.payments.update(state=Payment.State.UNKNOWN, settled_at=run.confirmed_at)
    fields: dict[str, Any] = {"campaign": campaign, "created_by": admin, "amount": 1}
    for assignment in Assignment.objects.filter(hit__campaign=campaign)[:n]:
        PayRule.objects.create(kind="flat", reason="For speed", **fields)
        PayRule.objects.create(kind="adjustment", reason="A gap", assignment=assignment, **fields)


def _add_media(campaign: Campaign, n: int) -> None:
    """Segments whose source is a picture."""
    types = {f"{number}.png": FileType("image", "image/png") for number in range(n)}
    with TemporaryDirectory() as folder:
        for name in types:
            (Path(folder) / name).write_bytes(png())
        files = store_media(campaign, Path(folder), types)
    for segment, file in zip(campaign.segments.all(), files.values(), strict=False):
        segment.media = file
        segment.save(update_fields=["media"])


def _add_arrivals(campaign: Campaign, admin: User, n: int) -> None:
    """Invite links, submissions and devices, each with workers."""
    for invite in make_invites(campaign=campaign, n=n, actor=admin, label="link"):
        invite.invite.worker = make_worker()
        invite.invite.save()
    # Only payments for submissions of a provider can be in doubt.
    doubtful = campaign.payment_runs.latest("pk").payments.all()
    for assignment in Assignment.objects.filter(payments__in=doubtful)[:n]:
        Submission.objects.create(
            recruitment=campaign.recruitment,
            worker=assignment.worker,
            reference=f"visit {assignment.pk}",
            assignment=assignment,
        )
        for worker in (make_worker(), make_worker()):
            DeviceSighting.objects.create(
                campaign=campaign, worker=worker, kind="cookie", mark=str(assignment.pk)
            )


def _add_people(campaign: Campaign, admin: User, n: int) -> None:
    """Members of this campaign, the last of whom is a member of n others."""
    for _ in range(n):
        person = make_person("researcher", campaign)
        record("opened", actor=person, campaign=campaign, worker=make_worker(), reason="Ready.")
        make_token(user=admin, name="script", scopes=["read"])
    for _ in range(n):
        other = make_campaign()
        for member in (person, admin):
            Membership.objects.create(user=member, campaign=other, level="admin")


def _add_ranking(campaign: Campaign) -> None:
    """A finished ranking by judgements: two judges who rank two systems on ten segments."""
    first, second = campaign.systems.values_list("pk", flat=True)[:2]
    tasks = np.repeat(np.arange(20), 2)
    segments = np.array(campaign.segments.values_list("pk", flat=True)[:10])
    judged = Rankings(
        tasks=tasks,
        segments=segments[tasks // 2],
        judges=tasks % 2,
        systems=np.tile([first, second], 20),
        outputs=np.tile([0, 1], 20),
        ranks=np.where(np.arange(40) % 7 < 4, 1, 2),
    )
    with patch("analysis.ranking.results.load_rankings", return_value=judged):
        facts = rank_by_judgements(campaign, runs=10)
    # Not the names of other campaigns, whose gold the page would show next to it.
    for row in facts["systems"]:
        row["system"] += f" of {campaign.pk}"
    Job.objects.create(
        kind="rank_judgements",
        campaign=campaign,
        state=Job.State.DONE,
        finished_at=timezone.now(),
        result=facts,
    )


def _add_effects(campaign: Campaign) -> None:
    """Finished effects of places on a screen, of two outputs on each of ten screens."""
    rng = np.random.default_rng(1)
    effect = place_effect(
        rng.normal(size=20), np.tile([1, 2], 10), np.repeat(np.arange(10), 2), rng=rng
    )
    nothing = {"documents": None, "context": None}
    facts = {"screens": as_json(effect), "signature": effect.signature, "campaign": campaign.name}
    Job.objects.create(
        kind="measure_presentation",
        campaign=campaign,
        state=Job.State.DONE,
        finished_at=timezone.now(),
        result=facts | nothing,
    )


def _add_post_editions(campaign: Campaign, n: int) -> None:
    """Post-editions of n items, and what is known of how well their editors agree."""
    assignment = Assignment.objects.counted().filter(hit__campaign=campaign).earliest("pk")
    items = assignment.hit.items.filter(role=Role.GENUINE).order_by("position")[:n]
    PostEdition.objects.bulk_create(
        PostEdition(assignment=assignment, item=item, text="Edited.", received_at=timezone.now())
        for item in items
    )
    run_job(start_job(kind="measure_editor_agreement", campaign=campaign).pk)


def _add_results(campaign: Campaign, n: int) -> None:
    """Gold runs, metrics with and without a direction, uploaded gold and evaluations."""
    build_gold(campaign=campaign, method="weighted", minimum=1)
    for _ in range(n):
        gold = campaign_gold(build_gold(campaign=campaign, minimum=1))
    rng = np.random.default_rng(3)
    for number in range(2 * n):
        scores = gold.scores + 0.2 * (1 + number) * rng.normal(size=len(gold.keys))
        way = True if number % 2 else None
        table = ScoreTable(f"m{number}", "segment", gold.keys, scores, way, sha256=str(number) * 64)
        store_scores(table=table, home=campaign, source=ScoreSource())
    for number in range(n):
        lines = "\n".join(
            f"{system}\t{segment}\t{number + i}" for i, (system, segment) in enumerate(gold.keys)
        )
        file = RawFile(f"g{number}.tsv", f"system\tsegment\tg{number}\n{lines}\n".encode())
        store_uploaded_gold(files=[file], home=campaign, reading=GoldReading("da", True))
        evaluation = evaluate_campaign(
            campaign=campaign, metrics=list(campaign.metrics.confirmed())
        )
    for _ in range(n):
        _copy_as_pooled(evaluation)


def _copy_as_pooled(evaluation: Evaluation) -> None:
    """Copy an evaluation as one of several campaigns, which is quicker than computing one."""
    n_pooled = Evaluation.objects.filter(campaign=None, collection=None).count()
    fields = ("golds", "options", "input_digest", "signature", "result")
    copy = Evaluation.objects.create(
        number=n_pooled + 1, **{name: getattr(evaluation, name) for name in fields}
    )
    copy.pooled.set([evaluation.campaign, make_campaign()])


def _add_jobs(campaign: Campaign, admin: User, n: int) -> None:
    run_job(start_job(kind="measure_agreement", campaign=campaign, started_by=admin).pk)
    for _ in range(n):
        start_job(kind="build_gold", campaign=campaign, started_by=admin)


def _make_collections(admin: User, n: int) -> ScoreCollection:
    """Make n collections, the last with n golds and evaluations."""
    for _ in range(n):
        names = [f"m{number}:higher" for number in range(n)]
        collection = make_collection(admin, *names, "open")
    for number in range(n):
        file = RawFile("gold.tsv", gold_lines().encode())
        reading = GoldReading("da", True, name=f"gold {number}")
        store_uploaded_gold(files=[file], home=collection, reading=reading)
        metrics = list(collection.metrics.confirmed())
        evaluate_collection(collection=collection, metrics=metrics, created_by=admin)
    return collection


# Addresses ------------------------------------------------------------------------------------

# Parameters of addresses that are not codes of rows.
WORDS: dict[str, dict[str, Any]] = {
    "plan_payments": {"kind": "bonus", "way": "hand"},
    "preview_practice": {"step": 1},
    "preview_media": {"part": "source"},
    "preview_item": {"number": 1, "position": 1},
    "preview_finish": {"number": 1},
    "preview_done": {"number": 1},
    "worker_picture": {"name": "degraded-pairs", "format": "csv"},
    "held_picture": {"format": "csv"},
    "likeness_picture": {"fmt": "csv"},
    "presentation_table": {"name": "screen-places", "fmt": "csv"},
    "presentation_picture": {"name": "screen-places", "fmt": "csv"},
    "ranking_table": {"name": "ranking", "fmt": "csv"},
    "ranking_picture": {"name": "rank-ranges", "fmt": "csv"},
    "result_picture": {"name": "system-ranking", "fmt": "csv"},
    "result_export": {"kind": "ratings", "fmt": "csv"},
    "evaluation_picture": {"name": "between-metrics", "fmt": "csv"},
    "evaluation_contrast_picture": {"fmt": "csv"},
    "plan_picture": {"name": "power", "fmt": "csv"},
    "evaluations_across_file": {"fmt": "csv"},
    "new_experiment": {"kind": "words"},
    "experiment_table": {"name": "word-tags", "fmt": "csv"},
    "experiment_picture": {"name": "calibration-1", "fmt": "csv"},
}


def staff_addresses() -> list[Address]:
    """Addresses for staff, and the home page."""
    return [
        address
        for address in addresses()
        if address.rule not in ("workers", "anyone", "tokens") or address.name == "home"
    ]


def path_of(address: Address, plenty: Plenty) -> str:
    words = WORDS.get(address.name, {})
    values = {key: words.get(key) or _value(key, address, plenty) for key, _ in address.parameters}
    return reverse(address.name, kwargs=values)


def table_name(plenty: Plenty) -> str:
    """The table of an evaluation, named after its gold."""
    return f"segment-gold-{plenty.gold.number}"


def _value(key: str, address: Address, plenty: Plenty) -> Any:
    if address.name == "evaluation_table" and key in ("name", "fmt"):
        return {"name": table_name(plenty), "fmt": "csv"}[key]
    if address.name == "evaluation_points":
        return {"name": f"scatter-m1-gold-{plenty.gold.number}"}.get(key, plenty.evaluation.code)
    if key == "fmt":
        return "csv"
    if key == "pk":
        return plenty.membership.user.pk
    if key == "membership":
        return plenty.membership.pk
    if key != "code":
        return getattr(plenty, key).code
    if address.is_of_a_campaign:
        return plenty.campaign.code
    owner = next(
        name
        for name in ("draft", "collection", "experiment", "evaluation", "job")
        if name in address.name
    )
    return getattr(plenty, owner).code
