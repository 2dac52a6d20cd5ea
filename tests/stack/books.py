"""Prepare a campaign for the stack, and afterwards compare the database with the notes of the crowd.

    python -m tests.stack.books prepare sizes.json
    python -m tests.stack.books settle sizes.json
    python -m tests.stack.books compare notes.json

Each prints JSON. Evidence and gold come from the Celery workers of the stack; `compare` computes the gold again
from the notes, without the platform's statistics.
"""

import json
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import django
import numpy as np
from scipy import stats as scipy_stats

# The quality of degraded texts and references, whatever the quality of the translation.
DEGRADED, REFERENCE = 8, 95
POLL_SECONDS = 0.5


def prepare(size: dict[str, Any]) -> dict[str, Any]:
    campaign = make_hits(
        n_segments=size["n_hits"] * size["hit_size"] * 7 // 20,
        hit_size=size["hit_size"],
        min_ratings=size["min_ratings"],
        lease_minutes=600,
    )
    tasks = practice_for("en", campaign.task, source_language_code="de")
    rng = np.random.default_rng(5)
    worth: dict[int, float] = defaultdict(lambda: float(rng.uniform(35, 85)))
    qualities = {}
    for item in Item.objects.filter(hit__campaign=campaign).order_by("pk"):
        fixed = {Role.BAD_REFERENCE: DEGRADED, Role.REFERENCE: REFERENCE}
        qualities[str(item.code)] = fixed.get(Role(item.role)) or worth[item.translation_id]
    return {
        "campaign": str(campaign.code),
        "right_answer": tasks.check.right,
        "qualities": qualities,
    }


def settle(size: dict[str, Any]) -> dict[str, Any]:
    """Wait until the stack has finished its work, start a last gold job, and wait for that too."""
    started = time.monotonic()
    unfinished = _watch(size["settling_seconds"])
    seconds = time.monotonic() - started
    if not any(unfinished.values()):
        start_job(
            kind="build_gold",
            campaign=Campaign.objects.get(),
            arguments={"minimum": size["enough"]},
        )
        unfinished = _watch(size["settling_seconds"])
    return {"left": unfinished, "settling_seconds": round(seconds, 1)}


def _watch(seconds: float) -> dict[str, int]:
    """Wait until all evidence is weighed and all jobs have ended; return what is left after `seconds`."""
    deadline = time.monotonic() + seconds
    while any((unfinished := _left_to_do()).values()) and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    return unfinished


def _left_to_do() -> dict[str, int]:
    return {
        "unweighed": Assignment.objects.submitted().filter(evidence_at=None).count(),
        "unfinished": Job.objects.unfinished().count(),
    }


def compare(notes_list: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the differences between the notes and the database with its latest gold."""
    campaign = Campaign.objects.get()
    notes = {note["assignment"]: note for note in notes_list}
    stored = _stored(campaign)
    return {
        "n_submitted": sum(assignment["status"] == "submitted" for assignment in stored.values()),
        "n_ratings": Rating.objects.count(),
        "lost": [path for path in notes if path not in stored],
        "wrong_scores": [
            path
            for path, note in notes.items()
            if any(stored[path]["scores"].get(int(p)) != s for p, s in note["scores"].items())
        ],
        "unasked": sum(
            len(assignment["scores"]) for path, assignment in stored.items() if path not in notes
        ),
        "wrong_codes": [
            path for path, note in notes.items() if note["completion_code"] != stored[path]["code"]
        ],
        "wrong_places": _wrong_places(campaign),
        "jobs": Counter(Job.objects.values_list("state", flat=True)),
        "n_restarted": Job.objects.filter(attempt__gt=1).count(),
        **_gold_facts(campaign, notes, stored),
    }


def _stored(campaign: "Campaign") -> dict[str, dict[str, Any]]:
    stored: dict[str, dict[str, Any]] = {}
    for assignment in Assignment.objects.filter(hit__campaign=campaign):
        path = reverse("rate", args=[assignment.code])
        stored[path] = {
            "status": assignment.status,
            "code": assignment.completion_code,
            "worker": assignment.worker_id,
            "hit": assignment.hit_id,
            "scores": {},
        }
    rows = Rating.objects.values_list("assignment__code", "item__position", "score")
    for code, position, score in rows.iterator():
        stored[reverse("rate", args=[code])]["scores"][position] = score
    return stored


def _wrong_places(campaign: "Campaign") -> list[int]:
    """HITs whose `places_left` is not the number of ratings that are still needed."""
    discarded = {
        participation.worker_id
        for participation in Participation.objects.all()
        if participation.is_discarded
    }
    promised: dict[int, int] = defaultdict(int)
    for participation in Assignment.objects.filter(status__in=["in_progress", "submitted"]):
        promised[participation.hit_id] += participation.worker_id not in discarded
    return [
        hit.pk
        for hit in campaign.hits.all()
        if hit.places_left != max(0, campaign.min_ratings - promised[hit.pk])
    ]


def _gold_facts(
    campaign: "Campaign", notes: dict[str, Any], stored: dict[str, Any]
) -> dict[str, Any]:
    run = campaign.gold_runs.latest("number")
    items = defaultdict(dict)
    for item in Item.objects.filter(hit__campaign=campaign):
        items[item.hit_id][item.position] = item
    by_worker: dict[int, list[tuple[Any, int]]] = defaultdict(list)
    for path, note in notes.items():
        if stored[path]["status"] == "submitted":
            places = items[stored[path]["hit"]]
            rated = [(places[int(position)], score) for position, score in note["scores"].items()]
            by_worker[stored[path]["worker"]] += rated
    trusted = {worker: rated for worker, rated in by_worker.items() if _is_reliable(rated)}
    expected = _means(trusted, run.minimum)
    actual = {
        score.translation_id: score.z
        for score in GoldScore.objects.filter(run=run)
        if score.is_complete
    }
    shared = expected.keys() & actual.keys()
    return {
        "n_runs": campaign.gold_runs.count(),
        "is_of_last_job": run.job == Job.objects.latest("pk"),
        "n_trusted": [len(trusted), Participation.objects.trusted().count()],
        "n_gold": [len(expected), len(actual), len(shared)],
        "largest_gold_difference": max(
            (abs(expected[pk] - actual[pk]) for pk in shared), default=None
        ),
    }


def _is_reliable(rated: list[tuple[Any, int]]) -> bool:
    """The paired t-test of the method, by SciPy."""
    scores = {item.pk: score for item, score in rated}
    pairs = [
        (scores[item.pk], scores[item.partner_id])
        for item, _ in rated
        if item.role == Role.BAD_REFERENCE
    ]
    if len(pairs) < 5:
        return False
    degraded, genuine = np.array(pairs).T
    return bool(scipy_stats.ttest_rel(degraded, genuine, alternative="less").pvalue < 0.05)


def _means(trusted: dict[int, list[tuple[Any, int]]], minimum: int) -> dict[int, float]:
    per_translation = defaultdict(list)
    for rated in trusted.values():
        scores = np.array([score for _, score in rated], dtype=float)
        z = (scores - scores.mean()) / scores.std(ddof=1)
        own_values = defaultdict(list)
        for (item, _), value in zip(rated, z, strict=True):
            if item.role in (Role.GENUINE, Role.REPEAT):
                own_values[item.translation_id].append(value)
        for translation, values in own_values.items():
            per_translation[translation].append(np.mean(values))
    return {
        translation: float(np.mean(values))
        for translation, values in per_translation.items()
        if len(values) >= minimum
    }


if __name__ == "__main__":
    django.setup()
    from django.urls import reverse

    from analysis.models import GoldScore
    from analysis.stats.roles import Role
    from da_platform.jobs.models import Job
    from da_platform.jobs.running import start_job
    from hits.models import Assignment, Campaign, Item, Participation, Rating
    from hits.rating.practice import practice_for
    from tests.factories import make_hits

    step, path = sys.argv[1:]
    steps = {"prepare": prepare, "settle": settle, "compare": compare}
    print(json.dumps(steps[step](json.loads(Path(path).read_text()))))
