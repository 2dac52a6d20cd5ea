"""Gold of documents from the scores that workers gave to whole documents."""

from collections import defaultdict
from dataclasses import replace
from hashlib import sha256

import numpy as np

from hits.models import Campaign, SystemOutput

from ..gold.whole_documents import standardised, whole_scores
from ..models import GoldRun
from .gold_tables import with_fact
from .score_tables import GoldTable, ScoreTable

# The use of a gold run whose workers scored whole documents, too.
WHOLE = "whole"


def whole_document_gold(run: GoldRun) -> GoldTable:
    """Return the mean standardised score of each document of each system, by the workers who are trusted now.

    A document that nobody scored as a whole has none (NaN). A segment without a document is one of its own.
    """
    campaign, found = run.campaign, defaultdict[tuple[str, str], list[float]](list)
    scores = whole_scores(campaign)
    for each, z in zip(scores, standardised(campaign, scores), strict=True):
        if not np.isnan(z):
            found[each.system, each.document].append(float(z))
    outputs = SystemOutput.objects.filter(system__campaign=campaign)
    rows = outputs.order_by("segment__position", "system").values_list(
        "system__name", "segment__document", "segment__name"
    )
    keys = tuple(dict.fromkeys((system, document or segment) for system, document, segment in rows))
    means = [np.mean(found[key]) if key in found else np.nan for key in keys]
    facts = sorted((each.system, each.document, each.worker, each.score) for each in scores)
    return GoldTable(
        name=f"gold {run.number}, whole documents",
        kind="da",
        level="segment",
        keys=keys,
        scores=np.array(means, dtype=np.float64),
        higher_is_better=True,
        signature=with_fact(run.signature, f"use:{WHOLE}"),
        documents=tuple(document for _, document in keys),
        n_ratings=np.array([len(found.get(key, ())) for key in keys], dtype=np.int64),
        notes=(f"Scores of whole documents by workers: {len(scores):,}.",),
        sha256=sha256(repr(facts).encode()).hexdigest(),
    )


def with_documents_of(campaign: Campaign, tables: list[ScoreTable]) -> list[ScoreTable]:
    """Return scores of segments with the document of each, over which they can be averaged."""
    document_of = {
        name: document or name
        for name, document in campaign.segments.values_list("name", "document")
    }
    return [
        replace(table, document_of=document_of) if table.level == "segment" else table
        for table in tables
    ]
