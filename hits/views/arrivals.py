"""How workers arrive: invite links, links from providers, and Prolific's webhook."""

import json
import logging
from datetime import UTC, datetime
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils import translation
from django.utils.translation import gettext, gettext_noop
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_POST

from ..exceptions import ArrivalRefused, ProviderFailed, TooOften
from ..languages import direction
from ..models import Recruitment
from ..people.access import View, for_anyone, for_workers
from ..people.guards import check_arrival, page_of
from ..recruiting.arrivals import admit, hear_event
from ..recruiting.invites import invite_with
from ..recruiting.providers import provider_for
from ..recruiting.providers.base import ReportedSubmission
from ..recruiting.providers.prolific import is_fresh, is_signed, status_named
from ..recruiting.visitors import (
    COOKIE,
    admitted_as,
    remember_invite,
    remember_worker,
    signed_arrivals,
)

logger = logging.getLogger(__name__)

TOO_OFTEN = gettext_noop("Too many requests. Please wait a few minutes and try again.")
UNAVAILABLE = gettext_noop(
    "The service is temporarily unavailable. Please try again in a few minutes."
)

MAX_EVENT_BYTES = 100_000


class SeeOther(HttpResponseRedirect):
    """Redirect with a GET request, whatever the method of this one."""

    status_code = 303


def show_refusals(view: View) -> View:
    """Turn the exceptions that an arrival may raise into a page for the visitor."""

    @wraps(view)
    def inner(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except ArrivalRefused as error:
            logger.warning("Refused an arrival at %s: %s", page_of(request), error)
            return _refused(request, gettext(str(error)), status=404)
        except ProviderFailed as error:
            logger.error("An arrival at %s could not be checked: %s", page_of(request), error)
            return _refused(request, gettext(UNAVAILABLE), status=503)
        except TooOften as error:
            logger.warning("Rate limit exceeded at %s.", page_of(request))
            response = _refused(request, gettext(TOO_OFTEN), status=429)
            response["Retry-After"] = str(error.seconds)
            return response

    return inner


def _refused(request: HttpRequest, message: str, *, status: int) -> HttpResponse:
    language = translation.get_language() or "en"
    context = {
        "message": message,
        "page_language": language,
        "page_direction": direction(language),
    }
    return render(request, "hits/refused.html", context, status=status)


def arrive(request: HttpRequest, recruitment: Recruitment) -> HttpResponse | None:
    """Admit a worker sent by a provider; return None if the parameters do not identify one."""
    if not request.GET:
        return None
    provider = provider_for(recruitment)
    parameters = {name: values[0] for name, values in request.GET.lists() if len(values) == 1}
    arrival = provider.recognise(parameters, url=request.build_absolute_uri())
    if arrival is None:
        return None
    check_arrival(request)
    known_as = admitted_as(request, recruitment.campaign)
    worker = admit(recruitment=recruitment, arrival=arrival, known_as=known_as)
    # Redirect, so that worker ids do not stay in the address bar.
    response = SeeOther(recruitment.campaign.get_absolute_url())
    signed = signed_arrivals(request, worker)
    if arrival.is_verified:
        signed = [*signed, recruitment.campaign.code]
    remember_worker(response, worker, signed_arrivals=signed)
    return response


@require_GET
@for_workers
@show_refusals
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Exchange an invite link for a cookie, and take it out of the address bar."""
    check_arrival(request)
    with translation.override(translation.get_language_from_request(request)):
        invite = invite_with(token)
    response = redirect(invite.campaign)
    if invite.worker:
        remember_worker(response, invite.worker)
        return response
    # The invite is not used up yet: a mail program may open the link before its reader does.
    remember_invite(response, invite)
    if invite.is_personal:
        response.delete_cookie(COOKIE, samesite="Lax")
    return response


@csrf_exempt
@require_POST
@for_anyone
def prolific_hook(request: HttpRequest) -> HttpResponse:
    """Accept status changes of submissions from Prolific: signed, recent, and each only once."""
    timestamp = request.headers.get("X-Prolific-Request-Timestamp", "")
    signature = request.headers.get("X-Prolific-Request-Signature", "")
    if int(request.headers.get("Content-Length") or 0) > MAX_EVENT_BYTES:
        return HttpResponse("Too long.", status=413, content_type="text/plain; charset=utf-8")
    if not is_signed(request.body, timestamp=timestamp, signature=signature):
        logger.warning("Refused a message to the Prolific webhook: bad signature.")
        return HttpResponse("Not signed.", status=400, content_type="text/plain; charset=utf-8")
    if not is_fresh(timestamp):
        logger.warning("Refused a message to the Prolific webhook: too old.")
        return HttpResponse("Too old.", status=400, content_type="text/plain; charset=utf-8")
    try:
        event = json.loads(request.body)
        if event["event_type"] != "submission.status.change":
            return HttpResponse(status=204)
        report = ReportedSubmission(
            reference=str(event["resource_id"]),
            external_id=str(event["participant_id"]),
            status=status_named(str(event["status"])),
        )
    except (ValueError, KeyError, TypeError, ProviderFailed) as error:
        logger.warning("Refused a message to the Prolific webhook: %s", error)
        return HttpResponse("Not understood.", status=400, content_type="text/plain; charset=utf-8")
    hear_event(
        provider=Recruitment.Provider.PROLIFIC,
        # A signature is unique to its message, so it serves as an id where there is none.
        event_id=request.headers.get("X-Event-ID", "")[:200] or signature[:200],
        study=str(event.get("study_id") or ""),
        report=report,
        at=datetime.fromtimestamp(float(timestamp), tz=UTC),
    )
    return HttpResponse(status=204)
