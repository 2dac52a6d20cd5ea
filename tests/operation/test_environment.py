"""The reference of environment variables is complete and current."""

from django.core.management import call_command

from da_platform.operation.environment import (
    as_markdown,
    descriptions,
    undescribed,
    unread,
    variables,
)
from tests.subprocesses import CHECKOUT, output_of, run_python


def test_every_variable_that_is_read_is_described_and_none_other():
    assert undescribed() == set() and unread() == set()


def test_variables_of_all_readers_are_found():
    found = variables()
    assert {"DA_SECRET_KEY", "DATABASE_URL", "DA_LOG_FORMAT", "WEB_THREADS"} <= found.keys()
    assert found["DA_DEBUG"].default == "0" and found["DA_DEBUG"].kind == "1 or 0"
    assert found["DA_CONN_MAX_AGE"].default == "60"


def test_the_words_are_those_of_the_example_file():
    words = descriptions()["DA_METRICS_TOKEN"].words
    assert words.startswith("Prometheus reads /metrics") and "privacy" not in words


def test_the_page_is_current(capsys):
    page = (CHECKOUT / "docs/environment.md").read_text()
    assert page == as_markdown(), "Run: manage.py describe_environment --to docs/environment.md"
    call_command("describe_environment")
    assert capsys.readouterr().out == page


def test_the_web_server_reads_the_file_too_and_the_environment_wins(tmp_path):
    file = tmp_path / "env"
    file.write_text("WEB_CONCURRENCY=5\nWEB_THREADS=7\n")
    look = "import runpy; c = runpy.run_path('gunicorn.conf.py'); print(c['workers'], c['threads'])"
    places = {"DA_ENV_FILE": str(file), "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    assert output_of(run_python("-c", look, WEB_THREADS="3", **places)) == "5 3\n"
