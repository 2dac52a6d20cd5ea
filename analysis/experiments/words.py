"""Word-level quality estimation: OK and BAD tags of submissions against gold tags."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from da_platform.files.problems import Problems

from ..stats.calibration import calibration
from ..stats.signature import signature
from ..stats.word_tags import TAG_MEASURES, compare_tags, tag_counts, tag_measures
from .base import (
    TESTING,
    CampaignRole,
    ExperimentKind,
    FileRole,
    Inputs,
    Option,
    Progress,
    Result,
    Settings,
    refuse_if_any,
)
from .comparing import listed
from .from_campaigns import EDITED, EDITED_SYSTEM, tokenised_editions
from .lines import optional_lines, text_lines
from .tag_files import THRESHOLD, Tagged, read_tags, tags_of_edits, tags_of_spans
from .tagged_sentences import context
from .word_tables import GOLD, TITLES, findings, long_tables, pictures, tables

# Their names cannot be those of submissions, which have no brackets in front.
BASELINES = {"(all BAD)": True, "(all OK)": False}
N_STEPS = 3


@dataclass(frozen=True, slots=True)
class TagInputs:
    """Gold tags and the tags of submissions, for the same words.

    `numbers` are those of the sentences, counted from 0. Sentences without a post-edition are left out.
    `has_words`: the words are those of the outputs, and not only their numbers.
    """

    gold: Tagged
    submissions: list[Tagged]
    words: list[list[str]]
    has_words: bool
    numbers: list[int]
    sources: list[str]
    n_left_out: int


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
    for name in sorted({name for name in names if names.count(name) > 1}):
        problems.add("", None, f"{names.count(name)} submissions are named {name!r}")
    for name in sorted({*names} & {*BASELINES, GOLD}):
        problems.add("", None, f"a submission cannot be named {name!r}")
    for tagged in submissions:
        _check_shape(gold, tagged, problems)
    words = _words(inputs, gold, submissions, settings, problems)
    sources = optional_lines(inputs["sources"], problems, n=len(gold.tags), parallel_to=gold.name)
    refuse_if_any(problems)
    kept = [place for place in range(len(gold.tags)) if place not in gold.left_out]
    if not kept:
        problems.add(gold.name, None, "has only empty lines")
    refuse_if_any(problems)
    # Tags alone are shown by their numbers.
    shown = words or [[str(place) for place in range(len(tags))] for tags in gold.tags]
    return TagInputs(
        gold.only(kept),
        [tagged.only(kept) for tagged in submissions],
        words=[shown[place] for place in kept],
        has_words=words is not None and settings["part"] == "words",
        numbers=kept,
        sources=[sources[place] for place in kept]
        if sources and settings["part"] != "source"
        else [],
        n_left_out=len(gold.left_out),
    )


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
    inputs: Inputs,
    gold: Tagged,
    submissions: Sequence[Tagged],
    settings: Settings,
    problems: Problems,
) -> list[list[str]] | None:
    """Return what was tagged, of which there must be as much as tags, or None if only the tags are known."""
    part = settings["part"]
    role = "sources" if part == "source" else "texts"
    if part == "source" and inputs["texts"]:
        reason = "are outputs; with tags of the source, give the tokenised sources instead"
        problems.add(inputs["texts"][0].name, None, reason)
    if not inputs[role]:
        if gold.words is not None:
            return gold.words
        return next((each.words for each in submissions if each.words is not None), None)
    raw = inputs[role][0]
    words = [line.split() for line in text_lines(raw, problems)]
    if part == "gaps":
        words = [_gaps(line) for line in words]
    units = Tagged(raw.name, [[False] * len(line) for line in words])
    _check_shape(gold, units, problems, unit="gaps" if part == "gaps" else "words")
    return words


def _gaps(words: Sequence[str]) -> list[str]:
    """Return each gap with the words on its sides."""
    return [f"{left}\N{MIDDLE DOT}{right}" for left, right in pairwise(["", *words, ""])]


def _check_shape(gold: Tagged, tagged: Tagged, problems: Problems, *, unit: str = "words") -> None:
    """Add a problem for each sentence whose number of tags differs from the gold."""
    if len(tagged.tags) != len(gold.tags):
        n, expected = len(tagged.tags), len(gold.tags)
        problems.add(tagged.name, None, f"has {n:,} sentences, but the gold has {expected:,}")
        return
    for place, (tags, truth) in enumerate(zip(tagged.tags, gold.tags, strict=True)):
        if len(tags) != len(truth):
            reason = f"has {len(tags)} {unit} in sentence {place}, but the gold has {len(truth)}"
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
    result = {
        "rows": rows,
        "baselines": [_baseline(name, tag, gold) for name, tag in BASELINES.items()],
        "pvalue": listed(found.pvalue[np.ix_(order, order)]),
        "adjusted": listed(found.adjusted[np.ix_(order, order)]),
        "n_sentences": len(gold),
        "n_left_out": read_inputs.n_left_out,
        "has_words": read_inputs.has_words,
        "n_words": sum(map(len, gold)),
        "share_bad": sum(map(sum, gold)) / max(1, sum(map(len, gold))),
        "calibration": [
            _calibration(submissions[i], gold)
            for i in order
            if submissions[i].probabilities is not None
        ],
        "sentences": _sentences(read_inputs, [submissions[i] for i in order]),
        "signature": _signature(read_inputs, settings),
    }
    progress(N_STEPS, N_STEPS)
    return result


def _baseline(name: str, tag: bool, gold: list[list[bool]]) -> dict[str, Any]:
    counts = tag_counts(gold, [[tag] * len(sentence) for sentence in gold])
    return {"name": name, "estimates": tag_measures(counts.sum(axis=0), len(gold)).tolist()}


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
            "number": read_inputs.numbers[place],
            "source": read_inputs.sources[place] if read_inputs.sources else "",
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
        interleaved="yes" if settings["interleaved"] else None,
        language_pair=settings["language_pair"] or None,
        threshold=THRESHOLD,
        test=f"approximate-randomisation,{settings['resamples']},one-sided",
        of=settings["main"],
        correction=settings["correction"],
        alpha=settings["alpha"],
        interval=f"bootstrap-by-sentence,{settings['resamples']}",
        confidence=settings["confidence"],
        seed=settings["seed"],
    )


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
        FileRole(
            "texts",
            "Outputs",
            "Tokenised, one line for each sentence; for tags of words and gaps.",
        ),
        FileRole(
            "sources",
            "Sources",
            "One line for each sentence, shown with it. Tokenised if words of the source are tagged.",
        ),
        FileRole(
            "post_editions",
            "Post-editions",
            "Instead of gold tags: tokenised, one line for each sentence. Sentences with an empty line are left out.",
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
        EDITED_SYSTEM,
        *TESTING,
    ),
    read=read,
    measure=measure,
    tables=tables,
    pictures=pictures,
    findings=findings,
    template="analysis/_tagged_sentences.html",
    context=context,
    long_tables=long_tables,
    campaigns=(
        CampaignRole(
            "edited_campaign",
            "Or post-editions of a campaign",
            ("texts", "post_editions", "sources"),
            EDITED,
            tokenised_editions,
            "Instead of outputs, sources and gold tags; tokenised for the target language.",
        ),
    ),
)
