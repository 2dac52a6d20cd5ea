import json
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from analysis.gold.components import measure_components
from analysis.gold.plans import USUAL, USUAL_COMPONENTS, Plan, Wishes, make_plan
from analysis.stats.variance_components import VarianceComponents
from hits.management.base import campaign_named

TITLES = ("ratings", "segments", "in all", "workers", "to pay", "cost", "power", "finds", "gold r")


class Command(BaseCommand):
    help = (
        "Plan a campaign: how many segments, ratings and workers it takes to tell systems apart, and what that "
        "costs. How ratings vary is taken from an earlier campaign or given as variances."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--systems", type=int, default=5, help="systems (default: 5)")
        parser.add_argument(
            "--difference",
            type=float,
            default=0.1,
            metavar="Z",
            help="to find, in z (default: 0.1)",
        )
        parser.add_argument(
            "--power", type=float, default=0.8, help="required power (default: 0.8)"
        )
        parser.add_argument(
            "--reliability",
            type=float,
            default=0.8,
            help="required reliability of gold (default: 0.8)",
        )
        parser.add_argument(
            "--segments",
            type=int,
            metavar="N",
            help="no more segments than this; also says what reliable gold of all of them costs",
        )
        parser.add_argument(
            "--genuine", type=int, default=70, help="genuine items of a HIT (default: 70)"
        )
        parser.add_argument(
            "--hits-per-worker", type=float, default=2.0, help="by a trusted worker (default: 2)"
        )
        parser.add_argument("--pay", type=_money, default=USUAL.pay, help="per HIT (default: 1.00)")
        parser.add_argument(
            "--fee",
            type=_money,
            default=USUAL.fee_percent,
            help="of the provider, in %% (default: 33)",
        )
        parser.add_argument(
            "--passing", type=int, default=50, help="assignments that pass, in %% (default: 50)"
        )
        given = parser.add_mutually_exclusive_group()
        given.add_argument(
            "--like", metavar="CAMPAIGN", help="an earlier campaign whose variances to use"
        )
        given.add_argument(
            "--variances",
            nargs=5,
            type=float,
            metavar=("SEGMENT", "TRANSLATION", "WORKER", "TASTE", "RESIDUAL"),
            help="variances of z-scores (default: about as at WMT21)",
        )
        parser.add_argument("--json", action="store_true", help="print the plan as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        _check(options)
        plan = make_plan(
            Wishes(
                n_systems=options["systems"],
                difference=options["difference"],
                power=options["power"],
                reliability=options["reliability"],
                most_segments=options["segments"],
                genuine_per_hit=options["genuine"],
                hits_per_worker=options["hits_per_worker"],
                pay=options["pay"],
                fee_percent=options["fee"],
                pass_percent=options["passing"],
            ),
            _components(options),
        )
        self.stdout.write(json.dumps(plan.as_json()) if options["json"] else "\n".join(_page(plan)))


def _money(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError from None


def _check(options: dict[str, Any]) -> None:
    """Refuse what no campaign can have, naming the option."""
    least = {"systems": 2, "segments": 2, "genuine": 1, "hits_per_worker": 1, "pay": 0, "fee": 0}
    for name, value in least.items():
        if options[name] is not None and not options[name] >= value:
            raise CommandError(f"--{name.replace('_', '-')} must be at least {value}.")
    for name in ("power", "reliability"):
        if not 0 < options[name] < 1:
            raise CommandError(f"--{name} must lie between 0 and 1.")
    if not options["difference"] > 0:
        raise CommandError("--difference must be above 0.")
    if not 1 <= options["passing"] <= 100:
        raise CommandError("--passing must lie between 1 and 100.")


def _components(options: dict[str, Any]) -> VarianceComponents:
    if options["like"]:
        campaign = campaign_named(options["like"])
        measured = measure_components(campaign)
        if measured is None:
            raise CommandError(f"{campaign} has no trusted ratings yet.")
        return measured
    try:
        return (
            VarianceComponents(*options["variances"]) if options["variances"] else USUAL_COMPONENTS
        )
    except ValueError as error:
        raise CommandError(f"--variances: {error}") from None


def _page(plan: Plan) -> list[str]:
    parts = [
        f"{name} {getattr(plan.components, name):.3f}" for name in VarianceComponents.__slots__
    ]
    lines = [f"Variances: {', '.join(parts)}.", " ".join(f"{title:>10}" for title in TITLES)]
    for size in plan.sizes:
        design = size.design
        cells = (
            f"{design.n_ratings}",
            f"{design.n_segments:,}{'' if size.is_enough else ' (all)'}",
            f"{size.n_trusted_ratings:,}",
            f"{design.n_workers:,}",
            f"{size.cost.n_assignments:,}",
            f"{size.cost.total:,.2f}",
            f"{size.power:.2f}",
            f"{size.smallest_difference:.3f}",
            f"{size.reliability:.2f}",
        )
        lines.append(" ".join(f"{cell:>10}" for cell in cells))
    best = plan.cheapest
    lines.append(
        f"Cheapest: {best.design.n_ratings} trusted ratings of each of {best.design.n_segments:,} segments."
        if best
        else "No size reaches the required power."
    )
    lines.append(
        f"Gold with a reliability of {plan.wishes.reliability:g}: {plan.ratings_for_gold} ratings of each translation."
        if plan.ratings_for_gold
        else f"No number of ratings makes gold as reliable as {plan.wishes.reliability:g}."
    )
    if gold := plan.gold:
        lines.append(
            f"For your {gold.design.n_segments:,} segments: {gold.n_trusted_ratings:,} ratings, "
            f"{gold.cost.n_assignments:,} assignments to pay, {gold.cost.total:,.2f} in all."
        )
    return [*lines, f"Signature: {plan.signature}"]
