import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from analysis.metrics import DEFAULT_METRICS, METRIC_NAMES, TOKENISERS
from analysis.metrics.computing import Progress, compute_metrics
from analysis.models import GoldUpload, Metric
from analysis.post_editions.measures import compute_targeted
from analysis.scores.storing import stored_tables
from da_platform.exceptions import PlatformError
from hits.management.base import campaign_named
from hits.models import Campaign

# Stands for the post-editions made by the campaign's editors.
COLLECTED = Path()


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
            nargs="?",
            type=Path,
            const=COLLECTED,
            metavar="FILE",
            help="post-editions to use instead of the references: a table with the columns system, segment and "
            "post_edition, and perhaps editor and seconds (without FILE: those collected in the campaign)",
        )
        parser.add_argument(
            "--post-editions-of",
            metavar="CAMPAIGN",
            help="use the post-editions collected in this campaign, of outputs with the same system, segment and text",
        )
        parser.add_argument(
            "--partial",
            action="store_true",
            help="with post-editions: metrics of some outputs will do, at segment level",
        )
        parser.add_argument(
            "--gold",
            action="store_true",
            help="with post-editions: store the scores as gold, not as metrics; some outputs may have none",
        )
        parser.add_argument(
            "--case-sensitive",
            action="store_true",
            help="with post-editions: do not ignore case",
        )
        parser.add_argument(
            "--uncapped",
            action="store_true",
            help="with post-editions: leave error rates above 1 as they are",
        )
        parser.add_argument(
            "--as-edited",
            action="store_true",
            help="with post-editions of the campaign: use the editors' texts, even if they have been checked",
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
        _check(options)
        try:
            with tqdm(desc="texts", disable=None, leave=False) as bar:

                def move(n_done: int, n_total: int) -> None:
                    bar.total = n_total
                    bar.update(n_done - bar.n)

                stored = _compute(campaign, options, move)
        except PlatformError as error:
            raise CommandError(str(error)) from error
        golds = [gold for gold in stored if isinstance(gold, GoldUpload)]
        for gold in golds:
            self.stdout.write(f"Stored gold {gold.name}: {gold.n_scores:,} scores.")
        if golds:
            return
        metrics = [metric for metric in stored if isinstance(metric, Metric)]
        if options["out"]:
            _write(options["out"], [m for m in metrics if m.level == Metric.Level.SEGMENT])
        if options["partial"]:
            for metric in metrics:
                self.stdout.write(f"Stored metric {metric.name}: {metric.n_scores:,} scores.")
            return
        facts = _facts([metric for metric in metrics if metric.level == Metric.Level.SYSTEM])
        self.stdout.write(
            json.dumps(facts, ensure_ascii=False) if options["json"] else _page(facts)
        )


def _check(options: dict[str, Any]) -> None:
    edited_in, path = options["post_editions_of"], options["post_editions"]
    if edited_in and path not in (None, COLLECTED):
        raise CommandError("Give either --post-editions FILE or --post-editions-of CAMPAIGN.")
    if edited_in is None and path is None:
        for name in ("gold", "case_sensitive", "uncapped", "as_edited", "partial"):
            if options[name]:
                raise CommandError(f"--{name.replace('_', '-')} needs --post-editions.")
    if options["gold"] and (options["out"] or options["json"]):
        raise CommandError("--gold stores no metrics, so it cannot be used with --out or --json.")
    if options["partial"] and options["json"]:
        raise CommandError("--partial stores no system scores, so it cannot be used with --json.")


def _compute(
    campaign: Campaign, options: dict[str, Any], move: Progress
) -> list[Metric] | list[GoldUpload]:
    names, tokenise, path = options["metrics"], options["tokenise"], options["post_editions"]
    edited_in = options["post_editions_of"]
    if path is None and edited_in is None:
        return compute_metrics(campaign=campaign, names=names, tokenise=tokenise, progress=move)
    return compute_targeted(
        campaign=campaign,
        post_editions=None if path == COLLECTED else path,
        post_editions_of=campaign_named(edited_in) if edited_in else None,
        names=names,
        use="gold" if options["gold"] else "metric",
        tokenise=tokenise,
        ignore_case=not options["case_sensitive"],
        cap=not options["uncapped"],
        as_edited=options["as_edited"],
        partial=options["partial"],
        progress=move,
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
