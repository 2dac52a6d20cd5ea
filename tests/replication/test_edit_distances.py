"""TER of thousands of published translations: the edits that sacreBLEU counts."""

from collections.abc import Iterator

import pytest
from sacrebleu.metrics.lib_ter import translation_edit_rate

from analysis.metrics.ter import edit_kinds, translation_edits
from tests.replication.locating import replication_data

pytestmark = pytest.mark.slow

PAIRS = ("cs-en", "de-en", "es-en", "en-de")
Words = list[str]


def lines(*path: str) -> list[str]:
    return replication_data(*path).read_text().removesuffix("\n").split("\n")


def post_edited() -> Iterator[tuple[Words, Words]]:
    """780 outputs in four language pairs, each with its reference and with its post-edition."""
    for pair in PAIRS:
        outputs = lines("coling16-posteditions", f"sys.{pair}")
        for kind in ("ref", "human-post-edit"):
            targets = lines("coling16-posteditions", f"{kind}.{pair}")
            for output, target in zip(outputs, targets, strict=True):
                yield output.split(), target.split()


def news() -> Iterator[tuple[Words, Words]]:
    """2,999 outputs with their references, by five systems in turn."""
    folder = replication_data("newstest2016-csen")
    systems = [
        path.read_text().splitlines()
        for path in sorted((folder / "newstest2016" / "cs-en").iterdir())
    ]
    references = next((folder / "references").iterdir()).read_text().splitlines()
    for place, reference in enumerate(references):
        yield systems[place % len(systems)][place].split(), reference.split()


@pytest.mark.parametrize(("pairs", "n"), [(post_edited, 1560), (news, 2999)])
def test_every_translation_has_the_edits_that_sacrebleu_counts(pairs, n):
    counted = list(pairs())
    assert len(counted) == n
    different = [
        pair for pair in counted if translation_edits(*pair) != translation_edit_rate(*pair)[0]
    ]
    assert different == []


def test_kinds_of_edits_add_up():
    for pair in post_edited():
        kinds = edit_kinds(*pair)
        total = kinds.insertions + kinds.deletions + kinds.substitutions + kinds.shifts
        assert total <= translation_edits(*pair)
