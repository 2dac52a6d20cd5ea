"""What the browser gets of a screen says nothing about what is hidden on it."""

import json
import uuid

import numpy as np
import pytest

from analysis.stats.roles import Role
from hits.models import Assignment
from hits.task_kinds import kind_of
from tests.hits.test_secrecy import ALPHA, N_FOLDS, predicted_odds, rank_sum_pvalue

from .campaigns import side_campaign

pytestmark = pytest.mark.django_db


def outputs_sent(campaign):
    """Return HIT, numbers and role of every output that a worker gets."""
    kind, rows = kind_of(campaign), []
    for hit in campaign.hits.all():
        roles = {str(code): role for code, role in hit.items.values_list("code", "role")}
        assignment = Assignment(hit=hit, code=uuid.uuid4())
        for screen in kind.screens(assignment, first=1, last=kind.n_screens(hit)):
            texts = [screen["above"], *(output["text"] for output in screen["outputs"])]
            size = len(json.dumps(screen)) - sum(len(json.dumps(text)) for text in texts)
            for place, output in enumerate(screen["outputs"]):
                code = uuid.UUID(output["code"])
                bits = [(byte >> bit) & 1 for byte in code.bytes for bit in range(8)]
                numbers = [place, len(screen["outputs"]), screen["position"], size, *bits]
                rows.append((hit.pk, numbers, roles[output["code"]]))
    return rows


def leak(rows, labels):
    features = np.array([numbers for _, numbers, _ in rows], dtype=float)
    spread = features.std(axis=0)
    features = (features - features.mean(axis=0)) / np.where(spread > 0, spread, 1)
    hits = np.unique([hit for hit, _, _ in rows], return_inverse=True)[1]
    return rank_sum_pvalue(predicted_odds(features, labels, hits), labels, hits % N_FOLDS)


def assert_secret(rows, labels):
    assert leak(rows, labels) > ALPHA
    planted = [
        (hit, [*numbers[:-1], int(is_hidden)], own)
        for (hit, numbers, own), is_hidden in zip(rows, labels, strict=True)
    ]
    assert leak(planted, labels) < ALPHA


def test_a_classifier_cannot_tell_which_screens_are_hidden():
    rows = outputs_sent(side_campaign(n_segments=110, n_systems=5))
    # One of each screen, since what its outputs share is not independent.
    rows = [row for row in rows if row[1][0] == 0]
    assert len(rows) > 180
    assert_secret(rows, np.array([role != Role.GENUINE.value for *_, role in rows]))


def test_a_classifier_cannot_tell_which_output_is_degraded():
    rows = outputs_sent(side_campaign(n_segments=110, n_systems=5))
    # Of hidden screens of one size: on a smaller one, each is likelier to be degraded.
    rows = [row for row in rows if row[2] != Role.GENUINE.value and row[1][1] == 3]
    assert len(rows) > 100
    assert_secret(rows, np.array([role == Role.BAD_REFERENCE.value for *_, role in rows]))
