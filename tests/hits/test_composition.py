from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.stats.roles import Role
from hits.campaigns.composition import CannotCompose, PlannedItem, choose_layout, plan_hits
from hits.campaigns.degradation import CannotDegrade
from hits.hit_sizes import HIT_SIZES

ROLES_OF_A_SET = {Role.GENUINE: 7, Role.BAD_REFERENCE: 1, Role.REPEAT: 1, Role.REFERENCE: 1}
ROLES_WITHOUT_REFERENCES = {Role.GENUINE: 8, Role.BAD_REFERENCE: 1, Role.REPEAT: 1}


def spoil(translation: int, rng: np.random.Generator) -> str:
    return f"bad {translation} {rng.integers(1_000_000)}"


def plan(n_translations, *, hit_size=100, has_references=True, seed=7, degrade=spoil):
    layout = choose_layout(n_translations, hit_size=hit_size, has_references=has_references)
    return list(plan_hits(n_translations, layout=layout, seed=seed, degrade=degrade))


def sets_of(hit: list[PlannedItem]) -> list[list[PlannedItem]]:
    return [hit[i : i + 10] for i in range(0, len(hit), 10)]


campaigns = st.fixed_dictionaries(
    {"n_translations": st.integers(70, 1_000), "seed": st.integers(0, 2**63 - 1)}
)


@given(campaign=campaigns)
@settings(max_examples=50)
def test_a_hit_has_seven_genuine_and_three_kinds_of_qc_item_in_every_set(campaign):
    for hit in plan(**campaign):
        assert [item.position for item in hit] == list(range(1, 101))
        assert all(Counter(i.role for i in ten) == ROLES_OF_A_SET for ten in sets_of(hit))
        assert Counter(item.role for item in hit) == {
            role: 10 * count for role, count in ROLES_OF_A_SET.items()
        }


@given(campaign=campaigns)
@settings(max_examples=50)
def test_partners_are_41_to_59_positions_apart_in_different_halves(campaign):
    for hit in plan(**campaign):
        for item in hit:
            if item.partner:
                assert 41 <= abs(item.position - item.partner) <= 59
                assert (item.position <= 50) != (item.partner <= 50)


@given(campaign=campaigns)
@settings(max_examples=50)
def test_a_genuine_item_has_at_most_one_partner_and_only_qc_items_name_one(campaign):
    for hit in plan(**campaign):
        partners = [item.partner for item in hit if item.role != Role.GENUINE]
        assert len(set(partners)) == len(partners) == 30 and None not in partners
        assert all(hit[p - 1].role == Role.GENUINE for p in partners)
        assert all(item.partner is None for item in hit if item.role == Role.GENUINE)
        assert all(
            hit[item.partner - 1].translation == item.translation for item in hit if item.partner
        )


@given(campaign=campaigns)
@settings(max_examples=50)
def test_every_translation_is_covered_and_the_last_hit_wraps_to_the_first(campaign):
    hits = plan(**campaign)
    genuine = [[i.translation for i in hit if i.role == Role.GENUINE] for hit in hits]
    n = campaign["n_translations"]
    assert len(hits) == -(-n // 70)
    assert all(len(set(translations)) == 70 for translations in genuine)
    counts = Counter(translation for translations in genuine for translation in translations)
    assert set(counts) == set(range(n)) and set(counts.values()) <= {1, 2}
    # The last HIT is filled up with translations of the first one.
    twice = {translation for translation, count in counts.items() if count == 2}
    assert len(twice) == 70 * len(hits) - n
    assert twice <= set(genuine[0]) and twice <= set(genuine[-1])


@given(
    n_translations=st.integers(28, 300),
    hit_size=st.sampled_from(HIT_SIZES),
    has_references=st.booleans(),
    seed=st.integers(0, 2**32),
)
def test_smaller_hits_keep_their_sets_and_the_distance_of_partners(
    n_translations, hit_size, has_references, seed
):
    roles = ROLES_OF_A_SET if has_references else ROLES_WITHOUT_REFERENCES
    if n_translations < 4 * roles[Role.GENUINE]:
        return
    for hit in plan(n_translations, hit_size=hit_size, has_references=has_references, seed=seed):
        n_sets = len(hit) // 10
        assert n_sets >= 4 and n_sets % 2 == 0 and len(hit) <= hit_size
        assert all(Counter(i.role for i in ten) == roles for ten in sets_of(hit))
        for item in hit:
            if item.partner:
                between = abs(item.position - item.partner) - 1
                assert between >= (n_sets / 2 - 1) * 10


def test_either_partner_may_come_first():
    hits = plan(700)
    first = Counter(item.position < item.partner for hit in hits for item in hit if item.partner)
    assert first[True] == first[False] == 150


def test_the_same_seed_gives_the_same_hits_and_another_seed_different_ones():
    assert plan(200, seed=3) == plan(200, seed=3)
    assert plan(200, seed=3) != plan(200, seed=4)


def test_positions_in_a_set_do_not_reveal_roles():
    """Over many HITs, every role is equally frequent at each of the ten positions of a set."""
    hits = plan(70 * 300)
    positions = {role: np.zeros(10) for role in Role}
    for hit in hits:
        for item in hit:
            positions[item.role][(item.position - 1) % 10] += 1
    for role, counts in positions.items():
        expected = counts.sum() / 10
        # Chi-squared with 9 degrees of freedom: 27.9 is the 0.1 % point.
        assert ((counts - expected) ** 2 / expected).sum() < 27.9, role


def test_a_text_that_cannot_be_degraded_is_never_a_bad_reference():
    def refuse_fifths(translation, rng):
        if translation % 5 == 0:
            raise CannotDegrade
        return "bad"

    bad = [
        item
        for hit in plan(700, degrade=refuse_fifths)
        for item in hit
        if item.role == Role.BAD_REFERENCE
    ]
    assert len(bad) == 100 and all(item.translation % 5 for item in bad)


def test_a_set_without_any_text_to_degrade_is_an_error():
    def refuse(translation, rng):
        raise CannotDegrade

    with pytest.raises(CannotCompose, match="None of 7 translations"):
        plan(70, degrade=refuse)


@pytest.mark.parametrize(
    ("n_translations", "has_references", "size"),
    [
        (70, True, 100),
        (69, True, 80),
        (28, True, 40),
        (80, False, 100),
        (79, False, 80),
        (32, False, 40),
    ],
)
def test_too_few_translations_for_a_full_hit_make_smaller_ones(
    n_translations, has_references, size
):
    layout = choose_layout(n_translations, hit_size=100, has_references=has_references)
    assert layout.size == size


@pytest.mark.parametrize(("n_translations", "has_references"), [(27, True), (31, False), (0, True)])
def test_too_few_translations_for_the_smallest_hit_are_an_error(n_translations, has_references):
    with pytest.raises(CannotCompose, match="smallest HIT needs"):
        choose_layout(n_translations, hit_size=100, has_references=has_references)


@pytest.mark.parametrize("hit_size", [0, 20, 30, 50, 95, 220])
def test_an_odd_or_too_small_hit_size_is_refused(hit_size):
    with pytest.raises(ValueError, match="`hit_size`"):
        choose_layout(1_000, hit_size=hit_size, has_references=True)
