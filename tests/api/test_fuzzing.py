"""The API with whatever its own description allows, and what it does not: never a server error."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings

from analysis.gold import build_gold
from da_platform.api import api
from hits.models import Assignment, Campaign, Participation, Payment, PaymentRun
from tests.api.callers import secret_of
from tests.paying import confirm, make_paid_campaign

# Of each operation: they are many, and each has a few fields.
N_EXAMPLES = 5

schema = schemathesis.openapi.from_dict(dict(api.get_openapi_schema()))
# Other methods than an operation has are Django's to refuse, and would be half of all requests.
schema.config.phases.coverage.unexpected_methods = set()


@dataclass(frozen=True)
class Platform:
    """A server, a superuser's token, and a campaign with work that waits to be paid."""

    address: str
    secret: str
    campaign: Campaign

    def parameters(self, path: str) -> dict[str, Any]:
        """Things that are there, for the names in an address: strangers are refused at the door."""
        if "/campaigns/{code}" not in path:
            return {}
        names = [part.strip("{}") for part in path.split("/") if part.startswith("{")]
        found = {name: _find(name, self.campaign) for name in names}
        return {name: value for name, value in found.items() if value is not None}


@cache
def _find(name: str, campaign: Campaign) -> Any:
    match name:
        case "code":
            return str(campaign.code)
        case "assignment":
            return str(_work(campaign).code)
        case "worker":
            worker = _work(campaign).worker
            Participation.objects.create(campaign=campaign, worker=worker)
            return str(worker.code)
        case "run":
            return str(_run(campaign).code)
        case "payment":
            return str(Payment.objects.filter(run=_run(campaign))[0].code)
        case "number":
            return build_gold(campaign=campaign).number
    return None


def _work(campaign: Campaign) -> Assignment:
    return Assignment.objects.filter(hit__campaign=campaign)[0]


def _run(campaign: Campaign) -> PaymentRun:
    return confirm(campaign, is_by_hand=True)


@pytest.fixture
def platform(live_server) -> Platform:
    _find.cache_clear()
    return Platform(live_server.url, secret_of("superuser"), make_paid_campaign("link"))


@schema.parametrize()
@settings(
    max_examples=N_EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_no_request_breaks_the_server(case, platform):
    for name, value in platform.parameters(case.path).items():
        case.path_parameters[name] = value
    headers = {"Authorization": f"Bearer {platform.secret}"}
    answer = case.call(base_url=platform.address, headers=headers)
    assert answer.status_code < 500, answer.text
