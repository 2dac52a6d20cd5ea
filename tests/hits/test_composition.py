from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.stats.roles import Role
from hits.campaigns.composition import (
    DECOYS_PER_TWO_SETS,
    FEW_REFERENCES_EVERY,
    CannotCompose,
    PlannedItem,
    References,
    choose_layout,
    plan_hits,
)
from hits.campaigns.degradation import CannotDegrade
from hits.hit_sizes import HIT_SIZES

ROLES_OF_A_SET = {Role.GENUINE: 7, Role.BAD_REFERENCE: 1, Role.REPEAT: 1, Role.REFERENCE: 1}
ROLES_WITHOUT_REFERENCES = {Role.GENUINE: 8, Role.BAD_REFERENCE: 1, Role.REPEAT: 1}


def spoil(translation: int, rng: np.random.Generator) -> str:
    return f"bad {translation} {rng.integers(1_000_000)}"


def plan(
    n_translations, *, hit_size=100, references=References.ALL, seed=7, degrade=spoil, segments=None
):
    layout = choose_layout(n_translations, hit_size=hit_size, references=references)
    return list(
        plan_hits(n_translations, layout=layout, seed=seed, degrade=degrade, segments=segments)
    )


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
    references=st.sampled_from([References.ALL, References.NONE]),
    seed=st.integers(0, 2**32),
)
def test_smaller_hits_keep_their_sets_and_the_distance_of_partners(
    n_translations, hit_size, references, seed
):
    roles = ROLES_OF_A_SET if references == References.ALL else ROLES_WITHOUT_REFERENCES
    if n_translations < 4 * roles[Role.GENUINE]:
        return
    for hit in plan(n_translations, hit_size=hit_size, references=references, seed=seed):
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
    ("n_translations", "references", "size"),
    [
        (70, References.ALL, 100),
        (69, References.ALL, 80),
        (28, References.ALL, 40),
        (80, References.NONE, 100),
        (79, References.NONE, 80),
        (32, References.NONE, 40),
        # A reference in the first and sixth set of ten, and in the first of four.
        (78, References.FEW, 100),
        (77, References.FEW, 80),
        (31, References.FEW, 40),
    ],
)
def test_too_few_translations_for_a_full_hit_make_smaller_ones(n_translations, references, size):
    layout = choose_layout(n_translations, hit_size=100, references=references)
    assert layout.size == size


@pytest.mark.parametrize(
    ("n_translations", "references"),
    [(27, References.ALL), (31, References.NONE), (30, References.FEW), (0, References.ALL)],
)
def test_too_few_translations_for_the_smallest_hit_are_an_error(n_translations, references):
    with pytest.raises(CannotCompose, match="smallest HIT needs"):
        choose_layout(n_translations, hit_size=100, references=references)


@pytest.mark.parametrize("hit_size", [0, 20, 30, 50, 95, 220])
def test_an_odd_or_too_small_hit_size_is_refused(hit_size):
    with pytest.raises(ValueError, match="`hit_size`"):
        choose_layout(1_000, hit_size=hit_size, references=References.ALL)


def test_few_references_are_in_every_fifth_set():
    (hit,) = plan(78, references=References.FEW)
    with_reference = [
        number
        for number, ten in enumerate(sets_of(hit))
        if any(item.role == Role.REFERENCE for item in ten)
    ]
    assert with_reference == [0, FEW_REFERENCES_EVERY]


# Decoys --------------------------------------------------------------------------------------

with_decoys = st.fixed_dictionaries(
    {
        "n_segments": st.integers(32, 120),
        "n_systems": st.integers(1, 6),
        "hit_size": st.sampled_from(HIT_SIZES),
        "references": st.sampled_from(References),
        "seed": st.integers(0, 2**63 - 1),
    }
)


def plan_with_decoys(campaign: dict) -> tuple[list[list[PlannedItem]], list[int]]:
    """Plan HITs of translations in the order of their segments, as they come from the database."""
    n_segments, n_systems = campaign["n_segments"], campaign["n_systems"]
    segments = [segment for segment in range(n_segments) for _ in range(n_systems)]
    options = {name: campaign[name] for name in ("hit_size", "references", "seed")}
    return plan(len(segments), segments=segments, **options), segments


def genuine_of(hit: list[PlannedItem]) -> list[PlannedItem]:
    return [item for item in hit if item.role == Role.GENUINE]


@given(campaign=with_decoys)
@settings(max_examples=60)
def test_with_decoys_every_translation_is_genuine_once_but_for_filling_up(campaign):
    hits, segments = plan_with_decoys(campaign)
    per_hit = len(genuine_of(hits[0]))
    assert all(len({item.translation for item in genuine_of(hit)}) == per_hit for hit in hits)
    counts = Counter(item.translation for hit in hits for item in genuine_of(hit))
    assert set(counts) == set(range(len(segments)))
    n_twice = sum(count - 1 for count in counts.values())
    assert n_twice == len(hits) * per_hit - len(segments) < per_hit
    assert max(counts.values()) <= 2


@given(campaign=with_decoys)
@settings(max_examples=60)
def test_with_decoys_partners_keep_their_distance_and_their_roles(campaign):
    hits, _ = plan_with_decoys(campaign)
    for hit in hits:
        half = len(hit) // 2
        partners = [item.partner for item in hit if item.partner]
        assert len(set(partners)) == len(partners)
        for item in hit:
            assert (item.partner is None) == (item.role == Role.GENUINE)
            if item.partner:
                partner = hit[item.partner - 1]
                assert partner.role == Role.GENUINE and partner.translation == item.translation
                assert half - 10 < abs(item.position - item.partner) < half + 10
        for number, ten in enumerate(sets_of(hit)):
            has_reference = (
                campaign["references"].value and number % campaign["references"].value == 0
            )
            assert Counter(item.role for item in ten) == (
                ROLES_OF_A_SET if has_reference else ROLES_WITHOUT_REFERENCES
            )


def test_decoys_share_a_segment_and_stand_half_a_hit_apart():
    campaign = {"n_segments": 60, "n_systems": 4, "hit_size": 100, "seed": 7}
    hits, segments = plan_with_decoys(campaign | {"references": References.NONE})
    assert len(hits) == 3
    for hit in hits:
        sets = sets_of(hit)
        for first, second in zip(sets[:5], sets[5:], strict=True):
            shared = {segments[item.translation] for item in genuine_of(first)} & {
                segments[item.translation] for item in genuine_of(second)
            }
            assert len(shared) >= DECOYS_PER_TWO_SETS


def test_one_translation_per_segment_leaves_no_decoys_and_the_order_of_the_others():
    segments = list(range(200))
    assert plan(200, segments=segments) == plan(200)


@pytest.mark.parametrize("n_systems", [1, 3])
def test_the_same_seed_gives_the_same_decoys(n_systems):
    campaign = {"n_segments": 60, "n_systems": n_systems, "hit_size": 40, "seed": 5}
    campaign |= {"references": References.FEW}
    assert plan_with_decoys(campaign) == plan_with_decoys(campaign)
    assert plan_with_decoys(campaign) != plan_with_decoys(campaign | {"seed": 6})
