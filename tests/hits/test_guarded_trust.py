"""The guarded rule: pairs and agreement decide together, and agreement is asked again as others come."""

from datetime import timedelta

import pytest
from django.utils import timezone

from analysis.stats.roles import Role
from hits.models import Assignment, AuditEntry, Evidence, Participation
from hits.rating.assignments import take_assignment
from hits.rating.places import forecast, settle_unproven
from hits.tasks import weigh_others as weigh_others_task
from hits.workers.recomputing import recompute_workers
from hits.workers.trust import update_evidence, weigh_again
from hits.workers.weighing import weigh
from tests.decisions import exclude
from tests.factories import make_hits, make_worker
from tests.people import make_person
from tests.scored_hits import chance, do_hit, pair_script, reader, weighed_hit

pytestmark = pytest.mark.django_db


def guarded(**fields):
    defaults = {"n_segments": 70, "hit_size": 100, "min_ratings": 5, "trust_rule": "guarded"}
    return make_hits(**defaults | fields)


@pytest.fixture
def sent(monkeypatch) -> list[tuple]:
    """Messages to background processes."""
    messages: list[tuple] = []
    monkeypatch.setattr("hits.workers.trust.enqueue", lambda *message: messages.append(message))
    return messages


def trust(campaign, worker) -> str:
    return Participation.objects.get(campaign=campaign, worker=worker).trust


def latest(campaign, worker) -> Evidence:
    return Evidence.objects.filter(
        participation__campaign=campaign, participation__worker=worker
    ).last()


def hesitant():
    """Scores of a worker who gives one degraded text in ten fewer points: p = 0.17 after ten pairs, 0.08 after twenty."""
    seen = []

    def score(item):
        if item.role == Role.BAD_REFERENCE:
            seen.append(item)
            return 50 if len(seen) == 1 else 70
        return 70

    return score


def test_a_script_that_only_compares_pairs_is_found_out_once_three_others_are_trusted():
    campaign = guarded()
    script, people = make_worker("script"), [make_worker(f"reader {i}") for i in range(3)]
    hit = weighed_hit(campaign, script, pair_script(2)).hit
    assert trust(campaign, script) == "reliable"
    places = []
    for seed, person in enumerate(people):
        weighed_hit(campaign, person, reader(seed))
        hit.refresh_from_db()
        places.append((trust(campaign, script), hit.places_left))
    assert places == [("reliable", 3), ("reliable", 2), ("unreliable", 2)]
    assert [trust(campaign, person) for person in people] == ["reliable"] * 3
    evidence = latest(campaign, script)
    assert evidence.origin == "recomputation" and evidence.p < 0.05
    assert evidence.n_agreement_items == 70 and evidence.agreement_p > 0.5
    reason = AuditEntry.objects.filter(worker=script).first().reason
    assert "Scores do not follow those of the others: r = " in reason
    weighed_hit(campaign, make_worker(), reader(3))
    assert latest(campaign, people[0]).agreement_p < 0.01


def test_under_the_published_rule_agreement_only_advises():
    campaign = guarded(trust_rule="published")
    script = make_worker("script")
    weighed_hit(campaign, script, pair_script(2))
    for seed in range(3):
        weighed_hit(campaign, make_worker(), reader(seed))
    assert trust(campaign, script) == "reliable"
    assert latest(campaign, script).origin == "submission"
    recompute_workers(campaign=campaign)
    assert latest(campaign, script).agreement_p > 0.5 and trust(campaign, script) == "reliable"


def test_weighing_the_others_again_changes_nothing_the_second_time():
    campaign = guarded()
    for seed in range(4):
        last = weighed_hit(campaign, make_worker(), reader(seed))
    n_rows = Evidence.objects.count()
    assert weigh_again(campaign, [last.hit_id]) == 0
    update_evidence(assignment=last)
    assert Evidence.objects.count() == n_rows
    assert recompute_workers(campaign=campaign).n_evidence_changed == 0


def proven_late(seed):
    """Scores of a reader who lowers one degraded text of the first ten, and all later ones."""
    reads, given, seen = reader(seed), {}, []

    def score(item):
        given[item.pk] = reads(item)
        if item.role != Role.BAD_REFERENCE:
            return given[item.pk]
        seen.append(item)
        is_lowered = len(seen) == 1 or len(seen) > 10
        return given[item.partner_id] - (25 if is_lowered else 0)

    return score


def test_a_script_is_found_out_when_others_are_trusted_after_a_later_hit():
    campaign = guarded()
    script, people = make_worker("script"), [make_worker(f"reader {i}") for i in range(3)]
    weighed_hit(campaign, script, pair_script(2))
    scorers = [proven_late(seed) for seed in range(3)]
    trusted_after = []
    for _ in range(2):
        for person, scorer in zip(people, scorers, strict=True):
            weighed_hit(campaign, person, scorer, at=timezone.now() - timedelta(minutes=20))
        trusted_after.append([trust(campaign, one) for one in (script, *people)])
    assert trusted_after == [["reliable"] + ["unproven"] * 3, ["unreliable"] + ["reliable"] * 3]
    assert recompute_workers(campaign=campaign).n_evidence_changed == 0


def test_a_decision_lets_the_others_be_weighed_again(django_capture_on_commit_callbacks, sent):
    campaign = guarded()
    script, people = make_worker("script"), [make_worker(f"reader {i}") for i in range(3)]
    weighed_hit(campaign, script, pair_script(2))
    for seed, person in enumerate(people):
        weighed_hit(campaign, person, reader(seed))
    first = Participation.objects.select_related("campaign").get(worker=people[0])
    assert trust(campaign, script) == "unreliable"
    with django_capture_on_commit_callbacks(execute=True):
        exclude(participation=first, actor=make_person("admin", campaign), reason="A test")
    assert sent == [("hits.weigh_others", first.pk)]
    weigh_others_task(first.pk)
    # Two others are too few to compare with, so the pairs decide alone.
    assert trust(campaign, script) == "reliable"
    assert recompute_workers(campaign=campaign).n_evidence_changed == 0


def test_a_reader_judged_against_scripts_is_reliable_again_when_readers_come():
    campaign = guarded(min_ratings=8)
    scripts = [make_worker(f"script {i}") for i in range(3)]
    for seed, script in enumerate(scripts):
        weighed_hit(campaign, script, pair_script(seed + 1))
    people = [make_worker(f"reader {i}") for i in range(5)]
    for seed, person in enumerate(people):
        weighed_hit(campaign, person, reader(seed))
    recompute_workers(campaign=campaign)
    assert {trust(campaign, person) for person in people} == {"reliable"}
    assert "reliable" not in {trust(campaign, script) for script in scripts}


def test_only_trusted_workers_are_compared_with():
    campaign = guarded()
    for seed in range(3):
        weighed_hit(campaign, make_worker(), chance(seed + 20))
    person = make_worker("reader")
    weighed_hit(campaign, person, reader(5))
    assert not Participation.objects.exclude(worker=person).trusted().exists()
    assert latest(campaign, person).n_agreement_items == 0
    assert trust(campaign, person) == "reliable"


def test_an_undecided_worker_is_unproven_keeps_the_place_and_is_offered_another_hit():
    campaign = guarded(min_ratings=1)
    alice = make_worker("alice")
    first = weighed_hit(campaign, alice, hesitant(), at=timezone.now() - timedelta(minutes=20))
    evidence = latest(campaign, alice)
    assert 0.05 < evidence.p < 0.5 and evidence.n_pairs == 10
    assert trust(campaign, alice) == "unproven"
    first.hit.refresh_from_db()
    assert first.hit.places_left == 0 and forecast(campaign).n_unproven == 1
    second = take_assignment(campaign=campaign, worker=alice)
    assert second and second.hit != first.hit


def test_the_published_rule_would_have_judged_the_same_worker_at_once():
    campaign = guarded(min_ratings=1, trust_rule="published")
    alice = make_worker("alice")
    weighed_hit(campaign, alice, hesitant())
    assert trust(campaign, alice) == "unreliable"


def test_an_undecided_worker_at_the_limit_of_hits_is_not_waited_for():
    campaign = guarded(min_ratings=1, max_hits_per_worker=1)
    alice = make_worker("alice")
    first = weighed_hit(campaign, alice, hesitant(), at=timezone.now() - timedelta(minutes=20))
    assert forecast(campaign).n_stalled == 1
    settle_unproven()
    first.hit.refresh_from_db()
    assert first.hit.places_left == 1


def test_twenty_pairs_without_proof_speak_against_a_worker():
    campaign = guarded(min_ratings=1)
    alice = make_worker("alice")
    for _ in range(2):
        weighed_hit(campaign, alice, hesitant(), at=timezone.now() - timedelta(minutes=20))
    assert latest(campaign, alice).n_pairs == 20 and trust(campaign, alice) == "unreliable"


def test_equal_scores_for_genuine_texts_do_not_avoid_the_question():
    campaign = guarded(min_ratings=9)
    script = make_worker("script")
    weighed_hit(campaign, script, lambda item: 20 if item.role == Role.BAD_REFERENCE else 80)
    assert trust(campaign, script) == "reliable"
    for seed in range(3):
        weighed_hit(campaign, make_worker(), reader(seed))
    assert trust(campaign, script) == "unreliable" and latest(campaign, script).agreement_p == 1


def test_a_held_hit_is_no_evidence():
    campaign = guarded()
    alice = make_worker("alice")
    weighed_hit(campaign, alice, reader(1))
    held = do_hit(campaign, alice, chance(3))
    Assignment.objects.filter(pk=held.pk).update(
        hold="held", hold_reason="100 ratings in 5 seconds", held_at=timezone.now()
    )
    evidence = update_evidence(assignment=held)
    assert (evidence.n_hits, evidence.n_pairs, evidence.n_held_hits) == (1, 10, 1)
    assert trust(campaign, alice) == "reliable"


def test_a_worker_with_nothing_but_a_held_hit_is_unproven():
    campaign = guarded()
    alice = make_worker("alice")
    held = do_hit(campaign, alice, reader(1))
    Assignment.objects.filter(pk=held.pk).update(
        hold="discarded", hold_reason="100 ratings in 5 seconds", held_at=timezone.now()
    )
    evidence = update_evidence(assignment=held)
    assert (evidence.n_hits, evidence.n_held_hits, evidence.verdict) == (0, 1, "unproven")
    assert evidence.signature == weigh(evidence.participation)["signature"]


def test_the_slowest_and_the_claimed_times_are_those_the_server_saw():
    campaign = guarded()
    alice = make_worker("alice")
    weighed_hit(campaign, alice, reader(1), seconds=6)
    weighed_hit(campaign, alice, reader(2), seconds=1)
    evidence = latest(campaign, alice)
    assert evidence.median_gap_seconds == pytest.approx(1) and evidence.share_fast == 1
    assert evidence.passed_seconds == pytest.approx(700)
    assert evidence.claimed_seconds == pytest.approx(630)


def test_a_worker_who_scores_by_length_is_flagged():
    campaign = guarded()
    alice, bob = make_worker("alice"), make_worker("bob")
    weighed_hit(campaign, alice, lambda item: len(item.text) - 50)
    weighed_hit(campaign, bob, reader(1))
    evidence = latest(campaign, alice)
    assert evidence.has_likeness_flag and evidence.likeness_r == pytest.approx(1)
    assert evidence.likeness_measure == "length"
    assert not latest(campaign, bob).has_likeness_flag


def test_references_that_equal_the_gray_text_are_no_evidence():
    campaign = guarded(degradation="balanced", shows_gray_references=True)
    alice, reads = make_worker("alice"), reader(1)
    weighed_hit(campaign, alice, lambda item: 5 if item.role == Role.REFERENCE else reads(item))
    evidence = latest(campaign, alice)
    assert evidence.mean_reference is None and not evidence.has_scores_flag


def test_second_references_are_evidence():
    campaign = guarded(degradation="balanced", shows_gray_references=True)
    for item in campaign.hits.first().items.filter(role=Role.REFERENCE):
        item.text = f"Put differently: {item.text}"
        item.save()
    alice = make_worker("alice")
    weighed_hit(campaign, alice, lambda item: 5 if item.role == Role.REFERENCE else 60)
    assert latest(campaign, alice).mean_reference == 5
    assert latest(campaign, alice).has_scores_flag


def test_the_signature_names_the_rule_the_degradation_and_drift():
    campaign = guarded(drift="since")
    alice = make_worker("alice")
    weighed_hit(campaign, alice, reader(1))
    assert latest(campaign, alice).signature.startswith(
        "qc:guarded,paired-t,p<0.05,pairs>=5|agreement:p<0.01,items>=30,others>=3,coherence p<0.01|"
        "against:p>0.5,pairs>=20,items>=100|window:3|degraded:published|drift:since|version:"
    )


@pytest.mark.parametrize("n_others", [0, 6])
def test_the_queries_of_a_weighing_do_not_grow(n_others, django_assert_num_queries):
    campaign = guarded(min_ratings=12, n_segments=70 + 35 * n_others)
    for seed in range(n_others):
        weighed_hit(campaign, make_worker(), reader(seed))
    alice = make_worker("alice")
    weighed_hit(campaign, alice, reader(30))
    person = Participation.objects.select_related("campaign").get(worker=alice)
    # One for texts that the worker reported.
    with django_assert_num_queries(6 + bool(n_others)):
        weigh(person)
