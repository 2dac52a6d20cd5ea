"""The pictures on a worker's page show the rows of the database."""

import csv
import io
from datetime import timedelta

import numpy as np
import pytest
from django.urls import reverse
from numpy.testing import assert_allclose
from sacrebleu import sentence_chrf
from scipy import stats

from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.models import Assignment, Evidence, Item, Participation, Rating
from hits.workers.pictures import pictures_of
from hits.workers.trust import weigh_pending
from tests.cast import worker_like
from tests.factories import make_hits
from tests.people import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    """Five honest workers with one HIT each, the same for all."""
    campaign = make_hits(n_segments=35, hit_size=100, min_ratings=6)
    simulate_workers(campaign=campaign, crowd={Behaviour.HONEST: 5}, seed=3)
    weigh_pending()
    return campaign


def rows_of(participation: Participation, name: str) -> list[dict[str, str]]:
    [picture] = [one for one in pictures_of(participation, only=name) if one.name == name]
    return list(csv.DictReader(io.StringIO(picture.csv().decode())))


def names(participation: Participation) -> list[str]:
    return [picture.name for picture in pictures_of(participation)]


def genuine_scores(participation: Participation) -> dict[int, int]:
    ratings = Rating.objects.filter(
        assignment__worker=participation.worker, item__role=Item.Role.GENUINE.value
    )
    return dict(ratings.values_list("item", "score"))


def test_agreement_is_drawn_against_the_mean_of_the_other_trusted_workers(campaign):
    people = list(campaign.participations.order_by("pk"))
    assert {person.trust for person in people} == {"reliable"}
    rows = rows_of(people[0], "agreement")
    z = [stats.zscore(list(scores.values()), ddof=1) for scores in map(genuine_scores, people)]
    items = [list(genuine_scores(person)) for person in people]
    assert all(order == items[0] for order in items)
    points = sorted((float(row["worker_z"]), float(row["others_z"])) for row in rows)
    assert_allclose(points, sorted(zip(z[0], np.mean(z[1:], axis=0), strict=True)))


def test_untrusted_and_held_work_is_not_compared_with(campaign):
    people = list(campaign.participations.order_by("pk"))
    Participation.objects.filter(pk=people[4].pk).update(trust="unreliable")
    assert {row["n_others"] for row in rows_of(people[0], "agreement")} == {"3"}
    assert {row["n_others"] for row in rows_of(people[4], "agreement")} == {"4"}
    work = Assignment.objects.filter(worker=people[3].worker)
    work.update(hold="held", hold_reason="impossible", held_at=work.get().submitted_at)
    # Two others are too few for any point.
    assert "agreement" not in names(people[0])


def test_likeness_is_drawn_with_the_closest_formula(campaign):
    person = worker_like("honest")
    Evidence.objects.filter(participation=person).update(likeness_measure="chrF", likeness_r=0.6)
    rows = rows_of(person, "likeness")
    expected = [
        (sentence_chrf(item.text, [item.translation.segment.reference]).score, score)
        for pk, score in genuine_scores(person).items()
        for item in [Item.objects.select_related("translation__segment").get(pk=pk)]
    ]
    found = [(float(row["formula"]), int(row["score"])) for row in rows]
    assert sorted(found) == sorted(expected)
    Evidence.objects.update(likeness_measure="")
    assert "likeness" not in names(person)


def test_claimed_and_passed_time_are_those_of_the_ratings(campaign):
    person = worker_like("honest")
    work = Assignment.objects.get(worker=person.worker)
    start = work.started_at
    for number, rating in enumerate(Rating.objects.filter(assignment=work).order_by("item"), 1):
        Rating.objects.filter(pk=rating.pk).update(
            active_ms=2_000, received_at=start + timedelta(seconds=number)
        )
    assert rows_of(person, "claimed-time") == [
        {"hit": "1", "claimed_seconds": "200.0", "passed_seconds": "100.0"}
    ]
    Rating.objects.update(active_ms=None)
    assert "claimed-time" not in names(person)


def test_gaps_are_those_between_ratings_as_received(campaign):
    person = worker_like("honest")
    work = Assignment.objects.get(worker=person.worker)
    ratings = Rating.objects.filter(assignment=work).order_by("item__position")
    for number, rating in enumerate(ratings):
        # The third rating seems to arrive before the second.
        moment = 1 if number == 2 else number * 3
        Rating.objects.filter(pk=rating.pk).update(
            received_at=work.started_at + timedelta(seconds=moment)
        )
    seconds = [row["seconds"] for row in rows_of(person, "seconds-per-item")]
    assert seconds[:5] == ["", "3.0", "0.0", "6.0", "3.0"]


def test_each_picture_loads_only_what_it_needs(campaign, django_assert_num_queries):
    person = worker_like("honest")
    with django_assert_num_queries(3):
        pictures_of(person, only="repeats")


def test_the_page_shows_the_pictures_of_every_side(campaign):
    person = worker_like("honest")
    Evidence.objects.update(likeness_measure="length", likeness_r=0.1)
    client = client_of("admin", campaign)
    page = client.get(reverse("campaign_worker", args=[campaign.code, person.worker.code]))
    text = page.content.decode()
    for name in ("degraded-pairs", "repeats", "agreement", "likeness", "seconds-per-item"):
        url = reverse("worker_picture", args=[campaign.code, person.worker.code, name, "svg"])
        assert url in text and client.get(url).status_code == 200
