"""Settings. Those that differ between machines come from the environment; `.env.example` lists them all.

Secure by default: without any environment the process refuses to start, because debug is off and there is no
secret key. `DA_DEBUG=1` is for development on your own machine.
"""

import os
import secrets
import tempfile
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from da_platform.catalogues import catalogue_languages
from da_platform.environment import (
    MIN_KEY_LENGTH,
    MIN_SECRET_LENGTH,
    check_names,
    check_secrets,
    env,
    flag,
    named_secrets,
    one_of,
    read_env_file,
    secret,
    whole_number,
)
from da_platform.extras import is_installed, missing_extra
from da_platform.places import BASE_DIR, DEFAULT_DATA_DIR, IS_CHECKOUT, SHIPPED_DIR, env_file

# The process environment overrides the file.
read_env_file(env_file())
check_names(os.environ)


DEBUG = flag("DA_DEBUG", default=False)

# Everything the platform writes by default: database, queue and secret key.
DATA_DIR = Path(env.str("DA_DATA_DIR", default=str(DEFAULT_DATA_DIR)))


def secret_key() -> str:
    """Read the key from the environment; in development, generate one and store it for the next start."""
    if key := secret("DA_SECRET_KEY"):
        return key
    if not DEBUG:
        raise ImproperlyConfigured(
            "DA_SECRET_KEY is not set. Set it to a long random string, "
            "or set DA_DEBUG=1 for development on your own machine."
        )
    path = DATA_DIR / "secret_key"
    if not path.exists():
        make_key_file(path)
    if not (key := path.read_text().strip()):
        raise ImproperlyConfigured(f"{path} is empty. Delete it, and a new key is generated.")
    return key


def make_key_file(path: Path) -> None:
    """Write a new key, readable only by its owner. If processes start together, the first one wins."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Written to a temporary file and linked into place, so that nobody reads an incomplete or a second key.
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".secret_key-") as file:
        file.write(secrets.token_urlsafe(64))
        file.flush()
        with suppress(FileExistsError):
            os.link(file.name, path)


SECRET_KEY = secret_key()
SECRET_KEY_FALLBACKS = list(filter(None, secret("DA_SECRET_KEY_FALLBACKS").split(",")))
if not DEBUG:
    # Anyone who can guess a key, even an old one, can sign cookies and links.
    check_secrets(
        {"DA_SECRET_KEY": [SECRET_KEY], "DA_SECRET_KEY_FALLBACKS": SECRET_KEY_FALLBACKS},
        min_length=MIN_KEY_LENGTH,
    )

ALLOWED_HOSTS = env.list(
    "DA_ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"] if DEBUG else []
)
CSRF_TRUSTED_ORIGINS = env.list("DA_CSRF_TRUSTED_ORIGINS", default=[])

INSTALLED_APPS = [
    # Before hits, which removes their models from Django's admin site.
    "django_otp.plugins.otp_totp",
    "django_otp.plugins.otp_static",
    "hits",
    "analysis",
    "da_platform.jobs",
    "da_platform.operation",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.humanize",
    # Before staticfiles, so that whitenoise serves static files in development as in production.
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "csp",
    "axes",
]

MIDDLEWARE = [
    "da_platform.counting.count_responses",
    # Before anything that checks the host name.
    "da_platform.headers.answer_machines",
    "da_platform.headers.refuse_plain_calls",
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "da_platform.headers.guard_answers",
    # Before anything that reads bodies.
    "da_platform.bodies.BoundedBodies",
    # Before anything that reads cookies or builds URLs.
    "hits.recruiting.framing.FramedPages",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    # A user with a second factor is logged in only after it was checked.
    "hits.people.second_step.SecondStep",
    # Deny by default: public pages are marked with @login_not_required.
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    # Last: it replaces the response to a login that was refused.
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "da_platform.urls"
WSGI_APPLICATION = "da_platform.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [SHIPPED_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "hits.people.access.standing",
            ],
        },
    },
]

# Database ------------------------------------------------------------------------------------

SQLITE, POSTGRESQL = "django.db.backends.sqlite3", "django.db.backends.postgresql"


# PostgreSQL prepares a statement on a connection after this many uses.
PREPARE_AFTER = 5


def postgresql(config: dict[str, Any]) -> dict[str, Any]:
    if not is_installed("psycopg"):
        raise ImproperlyConfigured(f"DATABASE_URL: {missing_extra('postgresql')}")
    config |= {"ENGINE": "da_platform.postgresql", "CONN_HEALTH_CHECKS": True}
    if flag("DA_POOLED_CONNECTIONS", default=False):
        # A prepared statement may be gone in the next transaction, on another connection.
        return config | {"DISABLE_SERVER_SIDE_CURSORS": True}
    # With server-side binding PostgreSQL remembers plans instead of planning each rating.
    prepared = {"server_side_binding": True, "prepare_threshold": PREPARE_AFTER}
    return config | {"OPTIONS": config.get("OPTIONS", {}) | prepared}


def database() -> dict[str, Any]:
    config = env.db_url_config(secret("DATABASE_URL") or f"sqlite:///{DATA_DIR}/db.sqlite3")
    # Persistent, because opening a connection costs more than a rating.
    config["CONN_MAX_AGE"] = whole_number("DA_CONN_MAX_AGE", default=60)
    if config.get("ENGINE") == POSTGRESQL:
        return postgresql(config)
    if config.get("ENGINE") != SQLITE:
        # Without the value, which may contain a password.
        raise ImproperlyConfigured("DATABASE_URL must begin with postgres:// or sqlite:///.")
    Path(config["NAME"]).parent.mkdir(parents=True, exist_ok=True)
    # Concurrent writers wait instead of failing with "database is locked": a transaction takes the
    # write lock at its start, and readers are not blocked (WAL). A commit returns once it is on the disk (FULL):
    # with NORMAL, a power failure could lose ratings after the browser got "saved".
    options = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
    }
    return config | {"OPTIONS": config.get("OPTIONS", {}) | options}


def databases() -> dict[str, dict[str, Any]]:
    """The database, and its replica if there is one."""
    configs = {"default": database()}
    if url := secret("DA_REPLICA_URL"):
        replica = env.db_url_config(url)
        if replica.get("ENGINE") != POSTGRESQL or configs["default"]["ENGINE"] == SQLITE:
            raise ImproperlyConfigured(
                "DA_REPLICA_URL must begin with postgres://, and DATABASE_URL too."
            )
        # Not persistent: it is rarely used, and an old connection must not hide that the replica was replaced.
        configs["replica"] = postgresql(replica | {"CONN_MAX_AGE": 0})
    return configs


DATABASES = databases()

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Backups, and the folder of PostgreSQL's client programs if they are not on the path.
BACKUP_DIR = Path(env.str("DA_BACKUP_DIR", default="") or DATA_DIR / "backups")
PG_BIN_DIR = env.str("DA_PG_BIN_DIR", default="")

# Jobs ----------------------------------------------------------------------------------------

# Modules that register kinds of jobs. Loaded when the first job is started or run.
JOB_MODULES = ["analysis.job_kinds", "hits.job_kinds"]
# The table of what a job may belong to.
JOB_CAMPAIGN_MODEL = "hits.Campaign"
# Modules that register health checks and metrics.
MONITORING_MODULES = ["hits.monitoring"]
# A job without a sign of life for this long is restarted; one that waits this long is sent again.
JOB_STALE_SECONDS = whole_number("DA_JOB_STALE_SECONDS", default=60)
# A job that takes longer is stopped. Celery stops one that does not report.
JOB_MAX_SECONDS = whole_number("DA_JOB_MAX_SECONDS", default=21_600)
# How often a Celery worker gives a sign of life.
SIGN_SECONDS = 30
# How long a payment is left to the process that is sending it: longer than any call takes.
PAYMENT_GRACE_SECONDS = whole_number("DA_PAYMENT_GRACE_SECONDS", default=120)


def broker_url() -> str:
    url = secret("DA_BROKER_URL") or "folder://localhost"
    if url != "folder://localhost" and url.partition(":")[0] not in {
        "redis",
        "rediss",
        "redis+socket",
    }:
        raise ImproperlyConfigured("DA_BROKER_URL must be a redis:// address, or empty.")
    if url != "folder://localhost" and not is_installed("django_redis"):
        raise ImproperlyConfigured(f"DA_BROKER_URL: {missing_extra('redis')}")
    return url


CELERY_BROKER_URL = broker_url()
if CELERY_BROKER_URL == "folder://localhost":
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "folder": str(DATA_DIR / "queue"),
        "polling_interval": 0.1,
    }
    # The only worker need not exchange messages with others, which would be files.
    CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
else:
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        # A message that is not acknowledged for this long goes to another worker. It may be shorter than a
        # job takes: the job's row shows that it is running, and a second message does nothing.
        "visibility_timeout": whole_number("DA_VISIBILITY_SECONDS", default=3600),
        "unacked_restore_interval": 10,
        "unacked_restore_throttle": 1,
        "socket_connect_timeout": 1,
        "socket_timeout": 5,
        "socket_keepalive": True,
        # Only one attempt, so that submitting a HIT and /readyz do not wait for a broker that is down: the
        # schedule sends the message later.
        "max_retries": 1,
        "interval_start": 0,
        "interval_step": 0,
        "interval_max": 0,
    }
# Results are stored in the rows of jobs and evidence, so there is no result backend.
CELERY_TASK_IGNORE_RESULT = True
# A task is acknowledged when it is done, and goes to another worker if this one dies.
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# The first limit raises an exception in the job; the second kills the process.
CELERY_TASK_SOFT_TIME_LIMIT = JOB_MAX_SECONDS + 10
CELERY_TASK_TIME_LIMIT = JOB_MAX_SECONDS + 60
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE_FILENAME = str(DATA_DIR / "beat-schedule")

# Only for what is quick to recompute. A full cache folder is culled at random, so counts are in the database.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
        "LOCATION": str(DATA_DIR / "cache"),
    }
    if CELERY_BROKER_URL == "folder://localhost"
    else {
        "BACKEND": "django_redis.cache.RedisCache",
        "LOCATION": CELERY_BROKER_URL,
        "KEY_PREFIX": "da",
        "OPTIONS": {
            # A cache that is down counts as empty, which only makes pages slower.
            "IGNORE_EXCEPTIONS": True,
            "SOCKET_CONNECT_TIMEOUT": 1,
            "SOCKET_TIMEOUT": 1,
        },
    }
}

# The API -------------------------------------------------------------------------------------

NINJA_PAGINATION_PER_PAGE = 100
NINJA_PAGINATION_MAX_LIMIT = 1000
NINJA_PAGINATION_CLASS = "hits.api.pagination.Pages"

# Recruiting -------------------------------------------------------------------------------------

PROLIFIC_API_URL = env.str("DA_PROLIFIC_API_URL", default="https://api.prolific.com").rstrip("/")
PROLIFIC_APP_URL = env.str("DA_PROLIFIC_APP_URL", default="https://app.prolific.com").rstrip("/")
# Where Prolific publishes the keys that sign launches. Campaigns cannot change it, since the platform fetches it.
PROLIFIC_KEYS_URL = env.str(
    "DA_PROLIFIC_KEYS_URL", default=f"{PROLIFIC_API_URL}/.well-known/study/jwks.json"
)
# Secrets have no default: without them the service is off.
PROLIFIC_API_TOKEN = secret("DA_PROLIFIC_API_TOKEN")
PROLIFIC_WEBHOOK_SECRET = secret("DA_PROLIFIC_WEBHOOK_SECRET")
PANEL_SECRETS = named_secrets("DA_PANEL_SECRETS")
if not DEBUG:
    check_secrets({"DA_PANEL_SECRETS": PANEL_SECRETS.values()}, min_length=MIN_SECRET_LENGTH)
# Hosts, in addition to Prolific's, to which workers may be sent at the end.
EXIT_HOSTS = env.list("DA_EXIT_HOSTS", default=[])
# Limits per ten minutes. 0: no limit.
ARRIVALS_PER_ADDRESS = whole_number("DA_ARRIVALS_PER_ADDRESS", default=300)
CLAIMS_PER_WORKER = whole_number("DA_CLAIMS_PER_WORKER", default=60)

# People --------------------------------------------------------------------------------------

LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "home"

# A login ends after this long without use: a working day with its breaks, so that a screen left open overnight
# is logged out in the morning. It also ends after this long in any case, so that a stolen cookie is useful for
# a week at most. Use shorter times if more is at stake.
SESSION_ENGINE = "da_platform.sessions"
SESSION_COOKIE_AGE = 60 * whole_number("DA_SESSION_IDLE_MINUTES", default=720)
SESSION_MAX_SECONDS = 3600 * whole_number("DA_SESSION_HOURS", default=168)

AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
# Failed logins as one user, after which django-axes locks. Counted in the database, for all processes.
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=15)
# By user and address, so that a stranger elsewhere cannot lock anyone out of their account.
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_CLIENT_IP_CALLABLE = "hits.people.guards.client_address"
AXES_LOCKOUT_TEMPLATE = "registration/locked.html"
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
# Not stored with a failure, because the code might be a mistyped recovery code.
AXES_SENSITIVE_PARAMETERS = ["username", "ip_address", "code"]
# Limits per ten minutes: login attempts from one address, with any username, and password mails from one
# address and to one mailbox. 0: no limit.
LOGINS_PER_ADDRESS = whole_number("DA_LOGINS_PER_ADDRESS", default=30)
RESETS_PER_ADDRESS = whole_number("DA_RESETS_PER_ADDRESS", default=10)
RESETS_PER_MAILBOX = whole_number("DA_RESETS_PER_MAILBOX", default=3)

# Whether superusers and admins must have a second factor to open staff pages.
REQUIRE_TWO_FACTOR = flag("DA_REQUIRE_TWO_FACTOR", default=False)
OTP_TOTP_ISSUER = "DA Platform"
# Codes may be one step early or late. Clock drift is not tracked.
OTP_TOTP_SYNC = False

# How long password links are valid. Each works once.
PASSWORD_RESET_TIMEOUT = 3 * 24 * 60 * 60
PASSWORD_RESET_DAYS = PASSWORD_RESET_TIMEOUT // (24 * 60 * 60)

# Email for password resets: smtp://user:password@host:25, smtp+tls:// or smtp+ssl://. Without it the reset page
# is not offered; superusers can create a link instead.
MAIL_URL = secret("DA_EMAIL_URL") or ("consolemail://" if DEBUG else "")
CAN_SEND_MAIL = bool(MAIL_URL)
vars().update(env.email_url_config(MAIL_URL or "dummymail://"))
DEFAULT_FROM_EMAIL = env.str("DA_EMAIL_FROM", default="da-platform@localhost")

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
] + [{"NAME": "da_platform.passwords.KnownWordsValidator"}]
# Words that someone would guess first: the names of the platform, its hosts and its organisation.
PASSWORD_WORDS = [
    "platform",
    "assessment",
    "translation",
    "campaign",
    "prolific",
    "mturk",
    *(host for host in ALLOWED_HOSTS if len(host) > 3),
    *env.list("DA_PASSWORD_WORDS", default=[]),
]

# Uploads -------------------------------------------------------------------------------------

# Where admins' files wait until they are imported. Celery workers need access to the same folder.
UPLOADS_DIR = DATA_DIR / "uploads"
# Pictures, sounds and videos of campaigns. Web processes and Celery workers need the same folder; backups include it.
MEDIA_DIR = DATA_DIR / "media"
MAX_REQUEST_BYTES = whole_number("DA_MAX_REQUEST_BYTES", default=210_000_000)
DATA_UPLOAD_MAX_NUMBER_FILES = 510
# Limits for every file (campaigns, scores, collections, results), and for a campaign's outputs (systems times segments).
MAX_FILE_LINES = whole_number("DA_MAX_FILE_LINES", default=5_000_000)
MAX_READING_SECONDS = whole_number("DA_MAX_READING_SECONDS", default=600)
MAX_OUTPUTS = whole_number("DA_MAX_OUTPUTS", default=5_000_000)
# Days after a worker's last activity until what identifies them is removed; 0: only on request. The privacy
# notice shows this and the contact.
FORGET_WORKERS_AFTER_DAYS = whole_number("DA_FORGET_WORKERS_AFTER_DAYS", default=365)
PRIVACY_CONTACT = env.str("DA_PRIVACY_CONTACT", default="")
# Who runs the campaigns, as workers see it. A campaign may name someone else.
ORGANISER = env.str("DA_ORGANISER", default="")

# Languages and time --------------------------------------------------------------------------

LANGUAGE_CODE = "en"
# One folder for all catalogues, so that `makemessages` finds it for `templates/` too.
LOCALE_PATHS = [BASE_DIR / "hits" / "locale"]
# The languages of worker pages; each campaign chooses one. Those with a catalogue, and English.
LANGUAGES = [("en", "English"), *catalogue_languages(LOCALE_PATHS[0])]
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True

# Mechanical Turk -----------------------------------------------------------------------------

MTURK_ENDPOINT = env.str(
    "DA_MTURK_ENDPOINT", default="https://mturk-requester.us-east-1.amazonaws.com"
)
# Who may show our pages in a frame, and where finished work may be posted.
MTURK_FRAME_ORIGINS = env.list(
    "DA_MTURK_FRAME_ORIGINS",
    default=["https://worker.mturk.com", "https://workersandbox.mturk.com"],
)
MTURK_SUBMIT_ORIGINS = env.list(
    "DA_MTURK_SUBMIT_ORIGINS",
    default=["https://www.mturk.com", "https://workersandbox.mturk.com"],
)

# Static files --------------------------------------------------------------------------------

STATIC_URL = "static/"
STATIC_ROOT = BASE_DIR / "staticfiles" if IS_CHECKOUT else DATA_DIR / "staticfiles"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
WHITENOISE_USE_FINDERS = DEBUG
# Only our own pages load them.
WHITENOISE_ALLOW_ALL_ORIGINS = False

# Security ------------------------------------------------------------------------------------

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF],
        "media-src": [SELF],
        "font-src": [SELF],
        "connect-src": [SELF],
        "manifest-src": [SELF],
        "form-action": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    },
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
# For every cookie. Browsers accept a cookie with this prefix only over HTTPS, from this host and for all paths,
# so that no other host of the domain can set one. Over plain HTTP they would accept none.
COOKIE_PREFIX = "" if DEBUG else "__Host-"
SESSION_COOKIE_NAME = f"{COOKIE_PREFIX}sessionid"
CSRF_COOKIE_NAME = f"{COOKIE_PREFIX}csrftoken"
# Scripts read the token from the page's form.
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
# In the session, not in a cookie, where the next user of the browser could read them.
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"

# The maximum size of a request; MAX_REQUEST_BYTES where files are accepted. Files have additional limits.
DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_SMALL_REQUEST_BYTES = 1_000_000
DATA_UPLOAD_MAX_NUMBER_FIELDS = 300
FILE_UPLOAD_PERMISSIONS = 0o600

# The token for /metrics; without one there is no access. Addresses are no proof: behind a proxy on the same
# machine every request comes from localhost.
METRICS_TOKEN = secret("DA_METRICS_TOKEN")
if METRICS_TOKEN and not DEBUG:
    check_secrets({"DA_METRICS_TOKEN": [METRICS_TOKEN]}, min_length=MIN_SECRET_LENGTH)

# TLS ends at the proxy. Plain HTTP is only for development.
SECURE_SSL_REDIRECT = flag("DA_SSL_REDIRECT", default=not DEBUG)
# Machines request these directly, not through the proxy.
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = not DEBUG
SECURE_HSTS_SECONDS = whole_number("DA_HSTS_SECONDS", default=0 if DEBUG else 31_536_000)
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = not DEBUG
BEHIND_PROXY = flag("DA_BEHIND_PROXY", default=False)
if BEHIND_PROXY:
    # Only if the proxy sets or removes this header on every request.
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

# Logs ----------------------------------------------------------------------------------------

LOG_LEVEL = one_of("DA_LOG_LEVEL", ("DEBUG", "INFO", "WARNING", "ERROR"), default="INFO")
# JSON for machines, one object per line without personal data; LINE for people at a terminal, with more detail.
LOG_FORMAT = one_of("DA_LOG_FORMAT", ("LINE", "JSON"), default="LINE" if DEBUG else "JSON").lower()
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        # In UTC like the JSON, whatever the machine's time zone: Django sets TIME_ZONE for the whole process.
        "line": {
            "()": "da_platform.operation.logs.LineFormatter",
            "format": "{asctime} {levelname} {name}: {message}",
            "style": "{",
        },
        "json": {"()": "da_platform.operation.logs.JsonFormatter"},
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT}},
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    "loggers": {
        # Otherwise Django's own handler would log everything twice in development.
        "django": {"handlers": [], "propagate": True},
        # Otherwise it logs every login.
        "axes": {"level": "WARNING"},
    },
}
