"""The size limit of request bodies at every address of the URL configuration."""

import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import get_resolver, reverse

from hits.models import CampaignDraft
from tests.addresses import Address, addresses, api_schema, walk
from tests.api.callers import caller
from tests.evaluations import make_collection
from tests.factories import make_campaign
from tests.people import client_of, make_person
from tests.test_access_matrix import path_of

pytestmark = pytest.mark.django_db

# Whose address names no campaign, draft or collection.
PAGES_OF_NOTHING = {"import_collection"}
PAGES = {"draft_files", *PAGES_OF_NOTHING, "campaign_post_editions", "campaign_worker_texts"}
PAGES |= {"campaign_questionnaire"}
PAGES |= {"import_post_editions", "own_references", "new_experiment"}
PAGES |= {
    f"{home}_{page}"
    for home in ("campaign", "collection")
    for page in ("scores", "gold", "evaluate")
}
LARGE = 1_200_000


class Body:
    """A request body that counts how many of its bytes have not been read."""

    def __init__(self, n_bytes: int) -> None:
        self.n_left = n_bytes

    def read(self, size: int) -> bytes:
        n = min(size, self.n_left)
        self.n_left -= n
        return b"x" * n

    readline = read


def send(client: Client, path: str, body: Body) -> Any:
    """Send a request with this body and check that it was not parsed."""
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
    """The paths of the API that accept files according to its OpenAPI schema."""
    return {
        path.replace("{collection}", "{code}")
        for path, methods in api_schema()["paths"].items()
        if "multipart/form-data" in str(methods.get("post", {}).get("requestBody"))
    }


def api_paths(marked: list[Address]) -> set[str]:
    campaign = make_campaign()
    paths = {path_of(address, campaign) for address in marked}
    return {path.replace(str(uuid.UUID(int=7)), "{code}") for path in paths}


def test_every_address_that_takes_files_is_listed():
    marked = [address for address in addresses() if takes_files(address)]
    assert {address.name for address in marked if address.rule != "tokens"} == PAGES
    assert (
        api_paths([address for address in marked if address.rule == "tokens"])
        == with_files_by_description()
    )


def test_large_bodies_are_refused_unread_where_no_files_are_expected():
    campaign = make_campaign()
    browser, program = client_of("superuser"), caller("superuser").client
    accepted = []
    for address in addresses():
        path = path_of(address, campaign)
        bodies = [(browser, 1_000_000_000)]
        if not takes_files(address):
            bodies += [(browser, LARGE), (program, LARGE)]
        answers = [announce(client, path, n_bytes) for client, n_bytes in bodies]
        accepted += [path for answer in answers if answer.status_code != 413]
    assert not accepted


def test_a_refused_body_is_read_to_its_end_unless_it_is_far_too_large(settings: Any):
    bodies = [Body(LARGE), Body(settings.MAX_REQUEST_BYTES + 1)]
    for body in bodies:
        assert send(Client(), "/api/v1/campaigns", body).status_code in (401, 413)
    assert [body.n_left for body in bodies] == [0, settings.MAX_REQUEST_BYTES + 1]


def test_strangers_cannot_upload():
    # Having a CSRF cookie is not being logged in.
    client = Client(enforce_csrf_checks=True)
    client.get(reverse("login"))
    for name in PAGES:
        of_one = [] if name in PAGES_OF_NOTHING else [uuid.uuid4()]
        answer = announce(client, reverse(name, args=of_one))
        assert answer.status_code == 302 and answer.url.startswith(reverse("login")), name
    assert announce(Client(), "/api/v1/campaigns").status_code == 401


def large_file() -> SimpleUploadedFile:
    rows = b"".join(b"A\t%d\t0.5\n" % i for i in range(100_000))
    return SimpleUploadedFile("m.tsv", b"system\tsegment\tm:higher\n" + rows)


@pytest.mark.parametrize("name", sorted(PAGES))
def test_every_upload_page_accepts_a_large_file(name: str):
    client = client_of("superuser")
    person = User.objects.get()
    if name == "draft_files":
        home = CampaignDraft.objects.create(owner=person, basics={"name": "new"})
    elif name.startswith("collection"):
        home = make_collection(make_person("admin"), "m:higher", "open")
    else:
        home = make_campaign()
    form = {"uploads": large_file(), "package": large_file()}
    words = {"new_experiment": ["words"], **dict.fromkeys(PAGES_OF_NOTHING, [])}
    answer = client.post(reverse(name, args=words.get(name, [home.code])), form)
    assert answer.wsgi_request.FILES["uploads"].size > 1_000_000
    assert answer.status_code in (200, 302, 422)


def test_the_api_accepts_large_files_where_the_schema_says_so():
    campaign, program = make_campaign(), caller("superuser")
    for path, field in ((f"/campaigns/{campaign.code}/metrics", "file"), ("/campaigns", "package")):
        answer = program.upload(path, {field: large_file()})
        # Refused for its content, not for its size.
        assert answer.status_code == 422 and "too large" not in answer.content.decode()
