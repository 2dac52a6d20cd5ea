import json
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analysis.gold.named_workers import WorkersRefused
from analysis.ranking.judge_groups import read_group_file
from analysis.ranking.report import make_report, write_files
from analysis.ranking.results import Facts, NothingRanked, rank_by_judgements
from analysis.ranking.stored import gold_of, golds_next_to, keep_ranking, with_direct_assessment
from analysis.ranking.tables import TABLES, tables_of
from analysis.stats.trueskill import LOOKUPS, RUNS
from analysis.tables.writing import to_latex, to_markdown
from hits.management.base import campaign_named, progress_bar
from hits.models import Campaign

# Why a ranking may lack a table.
LACKING = {
    "agreement-by-group": "all judges came the same way; name groups with --groups",
    "metrics": "no metric with a confirmed direction has scores for segments that were judged",
    "metrics-systems": "no metric with a confirmed direction has scores for three of the systems",
    "direct-assessment": "no other campaign with these languages has gold for two of the systems",
}


class Command(BaseCommand):
    help = (
        "Rank a campaign's systems by the rankings of its workers, in clusters. The page and the API show the "
        "result, too."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="the campaign's name")
        parser.add_argument(
            "--runs",
            type=int,
            default=RUNS,
            metavar="N",
            help=f"TrueSkill runs (default: {RUNS:,})",
        )
        parser.add_argument(
            "--seed",
            type=int,
            metavar="N",
            help="default: the campaign's; the same gives the same scores",
        )
        parser.add_argument(
            "--all-workers", action="store_true", help="count everyone, not only trusted workers"
        )
        parser.add_argument(
            "--lookup",
            choices=LOOKUPS,
            default=LOOKUPS[0],
            help="all judgements of a pair (default), or those that the program of WMT15 found",
        )
        parser.add_argument(
            "--groups",
            type=Path,
            metavar="FILE",
            help="for kappa within groups of judges: on each line an id or a pseudonym from an "
            "export, a tab or comma, and a group (default: by how judges came)",
        )
        parser.add_argument(
            "--gold",
            metavar="CAMPAIGN",
            help="the campaign whose newest gold is shown next to the ranking (default: the one that "
            "shares the most systems)",
        )
        parser.add_argument("--table", choices=TABLES, help="one table instead of all")
        parser.add_argument(
            "--out",
            type=Path,
            metavar="FOLDER",
            help="also write the report, the tables (LaTeX and CSV) and the figures (PDF and SVG)",
        )
        how = parser.add_mutually_exclusive_group()
        how.add_argument("--latex", action="store_true", help="print LaTeX for a paper")
        how.add_argument("--json", action="store_true", help="print everything as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_named(options["campaign"])
        arguments = {
            "runs": options["runs"],
            "seed": options["seed"],
            "trusted_only": not options["all_workers"],
            "lookup": options["lookup"],
        }
        try:
            if options["groups"]:
                arguments["groups"] = read_group_file(campaign, options["groups"])
            with progress_bar(unit="runs") as progress:
                facts = rank_by_judgements(campaign, progress=_advancing(progress), **arguments)
        except (NothingRanked, WorkersRefused, ValueError) as error:
            raise CommandError(str(error)) from error
        keep_ranking(campaign, facts, arguments)
        facts = _next_to_gold(facts, campaign, options["gold"])
        if folder := options["out"]:
            for path in write_files(make_report(campaign, facts), folder):
                self.stderr.write(f"Wrote {path}")
        self.stdout.write(json.dumps(facts) if options["json"] else _text(facts, options))


def _advancing(advance: Callable[[int], None]) -> Callable[[int, int], None]:
    """Return what turns progress so far into steps."""
    last = 0

    def tell(done: int, total: int) -> None:
        nonlocal last
        advance(done - last)
        last = done

    return tell


def _next_to_gold(facts: Facts, campaign: Campaign, name: str | None) -> Facts:
    golds = golds_next_to(campaign, facts, Campaign.objects.kept())
    chosen = gold_of(golds, campaign_named(name).code if name else None)
    if name and chosen is None:
        raise CommandError(f"{name} has no gold for two of the systems of {campaign.name}.")
    return with_direct_assessment(facts, chosen)


def _text(facts: Facts, options: dict[str, Any]) -> str:
    tables = tables_of(facts)
    if wanted := options["table"]:
        if wanted not in tables:
            raise CommandError(f"There is nothing for the table {wanted}: {LACKING[wanted]}.")
        tables = {wanted: tables[wanted]}
    write = to_latex if options["latex"] else to_markdown
    return "\n".join(map(write, tables.values()))
