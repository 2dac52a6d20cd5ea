"""Code, address, page and queries at the end of a HIT do not reveal how well someone rated."""

import random
import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from analysis.stats.roles import Role
from hits.models import Assignment, Campaign, Evidence, Participation
from hits.rating.assignments import CODE_ALPHABET, CODE_LENGTH
from hits.workers.trust import weigh_pending
from tests.factories import make_hits, rate
from tests.recruits import begin, choose_panel, follow, make_prolific_campaign, send
from tests.simulators.prolific import ProlificSimulator

pytestmark = pytest.mark.django_db

RELIABLE, CARELESS = Participation.Trust.RELIABLE, Participation.Trust.UNRELIABLE
# Two HITs of 100 items: enough for a verdict on the first, and one left to take.
SHAPE: dict[str, Any] = {"hit_size": 100, "n_segments": 70, "min_ratings": 3}
VARYING = [
    re.compile(rf"\b[{CODE_ALPHABET}]{{{CODE_LENGTH}}}\b"),
    re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
    re.compile(r'(?<=name="csrfmiddlewaretoken" value=")\w+'),
    re.compile(r"\b[0-9a-f]{24}\b"),
    re.compile(r"alice|carol"),
]


def scores_of(assignment: Assignment, trust: str, seed: int) -> dict[int, int]:
    """Return the score of each item by a reliable or careless worker; both use the whole scale."""
    rng = random.Random(seed)
    scores = {
        item.pk: rng.randrange(10, 20)
        if trust == RELIABLE and item.role == Role.BAD_REFERENCE
        else rng.randrange(60, 100)
        for item in assignment.hit.items.all()
    }
    if trust == CARELESS:
        return {pk: rng.randrange(101) for pk in scores}
    for item in assignment.hit.items.filter(role=Role.REPEAT):
        scores[item.pk] = scores[item.partner_id]
    return scores


def rate_as(assignment: Assignment, trust: str) -> None:
    scores = scores_of(assignment, trust, seed=5)
    for item in assignment.hit.items.order_by("position"):
        rate(assignment, item, score=scores[item.pk])


def normalise(text: str) -> str:
    for pattern in VARYING:
        text = pattern.sub("…", text)
    return text


def visible(response: Any) -> tuple[Any, ...]:
    """Return everything in a response that a worker can see, except when it was sent."""
    headers = {
        name: normalise(value) for name, value in response.headers.items() if name != "Expires"
    }
    cookies = {name: morsel["max-age"] for name, morsel in response.cookies.items()}
    return response.status_code, headers, cookies, normalise(response.content.decode())


def endings(client: Client, campaign: Campaign, trust: str) -> list[Any]:
    """Do a HIT as a reliable or careless worker; return each final response and its queries."""
    assignment = begin(client, campaign)
    rate_as(assignment, trust)
    finish = reverse("finish", args=[assignment.code])
    steps = [
        lambda: client.get(finish),
        lambda: client.post(finish, {"comment": ""}),
        lambda: client.get(reverse("done", args=[assignment.code])),
    ]
    before_verdict = [observed(step) for step in steps]
    weigh_pending()
    assert Evidence.objects.get(assignment=assignment).verdict == trust
    return [*before_verdict, observed(steps[-1])]


def observed(step: Any) -> tuple[Any, ...]:
    with CaptureQueriesContext(connection) as queries:
        response = step()
    return visible(response), [shape_of(query["sql"]) for query in queries]


def shape_of(statement: str) -> str:
    """Return a statement without its values."""
    return re.sub(r"'[^']*'|\b\d+\b|\bs\d+_x\d+\b", "?", statement)


def by_link(prolific: ProlificSimulator) -> tuple[Campaign, list[Client]]:
    return make_hits(**SHAPE), [Client(), Client()]


def by_prolific(
    prolific: ProlificSimulator, *, is_automatic: bool = True
) -> tuple[Campaign, list[Client]]:
    settings = {"is_automatic": is_automatic}
    campaign = make_prolific_campaign(prolific, settings=settings, **SHAPE)
    study = campaign.recruitment.study
    return campaign, [send(prolific, prolific.join(study))[0] for _ in range(2)]


def by_prolific_with_a_button(prolific: ProlificSimulator) -> tuple[Campaign, list[Client]]:
    return by_prolific(prolific, is_automatic=False)


def by_panel(prolific: ProlificSimulator) -> tuple[Campaign, list[Client]]:
    campaign = make_hits(is_open=False, **SHAPE)
    url = f"{prolific.url}/?u={{id}}&c={{code}}"
    choose_panel(campaign, is_automatic=True, completed_url=url)
    clients = [Client(), Client()]
    for client, name in zip(clients, ("alice", "carol"), strict=True):
        follow(client, f"{campaign.get_absolute_url()}?uid={name}")
    return campaign, clients


@pytest.mark.parametrize("way", [by_link, by_prolific, by_prolific_with_a_button, by_panel])
def test_the_end_is_the_same_for_reliable_and_careless_workers(
    prolific: ProlificSimulator, way: Any
):
    campaign, clients = way(prolific)
    alice, carol = (
        endings(client, campaign, trust)
        for client, trust in zip(clients, (RELIABLE, CARELESS), strict=True)
    )
    for number, (good, bad) in enumerate(zip(alice, carol, strict=True)):
        assert good == bad, f"Step {number} differs."


def test_the_comparison_would_detect_a_difference(prolific: ProlificSimulator):
    campaign, clients = by_prolific(prolific)
    alice = endings(clients[0], campaign, RELIABLE)
    campaign.recruitment.settings["completed_code"] = "FAILED"
    campaign.recruitment.save()
    assert endings(clients[1], campaign, CARELESS) != alice
