"""Degraded texts whose form does not give them away."""

from functools import cache

import numpy as np
import pytest
from sacrebleu.metrics import CHRF

from hits.campaigns.balanced_degradation import BalancedDegrader
from hits.campaigns.degradation import CannotDegrade, Spacing, unit_spans
from hits.campaigns.demo import DEMO_FOLDER
from hits.campaigns.version_overlap import around, chrf_of_each

CHINESE = [
    "政府昨天宣布了新的经济计划以帮助小企业",
    "天气预报说明天北方地区会下大雪",
    "警方正在调查市中心发生的一起交通事故",
    "医生建议老年人每天步行至少三十分钟",
    "学校将在下个月举办一场国际音乐节",
    "科学家在海底发现了一种新的鱼类",
]
ARABIC = [
    "أعلنت الحكومة أمس عن خطة اقتصادية جديدة لمساعدة الشركات الصغيرة",
    "تقول توقعات الطقس إن الثلوج ستتساقط غدا على المناطق الشمالية",
    "تحقق الشرطة في حادث مروري وقع في وسط المدينة صباح اليوم",
    "ينصح الأطباء كبار السن بالمشي ثلاثين دقيقة على الأقل كل يوم",
    "ستقيم المدرسة مهرجانا دوليا للموسيقى في الشهر المقبل",
]


def lines(name: str) -> list[str]:
    return (DEMO_FOLDER / name).read_text(encoding="utf-8").splitlines()


@cache
def demo() -> tuple[list[str], list[int], list[str]]:
    """The different outputs of the example campaign, their segments, and the references."""
    systems = [
        lines(f"systems/{path.name}") for path in sorted((DEMO_FOLDER / "systems").iterdir())
    ]
    rows = [
        (text, segment)
        for segment, texts in enumerate(zip(*systems, strict=True))
        for text in dict.fromkeys(texts)
    ]
    return [text for text, _ in rows], [segment for _, segment in rows], lines("references.txt")


def demo_degrader(*, grays: list[str] | None = None, readable: bool = True) -> BalancedDegrader:
    texts, segments, references = demo()
    grays = references if grays is None else grays
    return BalancedDegrader(
        texts, segments, dict(enumerate(grays)), gray_is_readable=readable, spaced=True
    )


def degraded_demo(degrader: BalancedDegrader, n_texts: int = 60) -> list[tuple[int, str]]:
    texts, segments, _ = demo()
    rng, spacing = np.random.default_rng(5), Spacing(texts)
    numbers = rng.permutation(len(texts))[:n_texts].tolist()
    return [
        (i, degrader.degrade(texts[i], key=segments[i], spacing=spacing, rng=rng)) for i in numbers
    ]


@cache
def reference_pairs() -> list[tuple[int, str]]:
    return degraded_demo(demo_degrader())


def test_number_of_words_beginning_and_end_stay():
    texts, _, _ = demo()
    for number, degraded in reference_pairs():
        words, new_words = texts[number].split(), degraded.split()
        assert len(new_words) == len(words) and degraded != texts[number]
        if len(words) >= 5:
            assert new_words[0] == words[0] and new_words[-2:] == words[-2:]


def test_marks_stay_where_they_were():
    texts, _, _ = demo()
    for number, degraded in reference_pairs():
        for old, new in zip(texts[number].split(), degraded.split(), strict=True):
            assert around(old)[::2] == around(new)[::2]


def test_every_text_loses_words():
    texts, _, _ = demo()
    for number, degraded in reference_pairs():
        assert set(texts[number].lower().split()) - set(degraded.lower().split())


def test_overlap_with_the_gray_text_does_not_fall_on_average():
    texts, segments, references = demo()
    chrf = CHRF()

    def overlap(text: str, segment: int) -> float:
        return chrf.sentence_score(text, [references[segment]]).score / 100

    changes = [
        overlap(degraded, segments[number]) - overlap(texts[number], segments[number])
        for number, degraded in reference_pairs()
    ]
    # The example campaign is small and its texts are short: the bar of a real test set is 0.01.
    assert abs(np.mean(changes)) < 0.02


def test_the_same_seed_gives_the_same_texts():
    assert degraded_demo(demo_degrader(), 8) == degraded_demo(demo_degrader(), 8)


def test_words_of_a_source_are_not_borrowed():
    texts, _, _ = demo()
    sources = [
        " ".join(f"quelle{i}wort{j}" for j in range(9)) for i in range(len(lines("sources.txt")))
    ]
    for _, degraded in degraded_demo(demo_degrader(grays=sources, readable=False), 15):
        assert "quelle" not in degraded


def test_fluency_has_no_gray_text():
    texts, _, references = demo()
    pairs = degraded_demo(demo_degrader(grays=[""] * len(references)), 15)
    assert all(degraded != texts[number] for number, degraded in pairs)


@pytest.mark.parametrize(("texts", "spaced"), [(CHINESE, False), (ARABIC, True)])
def test_other_scripts_keep_their_units(texts: list[str], spaced: bool):
    degrader = BalancedDegrader(
        texts,
        list(range(len(texts))),
        dict(enumerate(reversed(texts))),
        gray_is_readable=True,
        spaced=spaced,
    )
    rng, spacing = np.random.default_rng(1), Spacing(texts)
    for key, text in enumerate(texts):
        degraded = degrader.degrade(text, key=key, spacing=spacing, rng=rng)
        n_units = len(unit_spans(text, spaced=spaced))
        assert degraded != text and len(unit_spans(degraded, spaced=spaced)) == n_units
        assert (" " in degraded) == (" " in text)


@pytest.mark.parametrize("text", ["", " ", "a"])
def test_an_empty_or_one_character_text_is_refused(text: str):
    degrader = BalancedDegrader(
        [text, "something else here"], [0, 1], {0: "x", 1: "y"}, gray_is_readable=True, spaced=True
    )
    with pytest.raises(CannotDegrade):
        degrader.degrade(text, key=0, spacing=Spacing([]), rng=np.random.default_rng(1))


def test_without_another_segment_there_is_nothing_to_take_words_from():
    degrader = BalancedDegrader(
        ["one lonely text with words"], [0], {0: ""}, gray_is_readable=True, spaced=True
    )
    with pytest.raises(CannotDegrade):
        degrader.degrade(
            "one lonely text with words", key=0, spacing=Spacing([]), rng=np.random.default_rng(1)
        )


def test_chrf_is_that_of_sacrebleu():
    texts = ["The cat sat.", "abc", "xy", "ab", "Sie sagte: „nein“ 😀", "天气预报 说"]
    others = ["A cat sat on the mat.", "abc", "The mat", "abab", "天气 预报"]
    expected = [[CHRF().sentence_score(a, [b]).score / 100 for b in others] for a in texts]
    assert np.allclose(chrf_of_each(texts, others), expected, rtol=0, atol=1e-9)
