"""Read word tags: lines of tags, submissions with one word a line, post-editions, and error spans."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from da_platform.files.problems import Problems
from da_platform.files.reading import printable

from ..metrics.word_tags import Span, tags_from_post_edition, tags_from_spans
from ..scores.parsers import MODEL_FIGURES, is_count, is_number
from ..scores.raw_files import RawFile
from ..scores.reading import default_name
from .lines import check_parallel, text_lines

OK, BAD = "OK", "BAD"
# The parts of a sentence that can be tagged, and what submissions call them.
PARTS = {
    "words": ("MT", "mt", "target", "TARGET"),
    "gaps": ("gap", "gaps", "GAP"),
    "source": ("source", "src", "SRC", "SOURCE"),
}
# A probability of BAD from here on is tagged BAD.
THRESHOLD = 0.5


@dataclass(slots=True)
class Tagged:
    """Tags of every sentence, True for BAD; with probabilities of BAD and words if the file has them.

    `left_out` are the sentences that were given without a tag, by their places.
    """

    name: str
    tags: list[list[bool]] = field(default_factory=list)
    probabilities: list[list[float]] | None = None
    words: list[list[str]] | None = None
    figures: dict[str, str] = field(default_factory=dict)
    left_out: set[int] = field(default_factory=set)

    def only(self, places: Sequence[int]) -> Tagged:
        """Return the tags of some sentences."""
        return Tagged(
            self.name,
            [self.tags[place] for place in places],
            self.probabilities and [self.probabilities[place] for place in places],
            self.words and [self.words[place] for place in places],
            self.figures,
        )


def read_tags(
    raw: RawFile, problems: Problems, *, part: str, interleaved: bool, language_pair: str = ""
) -> list[Tagged]:
    """Read the tags of one or more submissions from a file.

    Parameters
    ----------
    raw : RawFile
        Either one line for each sentence, with OK, BAD or probabilities of BAD for each word; or one line for each word:
        language pair, method, what is tagged, segment, word number, word, tag.
    problems : Problems
    part : str
        One of `PARTS`: which tags to take from a file that has several.
    interleaved : bool
        Lines hold the tags of gaps and words in turn, beginning and ending with a gap.
    language_pair : str
        Which one to take, from a file that has several.

    Returns
    -------
    list of Tagged
    """
    lines = [(number, line) for number, line in raw.lines(problems) if line is not None]
    if any(line.count("\t") >= 6 for _, line in lines[: len(MODEL_FIGURES) + 1]):
        return _by_word(raw, lines, problems, part, language_pair)
    return [_by_sentence(raw, lines, problems, part, interleaved)]


def _by_sentence(
    raw: RawFile, lines: Sequence[tuple[int, str]], problems: Problems, part: str, interleaved: bool
) -> Tagged:
    tagged, numbers, has_numbers = Tagged(default_name(raw.name)), list[list[float]](), False
    for number, line in lines:
        cells = line.split()
        if interleaved and part != "source":
            if len(cells) % 2 == 0:
                reason = f"has {len(cells)} tags; gaps and words in turn need an odd number"
                problems.add(raw.name, number, reason)
            cells = cells[0::2] if part == "gaps" else cells[1::2]
        values = [_probability(cell, raw, number, problems) for cell in cells]
        has_numbers |= any(cell not in (OK, BAD) for cell in cells)
        numbers.append(values)
        tagged.tags.append([value >= THRESHOLD for value in values])
    tagged.probabilities = numbers if has_numbers else None
    return tagged


def _probability(cell: str, raw: RawFile, line: int, problems: Problems) -> float:
    """Return the probability of BAD that a cell says; add a problem for anything else."""
    if cell in (OK, BAD):
        return float(cell == BAD)
    if is_number(cell) and 0 <= float(cell) <= 1:
        return float(cell)
    shown = printable(cell[:40])
    problems.add(raw.name, line, f"{shown!r} is neither OK nor BAD nor a probability from 0 to 1")
    return 0.0


def _by_word(
    raw: RawFile,
    lines: Sequence[tuple[int, str]],
    problems: Problems,
    part: str,
    language_pair: str,
) -> list[Tagged]:
    figures: dict[str, str] = {}
    methods: dict[str, Tagged] = {}
    pairs: dict[str, None] = {}
    for number, line in lines:
        cells = line.split("\t")
        if (
            not methods
            and len(cells) == 1
            and is_number(line)
            and len(figures) < len(MODEL_FIGURES)
        ):
            figures[MODEL_FIGURES[len(figures)]] = line
            continue
        if len(cells) != 7:
            problems.add(raw.name, number, f"has {len(cells)} cells, not 7")
            continue
        pair, method, kind, segment, place, word, tag = cells
        if language_pair and pair != language_pair:
            continue
        pairs[pair] = None
        if kind not in PARTS[part]:
            continue
        tagged = methods.setdefault(method, Tagged(method, [], [], [], figures))
        _add_word(tagged, (segment, place, word, tag), raw, number, problems)
    if len(pairs) > 1:
        problems.add(raw.name, None, f"has several language pairs; choose one: {', '.join(pairs)}")
    if not methods and not problems.total:
        problems.add(raw.name, None, f"has no tags of {part}")
    for tagged in methods.values():
        certain = {value for sentence in tagged.probabilities or [] for value in sentence} <= {0, 1}
        tagged.probabilities = None if certain else tagged.probabilities
    return list(methods.values())


def _add_word(
    tagged: Tagged, cells: tuple[str, str, str, str], raw: RawFile, line: int, problems: Problems
) -> None:
    """Add one word, which must be the next of its sentence or the first of the next sentence."""
    segment, place, word, tag = cells
    assert tagged.probabilities is not None and tagged.words is not None
    n_sentences = len(tagged.tags)
    if is_count(segment) and int(segment) == n_sentences and place == "0":
        for rows in (tagged.tags, tagged.probabilities, tagged.words):
            rows.append([])
    elif not n_sentences or (segment, place) != (str(n_sentences - 1), str(len(tagged.tags[-1]))):
        last = len(tagged.tags[-1]) if n_sentences else 0
        expected = f"segment {max(0, n_sentences - 1)}, word {last}"
        reason = f"is segment {segment[:20]}, word {place[:20]} of {tagged.name}, not {expected}"
        problems.add(raw.name, line, reason)
        return
    value = _probability(tag, raw, line, problems)
    tagged.probabilities[-1].append(value)
    tagged.tags[-1].append(value >= THRESHOLD)
    tagged.words[-1].append(word)


# Gold from edits and spans --------------------------------------------------------------------


def tags_of_edits(
    outputs: RawFile, post_editions: RawFile, problems: Problems, *, part: str, ignore_case: bool
) -> Tagged:
    """Tag tokenised outputs by their tokenised post-editions, one line for each sentence.

    Sentences with an empty line in place of a post-edition are left out.
    """
    texts = text_lines(outputs, problems)
    edited = text_lines(post_editions, problems, may_be_empty=True)
    check_parallel(post_editions, len(edited), len(texts), problems, other=outputs.name)
    gold = Tagged("post-editions", words=None if part == "gaps" else [])
    for place, (text, edit) in enumerate(zip(texts, edited, strict=False)):
        if gold.words is not None:
            gold.words.append(text.split())
        if not edit.strip():
            gold.left_out.add(place)
        found = tags_from_post_edition(text.split(), edit.split(), ignore_case=ignore_case)
        gold.tags.append(found.gaps if part == "gaps" else found.words)
    return gold


def tags_of_spans(outputs: RawFile, spans: RawFile, problems: Problems) -> Tagged:
    """Tag the words of outputs by error spans: a line of JSON for each, a list of [start, end]."""
    texts = text_lines(outputs, problems)
    gold, n_lines = Tagged("error spans", words=[text.split() for text in texts]), 0
    for number, line in spans.lines(problems):
        n_lines += 1
        text = texts[number - 1] if number <= len(texts) else ""
        found = _spans(line or "", text)
        if found is None and number <= len(texts):
            reason = (
                f"is not a list of [start, end] within the {len(text):,} characters of the output"
            )
            problems.add(spans.name, number, reason)
        gold.tags.append(tags_from_spans(text, found or []))
    check_parallel(spans, n_lines, len(texts), problems, other=outputs.name)
    return gold


def _spans(line: str, text: str) -> list[Span] | None:
    try:
        rows = json.loads(line)
        spans = [(start, end) for start, end in rows]
    except (ValueError, TypeError, RecursionError):
        return None
    is_fine = all(
        type(start) is type(end) is int and 0 <= start <= end <= len(text) for start, end in spans
    )
    return spans if is_fine else None
