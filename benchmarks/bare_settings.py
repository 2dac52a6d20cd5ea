"""Plain Django on the platform's database: no apps, no middleware, and Django's defaults for everything else."""

from da_platform.settings import (  # noqa: F401
    ALLOWED_HOSTS,
    DATABASES,
    DEFAULT_AUTO_FIELD,
    SECRET_KEY,
)

INSTALLED_APPS: list[str] = []
MIDDLEWARE: list[str] = []
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates"}]
ROOT_URLCONF = "benchmarks.bare_urls"
