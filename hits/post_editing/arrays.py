"""From post-editions to rows: for the evidence about an editor, and for those who analyse them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from django.db.models import Q, QuerySet
from numpy.typing import NDArray

from analysis.stats.quality_control import NO_PARTNER
from analysis.stats.roles import Role

from ..languages import is_spaced
from ..models import Assignment, Campaign, Participation, PostEdition, SystemOutput
from ..rating.places import with_standing
from .changes import n_edits, share_changed
from .checked import Check, Edition, checks_of

CHUNK_ROWS = 2_000


def score_of(shown: str, edited: str, *, spaced: bool) -> int:
    """Return the share of a text that was kept, from 0 to 100: an editor's judgement of how good it was."""
    return round(100 * (1 - share_changed(shown, edited, spaced=spaced)))


def counted_edits(participation: Participation) -> QuerySet[PostEdition]:
    """The post-editions in the worker's counted HITs of a campaign."""
    edits = PostEdition.objects.filter(
        assignment__hit__campaign=participation.campaign_id,
        assignment__worker=participation.worker_id,
        assignment__in=Assignment.objects.counted().of(participation),
    )
    return edits.exclude(assignment__hold__in=Assignment.NOT_COUNTED)


def load_worker_edits(participation: Participation) -> NDArray[Any]:
    """Load one worker's counted post-editions, as `rating.arrays.load_worker_ratings` loads ratings.

    `score` is the share of the text that was kept. `pair_score` differs for degraded items and their partners: the
    edits from the editor's text to the original, and to the degraded text, in percent of those between the two.
    An editor who repairs a degraded text ends nearer to the original, however much else they correct. The difference is
    between -100 (repaired) and 100 (left as it was), so that no single text outweighs all others.
    """
    spaced = is_spaced(participation.campaign.target_language)
    rows: list[tuple[Any, ...]] = []
    pair_scores: dict[tuple[int, int], float] = {}
    for edit in counted_edits(participation).select_related("item__partner"):
        item = edit.item
        score = score_of(item.text, edit.text, spaced=spaced)
        key = (edit.assignment_id, item.pk)
        pair_scores.setdefault(key, float(score))
        if item.role == Role.BAD_REFERENCE and item.partner:
            original = item.partner.text
            # A text that differs only in spaces does not count either way.
            per_edit = 100 / max(1, n_edits(original, item.text, spaced=spaced))
            pair_scores[key] = per_edit * n_edits(edit.text, original, spaced=spaced)
            partner = (edit.assignment_id, item.partner.pk)
            pair_scores[partner] = per_edit * n_edits(edit.text, item.text, spaced=spaced)
        seconds = edit.field_ms if edit.field_ms is not None else edit.active_ms
        rows.append(
            (
                edit.assignment_id,
                item.position,
                item.pk,
                NO_PARTNER if item.partner_id is None else item.partner_id,
                item.role,
                score,
                edit.received_at.timestamp(),
                np.nan if seconds is None else seconds / 1000,
            )
        )
    ints = ("assignment", "position", "item", "partner", "role", "score")
    floats = ("received", "claimed", "pair_score")
    return np.array(
        [(*row, pair_scores[row[0], row[2]]) for row in sorted(rows)],
        dtype=[*((name, "i8") for name in ints), *((name, "f8") for name in floats)],
    )


def load_edit_scores(assignments: Mapping[int, int]) -> NDArray[Any]:
    """Load the share kept of every item of these assignments, given with their workers."""
    edits = PostEdition.objects.filter(assignment__in=list(assignments))
    rows = edits.values_list(
        "assignment_id", "item_id", "item__text", "text", "item__hit__campaign__target_language"
    )
    columns = [("assignment", "i8"), ("item", "i8"), ("score", "i8"), ("worker", "i8")]
    return np.array(
        [
            (pk, item, score_of(shown, text, spaced=is_spaced(code)), assignments[pk])
            for pk, item, shown, text, code in rows
        ],
        dtype=columns,
    )


@dataclass(frozen=True, slots=True)
class EditedOutput:
    """One post-edition of a campaign, with everything that an analysis of it needs.

    `systems` are the names of the systems that gave the text shown. `is_trusted` says whether the editor's work
    counts. Times are in seconds, None if the browser sent none. `check` is what another trusted worker made of it.
    """

    assignment: int
    item: int
    worker: int
    worker_code: str
    is_trusted: bool
    role: Role
    translation: int
    segment: str
    document: str
    systems: tuple[str, ...]
    source: str
    reference: str
    shown: str
    text: str
    seconds: float | None
    keys: int | None
    pastes: int | None
    pasted: int | None
    received_at: datetime
    check: Check | None = None

    @property
    def final(self) -> str:
        """The text after the check, if there was one."""
        return self.text if self.check is None else self.check.text


def edits_of(
    campaign: Campaign, *, roles: tuple[Role, ...] = (Role.GENUINE,), search: str = ""
) -> QuerySet[PostEdition]:
    """The post-editions in counted HITs, by segment and editor; by default, of genuine items alone.

    `search` is the name of a segment or a system.
    """
    edits = PostEdition.objects.filter(
        assignment__in=Assignment.objects.counted().filter(hit__campaign=campaign),
        item__role__in=[*map(int, roles)],
    )
    if search:
        outputs = SystemOutput.objects.filter(system__campaign=campaign)
        found = outputs.filter(Q(system__name=search) | Q(segment__name=search))
        edits = edits.filter(item__translation__in=found.values("translation"))
    return edits.select_related("item__translation__segment", "assignment__worker").order_by(
        "item__translation__segment__position", "item__translation", "assignment", "item"
    )


def load_edited_outputs(
    campaign: Campaign, *, trusted_only: bool = False, roles: tuple[Role, ...] = (Role.GENUINE,)
) -> Iterator[EditedOutput]:
    """Yield the post-editions in counted HITs, as `edits_of` orders them."""
    facts = _Facts.of(
        SystemOutput.objects.filter(system__campaign=campaign),
        Assignment.objects.counted().filter(hit__campaign=campaign),
        checks_of(campaign),
    )
    for edit in edits_of(campaign, roles=roles).iterator(chunk_size=CHUNK_ROWS):
        if not trusted_only or edit.assignment_id in facts.trusted:
            yield facts.output_of(edit)


def edited_outputs(campaign: Campaign, edits: Sequence[PostEdition]) -> list[EditedOutput]:
    """Return a few post-editions of `edits_of`, such as those on a page, without loading the others."""
    assignments = {edit.assignment_id for edit in edits}
    translations = {edit.item.translation_id for edit in edits}
    facts = _Facts.of(
        SystemOutput.objects.filter(system__campaign=campaign, translation__in=translations),
        Assignment.objects.counted().filter(pk__in=assignments),
        checks_of(campaign, assignments),
    )
    return [facts.output_of(edit) for edit in edits]


@dataclass(frozen=True, slots=True)
class _Facts:
    """What a post-edition does not say itself: the systems of its output, whether it counts, and its check."""

    systems: Mapping[int, Sequence[str]]
    trusted: frozenset[int]
    checks: Mapping[Edition, Check]

    @classmethod
    def of(
        cls,
        outputs: QuerySet[SystemOutput],
        assignments: QuerySet[Assignment],
        checks: Mapping[Edition, Check],
    ) -> "_Facts":
        systems: defaultdict[int, list[str]] = defaultdict(list)
        rows = outputs.order_by("system").values_list("translation_id", "system__name")
        for translation, name in rows:
            systems[translation].append(name)
        trusted = with_standing(assignments).filter(is_trusted=True).values_list("pk", flat=True)
        return cls(systems, frozenset(trusted), checks)

    def output_of(self, edit: PostEdition) -> EditedOutput:
        item, segment = edit.item, edit.item.translation.segment
        milliseconds = edit.field_ms if edit.field_ms is not None else edit.active_ms
        return EditedOutput(
            assignment=edit.assignment_id,
            item=edit.item_id,
            worker=edit.assignment.worker_id,
            worker_code=str(edit.assignment.worker.code),
            is_trusted=edit.assignment_id in self.trusted,
            role=Role(item.role),
            translation=item.translation_id,
            segment=segment.name,
            document=segment.document,
            systems=tuple(self.systems.get(item.translation_id, ())),
            source=segment.source,
            reference=segment.reference,
            shown=item.text,
            text=edit.text,
            seconds=None if milliseconds is None else milliseconds / 1000,
            keys=edit.keys,
            pastes=edit.pastes,
            pasted=edit.pasted,
            received_at=edit.received_at,
            check=self.checks.get((edit.assignment_id, edit.item_id)),
        )
