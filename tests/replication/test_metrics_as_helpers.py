"""WMT23 English to German: a fifth of the outputs is rated, and a metric helps to score the systems on all."""

from dataclasses import dataclass

import numpy as np
import pytest

from analysis.stats.control_variates import Outputs, scores_for_all_segments
from analysis.stats.system_covariance import reach
from tests.replication.locating import replication_data
from tests.replication.test_wmt23 import read_scores

N_SAMPLES, SHARE = 400, 0.2
pytestmark = pytest.mark.xdist_group("wmt23")


@dataclass(frozen=True)
class Errors:
    """Root mean squares of errors of differences between systems, and how often their intervals contain the truth."""

    plain: float
    helped: float
    bias: float
    noise: float
    covers: float
    promised: float


def errors_with(metric: str) -> Errors:
    """Draw samples of MQM scores and compare system scores with the means over all outputs."""
    folder = replication_data("wmt23-mtme", "wmt23")
    human = read_scores(folder / "human-scores" / "en-de.mqm.seg.score")
    scores = read_scores(folder / "metric-scores" / "en-de" / f"{metric}.seg.score")
    systems = sorted(name for name in human if name in scores and not name.startswith("ref"))
    quality, helper = (np.array([each[name] for name in systems]).T for each in (human, scores))
    has_both = ~np.isnan(quality).any(axis=1)
    quality, helper = quality[has_both], helper[has_both]
    quality -= quality.mean()
    truth = quality.mean(axis=0)
    n_segments, n_systems = quality.shape
    every = np.arange(quality.size)
    upper = np.triu_indices(n_systems, 1)
    found: dict[str, list] = {"plain": [], "covariance": [], "covers": [], "gain": []}
    for seed in range(N_SAMPLES):
        rng = np.random.default_rng(seed)
        rated = np.sort(rng.permutation(quality.size)[: int(SHARE * quality.size)])
        for_all = scores_for_all_segments(
            quality.ravel()[rated],
            # The scores of twenty raters, whose scales are alike.
            np.arange(len(rated)) % 20,
            rated,
            rated // n_systems,
            np.ones(len(rated), dtype=bool),
            outputs=Outputs(
                every,
                every % n_systems,
                every // n_systems,
                np.isin(every, rated),
                helper.ravel(),
            ),
            rng=rng,
        )
        for name in ("plain", "covariance"):
            error = getattr(for_all, name).scores - truth
            found[name].append((error[:, None] - error)[upper])
        se, df = (part[upper] for part in for_all.covariance.difference_errors())
        found["covers"].append(np.mean(np.abs(found["covariance"][-1]) <= reach(df, 0.95) * se))
        found["gain"].append(for_all.gain)
    plain, helped = np.array(found["plain"]), np.array(found["covariance"])
    return Errors(
        plain=float(np.sqrt(np.mean(plain**2))),
        helped=float(np.sqrt(np.mean(helped**2))),
        bias=float(np.abs(helped.mean(axis=0)).max()),
        noise=float((helped.std(axis=0) / np.sqrt(N_SAMPLES)).max()),
        covers=float(np.mean(found["covers"])),
        promised=float(np.mean(found["gain"])),
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("metric", "least", "most"), [("XCOMET-Ensemble-refA", 1.3, 2.0), ("BLEU-refA", 1.0, 1.25)]
)
def test_a_metric_makes_differences_surer_and_not_biased(metric, least, most):
    errors = errors_with(metric)
    assert least < (errors.plain / errors.helped) ** 2 < most
    assert errors.bias < 4 * errors.noise
    # Intervals are for other segments too; these ones alone vary less.
    assert 0.95 < errors.covers < 0.99
