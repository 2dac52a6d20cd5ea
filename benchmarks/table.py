"""What every benchmark shares: its options, its rows, and the table that shows them."""

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

COLUMNS = "{:<80} {:>15} {:>15} {:>8}   {:<28} {}"
HEADER = COLUMNS.format("work", "ours", "baseline", "ratio", "bar", "verdict")


@dataclass(frozen=True, slots=True)
class Row:
    """A measurement, its baseline from the same run, and the targets for the value and for the ratio."""

    work: str
    ours: float
    unit: str
    baseline: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    min_ratio: float | None = None
    max_ratio: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        return None if self.baseline is None else self.ours / self.baseline

    @property
    def bars(self) -> dict[str, bool]:
        """Each target in words, and whether it is met."""
        ratio = self.ratio or 0.0
        limits = [
            (f">= {{}} {self.unit}", self.minimum, self.ours),
            (f"<= {{}} {self.unit}", self.maximum, self.ours),
            ("ratio >= {}", self.min_ratio, ratio),
            ("ratio <= {}", self.max_ratio, ratio),
        ]
        return {
            words.format(formatted(limit)).strip(): value >= limit
            if ">" in words
            else value <= limit
            for words, limit, value in limits
            if limit is not None
        }

    @property
    def is_missed(self) -> bool:
        return not all(self.bars.values())

    def line(self, *, is_judged: bool) -> str:
        verdict = "MISSED" if self.is_missed else "met" if self.bars else ""
        return COLUMNS.format(
            self.work,
            f"{formatted(self.ours)} {self.unit}",
            "-" if self.baseline is None else f"{formatted(self.baseline)} {self.unit}",
            "-" if self.ratio is None else formatted(self.ratio),
            ", ".join(self.bars) or "-",
            verdict if is_judged else "",
        ).rstrip()


def formatted(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def run(
    measure: Callable[..., Iterator[Row]],
    description: str | None,
    *,
    sizes: Mapping[str, tuple[int, int]],
    databases: Sequence[str] = (),
) -> None:
    """Run a benchmark from the command line; fail after the last row if a target was missed.

    `sizes` gives each size in full and with --quick; `measure` takes them by name. With
    `databases`, it is called for each of them, with the database's name first.
    """
    parser = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    parser.add_argument(
        "--quick",
        action="store_true",
        help="tiny sizes, to check that it runs; targets are not judged",
    )
    parser.add_argument("--rows-to", type=Path, help=argparse.SUPPRESS)
    for name, (full, quick) in sizes.items():
        parser.add_argument(f"--{name}", type=int, help=f"{full:,} by default, {quick:,} if quick")
    if databases:
        parser.add_argument("--database", choices=databases, help="all of them by default")
    options = vars(parser.parse_args())
    chosen = {
        name: options[name] or (quick if options["quick"] else full)
        for name, (full, quick) in sizes.items()
    }
    missed = []
    print(HEADER, flush=True)
    for database in [[name] for name in databases if options["database"] in (None, name)] or [[]]:
        for row in measure(*database, **chosen):
            print(row.line(is_judged=not options["quick"]), flush=True)
            if row.note:
                print(f"    {row.note}", flush=True)
            if options["rows_to"]:
                with options["rows_to"].open("a") as file:
                    print(json.dumps(asdict(row)), file=file)
            if row.is_missed:
                missed.append(row.work)
    if missed and not options["quick"]:
        raise SystemExit(f"Missed: {'; '.join(missed)}.")


def read_rows(path: Path) -> list[Row]:
    return [Row(**json.loads(line)) for line in path.read_text().splitlines()]


def print_table(rows: Iterable[Row], *, is_judged: bool) -> None:
    print(HEADER)
    for row in rows:
        print(row.line(is_judged=is_judged))
