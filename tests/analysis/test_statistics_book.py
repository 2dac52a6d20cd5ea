"""The examples in docs/statistics give the output they show."""

import doctest
from pathlib import Path

import pytest

BOOK = Path(__file__).parents[2] / "docs" / "statistics"
PAGES = sorted(path for path in BOOK.glob("*.md") if ">>> " in path.read_text())


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_every_example_of_a_page_runs(page):
    # A fence would be taken for output.
    text = page.read_text().replace("```python\n", "\n").replace("```\n", "\n")
    examples = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    report: list[str] = []
    failed, _ = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(
        examples, out=report.append
    )
    assert failed == 0, "".join(report)


def test_every_page_has_an_example():
    without = {page.name for page in BOOK.glob("*.md")} - {page.name for page in PAGES}
    # The index and the list of rules have nothing to run.
    assert without == {"README.md", "reference.md"}


def test_the_index_lists_every_page():
    index = (BOOK / "README.md").read_text()
    missing = [path.name for path in BOOK.glob("*.md") if f"({path.name})" not in index]
    assert missing == ["README.md"]
