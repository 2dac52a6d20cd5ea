"""The documentation as pages: Markdown files and notebooks, their contents list and a search.

`make docs` builds a site from the same files, with the same anchors. Knows nothing of Django.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from da_platform.places import SHIPPED_DIR

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

# The page that lists all others.
CONTENTS = "index"
SUFFIXES = (".md", ".ipynb")
MAX_HITS = 30
# Characters of a hit on each side of the first match.
EXCERPT = 90


def docs_folder() -> Path:
    """The folder of the pages, in a checkout or an installed package."""
    return SHIPPED_DIR / "docs"


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the text below it, up to the next heading."""

    anchor: str
    title: str
    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    name: str
    title: str
    html: str
    sections: tuple[Section, ...]

    @property
    def outline(self) -> list[Section]:
        """The main headings of the page, without its title."""
        return [section for section in self.sections if section.level == 2]


@dataclass(frozen=True, slots=True)
class Hit:
    """A section that a search found, and some of its text: the first match and what is around it."""

    page: Page
    section: Section
    before: str
    match: str
    after: str


# Files ----------------------------------------------------------------------------------------


@cache
def files() -> dict[str, Path]:
    """The file of each page. Only these are ever opened, whatever address is asked for."""
    folder = docs_folder()
    return {
        path.relative_to(folder).with_suffix("").as_posix(): path
        for path in sorted(folder.rglob("*"))
        if path.suffix in SUFFIXES
    }


@cache
def pictures() -> dict[str, Path]:
    return {path.name: path for path in sorted((docs_folder() / "images").glob("*.png"))}


def read_markdown(name: str) -> str:
    """The Markdown of a page, without links to files that are not pages or pictures, such as source code."""
    path = files()[name]
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        text = notebook_as_markdown(text)
    return without_outside_links(text, name)


def notebook_as_markdown(text: str) -> str:
    return "\n\n".join(_cell_as_markdown(cell) for cell in json.loads(text)["cells"])


def _cell_as_markdown(cell: dict[str, Any]) -> str:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return source
    printed = "".join("".join(output.get("text", [])) for output in cell.get("outputs", []))
    return f"```python\n{source}\n```\n" + (
        f"\n```text\n{printed.rstrip()}\n```" if printed else ""
    )


def without_outside_links(text: str, name: str) -> str:
    def kept(match: re.Match[str]) -> str:
        return match[1] if link_target(name, match[2]).startswith("..") else match[0]

    return re.sub(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)", kept, text)


def link_target(name: str, link: str) -> str:
    """The file that a link in a page points to, relative to the folder of all pages."""
    path = urlsplit(link).path
    return normpath(join(dirname(name), path)) if path else ""


# Contents -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Entry:
    name: str
    label: str


def contents() -> dict[str, list[Entry]]:
    """The pages in each part of the contents page: the links of its lists."""
    parts: dict[str, list[Entry]] = {}
    for line in read_markdown(CONTENTS).splitlines():
        if line.startswith("## "):
            entries = parts.setdefault(line.removeprefix("## "), [])
        elif match := re.match(r"\* \[([^\]]+)\]\(([^)]+)\)", line):
            entries.append(Entry(_without_suffix(match[2]), match[1]))
    return parts


def _without_suffix(path: str) -> str:
    return path.removesuffix(".md").removesuffix(".ipynb")


# Rendering ------------------------------------------------------------------------------------


def slug(title: str) -> str:
    """The anchor of a heading, as on GitHub."""
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")


def page(name: str, *, root: str) -> Page:
    """Return a page for a platform whose help begins at the address `root`; KeyError if there is none."""
    # The time of the file, so that a change shows at once.
    return _page(name, root, files()[name].stat().st_mtime_ns)


@lru_cache(maxsize=200)
def _page(name: str, root: str, changed: int) -> Page:
    tokens = _parser().parse(read_markdown(name))
    _set_anchors(tokens)
    sections = tuple(_sections(tokens))
    for token in tokens:
        for child in token.children or []:
            _point_to(child, name, root)
    _prepare_tables(tokens)
    return Page(
        name, sections[0].title, _parser().renderer.render(tokens, _parser().options, {}), sections
    )


@cache
def _parser() -> "MarkdownIt":
    # Imported here because most processes never show a page.
    from markdown_it import MarkdownIt

    # Without raw HTML: a tag is shown as text.
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.add_render_rule("table_open", _open_table)
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    return parser


def _open_table(_: Any, tokens: "list[Token]", place: int, *__: Any) -> str:
    number = tokens[place].meta["number"]
    return f'<div class="table" tabindex="0" role="region" aria-label="Table {number}"><table>\n'


def _prepare_tables(tokens: "list[Token]") -> None:
    """Number tables, align cells by a class instead of a style, and let empty headings be cells."""
    number = 0
    for place, token in enumerate(tokens):
        if token.type == "table_open":
            number += 1
            token.meta["number"] = number
        elif token.type in ("th_open", "td_open"):
            if "right" in str(token.attrs.pop("style", "")):
                token.attrs["class"] = "number"
            if token.tag == "th" and not tokens[place + 1].content:
                token.tag = tokens[place + 2].tag = "td"


def _set_anchors(tokens: "list[Token]") -> None:
    for token, inline in zip(tokens, tokens[1:], strict=False):
        if token.type == "heading_open":
            token.attrs["id"] = slug(_plain(inline))


def _plain(inline: "Token") -> str:
    return "".join(
        " " if child.type == "softbreak" else child.content for child in inline.children or []
    )


def _sections(tokens: "list[Token]") -> Iterator[Section]:
    """The sections of a page; the first is the page itself up to the first heading below its title."""
    heading, title, parts = None, "", []
    for token, before in zip(tokens, [None, *tokens], strict=False):
        if token.type == "heading_open":
            if heading:
                yield _section(heading, title, parts)
            heading, parts = token, []
        elif before is heading:
            title = _plain(token)
        elif token.type == "inline":
            parts.append(_plain(token))
        elif token.type in ("fence", "code_block"):
            parts.append(token.content)
    if heading:
        yield _section(heading, title, parts)


def _section(heading: "Token", title: str, parts: list[str]) -> Section:
    text = " ".join(" ".join(parts).split())
    return Section(str(heading.attrs["id"]), title, int(heading.tag.removeprefix("h")), text)


def _point_to(token: "Token", name: str, root: str) -> None:
    """Let links to files of the folder lead to their pages, and pictures to their files."""
    attribute = {"link_open": "href", "image": "src"}.get(token.type)
    if attribute is None:
        return
    link = urlsplit(str(token.attrs[attribute]))
    if link.scheme or not link.path:
        return
    target = link_target(name, link.path)
    if target.endswith(SUFFIXES):
        target = "" if _without_suffix(target) == CONTENTS else f"{_without_suffix(target)}/"
    token.attrs[attribute] = root + target + (f"#{link.fragment}" if link.fragment else "")


# Searching ------------------------------------------------------------------------------------


def search(text: str, *, root: str) -> list[Hit]:
    """Return the sections that contain all words, those with the words in their titles first."""
    words = text.lower().split()
    hits = []
    for name in [entry.name for entries in contents().values() for entry in entries]:
        shown = page(name, root=root)
        for section in shown.sections:
            everything = f"{shown.title} {section.title} {section.text}".lower()
            if words and all(word in everything for word in words):
                n_missing = sum(word not in section.title.lower() for word in words)
                hits.append((n_missing, _hit(shown, section, words)))
    # Sorting keeps the order of the contents list where the rank is the same.
    return [hit for _, hit in sorted(hits, key=lambda ranked: ranked[0])[:MAX_HITS]]


def _hit(shown: Page, section: Section, words: list[str]) -> Hit:
    text = section.text
    places = [(place, word) for word in words if (place := text.lower().find(word)) >= 0]
    start, word = min(places, default=(0, ""))
    end = start + len(word)
    before = text[max(0, start - EXCERPT) : start]
    return Hit(shown, section, before, text[start:end], text[end : end + EXCERPT])
