"""Every side of the evidence: what it says, whether it decides, and how often trusted workers show the same."""

import pytest
from django.urls import reverse
from django.utils.html import escape

from analysis.stats.thresholds import ENOUGH_PAIRS, FEWEST_AGREEMENT_ITEMS
from analysis.stats.trust_rules import Stance
from hits.asking.rating import KIND
from hits.models import Campaign, Evidence, Participation, Worker
from hits.workers.deciding import Choice, preview_decision
from hits.workers.sides import Weight, rule_in_words, sides_of, trusted_signs
from hits.workers.wording import claims_in_words, likeness_in_words, times_in_words
from tests.cast import campaign_with_workers, worker_like
from tests.factories import make_campaign
from tests.people import client_of

GUARDED, PUBLISHED = Campaign.TrustRule.GUARDED, Campaign.TrustRule.PUBLISHED
SIDES = ["pairs", "agreement", "repeats", "likeness", "times", "runs", "claims"]
# An honest worker after one HIT.
HONEST = {
    "n_hits": 1, "n_pairs": 10, "p": 0.001, "n_repeats": 10, "repeat_p": 0.4, "window_n_pairs": 0,
    "repeat_mean_absolute_difference": 6.0, "longest_run": 3, "n_rejected": 0,
    "has_scores_flag": False, "has_time_flag": False, "has_sequence_flag": False,
    "has_rejection_flag": False, "n_agreement_items": 70, "agreement_r": 0.45, "agreement_p": 0.0002,
    "likeness_measure": "chrF", "likeness_r": 0.31, "median_gap_seconds": 6.4, "share_fast": 0.03,
    "claimed_seconds": 700.0, "passed_seconds": 900.0,
}  # fmt: skip


def evidence_of(**changes) -> Evidence:
    return Evidence(**HONEST | changes)


def side(name: str, rule: str = GUARDED, **changes):
    return next(one for one in sides_of(evidence_of(**changes), rule) if one.name == name)


# Stances --------------------------------------------------------------------------------------


def test_there_is_one_sentence_for_each_side():
    sides = sides_of(evidence_of(), GUARDED)
    assert [one.name for one in sides] == SIDES
    assert all(one.text.endswith(".") and one.title and one.label for one in sides)
    assert {one.stance for one in sides} == {Stance.FOR}


def test_the_rule_says_which_sides_decide():
    def weights(rule):
        return {one.name: one.weight for one in sides_of(evidence_of(), rule)}

    advice = dict.fromkeys(SIDES, Weight.ADVISES)
    held = {"times": Weight.HOLDS, "claims": Weight.HOLDS}
    decides = {"pairs": Weight.DECIDES}
    assert weights(GUARDED) == advice | held | decides | {"agreement": Weight.DECIDES}
    assert weights(PUBLISHED) == advice | decides
    assert "degraded pairs and agreement" in rule_in_words(GUARDED, KIND)
    assert "pairs alone decide" in rule_in_words(PUBLISHED, KIND)


@pytest.mark.parametrize(
    ("n_pairs", "p", "guarded", "published"),
    [
        (10, 0.049, Stance.FOR, Stance.FOR),
        (10, 0.078, Stance.UNDECIDED, Stance.AGAINST),
        (10, 0.51, Stance.AGAINST, Stance.AGAINST),
        (ENOUGH_PAIRS, 0.078, Stance.AGAINST, Stance.AGAINST),
        (4, 0.01, Stance.SILENT, Stance.SILENT),
    ],
)
def test_pairs_may_be_undecided_under_the_guarded_rule_only(n_pairs, p, guarded, published):
    assert side("pairs", GUARDED, n_pairs=n_pairs, p=p).stance == guarded
    assert side("pairs", PUBLISHED, n_pairs=n_pairs, p=p).stance == published


def test_the_guarded_rule_explains_itself():
    undecided = side("pairs", p=0.078)
    assert undecided.label == "Undecided" and undecided.badge == "warning"
    assert undecided.text == (
        "Does not tell degraded from genuine: p = 0.0780, 10 pairs. Another HIT may settle it: p above "
        "0.5, or 20 pairs without p below 0.05, would speak against the worker."
    )
    assert side("pairs", p=0.6).text.endswith("Above p = 0.5, scores look no better than chance.")
    against = side("agreement", n_agreement_items=100, agreement_r=0.1, agreement_p=0.16)
    assert against.label == "Speaks against the worker" and against.badge == "bad"
    assert against.text == (
        "Scores do not follow those of the others: r = 0.10 on 100 texts, p = 0.1600, not below 0.01. "
        "With 100 texts or more, a reader would have passed."
    )
    assert "settle" not in side("pairs", PUBLISHED, p=0.078).text


def test_agreement_waits_for_the_others():
    n = FEWEST_AGREEMENT_ITEMS - 1
    early = side("agreement", n_agreement_items=n, agreement_r=None, agreement_p=None)
    assert early.stance == Stance.SILENT and early.label == "Too little to say"
    assert early.text == (
        "Too early to compare with the others: 29 texts have ratings by at least 3 other trusted "
        "workers, and 30 are needed."
    )
    constant = side("agreement", agreement_r=None, agreement_p=1.0)
    assert "70 texts: they never vary." in constant.text and constant.stance == Stance.AGAINST
    incoherent = side("agreement", agreement_r=None, agreement_p=None)
    assert "they do not agree themselves yet" in incoherent.text
    assert incoherent.stance == Stance.SILENT


def test_agreement_is_advice_under_the_published_rule():
    advice = side("agreement", PUBLISHED, agreement_r=-0.02, agreement_p=0.6)
    assert advice.label == "Advice: a sign" and advice.badge == "warning"


# Advice ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        ("repeats", {"repeat_p": 0.01, "repeat_mean_difference": 5.0}, "significantly higher"),
        (
            "likeness",
            {"likeness_r": 0.91, "has_likeness_flag": True},
            "Scores look computed: they follow chrF against the gray text, r = 0.91. Readers stay below 0.7.",
        ),
        ("times", {"median_gap_seconds": 0.1, "share_fast": 0.99}, "99% came within 2 s."),
        ("times", {"n_held_hits": 1}, "impossible in 1 HIT that does not count."),
        ("runs", {"longest_run": 9, "has_sequence_flag": True}, "Longest run of equal scores: 9"),
        (
            "claims",
            {"claimed_seconds": 400.0, "passed_seconds": 300.0},
            "claimed 6 min 40 s of reading, and 5 min 00 s passed. That is over 10% and 60 s more",
        ),
    ],
)
@pytest.mark.parametrize("rule", [GUARDED, PUBLISHED])
def test_a_sign_is_advice_that_decides_nothing(rule, name, changes, words):
    clean, signed = side(name, rule), side(name, rule, **changes)
    assert (clean.stance, signed.stance) == (Stance.FOR, Stance.AGAINST)
    assert signed.label.endswith(": a sign") and clean.label.endswith(": no sign")
    assert (clean.badge, signed.badge) == ("", "warning")
    assert words in signed.text


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("repeats", {"repeat_p": None, "repeat_mean_absolute_difference": None}),
        ("likeness", {"likeness_r": None, "likeness_measure": ""}),
        ("times", {"median_gap_seconds": None, "share_fast": None}),
        ("claims", {"claimed_seconds": None}),
    ],
)
def test_a_side_without_numbers_is_silent(name, changes):
    silent = side(name, **changes)
    assert silent.stance == Stance.SILENT and "too little to say" in silent.label.lower()


def test_times_and_likeness_are_written_with_their_limits():
    evidence = evidence_of()
    assert times_in_words(evidence) == (
        "By the server's clock, the fastest HIT has 6.4 s from one rating to the next (median); 3% came "
        "within 2 s. No HIT had impossible times."
    )
    assert likeness_in_words(evidence) == (
        "Scores are closest to chrF against the gray text: r = 0.31. From 0.7 on, in either direction, "
        "they look computed."
    )
    assert claims_in_words(evidence) == (
        "The browser claimed 11 min 40 s of reading, and 15 min 00 s passed."
    )


# How often trusted workers show the same ------------------------------------------------------


def add_workers(campaign: Campaign, like: Evidence, n: int, trust: str, **changes) -> None:
    """Add workers with evidence, copied from a real row for its assignment."""
    copy = Evidence.objects.filter(pk=like.pk).values().get()
    for _ in range(n):
        worker = Worker.objects.create(provider="link", external_id=f"w{Worker.objects.count()}")
        person = Participation.objects.create(campaign=campaign, worker=worker, trust=trust)
        fields = copy | {"id": None, "participation_id": person.pk, "origin": "recomputation"}
        Evidence.objects.create(**fields | HONEST | changes)


@pytest.fixture
def campaign() -> Campaign:
    campaign = campaign_with_workers()
    Evidence.objects.update(**HONEST)
    return campaign


@pytest.mark.django_db
class TestTrustedSigns:
    def test_only_the_latest_evidence_of_trusted_workers_is_counted(self, campaign):
        like = Evidence.objects.filter(participation=worker_like("honest")).latest("pk")
        add_workers(campaign, like, 2, "reliable", has_likeness_flag=True, likeness_r=0.8)
        add_workers(campaign, like, 1, "drifting", has_rejection_flag=True)
        add_workers(campaign, like, 3, "unreliable", has_likeness_flag=True, likeness_r=0.9)
        add_workers(campaign, like, 1, "unproven", has_likeness_flag=True, likeness_r=0.9)
        # Earlier evidence no longer matters.
        first = Evidence.objects.filter(participation=worker_like("honest")).earliest("pk")
        Evidence.objects.filter(pk=first.pk).update(has_likeness_flag=True)
        signs = trusted_signs(campaign)
        assert signs.n_workers == 5
        assert signs.about("likeness") == "2 of 5 trusted workers have this sign."
        assert signs.about("rej") == "1 of 5 trusted workers has this sign."
        assert signs.about("runs") == "0 of 5 trusted workers have this sign."

    def test_advice_comes_with_the_count_and_decisions_without(self, campaign):
        signs = trusted_signs(campaign)
        sides = {one.name: one for one in sides_of(evidence_of(), GUARDED, signs)}
        assert sides["pairs"].trusted == sides["agreement"].trusted == ""
        assert sides["likeness"].trusted == "0 of 2 trusted workers have this sign."
        published = {one.name: one for one in sides_of(evidence_of(), PUBLISHED, signs)}
        assert published["agreement"].trusted.startswith("0 of 2")

    def test_counting_needs_one_query(self, campaign, django_assert_num_queries):
        like = Evidence.objects.latest("pk")
        for n in (0, 5):
            add_workers(campaign, like, n, "reliable")
            with django_assert_num_queries(1):
                trusted_signs(campaign)

    def test_a_campaign_without_workers_has_no_signs(self):
        assert trusted_signs(make_campaign()).about("runs") == (
            "0 of 0 trusted workers have this sign."
        )


# Pages ----------------------------------------------------------------------------------------


def words(answer) -> str:
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


@pytest.mark.django_db
class TestPages:
    def test_a_workers_page_has_the_rule_and_every_side(self, campaign):
        Campaign.objects.update(trust_rule=GUARDED)
        Evidence.objects.update(n_held_hits=2, has_likeness_flag=True, likeness_r=0.84)
        client, worker = client_of("admin", campaign), worker_like("honest").worker
        page = words(client.get(reverse("campaign_worker", args=[campaign.code, worker.code])))
        assert rule_in_words(GUARDED, KIND) in page
        assert "Speaks for the worker" in page and "Can hold a HIT: a sign" in page
        assert (
            "impossible in 2 HITs that do not count." in page
            and "Scores look computed: they follow" in page
        )
        assert "2 of 2 trusted workers have this sign." in page

    def test_the_preview_of_a_decision_has_a_line_for_each_side(self, campaign):
        client, person = client_of("admin", campaign), worker_like("honest")
        path = reverse("decide_workers", args=[campaign.code])
        page = words(client.get(path, {"choice": "exclude", "worker": person.worker.code}))
        for one in sides_of(person.evidence.last(), PUBLISHED):
            assert one.title in page and escape(one.text) in page

    def test_a_preview_without_evidence_has_no_sides(self):
        campaign = make_campaign()
        person = Participation.objects.create(
            campaign=campaign, worker=Worker.objects.create(provider="link", external_id="new")
        )
        preview = preview_decision(
            campaign=campaign, participations=[person], choice=Choice.EXCLUDE
        )
        assert preview.changes[0].sides == ()
