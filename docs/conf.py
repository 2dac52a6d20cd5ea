"""How Sphinx builds the site: `make docs`. The pages, their order and their anchors are those of `/help/`."""

import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_parser.parsers.sphinx_ import MystParser
from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parents[1]))

from da_platform.help import pages  # noqa: E402

project = "DA Platform"
html_title = "DA Platform"
extensions = ["myst_parser"]
root_doc = pages.CONTENTS
html_theme = "furo"
html_favicon = "../hits/static/hits/icon.svg"
html_copy_source = html_show_sphinx = False
# The same anchors as in the platform, down to the headings of the glossary.
myst_heading_anchors = 4
myst_heading_slug_func = "da_platform.help.pages.slug"


class NotebookParser(MystParser):
    """Reads a notebook as the Markdown of its cells."""

    supported = ("notebook",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        super().parse(pages.notebook_as_markdown(inputstring), document)


def prepare(app: Sphinx, name: str, source: list[str]) -> None:
    """Leave out links to files that are not pages, and give the first page a table of contents for the menu."""
    if app.env.doc2path(name).suffix != ".ipynb":
        source[0] = pages.without_outside_links(source[0], name)
    if name == root_doc:
        source[0] += "".join(map(_menu, *zip(*pages.contents().items(), strict=True)))


def _menu(part: str, entries: list[pages.Entry]) -> str:
    lines = "\n".join(f"{entry.label} <{entry.name}>" for entry in entries)
    return f"\n```{{toctree}}\n:hidden:\n:caption: {part}\n\n{lines}\n```\n"


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(NotebookParser)
    app.connect("source-read", prepare)
    return {"parallel_read_safe": True}
