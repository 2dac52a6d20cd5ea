"""More examples, made on request: a small finished campaign of each other kind of task."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from hits.campaigns.behaviours import Behaviour
from hits.campaigns.building import build_hits
from hits.campaigns.demo import DEMO_SEED
from hits.campaigns.lifecycle import change_status
from hits.campaigns.simulation import simulate_workers
from hits.models import Campaign
from hits.people.audit import record
from hits.post_editing.simulated import Editor
from hits.workers.trust import weigh_hit

from .making import EXAMPLES_MADE, import_texts, run_here
from .removing import remove_campaign


@dataclass(frozen=True, slots=True)
class TaskExample:
    """A campaign of one kind of task, with the crowd that works in it and the jobs that show what came of it."""

    name: str
    settings: Mapping[str, Any]
    crowd: Mapping[Any, int]
    jobs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    n_segments: int = 30
    hits_per_worker: int = 2


TASK_EXAMPLES = (
    TaskExample(
        name="Example: in documents",
        settings={"presentation": Campaign.Presentation.DOCUMENT, "min_ratings": 4},
        crowd={Behaviour.HONEST: 10, Behaviour.RANDOM: 2},
        jobs={"build_gold": {"minimum": 4}, "measure_presentation": {}},
        n_segments=60,
    ),
    TaskExample(
        name="Example: side by side",
        settings={"presentation": Campaign.Presentation.SIDE_BY_SIDE, "min_ratings": 4},
        crowd={Behaviour.HONEST: 10, Behaviour.RANDOM: 2},
        jobs={"build_gold": {"minimum": 4}, "measure_presentation": {}},
        n_segments=60,
    ),
    TaskExample(
        name="Example: ranking",
        settings={"task": Campaign.Task.RANK},
        crowd={Behaviour.HONEST: 4, Behaviour.RANDOM: 1},
        jobs={"rank_judgements": {"runs": 200}},
        n_segments=60,
        hits_per_worker=10,
    ),
    TaskExample(
        name="Example: post-editing",
        settings={"task": Campaign.Task.EDIT},
        crowd={Editor.CAREFUL: 8, Editor.LAZY: 1, Editor.PASTING: 1},
        jobs={"compute_targeted": {"names": ["TER"], "use": "gold"}},
        hits_per_worker=3,
    ),
)


def missing_task_examples() -> list[TaskExample]:
    finished = Campaign.objects.examples().filter(status=Campaign.Status.CLOSED)
    names = set(finished.values_list("name", flat=True))
    return [example for example in TASK_EXAMPLES if example.name not in names]


def make_task_examples(*, actor: User, progress: Any = lambda done, total: None) -> list[Campaign]:
    """Make the examples that are missing. One that an interrupted job left unfinished is made again."""
    missing = missing_task_examples()
    campaigns = []
    for number, example in enumerate(missing):
        progress(number, len(missing))
        for unfinished in Campaign.objects.examples().filter(name=example.name):
            remove_campaign(unfinished)
        campaigns.append(_make(example, actor))
    progress(len(missing), len(missing))
    record(EXAMPLES_MADE, actor=actor, campaigns=[campaign.name for campaign in campaigns])
    return campaigns


def _make(example: TaskExample, actor: User) -> Campaign:
    campaign = import_texts(
        actor, name=example.name, n_segments=example.n_segments, **example.settings
    )
    build_hits(campaign=campaign, actor=actor)
    campaign = change_status(campaign=campaign, to=Campaign.Status.OPEN, actor=actor)
    simulate_workers(
        campaign=campaign,
        crowd=example.crowd,
        hits_per_worker=example.hits_per_worker,
        seed=DEMO_SEED,
        start=timezone.now() - timedelta(days=4),
        after_hit=weigh_hit,
    )
    for kind, arguments in example.jobs.items():
        run_here(kind, campaign, actor, **arguments)
    return change_status(campaign=campaign, to=Campaign.Status.CLOSED, actor=actor)
