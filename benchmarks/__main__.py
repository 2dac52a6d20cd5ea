"""Run benchmarks one after another and print one table at the end: python -m benchmarks [NAME ...] [--quick]"""

import argparse
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from .table import print_table, read_rows

# Not among them: planner, which takes five minutes, stopping, which takes twenty, partitions, pooling and row_sizes, which compare designs, builtin_metrics, and trust, which takes
# half an hour.
USUAL = (
    "starting",
    "import_and_build",
    "degradation",
    "rating",
    "editing",
    "documents",
    "load",
    "gold_from_ratings",
    "weighted_gold",
    "weighting",
    "metric_significance",
    "metric_evaluation",
    "edit_distances",
    "system_tests",
    "gold_in_database",
    "exporting",
    "rankings",
    "staff_pages",
    "large_tables",
)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure speed and memory against baselines.")
    parser.add_argument("names", nargs="*", help=f"by default: {' '.join(USUAL)}")
    parser.add_argument("--quick", action="store_true", help="tiny sizes; targets are not judged")
    options = parser.parse_args()
    failed = []
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.jsonl"
        path.touch()
        for name in options.names or USUAL:
            print(f"\npython -m benchmarks.{name}", flush=True)
            command = [sys.executable, "-m", f"benchmarks.{name}", "--rows-to", str(path)]
            command += ["--quick"] if options.quick else []
            if subprocess.run(command).returncode:
                failed.append(name)
        print("\nAll benchmarks")
        print_table(read_rows(path), is_judged=not options.quick)
    if failed:
        raise SystemExit(f"Failed: {', '.join(failed)}.")


if __name__ == "__main__":
    main()
