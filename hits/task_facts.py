"""What is known about each task before any campaign has it: its label, its sizes, its usual settings.

The tables, forms and imports ask here. The facts stand with the kinds of task themselves: every module in
`hits.asking` has one, named `KIND`, and is found because it is there. This module knows none of them by name, so
that everything else can build on it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from analysis.stats.thresholds import MINIMUM_RATINGS

from .hit_sizes import RATING_SIZES, Sizes

KINDS_PACKAGE = "hits.asking"

# Settings of a campaign that only some tasks have.
PRESENTATION_SETTINGS = ("presentation", "run_length", "scores_documents", "outputs_per_screen")
LOOK_SETTINGS = ("n_looks", "looks_alpha", "looks_spending", "looks_least_chance")
RANKING_SETTINGS = ("outputs_per_screen", "output_choice", "judgements_per_pair")
SOME_HAVE = frozenset({*PRESENTATION_SETTINGS, *LOOK_SETTINGS, *RANKING_SETTINGS})


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """A task as campaigns store it, and what follows from it.

    `shows` is what workers see next to a translation, one of `Campaign.Shows`, unless the campaign may choose and
    does. `criterion` ends a sentence of the report: a translation is scored for this. `order` sorts lists of tasks.
    """

    value: str
    label: str
    shows: str
    criterion: str
    sizes: Sizes = RATING_SIZES
    settings: tuple[str, ...] = ()
    can_choose_what_it_shows: bool = False
    usual_ratings: int = MINIMUM_RATINGS
    order: int = 100


# Of a task that does not exist; it is refused with the other settings.
UNKNOWN = TaskFacts("", "", "", "")


@cache
def kinds() -> Mapping[tuple[str, str], Any]:
    """Return the kind of each presentation and task."""
    package = import_module(KINDS_PACKAGE)
    modules = [
        import_module(f"{KINDS_PACKAGE}.{found.name}") for found in iter_modules(package.__path__)
    ]
    return {
        (module.KIND.presentation, task.value): module.KIND
        for module in modules
        for task in module.KIND.tasks
    }


@cache
def known_tasks() -> Mapping[str, TaskFacts]:
    tasks = {task.value: task for kind in kinds().values() for task in kind.tasks}
    return dict(sorted(tasks.items(), key=lambda named: (named[1].order, named[0])))


def task_choices() -> list[tuple[str, str]]:
    # A function, so that another task is no migration.
    return [(task.value, task.label) for task in known_tasks().values()]


def facts_of(task: str) -> TaskFacts:
    return known_tasks().get(task, UNKNOWN)


def sizes_of(task: str) -> Sizes:
    return facts_of(task).sizes


def usual_settings(task: str) -> dict[str, int]:
    """Return the settings whose usual value depends on the task."""
    facts = facts_of(task)
    return {"hit_size": facts.sizes.default, "min_ratings": facts.usual_ratings}
