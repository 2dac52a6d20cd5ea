"""Evaluate metrics or quality predictions from files against gold from files."""

import math
import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from tqdm import tqdm

from analysis.evaluation import (
    Directions,
    DirectionsUnknown,
    Evaluated,
    EvaluationResult,
    Options,
    evaluate_files,
    evaluate_folder,
    write_report,
)
from analysis.evaluation.by_pair import files_over_pairs, inputs_by_pair
from analysis.evaluation.engine import Progress
from analysis.evaluation.report import PAGE, check_folder, findings
from analysis.evaluation.results import (
    GRANULARITIES,
    PREDICTION_SORTS,
    TIE_THRESHOLDS,
    UNCERTAINTIES,
)
from analysis.scores.errors import ScoresRefused
from analysis.scores.fixes import IGNORE_EXTRA
from analysis.scores.formats import FORMATS
from analysis.scores.reading import CHOICES
from analysis.scores.score_tables import GOLD_KINDS
from analysis.stats.multiple_tests import CORRECTIONS
from da_platform.exceptions import PlatformError
from hits.management.base import CommandWithExamples

DEFAULTS = Options()

EXAMPLES = """\
examples:
  Metrics against DA, from tables with the columns system, segment and one per metric:
    manage.py evaluate metrics.tsv --gold da=gold.tsv --higher BLEU --lower TER --out report/

  Predictions of HTER, with their errors:
    manage.py evaluate predictions.tsv --gold hter=hter.tsv --qe --all-lower --baseline QuEst --out report/

  Submissions to WMT with several language pairs, and their means over the pairs:
    manage.py evaluate submissions/ --by-pair --gold da=test.en-cs.da --gold da=test.en-de.da --qe --all-higher \\
        --out report/

  A test set of mt-metrics-eval as it is, all metrics against all human scores:
    manage.py evaluate --folder wmt23 --pair en-de --out report/

  The same from single files, against two golds:
    manage.py evaluate metric-scores/en-de \\
        --gold mqm=human-scores/en-de.mqm.seg.score --gold da=human-scores/en-de.da-sqm.seg.score \\
        --without refA --all-higher --out report/

Gold is FILE, KIND=FILE or KIND=FILE::COLUMN. See docs/evaluation.md for files, numbers and the report.
"""


class Command(CommandWithExamples):
    help = "Evaluate metrics or quality predictions against gold, from files alone, and write a report."
    examples = EXAMPLES
    # Neither a database nor a configured site is needed.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("scores", nargs="*", help="files or folders of metric scores")
        parser.add_argument(
            "--folder",
            type=Path,
            metavar="FOLDER",
            help="a test set of mt-metrics-eval instead of files: all metrics, all human scores, documents "
            "and sources; references are left out",
        )
        parser.add_argument(
            "--pair", metavar="LANGUAGES", help="with --folder: the language pair, such as en-de"
        )
        parser.add_argument(
            "--keep",
            action="append",
            default=[],
            metavar="SYSTEM",
            help="with --folder: evaluate this reference like a system; may be repeated",
        )
        parser.add_argument(
            "--gold",
            action="append",
            default=[],
            metavar="[KIND=]FILE",
            help=f"the gold to evaluate against; KIND is one of {', '.join(GOLD_KINDS)}; may be repeated; "
            "with --folder: the name of human scores such as mqm (default: all)",
        )
        parser.add_argument(
            "--by-pair",
            action="store_true",
            help="evaluate every language pair in the score files, and write tables of means over the pairs; "
            "gold is found by the pair in the name of its file",
        )
        parser.add_argument("--out", required=True, metavar="FOLDER", help="folder for the report")
        parser.add_argument(
            "--force", action="store_true", help="write into a folder that is not empty"
        )
        _add_directions(parser)
        _add_measures(parser)
        _add_reading(parser)
        _add_plots(parser)
        _add_tests(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            check_folder(Path(options["out"]), force=options["force"])
            if options["by_pair"]:
                self._write_pairs(options)
            else:
                self._write(options)
        except DirectionsUnknown as error:
            raise CommandError(_what_to_confirm(error)) from error
        except ScoresRefused as error:
            raise CommandError(f"{error}{_ways_out(error)}") from error
        except PlatformError as error:
            raise CommandError(str(error)) from error

    def _write(self, options: dict[str, Any]) -> EvaluationResult:
        """Evaluate, write the report, and print what it found."""
        evaluated, sentences = _evaluate(options)
        _check_scatters(options["scatter"], evaluated.result)
        evaluated = evaluated.with_contrasts(options["contrast"])
        with _bar("drawing") as progress:
            paths = write_report(
                evaluated,
                options["out"],
                scatters=options["scatter"],
                all_maps=options["all_maps"],
                force=options["force"],
                processes=os.cpu_count() or 1,
                progress=progress,
            )
        for sentence in (*sentences, *findings(evaluated.result)):
            self.stdout.write(sentence)
        self.stdout.write(f"Wrote {len(paths)} files. Open {Path(options['out']) / PAGE}.")
        return evaluated.result

    def _write_pairs(self, options: dict[str, Any]) -> None:
        """Write a report for each language pair, and tables over all of them."""
        if options["folder"] or options["language_pair"]:
            raise CommandError("--by-pair takes files of all their language pairs.")
        _check_inputs(options)
        formats = {name: options[name] for name in ("format", "gold_format")}
        inputs = inputs_by_pair(options["scores"], options["gold"], **formats)
        out, results = Path(options["out"]), {}
        for pair, (scores, golds) in inputs.items():
            self.stdout.write(f"{pair}:")
            of_pair = {"scores": scores, "gold": golds, "language_pair": pair, "out": out / pair}
            results[pair] = self._write(options | of_pair)
        for name, content in files_over_pairs(results):
            (out / name).write_bytes(content)
        self.stdout.write(f"The means over {len(results)} language pairs are in {out}.")


def _evaluate(options: dict[str, Any]) -> tuple[Evaluated, list[str]]:
    """Evaluate a folder or files; also return sentences about what was left out."""
    _check_inputs(options)
    with _bar("evaluating") as progress:
        if options["folder"]:
            return evaluate_folder(
                options["folder"],
                pair=options["pair"],
                golds=options["gold"],
                directions=_directions(options),
                options=_options(options),
                keep=options["keep"],
                processes=os.cpu_count() or 1,
                progress=progress,
            )
        evaluated = evaluate_files(
            options["scores"],
            options["gold"],
            directions=_directions(options),
            options=_options(options),
            texts=options["texts"],
            documents=options["documents"],
            ranks=options["ranks"],
            format=options["format"],
            gold_format=options["gold_format"],
            system=options["system"],
            judgements=options["judgements"],
            processes=os.cpu_count() or 1,
            only={role: options[role] for role in CHOICES if options[role]},
            progress=progress,
        )
    return evaluated, []


# The folder decides these itself.
_NOT_WITH_FOLDER = ("scores", "texts", "documents", "format", "gold_format", "system", "judgements")


def _check_inputs(options: dict[str, Any]) -> None:
    if options["folder"]:
        if given := [name for name in (*_NOT_WITH_FOLDER, *CHOICES) if options[name]]:
            listed = ", ".join(name.replace("_", "-") for name in given)
            raise CommandError(f"--folder holds all files, so leave out: {listed}.")
    elif options["pair"] or options["keep"]:
        raise CommandError("--pair and --keep need --folder.")
    elif not options["scores"] or not options["gold"]:
        raise CommandError("Give score files and --gold FILE, or --folder FOLDER.")


def _add_directions(parser: CommandParser) -> None:
    directions = parser.add_argument_group("directions (never guessed)")
    for word in ("higher", "lower"):
        directions.add_argument(
            f"--{word}",
            action="append",
            default=[],
            metavar="NAME",
            help=f"{word} is better for this metric or gold; may be repeated",
        )
    every = directions.add_mutually_exclusive_group()
    every.add_argument("--all-higher", action="store_true", help="for all other metrics")
    every.add_argument("--all-lower", action="store_true", help="for all other metrics")
    every.add_argument(
        "--as-suggested",
        action="store_true",
        help="accept the directions that metric names suggest",
    )


def _add_measures(parser: CommandParser) -> None:
    """What is evaluated."""
    parser.add_argument(
        "--qe",
        action="store_true",
        help="the scores predict the gold (quality estimation): measure errors too",
    )
    parser.add_argument(
        "--good-enough",
        type=float,
        metavar="SCORE",
        help="the lowest gold that is good enough (for HTER, the highest): how well do metrics find "
        "the other translations, and how many must be read?",
    )
    parser.add_argument(
        "--level",
        choices=GRANULARITIES,
        default=DEFAULTS.level,
        help="evaluate documents instead of segments: means over the segments of each document, or scores of documents",
    )
    parser.add_argument(
        "--per-word",
        action="store_true",
        help="scores and gold are seconds: divide them by the words of each segment (needs --texts)",
    )
    parser.add_argument(
        "--preferences",
        type=float,
        metavar="POINTS",
        help="also evaluate preferences: pairs of translations whose gold scores are this far apart (WMT: 25)",
    )
    parser.add_argument(
        "--judgements",
        metavar="FILE",
        help="also evaluate preferences of people: a table with the columns segment, better and worse",
    )
    parser.add_argument(
        "--baseline",
        default="",
        metavar="NAME",
        help="with --qe: shade what does not significantly differ from these predictions",
    )
    parser.add_argument(
        "--sort",
        choices=PREDICTION_SORTS,
        default=DEFAULTS.sort,
        help="with --qe: sort the table of predictions by this measure, best first",
    )
    parser.add_argument(
        "--ranks", action="store_true", help="also evaluate rankings submitted with the scores"
    )
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="SYSTEM",
        help="leave out a system, such as a reference; may be repeated",
    )
    parser.add_argument(
        "--ignore-extra",
        action="store_true",
        help="ignore scores for translations that are not in the gold",
    )


def _add_reading(parser: CommandParser) -> None:
    """How files are read."""
    parser.add_argument(
        "--texts", metavar="FILE", help="text of each segment, one per line, for results by length"
    )
    parser.add_argument(
        "--documents",
        metavar="FILE",
        help="document of each segment, one per line, for results by document and --level document",
    )
    for name, what in (("--format", "score"), ("--gold-format", "gold")):
        parser.add_argument(
            name,
            choices=FORMATS,
            help=f"the format of the {what} files (default: detected from the content)",
        )
    parser.add_argument(
        "--system",
        default="",
        metavar="NAME",
        help="the system that was scored, for files that do not name systems when others do",
    )
    for role in CHOICES:
        parser.add_argument(
            f"--{role.replace('_', '-')}",
            metavar="NAME",
            help=f"the {role.replace('_', ' ')} to read from files that hold several",
        )


def _add_plots(parser: CommandParser) -> None:
    """What is drawn."""
    parser.add_argument(
        "--scatter",
        action="append",
        default=[],
        metavar="METRIC",
        help="plot this metric against gold (default: the best ones); may be repeated",
    )
    parser.add_argument(
        "--contrast",
        nargs=2,
        action="append",
        default=[],
        metavar=("FIRST", "SECOND"),
        help="plot two golds, or a gold and a metric, in four quadrants, and list the translations on which they "
        "contradict each other; may be repeated",
    )
    parser.add_argument(
        "--all-maps",
        action="store_true",
        help="draw the significance map of every measure, not only of r",
    )


def _add_tests(parser: CommandParser) -> None:
    """How sure the numbers are."""
    parser.add_argument(
        "--uncertainty",
        choices=UNCERTAINTIES,
        default=DEFAULTS.uncertainty,
        help="what intervals and tests take as independent: segments, by Student's t (Williams for r where each has one "
        "translation; robust: t there too) or by resampling them, or translations as in the papers (published: Fisher, "
        "Williams; default: %(default)s)",
    )
    parser.add_argument(
        "--correction",
        choices=CORRECTIONS,
        default=DEFAULTS.correction,
        help="how the p-values of a table are adjusted for their number (default: %(default)s)",
    )
    parser.add_argument(
        "--tie-threshold",
        choices=TIE_THRESHOLDS,
        default=DEFAULTS.tie_threshold,
        help="how the tie threshold of acc_eq is chosen (default: %(default)s)",
    )
    parser.add_argument("--alpha", type=float, default=DEFAULTS.alpha)
    parser.add_argument("--confidence", type=float, default=DEFAULTS.confidence)
    parser.add_argument("--seed", type=int, default=DEFAULTS.seed)
    parser.add_argument("--resamples", type=int, default=DEFAULTS.n_resamples)


def _directions(options: dict[str, Any]) -> Directions:
    otherwise = True if options["all_higher"] else False if options["all_lower"] else None
    return Directions(
        higher=options["higher"],
        lower=options["lower"],
        otherwise=otherwise,
        as_suggested=options["as_suggested"],
    )


def _options(options: dict[str, Any]) -> Options:
    for name in ("alpha", "confidence"):
        if not 0 < options[name] < 1:
            raise CommandError(f"--{name} must be between 0 and 1.")
    if options["resamples"] < 1 or options["seed"] < 0:
        raise CommandError("--resamples must be at least 1, and --seed must be at least 0.")
    if (points := options["preferences"]) is not None and not 0 <= points < float("inf"):
        raise CommandError("--preferences must be at least 0.")
    if (score := options["good_enough"]) is not None and not math.isfinite(score):
        raise CommandError("--good-enough must be a finite number.")
    return Options(
        qe=options["qe"],
        alpha=options["alpha"],
        confidence=options["confidence"],
        uncertainty=options["uncertainty"],
        correction=options["correction"],
        tie_threshold=options["tie_threshold"],
        seed=options["seed"],
        n_resamples=options["resamples"],
        without_systems=tuple(dict.fromkeys(options["without"])),
        ignore_extra=options["ignore_extra"],
        per_word=options["per_word"],
        good_enough=options["good_enough"],
        level=options["level"],
        preference_points=options["preferences"],
        baseline=options["baseline"],
        sort=options["sort"],
    )


def _check_scatters(names: list[str], result: EvaluationResult) -> None:
    metrics = {row.metric for gold in result.golds for row in gold.segment}
    for name in names:
        if name not in metrics:
            raise CommandError(f"There is no metric {name!r} with segment scores to plot.")


def _what_to_confirm(error: DirectionsUnknown) -> str:
    """List the unknown directions, and the options that accept the suggestions."""
    suggested = [
        f"--{error.suggested[name][0]} {shlex.quote(name)}"
        for name in error.names
        if name in error.suggested
    ]
    lines = [
        str(error),
        "Nothing was written. Say whether higher or lower is better: --higher NAME, --lower NAME,",
    ]
    lines.append("or, for all metrics not named, --all-higher or --all-lower.")
    if suggested:
        lines += ["If the suggestions are right, --as-suggested, or:", f"  {' '.join(suggested)}"]
    return "\n".join(lines)


def _ways_out(error: ScoresRefused) -> str:
    """List the options that avoid the problems."""
    flags = []
    for fix in [problem.fix for problem in error.problems if problem.fix]:
        if fix.option == "without_systems":
            flags += [f"--without {shlex.quote(name)}" for name in fix.values]
        elif fix == IGNORE_EXTRA:
            flags.append("--ignore-extra")
    return f"\nTo go on without these rows: {' '.join(dict.fromkeys(flags))}" if flags else ""


@contextmanager
def _bar(name: str) -> Iterator[Progress]:
    """Show a progress bar if standard error is a terminal."""
    with tqdm(desc=name, disable=None, leave=False) as bar:

        def move(n_done: int, n_total: int) -> None:
            bar.total = n_total
            bar.update(n_done - bar.n)

        yield move
