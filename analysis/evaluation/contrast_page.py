"""Two scores of a stored evaluation against each other, with the texts on which they contradict each other."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import QuerySet

from da_platform.plots.rendering import Picture, to_csv
from hits.models import Assignment, Campaign, Rating, SystemOutput

from ..models import Evaluation, GoldRun, GoldUpload
from ..plots.quadrants import quadrants
from ..scores.score_tables import Key, segment_of_output, shown
from ..stats.roles import SCORED_ROLES
from .contrasts import Pairs, chosen_pairs
from .results import Contradiction, Contrast, EvaluationResult
from .stored_evaluations import result_of, rows_of

COLUMNS = (
    "system",
    "segment",
    "first",
    "second",
    "first_z",
    "second_z",
    "source",
    "reference",
    "output",
    "post_edition",
    "ratings",
    "own_reference",
    "own_ratings",
)


@dataclass(frozen=True, slots=True)
class Texts:
    """What is known of one translation. `ratings` are single ratings by trusted workers, from 0 to 100.

    `own_ratings` are those against `own_reference`, in another campaign whose gold was brought back.
    """

    source: str = ""
    reference: str = ""
    output: str = ""
    post_edition: str = ""
    ratings: tuple[int, ...] = ()
    own_reference: str = ""
    own_ratings: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownContradiction:
    scores: Contradiction
    texts: Texts

    @property
    def cells(self) -> tuple[object, ...]:
        """The values of `COLUMNS`."""
        row, texts = self.scores, self.texts
        return (
            *(row.system, row.segment, row.first, row.second, row.first_z, row.second_z),
            *(texts.source, texts.reference, texts.output, texts.post_edition),
            " ".join(map(str, texts.ratings)),
            texts.own_reference,
            " ".join(map(str, texts.own_ratings)),
        )


def default_names(result: EvaluationResult) -> tuple[str, str] | None:
    """Return the first two golds, or the gold and its best metric; None without segment scores."""
    golds = [gold for gold in result.golds if gold.segment]
    if not golds:
        return None
    second = golds[1].gold.name if len(golds) > 1 else golds[0].segment[0].metric
    return golds[0].gold.name, second


def pairs_of(evaluation: Evaluation, first: str, second: str) -> Pairs:
    """Load two scores of an evaluation.

    Raises
    ------
    ContrastRefused
        If there are no such scores, or too few translations have both.
    EvaluationRefused
        If they have been replaced since.
    """
    result = result_of(evaluation)
    return chosen_pairs(
        result, first, second, lambda gold, metric: rows_of(evaluation, gold, [metric])
    )


def picture_of(pairs: Pairs) -> Picture:
    """Plot both scores in four quadrants."""
    return quadrants(pairs.names, *pairs.z, [shown(key) for key in pairs.keys])


def with_texts(
    evaluation: Evaluation, contradictions: Sequence[Contradiction]
) -> list[ShownContradiction]:
    """Add texts and single ratings, which only campaigns have."""
    keys = [(row.system, row.segment) for row in contradictions]
    is_segment = result_of(evaluation).options.level == "segment"
    texts: dict[Key, Texts] = {}
    if evaluation.campaign and is_segment:
        uploads = [facts["upload"] for facts in evaluation.golds if "upload" in facts]
        texts = texts_of(evaluation.campaign, keys, uploads)
    return [
        ShownContradiction(row, texts.get(key, Texts()))
        for row, key in zip(contradictions, keys, strict=True)
    ]


def texts_of(
    campaign: Campaign, keys: Iterable[Key], uploads: Sequence[str] = ()
) -> dict[Key, Texts]:
    """Return the texts of some outputs, their post-editions and the ratings they got.

    `uploads` are codes of gold: those that were brought back from other campaigns have own references and ratings.
    """
    wanted = set(keys)
    outputs = {
        (output.system.name, output.segment.name): output
        for output in SystemOutput.objects.filter(
            system__campaign=campaign, segment__name__in={segment for _, segment in wanted}
        ).select_related("system", "segment", "translation")
    }
    outputs = {key: output for key, output in outputs.items() if key in wanted}
    ratings = _ratings(campaign, {output.translation_id for output in outputs.values()})
    edited = _post_editions(campaign, wanted)
    own = _own_references(campaign, wanted, uploads)
    return {
        key: Texts(
            source=output.segment.source,
            reference=output.segment.reference,
            output=str(output),
            post_edition=edited.get(key, ""),
            ratings=tuple(ratings[output.translation_id]),
            own_reference=own.references.get(key, ""),
            own_ratings=own.ratings.get(key, ()),
        )
        for key, output in outputs.items()
    }


def _ratings(campaign: Campaign, translations: set[int]) -> Mapping[int, list[int]]:
    """Return the single ratings of translations by trusted workers, in order of time."""
    trusted = campaign.participations.trusted()
    rows = (
        Rating.objects.filter(
            assignment__in=Assignment.objects.counted(),
            assignment__hit__campaign=campaign,
            assignment__worker__in=trusted.values("worker"),
            item__translation__in=translations,
            item__role__in=SCORED_ROLES,
        )
        .order_by("received_at", "assignment")
        .values_list("item__translation", "score")
    )
    ratings: dict[int, list[int]] = defaultdict(list)
    for translation, score in rows:
        ratings[translation].append(score)
    return ratings


def _post_editions(campaign: Campaign, keys: set[Key]) -> dict[Key, str]:
    """Return the post-editions stored with gold computed from them, the latest if there are several."""
    texts: dict[Key, str] = {}
    for upload in _with_texts(campaign).exclude(kind=GoldUpload.Kind.DA):
        texts |= _texts_in(upload, keys)
    return texts


@dataclass(frozen=True, slots=True)
class _Own:
    """The references that outputs have of their own, and the ratings against them."""

    references: dict[Key, str] = field(default_factory=dict)
    ratings: dict[Key, tuple[int, ...]] = field(default_factory=dict)


def _own_references(campaign: Campaign, keys: set[Key], uploads: Sequence[str]) -> _Own:
    """Return what is stored with gold brought back from other campaigns, the latest if there are several."""
    own = _Own()
    for upload in _with_texts(campaign).filter(kind=GoldUpload.Kind.DA, code__in=uploads):
        own.references.update(_texts_in(upload, keys))
        # Gold brought back by an earlier version does not say from which run.
        run = GoldRun.objects.filter(code=upload.table.get("run")).select_related("campaign")
        if rated := run.first():
            own.ratings.update(_ratings_against_own(rated.campaign, keys))
    return own


def _ratings_against_own(rated: Campaign, keys: set[Key]) -> dict[Key, tuple[int, ...]]:
    names = {(key[0], segment_of_output(key)): key for key in keys}
    outputs = SystemOutput.objects.filter(
        system__campaign=rated, segment__name__in={segment for _, segment in names}
    )
    rows = outputs.values_list("system__name", "segment__name", "translation_id")
    translations = {
        names[system, segment]: translation
        for system, segment, translation in rows
        if (system, segment) in names
    }
    ratings = _ratings(rated, set(translations.values()))
    return {key: tuple(ratings[translation]) for key, translation in translations.items()}


def _with_texts(campaign: Campaign) -> QuerySet[GoldUpload]:
    return GoldUpload.objects.filter(campaign=campaign, table__has_key="text").order_by("pk")


def _texts_in(upload: GoldUpload, keys: set[Key]) -> dict[Key, str]:
    table = upload.table
    stored = zip(zip(table["system"], table["segment"], strict=True), table["text"], strict=True)
    return {key: text for key, text in stored if key in keys}


def contradictions_csv(contrasted: Contrast, rows: Sequence[ShownContradiction]) -> bytes:
    """Return the contradictions with their texts; the titles name both scores."""
    first, second = contrasted.first, contrasted.second
    titles = [*COLUMNS[:2], first, second, f"{first} z", f"{second} z", *COLUMNS[6:]]
    return to_csv(titles, [row.cells for row in rows])
