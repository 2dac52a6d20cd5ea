"""Rules that hold for all of the code: whom it calls, what it takes, what it is shipped with."""

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
# Modules with which a process can call out.
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
# Who may, and whom they call. An address that a visitor chooses is in none of them.
MAY_CALL = {
    "da_platform/probe.py": "an address on its command line, for a health check",
    "da_platform/serve.py": "its own port on loopback, to see whether it listens",
}
# Clients of crowd platforms and metrics services: their addresses come from settings only.
MAY_CALL_FOLDERS = ("hits/recruiting/providers/",)


def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def sources() -> list[Path]:
    return [path for package in PACKAGES for path in (CHECKOUT / package).rglob("*.py")]


def test_only_named_modules_can_call_out():
    callers = {
        path.relative_to(CHECKOUT).as_posix()
        for path in sources()
        if any(
            name == one or name.startswith(f"{one}.")
            for name in imports_of(path)
            for one in CALLERS
        )
    }
    strange = {
        path for path in callers if path not in MAY_CALL and not path.startswith(MAY_CALL_FOLDERS)
    }
    assert strange == set(), "Say in MAY_CALL whom it calls; never an address that a visitor chose."
    assert MAY_CALL.keys() <= callers


def test_the_look_finds_a_caller(tmp_path):
    file = tmp_path / "fetch.py"
    file.write_text(
        "def f(url):\n    from urllib.request import urlopen\n    return urlopen(url)\n"
    )
    assert imports_of(file) & CALLERS


@pytest.mark.django_db
def test_a_request_that_brings_too_much_is_refused():
    url = reverse("login")
    fields = {f"f{i}": "x" for i in range(settings.DATA_UPLOAD_MAX_NUMBER_FIELDS + 1)}
    assert Client().post(url, fields).status_code == 400
    large = "a" * (settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)
    form = "application/x-www-form-urlencoded"
    assert Client().post(url, f"username={large}", content_type=form).status_code in (400, 413)


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/", "/password/", "/audit/", "/api/v1/campaigns", "/nowhere/"])
def test_no_answer_to_staff_is_kept_by_browser_or_proxy(path: str):
    assert "no-store" in client_of("superuser").get(path)["Cache-Control"]


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/", "/password/", "/audit/", "/healthz", "/api/v1/campaigns"])
def test_no_request_is_echoed(path: str):
    assert client_of("superuser").trace(path).status_code in (401, 405)


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/", "/healthz", "/nowhere/", "/hooks/prolific/"])
def test_every_text_says_how_it_is_written(path: str):
    for answer in (Client().get(path, follow=True), Client().post(path)):
        if answer.content:
            assert answer["Content-Type"].endswith("; charset=utf-8")


# What is shipped -----------------------------------------------------------------------------


def test_containers_run_without_rights_and_with_variables_that_exist():
    compose = yaml.safe_load((CHECKOUT / "compose.yaml").read_text())
    assert {"web", "worker", "beat", "postgres", "redis", "proxy"} <= compose["services"].keys()
    for name in ("web", "worker", "jobs", "beat", "backup", "migrate"):
        service = compose["services"][name]
        assert service["read_only"] and service["cap_drop"] == ["ALL"]
        assert set(service["environment"]) <= example_variables()
        # Whatever else there is to set comes from the file, for all of them.
        assert service["env_file"] == ".env"
        # Set here, it would contradict DA_SECRET_KEY_FILE.
        assert "DA_SECRET_KEY" not in service["environment"]
    published = [name for name, service in compose["services"].items() if "ports" in service]
    assert published == ["proxy", "prometheus", "alertmanager"]
    for name in published[1:]:
        assert all(port.startswith("127.0.0.1:") for port in compose["services"][name]["ports"])
    assert compose["networks"]["inside"]["internal"]


def services() -> dict[str, Any]:
    return yaml.safe_load((CHECKOUT / "compose.yaml").read_text())["services"]


def test_backups_are_seen_by_who_makes_them_and_by_who_tells_of_them():
    for name in ("web", "backup"):
        service = services()[name]
        assert f"backups:{service['environment']['DA_BACKUP_DIR']}" in service["volumes"]


def test_migrations_wait_for_the_database_itself():
    found = services()
    assert found["migrate"]["depends_on"]["postgres"]["condition"] == "service_healthy"
    # On the socket the server answers too that is there only while the image sets the database up.
    asked = found["postgres"]["healthcheck"]["test"]
    assert asked[:4] == ["CMD", "pg_isready", "--host", "127.0.0.1"]


def test_alerts_go_to_a_container_that_is_there():
    config = yaml.safe_load((CHECKOUT / "deploy/prometheus/prometheus.yml").read_text())
    [manager] = config["alerting"]["alertmanagers"]
    [target] = manager["static_configs"][0]["targets"]
    service = services()[target.partition(":")[0]]
    assert service["profiles"] == services()["prometheus"]["profiles"]
    told = yaml.safe_load((CHECKOUT / "deploy/prometheus/alertmanager.yml").read_text())
    assert told["route"]["receiver"] in {receiver["name"] for receiver in told["receivers"]}


def test_the_image_is_pinned_by_hash_and_not_run_by_root():
    lines = (CHECKOUT / "Dockerfile").read_text().splitlines()
    assert any("--require-hashes" in line for line in lines)
    assert [line for line in lines if line.startswith("USER")] == ["USER da"]
    ignored = (CHECKOUT / ".dockerignore").read_text().split()
    assert {".env", ".git", "var", ".venv"} <= set(ignored)
    requirements = (CHECKOUT / "requirements.txt").read_text()
    pinned = re.findall(r"^[a-zA-Z0-9._-]+(?:\[[^]]*\])?==\S+ \\$", requirements, re.MULTILINE)
    assert len(pinned) > 20


@pytest.mark.parametrize("name", ["web", "worker@", "beat", "backup"])
def test_services_run_as_their_own_user_on_a_sealed_system(name):
    unit = (CHECKOUT / f"deploy/systemd/da-{name}.service").read_text()
    for line in (
        "User=da",
        "NoNewPrivileges=true",
        "ProtectSystem=strict",
        "CapabilityBoundingSet=",
        "StateDirectoryMode=0700",
    ):
        assert f"\n{line}\n" in unit


def test_connections_come_in_at_a_socket_that_outlives_the_service():
    folder = CHECKOUT / "deploy/systemd"
    service = (folder / "da-web.service").read_text()
    assert "\nRequires=da-web.socket\n" in service
    assert "--bind" not in service and "ExecReload=" not in service
    assert "\nListenStream=127.0.0.1:8000\n" in (folder / "da-web.socket").read_text()
