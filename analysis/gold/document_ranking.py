"""The systems of a campaign from best to worst by documents, each of which counts once however long it is."""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from hits.models import Campaign
from hits.rating.arrays import Ids

from ..models import GoldRun
from ..stats.signature import join_signatures, signature
from ..stats.systems import Test, compare_systems, system_scores
from .gold_arrays import GoldArrays
from .ranking import SystemRanking, scored_outputs
from .runs import gold_scores
from .whole_documents import standardised, whole_scores

Floats = NDArray[np.float64]
# What a document's score is: the mean over its segments, or what workers gave to the whole.
MEANS, WHOLE = "document", "whole-document"
UNITS = ("segment", MEANS, WHOLE)
_RANKED_BY = {
    MEANS: "mean z over documents, each the mean of its complete segments",
    WHOLE: "mean z over documents, each the mean of its scores as a whole",
}


@dataclass(frozen=True, slots=True)
class _Documents:
    """One row for each document of each system."""

    systems: NDArray[np.str_]
    documents: Ids
    raw: Floats
    z: Floats
    n_ratings: Ids


def rank_by_documents(
    run: GoldRun, *, unit: str = MEANS, gold: GoldArrays | None = None, test: Test | None = None
) -> SystemRanking | None:
    """Rank the systems by scores of documents: `document` or `whole-document`; None if there are none.

    Intervals and tests are over documents. Segments without a document are left out.
    """
    scores = _of_whole(run.campaign) if unit == WHOLE else _of_segments(run, gold)
    if not len(scores.z):
        return None
    systems = system_scores(scores.raw, scores.z, scores.n_ratings, scores.systems)
    comparison = compare_systems(
        scores.z, scores.systems, scores.documents, test=cast(Test, test or run.test)
    )
    n_documents = run.campaign.segments.exclude(document="").values("document").distinct().count()
    return SystemRanking(
        scores=systems,
        comparison=comparison,
        n_incomplete=n_documents - systems.n_segments,
        has_workers=False,
        signature=join_signatures(
            run.signature, systems.signature, comparison.signature, signature(unit=unit)
        ),
        unit="documents",
        paired_over="documents",
        ranked_by=_RANKED_BY[unit],
    )


def rankings_by_documents(run: GoldRun) -> list[SystemRanking]:
    """Return every ranking by documents that there is: by their means and, if workers scored the whole, by that."""
    units = (MEANS, WHOLE) if run.campaign.scores_documents else (MEANS,)
    return [ranking for unit in units if (ranking := rank_by_documents(run, unit=unit))]


def _of_segments(run: GoldRun, gold: GoldArrays | None) -> _Documents:
    gold = gold or gold_scores(run)
    rows, systems, segments = scored_outputs(run, gold)
    document_of = _document_numbers(run.campaign)
    documents = np.array([document_of.get(pk, -1) for pk in segments.tolist()], dtype=np.int64)
    has_document = documents >= 0
    rows, systems, documents = rows[has_document], systems[has_document], documents[has_document]
    return _averaged(
        systems, documents, gold.raw[rows], gold.z[rows], gold.n_ratings[rows].astype(np.int64)
    )


def _of_whole(campaign: Campaign) -> _Documents:
    given = whole_scores(campaign)
    names = sorted({each.document for each in given})
    z = standardised(campaign, given)
    is_known = ~np.isnan(z)
    return _averaged(
        np.array([each.system for each in given], dtype=np.str_)[is_known],
        np.array([names.index(each.document) for each in given], dtype=np.int64)[is_known],
        np.array([each.score for each in given], dtype=float)[is_known],
        z[is_known],
        np.ones(int(is_known.sum()), dtype=np.int64),
    )


def _averaged(
    systems: NDArray[np.str_], documents: Ids, raw: Floats, z: Floats, n_ratings: Ids
) -> _Documents:
    """Average the scores of each document of each system."""
    names, codes = np.unique(systems, return_inverse=True)
    keys, group = np.unique(np.stack([codes, documents]), axis=1, return_inverse=True)
    n = np.bincount(group.ravel())

    def total(values: NDArray[Any]) -> Floats:
        return np.bincount(group.ravel(), weights=values).astype(np.float64)

    return _Documents(
        systems=names[keys[0]],
        documents=keys[1],
        raw=total(raw) / n,
        z=total(z) / n,
        n_ratings=total(n_ratings).astype(np.int64),
    )


def _document_numbers(campaign: Campaign) -> dict[int, int]:
    """Return a number for the document of each segment that has one."""
    segments = campaign.segments.exclude(document="").order_by("position")
    numbers: dict[str, int] = {}
    return {
        pk: numbers.setdefault(name, len(numbers))
        for pk, name in segments.values_list("pk", "document")
    }
