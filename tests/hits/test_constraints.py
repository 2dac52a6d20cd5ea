"""The database itself refuses bad rows. tests/test_postgresql.py runs this file on PostgreSQL too."""

from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, models, transaction
from django.db.models import ProtectedError
from django.utils import timezone

from analysis.models import (
    Evaluation,
    Experiment,
    ExperimentFile,
    GoldRun,
    GoldScore,
    GoldUpload,
    GoldWeight,
    JudgementUpload,
    Metric,
    MetricScore,
    ScoreCollection,
)
from da_platform.jobs.models import Job
from da_platform.operation.models import SignOfLife
from da_platform.operation.signs import give_sign
from hits.models import (
    HIT,
    ApiToken,
    Assignment,
    Campaign,
    DeviceSighting,
    DocumentRating,
    EditionToCheck,
    Evidence,
    Invite,
    Item,
    Look,
    MediaFile,
    Membership,
    Participation,
    Payment,
    PaymentRun,
    PayRule,
    ProviderEvent,
    QuestionnaireReply,
    Rank,
    RateCount,
    Rating,
    Recruitment,
    SampleChance,
    Segment,
    Submission,
    System,
    SystemOutput,
    TextReport,
    Translation,
    Worker,
)
from hits.people.audit import record
from hits.people.tokens import make_token
from hits.rating.assignments import take_assignment
from hits.rating.joining import take_part
from hits.rating.reports import SentReport, report_text
from hits.recruiting.invites import make_invites
from hits.workers.trust import update_evidence
from tests.factories import make_campaign, make_hits, make_translations, make_worker, rate_items

pytestmark = pytest.mark.django_db

NOW = timezone.now()
LONG_AGO = NOW - timedelta(days=9)
ALICE, BOB = "alice", "bob"

# The row to change (counted from 0 by primary key) and its new values. A value that starts with = is copied
# from that field of the previous row, so that the two collide.
BAD_CHANGES: dict[str, tuple[type[models.Model], int, dict[str, Any]]] = {
    "campaign_name_is_not_empty": (Campaign, 0, {"name": ""}),
    "campaign_has_a_task": (Campaign, 0, {"task": ""}),
    "campaign_shows_is_known": (Campaign, 0, {"shows": "all"}),
    "campaign_presentation_is_known": (Campaign, 0, {"presentation": "film"}),
    "campaign_presents_ratings_only": (Campaign, 0, {"presentation": "side", "task": "rank"}),
    "campaign_runs_are_2_to_20_segments": (Campaign, 0, {"run_length": 21}),
    "campaign_scores_documents_it_shows": (Campaign, 0, {"scores_documents": True}),
    "campaign_status_is_known": (Campaign, 0, {"status": "gone"}),
    "campaign_hit_size_is_possible": (Campaign, 0, {"hit_size": 0}),
    "campaign_is_closed_if_archive": (Campaign, 0, {"is_archive": True}),
    "campaign_is_removed_only_if_example": (Campaign, 0, {"removed_at": NOW}),
    "campaign_degradation_is_known": (Campaign, 0, {"degradation": "none"}),
    "campaign_trust_rule_is_known": (Campaign, 0, {"trust_rule": "none"}),
    "campaign_drift_is_known": (Campaign, 0, {"drift": "never"}),
    "campaign_limit_per_worker_is_positive": (Campaign, 0, {"max_hits_per_worker": 0}),
    "campaign_sample_is_not_empty": (Campaign, 0, {"sample_size": 0}),
    "campaign_sample_choice_is_known": (Campaign, 0, {"sample_choice": "best"}),
    "campaign_needs_a_rating": (Campaign, 0, {"min_ratings": 0}),
    "campaign_shows_2_to_5_outputs": (Campaign, 0, {"outputs_per_screen": 6}),
    "campaign_output_choice_is_known": (Campaign, 0, {"output_choice": "best"}),
    "campaign_needs_a_judgement_per_pair": (Campaign, 0, {"judgements_per_pair": 0}),
    "campaign_looks_are_possible": (Campaign, 0, {"n_looks": 1}),
    "campaign_goal_of_looks_is_known": (Campaign, 0, {"looks_goal": "all"}),
    "campaign_width_of_looks_is_positive": (Campaign, 0, {"looks_width": 0}),
    "campaign_level_of_looks_is_a_chance": (Campaign, 0, {"looks_alpha": 0}),
    "campaign_least_chance_is_a_chance": (Campaign, 0, {"looks_least_chance": 1}),
    "campaign_spending_of_looks_is_known": (Campaign, 0, {"looks_spending": "all"}),
    "campaign_is_stopped_by_looks": (Campaign, 0, {"stopped_at": NOW}),
    "look_number_is_unique": (Look, 2, {"number": "=number"}),
    "look_is_the_only_one_under_way": (Look, 1, {"campaign_id": "=campaign_id"}),
    "look_is_the_only_last_one": (Look, 3, {"campaign_id": "=campaign_id"}),
    "look_number_counts_from_1": (Look, 0, {"number": 0}),
    "look_share_is_a_share": (Look, 0, {"share": 0}),
    "look_is_last_once_concluded": (Look, 0, {"is_last": True}),
    "campaign_seed_is_not_negative": (Campaign, 0, {"seed": -1}),
    "campaign_pay_is_not_negative": (Campaign, 0, {"pay_per_hit": -1}),
    "campaign_cap_is_not_negative": (Campaign, 0, {"spending_cap": -1}),
    "campaign_lease_is_positive": (Campaign, 0, {"lease_minutes": 0}),
    "campaign_lease_is_not_endless": (Campaign, 0, {"lease_minutes": 43_201}),
    "campaign_languages_are_named": (Campaign, 0, {"target_language": ""}),
    "member_has_one_level_in_a_campaign": (Membership, 1, {"campaign_id": "=campaign_id"}),
    "member_has_one_level_everywhere": (Membership, 2, {"user_id": "=user_id"}),
    "membership_level_is_known": (Membership, 0, {"level": "guest"}),
    "api_token_has_a_name": (ApiToken, 0, {"name": ""}),
    "api_token_expires_after_its_making": (ApiToken, 0, {"expires_at": LONG_AGO}),
    "system_name_is_unique": (System, 1, {"name": "=name"}),
    "system_name_is_not_empty": (System, 0, {"name": ""}),
    "segment_position_is_unique": (Segment, 1, {"position": "=position"}),
    "segment_name_is_unique": (Segment, 1, {"name": "=name"}),
    "segment_position_counts_from_1": (Segment, 0, {"position": 0}),
    "segment_name_is_not_empty": (Segment, 0, {"name": ""}),
    "segment_has_a_text": (Segment, 1, {"source": "", "reference": ""}),
    "segment_captions_belong_to_media": (Segment, 0, {"media": None}),
    "media_name_is_unique": (MediaFile, 1, {"name": "=name"}),
    "media_kind_is_known": (MediaFile, 0, {"kind": "smell"}),
    "translation_is_unique_in_its_segment": (Translation, 1, {"fingerprint": "=fingerprint"}),
    "sample_chance_is_a_probability": (SampleChance, 0, {"chance": 1.5}),
    "system_has_one_output_per_segment": (SystemOutput, 1, {"system_id": "=system_id"}),
    "hit_number_is_unique": (HIT, 1, {"number": "=number"}),
    "hit_number_counts_from_1": (HIT, 0, {"number": 0}),
    "hit_size_is_possible": (HIT, 0, {"size": 201}),
    "hit_part_counts_from_1": (HIT, 0, {"part": 0}),
    "hit_places_are_not_negative": (HIT, 0, {"places_left": -1}),
    "item_position_is_unique": (Item, 1, {"position": "=position", "screen": 1}),
    "item_is_genuine_once_in_a_hit": (Item, 1, {"translation_id": "=translation_id"}),
    "item_has_one_qc_item": (Item, -1, {"partner_id": "=partner_id"}),
    "item_position_is_in_the_hit": (Item, 0, {"position": 201}),
    "item_screen_is_in_the_hit": (Item, 0, {"screen": 2}),
    "item_run_is_in_the_hit": (Item, 0, {"run": 2}),
    "item_role_is_known": (Item, -1, {"role": 4}),
    "item_has_a_partner_unless_genuine": (Item, -1, {"partner": None}),
    "item_is_not_its_own_partner": (Item, -1, {"partner": models.F("pk")}),
    "worker_is_known_once": (Worker, 1, {"external_id": "=external_id"}),
    "worker_has_an_id": (Worker, 0, {"external_id": ""}),
    "worker_forgotten_has_no_id": (Worker, 0, {"forgotten_at": NOW}),
    "worker_participates_once": (Participation, 1, {"worker_id": "=worker_id"}),
    "participation_check_has_two_tries": (Participation, 0, {"n_check_tries": 3}),
    "participation_trust_is_known": (Participation, 0, {"trust": "hoped"}),
    "participation_decision_has_a_reason": (Participation, 0, {"decision": "excluded"}),
    "worker_replies_once": (QuestionnaireReply, 1, {"moment": "=moment"}),
    "reply_moment_is_known": (QuestionnaireReply, 0, {"moment": "during"}),
    "assignment_is_once_per_worker_and_hit": (Assignment, 1, {"worker_id": "=worker_id"}),
    "worker_has_one_assignment_in_progress": (Assignment, 3, {"worker_id": "=worker_id"}),
    "assignment_completion_code_is_unique": (
        Assignment,
        1,
        {"completion_code": "=completion_code"},
    ),
    "assignment_status_is_known": (Assignment, 2, {"status": "lost"}),
    "assignment_is_submitted_with_time_and_code": (Assignment, 0, {"completion_code": ""}),
    "assignment_is_weighed_once_submitted": (Assignment, 2, {"evidence_at": NOW}),
    "assignment_hold_is_known": (
        Assignment,
        0,
        {"hold": "maybe", "hold_reason": "Too fast.", "held_at": NOW},
    ),
    "assignment_hold_has_reason_and_time": (Assignment, 0, {"hold": "held"}),
    "assignment_expires_after_its_start": (Assignment, 0, {"expires_at": NOW - timedelta(days=9)}),
    "evidence_is_weighed_once_for_each_hit": (Evidence, 1, {"assignment_id": "=assignment_id"}),
    "evidence_origin_is_known": (Evidence, 0, {"origin": "hearsay"}),
    "rating_is_0_to_100": (Rating, 0, {"score": 101}),
    "rating_place_counts_from_1": (Rating, 0, {"place": 0}),
    "document_rating_is_0_to_100": (DocumentRating, 0, {"score": 101}),
    "rank_is_at_least_1_unless_skipped": (Rank, 0, {"rank": None}),
    "rank_skip_is_known": (Rank, 0, {"rank": None, "skip": "tired"}),
    "rank_place_counts_from_1": (Rank, 0, {"place": 0}),
    "edition_is_checked_once_in_a_campaign": (EditionToCheck, 1, {"item_id": "=item_id"}),
    "text_is_reported_once": (TextReport, 1, {"item_id": "=item_id"}),
    "text_report_reason_is_known": (TextReport, 0, {"reason": "boredom"}),
    "recruitment_provider_is_known": (Recruitment, 0, {"provider": "post"}),
    "study_is_of_one_campaign": (Recruitment, 1, {"study": "=study"}),
    "submission_is_known_once": (Submission, 1, {"reference": "=reference"}),
    "submission_has_an_id": (Submission, 0, {"reference": ""}),
    "submission_status_is_known": (Submission, 0, {"status": "lost"}),
    "provider_event_is_heard_once": (ProviderEvent, 1, {"event_id": "=event_id"}),
    "provider_event_has_an_id": (ProviderEvent, 0, {"event_id": ""}),
    "invite_has_a_hash": (Invite, 0, {"token_hash": ""}),
    "invite_is_not_overused": (Invite, 0, {"n_uses": 2}),
    "invite_is_for_one_if_personal": (Invite, 0, {"max_uses": 2}),
    "invite_expires_after_its_making": (Invite, 0, {"expires_at": LONG_AGO}),
    "device_is_noted_once_per_worker": (DeviceSighting, 1, {"worker_id": "=worker_id"}),
    "device_kind_is_known": (DeviceSighting, 0, {"kind": "nose"}),
    "device_has_a_mark": (DeviceSighting, 0, {"mark": ""}),
    "rate_is_counted_once_per_window": (RateCount, 1, {"key": "=key"}),
    "pay_rule_has_what_its_kind_needs": (PayRule, 0, {"amount": None}),
    "pay_rule_has_a_reason": (PayRule, 0, {"reason": ""}),
    "pay_rule_is_partial_once": (PayRule, 2, {"campaign_id": "=campaign_id"}),
    "payment_run_kind_is_known": (PaymentRun, 0, {"kind": "gift"}),
    "payment_run_total_is_not_negative": (PaymentRun, 0, {"total": -1}),
    "payment_run_has_payments": (PaymentRun, 0, {"n_payments": 0}),
    "payment_approves_or_rejects_once": (Payment, 1, {"assignment_id": "=assignment_id"}),
    "payment_follows_a_rule_once": (Payment, 3, {"assignment_id": "=assignment_id"}),
    "payment_state_is_known": (Payment, 0, {"state": "lost", "settled_at": NOW}),
    "payment_has_what_its_kind_needs": (Payment, 0, {"kind": "bonus"}),
    "payment_is_sending_since_a_moment": (Payment, 0, {"state": "sending"}),
    "payment_is_settled_with_a_time": (Payment, 0, {"state": "sent"}),
    "job_state_is_known": (Job, 0, {"state": "lost"}),
    "job_is_finished_with_a_time": (Job, 0, {"state": "done"}),
    "gold_run_number_is_unique": (GoldRun, 1, {"number": "=number"}),
    "job_makes_one_gold_run": (GoldRun, 1, {"job_id": "=job_id"}),
    "gold_score_is_complete_with_a_score": (GoldScore, 0, {"is_complete": True}),
    "gold_weight_is_not_negative": (GoldWeight, 0, {"weight": -1}),
    "metric_is_stored_once_for_a_campaign": (Metric, 1, {"name": "=name"}),
    "metric_is_stored_once_for_a_collection": (Metric, 3, {"name": "=name"}),
    "metric_is_of_a_campaign_or_a_collection": (Metric, 0, {"campaign_id": None}),
    "metric_name_is_not_empty": (Metric, 0, {"name": ""}),
    "metric_level_is_known": (Metric, 0, {"level": "word"}),
    "metric_origin_is_known": (Metric, 0, {"origin": "dreamt"}),
    "metric_direction_is_confirmed_with_a_time": (Metric, 0, {"higher_is_better": True}),
    "metric_score_is_finite": (MetricScore, 0, {"score": float("inf")}),
    "sign_of_life_has_a_name": (SignOfLife, 0, {"name": ""}),
    "evaluation_number_is_unique": (Evaluation, 1, {"number": "=number"}),
    "evaluation_number_is_unique_in_a_collection": (Evaluation, 3, {"number": "=number"}),
    "pooled_evaluation_number_is_unique": (Evaluation, 5, {"number": "=number"}),
    "evaluation_is_not_of_campaign_and_collection": (
        Evaluation,
        2,
        {"campaign_id": "=campaign_id"},
    ),
    "collection_name_is_not_empty": (ScoreCollection, 0, {"name": ""}),
    "experiment_name_is_not_empty": (Experiment, 0, {"name": ""}),
    "experiment_has_one_file_at_a_position": (ExperimentFile, 1, {"position": "=position"}),
    "gold_upload_is_stored_once_for_a_campaign": (GoldUpload, 1, {"name": "=name"}),
    "gold_upload_is_stored_once_for_a_collection": (GoldUpload, 3, {"name": "=name"}),
    "gold_upload_is_of_a_campaign_or_a_collection": (GoldUpload, 0, {"campaign_id": None}),
    "gold_upload_name_is_not_empty": (GoldUpload, 0, {"name": ""}),
    "gold_upload_level_is_known": (GoldUpload, 0, {"level": "word"}),
    "gold_upload_kind_is_known": (GoldUpload, 0, {"kind": "guess"}),
    "judgements_are_stored_once_for_a_campaign": (JudgementUpload, 1, {"sha256": "=sha256"}),
    "judgements_are_stored_once_for_a_collection": (JudgementUpload, 3, {"sha256": "=sha256"}),
    "judgements_are_of_a_campaign_or_a_collection": (JudgementUpload, 0, {"campaign_id": None}),
    "evaluation_number_counts_from_1": (Evaluation, 0, {"number": 0}),
    "job_makes_one_evaluation": (Evaluation, 1, {"job_id": "=job_id"}),
}
# The audit log refuses every change, so its constraint is tested with a new row.
ONLY_WHEN_ADDED = {"audit_entry_names_its_action"}


@pytest.fixture
def campaign() -> Campaign:
    """Two HITs; alice and bob have submitted the first, and two others are working on one each."""
    campaign = make_hits(min_ratings=3, n_segments=28)
    for name in (ALICE, BOB):
        worker = make_worker(name)
        take_part(campaign=campaign, worker=worker)
        assignment = take_assignment(campaign=campaign, worker=worker)
        rate_items(assignment, n_items=1)
        Assignment.objects.filter(pk=assignment.pk).update(
            status=Assignment.Status.SUBMITTED,
            started_at=NOW - timedelta(hours=1),
            submitted_at=NOW,
            completion_code=name,
        )
        update_evidence(assignment=assignment)
    for moment in ("before", "after"):
        reply = QuestionnaireReply(participation=campaign.participations.latest("pk"))
        reply.moment = moment
        reply.save()
    files = [
        MediaFile.objects.create(campaign=campaign, name=name, kind="image", n_bytes=1)
        for name in ("a.png", "b.png")
    ]
    first = campaign.segments.order_by("pk").first()
    Segment.objects.filter(pk=first.pk).update(media=files[0], captions=files[1])
    # Of any item: the constraints know nothing of tasks.
    DocumentRating.objects.create(
        assignment=assignment, item=assignment.hit.items.latest("position"), score=50
    )
    Rank.objects.create(
        assignment=assignment, item=assignment.hit.items.latest("position"), rank=1, place=1
    )
    for item in assignment.hit.items.order_by("position")[:2]:
        EditionToCheck.objects.create(
            translation=item.translation, assignment=assignment, item=item
        )
    EditionToCheck.objects.update(translation=item.translation)
    for position in (1, 2):
        report_text(assignment=assignment, screen=position, report=SentReport("other"))
    # The third place on the first HIT, then the second HIT.
    for _ in range(2):
        take_assignment(campaign=campaign, worker=make_worker())
    SampleChance.objects.create(
        translation=campaign.segments.earliest("pk").translations.first(), chance=0.5
    )
    make_gold_runs(campaign)
    give_sign("alice")
    make_evaluations(campaign)
    make_members(campaign)
    make_recruits(campaign)
    make_metrics(campaign)
    make_payments(campaign)
    make_looks(campaign)
    experiment = Experiment.objects.create(kind="words", name="Words")
    for position in (0, 1):
        ExperimentFile.objects.create(experiment=experiment, position=position, compressed=b"")
    return campaign


def make_recruits(campaign: Campaign) -> None:
    """Two campaigns with a study each; alice and bob came to the first from the same device."""
    recruitment = Recruitment.objects.get(campaign=campaign)
    Recruitment.objects.create(campaign=make_campaign(is_open=False), study="two")
    Recruitment.objects.filter(pk=recruitment.pk).update(study="one")
    make_invites(campaign=campaign, n=2, actor=None)
    for worker in Worker.objects.filter(external_id__in=[ALICE, BOB]):
        name = worker.external_id
        Submission.objects.create(recruitment=recruitment, worker=worker, reference=name)
        ProviderEvent.objects.create(provider="prolific", event_id=name)
        RateCount.objects.create(key=name, began_at=NOW)
        DeviceSighting.objects.create(campaign=campaign, worker=worker, kind="cookie", mark="m")


def make_looks(campaign: Campaign) -> None:
    """A look under way and a last look in each of two campaigns."""
    other = make_campaign(is_open=False)
    facts: dict[str, Any] = {"concluded_at": NOW, "is_last": True}
    for number, (where, fields) in enumerate(
        ((campaign, {}), (other, {}), (other, facts), (campaign, facts)), start=1
    ):
        Look.objects.create(campaign=where, number=number, share=0.5, **fields)


def make_payments(campaign: Campaign) -> None:
    """Plan pay and a bonus for alice and bob, and partial pay in two campaigns."""
    actor = User.objects.get(username=ALICE)
    flat = PayRule.objects.create(
        campaign=campaign, kind="flat", amount=1, reason="Thanks", created_by=actor
    )
    for where in (campaign, make_campaign()):
        PayRule.objects.create(campaign=where, kind="partial", reason="Your part", created_by=actor)
    for kind, rule in (("approve", None), ("bonus", flat)):
        run = PaymentRun.objects.create(
            campaign=campaign, kind=kind, n_payments=2, total=2, confirmed_by=actor
        )
        for assignment in Assignment.objects.submitted().order_by("pk"):
            Payment.objects.create(
                key=f"{kind}{assignment.pk}",
                run=run,
                assignment=assignment,
                kind=kind,
                rule=rule,
                amount=1,
            )


def make_members(campaign: Campaign) -> None:
    """One person with a level in the campaign and one everywhere, and a second person."""
    people = [User.objects.create(username=name) for name in (ALICE, BOB)]
    for user, where in ((people[0], campaign), (people[0], None), (people[1], None)):
        Membership.objects.create(user=user, campaign=where, level="researcher")
    make_token(user=people[0], name="ci", scopes=["read"])


def make_metrics(campaign: Campaign) -> None:
    """Two metrics of the campaign and two of a score collection, with a score each."""
    collection = ScoreCollection.objects.create(name="elsewhere")
    homes: list[dict[str, Any]] = [{"campaign": campaign}, {"collection": collection}]
    for home in homes:
        for name in ("BLEU", "TER"):
            metric = Metric.objects.create(
                name=name, level="segment", origin="uploaded", sha256="0" * 64, n_scores=1, **home
            )
            MetricScore.objects.create(
                metric=metric, system="a", segment="1", position=0, score=0.5
            )


def make_gold_runs(campaign: Campaign) -> None:
    counts = dict.fromkeys(["n_workers", "n_workers_trusted", "n_ratings", "n_scored"], 0)
    for number in (1, 2):
        job = Job.objects.create(kind="build_gold", campaign=campaign)
        run = GoldRun.objects.create(
            campaign=campaign, number=number, minimum=3, job=job, n_incomplete=1, **counts
        )
        translation = Translation.objects.filter(segment__campaign=campaign)[0]
        GoldWeight.objects.create(
            run=run,
            worker=Worker.objects.latest("pk"),
            weight=1.0,
            discrimination=1.0,
            repeat_variance=0.5,
            n_pairs=1,
            n_repeats=1,
        )
        GoldScore.objects.create(
            run=run, translation=translation, n=0, n_ratings=0, is_complete=False
        )


def make_evaluations(campaign: Campaign) -> None:
    """Two evaluations each of the campaign, of a score collection and of pooled campaigns."""
    collection = ScoreCollection.objects.create(name="elsewhere")
    homes: list[dict[str, Any]] = [{"campaign": campaign}, {"collection": collection}, {}]
    for home in homes:
        for number in (1, 2):
            job = Job.objects.create(kind="evaluate", campaign=campaign)
            Evaluation.objects.create(number=number, job=job, golds=[], result={}, **home)
    for home in homes[:2]:
        for name in ("HTER", "MQM"):
            GoldUpload.objects.create(
                name=name,
                kind="other",
                level="segment",
                higher_is_better=False,
                n_scores=0,
                table={},
                **home,
            )
            JudgementUpload.objects.create(sha256=name, n_judgements=0, table={}, **home)


def test_the_database_refuses_every_bad_row(campaign: Campaign):
    unexpected = {}
    for name, (model, index, change) in BAD_CHANGES.items():
        rows = list(model.objects.order_by("pk"))
        row, previous = rows[index], rows[index - 1]
        values = {field: _value(value, previous) for field, value in change.items()}
        error = _error_of(model.objects.filter(pk=row.pk), values)
        if not _names_constraint(error, name, model, change):
            unexpected[name] = error
    assert not unexpected


def _error_of(row: models.QuerySet[Any], values: dict[str, Any]) -> str:
    try:
        with transaction.atomic():
            row.update(**values)
            transaction.set_rollback(True)
    except IntegrityError as error:
        return str(error)
    return ""


def _value(value: Any, previous: models.Model) -> Any:
    return getattr(previous, value[1:]) if isinstance(value, str) and value[:1] == "=" else value


def _names_constraint(
    message: str, name: str, model: type[models.Model], change: dict[str, Any]
) -> bool:
    """Whether the error names this constraint. For unique ones, SQLite names the columns instead."""
    if name in message:
        return True
    copied = [field for field, value in change.items() if str(value).startswith("=")] or change
    columns = [model._meta.get_field(field).column for field in copied]
    return connection.vendor == "sqlite" and all(column in message for column in columns)


def test_every_constraint_of_every_table_is_tested_above():
    names = {
        constraint.name
        for app in ("hits", "jobs", "analysis", "operation")
        for model in apps.get_app_config(app).get_models()
        for constraint in model._meta.constraints
    }
    assert names == set(BAD_CHANGES) | ONLY_WHEN_ADDED


def test_the_database_refuses_an_audit_entry_without_an_action():
    with pytest.raises(IntegrityError, match="audit_entry_names_its_action"), transaction.atomic():
        record("")


def test_the_primary_key_refuses_a_second_rating_of_an_item(campaign: Campaign):
    rating = Rating.objects.order_by("pk")[0]
    with pytest.raises(IntegrityError), transaction.atomic():
        Rating.objects.create(assignment=rating.assignment, item=rating.item, score=1)


def test_a_campaign_without_ratings_can_be_deleted_with_its_contents():
    campaign, other = make_campaign(), make_hits()
    make_translations(campaign)
    campaign.delete()
    assert set(Segment.objects.values_list("campaign", flat=True)) == {other.pk}
    assert Translation.objects.count() == 28 and Segment.objects.count() == 14


def test_a_campaign_in_the_audit_log_cannot_be_deleted():
    campaign = make_hits()
    with pytest.raises(ProtectedError):
        campaign.delete()
    assert Item.objects.filter(hit__campaign=campaign).count() == 40


def test_a_campaign_with_ratings_cannot_be_deleted(campaign: Campaign):
    n_ratings = Rating.objects.count()
    with pytest.raises(ProtectedError):
        campaign.delete()
    assert Rating.objects.count() == n_ratings == 2
    assert Campaign.objects.filter(pk=campaign.pk).exists()


def test_a_worker_and_a_translation_in_use_cannot_be_deleted(campaign: Campaign):
    with pytest.raises(ProtectedError):
        Worker.objects.get(external_id=ALICE).delete()
    with pytest.raises(models.RestrictedError):
        Item.objects.order_by("pk")[0].translation.delete()
