"""PgBouncer in transaction mode, as in docs/scaling.md, in front of a PostgreSQL of the tests."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tests.setup_servers import FOLDER, server_path
from tests.subprocesses import environment, free_port
from tests.waiting import eventually

# The platform's settings behind PgBouncer.
VARIABLES = {"DA_POOLED_CONNECTIONS": "1"}

CONFIGURATION = """
[databases]
* = host={host} port={server_port} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
admin_users = postgres
pool_mode = transaction
default_pool_size = {size}
max_client_conn = 1000
"""


def is_there() -> bool:
    return server_path("pgbouncer") is not None


@contextmanager
def pooler(host: str, server_port: int, *, size: int) -> Iterator[int]:
    """Start PgBouncer with this many connections for each database and yield its port."""
    path = server_path("pgbouncer")
    assert path
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="da-pooler-") as folder:
        configuration = Path(folder) / "pgbouncer.ini"
        configuration.write_text(
            CONFIGURATION.format(host=host, server_port=server_port, port=port, size=size)
        )
        # It refuses to run as root, and the socket may only be accessible to the server's user.
        owner = Path(host).owner() if host.startswith("/") else "nobody"
        user = ["-u", owner] if os.geteuid() == 0 else []
        libraries = ":".join(str(path) for path in (FOLDER / "usr/lib").glob("*-linux-gnu*"))
        process = subprocess.Popen(
            [path, "-q", *user, configuration], env=environment(LD_LIBRARY_PATH=libraries)
        )
        try:
            eventually(lambda: process.poll() is not None or _answers(port))
            assert process.poll() is None, "PgBouncer did not start"
            yield port
        finally:
            process.kill()
            process.wait()


def _answers(port: int) -> bool:
    try:
        psycopg.connect(f"postgres://postgres@127.0.0.1:{port}/postgres").close()
    except psycopg.OperationalError:
        return False
    return True
