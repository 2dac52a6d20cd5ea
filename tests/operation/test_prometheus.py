"""A real Prometheus with the files of deploy/ scrapes the platform and evaluates every alert."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.operation.image import Image
from tests.setup_servers import server_path
from tests.subprocesses import CHECKOUT, free_port, running
from tests.waiting import eventually

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("image")]

TOKEN = "a-token-for-these-tests"


@contextmanager
def prometheus(folder: Path, *, web_port: int) -> Iterator[httpx.Client]:
    """Start Prometheus on a free port and yield a client of its API."""
    path = server_path("prometheus")
    if path is None:
        pytest.skip("prometheus is not on this machine and could not be fetched from Debian.")
    _write_files(folder, web_port)
    port = free_port()
    files = [f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data"]
    options = [f"--web.listen-address=127.0.0.1:{port}", "--log.level=warn"]
    api = f"http://127.0.0.1:{port}/api/v1"
    with running([path, *files, *options]), httpx.Client(base_url=api) as client:
        yield client


def _write_files(folder: Path, web_port: int) -> None:
    config = (CHECKOUT / "deploy/prometheus/prometheus.yml").read_text()
    for original, replacement in (
        ("web:8000", f"127.0.0.1:{web_port}"),
        ("/run/secrets/da_metrics_token", f"{folder}/token"),
        ("scrape_interval: 15s", "scrape_interval: 1s"),
    ):
        assert original in config, original
        config = config.replace(original, replacement)
    intervals = "global: {evaluation_interval: 1s, scrape_timeout: 1s}\n"
    (folder / "prometheus.yml").write_text(intervals + config)
    (folder / "token").write_text(TOKEN)
    (folder / "alerts.yml").write_text((CHECKOUT / "deploy/prometheus/alerts.yml").read_text())


def query(client: httpx.Client, path: str) -> Any:
    """The answer of its API, or None while it is starting."""
    try:
        answer = client.get(path)
    except httpx.TransportError:
        return None
    return answer.json()["data"] if answer.is_success else None


def test_prometheus_scrapes_the_platform_and_evaluates_every_alert(image: Image, tmp_path: Path):
    with (
        image.serving(DA_METRICS_TOKEN=TOKEN) as server,
        prometheus(tmp_path, web_port=server.port) as client,
    ):

        def health() -> set[str]:
            targets = query(client, "/targets") or {"activeTargets": []}
            return {target["health"] for target in targets["activeTargets"]}

        def states() -> dict[str, str]:
            groups = (query(client, "/rules") or {"groups": []})["groups"]
            rules = [rule for group in groups for rule in group["rules"]]
            are_evaluated = rules and all(rule["health"] == "ok" for rule in rules)
            return {rule["name"]: rule["state"] for rule in rules} if are_evaluated else {}

        eventually(lambda: health() == {"up"})
        # There is no backup yet, and nothing runs the chores.
        eventually(lambda: states().get("NobodyDoesTheChores") == "pending")
        alerts = states()
        for alert in ("BackupIsOld", "NobodyDoesJobs", "NobodyKeepsTheSchedule"):
            assert alerts[alert] == "pending"
        for alert in ("PlatformIsDown", "RequestsFail", "JobsFail"):
            assert alerts[alert] == "inactive"
        [manager] = query(client, "/alertmanagers")["activeAlertmanagers"]
        assert manager["url"] == "http://alertmanager:9093/api/v2/alerts"
