"""Decisions about workers: the preview says what will happen, and then exactly that happens."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from analysis.gold.runs import build_gold
from analysis.models import GoldScore
from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.exceptions import DecisionRefused
from hits.models import AuditEntry, Campaign, Participation, Segment
from hits.rating.joining import take_part
from hits.rating.places import amount_owed, forecast
from hits.workers.deciding import Choice, Decided, decide, preview_decision
from hits.workers.trust import weigh_pending
from tests.cast import campaign_with_workers, worker_like
from tests.decisions import exclude, reinstate
from tests.factories import make_hits, make_worker
from tests.hits.test_import_collection import take_in
from tests.people import client_of, make_person

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    return campaign_with_workers()


def complete(campaign: Campaign) -> set[int]:
    """The translations that have gold, once it is built anew."""
    run = build_gold(campaign=campaign)
    return set(
        GoldScore.objects.filter(run=run, is_complete=True).values_list("translation", flat=True)
    )


def places(campaign: Campaign) -> dict[int, int]:
    return dict(campaign.hits.values_list("pk", "places_left"))


def n_segments(translations: set[int]) -> int:
    return Segment.objects.filter(translations__in=translations).distinct().count()


def check_that_it_comes_true(
    campaign: Campaign, people: list[Participation], choice: Choice
) -> None:
    preview = preview_decision(campaign=campaign, participations=people, choice=choice)
    gold_before, places_before = complete(campaign), places(campaign)
    decide(
        campaign=campaign,
        participations=people,
        choice=choice,
        actor=make_person("admin"),
        reason="seen twice",
    )
    gold_after, places_after = complete(campaign), places(campaign)
    lost, won = gold_before - gold_after, gold_after - gold_before
    gold = preview.gold
    assert (gold.n_translations_lost, gold.n_translations_won) == (len(lost), len(won))
    assert (gold.n_segments_lost, gold.n_segments_won) == (n_segments(lost), n_segments(won))
    steps = [places_after[pk] - places_before[pk] for pk in places_before]
    assert preview.n_places_opened == sum(step for step in steps if step > 0)
    assert preview.n_places_closed == -sum(step for step in steps if step < 0)
    states = {one.pk: one.state for one in Participation.objects.all()}
    assert all(change.after == states[change.participation.pk] for change in preview.changes)


@pytest.mark.parametrize("n_segments", [70, 50], ids=["even", "the last HIT repeats the first"])
@pytest.mark.parametrize("choice", [Choice.EXCLUDE, Choice.REINSTATE])
@pytest.mark.parametrize("n_workers", [1, 4])
def test_what_the_preview_says_comes_true(choice, n_workers, n_segments):
    campaign = make_hits(n_segments=n_segments, hit_size=100, min_ratings=2)
    for behaviour in (Behaviour.RANDOM, Behaviour.HONEST):
        simulate_workers(
            campaign=campaign,
            crowd={behaviour: 2},
            hits_per_worker=2,
            seed=3,
            after_hit=lambda assignment: weigh_pending(),
        )
    kind = "honest" if choice == Choice.EXCLUDE else "random"
    people = sorted(
        Participation.objects.select_related("worker"),
        key=lambda one: not one.worker.external_id.startswith(kind),
    )
    check_that_it_comes_true(campaign, people[:n_workers], choice)


def test_taking_a_decision_back_comes_true_as_previewed(campaign):
    honest = worker_like("honest")
    exclude(participation=honest, actor=make_person("admin"), reason="two accounts")
    honest.refresh_from_db()
    check_that_it_comes_true(campaign, [honest], Choice.EVIDENCE)


def test_unproven_work_that_nobody_waits_for_opens_no_place_twice():
    campaign = make_hits(n_segments=42, hit_size=40, min_ratings=1)
    simulate_workers(campaign=campaign, crowd={Behaviour.HONEST: 1}, seed=3)
    weigh_pending()
    people = list(Participation.objects.all())
    check_that_it_comes_true(campaign, people, Choice.EXCLUDE)
    check_that_it_comes_true(campaign, list(Participation.objects.all()), Choice.REINSTATE)


def test_an_archive_is_previewed_by_its_ratings():
    campaign = take_in("mturk").campaign
    Campaign.objects.filter(pk=campaign.pk).update(min_ratings=1)
    campaign.refresh_from_db()
    people = list(campaign.participations.all())
    check_that_it_comes_true(campaign, people, Choice.REINSTATE)
    check_that_it_comes_true(campaign, list(campaign.participations.all())[:1], Choice.EXCLUDE)


def test_the_preview_writes_nothing_and_asks_as_often_for_four_as_for_one(campaign):
    people = list(Participation.objects.select_related("worker"))
    counts = set()
    for chosen in (people[-1:], people):
        with CaptureQueriesContext(connection) as queries:
            preview_decision(campaign=campaign, participations=chosen, choice=Choice.EXCLUDE)
        counts.add(len(queries))
        assert all(query["sql"].startswith("SELECT") for query in queries)
    assert counts == {16}


def test_what_is_owed_stays_owed(campaign):
    owed = amount_owed(campaign)
    preview = preview_decision(
        campaign=campaign, participations=[worker_like("honest")], choice=Choice.EXCLUDE
    )
    assert (preview.n_hits_owed, preview.amount_owed) == (2, 4)
    # Two places open; of seven HITs handed in four were trusted: it takes 2 / (4 / 7) more.
    assert forecast(campaign).pass_rate == pytest.approx(4 / 7)
    assert (preview.n_places_opened, preview.n_expected, preview.expected_cost) == (2, 4, 8)
    people = [worker_like("honest")]
    decide(
        campaign=campaign,
        participations=people,
        choice=Choice.EXCLUDE,
        actor=make_person("admin"),
        reason="two accounts",
    )
    assert amount_owed(campaign) == owed


def test_deciding_twice_is_deciding_once(campaign):
    ada, people = make_person("admin"), [worker_like("honest"), worker_like("random")]
    for n_decided in (2, 0):
        assert Decided(n_decided) == decide(
            campaign=campaign,
            participations=[Participation.objects.get(pk=one.pk) for one in people],
            choice=Choice.EXCLUDE,
            actor=ada,
            reason="two accounts",
        )
    entries = AuditEntry.objects.filter(actor=ada)
    assert [(one.action, one.reason) for one in entries] == [("excluded", "two accounts")] * 2


def test_a_newer_decision_of_somebody_else_is_not_overwritten(campaign):
    ada, honest, random = make_person("admin"), worker_like("honest"), worker_like("random")
    seen = [Participation.objects.get(pk=one.pk) for one in (honest, random)]
    # Meanwhile, after the preview was looked at and before the last worker's turn:
    reinstate(participation=random, actor=ada, reason="I asked, it is fine")
    decided = decide(
        campaign=campaign, participations=seen, choice=Choice.EXCLUDE, actor=ada, reason="in bulk"
    )
    assert decided == Decided(1, n_changed=1)
    assert worker_like("honest").decision == "excluded"
    assert worker_like("random").decision_reason == "I asked, it is fine"


def test_the_page_says_whom_it_left_alone(campaign, monkeypatch):
    client, honest = client_of("admin", campaign), worker_like("honest")
    url = page_about(campaign, honest)
    seen = seen_on(client.get(url))
    monkeypatch.setattr("hits.views.workers.decide_as_seen", lambda **given: Decided(0, 1))
    answer = client.post(url, {"seen": seen, "reason": "two accounts"}, follow=True)
    assert "Not applied to 1 worker changed by someone else" in answer.content.decode()


def test_a_decision_needs_a_reason_before_anything_is_decided(campaign):
    with pytest.raises(DecisionRefused):
        decide(
            campaign=campaign,
            participations=list(Participation.objects.all()),
            choice=Choice.EXCLUDE,
            actor=make_person("admin"),
            reason=" ",
        )
    assert not Participation.objects.exclude(decision="").exists()


def test_a_worker_of_another_campaign_is_not_decided_about(campaign):
    stranger = take_part(campaign=make_hits(), worker=make_worker())
    decided = decide(
        campaign=campaign,
        participations=[stranger],
        choice=Choice.EXCLUDE,
        actor=make_person("admin"),
        reason="spam",
    )
    stranger.refresh_from_db()
    assert decided == Decided(0) and stranger.decision == ""


# The page ------------------------------------------------------------------------------------


def page_about(campaign: Campaign, *people: Participation, choice: str = "exclude") -> str:
    query = "&".join(f"worker={one.worker.code}" for one in people)
    return f"{reverse('decide_workers', args=[campaign.code])}?choice={choice}&{query}"


def seen_on(answer) -> str:
    return answer.context["preview"].fingerprint


def test_the_page_previews_and_decides_once_it_is_confirmed_with_a_reason(campaign):
    client, honest = client_of("admin", campaign), worker_like("honest")
    url = page_about(campaign, honest)
    shown = client.get(url)
    text = " ".join(shown.content.decode().split())
    assert "140</dd>" in text and "Pay is not affected" in text and "4.00 EUR" in text
    assert Participation.objects.get(pk=honest.pk).decision == ""
    answer = client.post(url, {"seen": seen_on(shown), "reason": "two accounts"}, follow=True)
    assert "Decision applied to 1 worker: leave their ratings out." in answer.content.decode()
    honest.refresh_from_db()
    assert (honest.state, honest.decision_reason) == ("excluded", "two accounts")
    assert AuditEntry.objects.first().actor.username.startswith("admin")


def test_without_a_reason_nothing_is_decided_and_the_page_says_so(campaign):
    client, honest = client_of("admin", campaign), worker_like("honest")
    url = page_about(campaign, honest)
    answer = client.post(url, {"seen": seen_on(client.get(url)), "reason": "  "})
    assert "This field is required." in answer.content.decode()
    assert not Participation.objects.exclude(decision="").exists()


def test_a_preview_that_is_out_of_date_is_shown_again(campaign):
    client, honest = client_of("admin", campaign), worker_like("honest")
    url = page_about(campaign, honest)
    seen = seen_on(client.get(url))
    Participation.objects.filter(pk=honest.pk).update(trust="drifting")
    answer = client.post(url, {"seen": seen, "reason": "two accounts"})
    assert "Something has changed in the meantime" in answer.content.decode()
    assert "two accounts" in answer.content.decode()
    assert not Participation.objects.exclude(decision="").exists()
    client.post(url, {"seen": seen_on(answer), "reason": "two accounts"})
    assert Participation.objects.get(pk=honest.pk).decision == "excluded"


def test_what_was_decided_before_leaves_nothing_to_confirm(campaign):
    client, honest = client_of("admin", campaign), worker_like("honest")
    exclude(participation=honest, actor=make_person("admin"), reason="spam")
    page = client.get(page_about(campaign, honest)).content.decode()
    assert "There is nothing to do" in page and "<textarea" not in page


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("", "Tick the workers first."),
        ("?choice=exclude", "Tick the workers first."),
        ("?choice=exclude&worker=nonsense", "This is not a worker."),
        ("?choice=exclude" + "&worker=" + "&worker=".join(["0" * 32] * 61), "at most 60 workers"),
    ],
)
def test_a_choice_that_makes_no_sense_leads_back_to_the_table(campaign, query, says):
    url = reverse("decide_workers", args=[campaign.code]) + query
    assert says in client_of("admin", campaign).get(url, follow=True).content.decode()


def test_workers_of_other_campaigns_do_not_exist_on_the_page(campaign):
    stranger = take_part(campaign=make_hits(), worker=make_worker())
    assert client_of("admin", campaign).get(page_about(campaign, stranger)).status_code == 404


def test_a_form_from_elsewhere_decides_nothing(campaign):
    client, honest = client_of("admin", campaign), worker_like("honest")
    seen = seen_on(client.get(page_about(campaign, honest)))
    client.handler.enforce_csrf_checks = True
    answer = client.post(page_about(campaign, honest), {"seen": seen, "reason": "spam"})
    assert answer.status_code == 403
    assert not Participation.objects.exclude(decision="").exists()
