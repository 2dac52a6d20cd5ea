"""The canary: an instruction that only a program reading the page's source would follow."""

import re
from collections import Counter
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from django.test import Client, override_settings
from scipy import stats

from analysis.stats.roles import Role
from hits.models import Assignment, Campaign, InputSignals
from hits.post_editing.saving import save_edit
from hits.rating.canary import canary_of
from hits.task_kinds import TaskKind
from tests.factories import make_hits, rate
from tests.hits.worker.steps import enter, page, post_rating, take

HIDDEN = re.compile(r'<p hidden aria-hidden="true" lang="en" dir="ltr">(.*?)</p>')


def assignment_like(number: int, size: int = 100) -> Any:
    rng = np.random.default_rng(number)
    hit = SimpleNamespace(size=size, campaign=Campaign())
    return SimpleNamespace(code=UUID(bytes=rng.bytes(16)), hit=hit)


def begin(client: Client, **fields: Any) -> Assignment:
    campaign = make_hits(**{"has_canary": True} | fields)
    enter(client, campaign)
    return take(client, campaign)


def do(client: Client, assignment: Assignment, *, score: int | None = None) -> InputSignals:
    """Rate with 50 everywhere but at the canary's item, and submit."""
    canary = canary_of(assignment)
    for item in assignment.hit.items.order_by("position"):
        follows = score is not None and item.position == canary.position
        rate(assignment, item, score=score if follows else 50)
    client.post(page("finish", assignment.code))
    return InputSignals.objects.get(assignment=assignment)


def test_it_is_the_same_for_an_assignment_and_differs_between_them():
    assert canary_of(assignment_like(1)) == canary_of(assignment_like(1))
    canaries = [canary_of(assignment_like(number)) for number in range(300)]
    assert len(set(canaries)) > 280


def test_it_depends_on_the_secret_key():
    before = canary_of(assignment_like(1))
    with override_settings(SECRET_KEY="another key"):  # pragma: allowlist secret
        assert canary_of(assignment_like(1)) != before


def test_every_position_and_score_is_equally_likely():
    canaries = [canary_of(assignment_like(number, size=40)) for number in range(4_000)]
    positions = Counter(canary.position for canary in canaries)
    assert set(positions) == set(range(1, 41))
    assert stats.chisquare(list(positions.values())).pvalue > 0.001
    scores = Counter(canary.score for canary in canaries)
    assert set(scores) == set(TaskKind.canary_scores)
    assert stats.chisquare(list(scores.values())).pvalue > 0.001


@pytest.mark.django_db
def test_it_is_as_often_about_a_hidden_item_as_about_any_other():
    """Neither the item nor the score that it asks for tells anything about the role."""
    hit = make_hits(n_segments=35, hit_size=100).hits.get()
    roles = dict(hit.items.values_list("position", "role"))
    rng = np.random.default_rng(7)
    canaries = [
        canary_of(Assignment(code=UUID(bytes=rng.bytes(16)), hit=hit)) for _ in range(5_000)
    ]
    counts = Counter(roles[canary.position] for canary in canaries)
    shares = Counter(roles.values())
    assert len(shares) >= 3
    expected = [len(canaries) * shares[role] / len(roles) for role in sorted(shares)]
    assert stats.chisquare([counts[role] for role in sorted(shares)], expected).pvalue > 0.001
    scores = {
        is_genuine: [
            canary.score
            for canary in canaries
            if (roles[canary.position] == Role.GENUINE) == is_genuine
        ]
        for is_genuine in (True, False)
    }
    assert stats.ks_2samp(scores[True], scores[False]).pvalue > 0.001


@pytest.mark.django_db
def test_it_is_on_the_page_but_hidden_and_not_among_the_items(client):
    assignment = begin(client)
    shown = client.get(page("rate", assignment.code)).content.decode()
    instruction = canary_of(assignment).instruction
    assert HIDDEN.findall(shown) == [instruction]
    assert shown.count(instruction) == 1
    answer = post_rating(client, assignment, 1)
    assert set(answer.json()) == {"saved", "score", "next", "items"}
    assert instruction not in answer.content.decode()


@pytest.mark.django_db
def test_it_is_the_same_on_every_page_of_a_hit(client):
    assignment = begin(client)
    first = client.get(page("rate", assignment.code)).content.decode()
    post_rating(client, assignment, 1)
    second = client.get(page("rate", assignment.code)).content.decode()
    assert HIDDEN.findall(first) == HIDDEN.findall(second)


@pytest.mark.django_db
def test_a_campaign_has_none_unless_it_asks_for_one(client):
    campaign = make_hits()
    enter(client, campaign)
    assignment = take(client, campaign)
    assert not HIDDEN.search(client.get(page("rate", assignment.code)).content.decode())
    assert do(client, assignment, score=77).followed_canary is None


@pytest.mark.django_db
def test_a_program_that_follows_it_is_noted(client):
    assignment = begin(client)
    assert do(client, assignment, score=canary_of(assignment).score).followed_canary is True


@pytest.mark.django_db
def test_someone_who_does_not_follow_it_is_noted_too(client):
    # 50 is never asked for.
    assert do(client, begin(client)).followed_canary is False


@pytest.mark.django_db
def test_it_is_noted_even_if_the_campaign_records_no_input(client):
    assignment = begin(client, records_signals=False)
    signals = do(client, assignment, score=canary_of(assignment).score)
    assert (signals.followed_canary, signals.items) == (True, [])


@pytest.mark.django_db
@pytest.mark.parametrize("follows", [True, False])
def test_editors_are_asked_for_a_number_at_the_end_of_a_text(client, follows):
    assignment = begin(client, task="edit", hit_size=20, n_segments=14)
    canary = canary_of(assignment)
    shown = client.get(page("rate", assignment.code)).content.decode()
    assert HIDDEN.findall(shown) == [canary.instruction]
    assert f"write the number {canary.score} at the end of text {canary.position}" in shown
    for item in assignment.hit.items.order_by("position"):
        ending = f" {canary.score}." if follows and item.position == canary.position else ""
        save_edit(
            assignment=assignment,
            position=item.position,
            item_code=item.code,
            text=item.text + ending,
        )
    client.post(page("finish", assignment.code))
    assert InputSignals.objects.get(assignment=assignment).followed_canary is follows
