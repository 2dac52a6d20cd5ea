"""Evaluate metrics or predictions of quality in files against gold in files."""

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from tqdm import tqdm

from analysis.evaluating import (
    Directions,
    DirectionsUnknown,
    EvaluationResult,
    Options,
    evaluate_files,
    write_report,
)
from analysis.evaluating.engine import Progress
from analysis.evaluating.report import PAGE, check_folder, findings
from analysis.scores.reading import CHOICES
from analysis.scores.table import GOLD_KINDS
from hits.exceptions import HitsError
from hits.management.sharing import CommandWithExamples

DEFAULTS = Options()

EXAMPLES = """\
examples:
  Metrics against DA, in tables with the columns system, segment and one for each metric:
    manage.py evaluate metrics.tsv --gold da=gold.tsv --higher BLEU --lower TER --out report/

  Predictions of HTER, with errors:
    manage.py evaluate predictions.tsv --gold hter=hter.tsv --qe --all-lower --out report/

  All metrics of a WMT language pair against two golds side by side:
    manage.py evaluate metric-scores/en-de \\
        --gold mqm=human-scores/en-de.mqm.seg.score --gold da=human-scores/en-de.da-sqm.seg.score \\
        --without refA --all-higher --out report/

Gold is FILE, KIND=FILE or KIND=FILE::COLUMN. docs/evaluation.md describes files, numbers and report.
"""


class Command(CommandWithExamples):
    help = "Evaluate metrics or predictions of quality against gold, from files alone, and write a report."
    examples = EXAMPLES
    # Neither a database nor a configured site is needed.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("scores", nargs="+", help="files of metric scores, or folders of them")
        parser.add_argument(
            "--gold",
            action="append",
            required=True,
            metavar="[KIND=]FILE",
            help=f"what to evaluate against, of the kind {', '.join(GOLD_KINDS)}; may be repeated",
        )
        parser.add_argument("--out", required=True, metavar="FOLDER", help="where the report goes")
        parser.add_argument("--force", action="store_true", help="write into a folder in use")
        _add_directions(parser)
        _add_options(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            check_folder(Path(options["out"]), force=options["force"])
            with _bar("evaluating") as progress:
                evaluated = evaluate_files(
                    options["scores"],
                    options["gold"],
                    directions=_directions(options),
                    options=_options(options),
                    texts=options["texts"],
                    documents=options["documents"],
                    ranks=options["ranks"],
                    only={role: options[role] for role in CHOICES if options[role]},
                    progress=progress,
                )
            _check_scatters(options["scatter"], evaluated.result)
            with _bar("drawing") as progress:
                paths = write_report(
                    evaluated,
                    options["out"],
                    scatters=options["scatter"],
                    force=options["force"],
                    processes=len(os.sched_getaffinity(0)),
                    progress=progress,
                )
        except DirectionsUnknown as error:
            raise CommandError(_what_to_confirm(error)) from error
        except HitsError as error:
            raise CommandError(str(error)) from error
        for sentence in findings(evaluated.result):
            self.stdout.write(sentence)
        self.stdout.write(f"{len(paths)} files written; begin with {Path(options['out']) / PAGE}.")


def _add_directions(parser: CommandParser) -> None:
    directions = parser.add_argument_group("directions, which are never guessed")
    for word in ("higher", "lower"):
        directions.add_argument(
            f"--{word}",
            action="append",
            default=[],
            metavar="NAME",
            help=f"{word} is better for this metric or gold; may be repeated",
        )
    every = directions.add_mutually_exclusive_group()
    every.add_argument("--all-higher", action="store_true", help="for all metrics not named")
    every.add_argument("--all-lower", action="store_true", help="for all metrics not named")
    every.add_argument(
        "--as-suggested", action="store_true", help="confirm what the names of metrics suggest"
    )


def _add_options(parser: CommandParser) -> None:
    parser.add_argument(
        "--qe", action="store_true", help="the scores predict the gold: measure errors too"
    )
    parser.add_argument(
        "--ranks", action="store_true", help="rankings that were submitted beside scores, too"
    )
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="SYSTEM",
        help="leave out a system, such as a reference; may be repeated",
    )
    parser.add_argument(
        "--ignore-extra", action="store_true", help="leave out scores that the gold does not know"
    )
    parser.add_argument("--texts", metavar="FILE", help="a text per line: results by length")
    parser.add_argument("--documents", metavar="FILE", help="a document's name per line")
    parser.add_argument(
        "--scatter",
        action="append",
        default=[],
        metavar="METRIC",
        help="show this metric against gold (default: the best ones); may be repeated",
    )
    parser.add_argument("--alpha", type=float, default=DEFAULTS.alpha)
    parser.add_argument("--confidence", type=float, default=DEFAULTS.confidence)
    parser.add_argument("--seed", type=int, default=DEFAULTS.seed)
    parser.add_argument("--resamples", type=int, default=DEFAULTS.n_resamples)
    for role in CHOICES:
        parser.add_argument(
            f"--{role.replace('_', '-')}",
            metavar="NAME",
            help=f"which {role.replace('_', ' ')} to read of files that hold several",
        )


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
            raise CommandError(f"--{name} must lie between 0 and 1.")
    if options["resamples"] < 1 or options["seed"] < 0:
        raise CommandError("--resamples must be at least 1 and --seed not negative.")
    return Options(
        qe=options["qe"],
        alpha=options["alpha"],
        confidence=options["confidence"],
        seed=options["seed"],
        n_resamples=options["resamples"],
        without_systems=tuple(dict.fromkeys(options["without"])),
        ignore_extra=options["ignore_extra"],
    )


def _check_scatters(names: list[str], result: EvaluationResult) -> None:
    known = {one.metric for gold in result.golds for one in gold.segment}
    for name in names:
        if name not in known:
            raise CommandError(f"There is no metric {name!r} with segment scores to be drawn.")


def _what_to_confirm(error: DirectionsUnknown) -> str:
    """List what is unknown, and the options that would confirm what is suggested."""
    suggested = [
        f"--{error.suggested[name][0]} {shlex.quote(name)}"
        for name in error.names
        if name in error.suggested
    ]
    lines = [
        str(error),
        "Nothing was written. Say which way each goes: --higher NAME, --lower NAME,",
    ]
    lines.append("or, for all metrics not named, --all-higher or --all-lower.")
    if suggested:
        lines += ["If the suggestions are right, --as-suggested, or:", f"  {' '.join(suggested)}"]
    return "\n".join(lines)


@contextmanager
def _bar(name: str) -> Iterator[Progress]:
    """Show a bar on standard error while it is a terminal; yield what moves it."""
    with tqdm(desc=name, disable=None, leave=False) as bar:

        def move(n_done: int, n_total: int) -> None:
            bar.total = n_total
            bar.update(n_done - bar.n)

        yield move
