"""The platform behind the real nginx and Caddy with the files of deploy/."""

import json
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.operation.image import HOST, Image, Server
from tests.operation.proxies import Proxy, running_proxy
from tests.setup_servers import PROXIES, server_path
from tests.subprocesses import CHECKOUT, free_port, output_of

NAME, PASSWORD = "root", "correct horse battery"  # pragma: allowlist secret
TOKEN = "a-token-for-these-tests"
MEGABYTE = 1024 * 1024


pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("image")]


@pytest.fixture(scope="module")
def server(image: Image) -> Iterator[Server]:
    """The platform, configured for a proxy, with a superuser."""
    command = f"manage.py createsuperuser --noinput --username {NAME} --email root@example.org"
    output_of(image.run(*command.split(), DJANGO_SUPERUSER_PASSWORD=PASSWORD))
    with image.serving(DA_BEHIND_PROXY="1", DA_METRICS_TOKEN=TOKEN) as server:
        yield server


@pytest.fixture(scope="module", params=PROXIES)
def name(request: pytest.FixtureRequest) -> str:
    if not server_path(request.param):
        pytest.skip(f"{request.param} is not on this machine and could not be fetched from Debian.")
    return str(request.param)


@pytest.fixture(scope="module")
def proxy(name: str, server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    folder = tmp_path_factory.mktemp(name)
    with running_proxy(name, folder=folder, web_port=server.port) as proxy:
        yield proxy


def log_in(browser: httpx.Client, *, password: str, **headers: str) -> httpx.Response:
    """Send the login form with the headers of a browser."""
    browser.get("/login/")
    fields = {
        "username": NAME,
        "password": password,
        "csrfmiddlewaretoken": browser.cookies["__Host-csrftoken"],
    }
    origin = str(browser.base_url).rstrip("/")
    headers = {"Origin": origin, "Referer": f"{origin}/login/"} | headers
    return browser.post("/login/", data=fields, headers=headers)


def test_a_person_logs_in_over_https(proxy: Proxy):
    with proxy.browser() as browser:
        answer = log_in(browser, password=PASSWORD)
        assert answer.status_code == 302, answer.text
        home = browser.get("/")
        assert home.status_code == 200 and NAME in home.text
        assert home.headers["Strict-Transport-Security"].startswith("max-age=31536000")
        [session] = [c for c in browser.cookies.jar if c.name == "__Host-sessionid"]
        assert session.secure


def test_static_files_are_served_as_immutable(proxy: Proxy):
    with proxy.browser() as browser:
        page = browser.get("/login/").text
        address = page.partition('<link rel="stylesheet" href="')[2].partition('"')[0]
        style = browser.get(address)
    assert style.status_code == 200 and "immutable" in style.headers["Cache-Control"]


def test_browsers_are_redirected_to_https_and_api_calls_refused(proxy: Proxy):
    answer = proxy.plain("/login/?next=/audit/")
    assert answer.status_code == 301
    assert answer.headers["Location"].startswith(f"https://{HOST}")
    assert answer.headers["Location"].endswith("/login/?next=/audit/")
    assert proxy.plain("/api/v1/campaigns").status_code == 403


@pytest.mark.parametrize("path", ["/metrics", "/readyz"])
def test_monitoring_addresses_are_not_public(proxy: Proxy, server: Server, path: str):
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with proxy.browser() as browser:
        assert browser.get(path, headers=headers).status_code == 404
    # The 404 comes from the proxy.
    assert httpx.get(server.address(path), headers=headers).status_code == 200


def test_the_largest_allowed_upload_passes_the_proxy(proxy: Proxy):
    with proxy.browser() as browser:
        files = {"upload": b"x" * (60 * MEGABYTE)}
        refused = browser.post("/api/v1/campaigns", files=files)
    # Refused by the platform for lack of a token, not by the proxy for its size.
    assert refused.status_code == 401 and "detail" in refused.json()


def test_both_proxies_use_the_size_limit_of_the_platform(settings: Any):
    deploy = CHECKOUT / "deploy"
    [nginx] = re.findall(r"client_max_body_size (\d+)m;", (deploy / "nginx.conf").read_text())
    [caddy] = re.findall(r"max_size (\d+)MB", (deploy / "Caddyfile").read_text())
    assert int(nginx) == int(caddy) == settings.MAX_REQUEST_BYTES // 1_000_000


def test_forwarded_headers_from_visitors_are_ignored(proxy: Proxy, image: Image):
    claimed = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "http"}
    with proxy.browser() as browser:
        # If the claim of plain HTTP were believed, the answer would be a redirect.
        refused = log_in(browser, password=PASSWORD[::-1], **claimed)
    assert refused.status_code == 200
    with sqlite3.connect(Path(image.variables["DA_DATA_DIR"]) / "db.sqlite3") as database:
        rows = database.execute("SELECT ip_address FROM axes_accessattempt").fetchall()
    assert {address for (address,) in rows} == {"127.0.0.1"}


# Not 127.0.0.1, which is also the address of the platform.
VISITOR_ADDRESS = "127.0.0.77"
# Paths are personal because some contain tokens.
PERSONAL = (VISITOR_ADDRESS, "somebody", "__Host-", "login")


def visit(proxy: Proxy) -> httpx.Response:
    with proxy.browser(address=VISITOR_ADDRESS) as browser:
        browser.cookies["__Host-csrftoken"] = "x" * 32
        return browser.get("/login/", params={"PROLIFIC_PID": "somebody"})


def test_the_proxy_log_contains_no_personal_data(proxy: Proxy):
    assert visit(proxy).status_code == 200
    lines = proxy.log.read_text().splitlines()
    assert lines and all(json.loads(line) for line in lines)
    assert [word for word in PERSONAL if word in proxy.written] == []


def test_nor_does_it_while_the_platform_is_down(name: str, tmp_path: Path):
    with running_proxy(name, folder=tmp_path, web_port=free_port()) as proxy:
        assert visit(proxy).status_code in {502, 503}
    assert re.search(r'"status": ?50[23]', proxy.written)
    assert [word for word in PERSONAL if word in proxy.written] == []
