"""How gunicorn serves the platform; flags on the command line win over this."""

import os
import shutil
import tempfile
from typing import Any

# Where the processes of this server keep their counts for /metrics, each in files of its own. Set
# before the application is loaded. A server that is started anew begins at zero, as Prometheus expects.
_own_folder = None
if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
    _own_folder = tempfile.mkdtemp(prefix="da-metrics-")
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = _own_folder

wsgi_app = "da_platform.wsgi"
workers = int(os.environ.get("WEB_CONCURRENCY", 2))
threads = int(os.environ.get("WEB_THREADS", 2))
worker_class = "gthread"
# Each worker listens for itself; otherwise kept-alive connections can pile up on one of them.
reuse_port = True
# Loaded once, before the workers listen: no early request waits on a worker that is still loading.
preload_app = True
keepalive = 15
timeout = 60
graceful_timeout = 20
accesslog = None
loglevel = os.environ.get("DA_LOG_LEVEL", "warning").lower()
# Only a proxy on this machine is believed about addresses unless told otherwise.
forwarded_allow_ips = os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1")


def on_exit(server: Any) -> None:
    if _own_folder:
        shutil.rmtree(_own_folder, ignore_errors=True)
