"""Random and mutated requests over every address of the URL configuration, in one process.

    python -m tests.fuzz.requests --seed 1 --number 1000

Prints JSON: how many of each status, and every fault: a server error, a page that repeats hostile text as
markup. A seed gives the same requests again. New addresses are found by themselves.
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
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")

METHODS = (
    "GET",
    "GET",
    "GET",
    "GET",
    "POST",
    "POST",
    "POST",
    "POST",
    "HEAD",
    "PUT",
    "PATCH",
    "DELETE",
    "OPTIONS",
)
CONTENT_TYPES = (
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/json",
    "text/plain",
    "application/xml",
    "",
    "\x00",
)
# What must never come back unescaped.
TELLTALE = "<fuzz-\"'>"
HOSTILE: tuple[str, ...] = (
    TELLTALE,
    f"{TELLTALE}<script>alert(1)</script>",
    "",
    " ",
    "0",
    "-1",
    "1e309",
    "NaN",
    "9" * 400,
    "2147483648",
    "9223372036854775808",
    "\x00",
    "\ud7ff\uffff",
    "\u202e\u0000x",
    "../../../../etc/passwd",
    "%00%0a%0d",
    "' OR 1=1 --",
    "{{7*7}}{% debug %}",
    "=cmd|' /C calc'!A0",
    "http://169.254.169.254/latest/meta-data/",
    "a" * 20_000,
    "١٢",
    "true",
    "[]",
    '{"a": {"b": []}}',
    "١٠٠",
)
FIELDS = [
    "score",
    "position",
    "item",
    "elapsed_ms",
    "active_ms",
    "answer",
    "comment",
    "agree",
    "page",
    "next",
    "username",
    "password",
    "csrf",
    "name",
    "level",
    "campaign",
    "kind",
    "format",
    "reason",
    "decision",
    "email",
    "file",
    "files",
    "q",
    "order",
    "sort",
    "code",
    "deed",
    "token",
    "task",
    "source_language",
    "target_language",
    "hit_size",
    "min_ratings",
    "seed",
    "method",
    "minimum",
    "run",
    "real_ids",
]
HEADERS = [
    "Accept",
    "Accept-Language",
    "Cookie",
    "Authorization",
    "X-Forwarded-For",
    "X-Forwarded-Proto",
    "X-HTTP-Method-Override",
    "Range",
    "If-Modified-Since",
    "If-None-Match",
    "HX-Request",
    "HX-Target",
    "Referer",
    "Origin",
    "Content-Encoding",
    "Host",
]


@dataclass
class Findings:
    statuses: Counter[int] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


class Fuzzer:
    def __init__(self, seed: int, world: "World") -> None:
        self.rng = random.Random(seed)
        self.world = world
        self.findings = Findings()

    def run(self, number: int) -> Findings:
        for turn in range(number):
            if len(self.findings.faults) >= 20:
                break
            self.one(turn)
        return self.findings

    def one(self, turn: int) -> None:
        method, path = self.rng.choice(METHODS), self._path()
        client = self.rng.choice(self.world.clients)
        cookies = copy.deepcopy(client.cookies)
        body, content_type = self._body()
        headers = {
            name: self._header() for name in self.rng.sample(HEADERS, self.rng.randint(0, 3))
        }
        try:
            with transaction.atomic():
                response = client.generic(method, path, body, content_type, headers=headers)
                content = response.getvalue() if hasattr(response, "getvalue") else b""
                # Each request meets the same world: whatever it changed is undone.
                transaction.set_rollback(True)
        except Exception as error:
            self.findings.faults.append(f"#{turn} {method} {path[:200]!r}: {error!r}"[:600])
            return
        # A logout would otherwise make a stranger of everyone, sooner or later.
        client.cookies = cookies
        self.findings.statuses[response.status_code] += 1
        if response.status_code >= 500 and "readyz" not in path:
            self.findings.faults.append(f"#{turn} {method} {path[:200]!r}: {response.status_code}")
        is_page = response.headers.get("Content-Type", "").startswith("text/html")
        if is_page and TELLTALE.encode() in content:
            self.findings.faults.append(f"#{turn} {method} {path[:200]!r}: unescaped text")

    def _path(self) -> str:
        # Django's admin has more addresses than we have; one request in ten is enough for it.
        is_admin = self.rng.random() < 0.1
        path = self.rng.choice(self.world.addresses[is_admin])(self.rng)
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
            file = f'; filename="{self._value()[:50]}"' if self.rng.random() < 0.5 else ""
            head = f'--x\r\nContent-Disposition: form-data; name="{name}"{file}\r\n\r\n'
            parts.append((head + self._value() + "\r\n").encode(errors="replace"))
        return b"".join(parts) + (b"--x--\r\n" if self.rng.random() < 0.8 else b"")

    def _header(self) -> str:
        value = self._value()[:2_000]
        # What no web server lets through need not be asked of the application.
        return (
            value.encode("ascii", "ignore")
            .decode()
            .replace("\r", "")
            .replace("\n", "")
            .replace("\x00", "")
        )


class World:
    """What requests can meet: visitors of every kind, and codes of rows that exist."""

    def __init__(self) -> None:
        self.codes = self._make_rows()
        self.addresses: dict[bool, list[Callable[[random.Random], str]]] = {True: [], False: []}
        for name, pattern in walk(get_resolver().url_patterns):
            self.addresses[name.startswith("admin:")].append(self._address(name, pattern))
        self.clients = [Client(raise_request_exception=True)]
        for role in ("outsider", "researcher", "admin", "superuser"):
            self.clients.append(client_of(role))
        worker = Client()
        response = HttpResponse()
        remember_worker(response, self.worker)
        worker.cookies = response.cookies
        self.clients += [worker, worker]
        # A token that may do everything, of someone who may: the API is behind it.
        _, secret = make_token(user=make_person("superuser"), name="fuzz", scopes=ApiToken.Scope)
        self.clients.append(Client(headers={"Authorization": f"Bearer {secret}"}))
        self.fields = sorted(
            {*FIELDS, *_form_fields(forms.BaseForm), *_api_fields(), *_asked_fields()}
        )

    def _make_rows(self) -> list[str]:
        # Hostile in what a researcher or a worker may write: it is shown on many pages.
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
        rows = [campaign, assignment, done, other, *jobs]
        self.codes_below = {
            "work": [str(campaign.code), str(done.code)],
            "campaigns": [str(campaign.code), str(done.code)],
            "hit": [str(assignment.code), str(other.code)],
            "jobs": [str(job.code) for job in jobs],
        }
        self.items = [str(item.code) for item in campaign.hits.get().items.all()[:12]]
        return [str(row.code) for row in rows] + self.items

    def _address(self, name: str, pattern: Any) -> Callable[[random.Random], str]:
        """A maker of paths for one address, mostly with codes that exist."""
        converters = pattern.pattern.converters
        likely = self.codes_below.get(str(pattern.pattern).partition("/")[0], self.codes)

        def make(rng: random.Random) -> str:
            values = {}
            for key, converter in converters.items():
                if isinstance(converter, UUIDConverter):
                    pool = likely if rng.random() < 0.8 else [*self.codes, str(uuid.UUID(int=7))]
                    values[key] = rng.choice(pool)
                elif isinstance(converter, IntConverter):
                    values[key] = rng.choice([0, 1, 2, 3, 99, 2**31, 2**63, 10**30])
                else:
                    values[key] = rng.choice(["1", "x", "jobs", quote("<fuzz>", safe="")])
            try:
                return reverse(name, kwargs=values)
            except NoReverseMatch:
                # A pattern without names for its parts, as Django's admin has some.
                return "/" + name.replace(":", "/")

        return make


def _form_fields(kind: type) -> set[str]:
    """The names of fields that the platform's forms have, whichever they are."""
    names = set(getattr(kind, "base_fields", {}))
    return names.union(*(_form_fields(one) for one in kind.__subclasses__()))


def _asked_fields() -> set[str]:
    """The names that views ask a request for by themselves."""
    sources = [
        path.read_text() for app in ("hits", "analysis") for path in CHECKOUT.glob(f"{app}/**/*.py")
    ]
    return set(re.findall(r'(?:POST|GET)\.(?:get|getlist)\("(\w+)"', "\n".join(sources)))


def _api_fields() -> set[str]:
    schemas = api.get_openapi_schema()["components"]["schemas"].values()
    return {name for one in schemas for name in one.get("properties", {})}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int, default=1_000)
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    settings.ALLOWED_HOSTS = ["*"]
    # As in production: in development Django raises where it would redirect a form.
    settings.DEBUG = False
    # The web server hands errors to the client as 500; here they are told with their cause.
    call_command("migrate", verbosity=0)
    findings = Fuzzer(options.seed, World()).run(options.number)
    print(json.dumps({"statuses": findings.statuses, "faults": findings.faults}))
    return 0


if __name__ == "__main__":
    import django

    django.setup()
    from urllib.parse import quote, urlencode

    from django import forms
    from django.conf import settings
    from django.core.management import call_command
    from django.db import transaction
    from django.http import HttpResponse
    from django.test import Client
    from django.urls import NoReverseMatch, get_resolver, reverse
    from django.urls.converters import IntConverter, UUIDConverter
    from django.utils import timezone

    from analysis.models import Job
    from da_platform.api import api
    from hits.models import ApiToken, Participation
    from hits.people.tokens import make_token
    from hits.services import submit_assignment, take_assignment, take_part
    from hits.visitors import remember_worker
    from tests.addresses import walk
    from tests.factories import make_hits, make_worker, rate_items
    from tests.people import client_of, make_person
    from tests.subprocesses import CHECKOUT

    sys.exit(main())
