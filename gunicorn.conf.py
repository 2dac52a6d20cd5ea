"""How gunicorn serves the platform; flags on the command line win over this."""

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import environ

_folder = Path(__file__).resolve().parent
# As the settings do, which are loaded later: the process environment wins over the file.
environ.Env.read_env(os.environ.get("DA_ENV_FILE", _folder / ".env"))

# Where the processes of this server keep their counts for /metrics, each in files of its own. Set
# before the application is loaded. A restarted server begins at zero, as Prometheus expects.
_own_folder = None
if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
    _own_folder = tempfile.mkdtemp(prefix="da-metrics-")
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = _own_folder

wsgi_app = "da_platform.wsgi"
workers = int(os.environ.get("WEB_CONCURRENCY", 2))
threads = int(os.environ.get("WEB_THREADS", 2))
worker_class = "gthread"
# The folder itself, not a link that leads to another release tomorrow: what is loaded late is of the same one.
# First on the path, where gunicorn has put the link if it was started by that name.
chdir = str(_folder)
sys.path.insert(0, chdir)
# One socket for all processes: sockets of their own would take waiting connections with them when they end.
reuse_port = False
preload_app = False
keepalive = 15
timeout = 60
graceful_timeout = 20
accesslog = None
loglevel = os.environ.get("DA_LOG_LEVEL", "warning").lower()
_log_format = os.environ.get("DA_LOG_FORMAT", "LINE").upper()
if _log_format == "JSON":
    # As the platform's own lines: an object each, and of an address that failed no word.
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
# Nobody steers it but the service manager, and it would want a folder to write in.
control_socket_disable = True
# By default, forwarded addresses are accepted only from a proxy on this machine.
forwarded_allow_ips = os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1")


def on_exit(server: Any) -> None:
    if _own_folder:
        shutil.rmtree(_own_folder, ignore_errors=True)
