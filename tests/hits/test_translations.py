"""The workers' pages are translated completely into every language that a campaign can choose."""

import html
import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path

import pytest
from babel.messages import Catalog, Message
from babel.messages.extract import DEFAULT_KEYWORDS, extract
from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po
from django.conf import settings
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse
from django.utils import translation
from django.utils.translation import ngettext, to_locale
from django.utils.translation.template import templatize

from hits.languages import direction
from hits.models import Assignment, Campaign
from hits.rating.assignments import take_assignment
from hits.rating.practice import GRAY, statement_for
from tests.factories import make_hits, make_worker, rate_items
from tests.recruits import right_answer, wrong_answer
from tests.script_direction import direction_of

SOURCE_FOLDERS = ["hits", "analysis", "da_platform"]
LANGUAGES = [code for code, _ in settings.LANGUAGES if code != "en"]
# Django's functions that Babel does not know.
KEYWORDS = DEFAULT_KEYWORDS | {"gettext_lazy": None, "gettext_noop": None}
KEYWORDS |= {"ngettext_lazy": (1, 2), "pgettext_lazy": ((1, "c"), 2)}
PLACEHOLDER = re.compile(r"%\(\w+\)s|\{\w+\}")
UNAVAILABLE = ["paused", "closed", "no_hit", "busy", "screened_out", "not_invited", "declined"]

# Pages are visited in a few languages: one of each script, and of those with the longest words.
VISITED = ["ar", "de", "hi", "ja", "ru", "uk", "zh-hans"]

every_language = pytest.mark.parametrize("language", LANGUAGES)
visited_language = pytest.mark.parametrize("language", VISITED)


# The catalogues ------------------------------------------------------------------------------


def catalogue_path(language: str, suffix: str) -> Path:
    [folder] = settings.LOCALE_PATHS
    return folder / to_locale(language) / "LC_MESSAGES" / f"django.{suffix}"


@cache
def catalogue(language: str) -> Catalog:
    with catalogue_path(language, "po").open("rb") as file:
        return read_po(file, abort_invalid=True)


def messages(catalog: Catalog) -> list[Message]:
    """List all entries except the header."""
    return [message for message in catalog if message.id]


def forms(text: str | tuple[str, ...] | list[str]) -> list[str]:
    return [text] if isinstance(text, str) else list(text)


def translations(catalog: Catalog) -> dict[tuple[str, ...], list[str]]:
    return {tuple(forms(message.id)): forms(message.string) for message in messages(catalog)}


@cache
def marked_strings() -> set[str | tuple[str, ...]]:
    """Collect the strings marked for translation, as `makemessages` does."""
    marked: set[str | tuple[str, ...]] = set()
    for path, source in sources():
        for _, text, _, _ in extract("python", BytesIO(source.encode()), KEYWORDS):
            assert text, f"An empty string is marked in {path}"
            marked.add(text)
    return marked


def sources() -> Iterator[tuple[Path, str]]:
    for folder in SOURCE_FOLDERS:
        for path in (settings.BASE_DIR / folder).rglob("*.py"):
            yield path, path.read_text(encoding="utf-8")
    for path in (settings.BASE_DIR / "templates").rglob("*.html"):
        # Babel cannot parse the indentation that templatize leaves.
        lines = templatize(path.read_text(encoding="utf-8")).splitlines()
        yield path, "\n".join(line.strip() for line in lines)


def test_there_is_a_catalogue_for_every_language_and_no_other() -> None:
    [folder] = settings.LOCALE_PATHS
    assert sorted(path.name for path in folder.iterdir()) == sorted(map(to_locale, LANGUAGES))


def test_the_scan_finds_strings_in_pages_and_in_python() -> None:
    marked = marked_strings()
    assert "Set the slider first." in marked  # {% translate %}
    assert ("%(size)s text", "%(size)s texts") in marked  # {% blocktranslate count %}
    assert "We could not find your task in this browser." in marked  # gettext()


@every_language
def test_a_catalogue_has_exactly_the_strings_marked_in_the_sources(language: str) -> None:
    catalog = catalogue(language)
    ids = {tuple(m.id) if m.pluralizable else m.id for m in messages(catalog)}
    assert ids == marked_strings()
    assert not catalog.obsolete


@every_language
def test_every_string_is_translated_in_all_its_forms(language: str) -> None:
    catalog = catalogue(language)
    assert not catalog.fuzzy
    for message in messages(catalog):
        assert not message.fuzzy
        assert all(text.strip() for text in forms(message.string)), message.id
        assert len(forms(message.string)) == (catalog.num_plurals if message.pluralizable else 1)


@every_language
def test_a_translation_keeps_its_placeholders(language: str) -> None:
    for message in messages(catalogue(language)):
        expected = sorted(PLACEHOLDER.findall(forms(message.id)[0]))
        for text in forms(message.string):
            assert sorted(PLACEHOLDER.findall(text)) == expected, message.id


@every_language
def test_a_translation_has_no_stray_spaces_or_markup(language: str) -> None:
    for message in messages(catalogue(language)):
        for text in forms(message.string):
            assert text == text.strip() and "  " not in text
            # Templates do not escape it, and the slider's labels are split at bars.
            assert not re.search(r'[<>&"|]', text), text


def test_french_punctuation_stays_on_the_line_of_its_word() -> None:
    for message in messages(catalogue("fr")):
        assert not any(re.search(r"[^\u00a0][:;?!»]", text) for text in forms(message.string))


@every_language
def test_the_compiled_catalogue_is_up_to_date(language: str) -> None:
    with catalogue_path(language, "mo").open("rb") as file:
        compiled = read_mo(file)
    written = catalogue(language)
    assert translations(compiled) == translations(written)
    assert compiled.plural_forms == written.plural_forms


@pytest.mark.parametrize(
    ("language", "n", "texts", "minutes"),
    [
        ("de", 1, "1 Text", "etwa 1 Minute"),
        ("de", 100, "100 Texte", "etwa 100 Minuten"),
        ("es", 40, "40 textos", "alrededor de 40 minutos"),
        ("fr", 0, "0 texte", "environ 0 minute"),
        ("fr", 40, "40 textes", "environ 40 minutes"),
        ("cs", 1, "1 text", "asi 1 minuta"),
        ("cs", 3, "3 texty", "asi 3 minuty"),
        ("cs", 40, "40 textů", "asi 40 minut"),
        ("ru", 21, "21 текст", "около 21 минуты"),
        ("ru", 12, "12 текстов", "около 12 минут"),
        ("ru", 22, "22 текста", "около 22 минут"),
        ("zh-hans", 40, "40 段文字", "约 40 分钟"),
        ("pl", 22, "22 teksty", "około 22 minut"),
        ("uk", 21, "21 текст", "близько 21 хвилини"),
        ("ja", 40, "文章40件", "約40分"),
        ("ar", 5, "5 نصوص", "نحو 5 دقائق"),
        ("ar", 40, "40 نصًا", "نحو 40 دقيقة"),
        ("ar", 100, "100 نص", "نحو 100 دقيقة"),
    ],
)
def test_numbers_have_the_right_plural_form(
    language: str, n: int, texts: str, minutes: str
) -> None:
    with translation.override(language):
        assert ngettext("%(size)s text", "%(size)s texts", n) % {"size": n} == texts
        about = ngettext("about %(minutes)s minute", "about %(minutes)s minutes", n)
        assert about % {"minutes": n} == minutes


# The pages -----------------------------------------------------------------------------------


class Wording(HTMLParser):
    """Collect the wording of a page: its text and the labels for screen readers and scripts."""

    # Texts to rate, completion codes and amounts of money are not translated.
    UNTRANSLATED = re.compile(
        r'<(script|output|bdi|p class="text)\b.*?</(script|output|bdi|p)>', re.S
    )
    LABELS = frozenset(
        ["aria-label", "aria-valuetext", "data-unset", "data-words", "data-pattern"]
        + [f"data-{state}" for state in ("saved", "saving", "offline", "waiting", "elsewhere")]
    )

    def __init__(self, page: str) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.feed(self.UNTRANSLATED.sub("", page))

    def handle_data(self, data: str) -> None:
        self.parts.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.parts += [value or "" for name, value in attrs if name in self.LABELS]

    @property
    def words(self) -> str:
        text = " ".join(" ".join(self.parts).split())
        return PLACEHOLDER.sub("", text)


class Visit:
    """Visit the pages of a campaign as a worker and store each of them."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        self.client = Client()
        self.pages: dict[str, str] = {}

    def see(self, name: str, url: str, answer: dict[str, object] | None = None) -> str:
        response = self.client.get(url) if answer is None else self.client.post(url, answer)
        assert response.status_code in (200, 404, 409, 422), (name, response.status_code)
        self.pages[name] = response.content.decode()
        return self.pages[name]

    def url(self, name: str, *args: object) -> str:
        return reverse(name, args=[self.campaign.code, *args])

    def take_hit(self) -> Assignment:
        """Agree, answer the question and take a HIT."""
        self.client.post(self.url("landing"))
        self.client.post(self.url("check"), {"answer": right_answer(self.campaign)})
        self.client.post(self.url("next_hit"))
        return Assignment.objects.get(hit__campaign=self.campaign)

    def get_ready(self) -> None:
        self.see("landing", self.url("landing"))
        self.see("privacy", self.url("privacy"))
        self.client.post(self.url("landing"))
        self.see("instructions", self.url("instructions"))
        self.see("practice", self.url("practice", 1))
        self.see("practice, unset", self.url("practice", 1), {"score": ""})
        self.see("practice, too low", self.url("practice", 1), {"score": 0})
        self.see("practice, last", self.url("practice", 3), {"score": 50})
        self.see("check", self.url("check"))
        self.see("check, wrong", self.url("check"), {"answer": wrong_answer(self.campaign)})

    def work(self) -> None:
        assignment = self.take_hit()
        rate = reverse("rate", args=[assignment.code])
        self.see("landing, again", self.url("landing"))
        self.see("rate", rate)
        self.see("rate, unset", rate, {})
        rate_items(assignment)
        self.see("finish", reverse("finish", args=[assignment.code]))
        self.client.post(reverse("finish", args=[assignment.code]), {"comment": ""})
        self.see("done", reverse("done", args=[assignment.code]))
        self.see("unavailable", self.url("next_hit"))


def make_campaign_in(language: str, **fields: object) -> Campaign:
    """Make an open campaign with pages in a language; the texts to rate stay English."""
    campaign = make_hits(pay_per_hit="2.50")
    settings = {"target_language": language, "interface_language": language} | fields
    Campaign.objects.filter(pk=campaign.pk).update(**settings)
    return Campaign.objects.get(pk=campaign.pk)


def visit_all_pages(language: str, **fields: object) -> dict[str, str]:
    campaign = make_campaign_in(language, **fields)
    visit = Visit(campaign)
    visit.get_ready()
    visit.work()
    return visit.pages | unavailable_pages(campaign)


def unavailable_pages(campaign: Campaign) -> dict[str, str]:
    language = campaign.page_language
    context = {"page_language": language, "page_direction": direction(language)}
    with translation.override(language):
        return {
            f"unavailable, {reason}": render_to_string(
                "hits/unavailable.html", context | {"reason": reason}
            )
            for reason in UNAVAILABLE
        }


def english_left(page: str, language: str) -> list[str]:
    words = Wording(html.unescape(page)).words
    return [
        original
        for message in messages(catalogue(language))
        for original, translated in zip(forms(message.id), forms(message.string), strict=False)
        if original != translated
        and not PLACEHOLDER.search(original)
        and re.search(rf"(?<!\w){re.escape(original)}(?!\w)", words)
    ]


@pytest.mark.django_db
@visited_language
def test_every_page_is_in_the_language_and_direction_of_the_campaign(language: str) -> None:
    for name, page in visit_all_pages(language).items():
        direction_code = direction_of(statement_for(language, Campaign.Task.FLUENCY))
        assert f'<html lang="{language}" dir="{direction_code}">' in page, name
        assert english_left(page, language) == [], name
        if language != "de":
            # Latin letters, except the name of the key, are strings not marked for translation.
            assert set(re.findall(r"[A-Za-z]+", Wording(page).words)) <= {"Enter"}, name


@pytest.mark.django_db
@visited_language
def test_the_instructions_for_fluency_are_translated(language: str) -> None:
    visit = Visit(make_campaign_in(language, task=Campaign.Task.FLUENCY))
    visit.get_ready()
    assert english_left(visit.pages["instructions"], language) == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("language", "heading", "button", "ends", "thanks"),
    [
        ("de", "Wie gut sind diese Übersetzungen?", "Weiter", "stimme voll zu", "Vielen Dank!"),
        (
            "fr",
            "Que valent ces traductions\u00a0?",
            "Suivant",
            "tout à fait d’accord",
            "Merci\u00a0!",
        ),
        ("ar", "ما مدى جودة هذه الترجمات؟", "التالي", "أوافق تمامًا", "شكرًا لك!"),
    ],
)
def test_prominent_texts_are_translated(
    language: str, heading: str, button: str, ends: str, thanks: str
) -> None:
    pages = visit_all_pages(language)
    assert f"<h1>{heading}</h1>" in pages["landing"]
    assert f'id="next">{button}</button>' in pages["rate"]
    assert f"<span>{ends}</span>" in pages["rate"]
    assert f"<h1>{thanks}</h1>" in pages["done"]


@pytest.mark.django_db
def test_pages_of_an_english_campaign_are_english() -> None:
    pages = visit_all_pages("en")
    assert '<html lang="en" dir="ltr">' in pages["rate"]
    assert english_left(pages["landing"], "de")


@pytest.mark.django_db
@pytest.mark.parametrize("task", GRAY)
@pytest.mark.parametrize(
    ("target", "page", "wording", "direction_code"),
    [
        ("cs", "de", "cs", "ltr"),
        ("ar", "en", "ar", "rtl"),
        ("en", "ar", "en", "ltr"),
        ("zh-TW", "ru", "zh-Hant", "ltr"),
        ("is", "de", "en", "ltr"),
    ],
)
def test_the_statement_is_in_the_target_language_whatever_the_page_language(
    task: str, target: str, page: str, wording: str, direction_code: str
) -> None:
    visit = Visit(make_campaign_in(page, target_language=target, task=task))
    content = visit.see("rate", reverse("rate", args=[visit.take_hit().code]))
    statement = statement_for(target, task)
    assert f'<html lang="{page}"' in content
    expected = f'id="statement" lang="{wording}" dir="{direction_code}">{statement}</p>'
    assert expected in html.unescape(content)


@pytest.mark.django_db
def test_a_refusal_is_in_the_language_of_the_campaign() -> None:
    visit = Visit(make_campaign_in("ar"))
    assignment = visit.take_hit()
    fifth = assignment.hit.items.get(position=5)
    skipping = {"position": 5, "item": fifth.code, "score": 50}
    page = visit.see("refused", reverse("rate", args=[assignment.code]), skipping)
    assert '<html lang="ar" dir="rtl">' in page
    assert "<h1>لم ينجح ذلك</h1>" in page


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("accepted", "language", "message"),
    [
        ("ru-RU,ru;q=0.9,en;q=0.5", "ru", "В этом браузере ваше задание не найдено."),
        ("is", "en", "We could not find your task in this browser."),
    ],
)
def test_a_stranger_is_refused_in_the_language_of_the_browser(
    accepted: str, language: str, message: str
) -> None:
    assignment = take_assignment(campaign=make_campaign_in("de"), worker=make_worker("alice"))
    url = reverse("rate", args=[assignment.code])
    answer = Client().get(url, headers={"Accept-Language": accepted})
    assert answer.status_code == 404
    assert f'<html lang="{language}" dir="ltr">' in answer.content.decode()
    assert message in answer.content.decode()
