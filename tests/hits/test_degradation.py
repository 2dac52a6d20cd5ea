from typing import Any

import numpy as np
import pytest
import regex
from hypothesis import assume, given
from hypothesis import strategies as st

from hits.campaigns import degradation
from hits.campaigns.degradation import (
    CannotDegrade,
    DonorPool,
    Spacing,
    choose_span,
    span_length,
    unit_spans,
)

WORDS = st.text(alphabet="abcdefghijABCDEÄß", min_size=1, max_size=8)
TEXTS = st.lists(WORDS, min_size=1, max_size=90).map(" ".join)
# The keys of the segment itself and of the donors.
OWN, OTHER = "own", "other"


def donors_of(*texts: str, spaced: bool = True) -> DonorPool:
    return DonorPool(texts, [f"{OTHER} {i}" for i in range(len(texts))], spaced=spaced)


def degrade(text: str, *, system: tuple[str, ...] = (), **options: Any) -> str:
    """Degrade a text of a system whose other texts are `system`."""
    return degradation.degrade(text, spacing=Spacing([text, *system]), **options)


def words_of(text: str, *, spaced: bool = True) -> list[str]:
    return [text[a:b] for a, b in unit_spans(text, spaced=spaced)]


def marked_donors(n_texts: int = 20, n_words: int = 30) -> DonorPool:
    return donors_of(*(" ".join([f"{i}x{j}" for j in range(n_words)]) for i in range(n_texts)))


@pytest.mark.parametrize(
    ("n_units", "length"),
    [(1, 1), (2, 1), (3, 1), (4, 2), (5, 2), (6, 3), (7, 3), (8, 4), (14, 4), (15, 5), (19, 5)]
    + [(20, 5), (23, 5), (24, 6), (80, 20), (399, 99)],
)
def test_the_span_grows_with_the_text(n_units, length):
    assert span_length(n_units) == length


@pytest.mark.parametrize(
    ("n_units", "span"), [(1, (0, 1)), (2, (1, 2)), (3, (1, 2)), (4, (1, 3)), (5, (1, 3))]
)
def test_short_texts_have_one_position_for_the_span(n_units, span):
    assert choose_span(n_units, np.random.default_rng(0)) == span


def test_every_position_in_a_longer_text_is_equally_likely():
    rng = np.random.default_rng(5)
    starts = np.bincount([choose_span(12, rng)[0] for _ in range(6_000)], minlength=12)
    # 12 words, 4 replaced: the span can only begin at words 2 to 7.
    assert set(np.flatnonzero(starts)) == {1, 2, 3, 4, 5, 6}
    assert starts[1:7].min() > 900 and starts[1:7].max() < 1_100


@given(text=TEXTS, seed=st.integers(0, 2**32))
def test_a_degraded_text_differs_keeps_its_word_count_and_its_protected_words(text, seed):
    assume(len(text) > 1)
    result = degrade(text, key=OWN, donors=marked_donors(), rng=np.random.default_rng(seed))
    old, new = words_of(text), words_of(result)
    changed = [i for i in range(len(old)) if old[i] != new[i]]
    assert result != text and len(new) == len(old)
    assert changed == list(range(changed[0], changed[0] + span_length(len(old))))
    if len(old) >= 5:
        assert new[0] == old[0] and new[-2:] == old[-2:]


@given(seed=st.integers(0, 2**32), n_words=st.integers(1, 60))
def test_words_never_come_from_the_same_segment(seed, n_words):
    same_segment = " ".join(f"mine{i}" for i in range(60))
    texts = [same_segment, same_segment, "yours " * 40]
    pool = DonorPool(texts, [OWN, OWN, OTHER], spaced=True)
    text = " ".join(["word"] * n_words)
    assert "mine" not in degrade(text, key=OWN, donors=pool, rng=np.random.default_rng(seed))


def test_words_come_uniformly_from_all_inner_spans_of_other_segments():
    # Two inner words in the first text and four in the second: six positions for a span of one word.
    pool = donors_of("A b c D", "E f g h i J")
    rng = np.random.default_rng(3)
    drawn = [pool.draw(1, key=OWN, rng=rng) for _ in range(6_000)]
    counts = {word: drawn.count(word) for word in sorted(set(drawn))}
    assert set(counts) == set("bcfghi")
    assert min(counts.values()) > 900 and max(counts.values()) < 1_100


def test_a_span_longer_than_any_donor_is_assembled_from_several():
    pool = donors_of(*["w " * 8] * 12)
    assert len(pool.draw(25, key=OWN, rng=np.random.default_rng(0)).split()) == 25


def test_a_span_that_fits_only_one_donor_is_also_assembled():
    short = [f"s{i} " * 12 for i in range(20)]
    pool = donors_of("long " * 100, *short)
    rng = np.random.default_rng(0)
    words = {word for _ in range(50) for word in pool.draw(20, key=OWN, rng=rng).split()}
    assert words & {f"s{i}" for i in range(20)}


def test_a_test_set_of_one_word_texts_still_has_donors():
    result = degrade(
        "Hello", key=OWN, donors=donors_of("Bye", "Thanks"), rng=np.random.default_rng(0)
    )
    assert result in {"Bye", "Thanks"}


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("Yes!", r"\p{Lu}\w*!"),
        ("no", r"\p{Ll}\w*"),
        ("Really good?!", r"Really \w+\?!"),
        ("Very nice", r"Very \w+"),
    ],
)
def test_the_shortest_texts_keep_their_opening_case_and_end_punctuation(text, pattern):
    pool = donors_of("Well, Then; nobody: asked. Him", "So, Every; one. Went, home")
    for seed in range(30):
        result = degrade(text, key=OWN, donors=pool, rng=np.random.default_rng(seed))
        assert regex.fullmatch(pattern, result), result


def test_text_all_in_lower_or_upper_case_stays_so():
    pool = donors_of("The Old Man And The Sea", "A Tale Of Two Cities Retold")
    for seed in range(20):
        rng = np.random.default_rng(seed)
        assert degrade("we all went to the sea side", key=OWN, donors=pool, rng=rng).islower()
        assert degrade("WE ALL WENT TO THE SEA SIDE", key=OWN, donors=pool, rng=rng).isupper()


def test_spacing_outside_the_span_is_left_as_it_was():
    text = "  one two  three four five six\u00a0seven eight "
    result = degrade(text, key=OWN, donors=marked_donors(), rng=np.random.default_rng(1))
    assert result.startswith("  one ") and result.endswith(" ")


@pytest.mark.parametrize("text", ["", " ", "a", "。", "  I "])
def test_an_empty_or_one_character_text_cannot_be_degraded(text):
    with pytest.raises(CannotDegrade, match="one-character"):
        degrade(text, key=OWN, donors=marked_donors(), rng=np.random.default_rng(0))


def test_a_text_cannot_be_degraded_without_another_segment():
    pool = DonorPool(["some words of my own"], [OWN], spaced=True)
    with pytest.raises(CannotDegrade, match="other segments"):
        degrade("a few more words here", key=OWN, donors=pool, rng=np.random.default_rng(0))


def test_a_text_cannot_be_degraded_if_all_donors_are_the_same():
    pool = donors_of("SAME same Same same", "same same same same")
    with pytest.raises(CannotDegrade, match="No replacement"):
        degrade("same same same same", key=OWN, donors=pool, rng=np.random.default_rng(0))


CHINESE = [
    "今天天气很好，我们去公园散步吧！",
    "他昨天买了一部iPhone 15手机。",
    "这本书非常有意思，我推荐给你。",
    "会议推迟到下周三上午九点举行。",
]
THAI = ["วันนี้อากาศดีมาก", "เขาซื้อโทรศัพท์ใหม่เมื่อวานนี้", "หนังสือเล่มนี้น่าสนใจ", "เราไปเดินเล่นที่สวนกัน"]


@pytest.mark.parametrize("texts", [CHINESE, THAI], ids=["zh", "th"])
@given(seed=st.integers(0, 2**32))
def test_in_unspaced_text_characters_are_replaced_without_adding_spaces(texts, seed):
    pool = DonorPool(texts, texts, spaced=False)
    for text in texts:
        result = degrade(text, key=text, donors=pool, rng=np.random.default_rng(seed))
        # The only space in these texts is in "iPhone 15".
        assert result != text and " " not in result.replace("iPhone ", "").replace(" 15", "")
        assert len(words_of(result, spaced=False)) == len(words_of(text, spaced=False))
        assert words_of(result, spaced=False)[-2:] == words_of(text, spaced=False)[-2:]


def test_in_unspaced_text_spaces_between_phrases_are_copied():
    thai = [" ".join([phrase] * 6) for phrase in THAI]
    pool = DonorPool(thai, thai, spaced=False)
    n_spaces = [
        degrade(text, key=text, donors=pool, rng=np.random.default_rng(seed)).count(" ")
        for text in thai
        for seed in range(100)
    ]
    # Each text has five spaces, and a span may have one more or fewer than the text it replaces.
    assert abs(np.mean(n_spaces) - 5) < 0.1


# White space -----------------------------------------------------------------------------------

# A no-break space before a colon and inside quotation marks, as in French typography.
CAREFUL = "Le ministre a dit\u00a0: «\u00a0Nous irons à {} demain\u00a0» et puis il est parti loin."
PLAIN = CAREFUL.replace("\u00a0", " ")
TOWNS = ["Lyon", "Nice", "Metz", "Brest", "Dijon", "Lille"]
TOWNS += ["Tours", "Nantes", "Rennes", "Reims", "Caen", "Pau"]
PLAIN_NEXT_TO_A_MARK = regex.compile(" [:»]|« ")
NO_BREAK_BETWEEN_LETTERS = regex.compile(r"[\p{L}.]\u00a0\p{L}")


def french(pattern: str) -> list[str]:
    return [pattern.format(town) for town in TOWNS]


def degraded_french(texts: list[str], donors: list[str], *, n_each: int = 20) -> list[str]:
    pool, spacing = DonorPool(donors, TOWNS, spaced=True), Spacing(texts)
    rng = np.random.default_rng(0)
    return [
        degradation.degrade(text, key=town, donors=pool, spacing=spacing, rng=rng)
        for text, town in zip(texts, TOWNS, strict=True)
        for _ in range(n_each)
    ]


@pytest.mark.parametrize("donors", [CAREFUL, PLAIN])
def test_degraded_texts_have_no_break_spaces_if_the_system_writes_them(donors):
    for text in degraded_french(french(CAREFUL), french(donors)):
        assert not PLAIN_NEXT_TO_A_MARK.search(text), text
        assert not NO_BREAK_BETWEEN_LETTERS.search(text), text


@pytest.mark.parametrize("donors", [CAREFUL, PLAIN])
def test_degraded_texts_have_no_no_break_spaces_if_the_system_writes_none(donors):
    assert not any("\u00a0" in text for text in degraded_french(french(PLAIN), french(donors)))


def test_in_an_unseen_context_white_space_is_the_donors_if_the_system_ever_writes_it():
    def degraded(*system: str) -> set[str]:
        pool = donors_of("x 7\u00a0% y", "z 7\u00a0% w")
        seeds = map(np.random.default_rng, range(20))
        return {
            degrade("one two three four", system=system, key=OWN, donors=pool, rng=rng)
            for rng in seeds
        }

    assert degraded() == {"one 7 % four"}
    assert degraded("dit\u00a0: rien") == {"one 7\u00a0% four"}


def test_in_unspaced_text_a_latin_word_is_one_unit_and_marks_stay_with_their_letter():
    assert words_of("一部iPhone 15机", spaced=False) == ["一", "部", "iPhone", "15", "机"]
    assert words_of("ที่นี้", spaced=False) == ["ที่", "นี้"]


def test_right_to_left_text_is_degraded_like_any_other():
    arabic = [
        "ذهب الولد إلى المدرسة صباح اليوم مع أخيه",
        "اشترت المرأة خبزا طازجا من السوق القديم أمس",
    ]
    pool = DonorPool(arabic, arabic, spaced=True)
    result = degrade(arabic[0], key=arabic[0], donors=pool, rng=np.random.default_rng(0))
    assert result.split()[0] == "ذهب" and result.split()[-2:] == ["مع", "أخيه"]
    assert set(result.split()[1:-2]) & set(arabic[1].split())
