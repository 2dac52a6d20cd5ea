"""Edit and duplicate campaigns."""

from collections.abc import Iterable
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction

from da_platform.jobs.running import start_job

from ..exceptions import EditRefused
from ..media.storing import copy_media
from ..models import Assignment, Campaign, ImportReport, Membership, Recruitment, new_seed
from ..people.audit import record
from ..rating.places import settle_places

# Can be changed at any time: they do not affect ratings that were already given.
FREE = (
    "name",
    "instructions",
    "guidance",
    "questionnaire",
    "run_by",
    "contact",
    "interface_language",
    "min_ratings",
    "judgements_per_pair",
    "spending_cap",
    "lease_minutes",
    "trust_rule",
    "drift",
    "max_hits_per_worker",
    "records_signals",
    "has_canary",
)
# Can be changed until a worker has taken a HIT or a provider's study offers the pay.
UNTIL_TAKEN = ("pay_per_hit", "currency")
# Can be changed until a worker has taken a HIT. A change deletes the HITs, since they depend on it.
UNTIL_TAKEN_REBUILDS = (
    "presentation",
    "run_length",
    "scores_documents",
    "hit_size",
    "outputs_per_screen",
    "output_choice",
    "sample_size",
    "sample_choice",
    "n_looks",
    "looks_goal",
    "looks_width",
    "looks_alpha",
    "looks_spending",
    "looks_least_chance",
    "seed",
    "degradation",
    "shows_gray_references",
)
EDITABLE = (*FREE, *UNTIL_TAKEN, *UNTIL_TAKEN_REBUILDS)
# The number of places that HITs offer depends on these, and the verdicts about workers on those.
SETTLES = ("min_ratings", "drift", "max_hits_per_worker")
JUDGES_AGAIN = ("trust_rule", "drift")


def is_taken(campaign: Campaign) -> bool:
    """Return whether any worker has ever taken one of its HITs."""
    return Assignment.objects.filter(hit__campaign=campaign).exists()


def is_offered(campaign: Campaign) -> bool:
    """Return whether a provider's study offers places, with the pay it was created with.

    Until we ask for places, the pay can still be adjusted to a study that was created at Prolific.
    """
    offers = Recruitment.objects.filter(campaign=campaign, n_places__gt=0).exclude(study="")
    return offers.exists()


def editable_fields(campaign: Campaign) -> tuple[str, ...]:
    """Return the settings that can be changed now."""
    if campaign.is_archive:
        return ("name",)
    if is_taken(campaign):
        # What each part adds belongs to the rule by which looks stop it.
        return FREE if campaign.n_looks is None else _without(FREE, "min_ratings")
    fields = (*FREE, *UNTIL_TAKEN) if campaign.status == Campaign.Status.OPEN else EDITABLE
    if is_offered(campaign):
        return tuple(name for name in fields if name not in UNTIL_TAKEN)
    return fields


def _without(names: tuple[str, ...], *left_out: str) -> tuple[str, ...]:
    return tuple(name for name in names if name not in left_out)


def why_fixed(campaign: Campaign, names: Iterable[str]) -> str:
    """Explain why these settings can no longer be changed."""
    if set(names) <= set(UNTIL_TAKEN) and not is_taken(campaign):
        return "the pay of the study is fixed"
    return "work has begun"


@transaction.atomic
def edit_campaign(*, campaign: Campaign, actor: User | None, changes: dict[str, Any]) -> list[str]:
    """Change settings, adjust places and HITs, and return the names of the changed settings."""
    # Locked, so that nobody can take a HIT under a spending cap, build HITs or edit at the same time.
    locked = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    changed = {name: value for name, value in changes.items() if getattr(locked, name) != value}
    if refused := changed.keys() - set(editable_fields(locked)):
        raise EditRefused(
            f"This can no longer be changed: {_in_words(refused)}. "
            f"Reason: {why_fixed(locked, refused)}."
        )
    if not changed:
        return []
    before = {name: _plain(getattr(locked, name)) for name in changed}
    for name, value in changed.items():
        setattr(locked, name, value)
        setattr(campaign, name, value)
    locked.full_clean()
    locked.save(update_fields=list(changed))
    record(
        "settings changed",
        actor=actor,
        campaign=locked,
        reason=f"Changed: {_in_words(changed)}.",
        before=before,
        after={name: _plain(value) for name, value in changed.items()},
    )
    if changed.keys() & set(UNTIL_TAKEN_REBUILDS):
        locked.hits.all().delete()
    elif changed.keys() & set(SETTLES):
        settle_places(campaign=locked, hits=locked.hits.values_list("pk", flat=True))
    if changed.keys() & set(JUDGES_AGAIN) and locked.participations.exists():
        # Takes long in a large campaign. It starts after the commit.
        start_job(kind="recompute_workers", campaign=locked, started_by=actor)
    return list(changed)


def _in_words(names: Iterable[str]) -> str:
    labels = {field.name: str(field.verbose_name) for field in Campaign._meta.fields}
    return ", ".join(labels[name] for name in names)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        # The texts themselves would fill the audit log.
        return ", ".join(value) or "none"
    return value if isinstance(value, bool | int | str | None) else str(value)


# Duplicating ---------------------------------------------------------------------------------

COPIED = (
    "source_language",
    "target_language",
    "task",
    "shows",
    "presentation",
    "run_length",
    "scores_documents",
    "hit_size",
    "outputs_per_screen",
    "output_choice",
    "judgements_per_pair",
    "min_ratings",
    "sample_size",
    "sample_choice",
    "n_looks",
    "looks_goal",
    "looks_width",
    "looks_alpha",
    "looks_spending",
    "looks_least_chance",
    "merges_near_identical",
    "interface_language",
    "instructions",
    "guidance",
    "questionnaire",
    "run_by",
    "contact",
    "pay_per_hit",
    "currency",
    "spending_cap",
    "lease_minutes",
    "degradation",
    "shows_gray_references",
    "trust_rule",
    "drift",
    "max_hits_per_worker",
    "records_signals",
    "has_canary",
)


@transaction.atomic
def duplicate_campaign(*, campaign: Campaign, name: str, actor: User) -> Campaign:
    """Create a draft with the same texts and settings, and a new seed; workers and HITs are not copied."""
    if campaign.is_archive:
        raise EditRefused("An archive cannot be duplicated, because its texts may be missing.")
    if campaign.checks_id is not None:
        raise EditRefused(
            "A check of post-editions cannot be duplicated: nobody would know whose texts they are. "
            "Create another one on the page of the post-editions."
        )
    copy = Campaign(name=name, **{field: getattr(campaign, field) for field in COPIED})
    copy.seed = new_seed()
    copy.full_clean()
    copy.save()
    copy_media(campaign, copy)
    _copy_texts(campaign, copy)
    _copy_report(campaign, copy)
    keep_admin(actor, copy)
    record("campaign duplicated", actor=actor, campaign=copy, original=campaign.name)
    return copy


def _copy_report(original: Campaign, copy: Campaign) -> None:
    """Copy what is known about the files that the texts come from."""
    report = ImportReport.objects.filter(campaign=original).first()
    if report is not None:
        report.pk, report.campaign = None, copy
        report.save(force_insert=True)


def keep_admin(actor: User, copy: Campaign) -> None:
    """Make sure that the admin of the original can manage the copy."""
    if actor.is_superuser:
        return
    everywhere = actor.memberships.filter(campaign=None, level=Membership.Level.ADMIN)
    if not everywhere.exists():
        Membership.objects.create(user=actor, campaign=copy, level=Membership.Level.ADMIN)


# Copied within the database, in the order of their keys, so that the same seed would give the same HITs.
_COPY_SYSTEMS = """
    INSERT INTO hits_system (campaign_id, name)
    SELECT %(copy)s, name FROM hits_system WHERE campaign_id = %(original)s ORDER BY id
"""
# Of media, the twin has the same name.
_MEDIA_TWIN = """(
    SELECT twin.id FROM hits_mediafile twin JOIN hits_mediafile own ON own.name = twin.name
    WHERE twin.campaign_id = %(copy)s AND own.id = hits_segment.{column}
)"""
_COPY_SEGMENTS = f"""
    INSERT INTO hits_segment (campaign_id, position, name, document, source, reference, second_reference, is_archived,
        media_id, captions_id)
    SELECT %(copy)s, position, name, document, source, reference, second_reference, is_archived,
        {_MEDIA_TWIN.format(column="media_id")}, {_MEDIA_TWIN.format(column="captions_id")}
    FROM hits_segment WHERE campaign_id = %(original)s ORDER BY position
"""
_COPY_TRANSLATIONS = """
    INSERT INTO hits_translation (segment_id, text, fingerprint)
    SELECT twin.id, translation.text, translation.fingerprint
    FROM hits_translation translation
    JOIN hits_segment segment ON segment.id = translation.segment_id
    JOIN hits_segment twin ON twin.campaign_id = %(copy)s AND twin.position = segment.position
    WHERE segment.campaign_id = %(original)s
    ORDER BY translation.id
"""
_COPY_OUTPUTS = """
    INSERT INTO hits_systemoutput (system_id, segment_id, translation_id, own_text)
    SELECT system_twin.id, segment_twin.id, translation_twin.id, output.own_text
    FROM hits_systemoutput output
    JOIN hits_system system ON system.id = output.system_id
    JOIN hits_segment segment ON segment.id = output.segment_id
    JOIN hits_translation translation ON translation.id = output.translation_id
    JOIN hits_system system_twin
      ON system_twin.campaign_id = %(copy)s AND system_twin.name = system.name
    JOIN hits_segment segment_twin
      ON segment_twin.campaign_id = %(copy)s AND segment_twin.position = segment.position
    JOIN hits_translation translation_twin
      ON translation_twin.segment_id = segment_twin.id
      AND translation_twin.fingerprint = translation.fingerprint
    WHERE segment.campaign_id = %(original)s
    ORDER BY output.id
"""


def _copy_texts(original: Campaign, copy: Campaign) -> None:
    keys = {"original": original.pk, "copy": copy.pk}
    with connection.cursor() as cursor:
        for statement in (_COPY_SYSTEMS, _COPY_SEGMENTS, _COPY_TRANSLATIONS, _COPY_OUTPUTS):
            cursor.execute(statement, keys)
