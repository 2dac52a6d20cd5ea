"""Security rules for the whole code base, its responses and its deployment files."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.test import Client
from django.urls import reverse

from tests.people import client_of
from tests.subprocesses import CHECKOUT, example_variables

PACKAGES = ("hits", "analysis", "da_platform")
# Modules that can make network requests.
CALLERS = {
    "urllib.request",
    "http.client",
    "httpx",
    "requests",
    "boto3",
    "socket",
    "ftplib",
    "smtplib",
}
# Files that may import them, and whom they call. None calls an address chosen by a visitor.
MAY_CALL = {
    "da_platform/command.py": "no address: it looks whether a port on loopback is free",
    "da_platform/probe.py": "an address on its command line, for a health check",
    "da_platform/serve.py": "its own port on loopback, to see whether it listens",
}
# Clients of crowd platforms and metrics services, whose addresses come from the settings.
MAY_CALL_FOLDERS = ("hits/recruiting/providers/",)


def imports_of(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def sources() -> list[Path]:
    return [path for package in PACKAGES for path in (CHECKOUT / package).rglob("*.py")]


def test_only_listed_modules_can_make_network_requests():
    callers = {
        path.relative_to(CHECKOUT).as_posix()
        for path in sources()
        if any(
            name == caller or name.startswith(f"{caller}.")
            for name in imports_of(path)
            for caller in CALLERS
        )
    }
    unlisted = {path for path in callers - MAY_CALL.keys() if not path.startswith(MAY_CALL_FOLDERS)}
    assert unlisted == set(), "Add it to MAY_CALL if it never calls an address chosen by a visitor."
    assert MAY_CALL.keys() <= callers


def test_an_import_inside_a_function_is_noticed(tmp_path):
    file = tmp_path / "fetch.py"
    file.write_text(
        "def f(url):\n    from urllib.request import urlopen\n    return urlopen(url)\n"
    )
    assert imports_of(file) & CALLERS


@pytest.mark.django_db
def test_requests_with_too_many_fields_or_too_large_a_body_are_refused():
    url = reverse("login")
    fields = {f"f{i}": "x" for i in range(settings.DATA_UPLOAD_MAX_NUMBER_FIELDS + 1)}
    assert Client().post(url, fields).status_code == 400
    large = "a" * (settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)
    form = "application/x-www-form-urlencoded"
    assert Client().post(url, f"username={large}", content_type=form).status_code in (400, 413)


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/", "/password/", "/audit/", "/api/v1/campaigns", "/nowhere/"])
def test_staff_pages_are_never_cached(path: str):
    assert "no-store" in client_of("superuser").get(path)["Cache-Control"]


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/", "/password/", "/audit/", "/healthz", "/api/v1/campaigns"])
def test_no_request_is_echoed(path: str):
    assert client_of("superuser").trace(path).status_code in (401, 405)


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/", "/healthz", "/nowhere/", "/hooks/prolific/"])
def test_every_text_response_declares_its_charset(path: str):
    for answer in (Client().get(path, follow=True), Client().post(path)):
        if answer.content:
            assert answer["Content-Type"].endswith("; charset=utf-8")


# Deployment ----------------------------------------------------------------------------------


def load(path: str) -> Any:
    return yaml.safe_load((CHECKOUT / path).read_text())


def test_containers_run_unprivileged_with_documented_variables():
    compose = load("compose.yaml")
    assert {"web", "worker", "beat", "postgres", "redis", "proxy"} <= compose["services"].keys()
    for name in ("web", "worker", "jobs", "beat", "backup", "migrate"):
        service = compose["services"][name]
        assert service["read_only"] and service["cap_drop"] == ["ALL"]
        assert set(service["environment"]) <= example_variables()
        assert service["env_file"] == ".env"
        # It would conflict with DA_SECRET_KEY_FILE.
        assert "DA_SECRET_KEY" not in service["environment"]
    published = [name for name, service in compose["services"].items() if "ports" in service]
    assert published == ["proxy", "prometheus", "alertmanager"]
    for name in published[1:]:
        assert all(port.startswith("127.0.0.1:") for port in compose["services"][name]["ports"])
    assert compose["networks"]["inside"]["internal"]


def test_web_and_backup_containers_share_the_backup_folder():
    for name in ("web", "backup"):
        service = load("compose.yaml")["services"][name]
        assert f"backups:{service['environment']['DA_BACKUP_DIR']}" in service["volumes"]


def test_migrations_wait_for_the_database():
    services = load("compose.yaml")["services"]
    assert services["migrate"]["depends_on"]["postgres"]["condition"] == "service_healthy"
    # The socket also reaches the temporary server that the image runs while it sets up the database.
    command = services["postgres"]["healthcheck"]["test"]
    assert command[:4] == ["CMD", "pg_isready", "--host", "127.0.0.1"]


def test_alerts_go_to_an_existing_container():
    services = load("compose.yaml")["services"]
    [manager] = load("deploy/prometheus/prometheus.yml")["alerting"]["alertmanagers"]
    [target] = manager["static_configs"][0]["targets"]
    service = services[target.partition(":")[0]]
    assert service["profiles"] == services["prometheus"]["profiles"]
    config = load("deploy/prometheus/alertmanager.yml")
    assert config["route"]["receiver"] in {receiver["name"] for receiver in config["receivers"]}


def test_the_image_pins_packages_by_hash_and_does_not_run_as_root():
    lines = (CHECKOUT / "Dockerfile").read_text().splitlines()
    assert any("--require-hashes" in line for line in lines)
    assert [line for line in lines if line.startswith("USER")] == ["USER da"]
    ignored = (CHECKOUT / ".dockerignore").read_text().split()
    assert {".env", ".git", "var", ".venv"} <= set(ignored)
    requirements = (CHECKOUT / "requirements.txt").read_text()
    pinned = re.findall(r"^[a-zA-Z0-9._-]+(?:\[[^]]*\])?==\S+ \\$", requirements, re.MULTILINE)
    assert len(pinned) > 20


@pytest.mark.parametrize("name", ["web", "worker@", "beat", "backup"])
def test_systemd_services_are_sandboxed(name):
    unit = (CHECKOUT / f"deploy/systemd/da-{name}.service").read_text()
    for line in (
        "User=da",
        "NoNewPrivileges=true",
        "ProtectSystem=strict",
        "CapabilityBoundingSet=",
        "StateDirectoryMode=0700",
    ):
        assert f"\n{line}\n" in unit


def test_the_socket_unit_outlives_the_service():
    folder = CHECKOUT / "deploy/systemd"
    service = (folder / "da-web.service").read_text()
    assert "\nRequires=da-web.socket\n" in service
    assert "--bind" not in service and "ExecReload=" not in service
    assert "\nListenStream=127.0.0.1:8000\n" in (folder / "da-web.socket").read_text()
