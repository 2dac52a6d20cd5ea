"""Decisions about workers have exactly the effects that their preview shows."""

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
from tests.hits.test_import_collection import import_example
from tests.people import client_of, make_person

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def shared_campaign(shared_rows: None) -> Campaign:
    return campaign_with_workers()


@pytest.fixture
def campaign(shared_campaign: Campaign) -> Campaign:
    return Campaign.objects.get(pk=shared_campaign.pk)


def complete(campaign: Campaign) -> set[int]:
    """Rebuild gold and return the translations that have it."""
    run = build_gold(campaign=campaign)
    return set(
        GoldScore.objects.filter(run=run, is_complete=True).values_list("translation", flat=True)
    )


def places(campaign: Campaign) -> dict[int, int]:
    return dict(campaign.hits.values_list("pk", "places_left"))


def n_segments(translations: set[int]) -> int:
    return Segment.objects.filter(translations__in=translations).distinct().count()


def decide_on(campaign: Campaign, *people: Participation, **options) -> Decided:
    defaults = {"choice": Choice.EXCLUDE, "reason": "two accounts"}
    if "actor" not in options:
        defaults["actor"] = make_person("admin")
    return decide(campaign=campaign, participations=list(people), **defaults | options)


def fresh(*people: Participation) -> list[Participation]:
    return [Participation.objects.get(pk=person.pk) for person in people]


def assert_preview_is_right(
    campaign: Campaign, people: list[Participation], choice: Choice
) -> None:
    preview = preview_decision(campaign=campaign, participations=people, choice=choice)
    gold_before, places_before = complete(campaign), places(campaign)
    decide_on(campaign, *people, choice=choice)
    gold_after, places_after = complete(campaign), places(campaign)
    lost, gained = gold_before - gold_after, gold_after - gold_before
    gold = preview.gold
    assert (gold.n_translations_lost, gold.n_translations_won) == (len(lost), len(gained))
    assert (gold.n_segments_lost, gold.n_segments_won) == (n_segments(lost), n_segments(gained))
    differences = [places_after[pk] - places_before[pk] for pk in places_before]
    assert preview.n_places_opened == sum(n for n in differences if n > 0)
    assert preview.n_places_closed == -sum(n for n in differences if n < 0)
    states = {person.pk: person.state for person in Participation.objects.all()}
    assert all(change.after == states[change.participation.pk] for change in preview.changes)


@pytest.mark.parametrize("n_segments", [70, 50], ids=["even", "the last HIT repeats the first"])
@pytest.mark.parametrize("choice", [Choice.EXCLUDE, Choice.REINSTATE])
@pytest.mark.parametrize("n_workers", [1, 4])
def test_the_preview_of_excluding_or_reinstating_is_right(choice, n_workers, n_segments):
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
        campaign.participations.select_related("worker"),
        key=lambda person: not person.worker.external_id.startswith(kind),
    )
    assert_preview_is_right(campaign, people[:n_workers], choice)


def test_the_preview_of_withdrawing_a_decision_is_right(campaign):
    honest = worker_like("honest")
    exclude(participation=honest, actor=make_person("admin"), reason="two accounts")
    honest.refresh_from_db()
    assert_preview_is_right(campaign, [honest], Choice.EVIDENCE)


def test_unproven_work_does_not_open_its_place_twice():
    campaign = make_hits(n_segments=42, hit_size=40, min_ratings=1)
    simulate_workers(campaign=campaign, crowd={Behaviour.HONEST: 1}, seed=3)
    weigh_pending()
    people = list(Participation.objects.all())
    assert_preview_is_right(campaign, people, Choice.EXCLUDE)
    assert_preview_is_right(campaign, list(Participation.objects.all()), Choice.REINSTATE)


def test_the_preview_for_an_archive_is_right():
    campaign = import_example("mturk").campaign
    Campaign.objects.filter(pk=campaign.pk).update(min_ratings=1)
    campaign.refresh_from_db()
    people = list(campaign.participations.all())
    assert_preview_is_right(campaign, people, Choice.REINSTATE)
    assert_preview_is_right(campaign, list(campaign.participations.all())[:1], Choice.EXCLUDE)


def test_the_preview_writes_nothing_and_its_queries_do_not_grow(campaign):
    people = list(Participation.objects.select_related("worker").order_by("pk"))
    counts = set()
    for chosen in (people[-1:], people):
        with CaptureQueriesContext(connection) as queries:
            preview_decision(campaign=campaign, participations=chosen, choice=Choice.EXCLUDE)
        counts.add(len(queries))
        assert all(query["sql"].startswith("SELECT") for query in queries)
    assert counts == {19}


def test_excluding_a_worker_does_not_change_what_is_owed(campaign):
    owed = amount_owed(campaign)
    preview = preview_decision(
        campaign=campaign, participations=[worker_like("honest")], choice=Choice.EXCLUDE
    )
    assert (preview.n_hits_owed, preview.amount_owed) == (2, 4)
    # Two places open, and four of seven submitted HITs were trusted: 2 / (4 / 7) more are needed.
    assert forecast(campaign).pass_rate == pytest.approx(4 / 7)
    assert (preview.n_places_opened, preview.n_expected, preview.expected_cost) == (2, 4, 8)
    decide_on(campaign, worker_like("honest"))
    assert amount_owed(campaign) == owed


def test_deciding_twice_has_no_further_effect(campaign):
    ada, people = make_person("admin"), [worker_like("honest"), worker_like("random")]
    for n_decided in (2, 0):
        assert decide_on(campaign, *fresh(*people), actor=ada) == Decided(n_decided)
    entries = AuditEntry.objects.filter(actor=ada).values_list("action", "reason")
    assert list(entries) == [("excluded", "two accounts")] * 2


def test_a_newer_decision_by_somebody_else_is_not_overwritten(campaign):
    ada, honest, random = make_person("admin"), worker_like("honest"), worker_like("random")
    previewed = fresh(honest, random)
    reinstate(participation=random, actor=ada, reason="I asked, it is fine")
    assert decide_on(campaign, *previewed, actor=ada) == Decided(1, n_changed=1)
    assert worker_like("honest").decision == "excluded"
    assert worker_like("random").decision_reason == "I asked, it is fine"


def test_the_page_says_how_many_workers_were_not_changed(campaign, monkeypatch):
    client, honest = client_of("admin", campaign), worker_like("honest")
    url = page_about(campaign, honest)
    fingerprint = fingerprint_on(client.get(url))
    monkeypatch.setattr("hits.views.workers.decide_as_seen", lambda **_: Decided(0, 1))
    answer = client.post(url, {"seen": fingerprint, "reason": "two accounts"}, follow=True)
    assert "Not applied to 1 worker changed by someone else" in answer.content.decode()


def test_a_decision_needs_a_reason(campaign):
    with pytest.raises(DecisionRefused):
        decide_on(campaign, *Participation.objects.all(), reason=" ")
    assert not Participation.objects.exclude(decision="").exists()


def test_a_worker_of_another_campaign_is_not_changed(campaign):
    stranger = take_part(campaign=make_hits(), worker=make_worker())
    assert decide_on(campaign, stranger) == Decided(0)
    stranger.refresh_from_db()
    assert stranger.decision == ""


# The page ------------------------------------------------------------------------------------


def page_about(campaign: Campaign, *people: Participation, choice: str = "exclude") -> str:
    query = "&".join(f"worker={person.worker.code}" for person in people)
    return f"{reverse('decide_workers', args=[campaign.code])}?choice={choice}&{query}"


def fingerprint_on(answer) -> str:
    return answer.context["preview"].fingerprint


def test_the_page_previews_and_decides_once_it_is_confirmed_with_a_reason(campaign):
    client, honest = client_of("admin", campaign), worker_like("honest")
    url = page_about(campaign, honest)
    preview = client.get(url)
    text = " ".join(preview.content.decode().split())
    assert "140</dd>" in text and "Pay is not affected" in text and "4.00 EUR" in text
    assert Participation.objects.get(pk=honest.pk).decision == ""
    sent = {"seen": fingerprint_on(preview), "reason": "two accounts"}
    answer = client.post(url, sent, follow=True)
    assert "Decision applied to 1 worker: leave their ratings out." in answer.content.decode()
    honest.refresh_from_db()
    assert (honest.state, honest.decision_reason) == ("excluded", "two accounts")
    assert AuditEntry.objects.first().actor.username.startswith("admin")


def test_without_a_reason_nothing_is_decided_and_the_page_says_so(campaign):
    client, honest = client_of("admin", campaign), worker_like("honest")
    url = page_about(campaign, honest)
    answer = client.post(url, {"seen": fingerprint_on(client.get(url)), "reason": "  "})
    assert "This field is required." in answer.content.decode()
    assert not Participation.objects.exclude(decision="").exists()


def test_a_preview_that_is_out_of_date_is_shown_again(campaign):
    client, honest = client_of("admin", campaign), worker_like("honest")
    url = page_about(campaign, honest)
    fingerprint = fingerprint_on(client.get(url))
    Participation.objects.filter(pk=honest.pk).update(trust="drifting")
    answer = client.post(url, {"seen": fingerprint, "reason": "two accounts"})
    assert "Something has changed in the meantime" in answer.content.decode()
    assert "two accounts" in answer.content.decode()
    assert not Participation.objects.exclude(decision="").exists()
    client.post(url, {"seen": fingerprint_on(answer), "reason": "two accounts"})
    assert Participation.objects.get(pk=honest.pk).decision == "excluded"


def test_a_decision_made_before_leaves_nothing_to_confirm(campaign):
    client, honest = client_of("admin", campaign), worker_like("honest")
    exclude(participation=honest, actor=make_person("admin"), reason="spam")
    page = client.get(page_about(campaign, honest)).content.decode()
    assert "There is nothing to do" in page and "<textarea" not in page


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "Select at least one worker."),
        ("?choice=exclude", "Select at least one worker."),
        ("?choice=exclude&worker=nonsense", "This is not a worker."),
        ("?choice=exclude" + "&worker=" + "&worker=".join(["0" * 32] * 61), "at most 60 workers"),
    ],
)
def test_an_invalid_choice_leads_back_to_the_table(campaign, query, message):
    url = reverse("decide_workers", args=[campaign.code]) + query
    assert message in client_of("admin", campaign).get(url, follow=True).content.decode()


def test_everyone_who_matches_is_decided_about_in_batches(campaign, monkeypatch):
    monkeypatch.setattr("hits.views.workers.BATCH", 1)
    client = client_of("admin", campaign)
    reliable = campaign.participations.filter(trust="reliable")
    n_reliable, n_others = reliable.count(), campaign.participations.count() - reliable.count()
    assert n_reliable == 2
    query = "?choice=exclude&all=yes&state=reliable&sort=-active"
    url = reverse("decide_workers", args=[campaign.code]) + query
    for _ in range(n_reliable):
        page = client.get(url)
        assert len(page.context["preview"].changes) == 1
        assert ("also for confirmation" in page.content.decode()) == bool(page.context["n_later"])
        sent = {"seen": fingerprint_on(page), "reason": "all of one class"}
        answer = client.post(url, sent)
    # Back to the filtered table, where nobody is left.
    assert "state=reliable" in answer.url
    decided = campaign.participations.filter(decision="excluded", decision_reason=sent["reason"])
    assert decided.count() == n_reliable
    assert campaign.participations.filter(decision="").count() == n_others
    again = client.get(url, follow=True).content.decode()
    assert "already been decided for all of these workers" in again


def test_workers_of_other_campaigns_are_not_found(campaign):
    stranger = take_part(campaign=make_hits(), worker=make_worker())
    assert client_of("admin", campaign).get(page_about(campaign, stranger)).status_code == 404


def test_a_form_without_a_csrf_token_decides_nothing(campaign):
    client, honest = client_of("admin", campaign), worker_like("honest")
    sent = {"seen": fingerprint_on(client.get(page_about(campaign, honest))), "reason": "spam"}
    client.handler.enforce_csrf_checks = True
    answer = client.post(page_about(campaign, honest), sent)
    assert answer.status_code == 403
    assert not Participation.objects.exclude(decision="").exists()
