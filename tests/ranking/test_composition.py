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


def screens_of(hit):
    """Return the items of each screen, by number."""
    return {n: [item for item in hit if item.screen == n] for n in {item.screen for item in hit}}


def roles_of(items):
    return Counter(item.role for item in items)


def test_of_three_screens_one_has_a_degraded_output_or_repeats_another():
    _, _, hits = planned()
    kinds = Counter()
    for hit in hits[:-1]:
        hidden = [items for items in screens_of(hit).values() if is_hidden(items)]
        assert len(hidden) == 1 and len(screens_of(hit)) == 3
        kinds[frozenset(roles_of(hidden[0]))] += 1
        by_position = {item.position: item for item in hit}
        for item in hidden[0]:
            if item.role == Role.REPEAT:
                assert by_position[item.partner].translation == item.translation
                assert abs(by_position[item.partner].screen - item.screen) >= 2
            if item.role == Role.BAD_REFERENCE:
                assert item.text == f"bad {item.translation}"
                assert by_position[item.partner].screen == item.screen
    degraded, repeated = frozenset({Role.GENUINE, Role.BAD_REFERENCE}), frozenset({Role.REPEAT})
    assert set(kinds) == {degraded, repeated}
    assert kinds[repeated] == pytest.approx(len(hits) / 3, abs=1.5)


def is_hidden(items):
    return set(roles_of(items)) != {Role.GENUINE}


def test_nobody_has_seen_an_output_before_it_is_degraded():
    _, _, hits = planned(n_segments=40)
    shown = set()
    for hit in hits:
        for items in screens_of(hit).values():
            degraded = [item for item in items if item.role == Role.BAD_REFERENCE]
            if degraded:
                assert shown.isdisjoint(item.translation for item in items)
            shown.update(item.translation for item in items if not degraded)


def test_a_degraded_screen_can_stand_in_any_place():
    _, _, hits = planned(n_segments=100)
    places = Counter(
        number
        for hit in hits
        for number, items in screens_of(hit).items()
        if Role.BAD_REFERENCE in roles_of(items)
    )
    assert set(places) == {1, 2, 3} and min(places.values()) > 0.2 * places.total()


def test_pairs_have_as_many_repeats_as_degraded_screens():
    _, _, hits = planned(n_segments=40, n_outputs=2)
    kinds = Counter(
        Role.REPEAT in roles_of(items)
        for hit in hits[:-1]
        for items in screens_of(hit).values()
        if is_hidden(items)
    )
    assert abs(kinds[True] - kinds[False]) <= 1


def test_no_output_is_genuine_twice_in_a_hit_although_groups_overlap():
    groups = [(0, 1), (0, 2), (3, 4), (1, 2), (5, 6)]
    for hit in plan_screens(groups, n_screens=6, seed=1, degrade=degrade):
        genuine = [item.translation for item in hit if item.role == Role.GENUINE]
        assert len(genuine) == len(set(genuine))
    assert (
        sorted(
            tuple(sorted(item.translation for item in items))
            for hit in plan_screens(groups, n_screens=3, seed=1, degrade=degrade)
            for items in screens_of(hit).values()
            if not is_hidden(items)
        )[:5]
        >= sorted(groups)[:1]
    )


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
