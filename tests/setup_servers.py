"""Fetch Debian's nginx, Caddy, Prometheus and PgBouncer for the tests: `python -m tests.setup_servers`.

They are unpacked into the virtual environment and not installed, so no service starts and root is not needed.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(sys.prefix) / "servers"
PROXIES = ("nginx", "caddy")
# Servers and their libraries.
PACKAGES = {
    **{name: (name,) for name in (*PROXIES, "prometheus")},
    "pgbouncer": ("pgbouncer", "libc-ares2", "libevent-2.1-7"),
}
# The user of apt's sandbox could not write to our folder.
UNSANDBOXED = ("-o", "APT::Sandbox::User=root")


def server_path(name: str) -> str | None:
    """Return the path of a server, installed or fetched."""
    fetched = f"{FOLDER}/usr/sbin:{FOLDER}/usr/bin"
    return shutil.which(name) or shutil.which(name, path=fetched)


def fetch(names: tuple[str, ...]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["apt-get", "download", "-qq", *UNSANDBOXED, *names], cwd=folder, check=True)
        for package in Path(folder).glob("*.deb"):
            subprocess.run(["dpkg-deb", "--extract", package, FOLDER], check=True)


def main() -> None:
    missing = [name for name in PACKAGES if not server_path(name)]
    if not missing:
        return
    print(f"Fetching {', '.join(missing)} for the tests ...", flush=True)
    try:
        if os.geteuid() == 0:
            subprocess.run(["apt-get", "update", "-qq"], check=True)
        for name in missing:
            fetch(PACKAGES[name])
    except (OSError, subprocess.CalledProcessError) as error:
        # Not every machine is a Debian. The tests of these servers are skipped.
        print(f"Not fetched: {error}", flush=True)


if __name__ == "__main__":
    main()
