"""The environment: its file, the names that are known, their values, and secrets that are too weak to start with.

Messages name variables, files and lines, but never the value of a secret.
"""

import os
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path

import environ
from django.core.exceptions import ImproperlyConfigured

# Secrets, which may also be in the file named by NAME_FILE.
SECRETS = frozenset(
    {
        "DATABASE_URL",
        "DA_BROKER_URL",
        "DA_EMAIL_URL",
        "DA_METRICS_TOKEN",
        "DA_PANEL_SECRETS",
        "DA_PROLIFIC_API_TOKEN",
        "DA_PROLIFIC_WEBHOOK_SECRET",
        "DA_REPLICA_URL",
        "DA_SECRET_KEY",
        "DA_SECRET_KEY_FALLBACKS",
    }
)
# All variables that the platform reads, as in `.env.example`.
VARIABLES = SECRETS | {
    "DA_ALLOWED_HOSTS",
    "DA_ARRIVALS_PER_ADDRESS",
    "DA_BACKUP_DIR",
    "DA_BEHIND_PROXY",
    "DA_CLAIMS_PER_WORKER",
    "DA_CONN_MAX_AGE",
    "DA_CSRF_TRUSTED_ORIGINS",
    "DA_DATA_DIR",
    "DA_DEBUG",
    "DA_EMAIL_FROM",
    "DA_EXIT_HOSTS",
    "DA_FORGET_WORKERS_AFTER_DAYS",
    "DA_HSTS_SECONDS",
    "DA_JOB_MAX_SECONDS",
    "DA_JOB_STALE_SECONDS",
    "DA_LOGINS_PER_ADDRESS",
    "DA_LOG_FORMAT",
    "DA_LOG_LEVEL",
    "DA_MAX_FILE_LINES",
    "DA_MAX_OUTPUTS",
    "DA_MAX_READING_SECONDS",
    "DA_MAX_REQUEST_BYTES",
    "DA_MTURK_ENDPOINT",
    "DA_MTURK_FRAME_ORIGINS",
    "DA_MTURK_SUBMIT_ORIGINS",
    "DA_PASSWORD_WORDS",
    "DA_PAYMENT_GRACE_SECONDS",
    "DA_PG_BIN_DIR",
    "DA_POOLED_CONNECTIONS",
    "DA_ORGANISER",
    "DA_PRIVACY_CONTACT",
    "DA_PROLIFIC_API_URL",
    "DA_PROLIFIC_APP_URL",
    "DA_PROLIFIC_KEYS_URL",
    "DA_REQUIRE_TWO_FACTOR",
    "DA_RESETS_PER_ADDRESS",
    "DA_RESETS_PER_MAILBOX",
    "DA_SESSION_HOURS",
    "DA_SESSION_IDLE_MINUTES",
    "DA_SSL_REDIRECT",
    "DA_VISIBILITY_SECONDS",
    "FORWARDED_ALLOW_IPS",
    "PROMETHEUS_MULTIPROC_DIR",
    "WEB_CONCURRENCY",
    "WEB_THREADS",
}
# Read by others in the same environment: the proxy, the client's examples, tests.
OTHERS = frozenset(
    {"DA_ENV_FILE", "DA_WEB", "DA_ADDRESS", "DA_TOKEN", "DA_CHROMIUM", "DA_REPLICATION_DATA"}
)
# Names that begin like this are for tests.
FOR_TESTS = "DA_TEST_"

# The file --------------------------------------------------------------------------------------

_ASSIGNMENT = re.compile(r"(?:export )?([A-Za-z_0-9]+)=(.*)")


def read_env_file(default: Path) -> None:
    """Read the file named by DA_ENV_FILE, or the default if it exists, into the environment, which wins."""
    named = os.environ.get("DA_ENV_FILE", "")
    path = Path(named) if named else default
    if not named and not path.exists():
        return
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ImproperlyConfigured(f"{path} cannot be read: {error.strerror}.") from error
    for number, line in enumerate(content.split(b"\n"), start=1):
        if fault := _fault_in_line(line.removesuffix(b"\r")):
            raise ImproperlyConfigured(f"{path}, line {number}: {fault}.")
    environ.Env.read_env(path)


def _fault_in_line(line: bytes) -> str | None:
    try:
        text = line.decode()
    except UnicodeDecodeError:
        return "is not UTF-8"
    if "\x00" in text:
        return "contains a NUL character"
    if not text.strip() or text.lstrip().startswith("#"):
        return None
    assignment = _ASSIGNMENT.fullmatch(text)
    if assignment is None:
        return "must be NAME=value, without spaces before the equals sign"
    name, value = assignment.groups()
    if value[:1] in {"'", '"'} and (len(value.rstrip()) < 2 or value.rstrip()[-1] != value[0]):
        return f"the value of {name} begins with a quote that is not closed"
    return None


# Names -----------------------------------------------------------------------------------------


def check_names(names: Iterable[str]) -> None:
    """Refuse names that begin like ours but are not known: most likely they are misspelt."""
    files = {f"{name}_FILE" for name in SECRETS}
    known = VARIABLES | files | OTHERS
    ours = sorted(name for name in names if name.startswith("DA_"))
    unknown = [name for name in ours if name not in known and not name.startswith(FOR_TESTS)]
    if unknown:
        raise ImproperlyConfigured(
            " ".join(
                f"{name} is not a known variable.{_suggestion(name, known)}" for name in unknown
            )
        )


def _suggestion(name: str, known: Iterable[str]) -> str:
    nearest = get_close_matches(name, sorted(known), n=1, cutoff=0.75)
    return f" Did you mean {nearest[0]}?" if nearest else " .env.example lists all of them."


# Values ----------------------------------------------------------------------------------------

env = environ.Env()


def flag(name: str, *, default: bool) -> bool:
    """Read a boolean variable. An invalid value is an error, not False."""
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


def secret(name: str) -> str:
    """Read a secret from its variable, or from the file named by NAME_FILE. Empty if neither is set.

    Vaults, systemd and containers provide secrets as files, which other processes cannot read.
    """
    # Not through `env`, which treats a value that begins with $ as the name of another variable.
    value, path = os.environ.get(name, ""), os.environ.get(f"{name}_FILE", "")
    if not path:
        return value
    if value:
        raise ImproperlyConfigured(f"{name} and {name}_FILE are both set. Set only one of them.")
    try:
        value = Path(path).read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ImproperlyConfigured(f"{name}_FILE: {path} cannot be read: {error}.") from error
    if not value:
        raise ImproperlyConfigured(f"{name}_FILE: {path} is empty.")
    return value


def named_secrets(name: str) -> dict[str, str]:
    """Read `first=its secret,second=its secret`. Campaigns refer to a secret by its name."""
    by_name = {}
    for pair in filter(None, secret(name).split(",")):
        key, _, value = pair.strip().partition("=")
        if not key or not value:
            # Without the value, which is a secret.
            raise ImproperlyConfigured(f"{name} must be a list of name=secret, comma-separated.")
        by_name[key] = value
    return by_name


# Secrets ---------------------------------------------------------------------------------------

# As many random hexadecimal digits have 128 bits.
MIN_KEY_LENGTH = 32
# For secrets shared with others, which may limit their length.
MIN_SECRET_LENGTH = 16
# A random key of the minimum length has more, almost certainly.
MIN_CHARACTERS = 8
PIECE_LENGTH = 4
# Parts of keys that everybody knows, from examples and generators.
PLACEHOLDERS = (
    "django-insecure",
    "changeme",
    "change-me",
    "change_me",
    "secret-key",
    "secret_key",
    "your-secret",
    "only-for-tests",
    "for-this-step-only",
    "long random string",
    "long-random-string",
    "example",
    "placeholder",
    "password",
)


def check_secrets(secrets: Mapping[str, Iterable[str]], *, min_length: int) -> None:
    """Refuse to start with a secret that can be guessed, naming its variable."""
    for name, values in secrets.items():
        for value in values:
            if fault := fault_in_secret(value, min_length=min_length):
                raise ImproperlyConfigured(
                    f"{name} {fault}. Set it to a long random string: "
                    "python -c 'import secrets; print(secrets.token_urlsafe(64))'"
                )


def fault_in_secret(secret: str, *, min_length: int) -> str | None:
    """Say why a secret is too weak, if it is."""
    secret = secret.strip()
    if len(secret) < min_length:
        return f"has fewer than {min_length} characters"
    if any(word in secret.lower() for word in PLACEHOLDERS):
        return "looks like an example, which others know too"
    if len(set(secret)) < MIN_CHARACTERS or _repeats(secret) or _counts_up(secret):
        return "is not random: it repeats itself or counts up"
    return None


def _repeats(secret: str) -> bool:
    """Whether half of its short pieces occur again. In a random one hardly any does."""
    pieces = [secret[i : i + PIECE_LENGTH] for i in range(len(secret) - PIECE_LENGTH + 1)]
    return 2 * len(set(pieces)) < len(pieces)


def _counts_up(secret: str) -> bool:
    """Whether most characters are next to the one before, as in `abcd` or `4321`."""
    steps = [abs(ord(a) - ord(b)) for a, b in zip(secret, secret[1:], strict=False)]
    return 2 * sum(step <= 1 for step in steps) > len(steps)
