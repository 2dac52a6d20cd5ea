"""One campaign of `benchmarks.trust`: people and scripts rate over HTTP, each up to three HITs.

Runs in a process on the server's database. Workers take, rate and submit HITs over HTTP; scripts get nothing but
what the rating page gets. People know the true quality of what they read. Nobody waits: before a HIT is submitted,
the times of its ratings are moved in the database to when they would have come.
"""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode

import numpy as np
from django.db import connection, transaction
from django.urls import reverse
from django.utils import timezone

import benchmarks.django_setup  # noqa: F401
from analysis.stats.roles import Role
from hits.campaigns.behaviours import SCRIPT_SECONDS, Behaviour, Shown, SimulatedWorker
from hits.campaigns.building import build_hits
from hits.campaigns.demo import DEMO_FOLDER
from hits.campaigns.importing import import_campaign
from hits.campaigns.lifecycle import change_status
from hits.campaigns.simulation import honest_noise_sd, true_qualities
from hits.models import Assignment, Campaign, Item, Participation, Rating, Recruitment, Worker
from hits.rating.joining import find_or_make_worker, take_part
from hits.workers.trust import weigh_pending
from tests.concurrency.cookies import cookies_of
from tests.concurrency.raters import Desk
from tests.rating_page import CSRF_TOKEN, items_on
from tests.replication.locating import data_folder

PUBLISHED = data_folder() / "newstest2016-csen"
# Enough for ten HITs or more, so that scripts which never vary do not all rate the same texts.
N_SEGMENTS = 160
MOST_GENUINE = 80
HITS_EACH = 3
# Outputs on a screen, and segments of a document.
OUTPUTS, DOCUMENT_SEGMENTS = 3, 8
# Of this many honest workers, enough have rated an item for others to be compared with them.
N_HONEST = 15
# There are more places than the crowd needs by this factor, so that everyone finds three HITs.
SPARE_PLACES = 1.2

RULES = {
    "published": {"degradation": "published", "trust_rule": "published"},
    "guarded": {"degradation": "balanced", "trust_rule": "guarded"},
}
KINDS = [kind for kind in Behaviour if kind not in (Behaviour.ADVERSARIAL, Behaviour.DRIFTING)]

# The server refuses a reading time far longer than the HIT has been taken, which is a moment here.
MAX_CLAIMED_SECONDS = 55.0

MOVE = "UPDATE hits_rating SET received_at = %s WHERE assignment_id = %s AND item_id = %s"

Outcome = dict[str, Any]


def run_campaign(
    port: int, task: str, rule: str, seed: int, n_workers: int, presentation: str = "alone"
) -> list[Outcome]:
    """Let the crowd do its HITs; return what became of each worker."""
    kinds = [Behaviour.HONEST] * max(0, N_HONEST - n_workers) + KINDS * n_workers
    n_assignments = HITS_EACH * len(kinds)
    campaign = open_campaign(task, rule, seed, presentation, n_assignments=n_assignments)
    crowd = make_crowd(campaign, port, seed, kinds)
    turns = np.repeat(np.arange(len(crowd)), HITS_EACH)
    for number in np.random.default_rng([seed, 3]).permutation(turns):
        crowd[number].do_next_hit()
    weigh_pending()
    return [visitor.outcome() for visitor in crowd]


def open_campaign(
    task: str, rule: str, seed: int, presentation: str, *, n_assignments: int
) -> Campaign:
    """Import texts, build HITs of 100 items and open the campaign, with places for this many assignments."""
    with TemporaryDirectory() as folder:
        summary = import_campaign(
            path=excerpt(Path(folder), seed) if PUBLISHED.is_dir() else DEMO_FOLDER,
            name=f"{task}, {rule}, {presentation}, {seed}",
            source_language="cs" if PUBLISHED.is_dir() else "de",
            target_language="en",
            task=task,
            allow_empty_translations=True,
            seed=seed,
            presentation=presentation,
            outputs_per_screen=OUTPUTS,
            **RULES[rule],
        )
    campaign = summary.campaign
    n_hits = summary.n_translations // MOST_GENUINE
    campaign.min_ratings = math.ceil(SPARE_PLACES * n_assignments / n_hits)
    campaign.save(update_fields=["min_ratings"])
    build_hits(campaign=campaign)
    Recruitment.objects.create(campaign=campaign, is_open=True)
    return change_status(campaign=campaign, to=Campaign.Status.OPEN)


def excerpt(folder: Path, seed: int) -> Path:
    """Write some of the published segments, others for each seed, into the folder."""
    files = {
        "sources.txt": PUBLISHED / "sources" / "newstest2016-csen-src.cs",
        "references.txt": PUBLISHED / "references" / "newstest2016-csen-ref.en",
    }
    for path in sorted((PUBLISHED / "newstest2016" / "cs-en").iterdir()):
        files[f"systems/{path.suffix[1:]}.txt"] = path
    (folder / "systems").mkdir()
    for name, path in files.items():
        lines = path.read_text(encoding="utf-8").split("\n")
        first = seed * len(lines) // 7
        (folder / name).write_text("\n".join(lines[first : first + N_SEGMENTS]) + "\n", "utf-8")
    documents = "".join(f"{number // DOCUMENT_SEGMENTS}\n" for number in range(N_SEGMENTS))
    (folder / "documents.txt").write_text(documents)
    return folder


def make_crowd(campaign: Campaign, port: int, seed: int, kinds: list[Behaviour]) -> list["Visitor"]:
    qualities = true_qualities(campaign=campaign, seed=seed)
    noise_sd = honest_noise_sd(qualities.values())
    meanings = {
        str(code): (Role(role), translation, qualities[translation])
        for code, role, translation in Item.objects.filter(hit__campaign=campaign).values_list(
            "code", "role", "translation"
        )
    }
    return [
        Visitor(
            campaign=campaign,
            worker=find_or_make_worker(
                provider="link", external_id=f"{campaign.name} {kind} {number}"
            ),
            person=SimulatedWorker(kind, np.random.default_rng([seed, 2, number]), noise_sd),
            meanings=meanings,
            connection=HTTPConnection("127.0.0.1", port, timeout=60),
        )
        for number, kind in enumerate(kinds)
    ]


def _texts_of(item: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return what is sent as the score of each text of a screen, the code of its item, and the text."""
    if "outputs" not in item:
        return [("score", item["item"], item["text"])]
    return [
        (f"score-{output['code']}", output["code"], output["text"]) for output in item["outputs"]
    ]


@dataclass
class Visitor:
    """A worker's browser, or what pretends to be one."""

    campaign: Campaign
    worker: Worker
    person: SimulatedWorker
    # What a reader understands from each item, by the item's code.
    meanings: dict[str, tuple[Role, int, float]]
    connection: HTTPConnection
    # Whether the worker counted as reliable after each HIT.
    history: list[bool] = field(default_factory=list)

    def __post_init__(self) -> None:
        take_part(campaign=self.campaign, worker=self.worker)
        self.participation.update(qualified_at=timezone.now())
        self.headers = Desk("", cookies_of(self.worker)).headers

    @property
    def participation(self) -> Any:
        return Participation.objects.filter(campaign=self.campaign, worker=self.worker)

    def do_next_hit(self) -> None:
        """Take a HIT, rate and submit it; do nothing if the platform offers none."""
        url = self.take_hit()
        if url is None:
            return
        seconds = list(self.rate(url))
        self.person.n_hits_done += 1
        self.move_times(seconds)
        self.send("POST", f"{url}finish/", {"csrfmiddlewaretoken": CSRF_TOKEN, "comment": ""}, 302)
        weigh_pending()
        self.history.append(self.is_reliable())

    def take_hit(self) -> str | None:
        answer, _ = self.request("GET", reverse("next_hit", args=[self.campaign.code]))
        location = answer.headers.get("Location", "")
        return location if answer.status == 302 and location.startswith("/hit/") else None

    def rate(self, url: str) -> Iterator[float]:
        """Rate all items; yield the seconds that each would have taken."""
        pace = self.person.pace
        items = items_on(self.send("GET", url).decode())
        while items:
            item = items.pop(min(items))
            scores, own_seconds = {}, []
            for name, code, text in _texts_of(item):
                shown = Shown(text, item["above"])
                scores[name] = self.person.score(*self.meanings[code], shown)
                own_seconds.append(self.person.seconds())
            claimed = sum(pace.claimed or seconds for seconds in own_seconds)
            claimed_ms = round(1000 * min(claimed, MAX_CLAIMED_SECONDS))
            rating = {
                "position": item["position"],
                "item": item["item"],
                "elapsed_ms": claimed_ms,
                "active_ms": claimed_ms,
            }
            answer = json.loads(self.send("POST", url, rating | scores))
            items |= {item["position"]: item for item in answer["items"]}
            yield from own_seconds

    def move_times(self, seconds: list[float]) -> None:
        """Move a HIT's times back to where they would be, had the worker waited.

        Fast scripts keep the times that the server saw, before a wait at the end.
        """
        assignment = self.worker.assignments.in_progress().get()
        end = timezone.now() - timedelta(seconds=self.person.pace.wait)
        ratings = assignment.ratings.order_by("item__position")
        received = list(ratings.values_list("received_at", flat=True))
        times = [moment - (received[-1] - end) for moment in received]
        started = assignment.started_at - (received[-1] - end)
        if self.person.pace.seconds > SCRIPT_SECONDS:
            started = end - timedelta(seconds=sum(seconds))
            times = [started + timedelta(seconds=float(passed)) for passed in np.cumsum(seconds)]
        items = assignment.hit.items.order_by("position").values_list("pk", flat=True)
        rows = [
            [connection.ops.adapt_datetimefield_value(moment), assignment.pk, item]
            for item, moment in zip(items, times, strict=True)
        ]
        with transaction.atomic(), connection.cursor() as cursor:
            Assignment.objects.filter(pk=assignment.pk).update(started_at=started)
            cursor.executemany(MOVE, rows)

    def is_reliable(self) -> bool:
        """Whether the worker is trusted and has work that counts."""
        participation = self.participation.get()
        return participation.is_trusted and self.counted(participation).exists()

    def counted(self, participation: Participation) -> Any:
        return Assignment.objects.of(participation).counted()

    def outcome(self) -> Outcome:
        """What became of the worker; someone who was stopped stays what they were in the end."""
        participation = self.participation.get()
        is_reliable = self.is_reliable()
        after = [*self.history, *[is_reliable] * HITS_EACH][: HITS_EACH - 1]
        trusted = self.counted(participation) if is_reliable else Assignment.objects.none()
        genuine = Rating.objects.filter(assignment__in=trusted, item__role=Role.GENUINE.value)
        submitted = Assignment.objects.of(participation).submitted()
        return {
            "kind": self.person.behaviour,
            "after": [*after, is_reliable],
            "n_paid": Rating.objects.filter(assignment__in=submitted).count(),
            "n_trusted": genuine.count(),
        }

    # Requests --------------------------------------------------------------------------------

    def send(
        self, method: str, url: str, fields: dict[str, Any] | None = None, status: int = 200
    ) -> bytes:
        answer, content = self.request(method, url, fields)
        if answer.status != status:
            raise RuntimeError(f"{method} {url}: {answer.status} {content[:500]!r}")
        return content

    def request(
        self, method: str, url: str, fields: dict[str, Any] | None = None
    ) -> tuple[HTTPResponse, bytes]:
        # Opened for each HIT, because the server closes idle connections.
        if method == "GET" and "/next/" in url:
            self.connection.close()
        self.connection.request(method, url, urlencode(fields) if fields else None, self.headers)
        answer = self.connection.getresponse()
        return answer, answer.read()
