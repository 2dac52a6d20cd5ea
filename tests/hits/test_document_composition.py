"""HITs of runs of documents: what holds for every campaign."""

from collections import Counter
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.stats.roles import Role
from hits.campaigns.composition import CannotCompose, PlannedItem
from hits.campaigns.degradation import CannotDegrade
from hits.documents.composition import Run, cut_into_spans, plan_runs, runs_of, sample_runs
from hits.hit_sizes import HIT_SIZES, items_between, longest_run, n_ahead_in_documents


def spoil(translation: int, rng: np.random.Generator) -> str:
    return f"bad {translation}"


def make_runs(lengths: list[int], *, n_systems: int, length: int, shared: int = 0) -> list[Run]:
    """Runs of documents of these lengths; of every `shared` segments, one has the same text by all systems."""
    documents = [f"doc {number}" for number, size in enumerate(lengths) for _ in range(size)]
    spans = cut_into_spans(documents, length=length)
    n = len(documents)
    outputs = [
        [place if shared and place % shared == 0 else system * n + place for place in range(n)]
        for system in range(n_systems)
    ]
    return runs_of(spans, outputs)


def runs_in(hit: list[PlannedItem]) -> list[list[PlannedItem]]:
    return [list(items) for _, items in groupby(hit, key=lambda item: item.run)]


campaigns = st.fixed_dictionaries(
    {
        "lengths": st.lists(st.integers(1, 25), min_size=12, max_size=25),
        "n_systems": st.integers(2, 6),
        "shared": st.sampled_from([0, 0, 3, 7]),
        "limit": st.integers(2, 20),
        "size": st.sampled_from(HIT_SIZES),
        "seed": st.integers(0, 2**63 - 1),
    }
)


def planned(campaign) -> tuple[list[Run], list[list[PlannedItem]], int]:
    size = campaign["size"]
    runs = make_runs(
        campaign["lengths"],
        n_systems=campaign["n_systems"],
        shared=campaign["shared"],
        length=min(campaign["limit"], longest_run(size)),
    )
    n_different = len({t for run in runs for t in run.translations})
    if n_different < size - size // 5:
        return runs, [], size
    return runs, list(plan_runs(runs, size=size, seed=campaign["seed"], degrade=spoil)), size


@given(campaign=campaigns)
@settings(max_examples=60, deadline=None)
def test_every_hit_is_full_and_every_translation_is_in_one(campaign):
    runs, hits, size = planned(campaign)
    for hit in hits:
        assert [item.position for item in hit] == list(range(1, size + 1))
        genuine = [item.translation for item in hit if item.role == Role.GENUINE]
        assert len(set(genuine)) == len(genuine)
    if hits:
        everything = {t for run in runs for t in run.translations}
        assert {item.translation for hit in hits for item in hit} == everything


@given(campaign=campaigns)
@settings(max_examples=60, deadline=None)
def test_a_run_is_shown_in_one_piece_and_in_the_order_of_its_document(campaign):
    runs, hits, size = planned(campaign)
    pieces = {
        run.translations[start:stop]
        for run in runs
        for start in range(len(run))
        for stop in range(start + 1, len(run) + 1)
    }
    for hit in hits:
        shown = runs_in(hit)
        assert [items[0].run for items in shown] == list(range(1, len(shown) + 1))
        assert all(tuple(item.translation for item in items) in pieces for items in shown)
        assert max(map(len, shown)) <= longest_run(size)


@given(campaign=campaigns)
@settings(max_examples=60, deadline=None)
def test_a_copy_repeats_a_run_from_its_beginning_far_away_with_half_of_it_degraded(campaign):
    _, hits, size = planned(campaign)
    for hit in hits:
        by_position = {item.position: item for item in hit}
        for items in runs_in(hit):
            hidden = [item for item in items if item.partner is not None]
            if not hidden:
                assert all(item.role == Role.GENUINE for item in items)
                continue
            assert len(hidden) == len(items)
            partners = [by_position[item.partner] for item in items]
            assert [p.translation for p in partners] == [item.translation for item in items]
            assert len({p.run for p in partners}) == 1
            assert partners[0].position == min(i.position for i in hit if i.run == partners[0].run)
            assert all(p.role == Role.GENUINE for p in partners)
            roles = Counter(item.role for item in items)
            assert roles[Role.BAD_REFERENCE] == -(-len(items) // 2)
            assert all((i.text is not None) == (i.role == Role.BAD_REFERENCE) for i in items)
            for item in items:
                assert abs(item.position - item.partner) - 1 >= items_between(size)


@given(campaign=campaigns)
@settings(max_examples=60, deadline=None)
def test_a_hit_has_a_degraded_pair_for_every_ten_items(campaign):
    _, hits, size = planned(campaign)
    for hit in hits:
        assert sum(item.role == Role.BAD_REFERENCE for item in hit) >= size // 10
        partners = [item.partner for item in hit if item.partner]
        assert len(set(partners)) == len(partners)


@pytest.mark.parametrize("size", HIT_SIZES)
def test_the_browser_never_holds_a_run_with_its_copy(size):
    earlier_in_run = longest_run(size) - 1
    assert n_ahead_in_documents(size) - 1 + earlier_in_run <= items_between(size)
    assert n_ahead_in_documents(size) >= 11, "ten items can be rated without a connection"


def test_a_hit_of_100_keeps_forty_items_between_partners():
    assert items_between(100) == items_between(200) == 40


def test_either_showing_comes_first_and_decoys_stand_as_far_apart():
    runs = make_runs([8] * 120, n_systems=4, length=10)
    hits = list(plan_runs(runs, size=100, seed=3, degrade=spoil))
    is_first, n_twins = [], 0
    for hit in hits:
        starts = {}
        for items in runs_in(hit):
            if items[0].partner:
                is_first.append(items[0].position < items[0].partner)
                continue
            # The segment, whatever the system.
            starts.setdefault(items[0].translation % 960, []).append(items[0].position)
        for places in starts.values():
            if len(places) > 1:
                n_twins += 1
    assert 0.35 < np.mean(is_first) < 0.65
    assert n_twins >= len(hits)


def test_runs_of_every_length_are_copied():
    runs = make_runs([1, 3, 5, 8, 10, 2, 9] * 30, n_systems=3, length=10)
    hits = list(plan_runs(runs, size=100, seed=5, degrade=spoil))
    copied = Counter(len(items) for hit in hits for items in runs_in(hit) if items[0].partner)
    assert set(copied) >= {1, 2, 3, 5, 8, 9, 10}


def test_short_runs_that_fill_a_hit_are_copies_as_often_as_others():
    n_shown, n_copies = Counter(), Counter()
    for seed in range(150):
        runs = make_runs([8] * 20, n_systems=2, length=10)
        for hit in plan_runs(runs, size=100, seed=seed, degrade=spoil):
            for items in runs_in(hit):
                is_short = len(items) < 8
                n_shown[is_short] += 1
                n_copies[is_short] += items[0].partner is not None
    assert n_shown[True] > 500
    shares = [n_copies[is_short] / n_shown[is_short] for is_short in (True, False)]
    assert 0.6 < shares[0] / shares[1] < 1.7


def test_the_same_seed_gives_the_same_hits():
    runs = make_runs([10] * 30, n_systems=2, length=10)
    one, two, other = (
        list(plan_runs(runs, size=100, seed=seed, degrade=spoil)) for seed in (1, 1, 2)
    )
    assert one == two != other


def test_texts_that_cannot_be_degraded_leave_repeats():
    def refuse(translation: int, rng: np.random.Generator) -> str:
        raise CannotDegrade

    runs = make_runs([10] * 30, n_systems=2, length=10)
    [hit, *_] = plan_runs(runs, size=100, seed=1, degrade=refuse)
    roles = Counter(item.role for item in hit)
    assert roles[Role.BAD_REFERENCE] == 0 and roles[Role.REPEAT] >= 20


def test_documents_are_cut_evenly_and_segments_without_one_stand_alone():
    documents = ["a"] * 12 + ["", ""] + ["b"] * 3
    spans = [list(span) for span in cut_into_spans(documents, length=10)]
    assert spans == [[*range(6)], [*range(6, 12)], [12], [13], [14, 15, 16]]


def test_a_missing_output_ends_a_run_and_equal_runs_are_shown_once():
    spans = [range(4)]
    outputs = [[0, 1, None, 3], [0, 1, 12, 13], [0, 1, 12, 13]]
    assert [run.translations for run in runs_of(spans, outputs)] == [
        (0, 1),
        (3,),
        (0, 1, 12, 13),
    ]


def test_a_sample_is_of_whole_runs_and_as_large_as_asked():
    runs = make_runs([7] * 20, n_systems=2, length=10)
    drawn = sample_runs(runs, size=60, rng=np.random.default_rng(1))
    assert len({t for run in drawn for t in run.translations}) == 60
    assert sorted(map(len, drawn)) == [4, *[7] * 8]


def test_too_few_translations_are_refused():
    runs = make_runs([10], n_systems=2, length=10)
    with pytest.raises(CannotCompose, match="different translations"):
        list(plan_runs(runs, size=100, seed=1, degrade=spoil))
