"""Send random and mutated requests to every address of the URL configuration.

    python -m tests.fuzz.requests --seed 1 --number 1000

Prints JSON: the number of responses by status, and every fault, which is a server error or a page that repeats
hostile text as markup. The same seed gives the same requests.
"""

import argparse
import copy
import json
import logging
import os
import random
import re
import sys
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.fuzz.forms import Form, forms_of

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")

METHODS = ("GET",) * 8 + ("POST",) * 8 + ("HEAD", "PUT", "PATCH", "DELETE", "OPTIONS")
CONTENT_TYPES = (
    "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/json",
    "text/plain", "application/xml", "", "\x00",
)  # fmt: skip
# Must never appear unescaped on a page.
TELLTALE = "<fuzz-\"'>"
HOSTILE: tuple[str, ...] = (
    f"{TELLTALE}<script>alert(1)</script>", "", " ", "0", "-1", "1e309", "NaN", "9" * 400,
    "2147483648", "9223372036854775808", "\x00", "\ud7ff\uffff", "\u202e\u0000x",
    "../../../../etc/passwd", "%00%0a%0d", "' OR 1=1 --", "{{7*7}}{% debug %}",
    "=cmd|' /C calc'!A0", "http://169.254.169.254/latest/meta-data/", "a" * 20_000, "١٢", "true",
    "[]", '{"a": {"b": []}}', "١٠٠",
)  # fmt: skip
FIELDS = [
    "score", "position", "item", "elapsed_ms", "active_ms", "answer", "comment", "agree", "page",
    "next", "username", "password", "csrf", "name", "level", "campaign", "kind", "format", "reason",
    "decision", "email", "file", "files", "q", "order", "sort", "code", "deed", "token", "task",
    "source_language", "target_language", "hit_size", "min_ratings", "seed", "method", "minimum",
    "run", "real_ids",
]  # fmt: skip
HEADERS = [
    "Accept", "Accept-Language", "Cookie", "Authorization", "X-Forwarded-For", "X-Forwarded-Proto",
    "X-HTTP-Method-Override", "Range", "If-Modified-Since", "If-None-Match", "HX-Request",
    "HX-Target", "Referer", "Origin", "Content-Encoding", "Host",
]  # fmt: skip


@dataclass
class Findings:
    statuses: Counter[int] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    # Names of addresses that were opened.
    reached: set[str] = field(default_factory=set)


class Fuzzer:
    def __init__(self, seed: int, world: "World") -> None:
        self.rng = random.Random(seed)
        self.world = world
        self.findings = Findings()

    def run(self, number: int) -> Findings:
        for turn in range(number):
            if len(self.findings.faults) >= 20:
                break
            self.send(turn)
        return self.findings

    def send(self, turn: int) -> None:
        client, door = self.rng.choice(self.world.visitors)
        cookies = copy.deepcopy(client.cookies)
        # Mostly pages for this visitor.
        door = door if self.rng.random() < 0.8 else self.rng.choice(list(self.world.addresses))
        if self.world.forms[door] and self.rng.random() < 0.4:
            method, path, body, content_type = self._filled_form(door)
        else:
            method, path = self.rng.choice(METHODS), self._path(door)
            body, content_type = self._body()
        headers = {
            name: self._header() for name in self.rng.sample(HEADERS, self.rng.randint(0, 3))
        }
        try:
            with transaction.atomic(), TestCase.captureOnCommitCallbacks(execute=True):
                response = client.generic(method, path, body, content_type, headers=headers)
                content = response.getvalue() if hasattr(response, "getvalue") else b""
                # Undo all changes, so that each request meets the same database.
                transaction.set_rollback(True)
        except Exception as error:
            self.findings.faults.append(f"#{turn} {method} {path[:200]!r}: {error!r}"[:600])
            return
        # Undo a logout.
        client.cookies = cookies
        self.findings.statuses[response.status_code] += 1
        # None after a redirect because of a missing slash.
        match = response.wsgi_request.resolver_match
        if match and response.status_code < 400 and not is_sent_to_login(response):
            self.findings.reached.add(match.view_name)
        if response.status_code >= 500 and "readyz" not in path:
            self.findings.faults.append(f"#{turn} {method} {path[:200]!r}: {response.status_code}")
        is_page = response.headers.get("Content-Type", "").startswith("text/html")
        if is_page and TELLTALE.encode() in content:
            self.findings.faults.append(f"#{turn} {method} {path[:200]!r}: unescaped text")

    def _path(self, door: str) -> str:
        path = self.rng.choice(self.world.addresses[door])(self.rng)
        if self.rng.random() < 0.15:
            path = self._mutated(path)
        if self.rng.random() < 0.5:
            path += "?" + self._form()
        return path

    def _mutated(self, text: str) -> str:
        characters = list(text)
        for _ in range(self.rng.randint(1, 4)):
            at = self.rng.randrange(len(characters) + 1)
            characters[at : at + self.rng.randint(0, 3)] = self.rng.choice(
                ["/", "%", "..", "é", "%2e", "//", ";", "\\", "%ff", "-", "0"]
            )
        return "/" + "".join(characters).lstrip("/")

    def _value(self) -> str:
        pools: list[Callable[[], str]] = [
            lambda: TELLTALE,
            lambda: self.rng.choice(HOSTILE),
            lambda: str(self.rng.randint(-5, 150)),
            lambda: self.rng.choice(self.world.codes),
            lambda: "".join(
                chr(self.rng.randint(1, 0x2FFF)) for _ in range(self.rng.randint(0, 30))
            ),
        ]
        return self.rng.choice(pools)()

    def _form(self) -> str:
        names = self.rng.choices(self.world.fields, k=self.rng.randint(0, 6))
        return urlencode([(name, self._value()) for name in names], errors="replace")

    def _filled_form(self, door: str) -> tuple[str, str, bytes, str]:
        """A form as on a page, with a few of its fields left out or changed."""
        form = self.rng.choice(self.world.forms[door])
        fields = list(form.fields)
        for at in self.rng.sample(range(len(fields)), min(len(fields), self.rng.randint(0, 3))):
            fields[at] = (fields[at][0], self._value())
        if self.rng.random() < 0.3:
            fields = [pair for pair in fields if self.rng.random() < 0.8]
        if form.method == "GET":
            path = f"{form.action.partition('?')[0]}?{urlencode(fields, errors='replace')}"
            return "GET", path, b"", CONTENT_TYPES[0]
        if not form.files:
            body = urlencode(fields, errors="replace").encode()
            return "POST", form.action, body, CONTENT_TYPES[0]
        parts = [self._part(name, value) for name, value in fields]
        parts += [self._part(name, self._file(), "file.tsv") for name in form.files]
        return "POST", form.action, b"".join(parts) + b"--x--\r\n", CONTENT_TYPES[1]

    def _file(self) -> str:
        rows = [[self._value() for _ in range(3)] for _ in range(self.rng.randint(0, 5))]
        return "\n".join("\t".join(row) for row in [["system", "segment", "score"], *rows])

    def _part(self, name: str, value: str, file_name: str = "") -> bytes:
        file = f'; filename="{file_name}"' if file_name else ""
        head = f'--x\r\nContent-Disposition: form-data; name="{name}"{file}\r\n\r\n'
        return (head + value + "\r\n").encode(errors="replace")

    def _body(self) -> tuple[bytes, str]:
        match self.rng.randint(0, 5):
            case 0:
                return self.rng.randbytes(self.rng.randint(0, 300)), self.rng.choice(CONTENT_TYPES)
            case 1:
                return self._json().encode(errors="replace"), "application/json"
            case 2:
                return self._multipart(), "multipart/form-data; boundary=x"
            case _:
                return self._form().encode(), CONTENT_TYPES[0]

    def _json(self) -> str:
        names = self.rng.choices(self.world.fields, k=self.rng.randint(0, 5))
        value: Any = {name: self._value() for name in names}
        if self.rng.random() < 0.2:
            value = [value] * 3
        if self.rng.random() < 0.05:
            return "[" * 5_000
        return json.dumps(value)

    def _multipart(self) -> bytes:
        parts = []
        for name in self.rng.choices(self.world.fields, k=self.rng.randint(0, 4)):
            file_name = self._value()[:50] if self.rng.random() < 0.5 else ""
            parts.append(self._part(name, self._value(), file_name))
        return b"".join(parts) + (b"--x--\r\n" if self.rng.random() < 0.8 else b"")

    def _header(self) -> str:
        value = self._value()[:2_000]
        # Web servers refuse other characters.
        return re.sub("[\r\n\x00]", "", value.encode("ascii", "ignore").decode())


class World:
    """Visitors of every kind, and rows of every kind for the addresses."""

    def __init__(self) -> None:
        self.superuser = make_person("superuser")
        self.codes = self._make_rows()
        self.known = self._known_values()
        self.addresses: dict[str, list[Callable[[random.Random], str]]] = defaultdict(list)
        for name, pattern in walk(get_resolver().url_patterns):
            self.addresses[door_of(name, pattern)].append(self._address(name, pattern))
        self.visitors = self._make_visitors()
        self.forms = {
            "staff": self._forms_for(browser_of(self.superuser), "staff"),
            "worker": self._forms_for(self._client_of_worker(), "worker"),
            "api": [],
            "admin": [],
        }
        self.fields = sorted(
            {*FIELDS, *_form_fields(forms.BaseForm), *_api_fields(), *_asked_fields()}
        )

    def _make_visitors(self) -> "list[tuple[Client, str]]":
        """Browsers and programs with the part of the site they use. Those who may see more come more often."""
        campaign = self.plenty.campaign
        people = [Client(), client_of("outsider"), client_of("researcher")]
        people += [client_of("researcher", campaign), client_of("admin", campaign)]
        people += [browser_of(self.superuser)] * 4
        tokens = [
            make_token(user=self.superuser, name="all", scopes=ApiToken.Scope)[1],
            make_token(user=self.plenty.admin, name="all", scopes=ApiToken.Scope)[1],
        ]
        programs = [Client(headers={"Authorization": f"Bearer {secret}"}) for secret in tokens]
        return [
            *((client, "staff") for client in people),
            *((client, "worker") for client in (Client(), *[self._client_of_worker()] * 3)),
            *((client, "api") for client in programs * 2),
            (people[-1], "admin"),
        ]

    def _client_of_worker(self) -> "Client":
        client, response = Client(), HttpResponse()
        remember_worker(response, self.worker)
        client.cookies = response.cookies
        return client

    def _make_rows(self) -> list[str]:
        # Hostile text wherever a researcher or a worker may write some.
        campaign = make_hits(name=f"{TELLTALE} campaign", instructions=TELLTALE)
        self.worker = make_worker(TELLTALE)
        participation = take_part(campaign=campaign, worker=self.worker)
        Participation.objects.filter(pk=participation.pk).update(qualified_at=timezone.now())
        assignment = take_assignment(campaign=campaign, worker=self.worker)
        rate_items(assignment, n_items=10)
        done = make_hits(name=f"{TELLTALE} done", min_ratings=1)
        other = take_assignment(campaign=done, worker=make_worker())
        rate_items(other)
        submit_assignment(assignment=other, comment=TELLTALE)
        jobs = [
            Job.objects.create(kind=TELLTALE, campaign=done, error=TELLTALE, log=TELLTALE),
            Job.objects.create(kind="build_gold", campaign=done, arguments={"minimum": TELLTALE}),
        ]
        admin = make_person("admin", done)
        self.plenty = make_plenty(2, admin=admin, superuser=self.superuser)
        write_hostile_names()
        self.items = [str(item.code) for item in campaign.hits.get().items.all()[:12]]
        # Mostly the campaign with rows of every kind.
        campaigns = [campaign, done, *[self.plenty.campaign] * 4]
        self.codes_below = {
            "work": campaigns,
            "campaigns/new": [self.plenty.draft],
            "campaigns": campaigns,
            "hit": [assignment, other],
            "evaluations/collections": [self.plenty.collection],
            "evaluations": [self.plenty.evaluation],
            "jobs": [*jobs, self.plenty.job],
        }
        rows = [row for below in self.codes_below.values() for row in below]
        return [str(row.code) for row in rows] + self.items

    def _known_values(self) -> dict[str, list[Any]]:
        """Valid values of the parameters of addresses, except `code`, by name."""
        plenty = self.plenty
        rows = ("worker", "run", "payment", "assignment", "rule", "metric", "token")
        values = {name: [getattr(plenty, name).code] for name in rows}
        person, part = plenty.membership.user.pk, plenty.membership.pk
        values |= {"pk": [person], "person": [person], "membership": [part], "part": [part]}
        values |= {"number": [1, 2], "step": [1, 2], "position": [1, 40]}
        words: dict[str, list[Any]] = {"fmt": [], "format": []}
        for of_address in WORDS.values():
            for name, word in of_address.items():
                words.setdefault(name, []).append(word)
        words["name"] += [table_name(plenty)]
        words["fmt"] += ["svg", "png", "tsv", "json"]
        words["format"] += ["svg", "png"]
        return words | values

    def _forms_for(self, client: "Client", door: str) -> list[Form]:
        """All forms on the pages that this client can open."""
        forms_by_text: dict[str, Form] = {}
        rng = random.Random(0)
        paths = [make(rng) for make in self.addresses[door] for _ in range(2)]
        if door == "staff":
            paths += [path_of(address, self.plenty) for address in staff_addresses()]
        # Files have no forms, and plots are slow.
        for path in sorted({path for path in paths if path.endswith("/")}):
            with transaction.atomic():
                response = client.get(path)
                transaction.set_rollback(True)
            if response.headers.get("Content-Type", "").startswith("text/html"):
                page = response.getvalue().decode()
                forms_by_text |= {repr(form): form for form in forms_of(page, path)}
        return list(forms_by_text.values())

    def _address(self, name: str, pattern: Any) -> Callable[[random.Random], str]:
        """Return a function that makes paths of an address, mostly of existing rows."""
        converters = pattern.pattern.converters
        route = str(pattern.pattern)
        below = next(
            (rows for start, rows in self.codes_below.items() if route.startswith(f"{start}/")), []
        )
        existing = self.known | {"code": [str(row.code) for row in below] or self.codes}

        def make(rng: random.Random) -> str:
            arguments = {}
            for key, converter in converters.items():
                if key in existing and rng.random() < 0.85:
                    arguments[key] = rng.choice(existing[key])
                elif isinstance(converter, UUIDConverter):
                    arguments[key] = rng.choice([*self.codes, str(uuid.UUID(int=7))])
                elif isinstance(converter, IntConverter):
                    arguments[key] = rng.choice([0, 1, 2, 3, 99, 2**31, 2**63, 10**30])
                else:
                    arguments[key] = rng.choice(["1", "x", "jobs", quote("<fuzz>", safe="")])
            try:
                return reverse(name, kwargs=arguments)
            except NoReverseMatch:
                # Some patterns of Django's admin have unnamed parts.
                return "/" + name.replace(":", "/")

        return make


def door_of(name: str, pattern: Any) -> str:
    """Return who mostly uses an address."""
    if name.startswith(DJANGO_ADMIN):
        return "admin"
    rule = getattr(pattern.callback, "access_rule", "")
    return {"tokens": "api", "workers": "worker"}.get(rule, "staff")


def is_sent_to_login(response: Any) -> bool:
    return response.status_code == 302 and response["Location"].startswith(reverse("login"))


def write_hostile_names() -> None:
    """Prefix all texts from people, files and providers with the telltale."""
    written = {
        Campaign: ["name"],
        System: ["name"],
        Segment: ["document", "source", "reference"],
        Participation: ["decision_reason"],
        Assignment: ["comment"],
        PayRule: ["reason"],
        Payment: ["message", "problem"],
        Submission: ["reference"],
        Invite: ["label"],
        Worker: ["external_id"],
        ApiToken: ["name"],
        Metric: ["name", "file_name"],
        MetricScore: ["segment"],
        ScoreCollection: ["name"],
        GoldUpload: ["name", "file_name"],
        JudgementUpload: ["file_name"],
        User: ["username", "first_name"],
    }
    for model, names in written.items():
        for name in names:
            rows = model.objects.exclude(**{name: ""})
            rows.update(**{name: Concat(Value(TELLTALE), F(name))})


def _form_fields(kind: type) -> set[str]:
    """The names of all fields of the platform's forms."""
    names = set(getattr(kind, "base_fields", {}))
    return names.union(*(_form_fields(subclass) for subclass in kind.__subclasses__()))


def _asked_fields() -> set[str]:
    """The names of fields that views read from a request without a form."""
    sources = [
        path.read_text() for app in ("hits", "analysis") for path in CHECKOUT.glob(f"{app}/**/*.py")
    ]
    return set(re.findall(r'(?:POST|GET)\.(?:get|getlist)\("(\w+)"', "\n".join(sources)))


def _api_fields() -> set[str]:
    schemas = api.get_openapi_schema()["components"]["schemas"].values()
    return {name for schema in schemas for name in schema.get("properties", {})}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int, default=1_000)
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    settings.ALLOWED_HOSTS = ["*"]
    # In debug mode, Django raises an error where it would redirect a form.
    settings.DEBUG = False
    own_database()
    findings = Fuzzer(options.seed, World()).run(options.number)
    print(json.dumps(vars(findings) | {"reached": sorted(findings.reached)}))
    return 0


if __name__ == "__main__":
    import django

    django.setup()
    from urllib.parse import quote, urlencode

    from django import forms
    from django.conf import settings
    from django.contrib.auth.models import User
    from django.db import transaction
    from django.db.models import F, Value
    from django.db.models.functions import Concat
    from django.http import HttpResponse
    from django.test import Client, TestCase
    from django.urls import NoReverseMatch, get_resolver, reverse
    from django.urls.converters import IntConverter, UUIDConverter
    from django.utils import timezone

    from analysis.models import GoldUpload, JudgementUpload, Metric, MetricScore, ScoreCollection
    from da_platform.api import api
    from da_platform.jobs.models import Job
    from hits.models import (
        ApiToken,
        Assignment,
        Campaign,
        Invite,
        Participation,
        Payment,
        PayRule,
        Segment,
        Submission,
        System,
        Worker,
    )
    from hits.people.tokens import make_token
    from hits.rating.assignments import submit_assignment, take_assignment
    from hits.rating.joining import take_part
    from hits.recruiting.visitors import remember_worker
    from tests.addresses import DJANGO_ADMIN, walk
    from tests.factories import make_hits, make_worker, rate_items
    from tests.migrated import own_database
    from tests.people import browser_of, client_of, make_person
    from tests.plenty import WORDS, make_plenty, path_of, staff_addresses, table_name
    from tests.subprocesses import CHECKOUT

    sys.exit(main())
