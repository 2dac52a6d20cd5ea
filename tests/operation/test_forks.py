"""Work in several processes: in order, and errors reach the caller."""

import os
from pathlib import Path

import pytest

from da_platform.forks import in_forks
from tests.subprocesses import output_of, run_python


@pytest.mark.parametrize("processes", [1, 3])
def test_results_come_in_the_order_of_the_items(processes: int):
    assert list(in_forks(lambda n: n * n, range(20), processes)) == [n * n for n in range(20)]


def test_several_processes_work():
    assert os.getpid() not in set(in_forks(lambda n: os.getpid(), range(4), 2))


def test_an_error_reaches_the_caller():
    with pytest.raises(ZeroDivisionError):
        list(in_forks(lambda n: 1 // n, [1, 0], 2))


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="counts threads as Linux does")
def test_linear_algebra_starts_no_threads_of_its_own():
    """Otherwise forks and jobs, which use all cores already, wait for each other's threads."""
    code = """
import os, django
django.setup()
import numpy as np
np.ones((800, 800)) @ np.ones((800, 800))
print(len(os.listdir("/proc/self/task")))
"""
    alone = run_python("-c", code, DJANGO_SETTINGS_MODULE="tests.settings")
    assert output_of(alone).split() == ["1"]
    if (os.cpu_count() or 1) > 1:
        several = run_python(
            "-c", code, DJANGO_SETTINGS_MODULE="tests.settings", OPENBLAS_NUM_THREADS="2"
        )
        assert output_of(several).split() == ["2"]
