"""The practice texts are complete in every language and fall back sensibly."""

import dataclasses
import re
from typing import Any

import pytest

from hits.guidance_files import guidance_in, guidance_languages, wording_language
from hits.languages import is_spaced
from hits.models import Campaign
from hits.post_editing.changes import share_changed
from hits.post_editing.practice import judge_edit
from hits.rating.practice import SECTIONS, EditedText, practice_for, statement_for
from hits.task_facts import known_tasks
from hits.task_kinds import kind_of

TEXTS = {language: guidance_in(language) for language in guidance_languages()}
TASKS = ["reference", "source", "fluency"]
BANDS = [(70, 100), (0, 40), (20, 80)]
SCRIPTS = {"ru": r"[а-яё]", "zh": r"[\u4e00-\u9fff]", "ar": r"[\u0621-\u064a]"}
SCRIPTS |= {"uk": r"[а-яіїєґ]", "hi": r"[\u0900-\u097f]", "ja": r"[\u3040-\u30ff]"}
SCRIPTS |= {"zh-Hant": r"[\u4e00-\u9fff]"}
# The name of each language as used in a sentence of that language.
OWN_NAMES = {"en": "English", "de": "Deutsch", "es": "español", "fr": "français", "cs": "češtin"}
OWN_NAMES |= {
    "ru": "русск",
    "zh": "中文",
    "ar": "عربية",
    "fi": "suome",
    "hi": "हिन्दी",
    "it": "italiano",
}
OWN_NAMES |= {"ja": "日本語", "pl": "pol", "pt": "português", "tr": "Türkçe", "uk": "українськ"}
OWN_NAMES |= {"zh-Hant": "中文"}

every_language = pytest.mark.parametrize("language", TEXTS)
every_task = pytest.mark.parametrize("task", TASKS)


def strings_in(value: Any) -> list[str]:
    """List every text."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for part in value for text in strings_in(part)]
    if isinstance(value, dict):
        return [text for part in value.values() for text in strings_in(part)]
    return []


def test_practice_covers_the_supported_languages() -> None:
    assert sorted(TEXTS) == sorted(OWN_NAMES)


def test_every_task_of_a_campaign_has_its_texts() -> None:
    campaigns = [Campaign(task=task) for task in known_tasks()]
    assert {kind_of(campaign).practice_task(campaign) for campaign in campaigns} <= set(SECTIONS)


@every_language
@pytest.mark.parametrize("section", ["adequacy", "fluency"])
def test_practice_in_a_language_is_complete(language: str, section: str) -> None:
    gray = {"reference"} if section == "adequacy" else set()
    entry = TEXTS[language][section]
    assert set(entry) == {"examples", "practice", "check"}
    assert [set(e) for e in entry["examples"]] == [gray | {"translation", "score", "why"}] * 2
    feedback = {"low", "high", "too_low", "too_high", "fine"}
    assert [set(e) for e in entry["practice"]] == [gray | feedback | {"translation"}] * 3
    assert [(item["low"], item["high"]) for item in entry["practice"]] == BANDS
    assert set(entry["check"]) == {"question", "options", "answer"}
    assert len(set(entry["check"]["options"])) == 3
    assert entry["check"]["answer"] in range(3)


@every_language
def test_practice_of_editing_is_complete_and_its_right_edits_small(language: str) -> None:
    entry = TEXTS[language]["editing"]
    fields = {"reference", "translation", "edited", "why", "alone"}
    assert [set(e) for e in entry["examples"] + entry["practice"]] == [fields] * 5
    assert [e["alone"] for e in entry["examples"] + entry["practice"]] == [
        *(False, True),
        *(True, False, True),
    ]
    right, reversed_meaning, grammar = practice_for(language, "edit").items
    assert right.is_right and not reversed_meaning.is_right and not grammar.is_right
    for item in practice_for(language, "edit").items:
        assert item.gray_text != item.translation
        assert share_changed(item.translation, item.edited, spaced=is_spaced(language)) <= 0.5
    assert (entry["check"]["answer"], len(set(entry["check"]["options"]))) == (0, 3)


def verdict(item: EditedText, text: str) -> str:
    return judge_edit(item, text).verdict


@every_language
@pytest.mark.parametrize("shows", ["reference", "source", "both", "nothing"])
def test_practice_edits_are_judged_by_the_right_edit_whatever_is_gray(
    language: str, shows: str
) -> None:
    practice = practice_for(language, "edit", source_language_code="de", shows=shows)
    right, *wrong = practice.items
    assert verdict(right, right.translation) == "fine"
    assert verdict(right, wrong[0].edited) == "too_high"
    assert len(wrong) == (1 if shows == "nothing" else 2)
    assert {item.gray_language for item in practice.items} == {
        {"source": "de", "nothing": ""}.get(shows, language)
    }
    for item in wrong:
        assert verdict(item, item.edited.rstrip(".。।")) == "fine", "whatever the punctuation"
        assert verdict(item, item.translation) == "too_low"
        assert verdict(item, "") == "too_high"
        assert verdict(item, right.translation) == "too_high"
        assert verdict(item, f"{item.edited} {item.edited}") == "too_high"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The children may swim in the lake, but never in the river.", "too_low"),
        ("The children may swim in the lake, not in the river.", "too_low"),
        ("The kids may swim in the lake, but not in the river.", "too_high"),
    ],
)
def test_other_edits_are_compared_with_the_right_one(text: str, expected: str) -> None:
    assert verdict(practice_for("en", "edit").items[1], text) == expected


def test_the_right_answer_about_fluency_has_no_fixed_position() -> None:
    assert {entry["fluency"]["check"]["answer"] for entry in TEXTS.values()} == {0, 1, 2}


@every_language
def test_no_practice_translation_is_a_copy_of_its_reference(language: str) -> None:
    adequacy = TEXTS[language]["adequacy"]
    for item in adequacy["examples"] + adequacy["practice"]:
        assert item["reference"] != item["translation"]


@every_language
def test_every_text_is_tidy_and_ends_with_punctuation(language: str) -> None:
    for text in strings_in(TEXTS[language]):
        assert text == re.sub(r"[ \t\n]+", " ", text).strip()
        assert re.search(r"[.?。？؟।]$", text)


@pytest.mark.parametrize("language", SCRIPTS)
def test_practice_is_written_in_the_script_of_its_language(language: str) -> None:
    texts = strings_in(TEXTS[language])
    assert all(re.search(SCRIPTS[language], text) for text in texts)
    assert not any(re.search(r"[A-Za-z]", text) for text in texts)


def test_french_punctuation_never_starts_a_line() -> None:
    assert not any(re.search(r" [:;?!»]|« ", text) for text in strings_in(TEXTS["fr"]))


@every_language
@every_task
def test_a_statement_names_its_language_and_ends_as_a_sentence(language: str, task: str) -> None:
    statement = statement_for(language, task)
    assert statement == TEXTS[language]["statements"][task]
    assert OWN_NAMES[language] in statement


@every_language
@every_task
def test_practice_is_loaded_completely(language: str, task: str) -> None:
    practice = practice_for(language, task)
    entry = TEXTS[language][SECTIONS[task]]
    assert (practice.language, practice.statement) == (language, statement_for(language, task))
    for part, texts in [("examples", practice.examples), ("practice", practice.items)]:
        for written, loaded in zip(entry[part], texts, strict=True):
            for field, value in dataclasses.asdict(loaded).items():
                assert "gray" in field or value == written.get(field, language)
    assert practice.check.question == entry["check"]["question"]
    assert list(practice.check.options) == entry["check"]["options"]
    assert practice.check.answer == entry["check"]["answer"]


def test_the_gray_text_depends_on_the_task() -> None:
    by_reference = practice_for("de", "reference").items[0]
    assert by_reference.gray_text == "Ihr Bruder hat letzte Woche einen Gebrauchtwagen gekauft."
    assert by_reference.gray_language == "de"
    by_source = practice_for("de", "source", source_language_code="en").items[0]
    assert by_source.gray_text == "Her brother bought a used car last week."
    assert by_source.gray_language == "en"
    assert by_source.translation == by_reference.translation
    fluency = practice_for("de", "fluency").items[0]
    assert (fluency.gray_text, fluency.gray_language) == ("", "")


def test_a_source_is_shown_in_the_source_language_of_the_campaign() -> None:
    practice = practice_for("en", "source", source_language_code="ru-RU")
    assert {example.gray_language for example in practice.examples + practice.items} == {"ru"}
    assert practice.items[1].gray_text == "Врач посоветовал ему не ходить на работу."
    assert practice.items[1].translation == "The doctor advised him to go to work."


@pytest.mark.parametrize(
    ("source", "target", "gray"), [("is", "de", "de"), ("en", "is", "en"), ("is", "ko", "en")]
)
def test_without_texts_in_the_source_language_the_gray_text_is_a_reference(
    source: str, target: str, gray: str
) -> None:
    practice = practice_for(target, "source", source_language_code=source)
    assert {item.gray_language for item in practice.items} == {gray}


def test_the_source_language_changes_nothing_for_the_other_tasks() -> None:
    for task in ("reference", "fluency"):
        assert practice_for("de", task, source_language_code="fr") == practice_for("de", task)


@pytest.mark.parametrize(
    ("code", "language"),
    [("zh-Hans", "zh"), ("zh-TW", "zh-Hant"), ("EN-us", "en"), ("pt-BR", "pt"), ("is", "en")],
)
@every_task
def test_a_variety_falls_back_to_its_language_and_others_to_english(
    code: str, language: str, task: str
) -> None:
    assert wording_language(code) == language
    assert practice_for(code, task) == practice_for(language, task)


def test_a_variety_has_the_statement_of_its_language() -> None:
    assert statement_for("zh-SG", "fluency") == "这段文字是通顺流畅的中文。"
    assert statement_for("zh-HK", "fluency") == "這段文字是通順流暢的中文。"
    assert statement_for("en-GB", "fluency") == "The text is fluent English."


def test_the_statement_for_an_unknown_language_names_it_in_english() -> None:
    assert statement_for("is", "fluency") == "The text is fluent Icelandic."
    assert statement_for("bn-IN", "fluency") == "The text is fluent Bangla (India)."
    expected = "The black text adequately expresses the meaning of the gray text in Icelandic."
    assert statement_for("is", "reference") == statement_for("is", "source") == expected


def test_practice_for_an_unknown_language_is_about_english() -> None:
    assert practice_for("is", "fluency").statement == "The text is fluent English."


@pytest.mark.parametrize(
    ("number", "score", "verdict"),
    [
        *[(0, 69, "too_low"), (0, 70, "fine"), (0, 100, "fine")],
        *[(1, 0, "fine"), (1, 40, "fine"), (1, 41, "too_high")],
        *[(2, 19, "too_low"), (2, 20, "fine"), (2, 80, "fine"), (2, 81, "too_high")],
    ],
)
@every_task
def test_feedback_changes_at_the_bounds(task: str, number: int, score: int, verdict: str) -> None:
    item = practice_for("en", task).items[number]
    assert item.feedback(score) == (verdict, getattr(item, verdict))


def test_an_unknown_task_is_refused() -> None:
    with pytest.raises(KeyError, match="grammar"):
        practice_for("en", "grammar")
