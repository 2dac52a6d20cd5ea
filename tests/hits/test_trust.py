import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, transaction

from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.exceptions import DecisionRefused
from hits.models import Assignment, AuditEntry, Evidence, Participation
from hits.rating.assignments import release_expired, take_assignment
from hits.rating.places import forecast
from hits.workers import trust
from hits.workers.trust import update_evidence, weigh_pending
from hits.workers.weighing import weigh
from tests.decisions import exclude, let_evidence_decide, reinstate
from tests.factories import log_lines, make_hits, make_worker

pytestmark = pytest.mark.django_db


def simulate(campaign, behaviour: Behaviour, *, hits: int = 1, seed: int = 3) -> Participation:
    """Let one worker do some HITs and weigh them."""
    simulate_workers(campaign=campaign, crowd={behaviour: 1}, hits_per_worker=hits, seed=seed)
    weigh_pending()
    return Participation.objects.get(worker__external_id=f"{behaviour}-{seed}-1")


@pytest.fixture
def campaign():
    return make_hits(n_segments=140, hit_size=100, min_ratings=2)


@pytest.fixture
def admin():
    return User.objects.create_user("ada")


def test_an_honest_worker_is_reliable_and_a_random_one_unreliable(campaign):
    honest, careless = simulate(campaign, Behaviour.HONEST), simulate(campaign, Behaviour.RANDOM)
    assert honest.trust == "reliable" and honest.is_trusted
    assert careless.trust == "unreliable" and careless.is_discarded
    evidence = honest.evidence.get()
    assert (evidence.n_pairs, evidence.n_repeats, evidence.n_hits) == (10, 10, 1)
    assert evidence.p < 0.05 and evidence.mean_difference < 0
    assert evidence.mean_bad_reference < evidence.mean_genuine < evidence.mean_reference
    assert "version:" in evidence.signature


def test_evidence_is_weighed_once_for_each_hit_and_kept_as_history(campaign):
    person = simulate(campaign, Behaviour.HONEST, hits=3)
    assert [row.n_hits for row in person.evidence.all()] == [3, 3, 3]
    assignment = Assignment.objects.first()
    again = update_evidence(assignment=assignment)
    assert again == assignment.evidence.get() and Evidence.objects.count() == 3
    assert weigh_pending() == 0


def test_the_work_of_a_participation_is_of_that_worker_and_campaign():
    here, there, alice = make_hits(min_ratings=2), make_hits(), make_worker()
    expected = take_assignment(campaign=here, worker=alice)
    take_assignment(campaign=here, worker=make_worker())
    release_expired(at=expected.expires_at)
    take_assignment(campaign=there, worker=alice)
    participation = Participation.objects.create(campaign=here, worker=alice)
    assert list(Assignment.objects.of(participation)) == [expected]
    assert not Assignment.objects.submitted().of(participation).exists()


def test_a_worker_who_gets_careless_is_drifting_but_trusted():
    campaign = make_hits(n_segments=180, hit_size=100)
    person = simulate(campaign, Behaviour.DRIFTING, hits=5)
    latest = person.evidence.last()
    assert person.trust == "drifting" and person.is_trusted
    assert latest.p < 0.05 <= latest.window_p
    assert latest.window_n_pairs == 30 < latest.n_pairs == 50


def test_every_change_of_trust_is_logged_with_its_reason(campaign):
    person = simulate(campaign, Behaviour.RANDOM)
    entry = AuditEntry.objects.get(action="trust changed")
    assert entry.worker == person.worker and entry.actor is None
    assert entry.details["before"] == "unproven" and entry.details["after"] == "unreliable"
    assert "Does not tell degraded from genuine" in entry.reason


def test_careless_work_opens_its_place_again_and_honest_work_does_not(campaign):
    hit = campaign.hits.get(number=1)
    simulate(campaign, Behaviour.HONEST)
    hit.refresh_from_db()
    assert hit.places_left == 1
    simulate(campaign, Behaviour.RANDOM)
    hit.refresh_from_db()
    assert hit.places_left == 1


def test_a_decision_overrides_present_and_later_evidence(campaign, admin):
    person = simulate(campaign, Behaviour.RANDOM)
    person = reinstate(participation=person, actor=admin, reason="read them with me")
    assert person.state == "reinstated" and person.is_trusted
    person = simulate(campaign, Behaviour.RANDOM, hits=2)
    assert person.trust == "unreliable" and person.state == "reinstated"
    person = let_evidence_decide(participation=person, actor=admin, reason="on second thoughts")
    assert person.state == "unreliable"
    actions = AuditEntry.objects.filter(actor=admin).values_list("action", flat=True)
    assert list(actions) == ["decision withdrawn", "reinstated"]


def test_excluding_a_worker_opens_the_places_and_reinstating_closes_them(campaign, admin):
    person = simulate(campaign, Behaviour.HONEST, hits=2)
    hits = campaign.hits.order_by("number").values_list("places_left", flat=True)
    assert list(hits[:2]) == [1, 1]
    exclude(participation=person, actor=admin, reason="two accounts")
    assert list(hits[:2]) == [2, 2]
    assert take_assignment(campaign=campaign, worker=person.worker) is None
    reinstate(participation=person, actor=admin, reason="a mistake")
    assert list(hits[:2]) == [1, 1]


@pytest.mark.parametrize("reason", ["", "  "])
def test_a_decision_needs_a_reason(campaign, admin, reason):
    person = Participation.objects.create(campaign=campaign, worker=make_worker())
    with pytest.raises(DecisionRefused, match="reason"):
        exclude(participation=person, actor=admin, reason=reason)
    assert not log_lines().exists()


def test_the_database_refuses_to_change_or_delete_log_entries(campaign, admin):
    person = Participation.objects.create(campaign=campaign, worker=make_worker())
    exclude(participation=person, actor=admin, reason="spam")
    for attempt in (
        lambda: AuditEntry.objects.update(reason="nothing happened"),
        lambda: AuditEntry.objects.all()._raw_delete("default"),
    ):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            attempt()


def test_weighing_takes_few_queries(campaign, django_assert_max_num_queries):
    simulate(campaign, Behaviour.HONEST, hits=2)
    simulate_workers(campaign=campaign, crowd={Behaviour.HONEST: 1}, seed=9)
    pending = Assignment.objects.get(evidence_at=None)
    with django_assert_max_num_queries(21):
        update_evidence(assignment=pending)


def test_the_forecast_counts_completed_and_missing_work(campaign):
    assert forecast(campaign).n_missing == campaign.hits.count() * 2
    simulate(campaign, Behaviour.HONEST, hits=2)
    simulate(campaign, Behaviour.RANDOM)
    take_assignment(campaign=campaign, worker=make_worker())
    prediction = forecast(campaign)
    assert (prediction.n_trusted, prediction.n_discarded, prediction.n_in_progress) == (2, 1, 1)
    assert prediction.n_missing == campaign.hits.count() * 2 - 3
    assert prediction.pass_rate == pytest.approx(2 / 3) and prediction.is_pass_rate_measured
    assert prediction.n_expected == round((prediction.n_missing + 1 / 3) / (2 / 3))


def test_a_spending_cap_stops_new_places(campaign):
    campaign.pay_per_hit, campaign.spending_cap = 2, 5
    campaign.save()
    assignments = [take_assignment(campaign=campaign, worker=make_worker()) for _ in range(3)]
    assert assignments[0] and assignments[1] and assignments[2] is None
    assert forecast(campaign).is_stopped_by_cap


def test_an_assignment_that_cannot_be_weighed_does_not_block_the_others(
    campaign, caplog, monkeypatch
):
    simulate_workers(campaign=campaign, crowd={Behaviour.HONEST: 2}, seed=3)
    first, second = Assignment.objects.order_by("pk")

    def weigh_second(participation: Participation) -> dict:
        if participation.worker_id == first.worker_id:
            raise ValueError("a number that cannot be weighed")
        return weigh(participation)

    monkeypatch.setattr(trust, "weigh", weigh_second)
    assert weigh_pending() == 1
    second.refresh_from_db()
    assert second.evidence_at and "could not be weighed" in caplog.text
