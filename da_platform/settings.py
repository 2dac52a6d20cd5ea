"""Settings. What differs between machines comes from the environment; `.env.example` lists it all.

Nothing here is open by default: with no environment at all the process refuses to start, because
debug is off and there is no secret key. `DA_DEBUG=1` is development on one's own machine.
"""

import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

BASE_DIR = Path(__file__).resolve().parent.parent

env = environ.Env()
# The process environment wins over the file.
env.read_env(os.environ.get("DA_ENV_FILE", BASE_DIR / ".env"))


def flag(name: str, *, default: bool) -> bool:
    """Read a yes-or-no variable; a value that is neither is an error, not a silent no."""
    value = env.str(name, default=str(default)).strip().lower()
    if value in {"1", "true", "yes", "on"}:
        return True
    if value in {"0", "false", "no", "off"}:
        return False
    raise ImproperlyConfigured(f"{name} must be 1 or 0, not {value!r}.")


def whole_number(name: str, *, default: int) -> int:
    value = env.str(name, default=str(default)).strip()
    if not value.isdecimal():
        raise ImproperlyConfigured(f"{name} must be a whole number, not {value!r}.")
    return int(value)


def one_of(name: str, choices: tuple[str, ...], *, default: str) -> str:
    value = env.str(name, default=default).strip().upper()
    if value not in choices:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(choices)}, not {value!r}.")
    return value


DEBUG = flag("DA_DEBUG", default=False)

# Everything the platform writes on the embedded default: database, queue and secret key.
DATA_DIR = Path(env.str("DA_DATA_DIR", default=str(BASE_DIR / "var")))


def secret_key() -> str:
    """Take the key from the environment; in development make one and keep it for the next start."""
    # Not through `env`, which takes a key that begins with $ for the name of another variable.
    if key := os.environ.get("DA_SECRET_KEY"):
        return key
    if not DEBUG:
        raise ImproperlyConfigured(
            "DA_SECRET_KEY is not set. Set it to a long random string, "
            "or set DA_DEBUG=1 for development on your own machine."
        )
    path = DATA_DIR / "secret_key"
    if not path.exists():
        make_key_file(path)
    return path.read_text()


def make_key_file(path: Path) -> None:
    """Write a new key, readable by its owner only. Of processes that start together the first one wins."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Written aside and linked into place whole, so that nobody reads an empty or a second key.
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".secret_key-") as file:
        file.write(secrets.token_urlsafe(64))
        file.flush()
        with suppress(FileExistsError):
            os.link(file.name, path)


SECRET_KEY = secret_key()
SECRET_KEY_FALLBACKS = env.list("DA_SECRET_KEY_FALLBACKS", default=[])

ALLOWED_HOSTS = env.list(
    "DA_ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"] if DEBUG else []
)
CSRF_TRUSTED_ORIGINS = env.list("DA_CSRF_TRUSTED_ORIGINS", default=[])

INSTALLED_APPS = [
    "hits",
    "analysis",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    # Before staticfiles: whitenoise serves static files in development too, as in production.
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "csp",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    # Deny by default: a page open to everyone says so with @login_not_required.
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "da_platform.urls"
WSGI_APPLICATION = "da_platform.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# Database ------------------------------------------------------------------------------------

SQLITE, POSTGRESQL = "django.db.backends.sqlite3", "django.db.backends.postgresql"


def database() -> dict[str, Any]:
    config = env.db_url_config(os.environ.get("DATABASE_URL") or f"sqlite:///{DATA_DIR}/db.sqlite3")
    # Opened once and used again: making a connection costs more than a rating does.
    config["CONN_MAX_AGE"] = whole_number("DA_CONN_MAX_AGE", default=60)
    if config.get("ENGINE") == POSTGRESQL:
        return config | {"CONN_HEALTH_CHECKS": True}
    if config.get("ENGINE") != SQLITE:
        # Without the value: it may hold a password.
        raise ImproperlyConfigured("DATABASE_URL must begin with postgres:// or sqlite:///.")
    Path(config["NAME"]).parent.mkdir(parents=True, exist_ok=True)
    # Simultaneous writers queue up instead of failing with "database is locked": a transaction
    # takes the write lock at its start, waits for it, and readers are not blocked (WAL).
    options = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
    return config | {"OPTIONS": config.get("OPTIONS", {}) | options}


DATABASES = {"default": database()}

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Jobs ----------------------------------------------------------------------------------------

# Modules that register kinds of jobs. Loaded when the first job is started or run.
JOB_MODULES = ["analysis.kinds"]
# A job without a sign of life for so long is started again; one that waits so long is sent again.
JOB_STALE_SECONDS = whole_number("DA_JOB_STALE_SECONDS", default=60)


def broker_url() -> str:
    url = env.str("DA_BROKER_URL", default="") or "folder://localhost"
    if url != "folder://localhost" and url.partition(":")[0] not in {
        "redis",
        "rediss",
        "redis+socket",
    }:
        raise ImproperlyConfigured("DA_BROKER_URL must be a redis:// address, or empty.")
    return url


CELERY_BROKER_URL = broker_url()
if CELERY_BROKER_URL == "folder://localhost":
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "folder": str(DATA_DIR / "queue"),
        "polling_interval": 0.1,
    }
    # One worker on one machine: nobody to talk to, and each word would be a file.
    CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
else:
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        # A message not acknowledged for so long goes to another worker. It may be shorter than a
        # job: the job's row knows who is at work on it, and a second message changes nothing.
        "visibility_timeout": whole_number("DA_VISIBILITY_SECONDS", default=3600),
        "unacked_restore_interval": 10,
        "unacked_restore_throttle": 1,
        "socket_connect_timeout": 1,
        "socket_timeout": 5,
        "socket_keepalive": True,
    }
# The rows of jobs and evidence are the results: there is no other store to disagree with them.
CELERY_TASK_IGNORE_RESULT = True
# A task is taken off the queue when it is done, and given to another worker if this one dies.
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE_FILENAME = str(DATA_DIR / "beat-schedule")

# People --------------------------------------------------------------------------------------

LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "home"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

# Languages and time --------------------------------------------------------------------------

LANGUAGE_CODE = "en"
# What workers' pages are translated into; each campaign chooses one.
LANGUAGES = [
    ("en", "English"),
    ("de", "Deutsch"),
    ("es", "Español"),
    ("fr", "Français"),
    ("cs", "Čeština"),
    ("ru", "Русский"),
    ("zh-hans", "中文"),
    ("ar", "العربية"),
]
# One place for all catalogues, so that `makemessages` finds it for `templates/` too.
LOCALE_PATHS = [BASE_DIR / "hits" / "locale"]
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True

# Static files --------------------------------------------------------------------------------

STATIC_URL = "static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
WHITENOISE_USE_FINDERS = DEBUG

# Security ------------------------------------------------------------------------------------

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF],
        "font-src": [SELF],
        "connect-src": [SELF],
        "manifest-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    },
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"

# TLS ends at the proxy or is not there at all: plain http is for development.
SECURE_SSL_REDIRECT = flag("DA_SSL_REDIRECT", default=not DEBUG)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = not DEBUG
SECURE_HSTS_SECONDS = whole_number("DA_HSTS_SECONDS", default=0 if DEBUG else 31_536_000)
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = not DEBUG
if flag("DA_BEHIND_PROXY", default=False):
    # Only when the proxy sets or removes this header on every request.
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

# Logs ----------------------------------------------------------------------------------------

LOG_LEVEL = one_of("DA_LOG_LEVEL", ("DEBUG", "INFO", "WARNING", "ERROR"), default="INFO")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
}
