"""Every operation with every caller, from the API's schema. A new operation is closed unless listed."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from hits.models import Campaign
from tests.addresses import api_schema
from tests.api.callers import Caller, caller
from tests.factories import make_campaign

pytestmark = pytest.mark.django_db

NOBODY = "00000000-0000-0000-0000-000000000007"
# Open to researchers. Everything else needs an admin.
FOR_RESEARCHERS = {
    "add_judgements",
    "add_post_editions",
    "add_scores",
    "build_gold",
    "cancel_job",
    "compare_gold",
    "compute_metrics",
    "compute_targeted",
    "confirm_direction",
    "download_evaluation_picture",
    "delete_stored_experiment",
    "download_experiment_picture",
    "download_experiment_report",
    "download_experiment_table",
    "download_evaluation_table",
    "download_export",
    "download_judgements",
    "download_picture",
    "download_presentation_picture",
    "download_presentation_table",
    "download_ranking_picture",
    "download_ranking_report",
    "download_ranking_table",
    "download_report",
    "download_table",
    "add_gold",
    "evaluate",
    "evaluate_again",
    "get_import_report",
    "get_agreement",
    "get_campaign",
    "get_contrast",
    "get_evaluation",
    "get_experiment",
    "get_forecast",
    "list_looks",
    "get_gold",
    "get_judgement_ranking",
    "get_presentation_effects",
    "get_job",
    "get_ranking",
    "list_campaigns",
    "list_evaluation_pictures",
    "list_evaluations",
    "list_experiments",
    "list_gold",
    "list_document_scores",
    "list_gold_scores",
    "list_jobs",
    "list_metric_scores",
    "list_metrics",
    "list_pictures",
    "list_tables",
    "list_uploaded_gold",
    "measure_agreement",
    "list_post_editions",
    "measure_editor_agreement",
    "get_editor_agreement",
    "measure_presentation",
    "rank_judgements",
    "list_collections",
    "create_collection",
    "get_collection",
    "add_scores_to_collection",
    "confirm_direction_in_collection",
    "add_gold_to_collection",
    "list_collection_evaluations",
    "evaluate_collection",
    "get_collection_evaluation",
    "download_collection_table",
    "download_collection_picture",
    "download_table_over_collections",
    "rename_stored_experiment",
    "start_experiment_on_files",
    "retry_job",
}
# A plan is about no campaign, unless it names one that the caller may see.
FOR_ALL_STAFF = {"plan_campaign"}
# Closed to admins of one campaign.
FOR_SUPERUSERS = {"get_person", "give_part", "invite_person", "list_people"}
FOR_SUPERUSERS |= {"set_active", "take_part_away"}
FOR_ADMINS_OF_ALL = {"start_campaign_of_experiment"}
FOR_PLATFORM_ADMINS = {"create_campaign", "import_collection"}
# Without a file they are refused before permissions are checked.
NEED_A_FILE = FOR_PLATFORM_ADMINS | {"import_post_editions", "rate_against"}
# Valid bodies, for operations that check the body before the caller.
BODIES = {
    "set_status": {"status": "open"},
    "duplicate_campaign": {"name": "Copy"},
    "set_instructions": {"instructions": ""},
    "set_worker_texts": {"texts": {}},
    "save_questionnaire": {"questionnaire": {}},
    "add_rule": {"kind": "flat", "amount": "1", "reason": "Thanks"},
    "confirm_plan": {"kind": "approve", "way": "hand", "digest": "0" * 64, "total": "1"},
    "mark_as_paid": {"total": "1", "reference": "transfer"},
    "reject_assignment": {"message": "No scores."},
    "settle_payment": {"answer": "paid", "reason": "I know"},
    "withdraw_rejection": {"reason": "Sorry"},
    "give_part": {"level": "admin"},
    "invite_person": {"username": "alice", "level": "admin"},
    "set_active": {"is_active": False},
    "save_recruiting": {"provider": "link"},
    "bring_back_gold": {"rated": NOBODY},
    "check_post_editions": {"name": "Check"},
    "start_campaign_of_experiment": {},
    "rename_stored_experiment": {"name": "Words"},
    "create_collection": {"name": "Scores"},
    "evaluate_collection": {"golds": [NOBODY]},
    "confirm_direction_in_collection": {"higher_is_better": True},
    "decide": {"choice": "exclude", "workers": [NOBODY], "reason": "Why", "seen": "x"},
    "preview_decision": {"choice": "exclude", "workers": [NOBODY]},
    "preview_held_hits": {"choice": "count", "hits": [NOBODY]},
    "decide_held_hits": {"choice": "count", "hits": [NOBODY], "reason": "Why", "seen": "x"},
}


def operations() -> Iterator[tuple[str, str, str]]:
    for path, methods in api_schema()["paths"].items():
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
    return read_to_end(
        client.client.generic(method.upper(), address, body, content_type="application/json")
    )


def read_to_end(answer: Any) -> Any:
    """Read a download as a server does, which then closes the file, and return the answer."""
    if answer.streaming:
        b"".join(answer)
    return answer


@pytest.fixture(scope="module")
def campaign(shared_rows: None) -> Campaign:
    return make_campaign()


@pytest.fixture(scope="module")
def callers(campaign: Campaign) -> dict[str, Caller]:
    other_campaign = make_campaign()
    return {
        "a stranger": Caller(),
        "a superuser whose token has no scope": caller("superuser", scopes=()),
        "an outsider": caller("outsider"),
        "a researcher elsewhere": caller("researcher", other_campaign),
        "an admin elsewhere": caller("admin", other_campaign),
        "a researcher here": caller("researcher", campaign),
        "an admin here": caller("admin", campaign),
    }


def is_as_listed(answer: Any, who: str, name: str, path: str, campaign: Campaign) -> bool:
    status = answer.status_code
    if who == "a stranger":
        return status == 401
    if who == "a superuser whose token has no scope":
        return status == 403
    if name in FOR_ALL_STAFF:
        return status == 200 and campaign.name not in answer.content.decode()
    if who == "an outsider" or who.endswith("elsewhere"):
        # For them the campaign does not exist; the body may be refused before that is checked.
        is_hidden = status in (404, 422)
        return is_hidden if "/campaigns/" in path else campaign.name not in answer.content.decode()
    if who == "a researcher here" and name in NEED_A_FILE:
        return status in (403, 422)
    closed_to_researchers = who == "a researcher here" and name not in FOR_RESEARCHERS
    if closed_to_researchers or name in FOR_SUPERUSERS | FOR_ADMINS_OF_ALL:
        return status == 403
    return status not in (401, 403) and status < 500


@pytest.mark.parametrize(
    ("name", "method", "path"), OPERATIONS, ids=[name for name, *_ in OPERATIONS]
)
def test_it_is_open_only_to_the_listed_callers(name, method, path, campaign, callers):
    # Admins come last, because their calls change things for the others.
    answers = {who: call(client, name, method, path, campaign) for who, client in callers.items()}
    wrong = [
        f"{method} {path} answers {answer.status_code} to {who}"
        for who, answer in answers.items()
        if not is_as_listed(answer, who, name, path, campaign)
    ]
    assert not wrong


def test_every_operation_has_a_scope_and_a_description():
    for path, methods in api_schema()["paths"].items():
        for operation in methods.values():
            assert operation["security"] == [{"Needs": []}], path
            assert operation.get("description"), path
