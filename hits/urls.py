from django.urls import path, register_converter
from django.urls.converters import IntConverter

from .views import (
    api_reference,
    arriving,
    auditing,
    campaigns,
    creating,
    framed,
    joining,
    payments,
    people,
    previewing,
    rating,
    recruiting,
    running,
    tokens,
    two_step,
    workers,
)


class NumberConverter(IntConverter):
    """A whole number that every database can hold."""

    regex = "[0-9]{1,9}"


register_converter(NumberConverter, "number")

urlpatterns = [
    path("", campaigns.home, name="home"),
    path("campaigns/new/", creating.basics, name="new_campaign"),
    path("campaigns/new/<uuid:code>/", creating.basics, name="draft_basics"),
    path("campaigns/new/<uuid:code>/files/", creating.files, name="draft_files"),
    path("campaigns/new/<uuid:code>/settings/", creating.settings, name="draft_settings"),
    path("campaigns/new/<uuid:code>/check/", creating.check, name="draft_check"),
    path("campaigns/new/<uuid:code>/discard/", creating.discard, name="discard_draft"),
    path("campaigns/<uuid:code>/", campaigns.campaign_overview, name="campaign_overview"),
    path("campaigns/<uuid:code>/workers/", workers.campaign_workers, name="campaign_workers"),
    path("campaigns/<uuid:code>/workers/decide/", workers.decide_workers, name="decide_workers"),
    path(
        "campaigns/<uuid:code>/workers/<uuid:worker>/",
        workers.campaign_worker,
        name="campaign_worker",
    ),
    path(
        "campaigns/<uuid:code>/workers/<uuid:worker>/<slug:name>.<slug:format>",
        workers.worker_picture,
        name="worker_picture",
    ),
    path("campaigns/<uuid:code>/recruiting/", recruiting.recruiting, name="campaign_recruiting"),
    path(
        "campaigns/<uuid:code>/recruiting/settings/",
        recruiting.save_settings,
        name="recruiting_settings",
    ),
    path("campaigns/<uuid:code>/recruiting/links/", recruiting.make_links, name="make_links"),
    path(
        "campaigns/<uuid:code>/recruiting/links/revoke/",
        recruiting.revoke_links,
        name="revoke_links",
    ),
    path("campaigns/<uuid:code>/recruiting/study/", recruiting.change_study, name="change_study"),
    path("campaigns/<uuid:code>/payments/", payments.payments, name="campaign_payments"),
    path(
        "campaigns/<uuid:code>/payments/plan/<slug:kind>/<slug:way>/",
        payments.plan,
        name="plan_payments",
    ),
    path("campaigns/<uuid:code>/payments/runs/<uuid:run>/", payments.run, name="payment_run"),
    path(
        "campaigns/<uuid:code>/payments/runs/<uuid:run>/list.csv",
        payments.run_csv,
        name="payment_list",
    ),
    path("campaigns/<uuid:code>/payments/ledger.csv", payments.ledger_csv, name="payment_ledger"),
    path(
        "campaigns/<uuid:code>/payments/work/<uuid:assignment>/",
        payments.pay_assignment,
        name="pay_assignment",
    ),
    path("campaigns/<uuid:code>/payments/rules/", payments.add_rule, name="add_pay_rule"),
    path(
        "campaigns/<uuid:code>/payments/rules/<uuid:rule>/withdraw/",
        payments.withdraw_rule,
        name="withdraw_pay_rule",
    ),
    path(
        "campaigns/<uuid:code>/payments/<uuid:payment>/settle/",
        payments.settle,
        name="settle_payment",
    ),
    path("hooks/prolific/", arriving.prolific_hook, name="prolific_hook"),
    path("join/<str:token>/", arriving.join, name="join"),
    path("campaigns/<uuid:code>/live/", campaigns.campaign_live, name="campaign_live"),
    path("campaigns/<uuid:code>/status/", running.change, name="change_campaign_status"),
    path("campaigns/<uuid:code>/build/", running.build, name="build_campaign"),
    path("campaigns/<uuid:code>/settings/", running.settings, name="campaign_settings"),
    path(
        "campaigns/<uuid:code>/settings/instructions/",
        running.instructions,
        name="campaign_instructions",
    ),
    path("campaigns/<uuid:code>/duplicate/", running.duplicate, name="duplicate_campaign"),
    path("campaigns/<uuid:code>/cost/", running.cost, name="campaign_cost"),
    path("campaigns/<uuid:code>/preview/", previewing.start, name="preview"),
    path("campaigns/<uuid:code>/preview/landing/", previewing.landing, name="preview_landing"),
    path("campaigns/<uuid:code>/preview/privacy/", previewing.privacy, name="preview_privacy"),
    path(
        "campaigns/<uuid:code>/preview/instructions/",
        previewing.instructions,
        name="preview_instructions",
    ),
    path(
        "campaigns/<uuid:code>/preview/practice/<number:step>/",
        previewing.practice,
        name="preview_practice",
    ),
    path("campaigns/<uuid:code>/preview/check/", previewing.check, name="preview_check"),
    path(
        "campaigns/<uuid:code>/preview/<number:number>/<number:position>/",
        previewing.item,
        name="preview_item",
    ),
    path(
        "campaigns/<uuid:code>/preview/<number:number>/finish/",
        previewing.finish,
        name="preview_finish",
    ),
    path(
        "campaigns/<uuid:code>/preview/<number:number>/done/", previewing.done, name="preview_done"
    ),
    path("audit/", auditing.audit_log, name="audit_log"),
    path("people/", people.people, name="people"),
    path("people/<number:pk>/", people.one_person, name="person"),
    path("people/<number:pk>/link/", people.make_link, name="make_password_link"),
    path("people/<number:pk>/parts/", people.add_part, name="add_part"),
    path(
        "people/<number:pk>/parts/<number:membership>/remove/",
        people.remove_part,
        name="remove_part",
    ),
    path("people/<number:pk>/active/", people.change_activity, name="change_activity"),
    path("people/<number:pk>/logout/", people.log_out, name="log_out_person"),
    path(
        "people/<number:pk>/two-step/reset/", people.reset_second_factor, name="reset_second_factor"
    ),
    path("account/two-step/", two_step.two_step, name="two_step"),
    path("account/two-step/set-up/", two_step.set_up, name="two_step_set_up"),
    path("api/", api_reference.api_reference, name="api_reference"),
    path("tokens/", tokens.tokens, name="api_tokens"),
    path("tokens/<uuid:token>/revoke/", tokens.revoke, name="revoke_token"),
    path("work/<uuid:code>/", joining.landing, name="landing"),
    path("work/<uuid:code>/mturk/", framed.external_question, name="external_question"),
    path("work/<uuid:code>/decline/", joining.decline, name="decline"),
    path("work/<uuid:code>/privacy/", joining.privacy, name="privacy"),
    path("work/<uuid:code>/instructions/", joining.instructions, name="instructions"),
    path("work/<uuid:code>/practice/<number:step>/", joining.practice, name="practice"),
    path("work/<uuid:code>/check/", joining.check, name="check"),
    path("work/<uuid:code>/next/", joining.next_hit, name="next_hit"),
    path("hit/<uuid:code>/", rating.rate, name="rate"),
    path("hit/<uuid:code>/finish/", rating.finish, name="finish"),
    path("hit/<uuid:code>/done/", rating.done, name="done"),
]
