"""When several people add scores of a metric at once, exactly one set is stored."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.subprocesses import manage, output_of, run_python

pytestmark = pytest.mark.xdist_group("concurrency")

N_AT_ONCE = 3

MAKE_CAMPAIGN = """
import django; django.setup()
from tests.factories import make_campaign, make_translations
make_translations(make_campaign(name="shared"), n_segments=50)
"""
PRINT_STORED = """
import django; django.setup()
import json
from analysis.models import Metric, MetricScore
scores = MetricScore.objects.values_list("score", flat=True)
print(json.dumps([Metric.objects.count(), len(scores), sorted(set(scores))]))
"""


@pytest.fixture
def variables(database_url: str, tmp_path: Path) -> dict[str, str]:
    variables = {
        "DATABASE_URL": database_url,
        "DA_DATA_DIR": str(tmp_path),
        "DA_DEBUG": "1",
        "DJANGO_SETTINGS_MODULE": "da_platform.settings",
    }
    output_of(run_python("-c", MAKE_CAMPAIGN, **variables))
    return variables


def write(path: Path, score: int) -> Path:
    rows = [
        f"system-{system}\tsegment-{segment}\t{score}"
        for segment in range(1, 51)
        for system in "ab"
    ]
    path.write_text("\n".join(["system\tsegment\tM:higher", *rows]) + "\n")
    return path


def store_at_once(paths: list[Path], variables: dict[str, str]) -> list[CompletedProcess[str]]:
    with ThreadPoolExecutor(len(paths)) as threads:
        return list(
            threads.map(lambda path: manage("add_scores", "shared", str(path), **variables), paths)
        )


def stored(variables: dict[str, str]) -> list:
    return json.loads(output_of(run_python("-c", PRINT_STORED, **variables)))


def test_the_same_file_added_at_once_is_stored_once(variables, tmp_path):
    path = write(tmp_path / "M.tsv", 1)
    for process in store_at_once([path] * N_AT_ONCE, variables):
        assert "M: 100 segment scores stored." in output_of(process)
    assert stored(variables) == [1, 100, [1.0]]


def test_only_one_of_several_different_files_is_stored(variables, tmp_path):
    paths = [write(tmp_path / f"M{number}.tsv", number) for number in range(N_AT_ONCE)]
    processes = store_at_once(paths, variables)
    refused = [process for process in processes if process.returncode != 0]
    assert len(refused) == N_AT_ONCE - 1
    assert all(
        "different segment scores of M already exist" in process.stderr for process in refused
    )
    n_metrics, n_scores, scores = stored(variables)
    assert (n_metrics, n_scores, len(scores)) == (1, 100, 1)
