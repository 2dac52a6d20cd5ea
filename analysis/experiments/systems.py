"""Tests between machine translation systems, from their outputs and references alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from da_platform.files.problems import Problems
from da_platform.plots.rendering import Picture

from ..scores.raw_files import RawFile
from ..stats.output_tests import (
    OUTPUT_TESTS,
    agreement,
    compare_outputs,
    conclusions,
    with_fallback,
)
from ..stats.signature import join_signatures, signature
from ..stats.thresholds import STAR_LEVELS, bare
from ..tables.table import Column, Table, correlation, interval, number, text
from . import system_pictures
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
from .comparing import (
    WORD_OPTIONS,
    as_row,
    check_languages,
    check_size,
    correction_note,
    read_outputs,
    sums_of,
)
from .from_campaigns import ALL_TASKS, JUDGED, all_outputs
from .from_campaigns import conclusions as conclusions_of
from .human_conclusions import read_conclusions
from .lines import optional_lines, text_lines

METRICS = ("BLEU", "NIST", "TER", "chrF")
TEST_NAMES = {
    "bootstrap": "paired bootstrap",
    "shifted": "bootstrap with shifted null",
    "randomisation": "approximate randomisation",
}
N_STEPS = 3

assert tuple(TEST_NAMES) == OUTPUT_TESTS


@dataclass(frozen=True, slots=True)
class SystemInputs:
    """The outputs of systems, the references, and what people concluded about pairs of systems."""

    names: list[str]
    outputs: list[list[str]]
    references: list[str]
    sources: list[str]
    # 1 where the row is better than the column, -1 where it is worse; None without a file.
    human: Any


def read(inputs: Inputs, settings: Settings) -> SystemInputs:
    """Read outputs, references and conclusions, or list everything that is wrong with them."""
    check_languages(settings)
    problems = Problems()
    raw_references = inputs["references"][0]
    references = text_lines(raw_references, problems)
    outputs = read_outputs(
        inputs["outputs"], problems, n=len(references), parallel_to=raw_references.name
    )
    if len(inputs["outputs"]) < 2:
        problems.add("", None, "give the outputs of at least two systems")
    refuse_if_any(problems)
    check_size(len(outputs), len(_chosen_metrics(settings)), settings)
    sources = optional_lines(
        inputs["sources"], problems, n=len(references), parallel_to=raw_references.name
    )
    human = _human(inputs, [*outputs], settings, problems)
    refuse_if_any(problems)
    return SystemInputs([*outputs], [*outputs.values()], references, sources, human)


def _chosen_metrics(settings: Settings) -> list[str]:
    """Return the metrics that the options name, or refuse unknown ones."""
    chosen = list(dict.fromkeys(settings["metrics"].replace(",", " ").split()))
    problems = Problems()
    for name in chosen:
        if name not in METRICS:
            listed = ", ".join(METRICS)
            problems.add("", None, f"there is no metric {name!r}; choose from {listed}")
    if not chosen:
        problems.add("", None, f"choose at least one metric of {', '.join(METRICS)}")
    refuse_if_any(problems)
    return chosen


def _human(inputs: Inputs, names: Sequence[str], settings: Settings, problems: Problems) -> Any:
    """Return what people concluded, with a second question deciding where the first does not."""

    def of(raw: RawFile) -> Any:
        return read_conclusions(raw, names, problems, alpha=settings["human_alpha"])

    if not inputs["human"]:
        if inputs["fallback"]:
            problems.add(inputs["fallback"][0].name, None, "needs conclusions about adequacy too")
        return None
    main = of(inputs["human"][0])
    return with_fallback(main, of(inputs["fallback"][0])) if inputs["fallback"] else main


def outputs_to_rate(read_inputs: SystemInputs) -> OutputsToRate:
    systems = dict(zip(read_inputs.names, read_inputs.outputs, strict=True))
    return OutputsToRate(systems, read_inputs.references, read_inputs.sources)


# Measuring ------------------------------------------------------------------------------------


def measure(read_inputs: SystemInputs, settings: Settings, progress: Progress) -> Result:
    """Score all systems, and test all pairs by every metric."""
    # sacreBLEU is slow to import, and pages do not need it.
    from ..metrics.sums import summed_metrics

    available = summed_metrics(settings["language"], tokenise=settings["tokenise"] or None)
    metrics = [available[name] for name in _chosen_metrics(settings)]
    sums = [sums_of(each, read_inputs.outputs, read_inputs.references) for each in metrics]
    progress(1, N_STEPS)
    found = compare_outputs(
        sums,
        rng=np.random.default_rng(settings["seed"]),
        n_resamples=settings["resamples"],
        confidence=settings["confidence"],
    )
    progress(2, N_STEPS)
    rows = [
        as_row(metric.name, comparison, settings, higher_is_better=metric.higher_is_better)
        for metric, comparison in zip(metrics, found, strict=True)
    ]
    result = {
        "systems": read_inputs.names,
        "n_segments": len(read_inputs.references),
        "rows": rows,
        "human": None if read_inputs.human is None else read_inputs.human.tolist(),
        "signature": _signature(settings, [metric.signature for metric in metrics]),
    }
    progress(N_STEPS, N_STEPS)
    return result | {"agreement": _agreement(result, settings["confidence"])}


def _agreement(result: Result, confidence: float) -> list[dict[str, Any]]:
    """Return how often each metric and test concludes what people did, at each level."""
    if result["human"] is None:
        return []
    rows = []
    for row in result["rows"]:
        for test, pvalue in row["pvalue"].items():
            matrix = np.array(pvalue, dtype=np.float64)
            for alpha in STAR_LEVELS:
                share = agreement(
                    conclusions(matrix, alpha), result["human"], confidence=confidence
                )
                rows.append(
                    {
                        "metric": row["metric"],
                        "test": test,
                        "alpha": alpha,
                        "n_right": share.n_right,
                        "n": share.n,
                        "estimate": share.estimate,
                        "low": share.low,
                        "high": share.high,
                    }
                )
    return rows


def _signature(settings: Settings, metrics: Sequence[str]) -> str:
    how = signature(
        tests=[f"{test},{settings['resamples']}" for test in OUTPUT_TESTS],
        sided="one",
        correction=settings["correction"],
        interval=f"bootstrap-by-segment,{settings['resamples']}",
        confidence=settings["confidence"],
        seed=settings["seed"],
    )
    return join_signatures(*metrics, how)


# Showing --------------------------------------------------------------------------------------


def tables(result: Result) -> list[Table]:
    """Return the scores, the tests of all pairs, and the agreement with people."""
    found = [_scores_table(result), _tests_table(result)]
    if result["agreement"]:
        found.append(_agreement_table(result))
    return found


def _scores_table(result: Result) -> Table:
    columns = [Column("system", is_number=False)]
    for row in result["rows"]:
        columns += [
            Column(row["metric"]),
            Column(f"{row['metric']} interval", parts=("low", "high")),
        ]
    order = result["rows"][0]["order"]
    cells = [
        [
            text(result["systems"][place]),
            *(
                cell
                for row in result["rows"]
                for cell in (
                    number(row["estimates"][place], 2),
                    interval(row["low"][place], row["high"][place], 2),
                )
            ),
        ]
        for place in order
    ]
    lower = [row["metric"] for row in result["rows"] if not row["higher_is_better"]]
    note = f"{result['n_segments']:,} segments."
    note += f" Lower is better: {', '.join(lower)}." if lower else ""
    return Table(
        name="system-scores",
        caption="Scores of systems",
        columns=columns,
        rows=cells,
        note=f"{note} Intervals: percentile bootstrap over segments, {result['options']['confidence']:.0%}.",
    )


def _tests_table(result: Result) -> Table:
    rows = []
    for row in result["rows"]:
        order = row["order"]
        for place, i in enumerate(order):
            for j in order[place + 1 :]:
                p = [row["adjusted"][test][i][j] for test in OUTPUT_TESTS]
                rows.append(
                    [
                        text(row["metric"]),
                        text(result["systems"][i]),
                        text(result["systems"][j]),
                        number(row["estimates"][i] - row["estimates"][j], 2),
                        *(number(value, 4, bold=value < result["options"]["alpha"]) for value in p),
                    ]
                )
    return Table(
        name="system-tests",
        caption="Tests between systems",
        columns=[
            *(Column(title, is_number=False) for title in ("metric", "better", "worse")),
            Column("difference"),
            *(Column(TEST_NAMES[test]) for test in OUTPUT_TESTS),
        ],
        rows=rows,
        note=f"One-sided p-values, {correction_note(result['options'])} for the number of pairs of a metric and test. Bold: p < "
        f"{bare(result['options']['alpha'])}.",
    )


def _agreement_table(result: Result) -> Table:
    levels = sorted({row["alpha"] for row in result["agreement"]}, reverse=True)
    columns = [Column("metric", is_number=False), Column("test", is_number=False)]
    for alpha in levels:
        columns += [
            Column(f"p < {bare(alpha)}"),
            Column(f"p < {bare(alpha)} interval", parts=("low", "high")),
        ]
    rows = []
    for metric in dict.fromkeys(row["metric"] for row in result["agreement"]):
        for test in OUTPUT_TESTS:
            found = {
                row["alpha"]: row
                for row in result["agreement"]
                if (row["metric"], row["test"]) == (metric, test)
            }
            cells = [text(metric), text(TEST_NAMES[test])]
            for alpha in levels:
                each = found[alpha]
                cells += [correlation(each["estimate"]), interval(each["low"], each["high"])]
            rows.append(cells)
    return Table(
        name="system-agreement",
        caption="How often metrics and tests agree with people",
        columns=columns,
        rows=rows,
        note=f"Of {result['agreement'][0]['n']:,} pairs of systems: the first is better, the second is better, or there is no "
        "significant difference. p-values are not corrected for their number here. Exact binomial intervals.",
    )


def findings(result: Result) -> list[str]:
    """Say which system is best by each metric, and how many pairs each test tells apart."""
    sentences = []
    n_pairs = len(result["systems"]) * (len(result["systems"]) - 1) // 2
    for row in result["rows"]:
        best = result["systems"][row["order"][0]]
        score = row["estimates"][row["order"][0]]
        counts = ", ".join(
            f"{_n_significant(row, test, result['options']['alpha'])} by {TEST_NAMES[test]}"
            for test in OUTPUT_TESTS
        )
        sentences.append(
            f"{best} has the best {row['metric']} ({score:.2f}). Of {n_pairs} pairs, significantly different: {counts}."
        )
    return sentences


def _n_significant(row: dict[str, Any], test: str, alpha: float) -> int:
    return sum(p is not None and p < alpha for each in row["adjusted"][test] for p in each)


def pictures(result: Result) -> list[Picture]:
    """Return heat maps of the tests, and the pseudo-statistics of the best two systems."""
    return [
        *(
            system_pictures.heat_map(result, row, test, TEST_NAMES[test])
            for row in result["rows"]
            for test in OUTPUT_TESTS
        ),
        *(system_pictures.pseudo_statistics(result, row, TEST_NAMES) for row in result["rows"]),
    ]


def pictures_of_pair(result: Result, pair: tuple[int, int]) -> list[Picture]:
    """Return the pseudo-statistics of two systems, given by their places, in every metric."""
    return [
        system_pictures.pseudo_statistics(result, row, TEST_NAMES, pair) for row in result["rows"]
    ]


def context(result: Result, query: Mapping[str, str]) -> dict[str, Any]:
    """Return the pseudo-statistics of the pair of systems that a reader chose."""
    names = result["systems"]
    chosen = [query.get(name, "") for name in ("first", "second")]
    context: dict[str, Any] = {"systems": names, "chosen": chosen}
    if len(set(chosen)) == 2 and all(name in names for name in chosen):
        first, second = sorted(map(names.index, chosen))
        context["pair_pictures"] = pictures_of_pair(result, (first, second))
    return context


SYSTEMS = ExperimentKind(
    name="systems",
    title="Tests between systems",
    description="Which of several systems is significantly better by BLEU, NIST, TER and chrF, and do people agree?",
    roles=(
        FileRole(
            "outputs",
            "Outputs",
            "One file for each system, with one line for each segment.",
            many=True,
            required=True,
        ),
        FileRole("references", "References", "One line for each segment.", required=True),
        FileRole("sources", "Sources", "For people who rate the outputs in a campaign."),
        FileRole(
            "human",
            "Conclusions of people",
            "A table with the columns system and cluster, or system, other and p, such as an export from a campaign.",
        ),
        FileRole(
            "fallback",
            "Conclusions about fluency",
            "They decide the pairs for which the conclusions about adequacy have no significant difference.",
        ),
    ),
    options=(
        Option("metrics", "Metrics", " ".join(METRICS)),
        *WORD_OPTIONS,
        Option(
            "human_alpha",
            "Significance level of people's conclusions",
            0.05,
            least=1e-6,
            most=1 - 1e-6,
        ),
        *TESTING,
    ),
    read=read,
    measure=measure,
    tables=tables,
    pictures=pictures,
    findings=findings,
    template="analysis/_pseudo_statistics.html",
    context=context,
    more_pictures=lambda result: (
        picture
        for pair in combinations(range(len(result["systems"])), 2)
        for picture in pictures_of_pair(result, pair)
    ),
    campaigns=(
        CampaignRole(
            "outputs_campaign",
            "Or the outputs of a campaign",
            ("outputs", "references", "sources"),
            ALL_TASKS,
            lambda campaign, settings: all_outputs(campaign),
            "With its references, for segments with an output of every system.",
        ),
        CampaignRole(
            "human_campaign",
            "Or the conclusions of a campaign",
            ("human",),
            JUDGED,
            lambda campaign, settings: {"human": [conclusions_of(campaign)]},
            "The rank-sum tests of its newest gold, or the clusters of its latest ranking.",
        ),
        CampaignRole(
            "fallback_campaign",
            "Or those about fluency",
            ("fallback",),
            JUDGED,
            lambda campaign, settings: {"fallback": [conclusions_of(campaign)]},
        ),
    ),
    outputs_to_rate=outputs_to_rate,
)
