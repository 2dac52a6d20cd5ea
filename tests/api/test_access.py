"""Every operation with every caller. Made from the API's own description: a new one is closed unless listed."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from da_platform.api import api
from hits.models import Campaign
from tests.api.callers import Caller, caller
from tests.factories import make_campaign

pytestmark = pytest.mark.django_db

NOBODY = "00000000-0000-0000-0000-000000000007"
# What researchers may do. Everything else needs an admin.
FOR_RESEARCHERS = {
    "analysis_api_evaluations_download_evaluation_picture",
    "analysis_api_evaluations_download_table",
    "analysis_api_evaluations_evaluate",
    "analysis_api_evaluations_get_evaluation",
    "analysis_api_evaluations_list_evaluation_pictures",
    "analysis_api_evaluations_list_evaluations",
    "analysis_api_evaluations_list_tables",
    "analysis_api_gold_build",
    "analysis_api_gold_download",
    "analysis_api_gold_get_gold",
    "analysis_api_gold_get_ranking",
    "analysis_api_gold_list_gold",
    "analysis_api_gold_list_scores",
    "analysis_api_jobs_cancel",
    "analysis_api_jobs_get_job",
    "analysis_api_jobs_list_jobs",
    "analysis_api_jobs_retry",
    "analysis_api_metrics_add_scores",
    "analysis_api_metrics_compute",
    "analysis_api_metrics_confirm",
    "analysis_api_metrics_list_metric_scores",
    "analysis_api_metrics_list_metrics",
    "analysis_api_results_compare",
    "analysis_api_results_download_picture",
    "analysis_api_results_download_report",
    "analysis_api_results_get_agreement",
    "analysis_api_results_list_pictures",
    "analysis_api_results_measure_agreement",
    "hits_api_campaigns_get_campaign",
    "hits_api_campaigns_get_forecast",
    "hits_api_campaigns_list_campaigns",
}
# What admins of one campaign may not do: make others, and say who may log in.
FOR_SUPERUSERS = {
    "hits_api_people_get_person",
    "hits_api_people_give",
    "hits_api_people_invite_person",
    "hits_api_people_let_in",
    "hits_api_people_list_people",
    "hits_api_people_take_away",
}
FOR_PLATFORM_ADMINS = {"hits_api_making_create_campaign"}
# Bodies for what would be refused as empty before it is asked who sends it.
BODIES = {
    "hits_api_campaigns_set_status": {"status": "open"},
    "hits_api_making_duplicate": {"name": "Copy"},
    "hits_api_making_set_instructions": {"instructions": ""},
    "hits_api_payments_add_rule": {"kind": "flat", "amount": "1", "reason": "Thanks"},
    "hits_api_payments_confirm": {
        "kind": "approve",
        "way": "hand",
        "digest": "0" * 64,
        "total": "1",
    },
    "hits_api_payments_mark_as_paid": {"total": "1", "reference": "transfer"},
    "hits_api_payments_reject": {"message": "No scores."},
    "hits_api_payments_settle": {"answer": "paid", "reason": "I know"},
    "hits_api_payments_withdraw_rejection": {"reason": "Sorry"},
    "hits_api_people_give": {"level": "admin"},
    "hits_api_people_invite_person": {"username": "alice", "level": "admin"},
    "hits_api_people_let_in": {"is_active": False},
    "hits_api_recruiting_save_recruiting": {"provider": "link"},
    "hits_api_workers_decide": {
        "choice": "exclude",
        "workers": [NOBODY],
        "reason": "Why",
        "seen": "x",
    },
    "hits_api_workers_preview": {"choice": "exclude", "workers": [NOBODY]},
}


def operations() -> Iterator[tuple[str, str, str]]:
    for path, methods in api.get_openapi_schema()["paths"].items():
        for method, operation in methods.items():
            yield operation["operationId"], method, path


OPERATIONS = list(operations())


def call(client: Caller, name: str, method: str, path: str, campaign: Campaign) -> Any:
    values = {"code": NOBODY, "number": 1, "person": 1, "part": 1, "kind": "segments"}
    if "/payments/plan/" in path:
        values |= {"kind": "approve", "way": "hand"}
    if path.startswith("/api/v1/campaigns/"):
        values["code"] = campaign.code
    fields = [part.strip("{}") for part in path.split("/") if part.startswith("{")]
    address = path.format(**{field: values.get(field, NOBODY) for field in fields})
    body = json.dumps(BODIES.get(name, {}))
    return client.client.generic(method.upper(), address, body, content_type="application/json")


@pytest.mark.parametrize(("name", "method", "path"), OPERATIONS)
def test_nobody_comes_in_without_a_token_or_with_one_that_may_nothing(name, method, path):
    campaign = make_campaign()
    assert call(Caller(), name, method, path, campaign).status_code == 401
    assert call(caller("superuser", scopes=()), name, method, path, campaign).status_code == 403


@pytest.mark.parametrize("elsewhere", ["outsider", "researcher", "admin"])
@pytest.mark.parametrize(("name", "method", "path"), OPERATIONS)
def test_a_campaign_of_others_does_not_exist(name, method, path, elsewhere):
    campaign, own = make_campaign(), make_campaign()
    answer = call(caller(elsewhere, own), name, method, path, campaign)
    if "/campaigns/" in path:
        # A body may be refused before it is known whose campaign it is for.
        assert answer.status_code in (404, 422)
    else:
        assert campaign.name not in answer.content.decode()


@pytest.mark.parametrize(("name", "method", "path"), OPERATIONS)
def test_researchers_do_what_is_listed_for_them_and_nothing_else(name, method, path):
    campaign = make_campaign()
    here = call(caller("researcher", campaign), name, method, path, campaign)
    if name in FOR_RESEARCHERS:
        assert here.status_code != 403 and here.status_code < 500
    elif name in FOR_PLATFORM_ADMINS:
        # It has files, and needs some before it asks anything else.
        assert here.status_code in (403, 422)
    else:
        assert here.status_code == 403


@pytest.mark.parametrize(("name", "method", "path"), OPERATIONS)
def test_admins_of_the_campaign_do_everything_in_it(name, method, path):
    campaign = make_campaign()
    answer = call(caller("admin", campaign), name, method, path, campaign)
    if name in FOR_SUPERUSERS:
        assert answer.status_code == 403
    else:
        assert answer.status_code not in (401, 403) and answer.status_code < 500


def test_every_operation_names_a_scope_and_says_what_it_does():
    for path, methods in api.get_openapi_schema()["paths"].items():
        for operation in methods.values():
            assert operation["security"] == [{"Needs": []}], path
            assert operation.get("description"), path
