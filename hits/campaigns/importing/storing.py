"""Store checked texts. Systems with the same output share one translation."""

import hashlib
import itertools
from collections.abc import Callable, Iterator

import regex
from django.db import transaction

from ...media.storing import store_media
from ...models import Campaign, MediaFile, Segment, System, SystemOutput, Translation
from .records import Draft, SegmentTexts

FINGERPRINT_BYTES = 16

# Outputs inserted at a time: enough for efficient statements, few enough for memory.
BATCH_OUTPUTS = 2_000

_PUNCTUATION_OR_SPACE = regex.compile(r"[\p{P}\s]+")


def fingerprint(text: str, near: bool = False) -> bytes:
    """Return 16 bytes that are equal for texts that count as the same translation.

    `near` ignores letter case, punctuation and white space, unless there is nothing else.
    """
    if near:
        text = _PUNCTUATION_OR_SPACE.sub("", text.lower()) or text
    return hashlib.sha256(text.encode()).digest()[:FINGERPRINT_BYTES]


@transaction.atomic
def store(campaign: Campaign, draft: Draft, progress: Callable[[int], object] | None) -> int:
    """Store the campaign and its texts; return the number of distinct translations."""
    campaign.has_media = bool(draft.media_types)
    campaign.save(force_insert=True)
    media: dict[str, MediaFile] = {}
    if draft.media_root is not None:
        media = store_media(campaign, draft.media_root, draft.media_types)
    systems = System.objects.bulk_create(
        System(campaign=campaign, name=name) for name in draft.systems
    )
    n_translations = position = 0
    for batch in _batches(draft, n_systems=len(systems)):
        n_translations += _store_batch(campaign, systems, batch, media, first_position=position + 1)
        position += len(batch)
        if progress is not None:
            progress(len(batch) * len(systems))
    return n_translations


def _batches(draft: Draft, *, n_systems: int) -> Iterator[list[SegmentTexts]]:
    segments = draft.segments()
    size = max(1, BATCH_OUTPUTS // n_systems)
    while batch := list(itertools.islice(segments, size)):
        yield batch


def _store_batch(
    campaign: Campaign,
    systems: list[System],
    batch: list[SegmentTexts],
    media: dict[str, MediaFile],
    *,
    first_position: int,
) -> int:
    segments = Segment.objects.bulk_create(
        Segment(
            campaign_id=campaign.pk,
            position=position,
            name=texts.name,
            document=texts.document,
            source=texts.source,
            reference=texts.reference,
            second_reference=texts.second_reference,
            media=media.get(texts.media),
            captions=media.get(texts.captions),
        )
        for position, texts in enumerate(batch, start=first_position)
    )
    translations: list[Translation] = []
    # The translation of each output, in the order of the outputs; None where there is none.
    shared: list[Translation | None] = []
    for segment, texts in zip(segments, batch, strict=True):
        by_fingerprint = _translations(segment, texts.outputs, shared, campaign)
        translations.extend(by_fingerprint.values())
    Translation.objects.bulk_create(translations)
    SystemOutput.objects.bulk_create(_outputs(systems, batch, shared))
    return len(translations)


def _translations(
    segment: Segment,
    texts: list[str | None],
    shared: list[Translation | None],
    campaign: Campaign,
) -> dict[bytes, Translation]:
    """Return the distinct translations of a segment, and append each text's translation to `shared`."""
    distinct: dict[bytes, Translation] = {}
    for text in texts:
        if text is None:
            shared.append(None)
            continue
        key = fingerprint(text, near=campaign.merges_near_identical)
        if key not in distinct:
            distinct[key] = Translation(segment_id=segment.pk, text=text, fingerprint=key)
        shared.append(distinct[key])
    return distinct


def _outputs(
    systems: list[System], batch: list[SegmentTexts], shared: list[Translation | None]
) -> Iterator[SystemOutput]:
    translations = iter(shared)
    for texts in batch:
        for system, text in zip(systems, texts.outputs, strict=True):
            if (translation := next(translations)) is None:
                continue
            yield SystemOutput(
                system_id=system.pk,
                segment_id=translation.segment_id,
                translation_id=translation.pk,
                own_text=None if text == translation.text else text,
            )
