"""How people come in: by invite link, from a provider, and what a provider tells us about them."""

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

from ..access import View, for_anyone, for_workers
from ..exceptions import ArrivalRefused, ProviderFailed, TooOften
from ..guards import check_arrival, page_of
from ..languages import direction
from ..models import Recruitment
from ..providers import provider_for
from ..providers.base import ReportedSubmission
from ..providers.prolific import is_fresh, is_signed, status_named
from ..recruiting.arrivals import admit, hear_event
from ..recruiting.invites import invite_with
from ..visitors import COOKIE, remember_invite, remember_worker, signed_arrivals

logger = logging.getLogger(__name__)

TOO_OFTEN = gettext_noop("Too many requests came just now. Please wait some minutes and try again.")
OUT_OF_REACH = gettext_noop(
    "Something is out of reach just now. Please try again in a few minutes."
)

MAX_EVENT_BYTES = 100_000


class SeeOther(HttpResponseRedirect):
    """Go there with a plain request, whatever this one was."""

    status_code = 303


def refuses_kindly(view: View) -> View:
    """Turn what a visitor cannot do into a page that says so."""

    @wraps(view)
    def inner(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except ArrivalRefused as error:
            logger.warning("Refused an arrival at %s: %s", page_of(request), error)
            return _refused(request, gettext(str(error)), status=404)
        except ProviderFailed as error:
            logger.error("An arrival at %s could not be checked: %s", page_of(request), error)
            return _refused(request, gettext(OUT_OF_REACH), status=503)
        except TooOften as error:
            logger.warning("Refused a rush at %s.", page_of(request))
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
    """Let someone in whom a provider sends; None if the parameters are nobody's arrival."""
    if not request.GET:
        return None
    provider = provider_for(recruitment)
    parameters = {name: values[0] for name, values in request.GET.lists() if len(values) == 1}
    arrival = provider.recognise(parameters, url=request.build_absolute_uri())
    if arrival is None:
        return None
    check_arrival(request)
    worker = admit(recruitment=recruitment, arrival=arrival)
    # Ids do not stay in the address bar, nor in what is copied from it.
    response = SeeOther(recruitment.campaign.get_absolute_url())
    signed = signed_arrivals(request, worker)
    if arrival.is_verified:
        signed = [*signed, recruitment.campaign.code]
    remember_worker(response, worker, signed_arrivals=signed)
    return response


@require_GET
@for_workers
@refuses_kindly
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Exchange an invite link for a cookie, and take it out of the address bar."""
    check_arrival(request)
    with translation.override(translation.get_language_from_request(request)):
        invite = invite_with(token)
    response = redirect(invite.campaign)
    if invite.worker:
        remember_worker(response, invite.worker)
        return response
    # Nothing is used up yet: a link may be opened by a mail program long before its reader.
    remember_invite(response, invite)
    if invite.is_personal:
        response.delete_cookie(COOKIE, samesite="Lax")
    return response


@csrf_exempt
@require_POST
@for_anyone
def prolific_hook(request: HttpRequest) -> HttpResponse:
    """Hear what Prolific says of a submission. Only what it has signed, freshly, and once."""
    timestamp = request.headers.get("X-Prolific-Request-Timestamp", "")
    signature = request.headers.get("X-Prolific-Request-Signature", "")
    if int(request.headers.get("Content-Length") or 0) > MAX_EVENT_BYTES:
        return HttpResponse("Too long.", status=413, content_type="text/plain; charset=utf-8")
    if not is_signed(request.body, timestamp=timestamp, signature=signature):
        logger.warning("Refused a message to Prolific's webhook: not signed.")
        return HttpResponse("Not signed.", status=400, content_type="text/plain; charset=utf-8")
    if not is_fresh(timestamp):
        logger.warning("Refused a message to Prolific's webhook: too old.")
        return HttpResponse("Too old.", status=400, content_type="text/plain; charset=utf-8")
    try:
        event = json.loads(request.body)
        if event["event_type"] != "submission.status.change":
            # Heard, and of no interest to us.
            return HttpResponse(status=204)
        report = ReportedSubmission(
            reference=str(event["resource_id"]),
            external_id=str(event["participant_id"]),
            status=status_named(str(event["status"])),
        )
    except (ValueError, KeyError, TypeError, ProviderFailed) as error:
        logger.warning("A message to Prolific's webhook makes no sense: %s", error)
        return HttpResponse("Not understood.", status=400, content_type="text/plain; charset=utf-8")
    hear_event(
        provider=Recruitment.Provider.PROLIFIC,
        # Each signature is of one message: as good as an id where there is none.
        event_id=request.headers.get("X-Event-ID", "")[:200] or signature[:200],
        study=str(event.get("study_id") or ""),
        report=report,
        at=datetime.fromtimestamp(float(timestamp), tz=UTC),
    )
    return HttpResponse(status=204)
