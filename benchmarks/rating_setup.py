"""Prepare a database for `benchmarks.rating`, in a process of its own; prints what the workers need as JSON."""

import json
import sys
from datetime import timedelta
from typing import Any

import django

N_HITS = 10
# Its title, the cookies to open it with, and its address.
Page = tuple[str, str, str]
FILL = """
    INSERT INTO hits_rating (assignment_id, item_id, score, received_at, elapsed_ms, active_ms)
    SELECT a.id, i.id, (a.id * 7 + i.id * 13) %% 101, a.started_at, 5000, 4000
    FROM hits_assignment a JOIN hits_item i ON i.hit_id = a.hit_id
    WHERE a.status = 'submitted'
"""


def prepare(n_desks: int, n_ratings: int, *, with_pages: bool) -> dict[str, Any]:
    """Store so many ratings, then let so many workers take a HIT of 100 items each."""
    # One with many ratings is large, as it would be with as many HITs as that takes.
    wanted = LARGE // N_HITS if n_ratings // 100 > LARGE else n_desks
    campaign = make_campaign(hit_size=100, min_ratings=max(n_desks, wanted))
    make_translations(campaign, n_segments=N_HITS * 35)
    build_hits(campaign=campaign)
    change_status(campaign=campaign, to=Campaign.Status.OPEN)
    fill(campaign, n_ratings)
    hits = list(campaign.hits.order_by("number"))
    desks = [take_desk(hits[i % N_HITS]) for i in range(n_desks)]
    n_queries = count_queries(desks[0])
    pages = pages_of(campaign, desks[0]) if with_pages else []
    with connection.cursor() as cursor:
        # As a database is that has grown slowly: otherwise the first measurements would have to wait
        # for PostgreSQL's own tidying up.
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")
    # As the schedule does every minute.
    keep_counts()
    return {
        "pages": pages,
        "desks": [desk_of(assignment) for assignment in desks[1:]],
        "n_queries": n_queries,
        "n_ratings": Rating.objects.count(),
    }


def fill(campaign: "Campaign", n_ratings: int) -> None:
    """Store ratings of finished HITs, a hundred each, without going through the platform."""
    hits = list(campaign.hits.all())
    before = timezone.now() - timedelta(days=1)
    workers = Worker.objects.bulk_create(
        Worker(provider="benchmark", external_id=f"done-{i}") for i in range(n_ratings // 100)
    )
    Assignment.objects.bulk_create(
        Assignment(
            hit=hits[i % N_HITS],
            worker=worker,
            status=Assignment.Status.SUBMITTED,
            started_at=before,
            expires_at=before + timedelta(hours=3),
            submitted_at=before,
            completion_code=f"code-{i}",
        )
        for i, worker in enumerate(workers)
    )
    Participation.objects.bulk_create(
        Participation(
            campaign=campaign,
            worker=worker,
            consented_at=before,
            qualified_at=before,
            trust=Participation.Trust.RELIABLE,
        )
        for worker in workers
    )
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # The rows are right by construction: no need to check a million foreign keys.
            cursor.execute("SET session_replication_role = replica")
        cursor.execute(FILL, [])


def take_desk(hit: "HIT", **fields: Any) -> "Assignment":
    now = timezone.now()
    return Assignment.objects.create(
        hit=hit, worker=make_worker(), started_at=now, expires_at=now + timedelta(hours=3), **fields
    )


def desk_of(assignment: "Assignment") -> dict[str, Any]:
    codes = assignment.hit.items.order_by("position").values_list("code", flat=True)
    return {
        "url": reverse("rate", args=[assignment.code]),
        "cookies": cookies_of(assignment.worker),
        "items": [str(code) for code in codes],
    }


def pages_of(campaign: "Campaign", rated: "Assignment") -> list[dict[str, str]]:
    """The main pages, each with the cookie of someone who may open it; `rated` is ready to be handed in."""
    pages = [
        *worker_pages(campaign, rated),
        ("login", "", reverse("login")),
        *staff_pages(campaign),
    ]
    return [{"title": title, "cookie": cookie, "url": url} for title, cookie, url in pages]


def worker_pages(campaign: "Campaign", rated: "Assignment") -> list[Page]:
    begun = take_desk(rated.hit)
    over = take_desk(
        rated.hit,
        status=Assignment.Status.SUBMITTED,
        submitted_at=timezone.now(),
        completion_code="the one at the end",
    )
    take_part(campaign=campaign, worker=begun.worker)
    cookies, code = cookies_of(begun.worker), campaign.code
    return [
        ("worker: landing", cookies, reverse("landing", args=[code])),
        ("worker: instructions", cookies, reverse("instructions", args=[code])),
        ("worker: practice", cookies, reverse("practice", args=[code, 1])),
        ("worker: question", cookies, reverse("check", args=[code])),
        ("worker: rating page", cookies, reverse("rate", args=[begun.code])),
        ("worker: finish", cookies_of(rated.worker), reverse("finish", args=[rated.code])),
        ("worker: done", cookies_of(over.worker), reverse("done", args=[over.code])),
    ]


def staff_pages(campaign: "Campaign") -> list[Page]:
    # Gold is made up: these pages show scores of translations, however many ratings those rest on.
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


def count_queries(assignment: "Assignment") -> dict[int, int]:
    """Rate all items of a HIT, and say how many queries the first and the last but one took."""
    client = Client(headers={"Accept": "application/json"})
    client.cookies.load(cookies_of(assignment.worker))
    desk = desk_of(assignment)
    n_queries = {}
    for position, code in enumerate(desk["items"], start=1):
        sent = {"position": position, "item": code, "score": 50, "elapsed_ms": 9, "active_ms": 8}
        with CaptureQueriesContext(connection) as queries:
            answer = client.post(desk["url"], sent, headers={"Host": "127.0.0.1"})
        assert answer.status_code == 200, answer.content
        n_queries[position] = len(queries)
    return {position: n_queries[position] for position in (1, 99)}


if __name__ == "__main__":
    django.setup()
    from django.conf import settings
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext
    from django.urls import reverse
    from django.utils import timezone

    from analysis.evaluating.campaigns import evaluate_campaign
    from analysis.metrics.computing import compute_metrics
    from hits.building import build_hits
    from hits.campaigns.keeping import LARGE, keep_counts
    from hits.models import HIT, Assignment, Campaign, Participation, Rating, Worker
    from hits.services import change_status, take_part
    from tests.concurrency.cookies import cookies_of
    from tests.evaluations import make_gold_run
    from tests.factories import make_campaign, make_translations, make_worker
    from tests.people import client_of

    n_desks, n_ratings, with_pages = map(int, sys.argv[1:])
    print(json.dumps(prepare(n_desks, n_ratings, with_pages=bool(with_pages))))
