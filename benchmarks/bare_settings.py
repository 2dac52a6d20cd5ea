"""Django with the platform's database and middleware, and nothing else of it: how little a process can hold."""

from da_platform.settings import *  # noqa: F403

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
]
ROOT_URLCONF = "benchmarks.bare_urls"
