"""Automatic post-editing (APE): are outputs nearer to human post-editions after it than before?"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from da_platform.files.problems import Problems
from da_platform.plots.rendering import Picture

from ..stats.output_tests import OutputComparison, SegmentSums, compare_outputs, share_of
from ..stats.resampling import percentile_interval
from ..stats.signature import join_signatures, signature
from . import ape_pictures, system_pictures
from .ape_tables import EDIT_KINDS, NOTHING_DONE, TEST, main_row, tables, verdict
from .base import (
    TESTING,
    CampaignRole,
    ExperimentKind,
    FileRole,
    Inputs,
    Option,
    OutputsToRate,
    Progress,
    Result,
    Settings,
    refuse_if_any,
)
from .comparing import WORD_OPTIONS, as_row, check_languages, check_size, read_outputs, sums_of
from .edited_sentences import context, list_of_sentences, outcome_of
from .from_campaigns import EDITED, EDITED_SYSTEM, edited_outputs
from .lines import check_parallel, optional_lines, text_lines

# The measures, and what `summed_metrics` calls them.
MEASURES = {
    "TER": "TER-cased",
    "TER-lc": "TER",
    "TER-mean": None,
    "TER-mean-lc": None,
    "BLEU": "BLEU",
    "chrF": "chrF",
}
# Means over sentences, and the measures of whole outputs that they come from.
MEANS = {"TER-mean": "TER", "TER-mean-lc": "TER-lc"}
N_STEPS = 3


@dataclass(frozen=True, slots=True)
class EditInputs:
    """Parallel texts: the outputs before and after automatic post-editing, and human post-editions of them.

    `numbers` are the lines of the files that the sentences come from, counted from 1. Sentences without a post-edition
    are left out. `sources` is empty if none were given.
    """

    numbers: list[int]
    sources: list[str]
    before: list[str]
    post_editions: list[str]
    names: list[str]
    after: list[list[str]]
    n_left_out: int


def read(inputs: Inputs, settings: Settings) -> EditInputs:
    """Read all texts, or list everything that is wrong with them."""
    check_languages(settings)
    problems = Problems()
    raw_before, raw_edits = inputs["before"][0], inputs["post_editions"][0]
    before = text_lines(raw_before, problems, may_be_empty=True)
    edits = text_lines(raw_edits, problems, may_be_empty=True)
    n, name = len(before), raw_before.name
    check_parallel(raw_edits, len(edits), n, problems, other=name)
    sources = optional_lines(inputs["sources"], problems, n=n, parallel_to=name)
    outputs = read_outputs(inputs["outputs"], problems, n=n, parallel_to=name)
    if NOTHING_DONE in outputs:
        problems.add("", None, f"a system cannot be named {NOTHING_DONE!r}")
    kept = [place for place, edit in enumerate(edits) if edit.strip()]
    if not kept:
        problems.add(raw_edits.name, None, "has only empty lines")
    refuse_if_any(problems)
    check_size(len(outputs) + 1, len(MEASURES), settings)

    def chosen(lines: Sequence[str]) -> list[str]:
        return [lines[place] for place in kept]

    return EditInputs(
        numbers=[place + 1 for place in kept],
        sources=chosen(sources) if sources else [],
        before=chosen(before),
        post_editions=chosen(edits),
        names=[*outputs],
        after=[chosen(lines) for lines in outputs.values()],
        n_left_out=n - len(kept),
    )


def outputs_to_rate(read_inputs: EditInputs) -> OutputsToRate:
    """Return the outputs before and after, with post-editions as references."""
    versions = zip(read_inputs.names, read_inputs.after, strict=True)
    return OutputsToRate(
        systems={NOTHING_DONE: read_inputs.before, **dict(versions)},
        references=read_inputs.post_editions,
        sources=read_inputs.sources,
        names=[str(number) for number in read_inputs.numbers],
    )


# Measuring ------------------------------------------------------------------------------------


def measure(read_inputs: EditInputs, settings: Settings, progress: Progress) -> Result:
    """Measure the outputs before and after, test their differences, and count what was changed."""
    # sacreBLEU is slow to import, and pages do not need it.
    from ..metrics.sums import summed_metrics

    available = summed_metrics(settings["language"], tokenise=settings["tokenise"] or None)
    versions = [read_inputs.before, *read_inputs.after]
    sums = {
        name: sums_of(available[known], versions, read_inputs.post_editions)
        for name, known in MEASURES.items()
        if known is not None
    }
    sums |= {name: _mean_of_sentences(sums[whole]) for name, whole in MEANS.items()}
    progress(1, N_STEPS)
    found = compare_outputs(
        [sums[name] for name in MEASURES],
        rng=np.random.default_rng(settings["seed"]),
        n_resamples=settings["resamples"],
        confidence=settings["confidence"],
        tests=[TEST],
    )
    progress(2, N_STEPS)
    result = {
        "systems": [NOTHING_DONE, *read_inputs.names],
        "n_segments": len(read_inputs.before),
        "n_left_out": read_inputs.n_left_out,
        "rows": [
            as_row(name, each, settings, higher_is_better=sums[name].higher_is_better)
            | {"differences": _differences(each, sums[name], settings["confidence"])}
            for name, each in zip(MEASURES, found, strict=True)
        ],
        **_changes(read_inputs, sums["TER"].rows[..., 0], settings),
        "signature": _signature(
            settings, [available[known].signature for known in MEASURES.values() if known]
        ),
    }
    progress(N_STEPS, N_STEPS)
    return result


def _mean_of_sentences(ter: SegmentSums) -> SegmentSums:
    """Return TER averaged over sentences, from the edits and words of each."""
    # A post-edition that TER's tokeniser leaves without a word counts as one word.
    rates = 100 * ter.rows[..., 0] / np.maximum(ter.rows[..., 1], 1)
    rows = np.stack([rates, np.ones_like(rates)], axis=-1)
    return SegmentSums(rows, lambda sums: sums[..., 0] / sums[..., 1], False)


def _differences(
    comparison: OutputComparison, sums: SegmentSums, confidence: float
) -> list[dict[str, float]]:
    """Return how far each system is from doing nothing, with percentile bootstrap intervals."""
    estimates = comparison.estimates
    # The first pairs are those of doing nothing with each system; higher favours doing nothing.
    drawn = comparison.differences[TEST][: len(estimates) - 1]
    sign = -1 if sums.higher_is_better else 1
    low, high = percentile_interval(sign * drawn.T, confidence)
    return [
        {"estimate": float(value), "low": float(start), "high": float(end)}
        for value, start, end in zip(estimates[1:] - estimates[0], low, high, strict=True)
    ]


def _changes(
    read_inputs: EditInputs, n_edits: NDArray[np.float64], settings: Settings
) -> dict[str, Any]:
    """Return what every system changed, and the sentences with what became of them.

    `n_edits` has one row for the outputs before, and one for each system: edits to reach the post-edition.
    """
    from ..metrics.catalogue import ter_words_of

    words = ter_words_of(settings["language"], settings["tokenise"] or None, is_case_sensitive=True)
    before = [words(text) for text in read_inputs.before]
    rows, outcomes = [], []
    for after, edits in zip(read_inputs.after, n_edits[1:], strict=True):
        output = [words(text) for text in after]
        found = [
            outcome_of(old, new, is_modified=one != other)
            for old, new, one, other in zip(n_edits[0], edits, before, output, strict=True)
        ]
        outcomes.append(found)
        rows.append(_change_row(found, settings["confidence"]) | {"edits": _kinds(before, output)})
    edited = [words(text) for text in read_inputs.post_editions]
    return {
        "changes": [
            {"name": name} | row for name, row in zip(read_inputs.names, rows, strict=True)
        ],
        "edits_of_people": _kinds(before, edited),
        "sentences": _sentences(read_inputs, n_edits, outcomes),
    }


def _change_row(outcomes: Sequence[str], confidence: float) -> dict[str, Any]:
    """Count outcomes; precision is the share of modified sentences that were improved."""
    counts = {name: outcomes.count(name) for name in ("improved", "deteriorated", "same")}
    n_modified = sum(counts.values())
    precision = None
    if n_modified:
        precision = asdict(share_of(counts["improved"], n_modified, confidence=confidence))
    return {"modified": n_modified, "precision": precision} | counts


def _kinds(before: Sequence[Sequence[str]], after: Sequence[Sequence[str]]) -> dict[str, int]:
    """Add up the kinds of edits that turn one version of all sentences into another."""
    from ..metrics.ter import edit_kinds

    found = [
        asdict(edit_kinds(old, new)) for old, new in zip(before, after, strict=True) if old != new
    ]
    return {kind: sum(each[kind] for each in found) for kind in EDIT_KINDS}


def _sentences(
    read_inputs: EditInputs, n_edits: NDArray[np.float64], outcomes: Sequence[Sequence[str]]
) -> list[dict[str, Any]]:
    return [
        {
            "number": number,
            "source": read_inputs.sources[place] if read_inputs.sources else "",
            "before": read_inputs.before[place],
            "post_edition": read_inputs.post_editions[place],
            "n_edits": int(n_edits[0, place]),
            "after": {
                name: {
                    "text": read_inputs.after[i][place],
                    "n_edits": int(n_edits[i + 1, place]),
                    "outcome": outcomes[i][place],
                }
                for i, name in enumerate(read_inputs.names)
            },
        }
        for place, number in enumerate(read_inputs.numbers)
    ]


def _signature(settings: Settings, metrics: Sequence[str]) -> str:
    how = signature(
        ref="post-edition",
        test=f"paired-bootstrap,{settings['resamples']},one-sided",
        correction=settings["correction"],
        alpha=settings["alpha"],
        interval=f"bootstrap-by-sentence,{settings['resamples']}",
        confidence=settings["confidence"],
        seed=settings["seed"],
    )
    return join_signatures(*metrics, how)


# Showing --------------------------------------------------------------------------------------


def findings(result: Result) -> list[str]:
    """Say how each system compares with doing nothing, and what it did to how many sentences."""
    main, row = result["options"]["main"], main_row(result)
    sentences = [
        f"{result['systems'][place]} has {main} {row['estimates'][place]:.2f}, and is {verdict(result, row, place)} doing "
        f"nothing ({row['estimates'][0]:.2f})."
        for place in row["order"]
        if place
    ]
    for each in result["changes"]:
        sentences.append(
            f"{each['name']} modified {each['modified']:,} of {result['n_segments']:,} sentences: {each['improved']:,} "
            f"improved, {each['deteriorated']:,} deteriorated."
        )
    if result["n_left_out"]:
        sentences.append(
            f"Sentences left out because they have no post-edition: {result['n_left_out']:,}."
        )
    return sentences


def pictures(result: Result) -> list[Picture]:
    """Return what became of the sentences, the kinds of edits, and which system is better."""
    return [
        ape_pictures.outcomes(result),
        ape_pictures.edit_kinds(result),
        system_pictures.heat_map(result, main_row(result), TEST, "paired bootstrap"),
    ]


APE = ExperimentKind(
    name="ape",
    title="Automatic post-editing",
    description="Does automatic post-editing bring outputs closer to human post-editions?",
    roles=(
        FileRole("before", "Outputs before", "One line for each sentence.", required=True),
        FileRole(
            "outputs",
            "Outputs after",
            "One file for each system, with one line for each sentence.",
            many=True,
            required=True,
        ),
        FileRole(
            "post_editions",
            "Post-editions",
            "Made by people from the outputs before. Sentences with an empty line are left out.",
            required=True,
        ),
        FileRole("sources", "Sources", "Shown with the sentences, and to people who rate them."),
    ),
    options=(
        Option(
            "main",
            "Main measure",
            "TER",
            choices={
                "TER": "TER",
                "TER-lc": "TER without case",
                "TER-mean": "TER, mean of sentences",
                "TER-mean-lc": "TER, mean of sentences, without case",
                "BLEU": "BLEU",
                "chrF": "chrF",
            },
        ),
        EDITED_SYSTEM,
        *WORD_OPTIONS,
        *TESTING,
    ),
    read=read,
    measure=measure,
    tables=tables,
    pictures=pictures,
    findings=findings,
    template="analysis/_edited_sentences.html",
    context=context,
    long_tables=lambda result: [list_of_sentences(result)],
    campaigns=(
        CampaignRole(
            "edited_campaign",
            "Or post-editions of a campaign",
            ("before", "post_editions", "sources"),
            EDITED,
            edited_outputs,
            "Instead of the outputs before, post-editions and sources.",
        ),
    ),
    outputs_to_rate=outputs_to_rate,
)
