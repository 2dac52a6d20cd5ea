"""Celery tasks of `hits`: thin, and harmless when run twice."""

from celery import shared_task  # type: ignore[import-untyped]


@shared_task(name="hits.weigh_assignment")
def weigh_assignment(pk: int) -> None:
    # Imported here because it loads SciPy, which web processes do not need.
    from .models import Assignment
    from .workers.trust import update_evidence

    submitted = Assignment.objects.submitted().select_related("hit__campaign")
    if assignment := submitted.filter(pk=pk).first():
        update_evidence(assignment=assignment)


@shared_task(name="hits.weigh_others")
def weigh_others(pk: int) -> None:
    from .models import Participation
    from .workers import trust

    participations = Participation.objects.select_related("campaign")
    if participation := participations.filter(pk=pk).first():
        trust.weigh_others(participation)


@shared_task(name="hits.follow_campaign")
def follow_campaign(pk: int) -> None:
    """Pause or start the study at Prolific along with its campaign. The chores retry failures."""
    from .models import Recruitment
    from .recruiting import studies

    astray = Recruitment.objects.with_study().astray().select_related("campaign")
    if recruitment := astray.filter(campaign=pk).first():
        studies.follow_campaign(recruitment=recruitment)


@shared_task(name="hits.do_chores")
def do_chores() -> None:
    from . import chores

    chores.do_chores()
