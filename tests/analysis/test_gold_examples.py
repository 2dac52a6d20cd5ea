import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "statistics-gold.md"


def test_the_examples_in_the_documentation_are_correct():
    result = doctest.testfile(str(PAGE), module_relative=False)
    assert result.attempted > 20
    assert result.failed == 0
