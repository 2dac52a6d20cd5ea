"""The environment and its file: every name is known, and mistakes are named before anything starts."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from da_platform.environment import SECRETS, VARIABLES
from tests.subprocesses import (
    CHECKOUT,
    environment,
    example_variables,
    manage,
    output_of,
    run_python,
)


def test_the_example_lists_exactly_the_variables_that_are_read():
    code = "".join(
        (CHECKOUT / name).read_text() for name in ("da_platform/settings.py", "gunicorn.conf.py")
    )
    used = set(re.findall(r'"((?:DA|DATABASE|WEB|FORWARDED|PROMETHEUS)_\w+)"', code))
    assert used - {"DA_ENV_FILE"} == example_variables() == VARIABLES


def test_the_documentation_names_exactly_the_secrets_that_may_be_in_files():
    text = (CHECKOUT / "docs" / "environment.md").read_text()
    about_files = text.partition("This works for")[2].partition("\n\n")[0]
    assert set(re.findall(r"`(\w+)`", about_files)) == SECRETS
    settings = (CHECKOUT / "da_platform" / "settings.py").read_text()
    assert set(re.findall(r'secrets?\("(\w+)"\)', settings)) == SECRETS


def test_the_web_server_reads_the_file_and_the_environment_takes_precedence(tmp_path):
    file = tmp_path / "env"
    file.write_text("WEB_CONCURRENCY=5\nWEB_THREADS=7\n")
    code = "import runpy; c = runpy.run_path('gunicorn.conf.py'); print(c['workers'], c['threads'])"
    places = {"DA_ENV_FILE": str(file), "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    assert output_of(run_python("-c", code, WEB_THREADS="3", **places)) == "5 3\n"


# Unknown names -------------------------------------------------------------------------------


def refusal(**variables: str) -> str:
    """What `manage.py check` says when it refuses to start: one line, without a traceback."""
    process = manage("check", DA_DEBUG="1", **variables)
    assert process.returncode == 1 and not process.stdout
    [line] = process.stderr.strip().splitlines()
    return line


def test_a_misspelt_name_is_refused_with_the_nearest_known_one(tmp_path):
    error = refusal(DA_DATA_DIR=str(tmp_path), DA_SESION_HOURS="5")
    assert error.endswith("DA_SESION_HOURS is not a known variable. Did you mean DA_SESSION_HOURS?")


def test_a_name_like_no_other_is_refused_too(tmp_path):
    error = refusal(DA_DATA_DIR=str(tmp_path), DA_X="5")
    assert "DA_X is not a known variable. .env.example lists all of them." in error


def test_a_misspelt_name_in_the_file_is_refused(tmp_path):
    file = tmp_path / "env"
    file.write_text(f"DA_DATA_DIR={tmp_path}\nDA_SECRET_KEY_FIEL=/run/key\n")
    assert "Did you mean DA_SECRET_KEY_FILE?" in refusal(DA_ENV_FILE=str(file))


def test_names_of_others_are_accepted(tmp_path):
    names = {"DA_TEST_DATABASE_URL": "", "DA_TOKEN": "x", "DAYS": "5", "DA_WEB": "web:8000"}
    output_of(manage("check", DA_DEBUG="1", DA_DATA_DIR=str(tmp_path), **names))


# A broken file -------------------------------------------------------------------------------

BROKEN = {
    "no equals sign": (b"DA_DEBUG\n", "must be NAME=value"),
    "a space before the equals sign": (b"DA_DEBUG = 1\n", "must be NAME=value"),
    "an indented line": (b"  DA_DEBUG=1\n", "must be NAME=value"),
    "an open quote": (
        b'DA_SECRET_KEY="hunter2\n',
        "the value of DA_SECRET_KEY begins with a quote",
    ),
    "another encoding": (b"DA_PRIVACY_CONTACT=caf\xe9\n", "is not UTF-8"),
    "binary": (b"DA_PRIVACY_CONTACT=a\x00b\n", "contains a NUL character"),
}


@pytest.mark.parametrize(("line", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_broken_line_is_refused_with_its_number_and_reason(line, reason, tmp_path):
    file = tmp_path / "env"
    file.write_bytes(b"# For development\r\n\n  # indented\n" + line)
    error = refusal(DA_ENV_FILE=str(file))
    assert f"{file}, line 4: {reason}" in error and "hunter2" not in error


def test_a_folder_in_place_of_the_file_is_refused(tmp_path):
    assert f"{tmp_path} cannot be read: Is a directory." in refusal(DA_ENV_FILE=str(tmp_path))


def test_a_file_that_is_named_but_missing_is_refused(tmp_path):
    path = str(tmp_path / "none")
    assert f"{path} cannot be read: No such file or directory." in refusal(DA_ENV_FILE=path)


def test_quotes_exports_and_empty_values_are_accepted(tmp_path):
    file = tmp_path / "env"
    lines = ["export DA_DEBUG=1", f"DA_DATA_DIR='{tmp_path}'", 'DA_EMAIL_FROM="a@b.example"']
    file.write_text("\n".join([*lines, "DA_METRICS_TOKEN=", "POSTGRES_PASSWORD=x=y#z", ""]))
    code = "from da_platform import settings as s; print(s.DEFAULT_FROM_EMAIL, s.DATA_DIR)"
    answer = output_of(run_python("-c", code, DA_ENV_FILE=str(file)))
    assert answer == f"a@b.example {tmp_path}\n"


def test_the_web_server_names_the_line_too(tmp_path):
    file = tmp_path / "env"
    file.write_text("DA_DEBUG\n")
    process = subprocess.run(
        [Path(sys.executable).parent / "gunicorn", "--check-config"],
        cwd=CHECKOUT,
        env=environment(DA_ENV_FILE=str(file)),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert process.returncode != 0
    assert f"{file}, line 1: must be NAME=value" in process.stderr
    assert "Traceback" not in process.stderr
