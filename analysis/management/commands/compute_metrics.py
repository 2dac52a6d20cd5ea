import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from analysis.metrics import DEFAULT_METRICS, METRIC_NAMES, TOKENISERS
from analysis.metrics.computing import compute_metrics
from analysis.models import Metric
from analysis.scores.score_tables import LEVELS
from analysis.scores.storing import stored_tables
from da_platform.exceptions import PlatformError
from hits.management.base import campaign_named


class Command(BaseCommand):
    help = (
        "Compute and store metrics of a campaign's outputs at segment and system level. "
        "Scores already computed are not computed again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="the campaign's name")
        parser.add_argument(
            "--metrics",
            nargs="+",
            choices=METRIC_NAMES,
            default=list(DEFAULT_METRICS),
            help="metrics to compute (default: all except TER-cased and TER-Moses)",
        )
        parser.add_argument(
            "--post-editions",
            type=Path,
            metavar="FILE",
            help="post-editions to use instead of the references: a table with the columns system, segment and post_edition",
        )
        parser.add_argument(
            "--tokenise",
            metavar="NAME",
            choices=TOKENISERS,
            help=f"tokeniser: {', '.join(TOKENISERS)} (default: by language)",
        )
        parser.add_argument(
            "--out",
            type=Path,
            metavar="FILE",
            help="also write the segment scores to a new table (TSV) that `evaluate` reads",
        )
        parser.add_argument("--json", action="store_true", help="print the system scores as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_named(options["campaign"])
        try:
            with tqdm(desc="texts", disable=None, leave=False) as bar:

                def move(n_done: int, n_total: int) -> None:
                    bar.total = n_total
                    bar.update(n_done - bar.n)

                metrics = compute_metrics(
                    campaign=campaign,
                    names=options["metrics"],
                    levels=LEVELS,
                    post_editions=options["post_editions"],
                    tokenise=options["tokenise"],
                    progress=move,
                )
        except PlatformError as error:
            raise CommandError(str(error)) from error
        if options["out"]:
            _write(options["out"], [m for m in metrics if m.level == Metric.Level.SEGMENT])
        facts = _facts([metric for metric in metrics if metric.level == Metric.Level.SYSTEM])
        self.stdout.write(
            json.dumps(facts, ensure_ascii=False) if options["json"] else _page(facts)
        )


def _write(path: Path, metrics: list[Metric]) -> None:
    """Write a column for each metric, which says in its title which direction is better."""
    tables = stored_tables(metrics)
    titles = [f"{table.name}:{'higher' if table.higher_is_better else 'lower'}" for table in tables]
    columns = [map(repr, table.scores.tolist()) for table in tables]
    rows = zip(*zip(*tables[0].keys, strict=True), *columns, strict=True)
    lines = ["\t".join(cells) for cells in [("system", "segment", *titles), *rows]]
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write("\n".join(lines) + "\n")
    except OSError as error:
        raise CommandError(f"Cannot write {path}: {error.strerror}.") from error


def _facts(metrics: list[Metric]) -> list[dict[str, Any]]:
    return [
        {
            "metric": table.name,
            "higher_is_better": table.higher_is_better,
            "signature": table.signature,
            "systems": {
                system: score
                for (system, _), score in zip(table.keys, table.scores.tolist(), strict=True)
            },
        }
        for table in stored_tables(metrics)
    ]


def _page(facts: list[dict[str, Any]]) -> str:
    lines = []
    for fact in facts:
        way = "higher" if fact["higher_is_better"] else "lower"
        lines.append(f"{fact['metric']} ({way} is better)  {fact['signature']}")
        lines += [f"  {score:10.4f}  {system}" for system, score in fact["systems"].items()]
    return "\n".join(lines)
