"""Word-level quality estimation: OK and BAD tags of submissions against gold tags."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from da_platform.files.problems import Problems
from da_platform.plots.rendering import Picture

from ..stats.calibration import calibration
from ..stats.signature import signature
from ..stats.word_tags import TAG_MEASURES, compare_tags, tag_counts, tag_measures
from ..tables.table import Cell, Column, Table, correlation, count, interval, number, text
from . import tag_pictures
from .base import (
    TESTING,
    ExperimentKind,
    FileRole,
    Inputs,
    Option,
    Progress,
    Result,
    Settings,
    refuse_if_any,
)
from .lines import text_lines
from .tag_files import Tagged, read_tags, tags_of_edits, tags_of_spans
from .tagged_sentences import context

TITLES = {
    "matthews": "Matthews",
    "f1_bad": "F1-BAD",
    "f1_ok": "F1-OK",
    "f1_product": "F1 product",
    "f1_weighted": "weighted F1",
    "sequence": "sequence correlation",
}
# Their names cannot be those of submissions, which have no brackets in front.
BASELINES = {"(all BAD)": True, "(all OK)": False}
N_STEPS = 3


@dataclass(frozen=True, slots=True)
class TagInputs:
    """Gold tags and the tags of submissions, for the same words."""

    gold: Tagged
    submissions: list[Tagged]
    words: list[list[str]]


def read(inputs: Inputs, settings: Settings) -> TagInputs:
    """Read gold and submissions, or list everything that is wrong with them."""
    problems = Problems()
    gold = _gold(inputs, settings, problems)
    submissions = [
        tagged
        for raw in inputs["submissions"]
        for tagged in read_tags(
            raw,
            problems,
            part=settings["part"],
            interleaved=settings["interleaved"],
            language_pair=settings["language_pair"],
        )
    ]
    refuse_if_any(problems)
    names = [tagged.name for tagged in submissions]
    for name in sorted({name for name in names if names.count(name) > 1 or name in BASELINES}):
        problems.add("", None, f"{names.count(name)} submissions are named {name!r}")
    for tagged in submissions:
        _check_shape(gold, tagged, problems)
    words = gold.words or next((each.words for each in submissions if each.words), None)
    if inputs["texts"] and gold.words is None:
        words = _words(inputs, gold, settings, problems)
    refuse_if_any(problems)
    if words is None or [*map(len, words)] != [*map(len, gold.tags)]:
        # Gaps, and tags alone, are shown by their numbers.
        words = [[str(place) for place in range(len(tags))] for tags in gold.tags]
    return TagInputs(gold, submissions, words)


def _gold(inputs: Inputs, settings: Settings, problems: Problems) -> Tagged:
    """Read the gold from tags, post-editions or error spans, exactly one of which is given."""
    given = [role for role in ("gold", "post_editions", "spans") if inputs[role]]
    if len(given) != 1:
        problems.add("", None, "give the gold as tags, as post-editions or as error spans")
    elif given[0] != "gold" and not inputs["texts"]:
        problems.add("", None, "post-editions and error spans also need the tokenised outputs")
    elif given[0] == "spans" and settings["part"] != "words":
        problems.add("", None, "error spans say nothing about gaps or the source")
    refuse_if_any(problems)
    if given[0] == "post_editions":
        if settings["part"] == "source":
            problems.add("", None, "post-editions say nothing about words of the source")
        edits, how = inputs["post_editions"][0], settings["ignore_case"]
        part = settings["part"]
        gold = tags_of_edits(inputs["texts"][0], edits, problems, part=part, ignore_case=how)
    elif given[0] == "spans":
        gold = tags_of_spans(inputs["texts"][0], inputs["spans"][0], problems)
    else:
        (gold, *more) = read_tags(
            inputs["gold"][0],
            problems,
            part=settings["part"],
            interleaved=settings["interleaved"],
            language_pair=settings["language_pair"],
        ) or [Tagged("gold")]
        if more or gold.probabilities is not None:
            problems.add(inputs["gold"][0].name, None, "must hold the tags OK and BAD of one gold")
    refuse_if_any(problems)
    return gold


def _words(
    inputs: Inputs, gold: Tagged, settings: Settings, problems: Problems
) -> list[list[str]] | None:
    """Return the words of the outputs; with word tags there must be as many as tags."""
    raw = inputs["texts"][0]
    words = [line.split() for line in text_lines(raw, problems)]
    if settings["part"] == "words":
        _check_shape(gold, Tagged(raw.name, [[False] * len(line) for line in words]), problems)
    return words


def _check_shape(gold: Tagged, tagged: Tagged, problems: Problems) -> None:
    """Add a problem for each sentence whose number of tags differs from the gold."""
    if len(tagged.tags) != len(gold.tags):
        n, expected = len(tagged.tags), len(gold.tags)
        problems.add(tagged.name, None, f"has {n:,} sentences, but the gold has {expected:,}")
        return
    for place, (tags, truth) in enumerate(zip(tagged.tags, gold.tags, strict=True)):
        if len(tags) != len(truth):
            reason = f"has {len(tags)} words in sentence {place}, but the gold has {len(truth)}"
            problems.add(tagged.name, None, reason)
        elif tagged.words and gold.words and tagged.words[place] != gold.words[place]:
            problems.add(tagged.name, None, f"has other words than the gold in sentence {place}")


# Measuring ------------------------------------------------------------------------------------


def measure(read_inputs: TagInputs, settings: Settings, progress: Progress) -> Result:
    """Measure and compare all submissions, and show how far the baselines come."""
    gold = read_inputs.gold.tags
    submissions = read_inputs.submissions
    counts = [tag_counts(gold, tagged.tags) for tagged in submissions]
    progress(1, N_STEPS)
    found = compare_tags(
        counts,
        rng=np.random.default_rng(settings["seed"]),
        main=settings["main"],
        n_resamples=settings["resamples"],
        confidence=settings["confidence"],
        alpha=settings["alpha"],
        correction=settings["correction"],
    )
    progress(2, N_STEPS)
    place = TAG_MEASURES.index(settings["main"])
    order = np.argsort(-found.estimates[:, place], kind="stable").tolist()
    rows = [
        {
            "name": submissions[i].name,
            "estimates": found.estimates[i].tolist(),
            "low": found.low[i].tolist(),
            "high": found.high[i].tolist(),
            "is_winner": bool(found.is_winner[i]),
            "figures": submissions[i].figures,
        }
        for i in order
    ]
    return {
        "rows": rows,
        "baselines": [_baseline(name, tag, gold) for name, tag in BASELINES.items()],
        "pvalue": _listed(found.pvalue, order),
        "adjusted": _listed(found.adjusted, order),
        "n_sentences": len(gold),
        "n_words": sum(map(len, gold)),
        "share_bad": sum(map(sum, gold)) / max(1, sum(map(len, gold))),
        "calibration": [
            _calibration(submissions[i], gold) for i in order if _is_graded(submissions[i])
        ],
        "sentences": _sentences(read_inputs, [submissions[i] for i in order]),
        "signature": _signature(read_inputs, settings),
    }


def _listed(matrix: Any, order: list[int]) -> list[list[float | None]]:
    return [
        [None if np.isnan(value) else float(value) for value in row]
        for row in np.asarray(matrix)[np.ix_(order, order)]
    ]


def _baseline(name: str, tag: bool, gold: list[list[bool]]) -> dict[str, Any]:
    counts = tag_counts(gold, [[tag] * len(sentence) for sentence in gold])
    return {"name": name, "estimates": tag_measures(counts.sum(axis=0), len(gold)).tolist()}


def _is_graded(tagged: Tagged) -> bool:
    return tagged.probabilities is not None


def _calibration(tagged: Tagged, gold: list[list[bool]]) -> dict[str, Any]:
    probabilities = [value for sentence in tagged.probabilities or [] for value in sentence]
    found = calibration(probabilities, [tag for sentence in gold for tag in sentence])
    return {
        "name": tagged.name,
        "brier": found.brier,
        "error": found.error,
        "bins": [
            [float(low), int(n), None if not n else float(mean), None if not n else float(share)]
            for low, n, mean, share in zip(
                found.edges[:-1], found.n, found.predicted, found.observed, strict=True
            )
        ],
    }


def _sentences(read_inputs: TagInputs, submissions: list[Tagged]) -> list[dict[str, Any]]:
    return [
        {
            "words": words,
            "gold": _letters(truth),
            "tags": {each.name: _letters(each.tags[place]) for each in submissions},
        }
        for place, (words, truth) in enumerate(
            zip(read_inputs.words, read_inputs.gold.tags, strict=True)
        )
    ]


def _letters(tags: list[bool]) -> str:
    return "".join("B" if tag else "O" for tag in tags)


def _signature(read_inputs: TagInputs, settings: Settings) -> str:
    from_edits = read_inputs.gold.name == "post-editions"
    case = "lc" if settings["ignore_case"] else "mixed"
    return signature(
        measure="word-tags",
        gold=f"levenshtein-without-shifts,case={case}" if from_edits else read_inputs.gold.name,
        part=settings["part"],
        test=f"approximate-randomisation,{settings['resamples']},one-sided",
        of=settings["main"],
        correction=settings["correction"],
        alpha=settings["alpha"],
        interval=f"bootstrap-by-sentence,{settings['resamples']}",
        confidence=settings["confidence"],
        seed=settings["seed"],
    )


# Showing --------------------------------------------------------------------------------------


def tables(result: Result) -> list[Table]:
    """Return the table of measures, the p-values, and the calibration if systems gave probabilities."""
    found = [_measures_table(result)]
    if len(result["rows"]) > 1:
        found.append(_tests_table(result))
    if result["calibration"]:
        found.append(_calibration_table(result))
    return found


def _measures_table(result: Result) -> Table:
    main, names = result["options"]["main"], [*TITLES]
    place = names.index(main)
    rows: list[list[Cell]] = [
        [
            text(row["name"], bold=row["is_winner"]),
            *(correlation(value) for value in row["estimates"]),
            interval(row["low"][place], row["high"][place]),
            _figure(row, "parameters"),
            _figure(row, "models"),
        ]
        for row in result["rows"]
    ]
    rows += [
        [
            text(row["name"]),
            *(correlation(value) for value in row["estimates"]),
            interval(None, None),
            *(number(None), number(None)),
        ]
        for row in result["baselines"]
    ]
    options = result["options"]
    note = (
        f"{result['n_sentences']:,} sentences, {result['n_words']:,} words, of which {result['share_bad']:.1%} are "
        f"BAD. Bold: the best and those it does not significantly outperform in {TITLES[main]} (approximate "
        f"randomisation, p < {options['alpha']:g}"
        f"{', Holm' if options['correction'] == 'holm' else ''}). The interval is that of {TITLES[main]}."
    )
    return Table(
        name="word-tags",
        caption="Word-level quality estimation",
        columns=[
            Column("submission", is_number=False),
            *(Column(title) for title in TITLES.values()),
            Column(f"{options['confidence']:.0%} interval", parts=("low", "high")),
            Column("parameters"),
            Column("models"),
        ],
        rows=rows,
        note=note,
        lines_after=frozenset({len(result["rows"]) - 1}),
    )


def _figure(row: dict[str, Any], name: str) -> Cell:
    value = row["figures"].get(name, "")
    return count(int(value)) if value.isdigit() else number(None)


def _tests_table(result: Result) -> Table:
    names = [row["name"] for row in result["rows"]]
    return Table(
        name="word-tag-tests",
        caption=f"Is the row better than the column in {TITLES[result['options']['main']]}?",
        columns=[Column("submission", is_number=False), *(Column(name) for name in names)],
        rows=[
            [text(name), *(number(value, 4) for value in row)]
            for name, row in zip(names, result["adjusted"], strict=True)
        ],
        note="p-values of approximate randomisation, one-sided, "
        + ("corrected by Holm." if result["options"]["correction"] == "holm" else "not corrected."),
    )


def _calibration_table(result: Result) -> Table:
    return Table(
        name="calibration",
        caption="Calibration of the probabilities of BAD",
        columns=[Column("submission", is_number=False), Column("Brier"), Column("expected error")],
        rows=[
            [text(row["name"]), correlation(row["brier"]), correlation(row["error"])]
            for row in result["calibration"]
        ],
        note="Lower is better. The expected error is the mean distance between probability and share of BAD in ten bins.",
    )


def findings(result: Result) -> list[str]:
    """Say who wins, and how far tagging everything BAD comes."""
    main = result["options"]["main"]
    place = [*TITLES].index(main)
    winners = ", ".join(row["name"] for row in result["rows"] if row["is_winner"])
    best, all_bad = result["rows"][0], result["baselines"][0]
    f1_bad = all_bad["estimates"][[*TITLES].index("f1_bad")]
    return [
        f"{best['name']} has the highest {TITLES[main]} ({best['estimates'][place]:.3f}). Winning group: {winners}.",
        f"Tagging every word BAD has an F1-BAD of {f1_bad:.3f}, because {result['share_bad']:.1%} of the words are "
        "BAD.",
    ]


def pictures(result: Result) -> list[Picture]:
    """Return the calibration of each submission with probabilities."""
    return [
        tag_pictures.reliability(row, place)
        for place, row in enumerate(result["calibration"], start=1)
    ]


WORDS = ExperimentKind(
    name="words",
    title="Word-level quality estimation",
    description="OK and BAD tags of submissions against gold tags, which can come from post-editions.",
    roles=(
        FileRole(
            "submissions",
            "Submissions",
            "One line for each sentence with OK, BAD or probabilities of BAD, or WMT submissions with one line for each word.",
            many=True,
            required=True,
        ),
        FileRole("gold", "Gold tags", "One line for each sentence or for each word."),
        FileRole("texts", "Outputs", "Tokenised, one line for each sentence."),
        FileRole(
            "post_editions",
            "Post-editions",
            "Instead of gold tags: tokenised, one line for each sentence.",
        ),
        FileRole(
            "spans", "Error spans", "Instead of gold tags: a list of [start, end] for each output."
        ),
    ),
    options=(
        Option("main", "Main measure", "matthews", choices=TITLES),
        Option(
            "part",
            "What is tagged",
            "words",
            choices={
                "words": "Words of the output",
                "gaps": "Gaps between them",
                "source": "Words of the source",
            },
        ),
        Option("interleaved", "Lines have the tags of gaps and words in turn", False),
        Option("ignore_case", "Ignore case in post-editions", False),
        Option("language_pair", "Language pair", "", help_text="For files that hold several."),
        *TESTING,
    ),
    read=read,
    measure=measure,
    tables=tables,
    pictures=pictures,
    findings=findings,
    template="analysis/_tagged_sentences.html",
    context=context,
)
