import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "statistics-gold.md"


def test_every_example_on_the_page_gives_what_it_says():
    found = doctest.testfile(str(PAGE), module_relative=False)
    assert found.attempted > 20
    assert found.failed == 0
