"""HITs are added for pairs of systems that lack judgements, first those that cannot be told apart."""

from itertools import combinations

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from analysis.ranking.results import rank_by_judgements
from analysis.stats import trueskill as module
from analysis.stats.judgements import Judgements
from analysis.stats.roles import Role
from da_platform.jobs.models import Job
from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.chores import do_chores
from hits.models import AuditEntry, Item, Rank, SystemOutput
from hits.ranking.arrays import load_rankings
from hits.ranking.choice import (
    Choosable,
    choose_groups,
    given_up,
    needs_of,
    undecided_pairs,
)
from hits.ranking.exporting import rankings_of
from hits.ranking.planning import plan_rankings
from hits.ranking.rounds import add_round, standing_of
from hits.rating.places import settle_places
from hits.workers.trust import weigh_pending

from .campaigns import ranking_campaign


@pytest.fixture(autouse=True)
def plain_loop(monkeypatch):
    monkeypatch.setattr(module, "_one_run", module._one_run.py_func)


def outputs(n_segments, n_systems):
    return [
        Choosable(segment, (system,))
        for segment in range(n_segments)
        for system in range(n_systems)
    ]


def shown_pairs(groups, chosen, n_systems, judges=1):
    counts = np.zeros((n_systems, n_systems))
    for group in groups:
        for one, other in combinations(group, 2):
            for a in chosen[one].systems:
                for b in chosen[other].systems:
                    counts[a, b] += judges
                    counts[b, a] += judges
    return counts


def judged(pairs, names="ABC"):
    """Judgements between systems, such as {"AB": (9, 1)}: A won nine times, and B once."""
    rows = [
        (names.index(first), names.index(second), outcome)
        for (first, second), (wins, losses) in pairs.items()
        for outcome in [1] * wins + [-1] * losses
    ]
    first, second, outcomes = np.array(rows).T
    zeros = np.zeros(len(rows), dtype=np.int64)
    return Judgements(
        np.array(list(names)),
        first,
        second,
        outcomes,
        zeros > 0,
        zeros,
        zeros,
        np.arange(len(rows)),
    )


def test_every_pair_gets_the_judgements_that_it_lacks_and_few_more():
    chosen = outputs(30, 8)
    needs = needs_of(np.zeros((8, 8)), target=12)
    groups = choose_groups(chosen, needs, per_screen=5, judges=2, rng=np.random.default_rng(1))
    counts = shown_pairs(groups, chosen, 8, judges=2)
    off_diagonal = counts[~np.eye(8, dtype=bool)]
    assert off_diagonal.min() >= 12 and off_diagonal.mean() < 16
    assert all(len({chosen[place].segment for place in group}) == 1 for group in groups)


def test_only_needed_pairs_begin_a_screen_and_systems_that_share_an_output_count_both():
    chosen = [Choosable(0, (0, 1)), Choosable(0, (2,)), Choosable(0, (3,))]
    needs = np.zeros((4, 4))
    needs[1, 2] = needs[2, 1] = 1
    groups = choose_groups(chosen, needs, per_screen=2, judges=1, rng=np.random.default_rng(1))
    assert [sorted(group) for group in groups] == [[0, 1]]


def test_a_pair_that_no_segment_can_show_is_given_up():
    chosen = [Choosable(0, (0,)), Choosable(1, (1,)), Choosable(1, (2,))]
    needs = needs_of(np.zeros((3, 3)), target=2)
    groups = choose_groups(chosen, needs, per_screen=5, judges=1, rng=np.random.default_rng(1))
    assert groups and all(set(group) == {1, 2} for group in groups)


def test_undecided_are_systems_whose_ranges_overlap_and_those_never_compared():
    clear = {"AB": (40, 40), "AC": (80, 0), "BC": (80, 0)}
    undecided = undecided_pairs(judged(clear), rng=np.random.default_rng(1))
    assert undecided.tolist() == [[False, True, False], [True, False, False], [False, False, False]]
    unknown = undecided_pairs(judged({"AB": (80, 0)}), rng=np.random.default_rng(1))
    assert unknown[2, 0] and unknown[2, 1] and not unknown[0, 1]


def test_a_round_adds_at_most_ten_judgements_of_a_pair():
    undecided = np.ones((2, 2), dtype=bool)
    assert needs_of(np.zeros((2, 2)), target=25, undecided=undecided)[0, 1] == 10
    assert needs_of(np.full((2, 2), 20.0), target=25, undecided=undecided)[0, 1] == 5
    assert needs_of(np.full((2, 2), 20.0), target=np.inf, undecided=~undecided)[0, 1] == 0


def simulate(campaign, *, seed=3):
    rows = SystemOutput.objects.filter(segment__campaign=campaign).select_related("system")
    # A and B are equal, and the others far below.
    quality = {"A": 80.0, "B": 80.0, "C": 50.0, "D": 20.0, "E": 40.0}
    simulate_workers(
        campaign=campaign,
        crowd={Behaviour.HONEST: 6},
        hits_per_worker=30,
        seed=seed,
        qualities={row.translation_id: quality[row.system.name] for row in rows},
    )
    weigh_pending()


@pytest.mark.django_db
def test_rounds_go_to_the_systems_that_cannot_be_told_apart():
    campaign = ranking_campaign(
        systems=tuple("ABCD"),
        output_choice="undecided",
        judgements_per_pair=40,
        outputs_per_screen=2,
        min_ratings=1,
        max_hits_per_worker=None,
    )
    n_before = campaign.hits.count()
    simulate(campaign, seed=4)
    standing = standing_of(campaign)
    assert standing.undecided[0, 1] and not standing.undecided[0, 3]
    summary = add_round(campaign=campaign)
    assert summary.n_hits == campaign.hits.count() - n_before > 0
    added = Item.objects.filter(
        hit__campaign=campaign, hit__number__gt=n_before, role=Role.GENUINE.value
    )
    names = dict(SystemOutput.objects.values_list("translation", "system__name"))
    screens: dict[tuple[int, int], str] = {}
    for hit, screen, translation in added.values_list("hit", "screen", "translation"):
        screens[hit, screen] = screens.get((hit, screen), "") + names[translation]
    pairs = {"".join(sorted(pair)) for pair in screens.values() if len(pair) == 2}
    undecided = {
        "".join(pair)
        for pair in combinations("ABCD", 2)
        if standing.undecided["ABCD".index(pair[0]), "ABCD".index(pair[1])]
    }
    assert "AB" in pairs <= undecided
    assert AuditEntry.objects.filter(action="HITs added", campaign=campaign).exists()
    facts = rank_by_judgements(campaign, runs=3)
    assert "outputs:undecided" in facts["signature"] and "40 a pair" in facts["signature"]


@pytest.mark.django_db
def test_a_campaign_with_so_many_judgements_per_pair_is_topped_up_when_more_are_wanted():
    campaign = ranking_campaign(
        systems=tuple("ABCD"), judgements_per_pair=4, min_ratings=2, n_segments=6
    )
    # What the HITs will get counts already.
    assert add_round(campaign=campaign).n_hits == 0
    campaign.judgements_per_pair = 8
    campaign.save()
    assert add_round(campaign=campaign, n_hits=1).n_hits == 1
    assert standing_of(campaign).counts[0, 1] >= 6
    numbers = campaign.hits.order_by("number").values_list("number", flat=True)
    assert list(numbers) == list(range(1, len(numbers) + 1))


@pytest.mark.django_db
def test_the_platform_adds_hits_once_all_are_done_and_not_twice_for_the_same_rankings():
    campaign = ranking_campaign(
        systems=tuple("ABCD"), output_choice="undecided", min_ratings=1, max_hits_per_worker=None
    )
    assert do_chores().n_rounds == 0
    simulate(campaign)
    # Somebody who is not proven yet may not come back, and a place opens again.
    campaign.participations.update(trust="reliable")
    settle_places(campaign=campaign, hits=campaign.hits.values_list("pk", flat=True))
    assert do_chores().n_rounds == 1
    Job.objects.filter(kind="add_round").update(state="done", finished_at="2030-01-01T00:00Z")
    assert do_chores().n_rounds == 0


@pytest.mark.django_db
def test_hits_are_only_added_where_pairs_are_ranked(admin_client, capsys):
    campaign = ranking_campaign(systems=tuple("ABCD"))
    with pytest.raises(CommandError, match="ranks each output once"):
        call_command("add_round", campaign.name)
    campaign.judgements_per_pair = 100
    campaign.save()
    overview = reverse("campaign_overview", args=[campaign.code])
    assert "Add HITs now" in admin_client.get(overview).text
    job = admin_client.post(reverse("add_round", args=[campaign.code]))
    assert job.url == reverse("job", args=[Job.objects.get(kind="add_round").code])
    call_command("add_round", campaign.name, "--hits", "1")
    assert "Added 1 HITs" in capsys.readouterr().out


def test_screens_show_only_systems_that_cannot_be_told_apart():
    needs = np.zeros((6, 6))
    needs[0, 1] = needs[1, 0] = needs[1, 2] = needs[2, 1] = 10
    rng = np.random.default_rng(1)
    groups = choose_groups(outputs(30, 6), needs, per_screen=5, judges=1, rng=rng, only_needed=True)
    assert {place % 6 for group in groups for place in group} == {0, 1, 2}
    assert len(groups) == 10


def test_segments_that_were_shown_less_often_come_first():
    needs = needs_of(np.zeros((2, 2)), target=3)
    rng = np.random.default_rng(1)
    chosen = outputs(6, 2)
    often = {0: 2, 1: 1, 2: 1, 4: 2}
    groups = choose_groups(chosen, needs, per_screen=2, judges=1, rng=rng, n_shown=often)
    segments = [chosen[group[0]].segment for group in groups]
    assert set(segments[:2]) == {3, 5} and segments[2] in (1, 2)


def test_a_pair_is_given_up_once_most_of_its_screens_were_skipped():
    asked = np.array([[0, 29, 30], [29, 0, 90], [30, 90, 0]])
    counts = np.array([[0, 0, 9], [0, 0, 31], [9, 31, 0]])
    assert np.argwhere(np.triu(given_up(counts, asked))).tolist() == [[0, 2]]


@pytest.fixture
def with_equals():
    """D is A plus a full stop everywhere, and E in upper case in every second segment."""
    return ranking_campaign(
        systems=tuple("ABCDE"),
        judgements_per_pair=4,
        min_ratings=1,
        n_segments=8,
        max_hits_per_worker=None,
        equals={"D": lambda text, number: f"{text}."}
        | {"E": lambda text, number: text.upper() if number % 2 else f"{text} more"},
    )


@pytest.mark.django_db
def test_outputs_that_are_nearly_equal_are_shown_once_and_count_for_all_their_systems(with_equals):
    shown = Item.objects.filter(hit__campaign=with_equals).values_list("translation", flat=True)
    names = SystemOutput.objects.filter(translation__in=shown).values_list(
        "system__name", flat=True
    )
    assert "D" not in set(names) and "A" in set(names)
    simulate(with_equals)
    with_equals.participations.update(trust="reliable")
    rows = load_rankings(with_equals)
    by_name = dict(with_equals.systems.values_list("name", "pk"))
    ranks = {system: rows.ranks[rows.systems == by_name[system]].tolist() for system in ("A", "D")}
    assert ranks["A"] == ranks["D"] != []
    exported = [systems for _, outputs in rankings_of(with_equals) for systems, _ in outputs]
    assert {"+".join(systems) for systems in exported} == {"A+D", "A+D+E", "B", "C", "E"}
    # Pairs with D have as many judgements as those with A, so that rounds come to an end.
    counts = standing_of(with_equals).counts
    place = {name: number for number, name in enumerate("ABCDE")}
    assert counts[place["D"], place["B"]] == counts[place["A"], place["B"]] >= 4


def add_rounds(campaign, skipped=()):
    """Let everyone rank and add rounds until nothing is added; return the last summary."""
    for _ in range(9):
        simulate(campaign)
        campaign.participations.update(trust="reliable")
        unwanted = Rank.objects.filter(item__translation__systems__name__in=skipped)
        for assignment, screen in unwanted.values_list("assignment", "item__screen"):
            on_screen = Rank.objects.filter(assignment=assignment, item__screen=screen)
            on_screen.update(rank=None, skip="hard")
        if not (summary := add_round(campaign=campaign)).n_hits:
            return summary
    raise AssertionError("Rounds do not end.")


@pytest.mark.django_db
def test_rounds_end_although_outputs_are_nearly_equal(with_equals):
    assert add_rounds(with_equals).n_given_up == 0
    assert standing_of(with_equals).n_pairs == 0


@pytest.mark.django_db
def test_rounds_end_although_everyone_skips_a_system(with_equals):
    # All ten pairs, as B is on every screen.
    assert add_rounds(with_equals, skipped=["B"]).n_given_up == 10


@pytest.mark.django_db
def test_the_note_on_equal_outputs_says_that_they_count(with_equals):
    [note] = plan_rankings(with_equals).notes
    assert note.startswith("12 translations differ") and "counts for all their systems" in note
