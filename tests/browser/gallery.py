"""The pages that have screenshots in the documentation, and the gallery that shows them all."""

from collections.abc import Iterable
from pathlib import Path

from django.conf import settings

DOCS = Path(settings.BASE_DIR) / "docs"
GALLERY = DOCS / "gallery.md"
FOLDER = DOCS / "images"
# What a command draws (`benchmarks.adaptive_ranking`), not screenshots.
FIGURES = {"adaptive-ranking"}

# The suffixes of a page's screenshots: two, and four for those that people look at longest.
LOOKS = {"": "light", "-phone": "phone"}
ALL_LOOKS = {"": "light", "-dark": "dark", "-phone": "phone", "-phone-dark": "phone, dark"}
IN_ALL_LOOKS = {"front", "rate", "rate-arabic", "dashboard", "worker", "results", "evaluation"}

EVERYONE = {
    "front": "The front page",
    "campaigns": "The first page of a fresh platform: the examples, and the way to a first campaign",
    "help": "Help",
    "help-search": "Help: looking for a word",
}
WORKERS = {
    "landing": "The landing page: the task, the pay, and what is stored",
    "instructions": "Instructions with worked examples",
    "practice": "A practice item with feedback on the score",
    "rate": "A HIT: the reference in gray, the translation in black, a slider",
    "rate-arabic": "The same in a right-to-left language",
    "in-documents": "A HIT in documents: earlier segments stay in view",
    "side-by-side": "A HIT with several outputs on one screen",
    "rank": "A HIT that ranks outputs from best to worst",
    "edit": "A HIT that corrects outputs",
    "done": "The end of a HIT, with its completion code",
}
ADMINS = {
    "plan": "A plan: what it takes to tell systems apart, and what that costs",
    "new-campaign": "A new campaign, step by step",
    "draft": "A campaign that waits for its files",
    "list": "The campaigns of a platform in use",
    "preview": "A preview of what workers will see",
    "cost": "The expected cost, before the campaign starts",
    "dashboard": "The dashboard of a running campaign",
    "workers": "The workers of a campaign, with their evidence",
    "worker": "One worker's evidence, with charts",
    "held": "HITs done faster than anyone reads",
    "reports": "Texts that workers reported",
    "payments": "Payments: owed and paid",
    "recruiting": "Recruiting workers",
    "settings": "Settings, and which of them can still be changed",
    "people": "People and their roles",
    "audit": "The audit log: who did what, when and why",
    "jobs": "Background jobs",
    "health": "System health",
}
RESEARCHERS = {
    "finished": "A finished campaign",
    "results": "The ranking of systems",
    "segments": "The scores of all translations",
    "weights": "What each worker's ratings weigh in weighted gold",
    "report": "The report, also available as PDF",
    "ranking": "Systems ranked by judgements, with TrueSkill and clusters",
    "post-editions": "Post-editions, word by word",
    "effects": "Whether the place on a screen or in a document changes ratings",
    "metrics": "Metrics and their directions",
    "evaluations": "All evaluations",
    "evaluation": "A metric evaluation, with significance tests and tables",
    "evaluation-qe": "An evaluation of quality estimation",
    "experiment": "An experiment: do tests of outputs agree with people?",
    "api": "The API reference",
}
SECTIONS = {
    "First steps": EVERYONE,
    "Workers": WORKERS,
    "Admins": ADMINS,
    "Researchers": RESEARCHERS,
}


def looks_of(name: str) -> dict[str, str]:
    return ALL_LOOKS if name in IN_ALL_LOOKS else LOOKS


def gallery_text() -> str:
    """Return the gallery as Markdown."""
    lines = [
        "# Gallery",
        "",
        "The main pages on desktop and phone, some of them also in dark mode. To take the screenshots again, run",
        "`python -m tests.browser.take_screenshots`.",
    ]
    for title, pages in SECTIONS.items():
        lines += ["", f"## {title}"]
        for name, caption in pages.items():
            looks = looks_of(name)
            lines += ["", f"**{caption}**", "", _row(looks.values()), _row(["---"] * len(looks))]
            lines.append(_row(_picture(name + ending, caption) for ending in looks))
    return "\n".join(lines) + "\n"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _picture(name: str, caption: str) -> str:
    return f"[![{caption}](images/{name}.png)](images/{name}.png)"
