"""While the database is away, every page and call answers 503 and says when to try again."""

import json
from uuid import UUID

import pytest
from django.db import InterfaceError, OperationalError, ProgrammingError, connection

from da_platform.unavailable import is_away
from tests.subprocesses import RANDOM_KEY, free_port, output_of, run_python

# Shares a module-scoped fixture.
pytestmark = pytest.mark.xdist_group("database away")

CODE = UUID(int=1)
# Method, address, and the Accept header.
REQUESTS = {
    "a worker's first page": ("get", f"/work/{CODE}/", "text/html"),
    "the rating page": ("get", f"/hit/{CODE}/", "text/html"),
    "a rating from the script": ("post", f"/hit/{CODE}/", "application/json"),
    "a rating from the form": ("post", f"/hit/{CODE}/", "text/html"),
    "a login": ("post", "/login/", "text/html"),
    "a page of staff": ("get", f"/campaigns/{CODE}/", "text/html"),
    "the API": ("get", "/api/v1/campaigns", "*/*"),
}
# With a session and a token, so that the database is asked for both.
ASK = """
import json
import django; django.setup()
from django.conf import settings
from django.test import Client


from uuid import UUID
answers = {}
for name, (method, path, accept) in %r.items():
    client = Client(raise_request_exception=False)
    client.cookies[settings.SESSION_COOKIE_NAME] = "x" * 32
    headers = {"Host": "da.example.org", "Accept": accept, "Authorization": "Bearer " + "x" * 43}
    data = {"username": "alice", "password": "x", "position": 1, "item": str(UUID(int=2)), "score": 5}
    answer = getattr(client, method)(path, data, headers=headers, secure=True)
    answers[name] = [answer.status_code, dict(answer.items()), answer.content.decode()]
print(json.dumps(answers))
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory) -> dict:
    folder = tmp_path_factory.mktemp("away")
    (folder / "away_settings.py").write_text(
        "from da_platform.settings import *\n"
        "STORAGES['staticfiles'] = {'BACKEND': 'django.contrib.staticfiles.storage.StaticFilesStorage'}\n"
    )
    process = run_python(
        "-c",
        ASK % (REQUESTS,),
        DJANGO_SETTINGS_MODULE="away_settings",
        PYTHONPATH=f"{folder}:.",
        PYTHONWARNINGS="ignore:No directory at",
        DATABASE_URL=f"postgres://alice@127.0.0.1:{free_port()}/ratings",
        DA_SECRET_KEY=RANDOM_KEY,
        DA_ALLOWED_HOSTS="da.example.org",
        DA_DATA_DIR=str(folder),
    )
    return json.loads(output_of(process).splitlines()[-1])


@pytest.mark.parametrize("name", REQUESTS)
def test_it_answers_503_and_says_when_to_try_again(answers, name):
    status, headers, _ = answers[name]
    assert status == 503, answers[name]
    assert 0 < int(headers["Retry-After"]) <= 60
    assert "no-store" in headers["Cache-Control"]


def test_the_script_of_the_rating_page_gets_an_error_that_it_retries(answers):
    """`rate.js` keeps the rating and sends it again, unless the status is 400, 404 or 409."""
    _, headers, body = answers["a rating from the script"]
    assert headers["Content-Type"] == "application/json"
    assert "try again" in json.loads(body)["error"]


def test_api_clients_get_details(answers):
    assert "try again" in json.loads(answers["the API"][2])["detail"]


def test_people_get_a_page_that_says_that_saved_work_is_not_lost(answers):
    body = answers["the rating page"][2]
    assert "Your saved work is not lost" in body and "Traceback" not in body


def test_only_a_database_that_is_away_counts():
    assert is_away(OperationalError("server closed the connection unexpectedly"))
    assert is_away(InterfaceError("connection already closed"))
    assert not is_away(ProgrammingError("syntax error"))
    assert not is_away(ValueError("a fault of our own"))


@pytest.mark.django_db
def test_a_missing_table_is_a_fault_and_not_an_absence():
    with pytest.raises(Exception, match="no_such_table") as error, connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM no_such_table")
    assert not is_away(error.value)
