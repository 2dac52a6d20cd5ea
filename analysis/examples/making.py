"""Make the example campaigns of a fresh platform: a finished one, one that collects, and a draft.

The crowd is simulated and everything else is done by the platform's own services, so the examples look like campaigns
of real people. The same texts and seeds give the same ratings.
"""

import csv
import time
from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from da_platform.jobs.kinds import JobRefused
from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job, start_job
from hits.campaigns.behaviours import Behaviour
from hits.campaigns.building import build_hits
from hits.campaigns.demo import (
    DEMO_FOLDER,
    DEMO_SEED,
    DEMO_SETTINGS,
    DRAFT_NAME,
    prepare_demo_campaign,
)
from hits.campaigns.importing import import_campaign
from hits.campaigns.lifecycle import change_status
from hits.campaigns.simulation import simulate_workers
from hits.models import (
    Assignment,
    Campaign,
    CampaignDraft,
    DeviceSighting,
    Item,
    Participation,
    PayRule,
    Recruitment,
    SystemOutput,
    TextReport,
)
from hits.payments.owing import Kind, plan_run
from hits.payments.runs import add_rule, confirm_run, mark_as_paid
from hits.people.audit import record
from hits.recruiting.invites import make_invites
from hits.workers.held_hits import discard_held
from hits.workers.trust import decide_about, weigh_again, weigh_hit

from ..evaluation.uploading import store_uploaded_scores
from ..experiments.storing import start_experiment
from ..models import Metric
from ..scores.raw_files import RawFile
from ..scores.score_tables import ScoreTable
from ..scores.storing import ScoreSource, confirm_direction, store_scores
from .removing import EXPERIMENT_NAME, remove_campaign

FINISHED_NAME = "Example: a finished campaign"
EXAMPLES_MADE = "examples made"

# Three full HITs; with all 84 segments it would take twice as long.
N_SEGMENTS = 60
N_STEPS = 6

# The first wave fills all places, as people do. Those who turn out to be careless are replaced by the second.
FIRST_WAVE = {
    Behaviour.HONEST: 10,
    Behaviour.HARSH: 2,
    Behaviour.LENIENT: 2,
    Behaviour.RANDOM: 3,
    Behaviour.CONSTANT: 1,
    Behaviour.OVERLAP: 1,
    Behaviour.FAST: 2,
}
SECOND_WAVE = {Behaviour.HONEST: 8, Behaviour.NOISY: 1}
# Careful workers who come until nothing is missing; some verdicts change as others prove themselves.
LATECOMERS = {Behaviour.HONEST: 2}
MOST_WAVES = 8

# Half of the places of the campaign that collects. The fast one leaves a held HIT to decide about.
COLLECTING_CROWD = {
    Behaviour.HONEST: 14,
    Behaviour.RANDOM: 2,
    Behaviour.PAIRS: 1,
    Behaviour.FAST: 1,
}

# Scores of the metrics that come with the texts, and whether higher is better.
UPLOADED = {"quillscore": True, "wordmatch": True, "editcost": False}
COMPUTED = ["chrF"]
# Quality estimation predicts ratings without a reference.
PREDICTIONS = ("quill-qe", "length-qe")

Qualities = Mapping[int, float]


def make_examples(
    *, actor: User, again: bool = False, progress: Any = lambda done, total: None
) -> list[Campaign]:
    """Make the examples that are missing. One that an interrupted job left unfinished is made again.

    A demo campaign that somebody removed is made only if `again` is set.
    """
    progress(0, N_STEPS)
    for unfinished in (
        Campaign.objects.examples().filter(name=FINISHED_NAME).exclude(status="closed")
    ):
        remove_campaign(unfinished)
    campaigns = [campaign for campaign in (prepare_demo_campaign(again=again),) if campaign]
    if not Campaign.objects.examples().filter(name=FINISHED_NAME).exists():
        campaigns.append(_make_finished(actor, progress))
    for campaign in campaigns:
        if campaign.status == Campaign.Status.OPEN:
            _collect_half(campaign)
    _make_draft(actor)
    progress(N_STEPS, N_STEPS)
    record(EXAMPLES_MADE, actor=actor, campaigns=[campaign.name for campaign in campaigns])
    return campaigns


# The campaign that collects ------------------------------------------------------------------


def _collect_half(campaign: Campaign) -> None:
    if campaign.participations.count() > COLLECTING_CROWD[Behaviour.HONEST]:
        return
    _simulate(campaign, COLLECTING_CROWD, seed=DEMO_SEED + 1, days_ago=2, hits_per_worker=2)


# The draft -----------------------------------------------------------------------------------


def _make_draft(owner: User) -> None:
    CampaignDraft.objects.get_or_create(
        owner=owner,
        basics__name=DRAFT_NAME,
        defaults={
            "basics": {
                "name": DRAFT_NAME,
                "source_language": "de",
                "target_language": "en",
                "task": Campaign.Task.REFERENCE_ADEQUACY,
            }
        },
    )


# The finished campaign -----------------------------------------------------------------------


def _make_finished(actor: User, progress: Any) -> Campaign:
    campaign = _import(actor)
    build_hits(campaign=campaign, actor=actor)
    progress(1, N_STEPS)
    campaign = change_status(campaign=campaign, to=Campaign.Status.OPEN, actor=actor)
    qualities = _judgements(campaign)
    _simulate(campaign, FIRST_WAVE, seed=1, days_ago=8, hits_per_worker=3, qualities=qualities)
    progress(2, N_STEPS)
    _share_browser(campaign)
    _decide(campaign, actor)
    _pay(campaign, actor)
    _report_texts(campaign)
    _simulate(campaign, SECOND_WAVE, seed=2, days_ago=6, hits_per_worker=3, qualities=qualities)
    for wave in range(MOST_WAVES):
        if not campaign.hits.open().exists():
            break
        _simulate(
            campaign, LATECOMERS, seed=3 + wave, days_ago=4, hits_per_worker=3, qualities=qualities
        )
    _reinstate_readers(campaign, actor)
    progress(3, N_STEPS)
    _analyse(campaign, actor)
    progress(5, N_STEPS)
    return change_status(campaign=campaign, to=Campaign.Status.CLOSED, actor=actor)


def _import(actor: User) -> Campaign:
    campaign = import_texts(actor, name=FINISHED_NAME, n_segments=N_SEGMENTS)
    make_invites(campaign=campaign, n=6, actor=actor, label="Reading group")
    return campaign


@transaction.atomic
def import_texts(actor: User, *, name: str, n_segments: int, **settings: Any) -> Campaign:
    """Create an example from the first segments of the demo campaign."""
    with TemporaryDirectory() as folder:
        for path in DEMO_FOLDER.rglob("*.txt"):
            part = Path(folder) / path.relative_to(DEMO_FOLDER)
            part.parent.mkdir(exist_ok=True)
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            part.write_text("".join(lines[:n_segments]), encoding="utf-8")
        campaign = import_campaign(
            path=Path(folder),
            name=name,
            source_language="de",
            target_language="en",
            seed=DEMO_SEED,
            is_example=True,
            **DEMO_SETTINGS,
            **settings,
        ).campaign
    campaign.created_at = timezone.now() - timedelta(days=9)
    campaign.save(update_fields=["created_at"])
    record("campaign created", actor=actor, campaign=campaign)
    Recruitment.objects.create(campaign=campaign)
    return campaign


def _judgements(campaign: Campaign) -> Qualities:
    """What a careful reader thought of each translation, for the simulated workers to agree with."""
    with (DEMO_FOLDER.parent / "judgements.tsv").open(encoding="utf-8") as file:
        rows = {
            (row["system"], row["segment"]): float(row["judgement"])
            for row in csv.DictReader(file, delimiter="\t")
        }
    return {
        translation: rows[system, segment]
        for translation, system, segment in SystemOutput.objects.filter(
            system__campaign=campaign
        ).values_list("translation", "system__name", "segment__name")
    }


def _simulate(
    campaign: Campaign,
    crowd: Mapping[Behaviour, int],
    *,
    seed: int,
    days_ago: int,
    hits_per_worker: int,
    qualities: Qualities | None = None,
) -> None:
    """Let a crowd rate, and weigh everyone. Their agreement is weighed once, at the end, which is much faster."""
    simulate_workers(
        campaign=campaign,
        crowd=crowd,
        hits_per_worker=hits_per_worker,
        seed=seed,
        truth_seed=DEMO_SEED,
        qualities=qualities,
        start=timezone.now() - timedelta(days=days_ago),
        after_hit=weigh_hit,
    )
    weigh_again(campaign, list(campaign.hits.values_list("pk", flat=True)))


def _share_browser(campaign: Campaign) -> None:
    """One script with two ids: both used the same browser."""
    scripts = campaign.participations.filter(worker__external_id__startswith=Behaviour.FAST)
    campaign.device_sightings.bulk_create(
        DeviceSighting(
            campaign=campaign,
            worker_id=worker,
            kind=DeviceSighting.Kind.COOKIE,
            mark=sha256(campaign.code.bytes).hexdigest(),
        )
        for worker in scripts.values_list("worker", flat=True)
    )


def _decide(campaign: Campaign, actor: User) -> None:
    """Leave decisions with reasons: a worker excluded, one reinstated, and the held HITs discarded."""
    workers = campaign.participations.select_related("worker").order_by("pk")
    careless = workers.filter(worker__external_id__startswith=Behaviour.CONSTANT).first()
    harsh = workers.filter(worker__external_id__startswith=Behaviour.HARSH).first()
    for participation, decision, reason in (
        (careless, Participation.Decision.EXCLUDED, "The same score for every text."),
        (
            harsh,
            Participation.Decision.REINSTATED,
            "Strict, but consistent: we looked at the scores.",
        ),
    ):
        if participation:
            decide_about(participation=participation, decision=decision, actor=actor, reason=reason)
    held = Assignment.objects.filter(hit__campaign=campaign, hold=Assignment.Hold.HELD)
    for assignment in held.select_related("hit__campaign", "worker").order_by("pk"):
        discard_held(
            assignment=assignment, actor=actor, reason="Nobody reads a text in 0.02 seconds."
        )


def _report_texts(campaign: Campaign) -> None:
    """Two workers say that something is wrong with a text. Neither text is one of a pair."""
    unpaired = Item.objects.filter(hit__campaign=campaign, role=Item.Role.GENUINE, qc_items=None)
    item = unpaired.order_by("pk").first()
    assert item
    work = Assignment.objects.counted().filter(hit=item.hit).order_by("pk")
    reasons = (TextReport.Reason.GRAY, TextReport.Reason.OTHER)
    TextReport.objects.bulk_create(
        TextReport(assignment=assignment, item=item, reason=reason)
        for assignment, reason in zip(work, reasons, strict=False)
    )


def _reinstate_readers(campaign: Campaign, actor: User) -> None:
    """Count the work of readers with too few pairs to be proven, as an admin would who looks at their scores."""
    for participation in campaign.participations.filter(
        trust="unproven", decision=""
    ).select_related("worker"):
        if Behaviour(participation.worker.external_id.split("-")[0]).is_careful:
            decide_about(
                participation=participation,
                decision=Participation.Decision.REINSTATED,
                actor=actor,
                reason="One HIT was too little for the test; the scores agree with the others.",
            )


def _pay(campaign: Campaign, actor: User) -> None:
    """Pay the first wave by hand, and promise a bonus. The second wave stays to be paid."""
    plan = plan_run(campaign, Kind.APPROVE, is_by_hand=True)
    run = confirm_run(
        campaign=campaign,
        kind=plan.kind,
        is_by_hand=True,
        digest=plan.digest,
        total=plan.total,
        actor=actor,
    )
    mark_as_paid(run=run, total=run.total, reference="bank transfer", actor=actor)
    add_rule(
        campaign=campaign,
        kind=PayRule.Kind.FLAT,
        amount=Decimal("0.25"),
        reason="A thank you to everyone who took part.",
        actor=actor,
    )


def _analyse(campaign: Campaign, actor: User) -> None:
    # The plain gold comes last, because pages start with the newest.
    run_here("build_gold", campaign, actor, method="weighted")
    run_here("build_gold", campaign, actor)
    run_here("measure_agreement", campaign, actor)
    for name, higher_is_better in UPLOADED.items():
        [metric] = store_uploaded_scores(
            files=[_score_file(campaign, name)], home=campaign, uploaded_by=actor
        )
        confirm_direction(metric=metric, higher_is_better=higher_is_better, actor=actor)
    run_here("compute_metrics", campaign, actor, names=COMPUTED)
    _store_predictions(campaign, actor)
    segment_level = Metric.objects.filter(campaign=campaign, level="segment")
    predictions = segment_level.filter(name__in=PREDICTIONS)
    others = campaign.metrics.exclude(name__in=PREDICTIONS)
    run_here("evaluate", campaign, actor, metrics=_codes(others))
    run_here(
        "evaluate",
        campaign,
        actor,
        metrics=_codes(predictions),
        golds=[{"run": 2, "use": "raw"}],
        options={"qe": True},
    )
    _compare_systems(campaign, actor)


def _compare_systems(campaign: Campaign, actor: User) -> None:
    """An experiment: do tests of the outputs come to the same conclusions as people?"""
    experiment = start_experiment(
        kind="systems",
        name=EXPERIMENT_NAME,
        inputs={},
        given={"metrics": "BLEU chrF"},
        owner=actor,
        campaigns={"outputs_campaign": campaign, "human_campaign": campaign},
    )
    assert experiment.job
    finish_job(experiment.job)


def _codes(metrics: Any) -> list[str]:
    return [str(metric.code) for metric in metrics]


def _score_file(campaign: Campaign, name: str) -> RawFile:
    """The rows of a score file whose segments are in the campaign."""
    path = DEMO_FOLDER.parent / "metrics" / f"{name}.tsv"
    header, *rows = path.read_text(encoding="utf-8").splitlines()
    segments = set(campaign.segments.values_list("name", flat=True))
    kept_rows = [row for row in rows if row.split("\t")[1] in segments]
    return RawFile(path.name, "\n".join([header, *kept_rows, ""]).encode())


def _store_predictions(campaign: Campaign, actor: User) -> None:
    """Two invented predictors of the raw score: a good one, and one that only compares lengths."""
    outputs = SystemOutput.objects.filter(system__campaign=campaign).order_by("pk")
    rows = list(
        outputs.values_list("system__name", "segment__name", "translation__text", "segment__source")
    )
    keys = tuple((system, segment) for system, segment, _, _ in rows)
    score_rows = _score_file(campaign, "quillscore").content.decode().splitlines()[1:]
    scores = {
        (system, segment): float(score)
        for system, segment, score in (row.split("\t") for row in score_rows)
    }
    by_name = {
        "quill-qe": np.array([100 * scores[key] for key in keys]),
        "length-qe": np.array(
            [
                100 * min(len(text), len(source)) / max(len(text), len(source))
                for *_, text, source in rows
            ]
        ),
    }
    for name, values in by_name.items():
        digest = sha256(values.tobytes()).hexdigest()
        table = ScoreTable(name, "segment", keys, values, True, sha256=digest)
        store_scores(table=table, home=campaign, source=ScoreSource(uploaded_by=actor))


def run_here(kind: str, campaign: Campaign, actor: User, **arguments: Any) -> None:
    """Run a job of the campaign here and now."""
    finish_job(start_job(kind=kind, campaign=campaign, arguments=arguments, started_by=actor))


def finish_job(job: Job) -> None:
    """Run a job here and now, or wait for the process that has taken it."""
    run_job(job.pk)
    while job.finished_at is None:
        job.refresh_from_db()
        time.sleep(0 if job.finished_at else 0.1)
    if job.state != Job.State.DONE:
        raise JobRefused(f"{job.title}: {job.error}")
