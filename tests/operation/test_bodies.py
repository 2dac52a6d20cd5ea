"""How much a request may bring, at every address. Made from the URL configuration: a new upload has to be named."""

import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import get_resolver, reverse

from da_platform.api import api
from hits.models import CampaignDraft
from tests.addresses import Address, addresses, walk
from tests.api.callers import caller
from tests.evaluations import make_collection
from tests.factories import make_campaign
from tests.people import client_of, make_person
from tests.test_access_matrix import path_of

pytestmark = pytest.mark.django_db

PAGES = {
    "draft_files",
    "campaign_scores",
    "campaign_gold",
    "collection_scores",
    "collection_gold",
}
LARGE = 1_200_000


class Body:
    """So many bytes to come, of which it knows how many were asked for."""

    def __init__(self, n_bytes: int) -> None:
        self.n_left = n_bytes

    def read(self, size: int) -> bytes:
        n = min(size, self.n_left)
        self.n_left -= n
        return b"x" * n

    readline = read


def send(client: Client, path: str, body: Body) -> Any:
    """Announce that body; hold the answer to having been made without looking into it."""
    form = "multipart/form-data; boundary=x"
    extra = {"CONTENT_LENGTH": str(body.n_left), "wsgi.input": body}
    answer = client.generic("POST", path, b"", content_type=form, **extra)
    assert not {"_post", "_body"} & set(vars(answer.wsgi_request))
    return answer


def announce(client: Client, path: str, n_bytes: int = LARGE) -> Any:
    return send(client, path, Body(n_bytes))


def takes_files(address: Address) -> bool:
    pattern = dict(walk(get_resolver().url_patterns))[address.name]
    return getattr(pattern.callback, "takes_files", False)


def with_files_by_description() -> set[str]:
    """What the API's own description says of files, as paths."""
    return {
        path
        for path, methods in api.get_openapi_schema()["paths"].items()
        if "multipart/form-data" in str(methods.get("post", {}).get("requestBody"))
    }


def api_paths(marked: list[Address]) -> set[str]:
    campaign = make_campaign()
    paths = {path_of(one, campaign) for one in marked}
    return {path.replace(str(uuid.UUID(int=7)), "{code}") for path in paths}


def test_the_uploads_are_those_that_are_known():
    marked = [one for one in addresses() if takes_files(one)]
    assert {one.name for one in marked if one.rule != "tokens"} == PAGES
    assert api_paths([one for one in marked if one.rule == "tokens"]) == with_files_by_description()


def test_what_takes_no_files_takes_no_large_body_and_looks_into_none():
    campaign = make_campaign()
    browser, program = client_of("superuser"), caller("superuser").client
    taken = []
    for address in addresses():
        path = path_of(address, campaign)
        bodies = [(browser, 1_000_000_000)]
        if not takes_files(address):
            bodies += [(browser, LARGE), (program, LARGE)]
        answers = [announce(client, path, n_bytes) for client, n_bytes in bodies]
        taken += [path for answer in answers if answer.status_code != 413]
    assert not taken


def test_a_proxy_can_send_to_the_end_what_is_refused_unless_it_is_far_too_much(settings: Any):
    bodies = [Body(LARGE), Body(settings.MAX_REQUEST_BYTES + 1)]
    for body in bodies:
        assert send(Client(), "/api/v1/campaigns", body).status_code in (401, 413)
    assert [body.n_left for body in bodies] == [0, settings.MAX_REQUEST_BYTES + 1]


def test_strangers_upload_nothing():
    # A browser that brings the cookie of the check for forged forms is still nobody.
    client = Client(enforce_csrf_checks=True)
    client.get(reverse("login"))
    for name in PAGES:
        answer = announce(client, reverse(name, args=[uuid.uuid4()]))
        assert answer.status_code == 302 and answer.url.startswith(reverse("login")), name
    assert announce(Client(), "/api/v1/campaigns").status_code == 401


def large_file() -> SimpleUploadedFile:
    rows = b"".join(b"A\t%d\t0.5\n" % i for i in range(100_000))
    return SimpleUploadedFile("m.tsv", b"system\tsegment\tm:higher\n" + rows)


@pytest.mark.parametrize("name", sorted(PAGES))
def test_who_may_upload_brings_a_large_file_to_every_page_that_takes_one(name: str):
    client = client_of("superuser")
    person = User.objects.get()
    if name == "draft_files":
        home = CampaignDraft.objects.create(owner=person, basics={"name": "new"})
    elif name.startswith("campaign"):
        home = make_campaign()
    else:
        home = make_collection(make_person("admin"), "m:higher", "open")
    form = {"uploads": large_file(), "package": large_file()}
    answer = client.post(reverse(name, args=[home.code]), form)
    assert answer.wsgi_request.FILES["uploads"].size > 1_000_000
    assert answer.status_code in (200, 302, 422)


def test_programs_bring_large_files_where_the_description_says_so():
    campaign, program = make_campaign(), caller("superuser")
    for path, field in ((f"/campaigns/{campaign.code}/metrics", "file"), ("/campaigns", "package")):
        answer = program.upload(path, {field: large_file()})
        # Read, and refused for what is in it or lacks beside it.
        assert answer.status_code == 422 and "too large" not in answer.content.decode()
