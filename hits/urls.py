from django.urls import path, register_converter
from django.urls.converters import IntConverter

from .views import (
    arrivals,
    audit_log,
    campaign_actions,
    campaigns,
    holds,
    jobs,
    mturk,
    new_campaign,
    onboarding,
    payments,
    people,
    preview,
    rating,
    recruiting,
    tokens,
    two_step,
    workers,
)


class NumberConverter(IntConverter):
    """A whole number that fits in every database."""

    regex = "[0-9]{1,9}"


register_converter(NumberConverter, "number")

urlpatterns = [
    path("", campaigns.home, name="home"),
    path("campaigns/new/", new_campaign.basics, name="new_campaign"),
    path("campaigns/new/<uuid:code>/", new_campaign.basics, name="draft_basics"),
    path("campaigns/new/<uuid:code>/files/", new_campaign.files, name="draft_files"),
    path("campaigns/new/<uuid:code>/settings/", new_campaign.settings, name="draft_settings"),
    path("campaigns/new/<uuid:code>/check/", new_campaign.check, name="draft_check"),
    path("campaigns/new/<uuid:code>/discard/", new_campaign.discard, name="discard_draft"),
    path("campaigns/<uuid:code>/", campaigns.campaign_overview, name="campaign_overview"),
    path("campaigns/<uuid:code>/workers/", workers.campaign_workers, name="campaign_workers"),
    path("campaigns/<uuid:code>/workers/groups/", workers.worker_groups, name="worker_groups"),
    path("campaigns/<uuid:code>/workers/decide/", workers.decide_workers, name="decide_workers"),
    path("campaigns/<uuid:code>/workers/held/", holds.held_hits, name="held_hits"),
    path("campaigns/<uuid:code>/workers/held/decide/", holds.decide_holds, name="decide_holds"),
    path(
        "campaigns/<uuid:code>/workers/held/<uuid:assignment>.<slug:format>",
        holds.held_picture,
        name="held_picture",
    ),
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
    path(
        "campaigns/<uuid:code>/payments/runs/<uuid:run>/people.csv",
        payments.people_list,
        name="people_list",
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
    path("hooks/prolific/", arrivals.prolific_hook, name="prolific_hook"),
    path("join/<str:token>/", arrivals.join, name="join"),
    path("campaigns/<uuid:code>/live/", campaigns.campaign_live, name="campaign_live"),
    path("campaigns/<uuid:code>/status/", campaign_actions.change, name="change_campaign_status"),
    path("campaigns/<uuid:code>/build/", campaign_actions.build, name="build_campaign"),
    path("campaigns/<uuid:code>/settings/", campaign_actions.settings, name="campaign_settings"),
    path(
        "campaigns/<uuid:code>/settings/instructions/",
        campaign_actions.instructions,
        name="campaign_instructions",
    ),
    path("campaigns/<uuid:code>/duplicate/", campaign_actions.duplicate, name="duplicate_campaign"),
    path("campaigns/<uuid:code>/cost/", campaign_actions.cost, name="campaign_cost"),
    path("campaigns/<uuid:code>/preview/", preview.start, name="preview"),
    path("campaigns/<uuid:code>/preview/landing/", preview.landing, name="preview_landing"),
    path("campaigns/<uuid:code>/preview/privacy/", preview.privacy, name="preview_privacy"),
    path(
        "campaigns/<uuid:code>/preview/instructions/",
        preview.instructions,
        name="preview_instructions",
    ),
    path(
        "campaigns/<uuid:code>/preview/practice/<number:step>/",
        preview.practice,
        name="preview_practice",
    ),
    path("campaigns/<uuid:code>/preview/check/", preview.check, name="preview_check"),
    path(
        "campaigns/<uuid:code>/preview/<number:number>/<number:position>/",
        preview.item,
        name="preview_item",
    ),
    path(
        "campaigns/<uuid:code>/preview/<number:number>/finish/",
        preview.finish,
        name="preview_finish",
    ),
    path("campaigns/<uuid:code>/preview/<number:number>/done/", preview.done, name="preview_done"),
    path("audit/", audit_log.audit_log, name="audit_log"),
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
    path("tokens/", tokens.tokens, name="api_tokens"),
    path("tokens/<uuid:token>/revoke/", tokens.revoke, name="revoke_token"),
    path("work/<uuid:code>/", onboarding.landing, name="landing"),
    path("work/<uuid:code>/mturk/", mturk.external_question, name="external_question"),
    path("work/<uuid:code>/decline/", onboarding.decline, name="decline"),
    path("work/<uuid:code>/privacy/", onboarding.privacy, name="privacy"),
    path("work/<uuid:code>/instructions/", onboarding.instructions, name="instructions"),
    path("work/<uuid:code>/practice/<number:step>/", onboarding.practice, name="practice"),
    path("work/<uuid:code>/check/", onboarding.check, name="check"),
    path("work/<uuid:code>/next/", onboarding.next_hit, name="next_hit"),
    path("hit/<uuid:code>/", rating.rate, name="rate"),
    path("hit/<uuid:code>/finish/", rating.finish, name="finish"),
    path("hit/<uuid:code>/done/", rating.done, name="done"),
    path("jobs/", jobs.jobs, name="jobs"),
    path("jobs/<uuid:code>/", jobs.job, name="job"),
    path("jobs/<uuid:code>/progress/", jobs.job_progress, name="job_progress"),
    path("jobs/<uuid:code>/cancel/", jobs.cancel, name="cancel_job"),
    path("jobs/<uuid:code>/retry/", jobs.retry, name="retry_job"),
    path("jobs/<uuid:code>/mend/", jobs.mend, name="mend_job"),
]
