"""The pages about workers: what admins see, and in how many queries."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.models import Assignment, Campaign, Evidence, Participation, Worker
from hits.rating.joining import take_part
from hits.workers.reading import (
    SORTS,
    WORKERS_PER_PAGE,
    WorkerFilters,
    duration,
    flags_in_words,
    workers_page,
)
from hits.workers.trust import weigh_pending
from hits.workers.wording import p_in_words, pairs_in_words, repeats_in_words, window_in_words
from tests.cast import campaign_with_workers, worker_like
from tests.decisions import exclude
from tests.factories import make_hits, make_worker
from tests.people import client_of, make_person

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def shared_campaign(shared_rows: None) -> Campaign:
    return campaign_with_workers()


@pytest.fixture
def campaign(shared_campaign: Campaign) -> Campaign:
    return Campaign.objects.get(pk=shared_campaign.pk)


@pytest.fixture
def admin(campaign) -> Client:
    return client_of("admin", campaign)


def address(name: str, campaign: Campaign, *args: object) -> str:
    return reverse(name, args=[campaign.code, *args])


def words(answer) -> str:
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def names(campaign: Campaign, **filters: str) -> list[str]:
    page = workers_page(campaign, WorkerFilters(**filters))
    return [row.participation.worker.external_id for row in page.rows]


# The table -----------------------------------------------------------------------------------


def test_the_table_lists_each_worker_with_the_verdict_of_the_evidence(campaign, admin):
    page = words(admin.get(address("campaign_workers", campaign)))
    assert page.count('scope="row"') == campaign.participations.count()
    assert "Reliable 2" in page and "Unreliable" in page
    worker = worker_like("honest").worker
    assert f'href="{address("campaign_worker", campaign, worker.code)}"' in page


def test_researchers_see_no_workers_and_no_link_to_them(campaign):
    client = client_of("researcher", campaign)
    assert client.get(address("campaign_workers", campaign)).status_code == 403
    overview = client.get(address("campaign_overview", campaign)).content.decode()
    assert address("campaign_workers", campaign) not in overview and "honest-3" not in overview


def test_queries_do_not_grow_with_workers(campaign, admin):
    counts = []
    for n_more in (0, WORKERS_PER_PAGE + 6):
        workers = Worker.objects.bulk_create(
            Worker(provider="link", external_id=f"w{n}") for n in range(n_more)
        )
        people = Participation.objects.bulk_create(
            Participation(campaign=campaign, worker=worker) for worker in workers
        )
        copies = [Evidence.objects.values().first() for _ in people]
        Evidence.objects.bulk_create(
            Evidence(**copy | {"id": None, "participation": person, "origin": "recomputation"})
            for copy, person in zip(copies, people, strict=True)
        )
        for query in ({}, {"sort": "p", "flag": "scrs"}, {"sort": "-flags", "search": "a"}):
            with CaptureQueriesContext(connection) as queries:
                admin.get(address("campaign_workers", campaign), query)
            counts.append(len(queries))
    # Session, user, second factor, memberships, campaign; count, keys, page, evidence, latest actions, states, holds.
    assert set(counts) == {12}
    page = words(admin.get(address("campaign_workers", campaign)))
    assert "Page 1 of 2" in page and page.count('scope="row"') == WORKERS_PER_PAGE


@pytest.mark.parametrize("sort", SORTS)
def test_every_heading_sorts_both_ways_with_missing_values_last(campaign, sort):
    take_part(campaign=campaign, worker=make_worker("nothing known"))
    rising, falling = names(campaign, sort=sort), names(campaign, sort=f"-{sort}")
    assert sorted(rising) == sorted(falling) and len(rising) == 5
    if sort not in ("worker", "state"):
        assert rising[-1] == falling[-1] == "nothing known"


def test_sorting_uses_the_latest_evidence(campaign):
    by_p = names(campaign, sort="p")
    pvalues = [worker_like(name).evidence.last().p for name in by_p]
    assert pvalues == sorted(pvalues)
    worst = worker_like(by_p[-1])
    copy = Evidence.objects.filter(participation=worst).values().last()
    Evidence.objects.create(**copy | {"id": None, "origin": "recomputation", "p": 1e-12})
    assert names(campaign, sort="p")[0] == by_p[-1]


def test_filters_select_workers(campaign):
    honest, careless = {"honest-3-1", "honest-3-2"}, {"random-3-1", "random-3-2"}
    assert set(names(campaign, state="reliable")) == honest
    assert set(names(campaign, state="unreliable")) == careless
    assert set(names(campaign, flag="time")) == careless
    assert names(campaign, search="t-3-2") == names(campaign, search="simulation:HONEST-3-2")
    assert names(campaign, search="link:honest") == []
    assert names(campaign, decision="person") == []
    exclude(participation=worker_like("honest-3-1"), actor=make_person("admin"), reason="spam")
    assert names(campaign, decision="person") == names(campaign, state="excluded")
    assert names(campaign, state="excluded") == ["honest-3-1"]
    assert "honest-3-1" not in names(campaign, state="reliable", decision="evidence")


def test_workers_without_a_flag_can_be_selected(campaign):
    Evidence.objects.update(has_scores_flag=False, has_time_flag=False, has_sequence_flag=False)
    assert len(names(campaign, flag="none")) == 4
    Evidence.objects.filter(participation=worker_like("random")).update(has_time_flag=True)
    assert len(names(campaign, flag="none")) == 3


def test_workers_like_a_formula_and_held_hits_are_found(campaign, admin):
    like, held = worker_like("honest-3-1"), worker_like("random-3-2")
    like.evidence.update(has_likeness_flag=True, likeness_r=0.9)
    work = Assignment.objects.filter(worker=held.worker)
    work.update(hold="held", hold_reason="impossible times", held_at=timezone.now())
    assert names(campaign, flag="like") == ["honest-3-1"] == names(campaign, sort="-like")[:1]
    assert names(campaign, flag="held") == ["random-3-2"] == names(campaign, sort="-held")[:1]
    assert "honest-3-1" not in names(campaign, flag="none")
    page = words(admin.get(address("campaign_workers", campaign)))
    assert f"{work.count()} held</span>" in page and ">Scores like a formula</span>" in page
    # A decision ends it.
    work.update(hold="discarded")
    assert names(campaign, flag="held") == []


@pytest.mark.parametrize(
    "query", ["?sort=nonsense", "?state=gone", "?page=99", "?flag=x&search=%00", "?sort=-"]
)
def test_invalid_parameters_still_give_a_page(campaign, admin, query):
    assert words(admin.get(address("campaign_workers", campaign) + query)).count("honest-3") >= 2


def test_filtering_keeps_the_sort_order(campaign, admin):
    page = words(admin.get(address("campaign_workers", campaign)))
    assert '<option value="-active" selected>' in page
    page = words(admin.get(address("campaign_workers", campaign), {"sort": "p"}))
    assert '<option value="p" selected>' in page


def test_empty_tables_say_what_to_do(campaign, admin):
    page = words(admin.get(address("campaign_workers", campaign), {"search": "nobody"}))
    assert "No matching workers" in page and "Show all" in page
    other = make_hits()
    page = words(client_of("admin").get(address("campaign_workers", other)))
    assert "No workers yet" in page


def test_a_hostile_id_is_shown_as_text(campaign, admin):
    take_part(campaign=campaign, worker=make_worker("<script>alert(1)</script>"))
    page = words(admin.get(address("campaign_workers", campaign)))
    assert "&lt;script&gt;alert(1)" in page and "<script>alert" not in page


# One worker ----------------------------------------------------------------------------------


def test_a_workers_page_describes_evidence_flags_work_and_history(campaign, admin):
    person = worker_like("honest")
    exclude(participation=person, actor=make_person("admin"), reason="two <accounts>")
    Assignment.objects.filter(worker=person.worker, hit__number=1).update(
        is_late=True, is_rejected=True
    )
    page = words(admin.get(address("campaign_worker", campaign, person.worker.code)))
    assert "Tells degraded from genuine: p &lt; 0.0001, 20 pairs." in page
    assert "two &lt;accounts&gt;" in page and "By the evidence alone: reliable." in page
    assert 'dir="auto">Fine, &lt;b&gt;thank you&lt;/b&gt;.' in page
    assert "late</span>" in page and "Payment rejected" in page
    assert "Longest run of equal scores" in page and "The fastest HIT took" in page
    assert "reliable → excluded" in page and page.count('data-label="Verdict"') == 2


def test_a_worker_of_another_campaign_is_not_found(campaign, admin):
    stranger = take_part(campaign=make_hits(), worker=make_worker())
    assert admin.get(address("campaign_worker", campaign, stranger.worker.code)).status_code == 404


def test_a_worker_without_work_has_a_page(campaign, admin):
    person = take_part(campaign=campaign, worker=make_worker("new here"))
    page = words(admin.get(address("campaign_worker", campaign, person.worker.code)))
    assert "No evidence yet" in page and "has not started a HIT" in page


def test_each_plot_can_be_downloaded_in_every_format(campaign, admin):
    worker = worker_like("honest").worker
    page = words(admin.get(address("campaign_worker", campaign, worker.code)))
    starts = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF", "csv": b"hit,genuine,degraded"}
    for format, start in starts.items():
        url = address("worker_picture", campaign, worker.code, "degraded-pairs", format)
        assert url in page
        answer = admin.get(url)
        assert answer.status_code == 200 and answer.content.startswith(start)
        assert "no-store" in answer["Cache-Control"]
    assert answer.content.count(b"\n") == 21
    for name, format in (("nonsense", "svg"), ("drift", "exe")):
        url = address("worker_picture", campaign, worker.code, name, format)
        assert admin.get(url).status_code == 404


# In words ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.00009, "p < 0.0001"),
        (0.0003, "p = 0.0003"),
        (0.0312, "p = 0.0312"),
        (1.0, "p = 1.0000"),
        (None, "p unknown"),
    ],
)
def test_p_values_are_written_with_four_decimals(p, text):
    assert p_in_words(p) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(9.4, "9 s"), (59.6, "1 min 00 s"), (164, "2 min 44 s"), (7260, "2 h 01 min")],
)
def test_durations_are_written_in_their_largest_units(seconds, text):
    assert duration(seconds) == text


def test_the_statistical_tests_are_described_in_words():
    evidence = Evidence(
        n_pairs=40, p=0.0003, window_p=0.2, window_n_pairs=30, n_repeats=10, repeat_p=0.01,
        repeat_mean_difference=-4.0, repeat_mean_absolute_difference=6.25,
    )  # fmt: skip
    assert pairs_in_words(evidence) == "Tells degraded from genuine: p = 0.0003, 40 pairs."
    assert window_in_words(evidence) == ("In the latest 3 HITs: p = 0.2000, 30 pairs.")
    assert repeats_in_words(evidence) == (
        "Repeated texts: 6.2 points apart on average, over 10 pairs. "
        "The second rating is significantly lower: p = 0.0100."
    )
    assert pairs_in_words(Evidence(n_pairs=4, p=0.01)) == (
        "Too little evidence: 4 pairs, and at least 5 are needed."
    )
    assert pairs_in_words(Evidence(n_pairs=9, p=0.05)).startswith("Does not tell")


def test_flags_come_with_the_numbers_behind_them():
    campaign = make_hits(n_segments=35, hit_size=100)
    simulate_workers(campaign=campaign, crowd={Behaviour.CONSTANT: 1}, seed=1)
    weigh_pending()
    evidence = Evidence.objects.get(participation__campaign=campaign)
    flags = {flag.name: flag for flag in flags_in_words(evidence)}
    assert [name for name, flag in flags.items() if flag.is_raised] == ["scrs", "time", "seq"]
    assert flags["seq"].numbers.startswith("Longest run of equal scores: 100; up to 8")
    assert flags["rej"].numbers == "Rejected HITs of this worker: 0."


@given(st.floats(0, 1))
def test_a_p_value_in_words_is_rounded_correctly(p):
    text = p_in_words(p)
    if text.startswith("p ="):
        assert abs(float(text.removeprefix("p = ")) - p) <= 0.00005 + 1e-12
