"""How long health, payments and the table of workers take with 100,000 workers, all of them to be paid.

    python -m benchmarks.large_tables [--workers 100000] [--database sqlite|postgres]

A new database is filled directly: every worker has submitted one HIT, with the evidence after it, and half of them
have been paid, from one list. There are no ratings, because these pages do not read any. Times are the server's, as in `staff_pages`.
"""

from collections.abc import Iterator
from typing import Any

from django.urls import reverse

import benchmarks.django_setup  # noqa: F401
from benchmarks.filling import START, analyse_tables, codes, insert, moment
from benchmarks.measuring import in_own_process
from benchmarks.staff_pages import BASELINE, time_pages
from benchmarks.table import Row, run
from hits.models import Campaign, Evidence, Invite, Payment, PaymentRun, Recruitment
from tests.concurrency.databases import DATABASES, platform_environment

MAX_MS = 1_000.0
N_HITS = 1_000
# Shared links, with which equally many workers came.
N_INVITES = 20
VERDICTS = ("reliable", "unproven", "unreliable")


def measure(database: str, *, workers: int) -> Iterator[Row]:
    with DATABASES[database]() as make_database:
        environment = platform_environment(make_database("whole"))
        in_own_process(fill, environment=environment, n=workers)
        pages = in_own_process(time_large_tables, environment=environment)
    counting, baseline = pages.pop("counting"), pages.pop(BASELINE)["median"]
    if counting:
        yield Row(f"{database}: counting for the overview, {workers:,} workers", counting, "ms")
    for page, figures in pages.items():
        yield Row(
            f"{database}: {page}, {workers:,} workers",
            figures["median"],
            "ms",
            baseline,
            maximum=MAX_MS,
            note=f"slowest {figures['slowest']:.1f} ms, processor {figures['processor']:.1f} ms, "
            f"{figures['n_queries']} queries",
        )


def time_large_tables() -> dict[str, Any]:
    return time_pages(urls_of)


def urls_of(campaign: Campaign) -> dict[str, str]:
    def url(name: str, *args: object) -> str:
        return reverse(name, args=[campaign.code, *args])

    table = url("campaign_workers")
    paid = PaymentRun.objects.get(campaign=campaign).code
    return {
        "health": reverse("health"),
        "home": reverse("home"),
        "campaign overview": url("campaign_overview"),
        "payments": url("campaign_payments"),
        "payments, last page": f"{url('campaign_payments')}?page=100000",
        "plan of a run": url("plan_payments", "approve", "hand"),
        "payment run": url("payment_run", paid),
        "payment run, last page": f"{url('payment_run', paid)}?page=100000",
        "payment run, list of people": url("people_list", paid),
        "workers": table,
        "workers, by p": f"{table}?sort=p",
        "workers, by id": f"{table}?sort=worker",
        "workers, by flags": f"{table}?flag=scrs&sort=-flags",
        "workers, search by id": f"{table}?search=w99",
        "workers, search by completion code": f"{table}?search=CODE99",
        "workers, search by invite": f"{table}?search=course",
        "workers, last page": f"{table}?page=100000",
        "preview of a decision about all pages": f"{url('decide_workers')}?choice=exclude&all=1",
    }


def fill(n: int) -> None:
    campaign = Campaign.objects.create(
        pk=1, name="benchmark", source_language="de", target_language="en", status="open", seed=1, pay_per_hit=2
    )  # fmt: skip
    Recruitment.objects.create(campaign=campaign, provider="link", is_open=True)
    Invite.objects.bulk_create(
        Invite(
            campaign=campaign, token_hash=f"{number}", label=f"Course {number}", is_personal=False
        )
        for number in range(1, N_INVITES + 1)
    )
    numbers, hits = range(1, n + 1), range(1, N_HITS + 1)
    insert(
        "hits_hit",
        id=hits,
        campaign_id=1,
        code=codes(),
        number=hits,
        size=100,
        part=1,
        places_left=0,
        is_archived=False,
    )
    insert(
        "hits_worker",
        id=numbers,
        code=codes(),
        provider="link",
        external_id=(f"w{number}" for number in numbers),
        created_at=moment(0),
    )
    insert(
        "hits_participation",
        id=numbers,
        campaign_id=1,
        worker_id=numbers,
        n_check_tries=0,
        trust=(VERDICTS[number % 3] for number in numbers),
        decision="",
        decision_reason="",
        invite_id=(number % N_INVITES + 1 for number in numbers),
    )
    _fill_work(n)
    _fill_payments(campaign, n // 2)
    analyse_tables()


def _fill_work(n: int) -> None:
    numbers = range(1, n + 1)
    insert(
        "hits_assignment",
        id=numbers,
        hit_id=(number % N_HITS + 1 for number in numbers),
        worker_id=numbers,
        code=codes(),
        status="submitted",
        started_at=(moment(60 * number) for number in numbers),
        expires_at=(moment(60 * number + 9_000) for number in numbers),
        submitted_at=(moment(60 * number + 900) for number in numbers),
        is_late=False,
        completion_code=(f"CODE{number}" for number in numbers),
        comment="",
        is_rejected=False,
        hold="",
        hold_reason="",
        evidence_at=(moment(60 * number + 901) for number in numbers),
    )
    Evidence.objects.bulk_create(
        (
            Evidence(
                participation_id=number,
                assignment_id=number,
                verdict=VERDICTS[number % 3],
                n_hits=1,
                n_pairs=10,
                p=(number % 997) / 997,
                n_repeats=10,
                window_n_pairs=10,
                longest_run=3,
                n_rejected=0,
                has_scores_flag=number % 10 == 0,
                has_time_flag=number % 20 == 0,
                has_sequence_flag=False,
                has_rejection_flag=False,
                signature="",
            )
            for number in numbers
        ),
        batch_size=500,
    )


def _fill_payments(campaign: Campaign, n: int) -> None:
    run = PaymentRun.objects.create(
        campaign=campaign, kind="approve", currency="EUR", is_by_hand=True, n_payments=n, total=2 * n
    )  # fmt: skip
    Payment.objects.bulk_create(
        (
            Payment(
                run=run,
                assignment_id=number,
                kind="approve",
                amount=2,
                currency="EUR",
                state="sent",
                settled_at=START,
                key=f"{number:064x}",
            )
            for number in range(1, n + 1)
        ),
        batch_size=500,
    )


if __name__ == "__main__":
    run(measure, __doc__, sizes={"workers": (100_000, 1_000)}, databases=["sqlite", "postgres"])
