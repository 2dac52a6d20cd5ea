"""Which outputs stand on a screen, and what is hidden among them."""

from collections import Counter

import numpy as np
import pytest

from analysis.stats.roles import Role
from hits.campaigns.composition import CannotCompose
from hits.campaigns.degradation import CannotDegrade
from hits.models import Campaign, Item
from hits.ranking.composition import group_outputs, plan_screens

from .campaigns import ranking_campaign


def degrade(output, rng):
    return f"bad {output}"


def planned(n_segments=10, n_outputs=7, n_screens=3, degrade=degrade):
    segments = np.repeat(np.arange(n_segments), n_outputs).tolist()
    groups = group_outputs(segments, size=5, rng=np.random.default_rng(1))
    return segments, groups, plan_screens(groups, n_screens=n_screens, seed=3, degrade=degrade)


def test_every_output_is_on_one_screen_with_others_of_its_segment():
    segments, groups, _ = planned()
    assert sorted(output for group in groups for output in group) == list(range(70))
    assert all(2 <= len(group) <= 5 for group in groups)
    assert all(len({segments[output] for output in group}) == 1 for group in groups)


@pytest.mark.parametrize("n_outputs", [2, 3, 6, 11])
def test_no_output_stands_alone(n_outputs):
    _, groups, _ = planned(n_outputs=n_outputs)
    assert min(map(len, groups)) >= 2 and sum(map(len, groups)) == 10 * n_outputs


def test_a_set_repeats_one_of_its_screens_with_one_output_degraded():
    _, _, hits = planned()
    for hit in hits:
        by_screen = {n: [item for item in hit if item.screen == n] for n in (1, 2, 3)}
        roles = {n: Counter(item.role for item in items) for n, items in by_screen.items()}
        hidden = next(n for n in (1, 3) if Role.BAD_REFERENCE in roles[n])
        assert roles[hidden][Role.BAD_REFERENCE] == 1 and Role.GENUINE not in roles[hidden]
        assert set(roles[2]) == set(roles[4 - hidden]) == {Role.GENUINE}
        partners = {item.position: item.translation for item in by_screen[4 - hidden]}
        for item in by_screen[hidden]:
            assert partners[item.partner] == item.translation
            assert (item.text == f"bad {item.translation}") == (item.role == Role.BAD_REFERENCE)


def test_the_hidden_screen_comes_first_as_often_as_last():
    _, _, hits = planned(n_segments=100)
    is_first = [hit[0].role != Role.GENUINE for hit in hits]
    assert 0.35 < np.mean(is_first) < 0.65


def test_a_screen_is_repeated_even_if_no_text_can_be_degraded():
    def refuse(output, rng):
        raise CannotDegrade

    _, _, hits = planned(degrade=refuse)
    assert Counter(item.role for item in hits[0])[Role.BAD_REFERENCE] == 0


def test_a_longer_hit_has_more_sets():
    _, _, hits = planned(n_screens=6)
    assert {max(item.screen for item in hit) for hit in hits} == {6}
    for hit in hits:
        genuine = [item.translation for item in hit if item.role == Role.GENUINE]
        assert len(genuine) == len(set(genuine))


def test_too_few_outputs_are_refused():
    with pytest.raises(CannotCompose):
        plan_screens([(0, 1)], n_screens=3, seed=1, degrade=degrade)


@pytest.mark.django_db
def test_the_same_seed_builds_the_same_hits():
    rows = [
        list(
            Item.objects.filter(hit__campaign=ranking_campaign(name=name))
            .order_by("hit__number", "position")
            .values_list("screen", "role", "text")
        )
        for name in ("one", "two")
    ]
    assert rows[0] == rows[1]


@pytest.mark.django_db
def test_pairs_are_two_outputs_on_a_screen():
    campaign = ranking_campaign(outputs_per_screen=2)
    screens = Counter(Item.objects.filter(hit__campaign=campaign).values_list("hit", "screen"))
    assert set(screens.values()) == {2}
    assert campaign.task == Campaign.Task.RANK
