"""Paying workers, for a campaign's admins: what is owed, runs, rejections, and what only a person can settle."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from ..access import for_campaign_admins
from ..exceptions import HitsError
from ..models import Assignment, Campaign, Payment, PaymentRun, PayRule
from ..payments import runs
from ..payments.owing import Kind, Plan, is_paid_by_hand, plan_run, plans
from ..payments.reporting import payments_csv, standing
from ..payments.sending import ask_again
from ..providers import provider_class
from ..recruiting.arrivals import recruitment_of
from .running import person

ROWS_PER_PAGE = 50
# A plan may be of thousands; its file has them all.
DUES_SHOWN = 200

WAYS = {"provider": False, "hand": True}


# Forms ---------------------------------------------------------------------------------------


class MoneyField(forms.DecimalField):
    """An amount as people type it, with a point or a comma."""

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
        max_length=200, label="Reference", help_text="Such as the number of the transfer."
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
        label="Amount for each HIT",
        help_text="Not for a share of the pay: that follows from how far someone came.",
        widget=forms.TextInput(attrs={"inputmode": "decimal"}),
    )
    reason = forms.CharField(max_length=500, label="Reason", help_text="Workers read it.")


class AdjustmentForm(forms.Form):
    amount = MoneyField(
        max_digits=8,
        decimal_places=2,
        min_value=Decimal("0.01"),
        label="Amount",
        widget=forms.TextInput(attrs={"inputmode": "decimal"}),
    )
    reason = forms.CharField(max_length=500, label="Reason", help_text="The worker reads it.")


class ReasonForm(forms.Form):
    reason = forms.CharField(max_length=500, label="Reason", help_text="Kept in the audit log.")


class RejectionForm(forms.Form):
    category = forms.ChoiceField(required=False, label="Category")
    message = forms.CharField(
        max_length=1_000,
        widget=forms.Textarea(attrs={"rows": 5}),
        label="Reason",
        help_text="The worker reads it, here and where they came from.",
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
            self.fields["message"].min_length = provider.min_rejection_length  # type: ignore[attr-defined]
            self.fields[
                "message"
            ].help_text += (
                f" {provider.label} wants at least {provider.min_rejection_length} characters."
            )


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
    owed = plans(campaign)
    recruitment = recruitment_of(campaign)
    work = (
        Assignment.objects.submitted()
        .filter(hit__campaign=campaign)
        .select_related("worker", "hit")
        .prefetch_related("payments")
        .order_by("-submitted_at", "-pk")
    )
    own = Payment.objects.filter(run__campaign=campaign).select_related("assignment__worker", "run")
    context = {
        "campaign": campaign,
        "provider": provider_class(recruitment.provider),
        "plans": owed,
        "money": standing(campaign, owed),
        "unknown": own.unsure()[:ROWS_PER_PAGE],
        "failed": own.filter(state=Payment.State.FAILED)[:ROWS_PER_PAGE],
        "runs": campaign.payment_runs.select_related("confirmed_by")[:ROWS_PER_PAGE],
        "rules": campaign.pay_rules.select_related("assignment__worker").order_by("-pk"),
        "rule_form": rule_form or RuleForm(),
        "page": Paginator(work, ROWS_PER_PAGE).get_page(request.GET.get("page")),
    }
    return render(request, "hits/payments.html", context, status=status)


@require_http_methods(["GET", "POST"])
@for_campaign_admins
def plan(request: HttpRequest, campaign: Campaign, kind: str, way: str) -> HttpResponse:
    """Show what a run would pay; pay it once its total is typed and the list is still the same."""
    if kind not in (Kind.APPROVE, Kind.BONUS) or way not in WAYS:
        raise Http404
    form = ConfirmForm(request.POST or None)
    if form.is_valid():
        try:
            run = runs.confirm_run(
                campaign=campaign,
                kind=kind,
                is_by_hand=WAYS[way],
                actor=person(request),
                **form.cleaned_data,
            )
        except HitsError as refusal:
            form.add_error(None, str(refusal))
        else:
            return redirect("payment_run", campaign.code, run.code)
    return _show_plan(request, plan_run(campaign, Kind(kind), is_by_hand=WAYS[way]), form)


def _show_plan(request: HttpRequest, plan: Plan, form: ConfirmForm) -> HttpResponse:
    context = {
        "campaign": plan.campaign,
        "plan": plan,
        "dues": plan.dues[:DUES_SHOWN],
        "n_more": max(0, plan.n_payments - DUES_SHOWN),
        # For the list on this very page, not for one that was shown before.
        "form": ConfirmForm(initial={"digest": plan.digest}),
        "problems": [problem for found in form.errors.values() for problem in found],
        "money": standing(plan.campaign, plans(plan.campaign)),
    }
    status = 409 if form.is_bound else 200
    return render(request, "hits/payment_plan.html", context, status=status)


@require_http_methods(["GET", "POST"])
@for_campaign_admins
def run(request: HttpRequest, campaign: Campaign, run: UUID) -> HttpResponse:
    """A run: how far it is, its receipt, and what can still be done with it."""
    found = get_object_or_404(campaign.payment_runs.select_related("confirmed_by"), code=run)
    paid_form = PaidForm(request.POST if request.POST.get("action") == "paid" else None)
    if request.method == "POST" and (not paid_form.is_bound or paid_form.is_valid()):
        try:
            _change_run(request, found, paid_form)
        except HitsError as refusal:
            messages.error(request, str(refusal))
        return redirect("payment_run", campaign.code, run)
    rows = found.payments.select_related("assignment__worker")
    states = runs.receipt(found)
    is_open = found.finished_at is None
    context = {
        "campaign": campaign,
        "run": found,
        "receipt": states,
        "labels": [(Payment.State(name).label, n) for name, n in states["states"].items()],
        "job": runs.latest_job(found),
        "is_open": is_open,
        "can_cancel": is_open and Payment.State.PLANNED in states["states"],
        "paid_form": paid_form,
        "page": Paginator(rows, ROWS_PER_PAGE).get_page(request.GET.get("page")),
    }
    status = 422 if paid_form.errors else 200
    return render(request, "hits/payment_run.html", context, status=status)


def _change_run(request: HttpRequest, run: PaymentRun, form: PaidForm) -> None:
    actor = person(request)
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
    """One HIT handed in: what was paid for it; reject it, or pay something beside."""
    own = Assignment.objects.filter(hit__campaign=campaign).select_related(
        "hit__campaign", "worker", "submission"
    )
    work = get_object_or_404(own, code=assignment)
    action, data = request.POST.get("action"), request.POST
    # Each has ids of its own: they stand on one page.
    reject_form = RejectionForm(
        data if action == "reject" else None, auto_id="reject_%s", assignment=work
    )
    adjust_form = AdjustmentForm(data if action == "adjust" else None, auto_id="adjust_%s")
    withdraw_form = ReasonForm(data if action == "withdraw" else None, auto_id="withdraw_%s")
    forms_by_action = {"reject": reject_form, "adjust": adjust_form, "withdraw": withdraw_form}
    chosen = forms_by_action.get(action or "")
    if chosen and chosen.is_valid():
        try:
            _change_work(action, work, chosen.cleaned_data, person(request))
        except HitsError as refusal:
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


def _change_work(action: str | None, work: Assignment, given: dict[str, Any], actor: User) -> None:
    match action:
        case "reject":
            runs.reject_assignment(assignment=work, actor=actor, **given)
        case "adjust":
            kind = PayRule.Kind.ADJUSTMENT
            campaign = work.hit.campaign
            runs.add_rule(campaign=campaign, kind=kind, assignment=work, actor=actor, **given)
        case "withdraw":
            rejection = runs.rejection_of(work)
            if rejection:
                runs.withdraw_rejection(payment=rejection, actor=actor, **given)


# What admins do ------------------------------------------------------------------------------


@require_POST
@for_campaign_admins
def add_rule(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    form = RuleForm(request.POST)
    if form.is_valid():
        try:
            runs.add_rule(campaign=campaign, actor=person(request), **form.cleaned_data)
        except HitsError as refusal:
            form.add_error(None, str(refusal))
        else:
            messages.success(request, "Added. It is owed now, and paid by the next run.")
            return redirect("campaign_payments", campaign.code)
    return _show_payments(request, campaign, rule_form=form, status=422)


@require_POST
@for_campaign_admins
def withdraw_rule(request: HttpRequest, campaign: Campaign, rule: UUID) -> HttpResponse:
    found = get_object_or_404(campaign.pay_rules, code=rule)
    return _told(
        request,
        campaign,
        lambda: runs.withdraw_rule(rule=found, actor=person(request)),
        "Withdrawn.",
    )


@require_POST
@for_campaign_admins
def settle(request: HttpRequest, campaign: Campaign, payment: UUID) -> HttpResponse:
    """Settle a payment in doubt by a person's word, or ask the provider once more; write one off that failed."""
    own = Payment.objects.filter(run__campaign=campaign)
    found = get_object_or_404(
        own.select_related("assignment__worker", "run__campaign"), code=payment
    )
    answer, reason = request.POST.get("answer"), request.POST.get("reason", "")
    if answer == "ask":
        return _told(request, campaign, lambda: ask_again(payment=found), "Asked.")
    if answer == "write_off":
        return _told(
            request,
            campaign,
            lambda: runs.write_off(payment=found, reason=reason, actor=person(request)),
            "Written off.",
        )
    if answer not in ("paid", "not_paid"):
        raise Http404
    return _told(
        request,
        campaign,
        lambda: runs.settle_unknown(
            payment=found, was_paid=answer == "paid", reason=reason, actor=person(request)
        ),
        "Noted.",
    )


def _told(
    request: HttpRequest, campaign: Campaign, deed: Callable[[], object], done: str
) -> HttpResponse:
    try:
        deed()
    except HitsError as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, done)
    return redirect("campaign_payments", campaign.code)


# Files ---------------------------------------------------------------------------------------


@require_GET
@for_campaign_admins
def run_csv(request: HttpRequest, campaign: Campaign, run: UUID) -> HttpResponse:
    found = get_object_or_404(campaign.payment_runs, code=run)
    return _csv(payments_csv(found.payments.all()), f"payments-{found.code}.csv")


@require_GET
@for_campaign_admins
def ledger_csv(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    own = Payment.objects.filter(run__campaign=campaign)
    return _csv(payments_csv(own), f"payments-of-{campaign.code}.csv")


def _csv(text: str, name: str) -> HttpResponse:
    response = HttpResponse(text, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
