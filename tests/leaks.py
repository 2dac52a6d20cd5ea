"""A classifier that finds out whether anything sent to a browser tells hidden items from genuine ones."""

import uuid
from typing import Any

import numpy as np
from scipy import optimize, stats

# The significance level for real and planted leaks.
ALPHA = 0.001
N_FOLDS = 6


def hashed(value: Any) -> float:
    """Return a hash that is the same in every run."""
    return uuid.uuid5(uuid.NAMESPACE_OID, repr(value)).int % 9973


def scaled(features: np.ndarray) -> np.ndarray:
    """Return features with mean 0 and standard deviation 1; those that never vary become 0."""
    spread = features.std(axis=0)
    return np.asarray((features - features.mean(axis=0)) / np.where(spread > 0, spread, 1))


def fit(features: np.ndarray, labels: np.ndarray, penalty: float = 3.0) -> np.ndarray:
    """Logistic regression with an intercept and a ridge penalty, by L-BFGS."""
    design = np.column_stack([np.ones(len(features)), features])
    signs = np.where(labels, 1.0, -1.0)

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        margins = signs * (design @ weights)
        shrink = np.concatenate([[0.0], weights[1:]])
        slope = -signs / (1 + np.exp(np.clip(margins, -500, 500)))
        value = np.logaddexp(0, -margins).sum() + penalty * (shrink @ shrink) / 2
        return float(value), design.T @ slope + penalty * shrink

    result = optimize.minimize(loss, np.zeros(design.shape[1]), jac=True, method="L-BFGS-B")
    return np.asarray(result.x)


def predicted_odds(features: np.ndarray, labels: np.ndarray, hits: np.ndarray) -> np.ndarray:
    """Predict the log odds that each item is for quality control, trained on other HITs."""
    odds = np.empty(len(labels))
    folds = hits % N_FOLDS
    for fold in range(N_FOLDS):
        held_out = folds == fold
        weights = fit(features[~held_out], labels[~held_out])
        odds[held_out] = weights[0] + features[held_out] @ weights[1:]
    return odds


def rank_sum_pvalue(odds: np.ndarray, labels: np.ndarray, folds: np.ndarray) -> float:
    """Return the p-value of a rank-sum test of whether QC items get higher odds.

    Each fold has its own classifier, so ranks are compared within folds; their rank-sum statistics
    are independent under the null, and their sum is normal.
    """
    excess = variance = 0.0
    for fold in np.unique(folds):
        in_fold = folds == fold
        is_qc_item, n = labels[in_fold], in_fold.sum()
        n_qc, n_genuine = is_qc_item.sum(), (~is_qc_item).sum()
        ranks = stats.rankdata(odds[in_fold])
        excess += ranks[is_qc_item].sum() - n_qc * (n + 1) / 2
        ties = np.unique(ranks, return_counts=True)[1]
        correction = (ties**3 - ties).sum() / (n * (n - 1))
        variance += n_qc * n_genuine / 12 * (n + 1 - correction)
    return float(stats.norm.sf(excess / np.sqrt(variance))) if variance else 1.0
