"""The documentation under /help/."""

import re
from html.parser import HTMLParser

import pytest
from django.urls import reverse

from da_platform.help import pages
from da_platform.help.pages import slug
from hits.models import Participation
from hits.workers.reading import FLAG_LABELS
from tests.people import client_of

# Staff pages link to these terms.
TERMS = ["Places", "Promised", "Trusted", "Gold", "z", "Cluster", "HITs held"]


def html_of(text: str, monkeypatch, tmp_path) -> str:
    """Render a page with this Markdown."""
    (tmp_path / "page.md").write_text(f"# Title\n\n{text}")
    monkeypatch.setattr(pages, "files", lambda: {"page": tmp_path / "page.md"})
    return pages.page("page", root=f"/{tmp_path.name}/").html


@pytest.mark.django_db
@pytest.mark.parametrize("visitor", ["stranger", "researcher"])
def test_everyone_can_open_every_page(visitor):
    client = client_of(visitor)
    for name in pages.files():
        answer = client.get(reverse("help_page", args=[name]))
        assert answer.status_code == 200, name
        assert 'aria-current="page"' in answer.text or name == pages.CONTENTS


def test_the_contents_come_first(client):
    answer = client.get(reverse("help"))
    assert "<h1" in answer.text
    for entries in pages.contents().values():
        assert entries
        for entry in entries:
            assert reverse("help_page", args=[entry.name]) in answer.text


@pytest.mark.parametrize(
    "address", ["/help/nothing/", "/help/../da_platform/settings/", "/help/images/../index.md"]
)
def test_only_pages_and_pictures_are_served(client, address):
    assert client.get(address, follow=True).status_code == 404


class Links(HTMLParser):
    """Collects where a page leads, without the menu of the platform."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.anchors |= {values["id"]} if "id" in values else set()
        self.links += [values[name] for name in ("href", "src") if name in values]


def links_of(text: str) -> Links:
    found = Links()
    found.feed(text)
    return found


def test_links_and_pictures_of_every_page_lead_somewhere(client):
    shown = {reverse("help_page", args=[name]): name for name in pages.files()}
    shown[reverse("help")] = pages.CONTENTS
    found = {name: links_of(pages.page(name, root=reverse("help")).html) for name in pages.files()}
    for name, page in found.items():
        for link in page.links:
            address, _, anchor = link.partition("#")
            if link.startswith("http"):
                continue
            if address.endswith(".png"):
                assert address.removeprefix("/help/images/") in pages.pictures(), link
                continue
            target = shown[address] if address else name
            assert not anchor or anchor in found[target].anchors, f"{name}: {link}"


def test_a_picture_is_an_image_that_browsers_keep(client):
    answer = client.get(reverse("help_picture", args=["rate.png"]))
    assert answer["Content-Type"] == "image/png"
    assert "max-age" in answer["Cache-Control"]
    assert b"".join(answer.streaming_content).startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "term",
    [*TERMS, *FLAG_LABELS.values(), *Participation.Trust.labels, *Participation.Decision.labels],
)
def test_the_glossary_has_a_stable_anchor_for_every_term(term):
    anchors = [section.anchor for section in pages.page("glossary", root="/help/").sections]
    assert anchors.count(slug(term)) == 1


def test_markup_in_a_page_is_shown_as_text(monkeypatch, tmp_path):
    html = html_of(
        '<script>alert(1)</script> [x](javascript:alert) <b onclick="x">y</b>',
        monkeypatch,
        tmp_path,
    )
    assert "<script" not in html and "<b " not in html and "href" not in html


def test_no_page_has_inline_styles_or_scripts():
    for name in pages.files():
        tags = re.findall(r"<[^>]+>", pages.page(name, root="/help/").html)
        assert not [tag for tag in tags if re.match(r"<(script|style)|.* (style|on\w+)=", tag)], (
            name
        )


def test_a_table_scrolls_by_keyboard_and_aligns_by_class(monkeypatch, tmp_path):
    html = html_of("| | n |\n|---|---:|\n| a | 1 |", monkeypatch, tmp_path)
    assert 'class="table" tabindex="0" role="region" aria-label="Table 1"' in html
    assert '<td class="number">1</td>' in html
    assert "<td></td>" in html and "style" not in html


def test_a_link_to_a_file_outside_the_pages_becomes_text(monkeypatch, tmp_path):
    html = html_of("[tests](../tests/README.md) and [this](page.md#a)", monkeypatch, tmp_path)
    assert "tests and" in html
    assert html.count("<a ") == 1


def test_a_notebook_is_shown_with_its_output():
    html = pages.page("notebooks/metric_evaluation", root="/help/").html
    assert "import numpy" in html and "<h1" in html


def test_a_changed_page_is_shown_at_once(monkeypatch, tmp_path):
    assert "old" in html_of("old", monkeypatch, tmp_path)
    assert "new" in html_of("new", monkeypatch, tmp_path)


# Searching ------------------------------------------------------------------------------------


def test_a_search_finds_the_section_about_a_word_first(client):
    answer = client.get(reverse("help_search"), {"q": "Unproven"})
    first = re.search(r'<ol class="hits">\s*<li><a href="([^"]+)"', answer.text)
    assert first and first[1] == "/help/glossary/#unproven"


def test_a_search_needs_all_words():
    hits = pages.search("prolific webhook", root="/help/")
    assert hits
    for hit in hits:
        text = f"{hit.page.title} {hit.section.title} {hit.section.text}".lower()
        assert "prolific" in text and "webhook" in text


@pytest.mark.parametrize("text", ["", "  ", "zzzzzz", "<script>", "a" * 1000, "%00"])
def test_any_search_is_answered(client, text):
    answer = client.get(reverse("help_search"), {"q": text})
    assert answer.status_code == 200
    assert "<script>" not in answer.text


# The way there --------------------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["home", "jobs", "password_change"])
def test_staff_pages_link_to_the_help(name):
    assert f'href="{reverse("help")}"' in client_of("admin").get(reverse(name)).text


@pytest.mark.django_db
def test_staff_read_the_help_with_a_fixed_number_of_queries(django_assert_max_num_queries):
    client = client_of("admin")
    # The session, the user and their roles.
    with django_assert_max_num_queries(4):
        client.get(reverse("help_page", args=["glossary"]))
    with django_assert_max_num_queries(4):
        client.get(reverse("help_search"), {"q": "gold"})


def test_a_stranger_reads_the_help_without_a_query(client):
    # A query would be an error, because this test has no mark for the database.
    assert client.get(reverse("help_page", args=["glossary"])).status_code == 200
    assert client.get(reverse("help_search"), {"q": "gold"}).status_code == 200


# Files ----------------------------------------------------------------------------------------
