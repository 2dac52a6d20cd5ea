"""Every format stores any text unchanged."""

import csv
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hits.campaigns.importing import import_campaign
from hits.models import Campaign

pytestmark = pytest.mark.django_db

COLUMNS = ("segment", "document", "source", "reference", "system", "translation")

# All of Unicode except what is refused. U+FEFF would look like a byte order mark, and U+0092 represents
# the control characters in real test sets.
CHARACTERS = st.characters(
    exclude_categories=["Cs", "Cc", "Cn"],
    exclude_characters="\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff",
    include_characters='\x92"\\,',
)
SNIPPETS = st.text(CHARACTERS, max_size=20)
# At least one visible character, and sometimes white space at the ends.
TEXTS = st.builds(lambda before, after: f"{before}x{after}", SNIPPETS, SNIPPETS)


@dataclass
class Texts:
    sources: list[str]
    references: list[str]
    outputs: dict[str, list[str]]

    def rows(self) -> list[tuple[str, ...]]:
        return [
            (str(number), "all", source, reference, system, texts[number - 1])
            for system, texts in self.outputs.items()
            for number, (source, reference) in enumerate(
                zip(self.sources, self.references, strict=True), start=1
            )
        ]


@st.composite
def campaigns(draw: st.DrawFn) -> Texts:
    n_segments = draw(st.integers(1, 4))
    columns = st.lists(TEXTS, min_size=n_segments, max_size=n_segments)
    systems = ["A", "B", "C"][: draw(st.integers(1, 3))]
    return Texts(draw(columns), draw(columns), {system: draw(columns) for system in systems})


def write_lines(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("\n".join(lines).encode())


def write_plain_text(path: Path, texts: Texts) -> Path:
    write_lines(path / "sources.txt", texts.sources)
    write_lines(path / "references.txt", texts.references)
    for system, outputs in texts.outputs.items():
        write_lines(path / "systems" / f"{system}.txt", outputs)
    return path


def write_mt_metrics_eval(path: Path, texts: Texts) -> Path:
    write_lines(path / "sources" / "de-en.txt", texts.sources)
    write_lines(path / "references" / "de-en.refA.txt", texts.references)
    for system, outputs in texts.outputs.items():
        write_lines(path / "system-outputs" / "de-en" / f"{system}.txt", outputs)
    return path


def write_tsv(path: Path, texts: Texts) -> Path:
    write_lines(path / "t.tsv", ["\t".join(row) for row in [COLUMNS, *texts.rows()]])
    return path / "t.tsv"


def write_csv(path: Path, texts: Texts) -> Path:
    with (path / "t.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *texts.rows()])
    return path / "t.csv"


def write_jsonl(path: Path, texts: Texts) -> Path:
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in texts.rows()]
    lines = [json.dumps(row, ensure_ascii=bool(k % 2)) for k, row in enumerate(rows)]
    write_lines(path / "t.jsonl", lines)
    return path / "t.jsonl"


def write_wmt_xml(path: Path, texts: Texts) -> Path:
    def part(tag: str, attributes: str, segments: list[str]) -> str:
        inside = "".join(
            f'<seg id="{number}">{escape(text)}</seg>\n'
            for number, text in enumerate(segments, start=1)
        )
        return f"<{tag} {attributes}><p>\n{inside}</p></{tag}>"

    parts = [part("src", 'lang="de"', texts.sources), part("ref", 'lang="en"', texts.references)]
    parts += [
        part("hyp", f'system="{system}" language="en"', outputs)
        for system, outputs in texts.outputs.items()
    ]
    document = f'<doc id="all">{"".join(parts)}</doc>'
    write_lines(path / "t.xml", [f"<dataset><collection>{document}</collection></dataset>"])
    return path / "t.xml"


def stored_texts(campaign: Campaign) -> Texts:
    outputs: dict[str, list[str]] = {}
    for system in campaign.systems.all():
        rows = system.outputs.select_related("translation").order_by("segment__position")
        outputs[system.name] = [str(output) for output in rows]
    segments = campaign.segments.all()
    return Texts([s.source for s in segments], [s.reference for s in segments], outputs)


@pytest.mark.parametrize(
    "write",
    [write_plain_text, write_mt_metrics_eval, write_tsv, write_csv, write_jsonl, write_wmt_xml],
)
@settings(max_examples=8, deadline=None)
@given(texts=campaigns(), merges=st.booleans())
def test_texts_survive_the_import_exactly(
    write: Callable[[Path, Texts], Path], texts: Texts, merges: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        campaign = import_campaign(
            path=write(Path(folder), texts),
            name="Round trip",
            source_language="de",
            target_language="en",
            merges_near_identical=merges,
        ).campaign
    assert stored_texts(campaign) == texts
    campaign.delete()
