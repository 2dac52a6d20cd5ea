import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "da_platform.settings")

# With which gunicorn does not start its process again.
BOOT_ERROR = 3

try:
    application = get_wsgi_application()
except ImproperlyConfigured as error:
    # JSON logs leave out the messages of exceptions. This one names a variable and never its value.
    print(f"The platform cannot start: {error}", file=sys.stderr)
    sys.exit(BOOT_ERROR)

# Loaded now, which takes seconds, and not while the first visitor of each process waits.
from . import celery, urls  # noqa: E402, F401
