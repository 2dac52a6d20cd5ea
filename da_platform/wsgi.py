import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "da_platform.settings")

application = get_wsgi_application()

# Loaded now, which takes seconds, and not while the first visitor of each process waits.
from . import celery, urls  # noqa: E402, F401
