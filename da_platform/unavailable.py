"""The response to an error that no view handled: 503 while the database is away, otherwise 500."""

import sqlite3
import sys

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template import loader
from django.views.defaults import server_error

# About how long a database takes to restart. Browsers that rate try again sooner by themselves.
RETRY_SECONDS = 10

MESSAGE = "The platform is temporarily unavailable. Please try again in a minute."


def is_away(error: BaseException | None) -> bool:
    """Whether the database is gone, locked, full or read only, and not the query wrong."""
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    # SQLite calls a wrong query an operational error too.
    code = getattr(error.__cause__, "sqlite_errorcode", None)
    return code != sqlite3.SQLITE_ERROR


def error_page(request: HttpRequest) -> HttpResponse:
    """Django's `handler500`, called while the error is being handled. It uses no database."""
    if not is_away(sys.exc_info()[1]):
        return server_error(request)
    response = _unavailable(request)
    response["Retry-After"] = str(RETRY_SECONDS)
    return response


def _unavailable(request: HttpRequest) -> HttpResponse:
    if request.path_info.startswith("/api/v1/"):
        return JsonResponse({"detail": MESSAGE}, status=503)
    if request.headers.get("Accept") == "application/json":
        # As other refusals of a rating: `rate.js` keeps the rating and tries again.
        return JsonResponse({"error": MESSAGE}, status=503)
    return HttpResponse(loader.get_template("503.html").render(), status=503)
