"""Mutated files are taken completely or refused without a trace."""

import json
from collections import Counter
from typing import Any

import pytest

from tests.subprocesses import CHECKOUT, output_of, run_python

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("fuzz")]


KINDS = ("campaign", "archive", "collection", "scores", "gold", "results")

PLANTED = """
from django.apps import AppConfig

class Planted(AppConfig):
    name = "planted"

    def ready(self):
        import hits.archives
        import hits.batches
        from hits.exceptions import PlatformError
        from hits.models import Campaign, HIT

        def leave_a_row(**arguments):
            Campaign.objects.create(name="half of it", source_language="de", target_language="en")
            raise PlatformError("refused")

        def change_a_row(**arguments):
            HIT.objects.update(places_left=7)
            raise PlatformError("refused")

        hits.archives.import_collection = leave_a_row
        hits.batches.import_results = change_a_row
"""


def run_fuzzer(number: int, seed: int, *options: str, **variables: str) -> dict[str, Any]:
    arguments = ("-m", "tests.fuzz.files", "--number", str(number), "--seed", str(seed), *options)
    process = run_python(*arguments, PYTHONWARNINGS="ignore", **variables)
    report: dict[str, Any] = json.loads(output_of(process).splitlines()[-1])
    return report


def fuzz(number: int, seed: int, *options: str, **variables: str) -> Counter[str]:
    """Run the fuzzer and return its outcomes; fail if it found faults."""
    report = run_fuzzer(number, seed, *options, **variables)
    assert report["faults"] == [], "\n".join(report["faults"])
    assert sum(report["outcomes"].values()) == number
    return Counter(report["outcomes"])


def test_unchanged_files_are_taken():
    assert fuzz(25, 1, "--whole").keys() == {f"{kind} taken" for kind in KINDS}


def test_mutated_files_are_taken_or_refused_and_leave_nothing_behind(database):
    outcomes = fuzz(150, 1, **database)
    assert all(outcomes[f"{kind} refused"] > 5 for kind in KINDS)
    # Not scores and gold: these files are mostly names, and nearly all changes are refused.
    kinds = ("campaign", "archive", "collection", "results")
    assert all(outcomes[f"{kind} taken"] > 0 for kind in kinds)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(101, 151))
def test_10_000_mutated_files_leave_nothing_behind(seed, database):
    print(dict(fuzz(200, seed, **database)))


def test_the_fuzzer_notices_what_a_refused_file_left_behind(tmp_path):
    (tmp_path / "planted.py").write_text(PLANTED)
    (tmp_path / "planted_settings.py").write_text(
        "from tests.settings import *\nINSTALLED_APPS = [*INSTALLED_APPS, 'planted.Planted']\n"
    )
    report = run_fuzzer(
        25,
        1,
        "--whole",
        PYTHONPATH=f"{tmp_path}:{CHECKOUT}",
        DJANGO_SETTINGS_MODULE="planted_settings",
    )
    faults = {fault.partition(" ")[2] for fault in report["faults"]}
    assert faults == {
        "collection: refused, but changed hits_campaign",
        "results: refused, but changed hits_hit",
    }
