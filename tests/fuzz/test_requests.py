"""Hostile requests cause no server error and no unescaped text."""

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.subprocesses import CHECKOUT, environment, run_python

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("fuzz")]


def fuzz(number: int, seed: int, postgres_url: str) -> dict[str, dict[str, Any]]:
    """Run the fuzzer on SQLite and PostgreSQL at the same time."""
    databases = {"sqlite": {}, "postgresql": {"DA_TEST_DATABASE_URL": postgres_url}}
    command = [sys.executable, "-m", "tests.fuzz.requests"]
    processes = {
        name: subprocess.Popen(
            [*command, "--number", str(number), "--seed", str(seed)],
            cwd=CHECKOUT,
            env=environment(PYTHONWARNINGS="ignore", **variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name, variables in databases.items()
    }
    reports = {}
    for name, process in processes.items():
        output, errors = process.communicate(timeout=3_600)
        assert process.returncode == 0, errors[-2_000:]
        reports[name] = json.loads(output.splitlines()[-1])
    return reports


def check(reports: dict[str, dict[str, Any]], number: int) -> None:
    faults = [f"{name}: {fault}" for name, report in reports.items() for fault in report["faults"]]
    assert faults == [], "\n".join(faults)
    for report in reports.values():
        assert sum(report["statuses"].values()) == number
        # It gets past the login page.
        assert report["statuses"]["200"] > number / 40


def test_hostile_requests_cause_no_server_error(postgres_url):
    check(fuzz(600, 1, postgres_url), 600)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(101, 111))
def test_100_000_hostile_requests_cause_no_server_error(seed, postgres_url):
    reports = fuzz(10_000, seed, postgres_url)
    print(reports)
    check(reports, 10_000)


def test_the_fuzzer_notices_planted_faults(tmp_path):
    (tmp_path / "planted_settings.py").write_text(
        "from tests.settings import *\nROOT_URLCONF = 'planted_urls'\n"
    )
    (tmp_path / "planted_urls.py").write_text(
        "from da_platform.urls import urlpatterns as known\n"
        "from django.http import HttpResponse\n"
        "from django.urls import path\n"
        "from hits.people.access import for_anyone\n"
        "@for_anyone\n"
        "def echo(request):\n"
        "    return HttpResponse(' '.join([*request.GET.values(), *request.POST.values()]))\n"
        "@for_anyone\n"
        "def add(request):\n"
        "    return HttpResponse(sum(int(value) for value in request.GET.values()))\n"
        "urlpatterns = [*known]\n"
        # Enough for the fuzzer to find them among the other addresses.
        "for view in [echo] * 50 + [add] * 30:\n"
        "    name = f'{view.__name__}{len(urlpatterns)}'\n"
        "    urlpatterns.append(path(f'{name}/', view, name=name))\n"
    )
    process = run_python(
        *("-m", "tests.fuzz.requests", "--number", "600"),
        PYTHONWARNINGS="ignore",
        PYTHONPATH=f"{tmp_path}:{CHECKOUT}",
        DJANGO_SETTINGS_MODULE="planted_settings",
    )
    faults = json.loads(process.stdout.splitlines()[-1])["faults"]
    assert any("unescaped" in fault for fault in faults)
    assert any("ValueError" in fault for fault in faults)
