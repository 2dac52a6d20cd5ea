"""Rate limits, device marks, and the list of allowed exits."""

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

# How long a browser is known again, by a worker's code or by the mark of the device.
COOKIE_AGE_SECONDS = 180 * 24 * 60 * 60

# Rate limits ---------------------------------------------------------------------------------

WINDOW = timedelta(minutes=10)
MINUTE = timedelta(minutes=1)
# Calls of the API in a minute: enough for scripts that poll, too few to be a burden.
CALLS_PER_PERSON = 600
# Nobody hits upon a token. It is for programs that go on with one that has ended.
WRONG_TOKENS_PER_ADDRESS = 60
# Counts are of no use once their window is over; kept a little longer for anyone looking into a rush.
KEPT = timedelta(days=1)

# Read and written in one statement: simultaneous requests each see their own number.
_COUNT = """
    INSERT INTO hits_ratecount (key, began_at, n) VALUES (%s, %s, 1)
    ON CONFLICT (key, began_at) DO UPDATE SET n = hits_ratecount.n + 1
    RETURNING n
"""


def check_arrival(request: HttpRequest) -> None:
    """Count an arrival from the visitor's address; raise `TooOften` above the limit."""
    _check("arrival", str(address_of(request)), limit=settings.ARRIVALS_PER_ADDRESS)


def check_claim(worker: Worker) -> None:
    """Count that a worker asks for a HIT; raise `TooOften` beyond the limit."""
    _check("claim", str(worker.code), limit=settings.CLAIMS_PER_WORKER)


def check_login(request: HttpRequest) -> None:
    """Count a try to log in from the visitor's address, whatever the name; raise `TooOften` beyond the limit.

    django-axes counts attempts at one name. This stops someone who tries one password at many names.
    """
    _check("login", str(address_of(request)), limit=settings.LOGINS_PER_ADDRESS)


def check_second_step(request: HttpRequest) -> None:
    """Count a code given after the password, by address; raise `TooOften` beyond the limit for logins."""
    _check("second step", str(address_of(request)), limit=settings.LOGINS_PER_ADDRESS)


def is_locked_out(request: HttpRequest, user: User) -> bool:
    """Whether django-axes lets nobody in as this person from here; if so, it answers the request."""
    request.axes_locked_out = not AxesProxyHandler.is_allowed(request, _credentials(user))  # type: ignore[attr-defined]
    return request.axes_locked_out  # type: ignore[attr-defined]


def count_wrong_code(request: HttpRequest, user: User) -> None:
    """Let a wrong code count like a wrong password for django-axes, which may lock."""
    AxesProxyHandler.user_login_failed(__name__, _credentials(user), request)


def _credentials(user: User) -> dict[str, str]:
    return {"username": user.get_username()}


def check_reset(request: HttpRequest) -> None:
    """Count a request for a mail that sets a password, by address; raise `TooOften` beyond the limit."""
    _check("reset", str(address_of(request)), limit=settings.RESETS_PER_ADDRESS)


def check_mail_to(email: str) -> None:
    """Count a mail to somebody, from wherever it was asked for; raise `TooOften` beyond the limit."""
    _check("mail", email.casefold(), limit=settings.RESETS_PER_MAILBOX)


def check_call(person: User) -> None:
    """Count a call of the API by a person, whatever the token; raise `TooOften` beyond the limit."""
    _check("call", str(person.pk), limit=CALLS_PER_PERSON, window=MINUTE)


def check_wrong_token(request: HttpRequest) -> None:
    """Count a token that is none, by address; raise `TooOften` beyond the limit."""
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
    """Delete the counts of windows that are long over."""
    return RateCount.objects.filter(began_at__lt=(at or timezone.now()) - KEPT).delete()[0]


def address_of(request: HttpRequest) -> IPv4Address | IPv6Address | None:
    """The visitor's address. Of what a proxy forwards only the last entry is the proxy's own word."""
    claimed = request.META.get("REMOTE_ADDR", "")
    if settings.BEHIND_PROXY:
        claimed = request.headers.get("X-Forwarded-For", claimed).rpartition(",")[2].strip()
    try:
        address = ip_address(claimed)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def page_of(request: HttpRequest) -> str:
    """The page that is asked for, as logs may name it: the path itself may hold a key to it.

    An invite's token opens a campaign, and an address in a frame is its worker's for weeks. The code
    of a campaign or an assignment opens nothing by itself.
    """
    match = request.resolver_match
    assert match is not None
    code = match.kwargs.get("code")
    return f"{match.route} ({code})" if code else match.route


def client_address(request: HttpRequest) -> str:
    """The same as text, for what counts logins."""
    return str(address_of(request) or "")


# Devices -------------------------------------------------------------------------------------

DEVICE_COOKIE = f"{settings.COOKIE_PREFIX}device"
# The part of an address that a household or an office shares.
PREFIX_BITS = {4: 24, 6: 48}


def note_device(
    request: HttpRequest, response: HttpResponse, *, worker: Worker, campaign: Campaign
) -> None:
    """Remember with which device a worker works: as marks that tell nothing by themselves."""
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
    # Keyed by the secret key and by the campaign: nobody can try out addresses, nor compare campaigns.
    return salted_hmac(f"hits.device.{campaign.code}", value, algorithm="sha256").hexdigest()


def shared_devices(campaign: Campaign) -> QuerySet[DeviceSighting]:
    """The sightings whose device was seen with more than one worker, device by device."""
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
    """Where workers may be sent: Prolific, and the hosts that the settings list."""
    hosts = [host if "://" in host else f"https://{host}" for host in settings.EXIT_HOSTS]
    return {_origin(url) for url in (settings.PROLIFIC_APP_URL, *hosts)}


def is_known_exit(url: str) -> bool:
    # What browsers read differently from us is not let through.
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
