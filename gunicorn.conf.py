"""How gunicorn serves the platform; flags on the command line win over this."""

import os

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
