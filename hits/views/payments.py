"""Paying workers, for campaign admins: what is owed, runs, rejections, bonuses and the ledger."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.paginator import Page, Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from da_platform.exceptions import PlatformError

from ..models import Assignment, Campaign, Payment, PaymentRun, PayRule
from ..payments import runs
from ..payments.owing import Kind, Plan, is_paid_by_hand, plan_run, totals_owed
from ..payments.people import people_csv, people_owed, people_paid, workers_paid
from ..payments.reporting import payments_csv, standing
from ..payments.sending import ask_again
from ..people.access import for_campaign_admins, user_of
from ..recruiting.arrivals import recruitment_of
from ..recruiting.providers import provider_class

ROWS_PER_PAGE = 50
MAX_REASON_LENGTH = 500
# Payments or people of a plan listed on its page.
DUES_SHOWN = 200

# The last part of a plan's URL, and whether that run is paid by hand.
WAYS = {"provider": False, "hand": True}


# Forms ---------------------------------------------------------------------------------------


class MoneyField(forms.DecimalField):
    """An amount with a decimal point or comma."""

    def to_python(self, value: Any) -> Decimal | None:  # type: ignore[override]
        return super().to_python(value.strip().replace(",", ".") if value else value)


class ConfirmForm(forms.Form):
    digest = forms.CharField(widget=forms.HiddenInput)
    total = MoneyField(
        max_digits=12,
        decimal_places=2,
        label="Type the total to confirm",
        widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}),
    )


class PaidForm(forms.Form):
    total = ConfirmForm.base_fields["total"]
    reference = forms.CharField(
        max_length=200, label="Reference", help_text="For example the transaction number."
    )


class RuleForm(forms.Form):
    kind = forms.ChoiceField(
        choices=[(kind.value, kind.label) for kind in (PayRule.Kind.FLAT, PayRule.Kind.PARTIAL)],
        label="Kind",
    )
    amount = MoneyField(
        max_digits=8,
        decimal_places=2,
        min_value=Decimal("0.01"),
        required=False,
        label="Amount per HIT",
        help_text="Leave empty for a share of the pay, which depends on how far the worker got.",
        widget=forms.TextInput(attrs={"inputmode": "decimal"}),
    )
    reason = forms.CharField(
        max_length=MAX_REASON_LENGTH, label="Reason", help_text="Shown to workers."
    )


class AdjustmentForm(forms.Form):
    amount = MoneyField(
        max_digits=8,
        decimal_places=2,
        min_value=Decimal("0.01"),
        label="Amount",
        widget=forms.TextInput(attrs={"inputmode": "decimal"}),
    )
    reason = forms.CharField(
        max_length=MAX_REASON_LENGTH, label="Reason", help_text="Shown to the worker."
    )


class ReasonForm(forms.Form):
    reason = forms.CharField(
        max_length=MAX_REASON_LENGTH, label="Reason", help_text="Recorded in the audit log."
    )


class RejectionForm(forms.Form):
    category = forms.ChoiceField(required=False, label="Category")
    message = forms.CharField(
        max_length=1_000,
        widget=forms.Textarea(attrs={"rows": 5}),
        label="Reason",
        help_text="Shown to the worker, here and by the provider.",
    )

    def __init__(self, *args: Any, assignment: Assignment, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        provider = provider_class(recruitment_of(assignment.hit.campaign).provider)
        is_by_hand = is_paid_by_hand(assignment)
        categories = () if is_by_hand else provider.rejection_categories
        if categories:
            choices = [("", "Choose one"), *categories]
            self.fields["category"] = forms.ChoiceField(choices=choices, label="Category")
        else:
            del self.fields["category"]
        if not is_by_hand and provider.min_rejection_length > 1:
            n_characters = provider.min_rejection_length
            message = self.fields["message"]
            message.min_length = n_characters  # type: ignore[attr-defined]
            message.help_text += f" {provider.label} requires at least {n_characters} characters."


# Pages ---------------------------------------------------------------------------------------


@require_GET
@for_campaign_admins
def payments(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    return _show_payments(request, campaign)


def _show_payments(
    request: HttpRequest,
    campaign: Campaign,
    *,
    rule_form: RuleForm | None = None,
    status: int = 200,
) -> HttpResponse:
    owed = totals_owed(campaign)
    recruitment = recruitment_of(campaign)
    ledger = Payment.objects.filter(run__campaign=campaign)
    ledger = ledger.select_related("assignment__worker", "run")
    context = {
        "campaign": campaign,
        "provider": provider_class(recruitment.provider),
        "plans": owed,
        "money": standing(campaign, owed),
        "unknown": ledger.unsure()[:ROWS_PER_PAGE],
        "failed": ledger.filter(state=Payment.State.FAILED)[:ROWS_PER_PAGE],
        "runs": campaign.payment_runs.select_related("confirmed_by")[:ROWS_PER_PAGE],
        "rules": campaign.pay_rules.select_related("assignment__worker").order_by("-pk"),
        "rule_form": rule_form or RuleForm(),
        "max_reason_length": MAX_REASON_LENGTH,
        "page": _submitted_work(campaign, request.GET.get("page")),
    }
    return render(request, "hits/payments.html", context, status=status)


def _submitted_work(campaign: Campaign, number: str | None) -> Page[Any]:
    submitted = Assignment.objects.submitted().filter(hit__campaign=campaign)
    # Only keys, because the last of 100,000 whole rows would take a second to sort.
    keys = submitted.order_by("-submitted_at", "-pk").values_list("pk", flat=True)
    page: Page[Any] = Paginator(keys, ROWS_PER_PAGE).get_page(number)
    rows = Assignment.objects.filter(pk__in=list(page)).select_related("worker", "hit")
    page.object_list = rows.prefetch_related("payments").order_by("-submitted_at", "-pk")
    return page


@require_http_methods(["GET", "POST"])
@for_campaign_admins
def plan(request: HttpRequest, campaign: Campaign, kind: str, way: str) -> HttpResponse:
    """Show what a run would pay; start it once the total is confirmed and the plan is unchanged."""
    if kind not in (Kind.APPROVE, Kind.BONUS) or way not in WAYS:
        raise Http404
    form = ConfirmForm(request.POST or None)
    if form.is_valid():
        try:
            run = runs.confirm_run(
                campaign=campaign,
                kind=kind,
                is_by_hand=WAYS[way],
                actor=user_of(request),
                **form.cleaned_data,
            )
        except PlatformError as refusal:
            form.add_error(None, str(refusal))
        else:
            return redirect("payment_run", campaign.code, run.code)
    return _show_plan(request, plan_run(campaign, Kind(kind), is_by_hand=WAYS[way]), form)


def _show_plan(request: HttpRequest, plan: Plan, form: ConfirmForm) -> HttpResponse:
    people, n_people = people_owed(plan, most=DUES_SHOWN)
    context = {
        "campaign": plan.campaign,
        "plan": plan,
        "people": people,
        "n_people": n_people,
        "n_more": n_people - len(people),
        # A new form, for the plan on this page and not for the one shown before.
        "form": ConfirmForm(initial={"digest": plan.digest}),
        "problems": [error for errors in form.errors.values() for error in errors],
        "money": standing(plan.campaign, totals_owed(plan.campaign)),
    }
    status = 409 if form.is_bound else 200
    return render(request, "hits/payment_plan.html", context, status=status)


@require_http_methods(["GET", "POST"])
@for_campaign_admins
def run(request: HttpRequest, campaign: Campaign, run: UUID) -> HttpResponse:
    """A run's progress, receipt and actions."""
    payment_run = get_object_or_404(campaign.payment_runs.select_related("confirmed_by"), code=run)
    paid_form = PaidForm(request.POST if request.POST.get("action") == "paid" else None)
    if request.method == "POST" and (not paid_form.is_bound or paid_form.is_valid()):
        try:
            _change_run(request, payment_run, paid_form)
        except PlatformError as refusal:
            messages.error(request, str(refusal))
        return redirect("payment_run", campaign.code, run)
    lines = payment_run.payments.all()
    by_worker = lines.select_related("assignment__worker")
    rows = workers_paid(lines) if payment_run.is_by_hand else by_worker
    page = Paginator(rows, ROWS_PER_PAGE).get_page(request.GET.get("page"))
    receipt = runs.receipt(payment_run)
    is_open = payment_run.finished_at is None
    context = {
        "campaign": campaign,
        "run": payment_run,
        "receipt": receipt,
        "labels": [(Payment.State(name).label, n) for name, n in receipt["states"].items()],
        "job": runs.latest_job(payment_run),
        "is_open": is_open,
        "can_cancel": is_open and Payment.State.PLANNED in receipt["states"],
        "paid_form": paid_form,
        "page": page,
    }
    if payment_run.is_by_hand:
        of_page = lines.filter(assignment__worker__in=list(page))
        context["people"] = people_paid(campaign, of_page)
    status = 422 if paid_form.errors else 200
    return render(request, "hits/payment_run.html", context, status=status)


def _change_run(request: HttpRequest, run: PaymentRun, form: PaidForm) -> None:
    actor = user_of(request)
    match request.POST.get("action"):
        case "paid":
            runs.mark_as_paid(run=run, actor=actor, **form.cleaned_data)
        case "go_on":
            runs.go_on(run=run, actor=actor)
        case "cancel":
            runs.cancel_run(run=run, actor=actor)


@require_http_methods(["GET", "POST"])
@for_campaign_admins
def pay_assignment(request: HttpRequest, campaign: Campaign, assignment: UUID) -> HttpResponse:
    """A submitted HIT and its payments; reject it, or add an adjustment."""
    assignments = Assignment.objects.filter(hit__campaign=campaign)
    assignments = assignments.select_related("hit__campaign", "worker", "submission")
    work = get_object_or_404(assignments, code=assignment)
    action, data = request.POST.get("action"), request.POST
    # Separate ids, because all three forms are on one page.
    reject_form = RejectionForm(
        data if action == "reject" else None, auto_id="reject_%s", assignment=work
    )
    adjust_form = AdjustmentForm(data if action == "adjust" else None, auto_id="adjust_%s")
    withdraw_form = ReasonForm(data if action == "withdraw" else None, auto_id="withdraw_%s")
    forms_by_action = {"reject": reject_form, "adjust": adjust_form, "withdraw": withdraw_form}
    chosen = forms_by_action.get(action or "")
    if chosen and chosen.is_valid():
        try:
            _change_work(action, work, chosen.cleaned_data, user_of(request))
        except PlatformError as refusal:
            chosen.add_error(None, str(refusal))
        else:
            return redirect("pay_assignment", campaign.code, assignment)
    ledger = work.payments.select_related("run", "rule").order_by("pk")
    has_settlement = Payment.objects.live().filter(assignment=work, kind__in=["approve", "reject"])
    context = {
        "campaign": campaign,
        "work": work,
        "ledger": ledger,
        "rejection": runs.rejection_of(work),
        "can_reject": work.status == Assignment.Status.SUBMITTED and not has_settlement.exists(),
        "reject_form": reject_form,
        "adjust_form": adjust_form,
        "withdraw_form": withdraw_form,
    }
    status = 422 if chosen and chosen.errors else 200
    return render(request, "hits/pay_assignment.html", context, status=status)


def _change_work(action: str | None, work: Assignment, values: dict[str, Any], actor: User) -> None:
    match action:
        case "reject":
            runs.reject_assignment(assignment=work, actor=actor, **values)
        case "adjust":
            kind = PayRule.Kind.ADJUSTMENT
            campaign = work.hit.campaign
            runs.add_rule(campaign=campaign, kind=kind, assignment=work, actor=actor, **values)
        case "withdraw":
            rejection = runs.rejection_of(work)
            if rejection:
                runs.withdraw_rejection(payment=rejection, actor=actor, **values)


# Actions ------------------------------------------------------------------------------------


@require_POST
@for_campaign_admins
def add_rule(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    form = RuleForm(request.POST)
    if form.is_valid():
        try:
            runs.add_rule(campaign=campaign, actor=user_of(request), **form.cleaned_data)
        except PlatformError as refusal:
            form.add_error(None, str(refusal))
        else:
            messages.success(request, "Added. It will be paid in the next run.")
            return redirect("campaign_payments", campaign.code)
    return _show_payments(request, campaign, rule_form=form, status=422)


@require_POST
@for_campaign_admins
def withdraw_rule(request: HttpRequest, campaign: Campaign, rule: UUID) -> HttpResponse:
    pay_rule = get_object_or_404(campaign.pay_rules, code=rule)
    return _report(
        request,
        campaign,
        lambda: runs.withdraw_rule(rule=pay_rule, actor=user_of(request)),
        "Withdrawn.",
    )


@require_POST
@for_campaign_admins
def settle(request: HttpRequest, campaign: Campaign, payment: UUID) -> HttpResponse:
    """Record what became of an unknown payment, ask the provider again, or write off a failed one."""
    ledger = Payment.objects.filter(run__campaign=campaign)
    ledger = ledger.select_related("assignment__worker", "run__campaign")
    line = get_object_or_404(ledger, code=payment)
    answer, reason = request.POST.get("answer"), request.POST.get("reason", "")
    if answer == "ask":
        return _report(
            request, campaign, lambda: ask_again(payment=line), "The provider was asked again."
        )
    if answer == "write_off":
        return _report(
            request,
            campaign,
            lambda: runs.write_off(payment=line, reason=reason, actor=user_of(request)),
            "Written off.",
        )
    if answer not in ("paid", "not_paid"):
        raise Http404
    return _report(
        request,
        campaign,
        lambda: runs.settle_unknown(
            payment=line, was_paid=answer == "paid", reason=reason, actor=user_of(request)
        ),
        "Recorded.",
    )


def _report(
    request: HttpRequest, campaign: Campaign, action: Callable[[], object], success: str
) -> HttpResponse:
    try:
        action()
    except PlatformError as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, success)
    return redirect("campaign_payments", campaign.code)


# Files ---------------------------------------------------------------------------------------


@require_GET
@for_campaign_admins
def run_csv(request: HttpRequest, campaign: Campaign, run: UUID) -> HttpResponse:
    payments = get_object_or_404(campaign.payment_runs, code=run).payments.all()
    return _csv(payments_csv(payments), f"payments-{run}.csv")


@require_GET
@for_campaign_admins
def people_list(request: HttpRequest, campaign: Campaign, run: UUID) -> HttpResponse:
    """The list to pay from: one row per person."""
    payment_run = get_object_or_404(campaign.payment_runs, code=run)
    people = people_paid(campaign, payment_run.payments.all())
    return _csv(people_csv(people, payment_run.currency), f"people-{run}.csv")


@require_GET
@for_campaign_admins
def ledger_csv(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    ledger = Payment.objects.filter(run__campaign=campaign)
    return _csv(payments_csv(ledger), f"payments-of-{campaign.code}.csv")


def _csv(text: str, name: str) -> HttpResponse:
    response = HttpResponse(text, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
