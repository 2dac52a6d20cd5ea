"""Score the demo translations with three invented metrics.

    python make_metrics.py [FOLDER]

writes `quillscore.tsv`, `wordmatch.tsv` and `editcost.tsv` to FOLDER (default: `metrics` next to
this file). The same input gives the same bytes.

quillscore  plays a good learned metric. It cannot be computed from the text: it starts from
            `judgements.tsv`, what a careful reader thought of every translation (0-100), and
            adds what such metrics get wrong, drawn from a fixed seed:
            score = 0.1 + 0.8 * judgement / 100 + segment bias + noise, clipped to 0..1.
wordmatch   F1 of the words a translation shares with its reference. Higher is better.
editcost    word-level edit distance to the reference per reference word. Lower is better;
            it may exceed 1.
"""

import csv
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
SYSTEMS = ("alder", "birch", "cedar", "dogwood")
SEED = 2718

# A learned metric likes or dislikes some segments regardless of the system...
SEGMENT_BIAS_SD = 0.04
# ...and misjudges single translations. With these two it stays a good metric but not a perfect
# one: its correlation with the judgements is 0.94.
NOISE_SD = 0.07

# A word keeps the marks inside it: 3.4, didn’t, two-year.
WORD = re.compile(r"\w+(?:[’'.,-]\w+)*")

Scores = dict[tuple[str, str], float]


def words(text: str) -> list[str]:
    return WORD.findall(text.lower())


def word_f1(translation: list[str], reference: list[str]) -> float:
    shared = (Counter(translation) & Counter(reference)).total()
    return 2 * shared / (len(translation) + len(reference))


def edit_distance(translation: list[str], reference: list[str]) -> int:
    """Return the fewest insertions, deletions and substitutions of words."""
    row = list(range(len(reference) + 1))
    for i, word in enumerate(translation, start=1):
        diagonal, row[0] = row[0], i
        for j, wanted in enumerate(reference, start=1):
            substituted = diagonal + (word != wanted)
            diagonal = row[j]
            row[j] = min(substituted, row[j] + 1, row[j - 1] + 1)
    return row[-1]


def quillscores(judgements: Scores, segments: list[str], rng: np.random.Generator) -> Scores:
    bias = dict(zip(segments, rng.normal(0, SEGMENT_BIAS_SD, len(segments)), strict=True))
    noise = rng.normal(0, NOISE_SD, len(judgements))
    return {
        (system, segment): float(np.clip(0.1 + 0.8 * judged / 100 + bias[segment] + slip, 0, 1))
        for ((system, segment), judged), slip in zip(judgements.items(), noise, strict=True)
    }


def read_lines(name: str) -> list[str]:
    return (HERE / name).read_text(encoding="utf-8").splitlines()


def read_judgements() -> Scores:
    rows = csv.DictReader(read_lines("judgements.tsv"), delimiter="\t")
    return {(row["system"], row["segment"]): float(row["judgement"]) for row in rows}


def translated_words(segments: list[str]) -> Iterator[tuple[tuple[str, str], list[str], list[str]]]:
    """Yield (system, segment), the words of the translation and those of its reference."""
    references = [words(line) for line in read_lines("campaign/references.txt")]
    for system in SYSTEMS:
        lines = read_lines(f"campaign/systems/{system}.txt")
        for segment, line, reference in zip(segments, lines, references, strict=True):
            yield (system, segment), words(line), reference


def write_scores(path: Path, scores: Scores) -> None:
    rows = [f"{system}\t{segment}\t{score:.4f}\n" for (system, segment), score in scores.items()]
    path.write_text("system\tsegment\tscore\n" + "".join(rows), encoding="utf-8", newline="\n")


def main(folder: Path) -> None:
    segments = read_lines("campaign/ids.txt")
    compared = list(translated_words(segments))
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(SEED)
    write_scores(folder / "quillscore.tsv", quillscores(read_judgements(), segments, rng))
    write_scores(
        folder / "wordmatch.tsv",
        {pair: word_f1(translation, reference) for pair, translation, reference in compared},
    )
    write_scores(
        folder / "editcost.tsv",
        {
            pair: edit_distance(translation, reference) / len(reference)
            for pair, translation, reference in compared
        },
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "metrics")
