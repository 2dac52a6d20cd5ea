"""Who counts as reliable: people and scripts, over HTTP, under the published and the guarded rule.

    python -m benchmarks.trust [--seeds 5] [--workers 4]

Three campaigns (reference, source, fluency) for each seed and rule, and under the guarded rule one in documents and one
side by side, from the published cs-en test set if it is
available (tests/replication/README.md) and otherwise from examples/. Workers of each kind come in random order and do
up to three HITs of 100 items, as long as the platform offers them. `published` is the published degradation and rule,
`guarded` balanced degradation and the guarded rule. The cost per trusted rating is the number of items paid for, per
rating of a translation by a reliable worker.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from tempfile import TemporaryDirectory

import benchmarks.django_setup  # noqa: F401
from hits.campaigns.behaviours import Behaviour
from tests.concurrency.databases import DATABASES, platform_environment
from tests.concurrency.servers import running_server

from .measuring import in_own_process
from .table import Row, run
from .trust_crowd import HITS_EACH, KINDS, RULES, Outcome, run_campaign

TASKS = ("reference", "source", "fluency")
# How the translations of one more campaign each are shown, under the guarded rule.
PRESENTATIONS = ("document", "side")

# The platform's targets, in percent and as a ratio.
MAX_SCRIPTS, MIN_HONEST = 5.0, 97.0
MAX_COST_RATIO = 1.1

# A crowd without clever scripts, for the cost: three workers in ten are careless.
PEOPLE = {
    Behaviour.HONEST: 4,
    Behaviour.NOISY: 1,
    Behaviour.LENIENT: 1,
    Behaviour.HARSH: 1,
    Behaviour.RANDOM: 2,
    Behaviour.CONSTANT: 1,
}
SCRIPTS = [kind for kind in KINDS if not kind.understands and kind not in PEOPLE]


@dataclass
class Tally:
    """What became of the workers of one kind."""

    n_workers: int = 0
    n_reliable: list[int] = field(default_factory=lambda: [0] * HITS_EACH)
    n_paid: int = 0
    n_trusted: int = 0

    def add(self, outcome: Outcome) -> None:
        self.n_workers += 1
        self.n_reliable = [
            n + is_reliable
            for n, is_reliable in zip(self.n_reliable, outcome["after"], strict=True)
        ]
        self.n_paid += outcome["n_paid"]
        self.n_trusted += outcome["n_trusted"]

    @property
    def percent(self) -> list[float]:
        return [100 * n / self.n_workers for n in self.n_reliable]


Tallies = Mapping[str, Mapping[Behaviour, Tally]]


def measure(*, seeds: int, workers: int) -> Iterator[Row]:
    with ThreadPoolExecutor() as pool:
        outcomes = dict(
            zip(RULES, pool.map(partial(run_campaigns, seeds, workers), RULES), strict=True)
        )
    tallies = {
        rule: tally(sum((found[task] for task in TASKS), [])) for rule, found in outcomes.items()
    }
    by_campaign = {name: tally(found) for name, found in outcomes["guarded"].items()}
    print_shares(tallies, by_campaign)
    yield from rows_of(tallies)
    for presentation in PRESENTATIONS:
        yield from rows_of_presentation(presentation, by_campaign[presentation])


def run_campaigns(seeds: int, workers: int, rule: str) -> dict[str, list[Outcome]]:
    """Run the campaigns under one rule on their own server; return the outcomes by task, and by presentation."""
    campaigns = [(task, task, "alone") for task in TASKS]
    if rule == "guarded":
        campaigns += [(shown, "reference", shown) for shown in PRESENTATIONS]
    outcomes: dict[str, list[Outcome]] = {name: [] for name, _, _ in campaigns}
    with DATABASES["sqlite"]() as make_database, TemporaryDirectory() as folder:
        environment = platform_environment(
            make_database(rule),
            DA_DEBUG="0",
            DA_ALLOWED_HOSTS="127.0.0.1",
            DA_SSL_REDIRECT="0",
            DA_DATA_DIR=folder,
            DJANGO_SETTINGS_MODULE="benchmarks.rating_settings",
            WEB_CONCURRENCY="1",
        )
        with running_server(environment) as server:
            for seed in range(1, seeds + 1):
                for name, task, presentation in campaigns:
                    outcomes[name] += in_own_process(
                        run_campaign,
                        environment=environment,
                        port=server.port,
                        task=task,
                        rule=rule,
                        seed=seed,
                        n_workers=workers,
                        presentation=presentation,
                    )
    return outcomes


def tally(outcomes: Iterable[Outcome]) -> dict[Behaviour, Tally]:
    tallies: defaultdict[Behaviour, Tally] = defaultdict(Tally)
    for outcome in outcomes:
        tallies[Behaviour(outcome["kind"])].add(outcome)
    return tallies


def print_shares(tallies: Tallies, by_task: Tallies) -> None:
    """Print the share of reliable workers after each HIT, as a table for the documentation."""
    tasks = " | ".join(by_task)
    print(
        "\n| kind | workers | published 1 | 2 | 3 HITs | guarded 1 | 2 | 3 HITs | " + tasks + " |"
    )
    print("|---|" + "---:|" * (7 + len(by_task)))
    for kind in KINDS:
        cells = [f"{p:.0f} %" for rule in RULES for p in tallies[rule][kind].percent]
        cells += [f"{shares[kind].percent[-1]:.0f} %" for shares in by_task.values()]
        print(f"| {kind} | {tallies['guarded'][kind].n_workers} | {' | '.join(cells)} |")
    print(flush=True)


def rows_of(tallies: Tallies) -> Iterator[Row]:
    published, guarded = (tallies[rule] for rule in ("published", "guarded"))
    for kind in KINDS:
        n_hits = 2 if kind == Behaviour.HONEST else HITS_EACH
        yield Row(
            f"{kind}: reliable after {n_hits} HITs, guarded against published",
            guarded[kind].percent[n_hits - 1],
            "%",
            published[kind].percent[n_hits - 1] or None,
            minimum=MIN_HONEST if kind == Behaviour.HONEST else None,
            maximum=None if kind.understands else MAX_SCRIPTS,
            note=f"{guarded[kind].n_reliable} of {guarded[kind].n_workers} after 1, 2 and 3 HITs, "
            f"published {published[kind].n_reliable}",
        )
    yield Row(
        "cost per trusted rating, people and careless workers",
        cost(guarded, PEOPLE),
        "items",
        cost(published, PEOPLE),
        max_ratio=MAX_COST_RATIO,
    )
    # A script's ratings are no gain, whatever the rule says about them.
    with_scripts = dict.fromkeys(SCRIPTS, sum(PEOPLE.values()) / 2 / len(SCRIPTS)) | PEOPLE
    yield Row(
        "cost per trusted rating by someone who reads, a third of the workers scripts",
        cost(guarded, with_scripts, of=PEOPLE),
        "items",
        cost(published, with_scripts, of=PEOPLE),
    )


def rows_of_presentation(presentation: str, tallies: Mapping[Behaviour, Tally]) -> Iterator[Row]:
    honest = tallies[Behaviour.HONEST]
    yield Row(
        f"{presentation}: honest workers reliable after 2 HITs",
        honest.percent[1],
        "%",
        minimum=MIN_HONEST,
        note=f"{honest.n_reliable} of {honest.n_workers} after 1, 2 and 3 HITs",
    )
    without_reading = [kind for kind in KINDS if not kind.understands]
    worst = max(without_reading, key=lambda kind: tallies[kind].percent[-1])
    yield Row(
        f"{presentation}: the kind of script that is reliable most often, after {HITS_EACH} HITs",
        tallies[worst].percent[-1],
        "%",
        maximum=MAX_SCRIPTS,
        note=f"{worst}: {tallies[worst].n_reliable} of {tallies[worst].n_workers}; {len(without_reading)} kinds",
    )


def cost(
    tallies: Mapping[Behaviour, Tally],
    crowd: Mapping[Behaviour, float],
    *,
    of: Iterable[Behaviour] = (),
) -> float:
    """Items paid per trusted rating, in a crowd with this many workers of each kind.

    Only the trusted ratings `of` some kinds count, if any are given.
    """
    n_paid = sum(n * tallies[kind].n_paid / tallies[kind].n_workers for kind, n in crowd.items())
    n_trusted = sum(
        crowd[kind] * tallies[kind].n_trusted / tallies[kind].n_workers for kind in of or crowd
    )
    return n_paid / n_trusted if n_trusted else float("inf")


if __name__ == "__main__":
    run(measure, __doc__, sizes={"seeds": (5, 1), "workers": (4, 1)})
