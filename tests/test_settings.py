"""The settings as separate processes meet them, with an environment that holds nothing else."""

import json
import re
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.subprocesses import CHECKOUT, environment, manage, output_of, run_python

# What they share is made once.
pytestmark = pytest.mark.xdist_group("settings")

LONG_KEY = "K7-long-enough-" * 5
PRODUCTION = {"DA_SECRET_KEY": LONG_KEY, "DA_ALLOWED_HOSTS": "da.example.org"}
PRINT_SETTINGS = """
import json
from da_platform import settings
print(json.dumps({name: getattr(settings, name, None) for name in %r}, default=str))
"""


def settings_of(*names: str, **variables: str) -> dict:
    return json.loads(output_of(run_python("-c", PRINT_SETTINGS % (names,), **variables)))


def database_of(**variables: str) -> dict:
    return settings_of("DATABASES", **variables)["DATABASES"]["default"]


def error_of(process: subprocess.CompletedProcess[str]) -> str:
    assert process.returncode != 0, process.stdout
    return process.stderr.strip().splitlines()[-1]


# The secret key ------------------------------------------------------------------------------


def test_it_refuses_to_start_without_a_key_when_debug_is_off():
    assert "DA_SECRET_KEY is not set" in error_of(manage("check"))


def test_an_empty_key_is_no_key():
    assert "DA_SECRET_KEY is not set" in error_of(manage("check", DA_SECRET_KEY=""))


def test_a_key_may_begin_with_a_dollar_sign(tmp_path):
    found = settings_of("SECRET_KEY", DA_SECRET_KEY="$ecret", DA_DATA_DIR=str(tmp_path))
    assert found["SECRET_KEY"] == "$ecret"


def test_a_secret_may_be_in_a_file(tmp_path):
    names = {
        "DA_SECRET_KEY": "SECRET_KEY",  # pragma: allowlist secret
        "DA_METRICS_TOKEN": "METRICS_TOKEN",
        "DA_PROLIFIC_API_TOKEN": "PROLIFIC_API_TOKEN",
        "DA_BROKER_URL": "CELERY_BROKER_URL",
        "DATABASE_URL": "DATABASES",
    }
    for name in names:
        (tmp_path / name).write_text(f"redis://of-{name.lower()}\n")
    (tmp_path / "DATABASE_URL").write_text("postgres://alice:hunter2@db.example/ratings\n")
    found = settings_of(
        *names.values(),
        DA_ALLOWED_HOSTS="da.example.org",
        DA_DATA_DIR=str(tmp_path),
        **{f"{name}_FILE": str(tmp_path / name) for name in names},
    )
    assert found.pop("DATABASES")["default"]["PASSWORD"] == "hunter2"  # pragma: allowlist secret
    assert set(found.values()) == {f"redis://of-{name.lower()}" for name in names} - {
        "redis://of-database_url"
    }


@pytest.mark.parametrize(
    ("content", "also", "reason"),
    [
        (None, "", "cannot be read"),
        (b"", "", "is empty"),
        (b"\xff\xfe", "", "cannot be read"),
        (b"hunter2", "hunter3", "both set"),
    ],
)
def test_a_file_without_a_secret_is_refused_and_the_secret_is_not_told(
    content, also, reason, tmp_path
):
    path = tmp_path / "key"
    if content is not None:
        path.write_bytes(content)
    error = error_of(manage("check", DA_SECRET_KEY=also, DA_SECRET_KEY_FILE=str(path)))
    assert "DA_SECRET_KEY_FILE" in error and reason in error and "hunter" not in error


def test_in_development_a_key_is_made_once_for_its_owner_only_and_kept(tmp_path):
    data = tmp_path / "new" / "var"
    first = settings_of("SECRET_KEY", DA_DEBUG="1", DA_DATA_DIR=str(data))["SECRET_KEY"]
    again = settings_of("SECRET_KEY", DA_DEBUG="1", DA_DATA_DIR=str(data))["SECRET_KEY"]
    path = data / "secret_key"
    assert first == again == path.read_text() and len(first) >= 50
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in data.iterdir()] == ["secret_key"]


def test_processes_that_start_at_once_agree_on_one_key(tmp_path):
    data, gate = tmp_path / "var", tmp_path / "gate"
    # All wait at the gate, so that they look for the key in the same moment.
    code = f"""
import pathlib, time
import environ, csp.constants, django.core.exceptions
print("ready", flush=True)
while not pathlib.Path({str(gate)!r}).exists():
    time.sleep(0.0005)
from da_platform.settings import SECRET_KEY
print(SECRET_KEY)
"""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=CHECKOUT,
            env=environment(DA_DEBUG="1", DA_DATA_DIR=str(data)),
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(6)
    ]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    gate.touch()
    keys = {process.communicate(timeout=60)[0].strip() for process in processes}
    assert keys == {(data / "secret_key").read_text()}


def test_a_key_is_there_whole_or_not_at_all(tmp_path):
    from da_platform.settings import make_key_file

    path = tmp_path / "secret_key"

    def look_until_it_is_there() -> str:
        # Without a pause, so as to catch it half written.
        deadline = time.monotonic() + 60
        while not path.exists():
            assert time.monotonic() < deadline, "nobody has written a key"
        return path.read_text()

    for _ in range(50):
        path.unlink(missing_ok=True)
        with ThreadPoolExecutor(4) as pool:
            readers = [pool.submit(look_until_it_is_there) for _ in range(2)]
            writers = [pool.submit(make_key_file, path) for _ in range(2)]
            for writer in writers:
                writer.result()
            assert {reader.result() for reader in readers} == {path.read_text()}
            assert len(path.read_text()) == 86


# Values that are wrong -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DA_DEBUG", "maybe"),
        ("DA_DEBUG", ""),
        ("DA_SSL_REDIRECT", "2"),
        ("DA_BEHIND_PROXY", "ja"),
        ("DA_HSTS_SECONDS", "a year"),
        ("DA_LOG_LEVEL", "chatty"),
        ("DATABASE_URL", "nonsense"),
        ("DATABASE_URL", "mysql://user:hunter2@host/name"),
    ],
)
def test_a_value_it_does_not_know_is_refused_by_name(name, value, tmp_path):
    variables = {"DA_SECRET_KEY": LONG_KEY, "DA_DATA_DIR": str(tmp_path), name: value}
    error = error_of(run_python("-c", "import da_platform.settings", **variables))
    assert "ImproperlyConfigured" in error and name in error and "hunter2" not in error


def test_the_process_environment_wins_over_the_file(tmp_path):
    file = tmp_path / "env"
    file.write_text(
        f"DA_SECRET_KEY=from-the-file\nDA_ALLOWED_HOSTS=a.example\nDA_DATA_DIR={tmp_path}\n"
    )
    found = settings_of(
        "SECRET_KEY", "ALLOWED_HOSTS", DA_ENV_FILE=str(file), DA_ALLOWED_HOSTS="b.example"
    )
    assert found == {"SECRET_KEY": "from-the-file", "ALLOWED_HOSTS": ["b.example"]}


# The database --------------------------------------------------------------------------------


@pytest.mark.parametrize("url", [None, ""])
def test_without_a_database_url_it_is_sqlite_that_lets_writers_queue(url, tmp_path):
    variables = {} if url is None else {"DATABASE_URL": url}
    database = database_of(DA_DEBUG="1", DA_DATA_DIR=str(tmp_path), **variables)
    assert database["ENGINE"] == "django.db.backends.sqlite3"
    assert database["NAME"] == str(tmp_path / "db.sqlite3")
    assert database["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert database["OPTIONS"]["timeout"] == 20


def test_sqlite_really_runs_with_a_write_ahead_log(tmp_path):
    code = """
import django; django.setup()
from django.db import connection
with connection.cursor() as cursor:
    print([cursor.execute(f"PRAGMA {name}").fetchone()[0] for name in ["journal_mode", "synchronous", "busy_timeout"]])
"""
    process = run_python(
        "-c",
        code,
        DA_DEBUG="1",
        DA_DATA_DIR=str(tmp_path),
        DJANGO_SETTINGS_MODULE="da_platform.settings",
    )
    assert output_of(process) == "['wal', 1, 20000]\n"


def test_a_database_url_chooses_postgresql_and_keeps_its_connections():
    url = "postgres://alice:pa%40ss@db.example:5433/ratings"
    database = database_of(DATABASE_URL=url, DA_CONN_MAX_AGE="5", **PRODUCTION)
    assert database["ENGINE"] == "da_platform.postgresql"
    keys = ["NAME", "USER", "PASSWORD", "HOST", "PORT", "CONN_MAX_AGE", "CONN_HEALTH_CHECKS"]
    found = [database[key] for key in keys]
    assert found == ["ratings", "alice", "pa@ss", "db.example", 5433, 5, True]


def test_statements_and_cursors_are_kept_by_postgresql_unless_a_pooler_is_in_between():
    url = "postgres://db.example/ratings?sslmode=require"
    own = database_of(DATABASE_URL=url, **PRODUCTION)
    prepared = {"server_side_binding": True, "prepare_threshold": 5}
    assert own["OPTIONS"] == {"sslmode": "require"} | prepared
    assert "DISABLE_SERVER_SIDE_CURSORS" not in own
    pooled = database_of(DATABASE_URL=url, DA_POOLED_CONNECTIONS="1", **PRODUCTION)
    assert pooled["OPTIONS"] == {"sslmode": "require"} and pooled["DISABLE_SERVER_SIDE_CURSORS"]


def test_a_replica_is_a_postgresql_beside_a_postgresql():
    url = "postgres://db.example/ratings"
    for wrong in (
        {"DATABASE_URL": url, "DA_REPLICA_URL": "sqlite:///copy.sqlite3"},
        {"DA_REPLICA_URL": url},
    ):
        process = manage("check", **wrong, **PRODUCTION)
        assert process.returncode != 0
        assert "DA_REPLICA_URL must begin with postgres://" in process.stderr


# Production ----------------------------------------------------------------------------------


def test_the_deployment_check_has_nothing_to_say_in_production(tmp_path):
    process = manage(
        "check", "--deploy", "--fail-level", "WARNING", DA_DATA_DIR=str(tmp_path), **PRODUCTION
    )
    assert "no issues (0 silenced)" in output_of(process)


# Django's own admin keeps to the policy too, but not to our rule against inline attributes.
OWN_PAGES = ["/", "/login/", "/no-such-page/"]
PAGES = [*OWN_PAGES, "/admin/login/"]

GET_PAGES = """
import json, sys
import django; django.setup()
from django.core.management import call_command
from django.templatetags.static import static
from django.test import Client, override_settings
from tests.migrated import own_database
own_database()
call_command("collectstatic", interactive=False, verbosity=0)
secure, plain = Client(headers={"host": "da.example.org"}), Client(headers={"host": "da.example.org"})
stranger = Client(headers={"host": "evil.example"})
pages = {}
for path in %r:
    response = secure.get(path, secure=True)
    pages[path] = {
        "status": response.status_code,
        "headers": {name.lower(): value for name, value in response.items()},
        "cookies": [morsel.OutputString() for morsel in response.cookies.values()],
        "body": response.content.decode(),
    }
insecure = plain.get("/")
from tests.factories import make_hits
from tests.recruits import begin
worker = Client(headers={"host": "da.example.org"})
with override_settings(SECURE_SSL_REDIRECT=False):
    begin(worker, make_hits())
print(json.dumps({
    "pages": pages,
    "insecure_call": plain.get("/api/v1/campaigns", headers={"Authorization": "Bearer x"}).status_code,
    "insecure": [insecure.status_code, insecure["location"]],
    "stranger": stranger.get("/", secure=True).status_code,
    "static": dict(secure.get(static("hits/platform.css"), secure=True).items()),
    "worker": [morsel.OutputString() for morsel in worker.cookies.values() if morsel.value],
}))
"""


@pytest.fixture(scope="module")
def production(tmp_path_factory) -> dict:
    """What the platform answers in production settings, page by page."""
    folder = tmp_path_factory.mktemp("production")
    # Another STATIC_ROOT: collecting must not write into the checkout.
    (folder / "production_settings.py").write_text(
        f"from da_platform.settings import *\nSTATIC_ROOT = {str(folder / 'static')!r}\n"
    )
    process = run_python(
        "-c",
        GET_PAGES % (PAGES,),
        DJANGO_SETTINGS_MODULE="production_settings",
        PYTHONPATH=f"{folder}:{CHECKOUT}",
        DA_DATA_DIR=str(folder),
        DA_LOG_LEVEL="ERROR",
        **PRODUCTION,
    )
    return json.loads(output_of(process).splitlines()[-1])


@pytest.mark.parametrize("path", PAGES)
def test_every_answer_carries_the_security_headers(production, path):
    headers = production["pages"][path]["headers"]
    assert headers["x-frame-options"] == "DENY"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "camera=()" in headers["permissions-policy"]
    assert "no-store" in headers["cache-control"]
    assert "access-control-allow-origin" not in headers
    assert headers["strict-transport-security"] == "max-age=31536000; includeSubDomains; preload"


@pytest.mark.parametrize("path", PAGES)
def test_the_content_security_policy_allows_own_files_only(production, path):
    policy = production["pages"][path]["headers"]["content-security-policy"]
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";") if part.strip())
    for nothing in ("default-src", "object-src", "base-uri", "frame-ancestors"):
        assert directives[nothing] == "'none'"
    assert directives["script-src"] == directives["style-src"] == "'self'"
    assert "unsafe" not in policy and "http:" not in policy and "*" not in policy


def test_own_files_may_be_kept_and_other_sites_get_no_leave_to_read_them(production):
    assert "max-age" in production["static"]["Cache-Control"]
    assert production["static"]["X-Content-Type-Options"] == "nosniff"
    assert "Access-Control-Allow-Origin" not in production["static"]


def is_guarded(cookie: str) -> bool:
    """Whether a cookie goes over https only, to this host only, not across sites, and is nothing for scripts."""
    name, *attributes = cookie.split("; ")
    wanted = {"Secure", "HttpOnly", "SameSite=Lax", "Path=/"}
    is_for_others = any(attribute.startswith("Domain") for attribute in attributes)
    return name.startswith("__Host-") and wanted <= set(attributes) and not is_for_others


@pytest.mark.parametrize("path", PAGES)
def test_cookies_are_sent_over_https_only_and_not_across_sites(production, path):
    assert all(is_guarded(cookie) for cookie in production["pages"][path]["cookies"])


def test_the_login_page_sets_a_cookie_to_look_at(production):
    assert production["pages"]["/admin/login/"]["cookies"]


def test_so_are_the_cookies_of_workers(production):
    names = {cookie.partition("=")[0] for cookie in production["worker"]}
    assert names == {"__Host-worker", "__Host-device"}
    assert all(is_guarded(cookie) for cookie in production["worker"])


def test_a_cookie_that_lacks_one_guard_is_told():
    assert is_guarded("__Host-a=1; HttpOnly; Path=/; SameSite=Lax; Secure")
    assert not is_guarded("a=1; HttpOnly; Path=/; SameSite=Lax; Secure")
    assert not is_guarded("__Host-a=1; Path=/; SameSite=Lax; Secure")
    assert not is_guarded("__Host-a=1; Domain=example.org; HttpOnly; Path=/; SameSite=Lax; Secure")


@pytest.mark.parametrize("path", OWN_PAGES)
def test_pages_have_no_inline_scripts_or_styles(production, path):
    body = production["pages"][path]["body"]
    assert "<" in body
    assert not re.search(r"<style\b", body, re.IGNORECASE)
    assert not re.search(r"\s(style|on\w+)\s*=", body, re.IGNORECASE)
    for tag in re.findall(r"<script\b[^>]*>", body, re.IGNORECASE):
        assert "src=" in tag


def test_an_unknown_page_shows_no_traceback(production):
    page = production["pages"]["/no-such-page/"]
    assert page["status"] in {302, 404} and "Traceback" not in page["body"]


def test_plain_http_is_sent_to_https(production):
    assert production["insecure"] == [301, "https://da.example.org/"]


def test_a_program_that_comes_by_plain_http_is_refused_and_not_sent_on(production):
    assert production["insecure_call"] == 403


def test_another_host_name_is_refused(production):
    assert production["stranger"] == 400


def test_development_sends_no_transport_security(tmp_path):
    names = ["SECURE_HSTS_SECONDS", "SECURE_SSL_REDIRECT", "SESSION_COOKIE_SECURE"]
    found = settings_of(*names, DA_DEBUG="1", DA_DATA_DIR=str(tmp_path))
    assert list(found.values()) == [0, False, False]


def test_the_forwarded_protocol_is_believed_only_when_a_proxy_is_declared(tmp_path):
    name = "SECURE_PROXY_SSL_HEADER"
    assert settings_of(name, DA_DATA_DIR=str(tmp_path), **PRODUCTION) == {name: None}
    behind = settings_of(name, DA_DATA_DIR=str(tmp_path), DA_BEHIND_PROXY="1", **PRODUCTION)
    assert behind == {name: ["HTTP_X_FORWARDED_PROTO", "https"]}


def test_tests_never_touch_a_developers_own_database(tmp_path):
    file = tmp_path / "env"
    file.write_text("DATABASE_URL=postgres://live.example/ratings\n")
    code = "from tests.settings import DATABASES; print(DATABASES['default']['ENGINE'])"
    process = run_python(
        "-c", code, DATABASE_URL="postgres://live.example/ratings", DA_ENV_FILE=str(file)
    )
    assert output_of(process) == "django.db.backends.sqlite3\n"
