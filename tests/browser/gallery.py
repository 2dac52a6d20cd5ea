"""Which pages have pictures in the documentation, and the page that shows them all."""

from collections.abc import Iterable
from pathlib import Path

from django.conf import settings

DOCS = Path(settings.BASE_DIR) / "docs"
GALLERY = DOCS / "gallery.md"
FOLDER = DOCS / "images"
# What the names of a page's four pictures end with.
LOOKS = {"": "light", "-dark": "dark", "-phone": "phone", "-phone-dark": "phone, dark"}

WORKERS = {
    "landing": "What awaits a worker, what it pays, and what is stored",
    "instructions": "What to do, with worked examples",
    "practice": "A practice text, and how close the score was",
    "rate": "A HIT: the reference in gray, the translation in black, a slider",
    "rate-arabic": "The same from right to left",
    "done": "The end of a HIT, with its completion code",
}
ADMINS = {
    "campaigns": "All campaigns and how far they are",
    "new-campaign": "A new campaign, step by step",
    "preview": "A campaign as its workers will see it",
    "cost": "What it will cost, before it starts",
    "dashboard": "A campaign while it runs",
    "workers": "Its workers with their evidence, to sort, filter and decide about",
    "worker": "One worker: what the ratings say, in words and pictures",
    "payments": "What is owed and what was paid",
    "recruiting": "How workers come in",
    "settings": "Settings, and which of them may still change",
    "people": "Who may log in, and what they may do",
    "audit": "Who decided what, when and why",
    "jobs": "What runs behind the pages",
    "health": "How the system fares",
}
RESEARCHERS = {
    "results": "The ranking of systems",
    "segments": "The score of every translation",
    "report": "The report, as a page and as PDF",
    "metrics": "Metrics and which way they go",
    "evaluations": "All evaluations",
    "evaluation": "Metrics against gold, with tests and tables for a paper",
    "api": "The API's reference",
}
SECTIONS = {"Workers": WORKERS, "Admins": ADMINS, "Researchers": RESEARCHERS}


def gallery_text() -> str:
    """The page of all pictures, in Markdown."""
    lines = [
        "# Gallery",
        "",
        "Every main page on a desk and on a phone, in light and dark. The pictures are taken from a demo by",
        "`python -m tests.browser.take_screenshots`.",
    ]
    for title, pages in SECTIONS.items():
        lines += ["", f"## {title}"]
        for name, caption in pages.items():
            lines += ["", f"**{caption}**", "", _row(LOOKS.values()), _row(["---"] * len(LOOKS))]
            lines.append(_row(_picture(name + ending, caption) for ending in LOOKS))
    return "\n".join(lines) + "\n"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _picture(name: str, caption: str) -> str:
    return f"[![{caption}](images/{name}.png)](images/{name}.png)"
