"""The proxies of deploy/ for real, in front of the platform as in production: what passes, and what must not."""

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
TOKEN = "only-for-tests"
MEGABYTE = 1024 * 1024


def read(name: str) -> str:
    return (CHECKOUT / "deploy" / name).read_text()


pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("image")]


@pytest.fixture(scope="module")
def server(image: Image) -> Iterator[Server]:
    """The platform behind a proxy, and somebody who may log in."""
    somebody = ["--username", NAME, "--email", "root@example.org"]
    output_of(
        image.run(
            *["manage.py", "createsuperuser", "--noinput", *somebody],
            DJANGO_SUPERUSER_PASSWORD=PASSWORD,
        )
    )
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
    """Fill in the form as a browser does, which says where it comes from."""
    browser.get("/login/")
    fields = {
        "username": NAME,
        "password": password,
        "csrfmiddlewaretoken": browser.cookies["__Host-csrftoken"],
    }
    return browser.post("/login/", data=fields, headers=whence(browser) | headers)


def whence(browser: httpx.Client) -> dict[str, str]:
    """What a browser says of the page that a form was on."""
    return {"Origin": str(browser.base_url).rstrip("/"), "Referer": f"{browser.base_url}login/"}


def test_a_person_logs_in_through_it_by_https(proxy: Proxy):
    with proxy.browser() as browser:
        answer = log_in(browser, password=PASSWORD)
        assert answer.status_code == 302, answer.text
        home = browser.get("/")
        assert home.status_code == 200 and NAME in home.text
        assert home.headers["Strict-Transport-Security"].startswith("max-age=31536000")
        [session] = [c for c in browser.cookies.jar if c.name == "__Host-sessionid"]
        assert session.secure


def test_styles_come_through_it_to_be_kept(proxy: Proxy):
    with proxy.browser() as browser:
        page = browser.get("/login/").text
        address = page.partition('<link rel="stylesheet" href="')[2].partition('"')[0]
        style = browser.get(address)
    assert style.status_code == 200 and "immutable" in style.headers["Cache-Control"]


def test_plain_requests_are_sent_to_https_and_programs_told(proxy: Proxy):
    answer = proxy.plain("/login/?next=/audit/")
    assert answer.status_code == 301
    assert answer.headers["Location"].startswith(f"https://{HOST}")
    assert answer.headers["Location"].endswith("/login/?next=/audit/")
    assert proxy.plain("/api/v1/campaigns").status_code == 403


@pytest.mark.parametrize("path", ["/metrics", "/readyz"])
def test_what_is_for_machines_stays_inside(proxy: Proxy, server: Server, path: str):
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with proxy.browser() as browser:
        assert browser.get(path, headers=headers).status_code == 404
    # It is the proxy that says so: within, there is an answer.
    assert httpx.get(server.address(path), headers=headers).status_code == 200


def test_an_upload_as_large_as_the_platform_takes_comes_through(proxy: Proxy):
    with proxy.browser() as browser:
        files = {"upload": b"x" * (60 * MEGABYTE)}
        refused = browser.post("/api/v1/campaigns", files=files)
    # By the platform, which takes files there and asks for a token; not by the proxy for its size.
    assert refused.status_code == 401 and "detail" in refused.json()


def test_both_proxies_know_the_bound_of_the_platform(settings: Any):
    [nginx] = re.findall(r"client_max_body_size (\d+)m;", read("nginx.conf"))
    [caddy] = re.findall(r"max_size (\d+)MB", read("Caddyfile"))
    assert int(nginx) == int(caddy) == settings.MAX_REQUEST_BYTES // 1_000_000


def test_what_a_visitor_claims_about_its_address_counts_for_nothing(proxy: Proxy, image: Image):
    claimed = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "http"}
    with proxy.browser() as browser:
        # Believed, the claim of plain http would lead to https for ever.
        refused = log_in(browser, password=PASSWORD[::-1], **claimed)
    assert refused.status_code == 200
    with sqlite3.connect(Path(image.variables["DA_DATA_DIR"]) / "db.sqlite3") as database:
        rows = database.execute("SELECT ip_address FROM axes_accessattempt").fetchall()
    assert {address for (address,) in rows} == {"127.0.0.1"}


# A visitor whose address is no one else's here: the platform, too, is at 127.0.0.1.
SOMEWHERE = "127.0.0.77"
# Paths, too: some are tokens.
PERSONAL = (SOMEWHERE, "somebody", "__Host-", "login")


def visit(proxy: Proxy) -> httpx.Response:
    with proxy.browser(address=SOMEWHERE) as browser:
        browser.cookies["__Host-csrftoken"] = "x" * 32
        return browser.get("/login/", params={"PROLIFIC_PID": "somebody"})


def test_its_log_names_nobody(proxy: Proxy):
    assert visit(proxy).status_code == 200
    lines = proxy.log.read_text().splitlines()
    assert lines and all(json.loads(line) for line in lines)
    assert [word for word in PERSONAL if word in proxy.written] == []


def test_nor_does_it_while_the_platform_is_away(name: str, tmp_path: Path):
    with running_proxy(name, folder=tmp_path, web_port=free_port()) as proxy:
        assert visit(proxy).status_code in {502, 503}
    assert re.search(r'"status": ?50[23]', proxy.written)
    assert [word for word in PERSONAL if word in proxy.written] == []
