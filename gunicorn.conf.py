"""Gunicorn's configuration; command-line options override it."""

import gc
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

_folder = Path(__file__).resolve().parent
if (_folder / "da_platform").is_dir():
    # In a checkout. The real folder, not a link that may point to another release tomorrow, so that late imports
    # match. First on the path, where gunicorn has put the link if it was started by that name.
    chdir = str(_folder)
    sys.path.insert(0, chdir)

from da_platform.environment import read_env_file  # noqa: E402
from da_platform.places import env_file  # noqa: E402

try:
    # As in the settings, which are loaded later: the process environment overrides the file.
    read_env_file(env_file())
except ImproperlyConfigured as error:
    sys.exit(f"The platform cannot start: {error}")

# Where the server's processes keep their counts for /metrics, each in its own files. Set before the
# application is loaded. The counts of a restarted server begin at zero, as Prometheus expects.
_own_folder = None
if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
    _own_folder = tempfile.mkdtemp(prefix="da-metrics-")
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = _own_folder

wsgi_app = "da_platform.wsgi"
workers = int(os.environ.get("WEB_CONCURRENCY", 2))
threads = int(os.environ.get("WEB_THREADS", 2))
worker_class = "gthread"
# One socket for all processes: with `reuse_port`, a process that ends would drop its waiting connections.
reuse_port = False
preload_app = False
keepalive = 15
timeout = 60
graceful_timeout = 20
accesslog = None
loglevel = os.environ.get("DA_LOG_LEVEL", "warning").lower()
_log_format = os.environ.get("DA_LOG_FORMAT", "LINE").upper()
if _log_format == "JSON":
    # In the platform's format, one JSON object per line, and without the failing URL.
    logconfig_dict = {
        "formatters": {"generic": {"()": "da_platform.operation.logs.JsonFormatter"}},
        "loggers": {
            "gunicorn.error": {
                "level": loglevel.upper(),
                "handlers": ["error_console"],
                "propagate": False,
            },
        },
    }
# Only the service manager controls gunicorn, and the control socket needs a writable folder.
control_socket_disable = True
# By default, forwarded addresses are accepted only from a proxy on this machine.
forwarded_allow_ips = os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1")


def on_starting(server: Any) -> None:
    # Before it listens, while `da run` may still prepare the database.
    if descriptor := os.environ.pop("WAITS_FOR", ""):
        os.read(int(descriptor), 1)
        os.close(int(descriptor))


def pre_fork(server: Any, worker: Any) -> None:
    # With --preload, processes share the memory of what is loaded until they write to it, as the collector would.
    gc.freeze()


def on_exit(server: Any) -> None:
    if _own_folder:
        shutil.rmtree(_own_folder, ignore_errors=True)
