"""One table of metrics over several language pairs, from the reports of `evaluate` or from stored evaluations."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from analysis.evaluation.across import ACROSS_MEASURES, TitledResult, table_across
from analysis.evaluation.report import RESULT
from analysis.evaluation.results import EvaluationResult
from analysis.tables.writing import content_of
from hits.management.base import CommandWithExamples

FORMATS = ("md", "tex", "csv")

EXAMPLES = """\
examples:
  manage.py evaluate cs-en/*.tsv --gold da=cs-en/da.tsv --as-suggested --out reports/cs-en
  manage.py evaluate de-en/*.tsv --gold da=de-en/da.tsv --as-suggested --out reports/de-en
  manage.py tabulate_evaluations reports/cs-en reports/de-en --format tex
"""


class Command(CommandWithExamples):
    help = "Print one table of metrics over several evaluations, with the winners of each column in bold."
    examples = EXAMPLES
    # Neither a database nor a configured site is needed.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "reports",
            nargs="+",
            type=Path,
            metavar="REPORT",
            help=f"folders written by evaluate, or {RESULT} files; a column is titled by its folder",
        )
        parser.add_argument(
            "--measure",
            choices=ACROSS_MEASURES,
            default="pearson",
            help="what the table shows; errors only of evaluations with --qe (default: %(default)s)",
        )
        parser.add_argument(
            "--format", choices=FORMATS, default="md", help="Markdown (default), LaTeX or CSV"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        results = [_read(path) for path in options["reports"]]
        table = table_across(results, measure=options["measure"])
        if not table.rows:
            raise CommandError(
                f"None of these evaluations has segment scores with {options['measure']}."
            )
        self.stdout.write(content_of(table, options["format"]).decode(), ending="")


def _read(path: Path) -> TitledResult:
    """Read the result in a report's folder, or the JSON of a stored evaluation."""
    file = path / RESULT if path.is_dir() else path
    title = (file.parent if file.name == RESULT else file).resolve().stem
    try:
        return TitledResult(title, EvaluationResult.from_dict(json.loads(file.read_bytes())))
    except OSError as error:
        raise CommandError(f"Cannot read {file}: {error.strerror}.") from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise CommandError(f"{file} is not the result of an evaluation.") from error
