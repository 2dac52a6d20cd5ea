import json
import math

import numpy as np
import pytest

from da_platform.numbers import known, known_list, known_matrix


def test_a_number_becomes_a_plain_float():
    assert known(np.float64(0.5)) == 0.5 and type(known(np.float64(0.5))) is float


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_nan_and_infinity_become_none(value):
    assert known(value) is None
    assert known_list(np.array([1.5, value])) == [1.5, None]
    assert known_matrix([[1, value], [value, 2]]) == ((1.0, None), (None, 2.0))


def test_texts_counts_and_none_are_unchanged():
    assert known_list(["a", 7, True, None]) == ["a", 7, True, None]
    assert known_list(np.array(["a", "b"])) == ["a", "b"]


def test_results_can_be_written_as_json():
    rows = [*known_matrix(np.full((2, 2), np.nan)), known_list(np.arange(2))]
    assert json.dumps(rows, allow_nan=False) == "[[null, null], [null, null], [0, 1]]"
