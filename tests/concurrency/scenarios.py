"""Scenarios in which many processes use one database at once.

`python -m tests.concurrency.scenarios` reads orders from standard input, one JSON object per line, and carries out each
in a child process with its own connection, so that the platform is imported only once. A scenario forks more processes;
its outcome is printed as JSON for the tests.
"""

import io
import json
import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import django

from .databases import ROOT, platform_environment
from .raters import as_text

Facts = dict[str, Any]
# What each process does. It gets its number and a function that waits for the others.
Act = Callable[[int, Callable[[], object]], list[Any]]

PATIENCE_SECONDS = 60

# The processes that carry out orders, by kind of database.
_stages: dict[tuple[str, str], "subprocess.Popen[str]"] = {}


def run_scenario(name: str, database_url: str) -> Facts:
    """Run a scenario on this database in a new process."""
    stage = _stage_for(database_url)
    assert stage.stdin and stage.stdout
    stage.stdin.write(json.dumps({"name": name, "database_url": database_url}) + "\n")
    stage.stdin.flush()
    answer = json.loads(stage.stdout.readline())
    if "error" in answer:
        raise RuntimeError(answer["error"])
    facts: Facts = answer["facts"]
    return facts


def _stage_for(database_url: str) -> "subprocess.Popen[str]":
    environment = platform_environment(database_url)
    kind = (database_url.partition(":")[0], environment.get("DA_POOLED_CONNECTIONS", ""))
    if kind not in _stages:
        _stages[kind] = subprocess.Popen(
            [sys.executable, "-m", "tests.concurrency.scenarios"],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
    return _stages[kind]


def close_stages() -> None:
    while _stages:
        _, stage = _stages.popitem()
        # Closes its input, which ends the process.
        stage.communicate(timeout=PATIENCE_SECONDS)


def carry_out_orders() -> None:
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            signal.alarm(3 * PATIENCE_SECONDS)
            print(json.dumps(_carry_out(**json.loads(line))), flush=True)
            os._exit(0)
        if code := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
            print(json.dumps({"error": f"The scenario ended with {code}."}), flush=True)


def _carry_out(name: str, database_url: str) -> Facts:
    from django.db import connection

    from da_platform import settings

    os.environ["DATABASE_URL"] = database_url
    connection.settings_dict.update(settings.database())
    try:
        return {"facts": globals()[name]()}
    except BaseException:
        return {"error": traceback.format_exc()}


def together(n_processes: int, act: Act) -> list[list[Any]]:
    """Run `act` in several processes at once and return their results; raise if one failed."""
    from django.db import connections

    # Forked processes must not share a connection.
    connections.close_all()
    fork = multiprocessing.get_context("fork")
    barrier = fork.Barrier(n_processes, timeout=PATIENCE_SECONDS)
    outcome_queue: Any = fork.Queue()

    def run_member(number: int) -> None:
        try:
            barrier.wait()
            outcome_queue.put((number, act(number, barrier.wait), None))
        except Exception as error:
            outcome_queue.put((number, [], repr(error)))
            barrier.abort()

    crew = [fork.Process(target=run_member, args=(number,)) for number in range(n_processes)]
    for process in crew:
        process.start()
    outcomes = sorted(outcome_queue.get(timeout=2 * PATIENCE_SECONDS) for _ in crew)
    for process in crew:
        process.join()
    if errors := [error for _, _, error in outcomes if error]:
        raise RuntimeError(f"{len(errors)} of {n_processes} processes failed: {errors}")
    return [outcome for _, outcome, _ in outcomes]


# The scenarios -------------------------------------------------------------------------------


def claim_places() -> Facts:
    """16 processes with 3 workers each claim 40 places on 5 HITs."""
    campaign = _make_campaign(n_hits=5, min_ratings=8)
    workers = [[make_worker() for _ in range(3)] for _ in range(16)]
    return {"returned": sum(_take_together(campaign, workers), []), **_stored(campaign)}


def take_at_once() -> Facts:
    """Each of 10 workers in turn opens the next HIT in 8 tabs."""
    campaign = _make_campaign(n_hits=3, min_ratings=10)
    workers = [make_worker() for _ in range(10)]
    return {"returned": _take_together(campaign, [workers] * 8), **_stored(campaign)}


def _take_together(campaign: "Campaign", workers: list[list["Worker"]]) -> list[list[str | None]]:
    def act(number: int, meet: Callable[[], object]) -> list[str | None]:
        codes = []
        for worker in workers[number]:
            meet()
            assignment = take_assignment(campaign=campaign, worker=worker)
            codes.append(str(assignment.code) if assignment else None)
        return codes

    return together(len(workers), act)


def double_click() -> Facts:
    """8 processes rate the same 100 items of one assignment, each with its own scores."""
    campaign = _make_campaign(n_hits=1, min_ratings=1, hit_size=100)
    assignment = take_assignment(campaign=campaign, worker=make_worker())
    assert assignment is not None
    items = list(assignment.hit.items.order_by("position"))

    def act(number: int, meet: Callable[[], object]) -> list[int]:
        returned = []
        for item in items:
            meet()
            returned.append(rate(assignment, item, score=(7 * item.position + number) % 101).score)
        return returned

    returned = together(8, act)
    ratings = Rating.objects.filter(assignment=assignment).order_by("item__position")
    return {"returned": returned, "stored": list(ratings.values_list("score", flat=True))}


def edit_double_click() -> Facts:
    """8 processes edit the same 20 texts of one assignment, each in its own words, and submit it."""
    campaign = _make_edits(n_hits=1, min_ratings=1)
    assignment = take_assignment(campaign=campaign, worker=make_worker())
    assert assignment is not None
    items = list(assignment.hit.items.order_by("position"))

    def act(number: int, meet: Callable[[], object]) -> list[Any]:
        returned: list[Any] = []
        for item in items:
            meet()
            saved = save_edit(
                assignment=assignment,
                position=item.position,
                item_code=item.code,
                text=f"{item.text} by {number}",
                keys=number,
            )
            returned.append([saved.text, saved.is_new])
        meet()
        mine = Assignment.objects.get(pk=assignment.pk)
        returned.append([submit_assignment(assignment=mine).completion_code, False])
        return returned

    returned = together(8, act)
    edits = PostEdition.objects.filter(assignment=assignment).order_by("item__position")
    return {
        "returned": returned,
        "stored": [[edit.text, edit.keys] for edit in edits],
        "shown": [item.text for item in items],
        **_stored(campaign),
    }


def rank_double_click() -> Facts:
    """8 processes rank the same screens of one assignment, each in its own way or not at all, and submit it."""
    campaign = _make_rankings(min_ratings=1, hit_size=12)
    assignment = take_assignment(campaign=campaign, worker=make_worker())
    assert assignment is not None
    codes = _codes_by_screen(assignment)

    def act(number: int, meet: Callable[[], object]) -> list[Any]:
        returned: list[Any] = []
        for screen, outputs in codes.items():
            meet()
            # The first process skips; the others give ranks that only they give.
            ranks = {code: 1 + (place * number + number) % 5 for place, code in enumerate(outputs)}
            returned.append(
                save_ranking(
                    assignment=assignment,
                    position=screen,
                    ranks=ranks if number else {},
                    skip="" if number else "hard",
                    elapsed_ms=number,
                )
            )
        meet()
        mine = Assignment.objects.get(pk=assignment.pk)
        returned.append(submit_assignment(assignment=mine).completion_code)
        return returned

    returned = together(8, act)
    stored: dict[int, list[Any]] = {}
    ranks = Rank.objects.filter(assignment=assignment).order_by("item__position")
    for row in ranks.select_related("item"):
        facts = [row.rank, row.skip, row.elapsed_ms, row.place]
        stored.setdefault(row.item.screen, []).append(facts)
    return {
        "returned": returned,
        "stored": list(stored.values()),
        "n_outputs": [len(outputs) for outputs in codes.values()],
        **_stored(campaign),
    }


def _codes_by_screen(assignment: "Assignment") -> dict[int, list[Any]]:
    codes: dict[int, list[Any]] = {}
    for item in assignment.hit.items.order_by("position"):
        codes.setdefault(item.screen, []).append(item.code)
    return codes


def add_rounds_at_once() -> Facts:
    """4 processes add HITs for pairs of systems that lack judgements."""
    campaign = _make_rankings(min_ratings=1, hit_size=3, judgements_per_pair=2)
    n_before = campaign.hits.count()
    Campaign.objects.update(judgements_per_pair=12)

    def act(number: int, meet: Callable[[], object]) -> list[str]:
        meet()
        try:
            return [str(add_round(campaign=campaign).n_hits)]
        except CannotBuildHITs as refusal:
            return [str(refusal)]

    outcomes = sum(together(4, act), [])
    return {
        "outcomes": outcomes,
        "n_before": n_before,
        "numbers": list(campaign.hits.order_by("number").values_list("number", flat=True)),
        "n_again": add_round(campaign=campaign).n_hits,
    }


def look_at_once() -> Facts:
    """4 processes take a look while 4 others submit what they were too late with."""
    campaign = make_looked_at()
    late = [_finished(campaign, at=timezone.now() - timedelta(days=2)) for _ in range(4)]
    release_expired()
    collect(campaign)

    def act(number: int, meet: Callable[[], object]) -> list[Any]:
        meet()
        if number < 4:
            # A submission that is not weighed yet is waited for, so the look has to begin first.
            time.sleep(0.1 + 0.1 * number)
            submit_assignment(assignment=Assignment.objects.get(pk=late[number].pk))
            return []
        try:
            return [take_look(campaign=campaign).number]
        except LookRefused as refusal:
            return [str(refusal)]

    outcomes = sum(together(8, act), [])
    look = campaign.looks.get()
    seen = look.assignments.all()
    return {
        "outcomes": outcomes,
        "n_seen": look.assignments.count(),
        "n_counted": look.result["n_assignments"],
        "n_seen_after": seen.filter(submitted_at__gt=look.began_at).count(),
        "n_submitted": Assignment.objects.submitted().filter(pk__in=[a.pk for a in late]).count(),
        "numbers": list(campaign.hits.order_by("number").values_list("number", flat=True)),
        "parts": sorted(set(campaign.hits.values_list("part", flat=True))),
        "ratings": sorted({row["n_ratings"] for row in campaign.gold_runs.values("n_ratings")}),
    }


def submit_at_once() -> Facts:
    """8 processes submit the same 5 finished assignments."""
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

    returned = together(8, act)
    rows = Assignment.objects.order_by("pk").values_list("completion_code", flat=True)
    return {"returned": returned, "stored": list(rows), **_stored(campaign)}


def release_and_submit() -> Facts:
    """4 processes submit overdue assignments while 4 others release overdue assignments."""
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
    """8 processes release 16 overdue assignments of a HIT."""
    campaign = _make_campaign(n_hits=1, min_ratings=20)
    _take_overdue(campaign)
    n_released = together(8, lambda number, meet: [release_expired()])
    return {"n_released": sum(sum(n_released, [])), **_stored(campaign)}


def edit_and_release() -> Facts:
    """4 processes release 16 overdue assignments while 4 others change the number of ratings."""
    campaign = _make_campaign(n_hits=4, min_ratings=20)
    _take_overdue(campaign)

    def act(number: int, meet: Callable[[], object]) -> list[int]:
        if number % 2:
            return [release_expired()]
        edit_campaign(campaign=campaign, actor=None, changes={"min_ratings": 25 + number})
        return []

    together(8, act)
    campaign.refresh_from_db()
    return {"min_ratings": campaign.min_ratings, **_stored(campaign)}


def build_at_once() -> Facts:
    """4 processes build the HITs of a campaign; then 4 processes rebuild them."""
    campaign = make_campaign(is_open=False, hit_size=40)
    make_translations(campaign, n_segments=28)

    def build(rebuild: bool) -> list[list[Any]]:
        def act(number: int, meet: Callable[[], object]) -> list[str]:
            try:
                return [str(build_hits(campaign=campaign, rebuild=rebuild).n_hits)]
            except CannotBuildHITs as refusal:
                return [str(refusal)]

        return together(4, act)

    built = build(rebuild=False)
    n_after_building = campaign.hits.count()
    rebuilt = build(rebuild=True)
    return {
        "built": sum(built, []),
        "n_after_building": n_after_building,
        "rebuilt": sum(rebuilt, []),
        "numbers": list(campaign.hits.order_by("number").values_list("number", flat=True)),
        "n_items": Item.objects.filter(hit__campaign=campaign).count(),
    }


def prepare_desks() -> Facts:
    """Not a race: 60 workers take a HIT of 100 items to rate over HTTP."""
    return {"desks": _desks(_make_campaign(n_hits=1, min_ratings=60, hit_size=100))}


def _desks(campaign: "Campaign") -> list[tuple[str, str]]:
    desks = []
    for _ in range(60):
        worker = make_worker()
        assignment = take_assignment(campaign=campaign, worker=worker)
        assert assignment is not None
        desks.append((reverse("rate", args=[assignment.code]), cookies_of(worker)))
    return desks


def stored_ratings() -> Facts:
    """Not a race either: all ratings, by the URL of their rating page."""
    rows = Rating.objects.values_list("assignment__code", "item__position", "score")
    return {"ratings": [(reverse("rate", args=[code]), *values) for code, *values in rows]}


def prepare_editing_desks() -> Facts:
    """Not a race: 60 workers take a HIT of 100 texts to edit over HTTP."""
    return {"desks": _desks(_make_edits(n_hits=1, min_ratings=60, hit_size=100))}


def stored_edits() -> Facts:
    """Not a race either: all post-editions, by the URL of their page."""
    rows = PostEdition.objects.values_list("assignment__code", "item__position", "text")
    return {"ratings": [(reverse("rate", args=[code]), *values) for code, *values in rows]}


def prepare_ranking_desks() -> Facts:
    """Not a race: 60 workers take a HIT of 30 screens to rank over HTTP."""
    return {"desks": _desks(_make_rankings(min_ratings=60, hit_size=30))}


def stored_rankings() -> Facts:
    """Not a race either: the ranks of each screen by code, by the URL of its page."""
    rows = Rank.objects.values_list("assignment__code", "item__screen", "item__code", "rank")
    screens: dict[tuple[str, int], dict[str, int]] = {}
    for code, screen, item, rank in rows:
        screens.setdefault((reverse("rate", args=[code]), screen), {})[str(item)] = rank
    return {"ratings": [(*screen, as_text(ranks)) for screen, ranks in screens.items()]}


def renew_at_once() -> Facts:
    """10 late workers come back in 8 tabs at once and submit in one of them."""
    campaign = _make_campaign(n_hits=1, min_ratings=30)
    late = [_finished(campaign, at=timezone.now() - timedelta(days=1)) for _ in range(10)]
    release_expired()

    def act(number: int, meet: Callable[[], object]) -> list[str]:
        codes = []
        for assignment in late:
            meet()
            if number == 0:
                submit_assignment(assignment=assignment)
            elif renewed := take_assignment(campaign=campaign, worker=assignment.worker):
                codes.append(str(renewed.code))
        return codes

    return {"returned": together(8, act), **_stored(campaign)}


def limit_at_once() -> Facts:
    """5 workers who may do 2 of 6 HITs take and submit as many as they can, in 8 tabs at once."""
    campaign = _make_campaign(n_hits=6, min_ratings=10)
    Campaign.objects.update(max_hits_per_worker=2)
    campaign.refresh_from_db()
    workers = [make_worker() for _ in range(5)]

    def act(number: int, meet: Callable[[], object]) -> list[int]:
        for worker in workers:
            for _ in range(4):
                meet()
                if assignment := take_assignment(campaign=campaign, worker=worker):
                    rate_items(assignment)
                    submit_assignment(assignment=assignment)
        return []

    together(8, act)
    n_hits = [worker.assignments.count() for worker in workers]
    return {"n_hits": n_hits, **_stored(campaign)}


def decide_holds_at_once() -> Facts:
    """4 processes count 6 held HITs while 4 others discard them."""
    campaign, held = _held_hits()
    admin = User.objects.create_superuser("ann")

    def act(number: int, meet: Callable[[], object]) -> list[bool]:
        decide = count_held if number % 2 else discard_held
        outcomes = []
        for assignment in held:
            meet()
            outcomes.append(decide(assignment=assignment, actor=admin, reason=f"By {number}"))
        return outcomes

    return {"outcomes": together(8, act), **_decided(campaign)}


def decide_and_discard_overdue() -> Facts:
    """4 processes count 6 held HITs while the chores of 4 others discard them because a day is over."""
    campaign, held = _held_hits()
    admin = User.objects.create_superuser("ann")
    tomorrow = timezone.now() + timedelta(days=2)

    def act(number: int, meet: Callable[[], object]) -> list[int]:
        outcomes = []
        for assignment in held:
            meet()
            if number % 2:
                outcomes.append(count_held(assignment=assignment, actor=admin, reason="Fine"))
            else:
                outcomes.append(discard_overdue(at=tomorrow))
        return outcomes

    return {"outcomes": together(8, act), **_decided(campaign)}


def add_the_same_scores() -> Facts:
    """3 processes store the scores of the same file."""
    return _add_scores([1, 1, 1])


def add_different_scores() -> Facts:
    """3 processes store different scores of the same metric."""
    return _add_scores([0, 1, 2])


def _add_scores(scores: list[int]) -> Facts:
    """Add a file for each process, in which every translation has this score."""
    make_translations(make_campaign(name="shared"), n_segments=50)
    with tempfile.TemporaryDirectory() as folder:
        paths = [_write_scores(Path(folder) / f"M{score}.tsv", score) for score in scores]

        def act(number: int, meet: Callable[[], object]) -> list[str]:
            out = io.StringIO()
            try:
                call_command("add_scores", "shared", str(paths[number]), stdout=out)
            except CommandError as refusal:
                return [str(refusal)]
            return [out.getvalue()]

        outcomes = sum(together(len(paths), act), [])
    stored = list(MetricScore.objects.values_list("score", flat=True))
    return {"outcomes": outcomes, "n_metrics": Metric.objects.count(), "stored": stored}


def _write_scores(path: Path, score: int) -> Path:
    rows = [
        f"system-{system}\tsegment-{segment}\t{score}"
        for segment in range(1, 51)
        for system in "ab"
    ]
    path.write_text("\n".join(["system\tsegment\tM:higher", *rows]) + "\n")
    return path


def weigh_at_once() -> Facts:
    """6 processes submit and weigh HITs of 9 workers, while one counts held HITs and one judges everyone again."""
    campaign = make_hits(n_segments=3 * 14, min_ratings=30, trust_rule="guarded")
    scorers = {make_worker(): reader(seed) for seed in range(6)}
    scorers |= {make_worker(): pair_script(seed) for seed in range(3)}
    held = [weighed_hit(campaign, make_worker(), reader(9 + n), seconds=0.01) for n in range(3)]
    admin = User.objects.create_superuser("ann")
    start = timezone.now() - timedelta(hours=9)

    def act(number: int, meet: Callable[[], object]) -> list[str]:
        failures = _collect_log()
        for turn in range(3):
            meet()
            if number == 0:
                count_held(assignment=held[turn], actor=admin, reason="Fine")
                # As the message to the background processes asks.
                weigh_others(campaign.participations.get(worker=held[turn].worker_id))
            elif number == 1:
                # Not in the end, when it would set right what the others leave wrong.
                if turn < 2:
                    recompute_workers(campaign=campaign)
            else:
                for worker in list(scorers)[number - 2 :: 6]:
                    at = start + timedelta(hours=turn)
                    # Those found out get no further HIT.
                    if take_assignment(campaign=campaign, worker=worker, at=at):
                        weighed_hit(campaign, worker, scorers[worker], at=at)
        return failures

    failures = sum(together(8, act), [])
    verdicts = _verdicts(campaign)
    # The chores do this every minute.
    settle_unproven()
    summary = recompute_workers(campaign=campaign)
    return {
        "failures": failures,
        "n_unweighed": Assignment.objects.submitted().filter(evidence_at=None).count(),
        "n_evidence_changed": summary.n_evidence_changed,
        "n_hits_settled": summary.n_hits_settled,
        "verdicts": verdicts,
        "verdicts_recomputed": _verdicts(campaign),
        **_stored(campaign),
    }


def _collect_log() -> list[str]:
    """Collect what this process logs from now on: a worker who cannot be weighed does not stop the others."""
    messages: list[str] = []

    class Collector(logging.Handler):
        def emit(self, line: logging.LogRecord) -> None:
            messages.append(f"{line.getMessage()} {line.exc_info and line.exc_info[1]!r}")

    logging.getLogger("hits").addHandler(Collector(logging.WARNING))
    return messages


def _verdicts(campaign: "Campaign") -> list[tuple[str, str]]:
    rows = campaign.participations.order_by("pk").values_list("worker__external_id", "trust")
    return list(rows)


def _held_hits() -> "tuple[Campaign, list[Assignment]]":
    """Six held HITs of six workers, two on each of three HITs."""
    campaign = _make_campaign(n_hits=3, min_ratings=2)
    Campaign.objects.update(trust_rule=Campaign.TrustRule.GUARDED)
    campaign.refresh_from_db()
    return campaign, [do_held_hit(campaign, make_worker()) for _ in range(6)]


def _decided(campaign: "Campaign") -> Facts:
    holds = Assignment.objects.order_by("pk").values_list("hold", flat=True)
    decisions = AuditEntry.objects.filter(action__startswith="held HIT").order_by("pk")
    n_wrong = len(unsettled_hits(campaign, campaign.hits.all(), timezone.now()))
    return {
        "holds": list(holds),
        "decisions": [(entry.details["assignment"], entry.details["after"]) for entry in decisions],
        "n_wrong_places": n_wrong,
        **_stored(campaign),
    }


def _make_campaign(*, n_hits: int, min_ratings: int, hit_size: int = 40) -> "Campaign":
    n_translations = n_hits * hit_size * 7 // 10
    return make_hits(n_segments=n_translations // 2, hit_size=hit_size, min_ratings=min_ratings)


def _make_edits(*, n_hits: int, min_ratings: int, hit_size: int = 20) -> "Campaign":
    n_translations = n_hits * hit_size * 7 // 10
    return make_hits(
        n_segments=n_translations // 2,
        hit_size=hit_size,
        min_ratings=min_ratings,
        task="edit",
        shows="source",
    )


def _make_rankings(*, min_ratings: int, hit_size: int, **fields: Any) -> "Campaign":
    return ranking_campaign(n_segments=10, min_ratings=min_ratings, hit_size=hit_size, **fields)


def _take_overdue(campaign: "Campaign") -> None:
    yesterday = timezone.now() - timedelta(days=1)
    for _ in range(16):
        take_assignment(campaign=campaign, worker=make_worker(), at=yesterday)


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


if __name__ == "__main__":
    django.setup()
    from django.contrib.auth.models import User
    from django.core.management import CommandError, call_command
    from django.urls import reverse
    from django.utils import timezone

    import analysis.management.commands.add_scores  # noqa: F401  (once, for all children)
    from analysis.gold.looks import take_look
    from analysis.models import Metric, MetricScore
    from hits.campaigns.building import build_hits
    from hits.campaigns.editing import edit_campaign
    from hits.exceptions import CannotBuildHITs, LookRefused
    from hits.models import (
        Assignment,
        AuditEntry,
        Campaign,
        Item,
        PostEdition,
        Rank,
        Rating,
        Worker,
    )
    from hits.post_editing.saving import save_edit
    from hits.ranking.rounds import add_round
    from hits.ranking.saving import save_ranking
    from hits.rating.assignments import release_expired, submit_assignment, take_assignment
    from hits.rating.places import settle_unproven, unsettled_hits
    from hits.workers.held_hits import count_held, discard_held, discard_overdue
    from hits.workers.recomputing import recompute_workers
    from hits.workers.trust import weigh_others
    from tests.concurrency.cookies import cookies_of
    from tests.factories import (
        make_campaign,
        make_hits,
        make_translations,
        make_worker,
        rate,
        rate_items,
    )
    from tests.holds import do_held_hit
    from tests.looked_at import collect, make_looked_at
    from tests.ranking.campaigns import ranking_campaign
    from tests.scored_hits import pair_script, reader, weighed_hit

    carry_out_orders()
