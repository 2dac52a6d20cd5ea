"""Once a worker is forgotten, no table has the provider's ids of the worker, their visits or their payments."""

import pytest
from django.apps import apps

from hits.models import Assignment, Payment, Worker
from hits.payments.owing import Kind
from hits.payments.runs import PAID_ELSEWHERE, mark_as_paid, note_paid_elsewhere
from hits.payments.sending import pay_run
from hits.workers.forgetting import forget_worker
from tests.paying import add_bonus, confirm, make_admin, make_paid_campaign
from tests.simulators.mturk import MTurk

pytestmark = pytest.mark.django_db


def tables_with(text: str) -> set[str]:
    return {
        model.__name__
        for model in apps.get_models()
        if text in repr(list(model._default_manager.values()))
    }


def forget(name: str) -> None:
    forget_worker(worker=Worker.objects.get(external_id=name), reason="on request")


def test_no_table_names_a_forgotten_worker_who_was_paid(mturk: MTurk):
    campaign = make_paid_campaign()
    add_bonus(campaign)
    for kind in (Kind.APPROVE, Kind.BONUS):
        pay_run(run=confirm(campaign, kind))
    assert "AuditEntry" not in tables_with("visitalice") and "Payment" in tables_with("visitalice")
    payments = Payment.objects.filter(assignment__worker__external_id="alice")
    payments.update(problem="Refused once: no assignment visitalice of alice.")
    forget("alice")
    assert tables_with("visitalice") == tables_with("alice") == set()
    assert set(Payment.objects.values_list("state", flat=True)) == {"sent"}


def test_the_log_does_not_quote_the_providers_error(mturk: MTurk):
    campaign = make_paid_campaign(names=("stranger",))
    pay_run(run=confirm(campaign))
    assert Payment.objects.get().problem and "AuditEntry" not in tables_with("visitstranger")


def test_the_reference_of_a_transfer_by_hand_is_kept():
    campaign = make_paid_campaign("link")
    run = confirm(campaign, is_by_hand=True)
    mark_as_paid(run=run, total=run.total, reference="transfer 7", actor=make_admin())
    forget("alice")
    assert set(Payment.objects.values_list("reference", flat=True)) == {"transfer 7"}


def test_the_id_of_work_paid_elsewhere_is_removed():
    campaign = make_paid_campaign("link")
    assignment = Assignment.objects.get(worker__external_id="alice")
    note_paid_elsewhere(campaign=campaign, references={assignment.pk: "3ABC"}, actor=None)
    assert tables_with("3ABC") == {"Payment"}
    forget("alice")
    assert tables_with("3ABC") == set()
    assert Payment.objects.get().reference == PAID_ELSEWHERE
