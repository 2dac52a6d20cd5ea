import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analysis.ranking.results import Facts, NothingRanked, rank_by_judgements
from analysis.ranking.tables import TABLES
from analysis.stats.trueskill import RUNS
from analysis.tables.writing import to_latex, to_markdown
from hits.management.base import campaign_named


class Command(BaseCommand):
    help = "Rank a campaign's systems by the rankings of its workers, in clusters."

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
        parser.add_argument("--table", choices=TABLES, help="one table instead of all")
        how = parser.add_mutually_exclusive_group()
        how.add_argument("--latex", action="store_true", help="print LaTeX for a paper")
        how.add_argument("--json", action="store_true", help="print everything as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            facts = rank_by_judgements(
                campaign_named(options["campaign"]),
                runs=options["runs"],
                seed=options["seed"],
                trusted_only=not options["all_workers"],
            )
        except (NothingRanked, ValueError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(json.dumps(facts) if options["json"] else _text(facts, options))


def _text(facts: Facts, options: dict[str, Any]) -> str:
    names = [options["table"]] if options["table"] else list(TABLES)
    write = to_latex if options["latex"] else to_markdown
    return "\n".join(write(TABLES[name](facts)) for name in names)
