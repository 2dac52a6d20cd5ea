"""`.env.example` lists every environment variable, and the web server reads the same file."""

import re

from tests.subprocesses import CHECKOUT, example_variables, output_of, run_python


def test_the_example_lists_exactly_the_variables_that_are_read():
    code = "".join(
        (CHECKOUT / name).read_text() for name in ("da_platform/settings.py", "gunicorn.conf.py")
    )
    used = set(re.findall(r'"((?:DA|DATABASE|WEB|FORWARDED|PROMETHEUS)_\w+)"', code))
    assert used - {"DA_ENV_FILE"} == example_variables()


def test_the_web_server_reads_the_file_and_the_environment_takes_precedence(tmp_path):
    file = tmp_path / "env"
    file.write_text("WEB_CONCURRENCY=5\nWEB_THREADS=7\n")
    code = "import runpy; c = runpy.run_path('gunicorn.conf.py'); print(c['workers'], c['threads'])"
    places = {"DA_ENV_FILE": str(file), "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    assert output_of(run_python("-c", code, WEB_THREADS="3", **places)) == "5 3\n"
