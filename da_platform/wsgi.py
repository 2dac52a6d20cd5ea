import os

from django.core.wsgi import get_wsgi_application

from . import celery  # noqa: F401  (loaded now, not while the first worker waits)

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "da_platform.settings")

application = get_wsgi_application()
