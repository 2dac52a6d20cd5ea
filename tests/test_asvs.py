"""docs/asvs.md is whole and keeps its word: every point once, counts that are right, files and tests that exist."""

import re
from collections import Counter
from dataclasses import dataclass

import pytest

from tests.operation.test_citations import fault_in
from tests.subprocesses import CHECKOUT

PAGE = (CHECKOUT / "docs/asvs.md").read_text(encoding="utf-8")
STATUSES = ("met", "partly", "not met", "does not apply")
# How many points each chapter of ASVS 5.0.0 has at levels 1 and 2, and how many of all are of each level.
POINTS = dict(enumerate([27, 11, 19, 10, 9, 35, 18, 7, 7, 29, 14, 9, 13, 9, 13, 16, 7], start=1))
LEVELS = {"1": 70, "2": 183}
# What stands between backticks and is a file or a folder; other words there are names of things.
PATH = re.compile(r"[\w.-]+/[\w./-]*|\.\w+|[\w-]+\.(?:md|txt|yaml|py)")


@dataclass(frozen=True)
class Row:
    points: tuple[str, ...]
    level: str
    status: str
    where: str
    test: str


def rows(page: str = PAGE) -> list[Row]:
    found = []
    for line in page.splitlines():
        if line.startswith("| V"):
            points, level, _, status, where, test = line.strip("| ").split(" | ")
            found.append(Row(tuple(points.split()), level, status, where, test))
    return found


def backticked(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def chapter_of(point: str) -> int:
    return int(point.removeprefix("V").partition(".")[0])


def test_every_point_of_levels_1_and_2_is_there_once():
    points = [point for row in rows() for point in row.points]
    assert len(points) == len(set(points))
    assert all(re.fullmatch(r"V\d+\.\d+\.\d+", point) for point in points)
    assert Counter(map(chapter_of, points)) == POINTS
    assert Counter(row.level for row in rows() for _ in row.points) == LEVELS


def test_the_counts_at_the_top_are_those_of_the_rows():
    counted = Counter(row.status for row in rows() for _ in row.points)
    assert set(counted) <= set(STATUSES)
    told = dict(re.findall(r"^\| ([a-z ]+) \| (\d+) \|$", PAGE, re.MULTILINE))
    expected = {status: str(counted[status]) for status in STATUSES}
    assert told == expected | {"all": str(counted.total())}


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.points[0])
def test_its_files_and_tests_exist(row: Row):
    files = [word for word in backticked(row.where) if PATH.fullmatch(word)]
    assert [file for file in files if not (CHECKOUT / file).exists()] == []
    tests = backticked(row.test)
    assert tests or row.test == "-"
    assert all("::" in test for test in tests)
    assert [fault for test in tests if (fault := fault_in(test))] == []


def test_a_file_is_told_from_another_word():
    files = ["hits/guards.py", "templates/", ".dockerignore", "SECURITY.md", "deploy/Caddyfile"]
    assert all(PATH.fullmatch(word) for word in files)
    words = ["json.dumps", "make lint", "DA_PROLIFIC_KEYS_URL", "sslmode=verify-full", "__Host-"]
    assert not any(PATH.fullmatch(word) for word in words)
