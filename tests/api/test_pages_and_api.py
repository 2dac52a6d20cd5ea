"""What the pages do, the API does too, except for what docs/api.md lists. That list may only shrink."""

import re
from pathlib import Path

from django.urls import get_resolver

from tests.addresses import api_schema, walk
from tests.plenty import staff_addresses
from tests.subprocesses import CHECKOUT

# The operations that do what a page does.
SAME = {
    "home": "list_campaigns",
    "new_campaign": "create_campaign",
    "import_collection": "import_collection",
    "ranking_judgements": "download_judgements",
    "draft_basics": "create_campaign",
    "draft_files": "create_campaign",
    "draft_settings": "create_campaign",
    "draft_check": "create_campaign",
    "draft_mend": "create_campaign",
    "discard_draft": "create_campaign",
    "campaign_overview": "get_campaign",
    "campaign_live": "get_forecast",
    "change_campaign_status": "set_status",
    "build_campaign": "build_hits",
    "add_round": "add_round",
    "campaign_looks": "list_looks",
    "take_look": "take_look",
    "campaign_settings": "change_settings",
    "campaign_instructions": "set_instructions",
    "duplicate_campaign": "duplicate_campaign",
    "campaign_cost": "get_cost",
    "campaign_workers": "list_workers",
    "worker_groups": "list_worker_groups",
    "worker_likeness": "list_worker_likeness",
    "decide_workers": "decide",
    "held_hits": "list_held_hits",
    "decide_holds": "decide_held_hits",
    "campaign_worker": "get_worker",
    "campaign_recruiting": "get_recruiting",
    "recruiting_settings": "save_recruiting",
    "make_links": "make_links",
    "revoke_links": "revoke_links",
    "change_study": "publish_study",
    "campaign_payments": "get_payments",
    "plan_payments": "confirm_plan",
    "payment_run": "get_payment_run",
    "payment_list": "get_payment_run",
    "payment_ledger": "download_ledger",
    "pay_assignment": "reject_assignment",
    "add_pay_rule": "add_rule",
    "withdraw_pay_rule": "withdraw_rule",
    "settle_payment": "settle_payment",
    "audit_log": "list_audit_entries",
    "people": "list_people",
    "person": "get_person",
    "add_part": "give_part",
    "remove_part": "take_part_away",
    "change_activity": "set_active",
    "jobs": "list_jobs",
    "job": "get_job",
    "job_progress": "get_job",
    "cancel_job": "cancel_job",
    "retry_job": "retry_job",
    "campaign_results": "get_ranking",
    "campaign_segments": "list_gold_scores",
    "campaign_documents": "list_document_scores",
    "presentation_effects": "get_presentation_effects",
    "measure_presentation": "measure_presentation",
    "presentation_table": "download_presentation_table",
    "presentation_picture": "download_presentation_picture",
    "campaign_ranking": "get_judgement_ranking",
    "rank_judgements": "rank_judgements",
    "ranking_table": "download_ranking_table",
    "ranking_report": "download_ranking_report",
    "ranking_report_pdf": "download_ranking_report",
    "ranking_picture": "download_ranking_picture",
    "build_gold": "build_gold",
    "plan_campaign": "plan_campaign",
    "plan_picture": "plan_campaign",
    "result_picture": "download_picture",
    "result_export": "download_export",
    "campaign_report": "download_report",
    "campaign_report_pdf": "download_report",
    "campaign_metrics": "list_metrics",
    "campaign_scores": "add_scores",
    "campaign_gold": "add_gold",
    "campaign_directions": "confirm_direction",
    "compute_metrics": "compute_metrics",
    "campaign_evaluate": "evaluate",
    "evaluations": "list_evaluations",
    "evaluation": "get_evaluation",
    "evaluation_json": "get_evaluation",
    "evaluation_table": "download_table",
    "evaluation_picture": "download_evaluation_picture",
    "evaluation_points": "download_evaluation_picture",
    "check_evaluation": "evaluate_again",
    "campaign_post_editions": "add_post_editions",
    "import_post_editions": "import_post_editions",
    "check_post_editions": "check_post_editions",
    "own_references": "rate_against",
    "bring_back_gold": "bring_back_gold",
    "evaluation_contrast": "get_contrast",
    "evaluation_contradictions": "get_contrast",
    "evaluation_contrast_picture": "get_contrast",
    "new_collection": "create_collection",
    "collection_metrics": "get_collection",
    "collection_scores": "add_scores_to_collection",
    "collection_gold": "add_gold_to_collection",
    "collection_directions": "confirm_direction_in_collection",
    "collection_evaluate": "evaluate_collection",
    "experiments": "list_experiments",
    "new_experiment": "start_experiment_on_files",
    "experiment": "get_experiment",
    "experiment_campaign": "start_campaign_of_experiment",
    "experiment_json": "get_experiment",
    "change_experiment": "rename_stored_experiment",
    "experiment_report": "download_experiment_report",
    "experiment_table": "download_experiment_table",
    "experiment_picture": "download_experiment_picture",
    "evaluations_across": "download_evaluation_table",
    "evaluations_across_file": "download_evaluation_table",
    "import_report": "get_import_report",
    "people_list": "download_people",
    "text_reports": "list_text_reports",
    "campaign_worker_texts": "set_worker_texts",
    "campaign_worker_texts_file": "get_worker_texts",
    "campaign_questionnaire": "save_questionnaire",
    "campaign_questionnaire_file": "get_questionnaire",
    "worker_weights": "list_worker_weights",
    "post_editions": "list_post_editions",
    "measure_editor_agreement": "measure_editor_agreement",
    # The same job with other options, which its problems name.
    "mend_job": "evaluate",
}
# How many lines docs/api.md may have. Lower it when the API learns to do one of them.
MOST = 28

ADDRESS = re.compile(r"`(/[^`]*)`")


def plain(route: str) -> str:
    """An address as the documentation writes it: `<uuid:code>` is `CODE`."""
    return "/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda match: match[1].upper(), route)


def only_on_pages() -> set[str]:
    """The addresses that docs/api.md lists."""
    text = (Path(CHECKOUT) / "docs" / "api.md").read_text(encoding="utf-8")
    section = text.partition("## Only on the pages")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `/")]
    return {address for row in rows for address in ADDRESS.findall(row.split("|")[1])}


def routes() -> dict[str, str]:
    names = {address.name for address in staff_addresses()}
    return {
        name: plain(str(pattern.pattern))
        for name, pattern in walk(get_resolver().url_patterns)
        if name in names
    }


def test_the_operations_named_here_exist():
    operations = {
        operation["operationId"]
        for methods in api_schema()["paths"].values()
        for operation in methods.values()
    }
    assert set(SAME.values()) <= operations and SAME.keys() <= routes().keys()


def test_every_page_has_an_operation_or_is_in_the_documented_list():
    missing = {name: route for name, route in routes().items() if name not in SAME}
    undocumented = {name: route for name, route in missing.items() if route not in only_on_pages()}
    assert not undocumented, "Give the API an operation, or list these in docs/api.md."
    assert only_on_pages() == set(missing.values()), "docs/api.md lists pages that have operations."


def test_the_list_does_not_grow():
    assert len(only_on_pages()) <= MOST
