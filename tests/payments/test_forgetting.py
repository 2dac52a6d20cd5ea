"""Once a worker is forgotten, no table has what the provider called them, their visit or their payments."""

from decimal import Decimal

import pytest
from django.apps import apps

from hits.models import Assignment, Payment, Worker
from hits.payments.owing import Kind
from hits.payments.runs import PAID_ELSEWHERE, add_rule, mark_as_paid, note_paid_elsewhere
from hits.payments.sending import pay_run
from hits.workers.forgetting import forget_worker
from tests.paying import confirm, make_admin, make_paid_campaign
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
    add_rule(
        campaign=campaign, kind="flat", reason="Thanks", amount=Decimal("0.25"), actor=make_admin()
    )
    for kind in (Kind.APPROVE, Kind.BONUS):
        pay_run(run=confirm(campaign, kind))
    assert "AuditEntry" not in tables_with("visitalice") and "Payment" in tables_with("visitalice")
    hers = Payment.objects.filter(assignment__worker__external_id="alice")
    hers.update(problem="Refused once: no assignment visitalice of alice.")
    forget("alice")
    assert tables_with("visitalice") == tables_with("alice") == set()
    assert set(Payment.objects.values_list("state", flat=True)) == {"sent"}


def test_the_log_does_not_quote_what_the_provider_complains_of(mturk: MTurk):
    campaign = make_paid_campaign(names=("stranger",))
    pay_run(run=confirm(campaign))
    assert Payment.objects.get().problem and "AuditEntry" not in tables_with("visitstranger")


def test_the_transfer_of_a_list_paid_by_hand_stays_in_the_books():
    campaign = make_paid_campaign("link")
    run = confirm(campaign, is_by_hand=True)
    mark_as_paid(run=run, total=run.total, reference="transfer 7", actor=make_admin())
    forget("alice")
    assert set(Payment.objects.values_list("reference", flat=True)) == {"transfer 7"}


def test_an_id_of_work_that_was_paid_elsewhere_goes():
    campaign = make_paid_campaign("link")
    hers = Assignment.objects.get(worker__external_id="alice")
    note_paid_elsewhere(campaign=campaign, references={hers.pk: "3ABC"}, actor=None)
    assert tables_with("3ABC") == {"Payment"}
    forget("alice")
    assert tables_with("3ABC") == set()
    assert Payment.objects.get().reference == PAID_ELSEWHERE
