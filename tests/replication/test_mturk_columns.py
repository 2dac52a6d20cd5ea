"""Exported batches have the columns of the published ones."""

import csv

import pytest

from hits.batches.exporting import header
from tests.replication.locating import replication_data


@pytest.mark.parametrize(
    "name", ["Batch_1234_batch_results.csv", "Batch_1959533_batch_results.csv"]
)
def test_a_batch_has_the_published_columns(name):
    path = replication_data("mturk-batches") / name
    with path.open(encoding="utf-8") as file:
        assert header(100) == next(csv.reader(file))
