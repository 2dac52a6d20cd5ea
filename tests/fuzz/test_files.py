"""Mutated files are taken whole or refused by name; nothing is left half-way."""

import json
from typing import Any

import pytest

from tests.subprocesses import output_of, run_python

pytestmark = pytest.mark.xdist_group("fuzz")


def fuzz(number: int, seed: int, *options: str) -> dict[str, Any]:
    arguments = ("-m", "tests.fuzz.files", "--number", str(number), "--seed", str(seed), *options)
    found = json.loads(output_of(run_python(*arguments, PYTHONWARNINGS="ignore")).splitlines()[-1])
    assert found["faults"] == [], "\n".join(found["faults"])
    assert sum(found["outcomes"].values()) == number
    return found["outcomes"]


def test_whole_files_are_taken():
    assert fuzz(25, 1, "--whole") == {"taken": 25}


def test_mutated_files_are_taken_or_refused_and_leave_nothing_behind():
    outcomes = fuzz(150, 1)
    assert outcomes["refused"] > 50 and outcomes["taken"] > 0


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(101, 201))
def test_10_000_mutated_files_leave_nothing_behind(seed):
    fuzz(100, seed)
