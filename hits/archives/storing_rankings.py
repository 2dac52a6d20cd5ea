"""Store checked rankings of a finished collection in one transaction."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice

from django.db import transaction

from analysis.stats.judgements import SKIPPED
from analysis.stats.roles import Role

from ..campaigns.importing.storing import fingerprint
from ..models import (
    HIT,
    Assignment,
    Campaign,
    Item,
    Rank,
    Segment,
    System,
    SystemOutput,
    Translation,
)
from .decisions import Decisions
from .rankings import RankedCollection, RankedScreen
from .records import ArchivedAssignment
from .storing import (
    RATINGS_PER_BATCH,
    Origin,
    Progress,
    imported_assignment,
    in_order,
    record_import,
    store_participations,
    store_workers,
)

# A translation by its segment and the systems that share it.
Key = tuple[str, tuple[str, ...]]
Screens = list[RankedScreen]


@transaction.atomic
def store_rankings(
    campaign: Campaign,
    collection: RankedCollection,
    decisions: Decisions,
    origin: Origin,
    progress: Progress | None,
) -> int:
    """Store everything and return the number of ranks."""
    campaign.save(force_insert=True)
    work = list(_work(collection))
    translations = _store_translations(campaign, collection)
    hits, items = _store_hits(campaign, [screens for _, _, screens in work], translations)
    workers = store_workers(collection.workers, origin)
    assignments = Assignment.objects.bulk_create(
        imported_assignment(
            archived, hit, workers[archived.worker], evidence_at=archived.submitted_at
        )
        for hit, archived in zip(hits, _dated(work), strict=True)
    )
    ranks = (
        Rank(
            assignment_id=assignment.pk,
            item_id=item.pk,
            received_at=assignment.expires_at,
            elapsed_ms=round(1000 * screen.seconds) or None,
            rank=None if output.rank == SKIPPED else output.rank,
            skip=Rank.Skip.OTHER if output.rank == SKIPPED else "",
            place=place,
        )
        for assignment, (_, _, screens), own_items in zip(assignments, work, items, strict=True)
        for screen, shown in zip(screens, own_items, strict=True)
        for place, (output, item) in enumerate(zip(screen.outputs, shown, strict=True), 1)
    )
    n_ranks = 0
    while batch := list(islice(ranks, RATINGS_PER_BATCH)):
        Rank.objects.bulk_create(batch)
        n_ranks += len(batch)
        if progress is not None:
            progress(len(batch))
    participations = store_participations(campaign, workers, decisions)
    record_import(campaign, participations, origin)
    return n_ranks


def _work(collection: RankedCollection) -> Iterator[tuple[str, str, Screens]]:
    """Yield HIT, judge and screens. What a judge ranked twice in a HIT becomes another HIT."""
    for hit, judged in collection.hits.items():
        for judge, screens in judged.items():
            remaining = screens
            while remaining:
                done: Screens = []
                again: Screens = []
                for screen in remaining:
                    is_twice = screen.segment in {other.segment for other in done}
                    (again if is_twice else done).append(screen)
                yield hit, judge, done
                remaining = again


def _dated(work: list[tuple[str, str, Screens]]) -> Iterator[ArchivedAssignment]:
    """The files say how long screens took, not when: a judge's HITs follow one another from 1970 on."""
    clocks: dict[str, datetime] = {}
    for number, (_, judge, screens) in enumerate(work):
        start = clocks.get(judge, datetime(1970, 1, 1, tzinfo=UTC))
        end = start + timedelta(seconds=sum(screen.seconds for screen in screens))
        clocks[judge] = end
        yield ArchivedAssignment(number, judge, start, end, [])


def _store_translations(campaign: Campaign, collection: RankedCollection) -> dict[Key, Translation]:
    keys: dict[Key, None] = {
        (screen.segment, tuple(sorted(output.systems))): None
        for judged in collection.hits.values()
        for screens in judged.values()
        for screen in screens
        for output in screen.outputs
    }
    names = sorted({system for _, systems in keys for system in systems})
    systems = {
        row.name: row
        for row in System.objects.bulk_create(
            System(campaign=campaign, name=name) for name in names
        )
    }
    segments = {
        row.name: row
        for row in Segment.objects.bulk_create(
            Segment(campaign=campaign, position=position, name=name, is_archived=True)
            for position, name in enumerate(in_order(list(dict.fromkeys(s for s, _ in keys))), 1)
        )
    }
    translations = {
        key: Translation(
            segment_id=segments[key[0]].pk, fingerprint=fingerprint("\n".join([*key[1], key[0]]))
        )
        for key in keys
    }
    Translation.objects.bulk_create(translations.values())
    SystemOutput.objects.bulk_create(
        SystemOutput(
            system_id=systems[system].pk,
            segment_id=segments[segment].pk,
            translation_id=translation.pk,
        )
        for (segment, sharing), translation in translations.items()
        for system in sharing
    )
    return translations


def _store_hits(
    campaign: Campaign, work: list[Screens], translations: dict[Key, Translation]
) -> tuple[list[HIT], list[list[list[Item]]]]:
    """Store a HIT for each judge's work; return the HITs, and the items of each by screen."""
    hits = HIT.objects.bulk_create(
        HIT(
            campaign=campaign,
            number=number,
            size=sum(len(screen.outputs) for screen in screens),
            places_left=0,
            is_archived=True,
        )
        for number, screens in enumerate(work, start=1)
    )
    items = [_items(hit, screens, translations) for hit, screens in zip(hits, work, strict=True)]
    Item.objects.bulk_create(
        (item for screens in items for shown in screens for item in shown), batch_size=2_000
    )
    return hits, items


def _items(hit: HIT, screens: Screens, translations: dict[Key, Translation]) -> list[list[Item]]:
    position, rows = 0, []
    for number, screen in enumerate(screens, start=1):
        shown = []
        for output in screen.outputs:
            position += 1
            key = screen.segment, tuple(sorted(output.systems))
            shown.append(
                Item(
                    hit_id=hit.pk,
                    position=position,
                    screen=number,
                    role=Role.GENUINE.value,
                    translation_id=translations[key].pk,
                    is_archived=True,
                )
            )
        rows.append(shown)
    return rows
