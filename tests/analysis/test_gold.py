import json
import math

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from numpy.testing import assert_allclose
from scipy import stats

from analysis.gold.ranking import rank_systems
from analysis.gold.runs import build_gold, compare_runs, gold_scores
from analysis.models import GoldRun, GoldScore
from analysis.stats.roles import Role
from da_platform.jobs.models import Job
from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.models import Campaign, Participation, Rating, SystemOutput, Translation
from hits.workers.trust import weigh_pending
from tests.decisions import exclude, reinstate
from tests.factories import make_campaign, make_hits, make_translations
from tests.migrated import migrated_database
from tests.subprocesses import output_of, run_python

pytestmark = pytest.mark.django_db

CROWD = {Behaviour.HONEST: 4, Behaviour.HARSH: 1, Behaviour.RANDOM: 2}


@pytest.fixture(scope="module", autouse=True)
def shared_campaign(shared_rows):
    """One HIT of 60 items, rated by four honest workers, one harsh one and two careless ones."""
    campaign = make_hits(n_segments=21, hit_size=60, min_ratings=7)
    simulate_workers(campaign=campaign, crowd=CROWD, seed=2)
    weigh_pending()
    return campaign


@pytest.fixture
def campaign(shared_campaign):
    return Campaign.objects.get(pk=shared_campaign.pk)


@pytest.fixture
def admin():
    return User.objects.create_user("ada")


def ratings_of(translation: int) -> dict[int, list[tuple[float, float]]]:
    """Return each trusted worker's raw and z scores of a translation, computed the slow way."""
    scores: dict[int, list[tuple[float, float]]] = {}
    for person in Participation.objects.trusted():
        own_ratings = Rating.objects.filter(assignment__worker=person.worker)
        every = np.array(own_ratings.values_list("score", flat=True), dtype=float)
        for row in own_ratings.filter(
            item__translation=translation, item__role__in=[Role.GENUINE, Role.REPEAT]
        ):
            z = (row.score - every.mean()) / every.std(ddof=1)
            scores.setdefault(person.worker_id, []).append((row.score, z))
    return scores


def test_a_score_is_the_mean_over_trusted_workers_with_repeats_averaged_first(campaign):
    run = build_gold(campaign=campaign, minimum=1)
    repeated = Translation.objects.filter(items__role=Role.REPEAT).first()
    by_worker = ratings_of(repeated.pk)
    means = np.array([np.mean(pairs, axis=0) for pairs in by_worker.values()])
    score = GoldScore.objects.get(run=run, translation=repeated)
    assert_allclose([score.raw, score.z], means.mean(axis=0), rtol=1e-12)
    assert_allclose([score.raw_se, score.z_se], stats.sem(means), rtol=1e-12)
    interval = stats.t.interval(0.95, len(means) - 1, score.z, score.z_se)
    assert_allclose([score.z_low, score.z_high], interval, rtol=1e-9)
    assert (score.n, score.n_ratings) == (len(by_worker), 2 * len(by_worker))
    assert run.n_workers == 7 and run.n_workers_trusted == len(by_worker)


def test_pooled_gold_counts_every_rating(campaign):
    run = build_gold(campaign=campaign, method="pooled", minimum=1)
    repeated = Translation.objects.filter(items__role=Role.REPEAT).first()
    every = np.array([pair for pairs in ratings_of(repeated.pk).values() for pair in pairs])
    score = GoldScore.objects.get(run=run, translation=repeated)
    assert_allclose([score.raw, score.z], every.mean(axis=0), rtol=1e-12)
    assert score.n == score.n_ratings == len(every)
    assert "seg:pooled" in run.signature


def test_every_translation_has_a_row_and_incomplete_ones_have_no_score(campaign):
    n_trusted = Participation.objects.trusted().count()
    run = build_gold(campaign=campaign, minimum=n_trusted + 1)
    assert run.scores.count() == 42 == run.n_incomplete and run.n_scored == 0
    assert set(run.scores.values_list("n", "raw", "z", "z_se", "is_complete")) == {
        (n_trusted, None, None, None, False)
    }
    assert run.n_ratings == 48 * n_trusted
    assert len(rank_systems(run).scores.systems) == 0


def test_the_same_ratings_give_the_same_gold_to_the_last_bit(campaign):
    first, second = build_gold(campaign=campaign), build_gold(campaign=campaign)
    assert (first.number, second.number) == (1, 2)
    assert first.input_digest == second.input_digest and first.signature == second.signature
    scores, again = gold_scores(first), gold_scores(second)
    for name in (
        "translation",
        "raw",
        "z",
        "raw_se",
        "z_se",
        "z_low",
        "z_high",
        "n",
        "n_ratings",
        "is_complete",
    ):
        assert getattr(scores, name).tobytes() == getattr(again, name).tobytes(), name


def test_gold_does_not_depend_on_row_order(campaign):
    before = build_gold(campaign=campaign)
    rows = list(Rating.objects.all())
    Rating.objects.all()._raw_delete("default")
    Rating.objects.bulk_create(rows[::-1])
    after = build_gold(campaign=campaign)
    assert before.input_digest == after.input_digest
    assert gold_scores(before).z.tobytes() == gold_scores(after).z.tobytes()


def test_changed_ratings_or_trust_change_the_digest(campaign):
    digests = [build_gold(campaign=campaign).input_digest]
    trusted = Participation.objects.trusted().first()
    rating = Rating.objects.filter(assignment__worker=trusted.worker).first()
    Rating.objects.filter(pk=rating.pk).update(score=(rating.score + 1) % 101)
    digests.append(build_gold(campaign=campaign).input_digest)
    Participation.objects.filter(pk=trusted.pk).update(trust="unreliable")
    digests.append(build_gold(campaign=campaign).input_digest)
    assert len(set(digests)) == 3


def test_ratings_of_untrusted_workers_do_not_affect_gold_or_digest(campaign):
    before = build_gold(campaign=campaign, minimum=1)
    careless = Participation.objects.discarded().first()
    Rating.objects.filter(assignment__worker=careless.worker).update(score=3)
    after = build_gold(campaign=campaign, minimum=1)
    assert before.input_digest == after.input_digest
    assert gold_scores(before).z.tobytes() == gold_scores(after).z.tobytes()


def test_the_digest_depends_on_method_and_minimum(campaign):
    digests = {
        build_gold(campaign=campaign, method=method, minimum=minimum).input_digest
        for method in ("per_worker", "pooled")
        for minimum in (1, 2)
    }
    assert len(digests) == 4


def test_a_manual_decision_overrides_trust(campaign, admin):
    trusted = Participation.objects.trusted().first()
    careless = Participation.objects.discarded().first()
    before = build_gold(campaign=campaign)
    exclude(participation=trusted, actor=admin, reason="two accounts")
    reinstate(participation=careless, actor=admin, reason="read them with me")
    after = build_gold(campaign=campaign)
    assert after.n_workers_trusted == before.n_workers_trusted
    assert after.input_digest != before.input_digest
    assert "decided:1 reinstated,1 excluded" in after.signature
    assert "decided" not in before.signature


def test_a_worker_whose_scores_never_vary_is_set_aside_in_the_signature(campaign, admin):
    before = build_gold(campaign=campaign, minimum=1)
    simulate_workers(campaign=campaign, crowd={Behaviour.CONSTANT: 1}, seed=3)
    weigh_pending()
    person = Participation.objects.get(worker__external_id__startswith="constant")
    assert person.is_discarded
    reinstate(participation=person, actor=admin, reason="let us see")
    after = build_gold(campaign=campaign, minimum=1)
    assert "aside:1 scores never vary" in after.signature
    assert gold_scores(after).raw.tobytes() == gold_scores(before).raw.tobytes()
    assert after.n_ratings == before.n_ratings


def test_an_unrated_campaign_has_only_incomplete_rows():
    campaign = make_hits()
    run = build_gold(campaign=campaign)
    assert (run.n_workers, run.n_ratings, run.n_scored, run.n_incomplete) == (0, 0, 0, 28)
    assert len(gold_scores(run)) == 28 and np.isnan(gold_scores(run).z).all()


def test_a_campaign_without_texts_has_an_empty_gold():
    run = build_gold(campaign=make_campaign())
    assert len(gold_scores(run)) == 0 and len(rank_systems(run).scores.systems) == 0


def test_progress_is_reported_and_can_stop_the_run_before_anything_is_stored(campaign):
    reports = []
    build_gold(campaign=campaign, progress=lambda done, total: reports.append((done, total)))
    assert reports == [(1, 4), (2, 4), (3, 4), (4, 4)]

    def stop(done: int, total: int) -> None:
        if done == 3:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        build_gold(campaign=campaign, progress=stop)
    assert GoldRun.objects.count() == 1


def test_a_hundred_translations_are_stored_in_few_queries(campaign, django_assert_max_num_queries):
    with django_assert_max_num_queries(15):
        build_gold(campaign=campaign)


# Systems ---------------------------------------------------------------------------------------


def test_systems_are_ranked_by_mean_z_and_compared_by_rank_sums(campaign):
    run = build_gold(campaign=campaign, minimum=1)
    ranking = rank_systems(run, test="published")
    z = {
        name: np.array(
            GoldScore.objects.filter(run=run, translation__systems__name=name).values_list(
                "z", flat=True
            )
        )
        for name in ("system-a", "system-b")
    }
    best, worst = ranking.scores.systems
    assert z[best].mean() > z[worst].mean()
    assert_allclose(ranking.scores.z, [z[best].mean(), z[worst].mean()], rtol=1e-12)
    expected = stats.mannwhitneyu(z[best], z[worst], alternative="greater", method="asymptotic")
    assert_allclose(ranking.comparison.pvalues[0, 1], expected.pvalue, rtol=1e-9)
    assert ranking.clusters.tolist() == [1, 2 if expected.pvalue < 0.05 else 1]
    assert ranking.signature.count("version:") == 1 and "min:1" in ranking.signature


def test_intervals_and_tests_of_systems_carry_the_workers(campaign):
    run = build_gold(campaign=campaign, minimum=1)
    ranking = rank_systems(GoldRun.objects.get(pk=run.pk))
    assert ranking.has_workers and "segments and workers" in ranking.test_in_words
    (pair,) = ranking.pairs
    assert pair["low"] < pair["difference"] < pair["high"]
    assert pair["p"] == pytest.approx(min(2 * pair["p_alone"], 1))
    assert 0 <= pair["probability_low"] < pair["probability"] < pair["probability_high"] <= 1


def test_a_run_without_stored_covariance_is_ranked_over_segments(campaign):
    run = build_gold(campaign=campaign, minimum=1, test="paired")
    run.system_covariance = None
    ranking = rank_systems(run)
    assert not ranking.has_workers and ranking.interval_over == "segments"
    assert "signed-rank" in ranking.test_in_words and "signed-rank" in ranking.signature
    assert ranking.pairs[0]["low"] is not None


def test_a_shared_translation_counts_for_each_of_its_systems(campaign):
    first, second = Translation.objects.order_by("segment__position", "pk")[:2]
    SystemOutput.objects.filter(translation=second).update(translation=first)
    ranking = rank_systems(build_gold(campaign=campaign, minimum=1))
    assert ranking.scores.n_segments.tolist() == [21, 21]
    assert ranking.n_incomplete.tolist() == [0, 0]


# Comparing -------------------------------------------------------------------------------------


def test_runs_can_be_compared(campaign, admin):
    n_trusted = Participation.objects.trusted().count()
    early = build_gold(campaign=campaign, minimum=n_trusted + 1)
    late = build_gold(campaign=campaign, minimum=1)
    again = build_gold(campaign=campaign, minimum=1)
    growth = compare_runs(early, late)
    assert (growth.n_shared, len(growth.newly_complete)) == (0, 42)
    assert math.isnan(growth.z_r) and math.isnan(growth.largest_z_difference)
    assert len(compare_runs(late, early).no_longer_complete) == 42
    same = compare_runs(late, again)
    assert same.n_shared == 42 and same.z_r == pytest.approx(1)
    assert same.largest_z_difference == same.largest_raw_difference == 0
    assert same.has_equal_input and not growth.has_equal_input
    exclude(participation=Participation.objects.trusted().first(), actor=admin, reason="spam")
    changed = compare_runs(late, build_gold(campaign=campaign, minimum=1))
    assert 0.5 < changed.z_r < 1 and changed.largest_z_difference > 0


def test_runs_of_two_campaigns_cannot_be_compared(campaign):
    other = make_campaign()
    make_translations(other)
    with pytest.raises(ValueError, match="same campaign"):
        compare_runs(build_gold(campaign=campaign), build_gold(campaign=other))


# Commands --------------------------------------------------------------------------------------


def test_two_attempts_at_one_job_store_one_run(campaign):
    job = Job.objects.create(kind="build_gold", campaign=campaign)
    first, second = (build_gold(campaign=campaign, job=job) for _ in range(2))
    assert first == second and GoldRun.objects.count() == 1
    assert build_gold(campaign=campaign).number == 2


def test_the_commands_build_gold_and_rank_systems(campaign, capsys):
    call_command("build_gold", campaign.name, minimum=1)
    page = capsys.readouterr().out
    assert "Gold 1" in page and "42 of 42 translations" in page and "Signature: qc:" in page
    call_command("rank_systems", campaign.name)
    page = capsys.readouterr().out
    assert "system-a" in page and "system-b" in page
    assert "adjusted by Holm's method" in page and "segments,workers|correction:holm" in page
    (pair,) = rank_systems(GoldRun.objects.get(campaign=campaign)).pairs
    neighbours = page[page.index("difference") :]
    for name in ("difference", "low", "probability", "p", "p_alone", "p_signed_rank"):
        assert "-" in neighbours if pair[name] is None else f"{pair[name]:.3f}" in neighbours
    call_command("rank_systems", campaign.name, "--test", "published")
    assert "mann-whitney" in capsys.readouterr().out


def test_the_commands_print_json(campaign, capsys):
    call_command("build_gold", campaign.name, "--json")
    run = json.loads(capsys.readouterr().out)
    assert run["number"] == 1 and run["minimum"] == 7 and len(run["input_digest"]) == 64
    call_command("build_gold", campaign.name, "--minimum", "1", "--json")
    capsys.readouterr()
    call_command("rank_systems", campaign.name, "--json", "--run", "2")
    ranking = json.loads(capsys.readouterr().out)
    assert ranking["run"] == 2 and len(ranking["systems"]) == 2
    assert ranking["p"][0][0] is None and 0 <= ranking["p_alone"][0][1] <= ranking["p"][0][1] <= 1
    assert ranking["test"] == "two_way" and len(ranking["pairs"]) == 1


def test_the_build_command_weighs_pending_evidence_first(capsys):
    campaign = make_hits(n_segments=35, hit_size=100)
    simulate_workers(campaign=campaign, crowd={Behaviour.HONEST: 2}, seed=2)
    call_command("build_gold", campaign.name, "--minimum", "1", "--json")
    assert json.loads(capsys.readouterr().out)["n_workers_trusted"] == 2


@pytest.mark.parametrize(
    ("command", "options", "message"),
    [
        ("build_gold", {"minimum": 0}, "at least 1"),
        ("rank_systems", {}, "no gold yet"),
        ("rank_systems", {"run": 3}, "no gold yet"),
    ],
)
def test_the_commands_refuse_with_the_reason(command, options, message):
    campaign = make_campaign()
    with pytest.raises(CommandError, match=message):
        call_command(command, campaign.name, **options)


def test_an_unknown_run_is_refused_with_a_list_of_runs(campaign):
    build_gold(campaign=campaign)
    build_gold(campaign=campaign)
    with pytest.raises(CommandError, match=r"no gold 3\. Choose from: 1, 2\."):
        call_command("rank_systems", campaign.name, run=3)


# Databases -------------------------------------------------------------------------------------


def gold_on(database_url: str, folder) -> dict:
    """Build the gold of the same campaign in a fresh database and a separate process."""
    process = run_python(
        "-m",
        "tests.analysis.gold_on_a_fresh_database",
        DA_DEBUG="1",
        DA_SECRET_KEY="only-for-tests",
        DA_DATA_DIR=str(folder),
        DATABASE_URL=migrated_database(database_url),
        DJANGO_SETTINGS_MODULE="da_platform.settings",
    )
    return json.loads(output_of(process).splitlines()[-1])


def test_sqlite_and_postgresql_give_the_same_gold_to_the_last_bit(tmp_path, postgres_url):
    ours = gold_on(f"sqlite:///{tmp_path}/db.sqlite3", tmp_path)
    theirs = gold_on(postgres_url, tmp_path)
    assert ours.pop("vendor") == "sqlite" and theirs.pop("vendor") == "postgresql"
    assert ours["n_scored"] == 70
    # Eight runs were then built by four threads at once.
    assert ours["numbers built at once"] == list(range(2, 10))
    assert ours == theirs
