"""Prepare a database for scripted workers, in a process on that database (`benchmarks.stage`)."""

import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cache
from secrets import token_hex
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import CharField, F
from django.db.models.functions import Cast
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

import benchmarks.django_setup  # noqa: F401
from analysis.evaluation.stored_evaluations import evaluate_campaign
from analysis.metrics.computing import compute_metrics
from hits.campaigns.building import build_hits
from hits.campaigns.kept_counts import LARGE, keep_counts
from hits.campaigns.lifecycle import change_status
from hits.models import HIT, Assignment, Campaign, Item, Participation, Rating, Worker
from hits.rating.joining import take_part
from tests.concurrency.cookies import cookies_of
from tests.evaluations import make_gold_run
from tests.factories import make_campaign, make_translations
from tests.people import client_of

from .clients import answers_at

N_HITS = 10
# A title, the cookies to open the page with, and its address.
Page = tuple[str, str, str]
# Assignments stored at a time, with 100 ratings each, and the time for storing them.
ROUND = 1_000
MAX_SECONDS = 900.0
FILL = """
    INSERT INTO hits_rating (assignment_id, item_id, score, received_at, elapsed_ms, active_ms)
    SELECT a.id, i.id, (a.id * 7 + i.id * 13) %% 101, a.started_at, 5000, 4000
    FROM hits_assignment a JOIN hits_item i ON i.hit_id = a.hit_id
    WHERE a.id BETWEEN %s AND %s
"""


def prepare(n_ratings: int, with_pages: bool, settings: dict[str, str]) -> dict[str, Any]:
    """Make a campaign with HITs of 100 items and store this many ratings of finished HITs."""
    # With many ratings it counts as large, as a campaign with that many HITs would.
    min_ratings = LARGE // N_HITS if n_ratings // 100 > LARGE else 100
    campaign = make_campaign(hit_size=100, min_ratings=min_ratings, **settings)
    make_translations(campaign, n_segments=N_HITS * 35)
    # Documents of seven segments.
    number = (F("position") - 1) / 7
    campaign.segments.update(document=Cast(number, CharField(max_length=20)))
    build_hits(campaign=campaign)
    change_status(campaign=campaign, to=Campaign.Status.OPEN)
    fill(campaign, n_ratings)
    [assignment] = store_assignments(campaign.hits.all()[:1], 1)
    n_queries = count_queries(assignment)
    pages = pages_of(campaign, assignment) if with_pages else []
    analyse()
    # As the schedule does every minute.
    keep_counts()
    return {"pages": pages, "n_queries": n_queries, "n_ratings": Rating.objects.count()}


def analyse(tables: str = "") -> None:
    """Let PostgreSQL plan for these tables, or all, as they are now.

    It would do so by itself, but during the first measurements. SQLite never does on the platform.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"VACUUM ANALYZE {tables}")


def fill(campaign: Campaign, n_ratings: int) -> None:
    """Store ratings directly, in rounds, until there are enough or the time is up."""
    hits = list(campaign.hits.order_by("number"))
    end = time.monotonic() + MAX_SECONDS
    before = timezone.now() - timedelta(days=1)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # The rows are right by construction: no need to check millions of foreign keys.
            cursor.execute("SET session_replication_role = replica")
        for first in range(0, n_ratings // 100, ROUND):
            if time.monotonic() > end:
                break
            n = min(ROUND, n_ratings // 100 - first)
            assignments = store_assignments(hits, n, submitted_at=before)
            Participation.objects.bulk_create(
                Participation(
                    campaign=campaign,
                    worker=assignment.worker,
                    consented_at=before,
                    qualified_at=before,
                    trust=Participation.Trust.RELIABLE,
                )
                for assignment in assignments
            )
            cursor.execute(FILL, [assignments[0].pk, assignments[-1].pk])
        if connection.vendor == "postgresql":
            cursor.execute("RESET session_replication_role")


def store_assignments(
    hits: Sequence[HIT], n: int, *, submitted_at: datetime | None = None
) -> list[Assignment]:
    """Let `n` new workers take these HITs in turn; with a time, as submitted then."""
    workers = Worker.objects.bulk_create(
        Worker(provider="link", external_id=token_hex(12)) for _ in range(n)
    )
    now = submitted_at or timezone.now()
    status = Assignment.Status.SUBMITTED if submitted_at else Assignment.Status.IN_PROGRESS
    return Assignment.objects.bulk_create(
        Assignment(
            hit=hits[i % len(hits)],
            worker=worker,
            status=status,
            started_at=now,
            expires_at=now + timedelta(hours=3),
            submitted_at=submitted_at,
            completion_code=token_hex(8) if submitted_at else "",
        )
        for i, worker in enumerate(workers)
    )


def make_desks(n_desks: int) -> list[dict[str, Any]]:
    """Let new workers take HITs; return what they need to rate all items."""
    hits = Campaign.objects.get().hits.order_by("number")
    assignments = store_assignments(hits, n_desks)
    analyse("hits_assignment")
    return [desk_of(assignment) for assignment in assignments]


def desk_of(assignment: Assignment) -> dict[str, Any]:
    items = items_of(assignment.hit_id)
    desk = {
        "url": reverse("rate", args=[assignment.code]),
        "cookies": cookies_of(assignment.worker),
        "items": [code for code, _ in items],
    }
    is_edited = assignment.hit.campaign.task == Campaign.Task.EDIT
    return desk | ({"texts": [text for _, text in items]} if is_edited else {})


@cache
def items_of(hit_id: int) -> list[tuple[str, str]]:
    """The codes and texts of a HIT's items."""
    items = Item.objects.filter(hit=hit_id).order_by("position")
    return [(str(code), text) for code, text in items.values_list("code", "text")]


def pages_of(campaign: Campaign, rated: Assignment) -> list[dict[str, str]]:
    """The main pages, each with the cookie of someone who may open it; `rated` is ready to be submitted."""
    pages = [
        *worker_pages(campaign, rated),
        ("login", "", reverse("login")),
        *staff_pages(campaign),
    ]
    return [{"title": title, "cookie": cookie, "url": url} for title, cookie, url in pages]


def worker_pages(campaign: Campaign, rated: Assignment) -> list[Page]:
    [started] = store_assignments([rated.hit], 1)
    [submitted] = store_assignments([rated.hit], 1, submitted_at=timezone.now())
    take_part(campaign=campaign, worker=started.worker)
    cookies, code = cookies_of(started.worker), campaign.code
    return [
        ("worker: landing", cookies, reverse("landing", args=[code])),
        ("worker: instructions", cookies, reverse("instructions", args=[code])),
        ("worker: practice", cookies, reverse("practice", args=[code, 1])),
        ("worker: question", cookies, reverse("check", args=[code])),
        ("worker: rating page", cookies, reverse("rate", args=[started.code])),
        ("worker: finish", cookies_of(rated.worker), reverse("finish", args=[rated.code])),
        ("worker: done", cookies_of(submitted.worker), reverse("done", args=[submitted.code])),
    ]


def staff_pages(campaign: Campaign) -> list[Page]:
    # Not computed from the ratings, because the pages only show scores.
    make_gold_run(campaign)
    compute_metrics(campaign=campaign)
    evaluation = evaluate_campaign(campaign=campaign)
    session = client_of("superuser").cookies[settings.SESSION_COOKIE_NAME].value
    addresses = {
        "campaigns": reverse("home"),
        "dashboard": reverse("campaign_overview", args=[campaign.code]),
        "workers": reverse("campaign_workers", args=[campaign.code]),
        "results": reverse("campaign_results", args=[campaign.code]),
        "metrics": reverse("campaign_metrics", args=[campaign.code]),
        "evaluation": reverse("evaluation", args=[evaluation.code]),
        "payments": reverse("campaign_payments", args=[campaign.code]),
        "jobs": reverse("jobs"),
    }
    cookie = f"{settings.SESSION_COOKIE_NAME}={session}"
    return [(f"staff: {title}", cookie, url) for title, url in addresses.items()]


def count_queries(assignment: Assignment) -> dict[int, int]:
    """Rate all items of a HIT; return how many queries the first and the last but one took."""
    client = Client(headers={"Accept": "application/json"})
    client.cookies.load(cookies_of(assignment.worker))
    desk = desk_of(assignment)
    n_queries = {}
    for position, sent in enumerate(answers_at(desk), start=1):
        with CaptureQueriesContext(connection) as queries:
            answer = client.post(desk["url"], sent, headers={"Host": "127.0.0.1"})
        assert answer.status_code == 200, answer.content
        n_queries[position] = len(queries)
    return {position: n_queries[position] for position in (1, 99)}
