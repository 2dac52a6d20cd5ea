"""Rate limits, device marks, and the hosts that workers may be sent to."""

from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address, IPv6Address, ip_address
from secrets import token_urlsafe
from urllib.parse import urlsplit

from axes.handlers.proxy import AxesProxyHandler
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.crypto import salted_hmac

from ..exceptions import TooOften
from ..models import Campaign, DeviceSighting, RateCount, Worker

# How long a browser is recognised, by a worker's code or a device mark.
COOKIE_AGE_SECONDS = 180 * 24 * 60 * 60

# Rate limits ---------------------------------------------------------------------------------

WINDOW = timedelta(minutes=10)
MINUTE = timedelta(minutes=1)
# API calls per minute: enough for scripts that poll, too few to be a burden.
CALLS_PER_PERSON = 600
# Tokens cannot be guessed. This stops programs that keep using one that has ended.
WRONG_TOKENS_PER_ADDRESS = 60
# Counts are useless after their window; kept a little longer to investigate a burst.
KEPT = timedelta(days=1)

# One statement reads and writes, so that concurrent requests each see their own number.
_COUNT = """
    INSERT INTO hits_ratecount (key, began_at, n) VALUES (%s, %s, 1)
    ON CONFLICT (key, began_at) DO UPDATE SET n = hits_ratecount.n + 1
    RETURNING n
"""


def check_arrival(request: HttpRequest) -> None:
    """Count an arrival from the visitor's address; raise `TooOften` beyond the limit."""
    _check("arrival", str(address_of(request)), limit=settings.ARRIVALS_PER_ADDRESS)


def check_claim(worker: Worker) -> None:
    """Count a worker's request for a HIT; raise `TooOften` beyond the limit."""
    _check("claim", str(worker.code), limit=settings.CLAIMS_PER_WORKER)


def check_login(request: HttpRequest) -> None:
    """Count a login attempt from the visitor's address, for any username; raise `TooOften` beyond the limit.

    django-axes counts attempts per username. This stops someone who tries one password with many usernames.
    """
    _check("login", str(address_of(request)), limit=settings.LOGINS_PER_ADDRESS)


def check_second_step(request: HttpRequest) -> None:
    """Count an attempt at the second step, by address; raise `TooOften` beyond the limit for logins."""
    _check("second step", str(address_of(request)), limit=settings.LOGINS_PER_ADDRESS)


def is_locked_out(request: HttpRequest, user: User) -> bool:
    """Whether django-axes has locked this user out from this address; if so, it handles the request."""
    request.axes_locked_out = not AxesProxyHandler.is_allowed(request, _credentials(user))  # type: ignore[attr-defined]
    return request.axes_locked_out  # type: ignore[attr-defined]


def count_wrong_code(request: HttpRequest, user: User) -> None:
    """Count a wrong code like a wrong password in django-axes, which may lock the user out."""
    AxesProxyHandler.user_login_failed(__name__, _credentials(user), request)


def _credentials(user: User) -> dict[str, str]:
    return {"username": user.get_username()}


def check_reset(request: HttpRequest) -> None:
    """Count a request for a password mail, by address; raise `TooOften` beyond the limit."""
    _check("reset", str(address_of(request)), limit=settings.RESETS_PER_ADDRESS)


def check_mail_to(email: str) -> None:
    """Count a password mail by recipient, from any address; raise `TooOften` beyond the limit."""
    _check("mail", email.casefold(), limit=settings.RESETS_PER_MAILBOX)


def check_call(person: User) -> None:
    """Count an API call by user, with any token; raise `TooOften` beyond the limit."""
    _check("call", str(person.pk), limit=CALLS_PER_PERSON, window=MINUTE)


def check_wrong_token(request: HttpRequest) -> None:
    """Count an invalid token, by address; raise `TooOften` beyond the limit."""
    _check("token", str(address_of(request)), limit=WRONG_TOKENS_PER_ADDRESS, window=MINUTE)


def _check(
    scope: str,
    subject: str,
    *,
    limit: int,
    window: timedelta = WINDOW,
    at: datetime | None = None,
) -> None:
    if not limit:
        return
    now = at or timezone.now()
    began_at = _window_of(now, window)
    key = salted_hmac(f"hits.rate.{scope}", subject, algorithm="sha256").hexdigest()
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, [key, connection.ops.adapt_datetimefield_value(began_at)])
        [n] = cursor.fetchone()
    if n > limit:
        raise TooOften(int((began_at + window - now).total_seconds()) + 1)


def _window_of(moment: datetime, window: timedelta) -> datetime:
    seconds = window.total_seconds()
    return datetime.fromtimestamp(moment.timestamp() // seconds * seconds, tz=UTC)


def forget_counts(*, at: datetime | None = None) -> int:
    """Delete the counts of windows that ended long ago."""
    return RateCount.objects.filter(began_at__lt=(at or timezone.now()) - KEPT).delete()[0]


def address_of(request: HttpRequest) -> IPv4Address | IPv6Address | None:
    """The visitor's address. In a forwarded list, only the last entry was written by our proxy."""
    claimed = request.META.get("REMOTE_ADDR", "")
    if settings.BEHIND_PROXY:
        claimed = request.headers.get("X-Forwarded-For", claimed).rpartition(",")[2].strip()
    try:
        address = ip_address(claimed)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def page_of(request: HttpRequest) -> str:
    """The requested page as logs may show it. The path itself may contain a secret.

    An invite's token opens a campaign, and the URL of a framed page identifies its worker for weeks. The
    code of a campaign or an assignment opens nothing by itself.
    """
    match = request.resolver_match
    assert match is not None
    code = match.kwargs.get("code")
    return f"{match.route} ({code})" if code else match.route


def client_address(request: HttpRequest) -> str:
    """The same as text, for django-axes."""
    return str(address_of(request) or "")


# Devices -------------------------------------------------------------------------------------

DEVICE_COOKIE = f"{settings.COOKIE_PREFIX}device"
# The part of an address that a household or an office shares.
PREFIX_BITS = {4: 24, 6: 48}


def note_device(
    request: HttpRequest, response: HttpResponse, *, worker: Worker, campaign: Campaign
) -> None:
    """Store which device a worker uses, as marks that reveal nothing by themselves, if the campaign records it."""
    if not campaign.records_signals:
        return
    device = request.COOKIES.get(DEVICE_COOKIE, "")
    if not 16 <= len(device) <= 64:
        device = token_urlsafe(16)
        response.set_cookie(
            DEVICE_COOKIE,
            device,
            max_age=COOKIE_AGE_SECONDS,
            httponly=True,
            samesite="Lax",
            secure=settings.SESSION_COOKIE_SECURE,
        )
    kinds = DeviceSighting.Kind
    marks = {kinds.COOKIE: device, kinds.ADDRESS: _surroundings(request)}
    sightings = [
        DeviceSighting(campaign=campaign, worker=worker, kind=kind, mark=_mark(campaign, value))
        for kind, value in marks.items()
    ]
    DeviceSighting.objects.bulk_create(sightings, ignore_conflicts=True)


def _surroundings(request: HttpRequest) -> str:
    address = address_of(request)
    if address is None:
        return request.headers.get("User-Agent", "")
    bits = address.max_prefixlen - PREFIX_BITS[address.version]
    return f"{int(address) >> bits} {request.headers.get('User-Agent', '')}"


def _mark(campaign: Campaign, value: str) -> str:
    # Keyed by the secret key and the campaign: nobody can try out addresses or compare campaigns.
    return salted_hmac(f"hits.device.{campaign.code}", value, algorithm="sha256").hexdigest()


def shared_devices(campaign: Campaign) -> QuerySet[DeviceSighting]:
    """Sightings of devices used by more than one worker, grouped by device."""
    shared = (
        campaign.device_sightings.values("kind", "mark")
        .annotate(n=Count("worker"))
        .filter(n__gt=1)
        .values("mark")
    )
    sightings = campaign.device_sightings.filter(mark__in=shared)
    return sightings.select_related("worker").order_by("-kind", "mark", "pk")


# Ways out ------------------------------------------------------------------------------------


def exit_origins() -> set[str]:
    """Where workers may be sent: Prolific, and the hosts listed in the settings."""
    hosts = [host if "://" in host else f"https://{host}" for host in settings.EXIT_HOSTS]
    return {_origin(url) for url in (settings.PROLIFIC_APP_URL, *hosts)}


def is_known_exit(url: str) -> bool:
    # Refuse URLs that browsers parse differently from us.
    if any(character in url for character in "\\\r\n\t ") or not url.isascii():
        return False
    try:
        parts = urlsplit(url)
        is_plain = parts.scheme in {"http", "https"} and "@" not in parts.netloc
        return is_plain and _origin(url) in exit_origins()
    except ValueError:
        return False


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()
