"""What many processes do to one database at once. Each scenario runs in a process of its own:

    python -m tests.concurrency.scenarios claim_places

It prepares, lets a crew of forked processes loose, each with a connection of its own, and prints what
came of it as JSON. The tests look at that.
"""

import json
import multiprocessing
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import django

from .databases import ROOT, platform_environment

Facts = dict[str, Any]
# What one process of a crew does: told its number, it can wait for the others and returns what it saw.
Act = Callable[[int, Callable[[], object]], list[Any]]

PATIENCE_SECONDS = 60


def run_scenario(name: str, database_url: str) -> Facts:
    """Run a scenario on this database, from any process, and return its facts."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.concurrency.scenarios", name],
        cwd=ROOT,
        env=platform_environment(database_url),
        capture_output=True,
        text=True,
        timeout=3 * PATIENCE_SECONDS,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    facts: Facts = json.loads(done.stdout)
    return facts


def together(n_processes: int, act: Act) -> list[list[Any]]:
    """Let so many processes act at once; return what each saw. An exception in one is raised here."""
    from django.db import connections

    # A connection must not be shared by a fork.
    connections.close_all()
    fork = multiprocessing.get_context("fork")
    barrier = fork.Barrier(n_processes, timeout=PATIENCE_SECONDS)
    seen: Any = fork.Queue()

    def one(number: int) -> None:
        try:
            barrier.wait()
            seen.put((number, act(number, barrier.wait), None))
        except Exception as error:
            seen.put((number, [], repr(error)))
            barrier.abort()

    crew = [fork.Process(target=one, args=(number,)) for number in range(n_processes)]
    for process in crew:
        process.start()
    outcomes = sorted(seen.get(timeout=2 * PATIENCE_SECONDS) for _ in crew)
    for process in crew:
        process.join()
    if errors := [error for _, _, error in outcomes if error]:
        raise RuntimeError(f"{len(errors)} of {n_processes} processes failed: {errors}")
    return [outcome for _, outcome, _ in outcomes]


# The scenarios -------------------------------------------------------------------------------


def claim_places() -> Facts:
    """16 processes with 3 workers each reach for 40 places on 5 HITs."""
    campaign = _make_campaign(n_hits=5, min_ratings=8)
    workers = [[make_worker() for _ in range(3)] for _ in range(16)]

    def act(number: int, meet: Callable[[], object]) -> list[str | None]:
        codes = []
        for worker in workers[number]:
            meet()
            assignment = take_assignment(campaign=campaign, worker=worker)
            codes.append(str(assignment.code) if assignment else None)
        return codes

    return {"told": sum(together(16, act), []), **_stored(campaign)}


def take_at_once() -> Facts:
    """The same worker opens the next HIT in 8 tabs, and so do 9 others after that."""
    campaign = _make_campaign(n_hits=3, min_ratings=10)
    workers = [make_worker() for _ in range(10)]

    def act(number: int, meet: Callable[[], object]) -> list[str | None]:
        codes = []
        for worker in workers:
            meet()
            assignment = take_assignment(campaign=campaign, worker=worker)
            codes.append(str(assignment.code) if assignment else None)
        return codes

    return {"told": together(8, act), **_stored(campaign)}


def double_click() -> Facts:
    """8 processes rate the same 100 items of one assignment, each with scores of its own."""
    campaign = _make_campaign(n_hits=1, min_ratings=1, hit_size=100)
    assignment = take_assignment(campaign=campaign, worker=make_worker())
    assert assignment is not None
    items = list(assignment.hit.items.order_by("position"))

    def act(number: int, meet: Callable[[], object]) -> list[int]:
        told = []
        for item in items:
            meet()
            told.append(rate(assignment, item, score=(7 * item.position + number) % 101).score)
        return told

    told = together(8, act)
    ratings = Rating.objects.filter(assignment=assignment).order_by("item__position")
    return {"told": told, "stored": list(ratings.values_list("score", flat=True))}


def submit_at_once() -> Facts:
    """8 processes hand in the same 5 finished assignments."""
    campaign = _make_campaign(n_hits=1, min_ratings=5)
    assignments = [_finished(campaign) for _ in range(5)]

    def act(number: int, meet: Callable[[], object]) -> list[str]:
        codes = []
        for assignment in assignments:
            meet()
            mine = Assignment.objects.get(pk=assignment.pk)
            submitted = submit_assignment(assignment=mine, comment=f"from {number}")
            codes.append(submitted.completion_code)
        return codes

    told = together(8, act)
    rows = Assignment.objects.order_by("pk").values_list("completion_code", flat=True)
    return {"told": told, "stored": list(rows), **_stored(campaign)}


def release_and_submit() -> Facts:
    """4 processes hand in overdue assignments while 4 others release whatever is overdue."""
    campaign = _make_campaign(n_hits=1, min_ratings=20)
    overdue = [_finished(campaign, at=timezone.now() - timedelta(days=1)) for _ in range(16)]

    def act(number: int, meet: Callable[[], object]) -> list[int]:
        n_released = []
        for turn in range(4):
            meet()
            if number % 2:
                n_released.append(release_expired())
            else:
                submit_assignment(assignment=overdue[4 * turn + number // 2])
        return n_released

    n_released = sum(sum(together(8, act), []))
    n_late = Assignment.objects.submitted().filter(is_late=True).count()
    return {"n_released": n_released, "n_late": n_late, **_stored(campaign)}


def release_at_once() -> Facts:
    """8 sweeps meet 16 overdue assignments of a HIT."""
    campaign = _make_campaign(n_hits=1, min_ratings=20)
    for _ in range(16):
        take_assignment(
            campaign=campaign, worker=make_worker(), at=timezone.now() - timedelta(days=1)
        )
    n_released = together(8, lambda number, meet: [release_expired()])
    return {"n_released": sum(sum(n_released, [])), **_stored(campaign)}


def edit_and_release() -> Facts:
    """4 processes release 16 overdue assignments while 4 others ask for another number of ratings."""
    campaign = _make_campaign(n_hits=4, min_ratings=20)
    for _ in range(16):
        take_assignment(
            campaign=campaign, worker=make_worker(), at=timezone.now() - timedelta(days=1)
        )

    def act(number: int, meet: Callable[[], object]) -> list[int]:
        if number % 2:
            return [release_expired()]
        edit_campaign(campaign=campaign, actor=None, changes={"min_ratings": 25 + number})
        return []

    together(8, act)
    campaign.refresh_from_db()
    return {"min_ratings": campaign.min_ratings, **_stored(campaign)}


def prepare_desks() -> Facts:
    """Not a race: 60 workers take a HIT of 100 items, ready to be rated over HTTP."""
    campaign = _make_campaign(n_hits=1, min_ratings=60, hit_size=100)
    desks = []
    for _ in range(60):
        worker = make_worker()
        take_assignment(campaign=campaign, worker=worker)
        desks.append(_desk_of(worker))
    return {"desks": desks}


def _desk_of(worker: "Worker") -> tuple[str, str]:
    return reverse("rate", args=[worker.assignments.get().code]), cookies_of(worker)


def stored_ratings() -> Facts:
    """Not a race either: every rating there is, by the URL of its desk."""
    rows = Rating.objects.values_list("assignment__code", "item__position", "score")
    return {"ratings": [(reverse("rate", args=[code]), *rest) for code, *rest in rows]}


def renew_at_once() -> Facts:
    """10 late workers come back, each in 8 tabs at once, one of them to hand in what is finished."""
    campaign = _make_campaign(n_hits=1, min_ratings=30)
    late = [_finished(campaign, at=timezone.now() - timedelta(days=1)) for _ in range(10)]
    release_expired()

    def act(number: int, meet: Callable[[], object]) -> list[str]:
        codes = []
        for assignment in late:
            meet()
            if number == 0:
                submit_assignment(assignment=assignment)
            elif taken := take_assignment(campaign=campaign, worker=assignment.worker):
                codes.append(str(taken.code))
        return codes

    return {"told": together(8, act), **_stored(campaign)}


def _make_campaign(*, n_hits: int, min_ratings: int, hit_size: int = 40) -> "Campaign":
    campaign = make_campaign(hit_size=hit_size, min_ratings=min_ratings)
    n_translations = n_hits * hit_size * 7 // 10
    make_translations(campaign, n_segments=n_translations // 2)
    build_hits(campaign=campaign)
    return change_status(campaign=campaign, to=Campaign.Status.OPEN)


def _finished(campaign: "Campaign", at: Any = None) -> "Assignment":
    assignment = take_assignment(campaign=campaign, worker=make_worker(), at=at)
    assert assignment is not None
    rate_items(assignment)
    return assignment


def _stored(campaign: "Campaign") -> Facts:
    assignments = Assignment.objects.filter(hit__campaign=campaign)
    return {
        "assignments": [str(code) for code in assignments.values_list("code", flat=True)],
        "statuses": list(assignments.values_list("status", flat=True)),
        "places_left": list(campaign.hits.values_list("places_left", flat=True)),
    }


SCENARIOS = {
    scenario.__name__: scenario
    for scenario in (
        claim_places,
        take_at_once,
        double_click,
        submit_at_once,
        release_and_submit,
        release_at_once,
        edit_and_release,
        prepare_desks,
        stored_ratings,
        renew_at_once,
    )
}

if __name__ == "__main__":
    django.setup()
    from django.urls import reverse
    from django.utils import timezone

    from hits.campaigns.building import build_hits
    from hits.campaigns.editing import edit_campaign
    from hits.campaigns.lifecycle import change_status
    from hits.models import Assignment, Campaign, Rating, Worker
    from hits.rating.assignments import release_expired, submit_assignment, take_assignment
    from tests.concurrency.cookies import cookies_of
    from tests.factories import make_campaign, make_translations, make_worker, rate, rate_items

    print(json.dumps(SCENARIOS[sys.argv[1]]()))
