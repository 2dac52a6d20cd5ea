"""Random valid and invalid requests never cause a server error, and responses match the schema."""

import logging
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance

from analysis.gold.runs import build_gold
from da_platform.api import api
from da_platform.jobs.running import start_job
from hits.models import Participation, Payment, PayRule
from tests.api.callers import secret_of
from tests.evaluations import make_campaign_evaluation
from tests.factories import make_campaign
from tests.paying import confirm, hand_in, make_admin, make_paid_campaign
from tests.people import make_person

pytestmark = pytest.mark.slow

# Per operation.
N_EXAMPLES = 5
N_EXAMPLES_IN_SOAK = 100
# Long enough to typeset a report on a busy machine.
SECONDS = 60
CHECKS = [not_a_server_error, content_type_conformance, response_schema_conformance]

schema = schemathesis.openapi.from_dict(dict(api.get_openapi_schema()))
# Django refuses other methods, which would be half of all requests.
schema.config.phases.coverage.unexpected_methods = set()


@dataclass(frozen=True)
class Platform:
    """A server, a superuser's token, and path parameters of things that exist."""

    address: str
    secret: str
    cache: dict[str, dict[str, Any]] = field(default_factory=dict)

    def parameters(self, path: str) -> dict[str, Any]:
        """Return path parameters of things that exist; others would only be not found."""
        if path not in self.cache:
            self.cache[path] = _things_named_in(path)
        return self.cache[path]


def _things_named_in(path: str) -> dict[str, Any]:
    names = [part.strip("{}") for part in path.split("/") if part.startswith("{")]
    if "/jobs/" in path:
        return {"code": str(start_job(kind="build_gold", campaign=make_campaign()).code)}
    if "/people/" in path:
        part = make_person("researcher", make_campaign()).memberships.get()
        return _only(names, {"person": part.user.pk, "part": part.pk})
    if "/metrics" in path or "/evaluations" in path:
        return _only(names, _evaluated_things())
    if "/campaigns/{code}" in path:
        return _only(names, _collected_things())
    return {}


def _only(names: list[str], things: dict[str, Any]) -> dict[str, Any]:
    return {name: things[name] for name in names if name in things}


def _collected_things() -> dict[str, Any]:
    """Return things of a campaign with unpaid work, some of it already in a run."""
    campaign = make_paid_campaign("link")
    run = confirm(campaign, is_by_hand=True)
    work = hand_in(campaign, "carol")
    Participation.objects.create(campaign=campaign, worker=work.worker)
    shared_fields: dict[str, Any] = {"campaign": campaign, "created_by": make_admin()}
    rule = PayRule.objects.create(kind="flat", amount=1, reason="For speed", **shared_fields)
    return {
        "code": str(campaign.code),
        "assignment": str(work.code),
        "worker": str(work.worker.code),
        "run": str(run.code),
        "payment": str(Payment.objects.filter(run=run)[0].code),
        "rule": str(rule.code),
        "number": build_gold(campaign=campaign).number,
    }


def _evaluated_things() -> dict[str, Any]:
    """Return things of a campaign with gold and metrics."""
    evaluation = make_campaign_evaluation()
    campaign = evaluation.campaign
    assert campaign is not None
    return {
        "code": str(campaign.code),
        "metric": str(campaign.metrics.latest("pk").code),
        "number": evaluation.number,
    }


@pytest.fixture
def platform(live_server, caplog) -> Platform:
    # Most of these requests are refused, and every refusal logs a warning.
    caplog.set_level(logging.ERROR, logger="django.request")
    return Platform(live_server.url, secret_of("superuser"))


@pytest.fixture(scope="module")
def tally(request: pytest.FixtureRequest) -> Iterator[Counter[int]]:
    """Count the response statuses and print them at the end."""
    counts: Counter[int] = Counter()
    yield counts
    reporter = request.config.pluginmanager.getplugin("terminalreporter")
    reporter.write_line(f"\n{counts.total():,} requests: {dict(sorted(counts.items()))}")


def examples(n: int) -> settings:
    return settings(
        max_examples=n,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )


def send(case: Case, platform: Platform) -> int:
    """Send the request, check the response and return its status."""
    for name, value in platform.parameters(case.path).items():
        case.path_parameters[name] = value
    headers = {"Authorization": f"Bearer {platform.secret}"}
    answer = case.call(base_url=platform.address, headers=headers, timeout=SECONDS)
    case.validate_response(answer, checks=CHECKS)
    return answer.status_code


@schema.parametrize()
@examples(N_EXAMPLES)
def test_no_request_breaks_the_server(case, platform):
    send(case, platform)


@pytest.mark.soak
@schema.parametrize()
@examples(N_EXAMPLES_IN_SOAK)
def test_no_request_of_many_breaks_the_server(case, platform, tally):
    tally[send(case, platform)] += 1
