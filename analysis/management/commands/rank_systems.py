import json
import math
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analysis.gold.ranking import SystemRanking, rank_systems
from analysis.gold.report import helped
from analysis.models import GoldRun
from analysis.stats.systems import SystemScores
from da_platform.numbers import known_list, known_matrix
from hits.management.base import campaign_named
from hits.models import Campaign


class Command(BaseCommand):
    help = "Rank a campaign's systems by its gold, in clusters without significant differences."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="the campaign's name")
        parser.add_argument(
            "--run", type=int, metavar="N", help="number of the gold run (default: the latest)"
        )
        parser.add_argument(
            "--test",
            choices=GoldRun.Test.values,
            help="how systems are compared (default: as chosen when the gold was built)",
        )
        parser.add_argument("--json", action="store_true", help="print the ranking as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        run = _find_run(campaign_named(options["campaign"]), options["run"])
        ranking = rank_systems(run, test=options["test"])
        if options["json"]:
            self.stdout.write(json.dumps(_facts(run, ranking)))
            return
        self.stdout.write(_page(run, ranking))


def _find_run(campaign: Campaign, number: int | None) -> GoldRun:
    run = campaign.gold_runs.numbered_or_newest(number)
    if run:
        return run
    numbers = ", ".join(str(run.number) for run in campaign.gold_runs.order_by("number"))
    if numbers:
        raise CommandError(f"{campaign} has no gold {number}. Choose from: {numbers}.")
    raise CommandError(f"{campaign} has no gold yet. Run build_gold first.")


def _facts(run: GoldRun, ranking: SystemRanking) -> dict[str, Any]:
    scores, comparison = ranking.scores, ranking.comparison
    columns: dict[str, Any] = {
        "system": scores.systems,
        "cluster": ranking.clusters,
        "z": scores.z,
        "z_rated": [ranking.rated_means.get(name) for name in scores.systems.tolist()],
        "z_low": scores.z_low,
        "z_high": scores.z_high,
        "raw": scores.raw,
        "n_segments": scores.n_segments,
        "n_incomplete": ranking.n_incomplete,
        "n_ratings": scores.n_ratings,
    }
    rows = zip(*(known_list(values) for values in columns.values()), strict=True)
    return {
        "campaign": run.campaign.name,
        "run": run.number,
        "systems": [dict(zip(columns, row, strict=True)) for row in rows],
        "test": comparison.test,
        "correction": comparison.correction,
        "p": known_matrix(comparison.adjusted),
        "p_alone": known_matrix(comparison.pvalues),
        "difference": known_matrix(comparison.differences),
        "pairs": ranking.pairs,
        "signature": ranking.signature,
    }


def _page(run: GoldRun, ranking: SystemRanking) -> str:
    scores = ranking.scores
    if not len(scores.systems):
        return f"Gold {run.number} of {run.campaign} has no complete translations yet, so there is nothing to rank."
    width = max(6, *(len(name) for name in scores.systems))
    lines = [
        f"{run.campaign}, gold {run.number}",
        f"{'':>3} {'system':<{width}} {'z':>7} {'95% interval':>16} {'raw':>6} {'segments':>9} {'ratings':>8}  beats",
    ]
    wins = ranking.comparison.wins
    for place, name in enumerate(scores.systems):
        if place and ranking.clusters[place] != ranking.clusters[place - 1]:
            lines.append("-" * (width + 64))
        lines.append(
            f"{place + 1:>3} {name:<{width}} {scores.z[place]:>7.3f} {_interval(scores, place):>16} {scores.raw[place]:>6.1f} "
            f"{scores.n_segments[place]:>9} {scores.n_ratings[place]:>8}  {wins[place]}"
        )
    lines.append("Every system above a line significantly beats every one below it")
    lines.append(f"({ranking.test_in_words}).")
    lines += _neighbours(ranking, width)
    lines += helped(run.helper)
    if n_incomplete := int(ranking.n_incomplete.sum()):
        lines.append(f"{n_incomplete} outputs have too few ratings and are left out.")
    lines.append(f"Signature: {ranking.signature}")
    return "\n".join(lines)


def _neighbours(ranking: SystemRanking, width: int) -> list[str]:
    """Compare every system with the next one; --json has all pairs."""
    neighbours = list(zip(ranking.scores.systems, ranking.scores.systems[1:], strict=False))
    if not neighbours:
        return []
    pairs = {(pair["system"], pair["other"]): pair for pair in ranking.pairs}
    title = f"{'system':<{width}} {'next':<{width}} {'difference':>10} {'95% interval':>16} {'above':>6} {'p':>6} {'alone':>6} {'ranks':>6}"
    lines = ["", title]
    for names in neighbours:
        pair = pairs[names]
        ends = "-" if pair["low"] is None else f"{pair['low']:.3f} to {pair['high']:.3f}"
        numbers = (pair[name] for name in ("probability", "p", "p_alone", "p_signed_rank"))
        shown = " ".join(f"{'-' if value is None else f'{value:.3f}':>6}" for value in numbers)
        lines.append(
            f"{names[0]:<{width}} {names[1]:<{width}} {pair['difference']:>10.3f} {ends:>16} {shown}"
        )
    return [
        *lines,
        "above: probability that its translation of a random segment is rated above the next one's; alone: p without adjusting",
        "for the number of pairs; ranks: signed ranks, also alone.",
        "",
    ]


def _interval(scores: SystemScores, place: int) -> str:
    if math.isnan(scores.z_low[place]):
        return "-"
    return f"{scores.z_low[place]:.3f} to {scores.z_high[place]:.3f}"
