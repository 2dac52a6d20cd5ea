"""Run Debian's nginx and Caddy with the files of deploy/ in front of the platform, on free ports."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.operation.image import HOST
from tests.setup_servers import server_path
from tests.subprocesses import CHECKOUT, environment, free_port, running
from tests.waiting import eventually


@dataclass
class Proxy:
    name: str
    plain_port: int
    tls_port: int
    log: Path

    @property
    def origin(self) -> str:
        return f"https://{HOST}:{self.tls_port}"

    @property
    def written(self) -> str:
        """Everything it wrote: the access log, the error log and its output."""
        files = [*self.log.parent.glob("*.log"), self.log.parent / "output"]
        return "".join(file.read_text() for file in files)

    def browser(self, *, address: str = "127.0.0.1") -> httpx.Client:
        # The certificate is self-signed.
        transport = httpx.HTTPTransport(verify=False, local_address=address)
        return httpx.Client(base_url=self.origin, transport=transport, timeout=30)

    def plain(self, path: str) -> httpx.Response:
        return httpx.get(f"http://{HOST}:{self.plain_port}{path}")


@contextmanager
def running_proxy(name: str, *, folder: Path, web_port: int) -> Iterator[Proxy]:
    proxy = Proxy(name, free_port(), free_port(), folder / "access.log")
    path = server_path(name)
    assert path
    command, variables = _COMMANDS[name](proxy, folder, web_port)
    with (folder / "output").open("wb") as output:
        options = {"cwd": folder, "env": environment(**variables), "stdout": output}
        with running([path, *command], stderr=output, **options) as process:
            eventually(lambda: process.poll() is not None or _answers(proxy))
            assert process.poll() is None, f"{name} did not start; see {folder}/output"
            yield proxy


def _answers(proxy: Proxy) -> bool:
    try:
        with proxy.browser() as browser:
            # The proxy itself answers 404, whether or not the platform is up.
            return browser.get("/metrics").status_code == 404
    except httpx.TransportError:
        return False


def _nginx(proxy: Proxy, folder: Path, web_port: int) -> tuple[list[str], dict[str, str]]:
    site = (CHECKOUT / "deploy/nginx.conf").read_text()
    certificate, key = _certificate(folder)
    # An operator changes the same lines.
    for original, replacement in (
        ("listen 80;", f"listen 127.0.0.1:{proxy.plain_port};"),
        ("listen 443 ", f"listen 127.0.0.1:{proxy.tls_port} "),
        ("server_name da.example.org;", f"server_name {HOST};"),
        ("/etc/letsencrypt/live/da.example.org/fullchain.pem", str(certificate)),
        ("/etc/letsencrypt/live/da.example.org/privkey.pem", str(key)),
        ("server 127.0.0.1:8000 ", f"server 127.0.0.1:{web_port} "),
        ("/var/log/nginx/da-platform.log", str(proxy.log)),
        ("/var/log/nginx/da-platform-error.log", str(folder / "site-error.log")),
    ):
        assert original in site, original
        site = site.replace(original, replacement)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    config = folder / "nginx.conf"
    config.write_text(f"events {{}}\nhttp {{\n{temporary}{site}}}\n")
    # Started as root, nginx would switch to a user who cannot read this folder.
    user = "user root;" if os.geteuid() == 0 else ""
    options = f"daemon off; pid {folder}/pid; {user}"
    return ["-c", str(config), "-p", str(folder), "-e", f"{folder}/error.log", "-g", options], {}


def _certificate(folder: Path) -> tuple[Path, Path]:
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    openssl = shutil.which("openssl")
    assert openssl
    subject = ["-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}"]
    files = ["-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "1"]
    subprocess.run([openssl, "req", "-x509", *files, *subject], check=True, capture_output=True)
    return certificate, key


def _caddy(proxy: Proxy, folder: Path, web_port: int) -> tuple[list[str], dict[str, str]]:
    general = f"""
{{
    admin off
    skip_install_trust
    http_port {proxy.plain_port}
    https_port {proxy.tls_port}
"""
    original = (CHECKOUT / "deploy/Caddyfile").read_text()
    assert "output stdout" in original and original.count("\n{\n") == 1
    config = folder / "Caddyfile"
    config.write_text(
        original.replace("\n{\n", general).replace("output stdout", f"output file {proxy.log}")
    )
    variables = {
        "DA_ALLOWED_HOSTS": HOST,
        "DA_WEB": f"127.0.0.1:{web_port}",
        "XDG_DATA_HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
    }
    return ["run", "--config", str(config), "--adapter", "caddyfile"], variables


_COMMANDS: dict[str, Callable[[Proxy, Path, int], tuple[list[str], dict[str, str]]]] = {
    "nginx": _nginx,
    "caddy": _caddy,
}
