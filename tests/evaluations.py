"""Small sets of scores, gold and evaluations for tests of pages."""

from typing import Any

import numpy as np
from django.contrib.auth.models import User

from analysis.evaluation.stored_evaluations import evaluate_campaign, evaluate_collection
from analysis.evaluation.uploading import GoldReading, store_uploaded_gold, store_uploaded_scores
from analysis.models import Evaluation, GoldRun, GoldScore, ScoreCollection
from analysis.scores.gold_tables import campaign_gold
from analysis.scores.raw_files import RawFile
from analysis.scores.score_tables import ScoreTable
from analysis.scores.storing import ScoreSource, store_scores
from hits.models import Campaign, Translation
from tests.factories import make_campaign, make_translations

N_SEGMENTS = 9
SYSTEMS = ("A", "B", "C", "D")


def make_gold_run(campaign: Campaign, seed: int = 1) -> GoldRun:
    """Make random gold for every translation."""
    rng = np.random.default_rng(seed)
    translations = Translation.objects.filter(segment__campaign=campaign).order_by("pk")
    run = GoldRun.objects.create(
        campaign=campaign,
        number=campaign.gold_runs.count() + 1,
        minimum=3,
        n_workers=3,
        n_workers_trusted=3,
        n_ratings=9,
        n_scored=len(translations),
        n_incomplete=0,
        input_digest=f"{seed}".rjust(64, "0"),
        signature=f"gold:test|seed:{seed}|version:1",
    )
    zs = rng.normal(size=len(translations)).tolist()
    GoldScore.objects.bulk_create(
        GoldScore(
            run=run,
            translation=translation,
            z=z,
            raw=50 + 20 * z,
            n=3,
            n_ratings=3,
            is_complete=True,
        )
        for translation, z in zip(translations, zs, strict=True)
    )
    return run


def make_scored_campaign(**fields: Any) -> Campaign:
    """A campaign with gold and two metrics, `good` and `poor`."""
    campaign = make_campaign(**fields)
    make_translations(campaign, n_segments=14)
    gold = campaign_gold(make_gold_run(campaign))
    rng = np.random.default_rng(3)
    for name, noise in (("good", 0.2), ("poor", 4)):
        scores = gold.scores + noise * rng.normal(size=len(gold.keys))
        table = ScoreTable(name, "segment", gold.keys, scores, True, sha256=name.ljust(64, "0"))
        store_scores(table=table, home=campaign, source=ScoreSource())
    return campaign


def score_lines(*names: str, seed: int = 2) -> str:
    """A table of metrics, each a noisier copy of the gold than the last."""
    rng = np.random.default_rng(seed)
    gold = np.random.default_rng(1).random(N_SEGMENTS * len(SYSTEMS))
    columns = [gold + 0.05 * (1 + 20 * i) * rng.random(len(gold)) for i in range(len(names))]
    return _lines(names, columns)


def gold_lines() -> str:
    return _lines(("gold",), [np.random.default_rng(1).random(N_SEGMENTS * len(SYSTEMS))])


def _lines(names: tuple[str, ...], columns: list[np.ndarray]) -> str:
    keys = [(system, i) for system in SYSTEMS for i in range(1, N_SEGMENTS + 1)]
    rows = [
        "\t".join([system, str(segment), *(f"{column[place]:.6f}" for column in columns)])
        for place, (system, segment) in enumerate(keys)
    ]
    return "\n".join(["\t".join(["system", "segment", *names]), *rows]) + "\n"


def make_collection(owner: User | None = None, *names: str) -> ScoreCollection:
    """A collection with gold and metrics whose directions the file declares."""
    collection = ScoreCollection.objects.create(name="from elsewhere", owner=owner)
    titles = names or ("good:higher", "poor:higher")
    scores = RawFile("scores.tsv", score_lines(*titles).encode())
    store_uploaded_scores(files=[scores], home=collection, uploaded_by=owner)
    gold = RawFile("gold.tsv", gold_lines().encode())
    store_uploaded_gold(
        files=[gold], home=collection, reading=GoldReading("da", True), uploaded_by=owner
    )
    return collection


def make_collection_evaluation(owner: User | None = None) -> Evaluation:
    return evaluate_collection(collection=make_collection(owner), created_by=owner)


def make_campaign_evaluation(campaign: Campaign | None = None) -> Evaluation:
    return evaluate_campaign(campaign=campaign or make_scored_campaign())
