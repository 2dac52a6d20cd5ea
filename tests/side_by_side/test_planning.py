"""Which outputs share a screen, and what is hidden: what holds for every campaign."""

from collections import Counter
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.stats.roles import Role
from hits.asking.side_by_side import KIND
from hits.documents.composition import plan_runs
from hits.hit_sizes import HIT_SIZES, items_between
from hits.models import HIT, Assignment, Campaign
from hits.side_by_side.planning import SCREENS, group_outputs, on_one_screen


def spoil(output: int, rng: np.random.Generator) -> str:
    return f"bad {output}"


campaigns = st.fixed_dictionaries(
    {
        "n_segments": st.integers(60, 100),
        "n_systems": st.integers(2, 9),
        "most": st.integers(2, 5),
        "size": st.sampled_from([40, 60, 100, 200]),
        "seed": st.integers(0, 2**63 - 1),
    }
)


def planned(campaign):
    segments = np.repeat(np.arange(campaign["n_segments"]), campaign["n_systems"]).tolist()
    screens = group_outputs(
        segments, most=campaign["most"], rng=np.random.default_rng(campaign["seed"])
    )
    if len(segments) < campaign["size"]:
        return segments, []
    hits = plan_runs(
        screens, size=campaign["size"], seed=campaign["seed"], degrade=spoil, recipe=SCREENS
    )
    return segments, [[on_one_screen(item) for item in hit] for hit in hits]


@given(campaign=campaigns)
@settings(max_examples=50, deadline=None)
def test_a_screen_shows_different_outputs_of_one_segment(campaign):
    segments, hits = planned(campaign)
    for hit in hits:
        assert [item.position for item in hit] == list(range(1, campaign["size"] + 1))
        screens = [list(items) for _, items in groupby(hit, key=lambda item: item.screen)]
        assert [items[0].screen for items in screens] == list(range(1, len(screens) + 1))
        for items in screens:
            outputs = {item.translation for item in items}
            assert len(outputs) == len(items) <= campaign["most"]
            assert len({segments[output] for output in outputs}) == 1
            assert all(item.screen <= item.position for item in items)
    if hits:
        assert {i.translation for hit in hits for i in hit} == set(range(len(segments)))


@given(campaign=campaigns)
@settings(max_examples=50, deadline=None)
def test_a_second_screen_degrades_one_output_far_from_the_first(campaign):
    _, hits = planned(campaign)
    for hit in hits:
        by_position = {item.position: item for item in hit}
        genuine = [item.translation for item in hit if item.role == Role.GENUINE]
        assert len(set(genuine)) == len(genuine)
        for _, group in groupby(hit, key=lambda item: item.screen):
            items = list(group)
            hidden = [item for item in items if item.partner]
            if not hidden:
                continue
            assert Counter(item.role for item in items)[Role.BAD_REFERENCE] == 1
            partners = [by_position[item.partner] for item in items]
            assert [p.translation for p in partners] == [item.translation for item in items]
            assert len({p.screen for p in partners}) == 1
            for item in items:
                between = abs(item.position - item.partner) - 1
                assert between >= items_between(campaign["size"])


@given(campaign=campaigns)
@settings(max_examples=50, deadline=None)
def test_there_is_a_pair_for_ten_items_or_a_third_of_the_hit_is_copied(campaign):
    _, hits = planned(campaign)
    for hit in hits:
        n_pairs = sum(item.role == Role.BAD_REFERENCE for item in hit)
        n_hidden = sum(item.role != Role.GENUINE for item in hit)
        size = campaign["size"]
        assert n_pairs >= size // 10 or n_hidden >= size // 3
        # The copy that passes the third, and the places at the end of the HIT.
        assert n_hidden < size // 3 + 2 * campaign["most"]


@pytest.mark.parametrize(
    ("outputs", "most", "size"),
    [([3], 3, 40), ([3], 3, 100), ([5], 2, 100), ([5], 3, 100), ([7], 3, 100), ([1, 3, 3], 3, 60)],
)
def test_a_screen_with_a_single_output_is_hidden_as_often_as_others(outputs, most, size):
    n_shown, n_hidden = Counter(), Counter()
    for seed in range(40):
        n_outputs = [outputs[segment % len(outputs)] for segment in range(110)]
        segments = np.repeat(np.arange(110), n_outputs).tolist()
        screens = group_outputs(segments, most=most, rng=np.random.default_rng(seed))
        for hit in plan_runs(screens, size=size, seed=seed, degrade=spoil, recipe=SCREENS):
            for _, group in groupby(hit, key=lambda item: item.run):
                items = list(group)
                n_shown[len(items)] += 1
                n_hidden[len(items)] += any(item.partner for item in items)
    assert n_shown[1] > 100
    hidden_of_others = (n_hidden.total() - n_hidden[1]) / (n_shown.total() - n_shown[1])
    assert 0.6 < (n_hidden[1] / n_shown[1]) / hidden_of_others < 1.7


def test_outputs_of_a_segment_are_shared_out_evenly_and_none_is_lost():
    screens = group_outputs([0] * 7 + [1], most=5, rng=np.random.default_rng(1))
    assert sorted(map(len, screens)) == [1, 3, 4]
    assert sorted(t for screen in screens for t in screen.translations) == list(range(8))


@pytest.mark.parametrize("size", HIT_SIZES)
@pytest.mark.parametrize("most", [2, 3, 4, 5])
def test_the_browser_never_holds_both_screens(size, most):
    hit = HIT(size=size, campaign=Campaign(outputs_per_screen=most))
    n_ahead = KIND.n_ahead(Assignment(hit=hit))
    # Two screens of `n_ahead` in a row hold no item and its partner, however full they are.
    assert n_ahead >= 2 and n_ahead * most <= items_between(size) + 1
