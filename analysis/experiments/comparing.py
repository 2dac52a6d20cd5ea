"""What the kinds that compare whole outputs share: reading the outputs, and a comparison as part of a result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from da_platform.files.problems import Problems
from da_platform.files.reading import printable
from hits.campaigns.importing.plain_text import without_common_parts
from hits.languages import is_language_code

from ..scores.raw_files import RawFile
from ..stats.multiple_tests import adjust
from ..stats.output_tests import OutputComparison, SegmentSums, histogram
from .base import ExperimentRefused, Option, Settings
from .lines import check_parallel, text_lines

if TYPE_CHECKING:
    # sacreBLEU is slow to import, and pages do not need it.
    from ..metrics.sums import SummedMetric

# After the name of a system, in the name of a file whose name is not to be shortened.
OUTPUT_ENDING = ".output"
# Of all pairs of systems, metrics and resamples: a quarter of a gigabyte.
MOST_DIFFERENCES = 10_000_000
# How texts become words.
WORD_OPTIONS = (
    Option("language", "Target language", "en", help_text="A code, such as de or pt-BR."),
    Option("source_language", "Source language", "", help_text="For a campaign of the outputs."),
    Option(
        "tokenise",
        "Tokeniser",
        "",
        choices={
            "": "The one for the language",
            "none": "None: texts are already tokenised",
            "13a": "13a",
            "intl": "intl",
            "char": "char",
            "zh": "zh",
        },
        help_text="One of sacreBLEU's.",
    ),
)


def check_languages(settings: Settings) -> None:
    for name in ("language", "source_language"):
        code = settings[name]
        if (code or name == "language") and not is_language_code(code):
            raise ExperimentRefused(f"{name}: {printable(code)!r} is not a known language code.")


def check_size(n_systems: int, n_metrics: int, settings: Settings) -> None:
    """Refuse an experiment whose tests would need too much memory."""
    n_pairs = n_systems * (n_systems - 1) // 2
    most = MOST_DIFFERENCES // max(1, n_pairs * n_metrics)
    if settings["resamples"] > most:
        raise ExperimentRefused(
            f"With {n_systems} systems and {n_metrics} metrics, resamples must be at most {most:,}."
        )


def read_outputs(
    files: Sequence[RawFile], problems: Problems, *, n: int, parallel_to: str
) -> dict[str, list[str]]:
    """Return the outputs of systems, named by what distinguishes the names of their files.

    Parameters
    ----------
    files : sequence of RawFile
        One line for each segment; an empty line is an empty output.
    problems : Problems
    n : int
        How many lines each must have.
    parallel_to : str
        The file that has so many.
    """
    names, outputs = _names(files), {}
    for name, raw in zip(names, files, strict=True):
        outputs[name] = text_lines(raw, problems, may_be_empty=True)
        check_parallel(raw, len(outputs[name]), n, problems, other=parallel_to)
    for name in sorted({name for name in names if names.count(name) > 1}):
        problems.add("", None, f"{names.count(name)} systems are named {name!r}")
    return outputs


def _names(files: Sequence[RawFile]) -> list[str]:
    names = [file.name.removesuffix(".txt") for file in files]
    if all(name.endswith(OUTPUT_ENDING) for name in names):
        return [name.removesuffix(OUTPUT_ENDING) for name in names]
    return [*without_common_parts(names)] if len(set(names)) == len(names) > 1 else names


def sums_of(
    metric: SummedMetric, outputs: Sequence[Sequence[str]], references: Sequence[str]
) -> SegmentSums:
    """Return what a metric counts in the outputs of all systems."""
    rows = np.stack([metric.statistics(output, references) for output in outputs])
    return SegmentSums(rows, metric.score, metric.higher_is_better)


def as_row(
    name: str, comparison: OutputComparison, settings: Settings, *, higher_is_better: bool
) -> dict[str, Any]:
    """Return the comparison of all systems by one metric as JSON."""
    sign = 1 if higher_is_better else -1
    return {
        "metric": name,
        "higher_is_better": higher_is_better,
        "order": np.argsort(-sign * comparison.estimates, kind="stable").tolist(),
        "estimates": comparison.estimates.tolist(),
        "low": comparison.low.tolist(),
        "high": comparison.high.tolist(),
        "pvalue": {test: listed(p) for test, p in comparison.pvalue.items()},
        "two_sided": {test: listed(p) for test, p in comparison.two_sided.items()},
        "adjusted": {
            test: listed(adjust(p, settings["correction"])) for test, p in comparison.pvalue.items()
        },
        "histograms": {
            test: [_histogram(values) for values in pairs]
            for test, pairs in comparison.differences.items()
        },
    }


def _histogram(differences: NDArray[np.float64]) -> dict[str, Any]:
    counts, edges = histogram(differences)
    return {"counts": counts.tolist(), "edges": edges.tolist()}


def listed(matrix: ArrayLike) -> list[list[float | None]]:
    """Return a matrix as JSON, which has no NaN."""
    return [
        [None if np.isnan(value) else float(value) for value in row] for row in np.asarray(matrix)
    ]


def correction_note(settings: Settings) -> str:
    return "corrected by Holm" if settings["correction"] == "holm" else "not corrected"
