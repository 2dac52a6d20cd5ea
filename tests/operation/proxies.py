"""Debian's nginx and Caddy with the files of deploy/, on ports of their own in front of the platform."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.operation.image import HOST
from tests.setup_servers import server_path
from tests.subprocesses import CHECKOUT, environment, free_port

START_SECONDS = 30.0


@dataclass
class Proxy:
    """A proxy that runs: where it answers, and what it wrote down."""

    name: str
    plain_port: int
    tls_port: int
    log: Path

    @property
    def origin(self) -> str:
        return f"https://{HOST}:{self.tls_port}"

    @property
    def written(self) -> str:
        """All that it wrote down, wherever: lines about requests, about errors, and its output."""
        files = [*self.log.parent.glob("*.log"), self.log.parent / "output"]
        return "".join(file.read_text() for file in files)

    def browser(self, *, address: str = "127.0.0.1") -> httpx.Client:
        # Certificates of an hour's life, which nobody has vouched for.
        transport = httpx.HTTPTransport(verify=False, local_address=address)
        return httpx.Client(base_url=self.origin, transport=transport, timeout=30)

    def plain(self, path: str) -> httpx.Response:
        return httpx.get(f"http://{HOST}:{self.plain_port}{path}")


@contextmanager
def running_proxy(name: str, *, folder: Path, web_port: int) -> Iterator[Proxy]:
    """Start a proxy in front of the platform at a port of this machine."""
    proxy = Proxy(name, free_port(), free_port(), folder / "access.log")
    path = server_path(name)
    assert path
    command, variables = _COMMANDS[name](proxy, folder, web_port)
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(
            [path, *command],
            cwd=folder,
            env=environment(**variables),
            stdout=output,
            stderr=output,
        )
        try:
            _wait_for(proxy, process)
            yield proxy
        finally:
            process.terminate()
            process.wait(timeout=30)


def _wait_for(proxy: Proxy, process: "subprocess.Popen[bytes]") -> None:
    ends_at = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < ends_at:
        try:
            with proxy.browser() as browser:
                # By its own word, whether or not the platform is there.
                if browser.get("/metrics").status_code == 404:
                    return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise RuntimeError(f"{proxy.name} did not serve; its words are in {proxy.log.parent}/output.")


def _nginx(proxy: Proxy, folder: Path, web_port: int) -> tuple[list[str], dict[str, str]]:
    site = (CHECKOUT / "deploy/nginx.conf").read_text()
    certificate, key = _certificate(folder)
    # What an operator adapts, too: name, certificate, and where things are.
    for ours, here in (
        ("listen 80;", f"listen 127.0.0.1:{proxy.plain_port};"),
        ("listen 443 ", f"listen 127.0.0.1:{proxy.tls_port} "),
        ("server_name da.example.org;", f"server_name {HOST};"),
        ("/etc/letsencrypt/live/da.example.org/fullchain.pem", str(certificate)),
        ("/etc/letsencrypt/live/da.example.org/privkey.pem", str(key)),
        ("server 127.0.0.1:8000 ", f"server 127.0.0.1:{web_port} "),
        ("/var/log/nginx/da-platform.log", str(proxy.log)),
        ("/var/log/nginx/da-platform-error.log", str(folder / "site-error.log")),
    ):
        assert ours in site, ours
        site = site.replace(ours, here)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    whole = folder / "nginx.conf"
    whole.write_text(f"events {{}}\nhttp {{\n{temporary}{site}}}\n")
    # Started by root it would give way to a user who has no business in our folder.
    user = "user root;" if os.geteuid() == 0 else ""
    general = f"daemon off; pid {folder}/pid; {user}"
    return ["-c", str(whole), "-p", str(folder), "-e", str(folder / "error.log"), "-g", general], {}


def _certificate(folder: Path) -> tuple[Path, Path]:
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    openssl = shutil.which("openssl")
    assert openssl
    named = ["-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}"]
    made = ["-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "1"]
    subprocess.run([openssl, "req", "-x509", *made, *named], check=True, capture_output=True)
    return certificate, key


def _caddy(proxy: Proxy, folder: Path, web_port: int) -> tuple[list[str], dict[str, str]]:
    general = f"""
{{
    admin off
    skip_install_trust
    http_port {proxy.plain_port}
    https_port {proxy.tls_port}
"""
    ours = (CHECKOUT / "deploy/Caddyfile").read_text()
    assert "output stdout" in ours and ours.count("\n{\n") == 1
    whole = folder / "Caddyfile"
    whole.write_text(
        ours.replace("\n{\n", general).replace("output stdout", f"output file {proxy.log}")
    )
    variables = {
        "DA_ALLOWED_HOSTS": HOST,
        "DA_WEB": f"127.0.0.1:{web_port}",
        "XDG_DATA_HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
    }
    return ["run", "--config", str(whole), "--adapter", "caddyfile"], variables


_COMMANDS: dict[str, Callable[[Proxy, Path, int], tuple[list[str], dict[str, str]]]] = {
    "nginx": _nginx,
    "caddy": _caddy,
}
