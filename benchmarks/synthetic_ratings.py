"""Ratings of simulated workers, as arrays."""

import numpy as np

from analysis.stats.quality_control import NO_PARTNER
from analysis.stats.roles import Role

SEED = 20_150_531
HIT_ITEMS = 100
RATERS_PER_HIT = 20
HITS_PER_WORKER = 10

Columns = dict[str, np.ndarray]


def make_ratings(n_ratings: int, rng: np.random.Generator) -> Columns:
    """Return HITs of 100 items (70 genuine, 10 each of the others), rated by honest and careless workers."""
    n_hits = max(1, n_ratings // (HIT_ITEMS * RATERS_PER_HIT))
    n_workers = max(RATERS_PER_HIT, n_hits * RATERS_PER_HIT // HITS_PER_WORKER)
    rater, hit = (grid.ravel() for grid in np.mgrid[0:RATERS_PER_HIT, 0:n_hits])
    worker = (hit + rater * (n_workers // RATERS_PER_HIT)) % n_workers
    order = rng.permutation(len(hit))
    hit, worker = hit[order], worker[order]

    roles = np.repeat(
        [Role.GENUINE, Role.BAD_REFERENCE, Role.REPEAT, Role.REFERENCE], [70, 10, 10, 10]
    )
    partners = np.concatenate([np.full(70, NO_PARTNER), np.arange(30)])
    item_order = rng.permutation(HIT_ITEMS)
    translation = np.where(partners == NO_PARTNER, np.arange(HIT_ITEMS), partners)

    def by_item(values: np.ndarray) -> np.ndarray:
        return np.tile(values[item_order], len(hit))

    columns = {
        "workers": np.repeat(worker, HIT_ITEMS),
        "roles": by_item(roles),
        "assignments": np.repeat(np.arange(len(hit)), HIT_ITEMS),
        "items": (hit[:, None] * HIT_ITEMS + item_order).ravel(),
        "partners": np.where(
            partners == NO_PARTNER, NO_PARTNER, hit[:, None] * HIT_ITEMS + partners
        )[:, item_order].ravel(),
        "translations": (hit[:, None] * 70 + translation[item_order]).ravel(),
    }
    columns["scores"] = make_scores(columns, n_workers, rng)
    return columns


def make_scores(columns: Columns, n_workers: int, rng: np.random.Generator) -> np.ndarray:
    quality = rng.normal(60, 18, int(columns["translations"].max()) + 1)
    is_honest = rng.random(n_workers) < 0.6
    shift = np.select(
        [columns["roles"] == Role.BAD_REFERENCE, columns["roles"] == Role.REFERENCE],
        [-20.0, 30.0],
        0.0,
    )
    scores = rng.normal(rng.normal(0, 8, n_workers)[columns["workers"]], 15)
    scores += np.where(
        is_honest[columns["workers"]], quality[columns["translations"]] + shift, 55.0
    )
    return np.clip(np.rint(scores), 0, 100)
