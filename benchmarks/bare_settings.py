"""Django alone, on the platform's database: no apps, no middleware, and all else as Django has it."""

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
