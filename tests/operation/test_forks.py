"""Work in several processes: in order, and errors reach the caller."""

import os

import pytest

from da_platform.forks import in_forks


@pytest.mark.parametrize("processes", [1, 3])
def test_results_come_in_the_order_of_the_items(processes: int):
    assert list(in_forks(lambda n: n * n, range(20), processes)) == [n * n for n in range(20)]


def test_several_processes_work():
    assert os.getpid() not in set(in_forks(lambda n: os.getpid(), range(4), 2))


def test_an_error_reaches_the_caller():
    with pytest.raises(ZeroDivisionError):
        list(in_forks(lambda n: 1 // n, [1, 0], 2))
