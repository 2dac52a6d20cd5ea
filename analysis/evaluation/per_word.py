"""Turn times into seconds per word, so that long segments do not decide an evaluation."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from da_platform.files.problems import Problems

from ..scores.errors import refuse_if_any
from ..scores.fixes import NOT_PER_WORD
from ..scores.score_tables import GoldTable, Key, ScoreTable, shown
from ..stats.quality_estimation import seconds_per_word
from .aligned_rows import Floats, Texts


def per_word(
    tables: Sequence[ScoreTable], golds: Sequence[GoldTable], texts: Texts | None
) -> tuple[list[ScoreTable], list[GoldTable]]:
    """Divide predicted and measured times by the number of words in each output.

    Files say how long segments are, and not outputs: then their words are those of the segment's text.

    Parameters
    ----------
    tables : sequence of ScoreTable
    golds : sequence of GoldTable
    texts : Texts or None

    Returns
    -------
    tables, golds : list
        Signed as divided.

    Raises
    ------
    ScoresRefused
        If there are no texts, or scores that are not times of segments with words.
    """
    problems, fix = Problems(), NOT_PER_WORD
    if texts is None:
        problems.add("", None, "scores per word need the text of every segment (texts)", fix)
    elif texts.unit != "words" and texts.output_words is None:
        problems.add("", None, "scores per word need texts with spaces between words", fix)
    every: list[ScoreTable | GoldTable] = [*tables, *golds]
    for table in every:
        if table.level != "segment":
            problems.add(
                table.name, None, "has system scores, which cannot be divided by words", fix
            )
        elif (table.scores < 0).any():
            problems.add(table.name, None, "has negative scores, which cannot be times", fix)
    refuse_if_any(problems)
    assert texts is not None

    def divided(name: str, keys: Sequence[Key], scores: Floats) -> Floats:
        if texts.output_words is not None:
            n_words = np.array([texts.output_words.get(key, 0) for key in keys])
        else:
            n_words = np.array([texts.lengths.get(segment, 0) for _, segment in keys])
        for place in np.flatnonzero(n_words == 0).tolist():
            system, segment = keys[place]
            which = shown((system if texts.output_words is not None else "", segment))
            problems.add(name, None, f"{which} has no words", fix)
        return seconds_per_word(scores, np.maximum(n_words, 1))

    per = "per:word" if texts.output_words is None else "per:output-word"

    def signed(signature: str) -> str:
        return "|".join(filter(None, [signature, per]))

    new_tables = [
        replace(t, scores=divided(t.name, t.keys, t.scores), signature=signed(t.signature))
        for t in tables
    ]
    new_golds = [
        replace(g, scores=divided(g.name, g.keys, g.scores), signature=signed(g.signature))
        for g in golds
    ]
    refuse_if_any(problems)
    return new_tables, new_golds
