"""What Celery does for collecting: thin, and harmless when done twice."""

from celery import shared_task  # type: ignore[import-untyped]


@shared_task(name="hits.weigh_assignment")
def weigh_assignment(pk: int) -> None:
    # Here and not above: SciPy is for workers of the queue, web processes do without.
    from .models import Assignment
    from .workers.trust import update_evidence

    assignment = Assignment.objects.submitted().select_related("hit__campaign").filter(pk=pk)
    if found := assignment.first():
        update_evidence(assignment=found)


@shared_task(name="hits.follow_campaign")
def follow_campaign(pk: int) -> None:
    """Have the study at Prolific paused or started with its campaign. What fails is left to the chores."""
    from .models import Recruitment
    from .recruiting import studies

    astray = Recruitment.objects.with_study().astray().select_related("campaign")
    if found := astray.filter(campaign=pk).first():
        studies.follow_campaign(recruitment=found)


@shared_task(name="hits.do_chores")
def do_chores() -> None:
    from . import chores

    chores.do_chores()
