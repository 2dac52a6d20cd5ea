"""Fill a database with one campaign and its ratings, without going through the platform."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import repeat
from uuid import uuid4

import numpy as np
from django.db import connection, transaction

import benchmarks.django_setup  # noqa: F401
from analysis.stats.quality_control import NO_PARTNER, quality_control
from benchmarks.synthetic_ratings import HIT_ITEMS, SEED, Columns, make_ratings
from hits.models import Campaign, System

N_SYSTEMS = 4
# On average twelve of twenty raters are honest: about half of the translations get this many.
MIN_RATINGS = 12
# The last assignments still wait for their evidence.
N_PENDING = 100
START = datetime(2026, 1, 1, tzinfo=UTC)

QC_COLUMNS = ("scores", "workers", "roles", "assignments", "items", "partners")


def fill(n_ratings: int) -> dict[str, int]:
    ratings = make_ratings(n_ratings, np.random.default_rng(SEED))
    fill_database(ratings)
    return {
        "n_ratings": len(ratings["scores"]),
        "n_translations": len(np.unique(ratings["translations"])),
    }


def fill_database(ratings: Columns) -> None:
    """Store one campaign with these ratings in a database that has the tables and nothing else."""
    with transaction.atomic():
        _fill_texts(ratings)
        _fill_items(ratings)
        _fill_workers(ratings)
        _fill_assignments(ratings)
        _fill_ratings(ratings)
    analyse_tables()


def analyse_tables() -> None:
    """Let PostgreSQL collect its statistics, as it would by itself after a while."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")


def insert(table: str, **columns: object) -> None:
    """Insert rows; a column is an iterable of its values, or one value for all rows."""
    names = ", ".join(columns)
    rows = zip(*map(_values, columns.values()), strict=False)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            marks = ", ".join("?" * len(columns))
            # Not through Django's wrapper, which would look for its own placeholders in every row.
            raw = cursor.cursor
            super(type(raw), raw).executemany(
                f"INSERT INTO {table} ({names}) VALUES ({marks})", rows
            )


def _values(column: object) -> Iterable[object]:
    if isinstance(column, np.ndarray):
        return column.tolist()
    return (
        column if isinstance(column, Iterable) and not isinstance(column, str) else repeat(column)
    )


def codes() -> Iterator[str]:
    while True:
        yield uuid4().hex


def moment(seconds: float) -> str:
    return (START + timedelta(seconds=seconds)).strftime("%Y-%m-%d %H:%M:%S.%f")


def _fill_texts(ratings: Columns) -> None:
    campaign = Campaign.objects.create(
        pk=1,
        name="benchmark",
        source_language="de",
        target_language="en",
        status="open",
        seed=1,
        min_ratings=MIN_RATINGS,
        degradation="published",
        trust_rule="published",
    )
    for number in range(1, N_SYSTEMS + 1):
        System.objects.create(pk=number, campaign=campaign, name=f"system {number}")
    translations = np.unique(ratings["translations"]) + 1
    places = np.arange(len(translations))
    segments = places // N_SYSTEMS + 1
    numbers = np.unique(segments)
    insert(
        "hits_segment",
        id=numbers,
        campaign_id=1,
        position=numbers,
        name=(f"segment-{number}" for number in numbers),
        document="",
        source="Quelle",
        reference="Reference",
        second_reference="",
        is_archived=False,
    )
    insert(
        "hits_translation",
        id=translations,
        segment_id=segments,
        text=(f"Text {pk}" for pk in translations),
        fingerprint=(pk.to_bytes(16, "big") for pk in translations.tolist()),
    )
    insert(
        "hits_systemoutput",
        system_id=places % N_SYSTEMS + 1,
        segment_id=segments,
        translation_id=translations,
    )


def _fill_items(ratings: Columns) -> None:
    # Genuine items come first among the keys, and partners are genuine.
    items, first = np.unique(ratings["items"], return_index=True)
    hits = np.unique(items // HIT_ITEMS) + 1
    insert(
        "hits_hit",
        id=hits,
        campaign_id=1,
        code=codes(),
        number=hits,
        size=HIT_ITEMS,
        places_left=0,
        part=1,
        is_archived=False,
    )
    partners = ratings["partners"][first].tolist()
    insert(
        "hits_item",
        id=items + 1,
        hit_id=items // HIT_ITEMS + 1,
        code=codes(),
        position=first % HIT_ITEMS + 1,
        screen=first % HIT_ITEMS + 1,
        role=ratings["roles"][first],
        translation_id=ratings["translations"][first] + 1,
        text="",
        partner_id=(None if partner == NO_PARTNER else partner + 1 for partner in partners),
        is_archived=False,
    )


def _fill_workers(ratings: Columns) -> None:
    workers = np.unique(ratings["workers"]) + 1
    insert(
        "hits_worker",
        id=workers,
        code=codes(),
        provider="benchmark",
        external_id=map(str, workers),
        created_at=moment(0),
    )
    insert(
        "hits_participation",
        campaign_id=1,
        worker_id=workers,
        n_check_tries=0,
        trust=quality_control(*(ratings[name] for name in QC_COLUMNS)).verdicts,
        decision="",
        decision_reason="",
    )


def _fill_assignments(ratings: Columns) -> None:
    items = ratings["items"][::HIT_ITEMS]
    n = len(items)
    ends = [moment(60 * place + 900) for place in range(n)]
    insert(
        "hits_assignment",
        id=range(1, n + 1),
        hit_id=items // HIT_ITEMS + 1,
        worker_id=ratings["workers"][::HIT_ITEMS] + 1,
        code=codes(),
        status="submitted",
        started_at=(moment(60 * place) for place in range(n)),
        expires_at=(moment(60 * place + 9_000) for place in range(n)),
        submitted_at=ends,
        is_late=False,
        completion_code=(f"CODE{place}" for place in range(n)),
        comment="",
        is_rejected=False,
        hold="",
        hold_reason="",
        evidence_at=(end if place < n - N_PENDING else None for place, end in enumerate(ends)),
    )


def _fill_ratings(ratings: Columns) -> None:
    """Store them in the order of arrival: workers who are active at the same time take turns."""
    n = len(ratings["scores"])
    assignments = ratings["assignments"]
    times = 60.0 * assignments + 9.0 * (np.arange(n) % HIT_ITEMS) + 1e-6 * (np.arange(n) % 999_983)
    order = np.argsort(times, kind="stable")
    insert(
        "hits_rating",
        assignment_id=assignments[order] + 1,
        item_id=ratings["items"][order] + 1,
        score=ratings["scores"][order].astype(int),
        received_at=map(moment, times[order].tolist()),
        elapsed_ms=8_000,
        active_ms=8_000,
    )
