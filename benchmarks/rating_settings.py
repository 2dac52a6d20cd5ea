"""The platform's production settings, with bare views behind its middleware to compare with."""

from da_platform.settings import *  # noqa: F403

ROOT_URLCONF = "benchmarks.rating_urls"
# Nobody looks at the pages, so static files need not be collected.
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
