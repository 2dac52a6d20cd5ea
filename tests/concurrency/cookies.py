"""The cookies of a scripted worker, named as in the current settings."""

from django.conf import settings
from django.http import HttpResponse

from hits.models import Worker
from hits.recruiting.visitors import COOKIE, remember_worker
from tests.rating_page import CSRF_TOKEN


def cookies_of(worker: Worker) -> str:
    response = HttpResponse()
    remember_worker(response, worker)
    value = response.cookies[COOKIE].value
    return f"{COOKIE}={value}; {settings.CSRF_COOKIE_NAME}={CSRF_TOKEN}"
