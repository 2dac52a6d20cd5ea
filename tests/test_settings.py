"""The settings, tested in separate processes with a clean environment."""

import json
import random
import re
import stat
import subprocess
import sys
import time
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor

import pytest

from da_platform.environment import MIN_KEY_LENGTH, fault_in_secret
from tests.subprocesses import CHECKOUT, RANDOM_KEY, environment, manage, output_of, run_python

# They share a slow fixture.
pytestmark = pytest.mark.xdist_group("settings")

PRODUCTION = {"DA_SECRET_KEY": RANDOM_KEY, "DA_ALLOWED_HOSTS": "da.example.org"}
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


@pytest.mark.parametrize("variables", [{}, {"DA_SECRET_KEY": ""}], ids=["missing", "empty"])
def test_it_refuses_to_start_without_a_key_when_debug_is_off(variables):
    assert "DA_SECRET_KEY is not set" in error_of(manage("check", **variables))


def test_a_key_can_start_with_a_dollar_sign(tmp_path):
    key = f"${RANDOM_KEY}"
    values = settings_of("SECRET_KEY", DA_SECRET_KEY=key, DA_DATA_DIR=str(tmp_path))
    assert values["SECRET_KEY"] == key


WEAK_KEYS = {
    "blank": " " * 60,
    "short": "Zk3-9fQw_81LmXc0",
    "one character": "k" * 60,
    "a repeated word": "K7-long-enough-" * 5,
    "counting up": "abcdefghijklmnopqrstuvwxyz0123456789",
    "Django's own": "django-insecure-8f!x0k2c&v7m1qz9p4t6w3y5r_b0n8d2s",
    "an example": "changeme-changeme-please-0123456789-abc",
}


@pytest.mark.parametrize("name", ["DA_SECRET_KEY", "DA_SECRET_KEY_FALLBACKS"])
@pytest.mark.parametrize("key", WEAK_KEYS.values(), ids=WEAK_KEYS)
def test_it_refuses_to_start_with_a_weak_key_when_debug_is_off(name, key, tmp_path):
    variables = PRODUCTION | {name: key, "DA_DATA_DIR": str(tmp_path)}
    error = error_of(run_python("-c", "import da_platform.settings", **variables))
    assert f"ImproperlyConfigured: {name}" in error and "random" in error
    assert key.strip() == "" or key not in error


@pytest.mark.parametrize(
    ("name", "value"), [("DA_PANEL_SECRETS", "acme=secret"), ("DA_METRICS_TOKEN", "hunter2")]
)
def test_other_secrets_must_not_be_guessable_either(name, value, tmp_path):
    variables = PRODUCTION | {name: value, "DA_DATA_DIR": str(tmp_path)}
    error = error_of(run_python("-c", "import da_platform.settings", **variables))
    assert f"{name} has fewer than 16 characters" in error and value not in error


def test_random_keys_of_every_usual_kind_are_strong_enough():
    rng = random.Random(1)
    for _ in range(2_000):
        for key in (rng.randbytes(16).hex(), b64encode(rng.randbytes(24)).decode()):
            assert fault_in_secret(key, min_length=MIN_KEY_LENGTH) is None


def test_in_development_an_empty_key_file_is_refused(tmp_path):
    (tmp_path / "secret_key").write_text("")
    error = error_of(manage("check", DA_DEBUG="1", DA_DATA_DIR=str(tmp_path)))
    assert f"{tmp_path}/secret_key is empty" in error


def test_secrets_can_be_read_from_files(tmp_path):
    names = {
        "DA_SECRET_KEY": "SECRET_KEY",  # pragma: allowlist secret
        "DA_METRICS_TOKEN": "METRICS_TOKEN",
        "DA_PROLIFIC_API_TOKEN": "PROLIFIC_API_TOKEN",
        "DA_BROKER_URL": "CELERY_BROKER_URL",
        "DATABASE_URL": "DATABASES",
    }
    for name in names:
        (tmp_path / name).write_text(f"redis://{name.lower()[::-1]}-{RANDOM_KEY}\n")
    (tmp_path / "DATABASE_URL").write_text("postgres://alice:hunter2@db.example/ratings\n")
    values = settings_of(
        *names.values(),
        DA_ALLOWED_HOSTS="da.example.org",
        DA_DATA_DIR=str(tmp_path),
        **{f"{name}_FILE": str(tmp_path / name) for name in names},
    )
    assert values.pop("DATABASES")["default"]["PASSWORD"] == "hunter2"  # pragma: allowlist secret
    assert set(values.values()) == {
        f"redis://{name.lower()[::-1]}-{RANDOM_KEY}" for name in names.keys() - {"DATABASE_URL"}
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
def test_a_bad_secret_file_is_refused_without_revealing_the_secret(content, also, reason, tmp_path):
    path = tmp_path / "key"
    if content is not None:
        path.write_bytes(content)
    error = error_of(manage("check", DA_SECRET_KEY=also, DA_SECRET_KEY_FILE=str(path)))
    assert "DA_SECRET_KEY_FILE" in error and reason in error and "hunter" not in error


def test_in_development_a_private_key_file_is_created_once(tmp_path):
    data = tmp_path / "new" / "var"
    first = settings_of("SECRET_KEY", DA_DEBUG="1", DA_DATA_DIR=str(data))["SECRET_KEY"]
    again = settings_of("SECRET_KEY", DA_DEBUG="1", DA_DATA_DIR=str(data))["SECRET_KEY"]
    path = data / "secret_key"
    assert first == again == path.read_text() and len(first) >= 50
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in data.iterdir()] == ["secret_key"]


def test_processes_that_start_together_agree_on_one_key(tmp_path):
    data, gate = tmp_path / "var", tmp_path / "gate"
    # All wait for the gate, so that they look for the key at the same moment.
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


def test_a_key_file_is_never_incomplete(tmp_path):
    from da_platform.settings import make_key_file

    path = tmp_path / "secret_key"

    def wait_for_key() -> str:
        # Without a pause, to catch a file that is only half written.
        deadline = time.monotonic() + 60
        while not path.exists():
            assert time.monotonic() < deadline, "no key was written"
        return path.read_text()

    for _ in range(50):
        path.unlink(missing_ok=True)
        with ThreadPoolExecutor(4) as pool:
            readers = [pool.submit(wait_for_key) for _ in range(2)]
            writers = [pool.submit(make_key_file, path) for _ in range(2)]
            for writer in writers:
                writer.result()
            assert {reader.result() for reader in readers} == {path.read_text()}
            assert len(path.read_text()) == 86


# Invalid values ------------------------------------------------------------------------------


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
def test_an_invalid_value_is_refused_by_name(name, value, tmp_path):
    variables = {"DA_SECRET_KEY": RANDOM_KEY, "DA_DATA_DIR": str(tmp_path), name: value}
    error = error_of(run_python("-c", "import da_platform.settings", **variables))
    assert "ImproperlyConfigured" in error and name in error and "hunter2" not in error


def test_the_environment_takes_precedence_over_the_file(tmp_path):
    file = tmp_path / "env"
    file.write_text(
        f"DA_SECRET_KEY={RANDOM_KEY}\nDA_ALLOWED_HOSTS=a.example\nDA_DATA_DIR={tmp_path}\n"
    )
    values = settings_of(
        "SECRET_KEY", "ALLOWED_HOSTS", DA_ENV_FILE=str(file), DA_ALLOWED_HOSTS="b.example"
    )
    assert values == {"SECRET_KEY": RANDOM_KEY, "ALLOWED_HOSTS": ["b.example"]}


# The database --------------------------------------------------------------------------------


@pytest.mark.parametrize("url", [None, ""])
def test_the_default_database_is_sqlite_with_queued_writers(url, tmp_path):
    variables = {} if url is None else {"DATABASE_URL": url}
    database = database_of(DA_DEBUG="1", DA_DATA_DIR=str(tmp_path), **variables)
    assert database["ENGINE"] == "django.db.backends.sqlite3"
    assert database["NAME"] == str(tmp_path / "db.sqlite3")
    assert database["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert database["OPTIONS"]["timeout"] == 20


def test_sqlite_uses_a_write_ahead_log_and_waits_for_the_disk(tmp_path):
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
    assert output_of(process) == "['wal', 2, 20000]\n"


def test_a_database_url_selects_postgresql_with_persistent_connections():
    url = "postgres://alice:pa%40ss@db.example:5433/ratings"
    database = database_of(DATABASE_URL=url, DA_CONN_MAX_AGE="5", **PRODUCTION)
    assert database["ENGINE"] == "da_platform.postgresql"
    keys = ["NAME", "USER", "PASSWORD", "HOST", "PORT", "CONN_MAX_AGE", "CONN_HEALTH_CHECKS"]
    values = [database[key] for key in keys]
    assert values == ["ratings", "alice", "pa@ss", "db.example", 5433, 5, True]


def test_prepared_statements_and_cursors_are_used_unless_there_is_a_pooler():
    url = "postgres://db.example/ratings?sslmode=require"
    direct = database_of(DATABASE_URL=url, **PRODUCTION)
    prepared = {"server_side_binding": True, "prepare_threshold": 5}
    assert direct["OPTIONS"] == {"sslmode": "require"} | prepared
    assert "DISABLE_SERVER_SIDE_CURSORS" not in direct
    pooled = database_of(DATABASE_URL=url, DA_POOLED_CONNECTIONS="1", **PRODUCTION)
    assert pooled["OPTIONS"] == {"sslmode": "require"} and pooled["DISABLE_SERVER_SIDE_CURSORS"]


def test_a_replica_needs_postgresql_on_both_sides():
    url = "postgres://db.example/ratings"
    for wrong in (
        {"DATABASE_URL": url, "DA_REPLICA_URL": "sqlite:///copy.sqlite3"},
        {"DA_REPLICA_URL": url},
    ):
        process = manage("check", **wrong, **PRODUCTION)
        assert process.returncode != 0
        assert "DA_REPLICA_URL must begin with postgres://" in process.stderr


# Production ----------------------------------------------------------------------------------


def test_the_deployment_check_passes_in_production(tmp_path):
    process = manage(
        "check", "--deploy", "--fail-level", "WARNING", DA_DATA_DIR=str(tmp_path), **PRODUCTION
    )
    assert "no issues (0 silenced)" in output_of(process)


# Django's admin follows the policy too, but not our rule against inline attributes.
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
    """The responses of the platform with production settings, by page."""
    folder = tmp_path_factory.mktemp("production")
    # Do not collect static files in the checkout.
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
def test_every_response_has_the_security_headers(production, path):
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


def test_static_files_can_be_cached_but_not_read_by_other_sites(production):
    assert "max-age" in production["static"]["Cache-Control"]
    assert production["static"]["X-Content-Type-Options"] == "nosniff"
    assert "Access-Control-Allow-Origin" not in production["static"]


def is_guarded(cookie: str) -> bool:
    """Whether a cookie is for HTTPS, this host and this site only, and hidden from scripts."""
    name, *attributes = cookie.split("; ")
    guards = {"Secure", "HttpOnly", "SameSite=Lax", "Path=/"}
    has_domain = any(attribute.startswith("Domain") for attribute in attributes)
    return name.startswith("__Host-") and guards <= set(attributes) and not has_domain


@pytest.mark.parametrize("path", PAGES)
def test_cookies_are_sent_over_https_only_and_not_across_sites(production, path):
    assert all(is_guarded(cookie) for cookie in production["pages"][path]["cookies"])


def test_the_login_page_sets_a_cookie_to_check(production):
    assert production["pages"]["/admin/login/"]["cookies"]


def test_so_are_cookies_for_workers(production):
    names = {cookie.partition("=")[0] for cookie in production["worker"]}
    assert names == {"__Host-worker", "__Host-device"}
    assert all(is_guarded(cookie) for cookie in production["worker"])


def test_a_cookie_without_one_of_its_guards_is_noticed():
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


def test_plain_http_is_redirected_to_https(production):
    assert production["insecure"] == [301, "https://da.example.org/"]


def test_api_calls_over_plain_http_are_refused_and_not_redirected(production):
    assert production["insecure_call"] == 403


def test_another_host_name_is_refused(production):
    assert production["stranger"] == 400


def test_development_sends_no_transport_security(tmp_path):
    names = ["SECURE_HSTS_SECONDS", "SECURE_SSL_REDIRECT", "SESSION_COOKIE_SECURE"]
    values = settings_of(*names, DA_DEBUG="1", DA_DATA_DIR=str(tmp_path))
    assert list(values.values()) == [0, False, False]


def test_the_forwarded_protocol_is_only_trusted_behind_a_declared_proxy(tmp_path):
    name = "SECURE_PROXY_SSL_HEADER"
    assert settings_of(name, DA_DATA_DIR=str(tmp_path), **PRODUCTION) == {name: None}
    behind = settings_of(name, DA_DATA_DIR=str(tmp_path), DA_BEHIND_PROXY="1", **PRODUCTION)
    assert behind == {name: ["HTTP_X_FORWARDED_PROTO", "https"]}


def test_tests_never_use_the_developers_database(tmp_path):
    file = tmp_path / "env"
    file.write_text("DATABASE_URL=postgres://live.example/ratings\n")
    code = "from tests.settings import DATABASES; print(DATABASES['default']['ENGINE'])"
    process = run_python(
        "-c", code, DATABASE_URL="postgres://live.example/ratings", DA_ENV_FILE=str(file)
    )
    assert output_of(process) == "django.db.backends.sqlite3\n"
