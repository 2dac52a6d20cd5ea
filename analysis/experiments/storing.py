"""Store experiments with their files, run them, and find those that a user may see."""

import zlib
from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from da_platform.files.texts import fault_in_name
from da_platform.jobs.models import Job
from da_platform.jobs.running import start_job
from hits.models import Campaign
from hits.people.access import Level, Visitor, has_level
from hits.people.audit import record

from ..models import Experiment, ExperimentFile
from ..scores.raw_files import RawFile
from .base import ExperimentRefused, Inputs, Progress, Result, no_progress, run
from .catalogue import kind_named

LONGEST_NAME = 100


def visible_experiments(user: Visitor) -> QuerySet[Experiment]:
    """Return the user's own experiments, or all of them for platform researchers."""
    experiments = Experiment.objects.select_related("owner", "job")
    if has_level(user, Level.RESEARCHER):
        return experiments
    return experiments.filter(owner=user.pk) if user.pk else experiments.none()


def start_experiment(
    *,
    kind: str,
    name: str,
    inputs: Inputs,
    given: Mapping[str, Any],
    owner: User,
    campaigns: Mapping[str, Campaign] | None = None,
) -> Experiment:
    """Store an experiment whose files can be read, and start its job.

    `campaigns` give files too, by the roles of the kind; the owner must be allowed to see them.

    Raises
    ------
    ExperimentRefused, FilesOfExperimentRefused
        For unknown options, and listing everything that is wrong with the files.
    """
    experiment_kind = kind_named(kind)
    _check_name(name)
    settings = experiment_kind.settings(given)
    files = experiment_kind.checked(
        experiment_kind.with_campaigns(inputs, campaigns or {}, settings)
    )
    # Bad files are refused at once, and not by the job.
    experiment_kind.read(files, settings)
    with transaction.atomic():
        experiment = Experiment.objects.create(kind=kind, name=name, owner=owner, options=settings)
        rows = [(role, file) for role, files_of_role in files.items() for file in files_of_role]
        ExperimentFile.objects.bulk_create(
            ExperimentFile(
                experiment=experiment,
                role=role,
                position=position,
                name=file.name,
                sha256=file.sha256,
                compressed=zlib.compress(file.content),
            )
            for position, (role, file) in enumerate(rows)
        )
        experiment.job = _start(experiment, owner)
        experiment.save(update_fields=["job"])
    return experiment


def _check_name(name: str) -> None:
    if fault := fault_in_name(name):
        raise ExperimentRefused(f"The name {fault}.")
    if len(name) > LONGEST_NAME:
        raise ExperimentRefused(f"The name is longer than {LONGEST_NAME} characters.")


def may_change(user: Visitor, experiment: Experiment) -> bool:
    """Whether somebody may rename or delete an experiment: its owner, and platform admins."""
    return experiment.owner_id == user.pk or has_level(user, Level.ADMIN)


def rename_experiment(*, experiment: Experiment, name: str) -> None:
    _check_name(name)
    experiment.name = name
    experiment.save(update_fields=["name"])


@transaction.atomic
def delete_experiment(*, experiment: Experiment, actor: User) -> None:
    """Delete an experiment with its files and result, unless its job is still to finish."""
    if Job.objects.unfinished().filter(experiments=experiment).exists():
        raise ExperimentRefused("This experiment is still running. Cancel its job first.")
    record("experiment deleted", actor=actor, kind=experiment.kind, name=experiment.name)
    experiment.delete()


def _start(experiment: Experiment, user: User) -> Job:
    arguments = {"experiment": str(experiment.code)}
    return start_job(kind="run_experiment", arguments=arguments, started_by=user)


def run_stored(experiment: Experiment, progress: Progress = no_progress) -> Result:
    """Run an experiment on its stored files and store the result, which is the same every time."""
    kind, inputs = kind_named(experiment.kind), stored_inputs(experiment)
    experiment.result = run(kind, inputs, experiment.options, progress)
    experiment.save(update_fields=["result"])
    return experiment.result


def stored_inputs(experiment: Experiment) -> Inputs:
    """Return the stored files by role, with every role of the kind."""
    inputs: dict[str, list[RawFile]] = {role.name: [] for role in kind_named(experiment.kind).roles}
    for file in experiment.files.order_by("position"):
        inputs.setdefault(file.role, []).append(RawFile(file.name, file.content))
    return inputs
