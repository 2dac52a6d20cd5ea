import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from analysis.gold.presentation import PresentationRefused, document_scores
from analysis.gold.presentation_effects import measure_presentation
from hits.management.base import CommandWithExamples, campaign_named

EXAMPLES = """
Do places on a screen, or in a document, change the scores?

  measure_presentation "side by side"

What does the context do? Both campaigns need gold of the same texts:

  measure_presentation "in context" --against "alone"
"""


class Command(CommandWithExamples):
    help = (
        "Test whether scores depend on the place on a screen or in a document, compare them with "
        "those of the same texts shown in another way, and print the gold of documents."
    )
    examples = EXAMPLES

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="the campaign's name")
        parser.add_argument(
            "--against",
            metavar="CAMPAIGN",
            help="a campaign with gold of the same texts, shown in another way",
        )
        parser.add_argument("--seed", type=int, default=0, help="of permutations and resamples")
        parser.add_argument("--json", action="store_true", help="print the results as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign, seed = campaign_named(options["campaign"]), options["seed"]
        other = campaign_named(options["against"]) if options["against"] else None
        try:
            facts = measure_presentation(campaign, against=other, seed=seed)
        except PresentationRefused as refusal:
            raise CommandError(str(refusal)) from None
        if run := campaign.gold_runs.newest():
            facts["document_scores"] = document_scores(run)
        self.stdout.write(json.dumps(facts) if options["json"] else "\n".join(_lines(facts)))


def _lines(facts: dict[str, Any]) -> list[str]:
    lines = [
        *_places("Places on a screen", facts["screens"]),
        *_places("Places in a document (texts differ as well)", facts["documents"]),
        *_context(facts.get("context")),
        *_documents(facts.get("document_scores", [])),
    ]
    return lines or ["Every text was shown alone, and there is no gold of documents."]


def _places(title: str, effect: dict[str, Any] | None) -> list[str]:
    if effect is None:
        return []
    rows = zip(effect["places"], effect["means"], effect["n"], strict=True)
    cells = [f"  {place:>3} {_number(mean):>8} ({n})" for place, mean, n in rows]
    return [
        f"{title}: deviation in z",
        *cells,
        f"  any difference p = {_number(effect['pvalue'])}; {_number(effect['slope'])} per place, "
        f"p = {_number(effect['slope_pvalue'])} ({effect['n_units']} shown)",
        f"  Signature: {effect['signature']}",
    ]


def _context(effect: dict[str, Any] | None) -> list[str]:
    if effect is None:
        return []
    names = ("systems", "first", "second", "differences", "low", "high", "adjusted")
    lines = [f"Against {effect['against']}: z here, z there, difference, 95 % interval, p (Holm)"]
    for system, *numbers in zip(*(effect[name] for name in names), strict=True):
        lines.append(" ".join([f"  {system:<24}", *(f"{_number(n):>8}" for n in numbers)]))
    lines.append(
        f"  r of both scores {_number(effect['r'])} over {sum(effect['n'])} outputs, "
        f"{effect['n_documents']} documents"
    )
    return [*lines, f"  Signature: {effect['signature']}"]


def _documents(rows: list[dict[str, Any]]) -> list[str]:
    if not rows:
        return []
    lines = ["Documents: system, z and raw mean over segments, mean score of the whole"]
    return lines + [
        f"  {row['document']:<24} {row['system']:<24} {_number(row['z']):>8} {_number(row['raw']):>8} "
        f"{_number(row['whole']):>8}"
        for row in rows
    ]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
