"""Scores in the database: stored once, completely and unchanged."""

import pytest
from django.core.management import CommandError, call_command
from numpy.testing import assert_array_equal

from analysis.models import Metric, MetricScore, ScoreCollection
from analysis.scores import storing
from analysis.scores.errors import ScoresRefused
from analysis.scores.raw_files import RawFile
from analysis.scores.reading import read_scores
from analysis.scores.storing import (
    ScoreSource,
    campaign_keys,
    confirm_direction,
    store_score_file,
    store_scores,
    stored_table,
    stored_tables,
)
from hits.models import AuditEntry
from tests.factories import make_campaign, make_translations
from tests.people import make_person

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    campaign = make_campaign()
    make_translations(campaign, n_segments=3)
    return campaign


def text_of(campaign, *, title="score", number=0.5, level="segment"):
    rows = [
        f"{system}\t{segment}\t{number + place / 7}"
        for place, (system, segment) in enumerate(campaign_keys(campaign, level))
    ]
    return "\n".join([f"system\tsegment\t{title}", *rows]) + "\n"


def read(text, **options):
    return read_scores(RawFile("BLEU.tsv", text.encode()), **options)


def store(campaign, text, **options):
    file = read(text)
    return store_score_file(file=file, file_name="BLEU.tsv", home=campaign, **options)


def test_stored_scores_are_unchanged(campaign):
    file = read(text_of(campaign, number=1 / 3))
    (metric,) = store_score_file(file=file, file_name="BLEU.tsv", home=campaign)
    (table,), stored = file.tables, stored_table(metric)
    assert stored.keys == table.keys and stored.sha256 == table.sha256
    assert_array_equal(stored.scores, table.scores)
    assert (metric.name, metric.level, metric.n_scores) == ("BLEU", "segment", 6)
    assert (metric.file_name, metric.format, metric.origin) == ("BLEU.tsv", "tsv", "uploaded")


def test_the_same_file_is_stored_once(campaign):
    (first,), (second,) = (store(campaign, text_of(campaign)) for _ in range(2))
    assert first == second and MetricScore.objects.count() == 6
    assert AuditEntry.objects.filter(action="scores_stored").count() == 1


def miss_the_other_upload(monkeypatch):
    """Let the first lookup of the metric run before the other upload is committed."""
    lookups, really_look_up = iter([None]), storing._namesake
    monkeypatch.setattr(
        storing, "_namesake", lambda *home: next(lookups, "again") and really_look_up(*home)
    )


def test_a_simultaneous_upload_of_the_same_scores_stores_them_once(campaign, monkeypatch):
    (first,) = store(campaign, text_of(campaign))
    miss_the_other_upload(monkeypatch)
    (second,) = store(campaign, text_of(campaign))
    assert first == second and MetricScore.objects.count() == 6


def test_a_simultaneous_upload_of_other_scores_is_refused(campaign, monkeypatch):
    store(campaign, text_of(campaign))
    miss_the_other_upload(monkeypatch)
    with pytest.raises(ScoresRefused, match="different segment scores of BLEU already"):
        store(campaign, text_of(campaign, number=9))
    assert MetricScore.objects.count() == 6


def test_other_scores_of_the_same_name_are_refused(campaign):
    (metric,) = store(campaign, text_of(campaign))
    with pytest.raises(ScoresRefused, match="different segment scores of BLEU already"):
        store(campaign, text_of(campaign, number=9))
    assert stored_table(metric).scores[0] == 0.5


def test_scores_can_be_replaced(campaign):
    store(campaign, text_of(campaign))
    (metric,) = store(campaign, text_of(campaign, number=9), replace=True)
    assert stored_table(metric).scores[0] == 9 and Metric.objects.count() == 1
    assert AuditEntry.objects.latest("pk").details["replaced"] is True


def two_language_pairs():
    rows = [f"{pair}\tA\t{n}\t{pair}{n}" for pair in ("de-en", "fr-en") for n in (1, 2)]
    text = "\n".join(["language_pair\tsystem\tsegment\tscore", *rows]) + "\n"
    return text.replace("\tde-en", "\t").replace("\tfr-en", "\t5")


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        (two_language_pairs(), {"only": {"language_pair": p}}, {"only": {"language_pair": q}})
        for p, q in (("de-en", "fr-en"), ("fr-en", "de-en"))
    ]
    + [("segment\tscore\n1\t7\n2\t8\n", {"system": "A"}, {"system": "B"})],
)
def test_the_same_file_read_with_other_choices_has_other_scores(text, first, second):
    home = ScoreCollection.objects.create(name="elsewhere")
    store_scores(table=read(text, **first).tables[0], home=home, source=ScoreSource())
    (table,) = read(text, **second).tables
    with pytest.raises(ScoresRefused, match="different segment scores of BLEU already"):
        store_scores(table=table, home=home, source=ScoreSource())
    stored = stored_table(store_scores(table=table, home=home, source=ScoreSource(), replace=True))
    assert stored.keys == table.keys
    assert_array_equal(stored.scores, table.scores)


def test_computed_scores_are_not_replaced_by_an_upload(campaign):
    store(campaign, text_of(campaign))
    Metric.objects.update(origin=Metric.Origin.COMPUTED)
    with pytest.raises(ScoresRefused):
        store(campaign, text_of(campaign, number=9), replace=True)


def test_missing_and_extra_scores_are_named_and_nothing_is_stored(campaign):
    text = text_of(campaign).replace("system-a\tsegment-2", "system-x\tsegment-2")
    with pytest.raises(ScoresRefused) as refused:
        store(campaign, text)
    assert "BLEU: has no score for segment segment-2 by system-a" in str(refused.value)
    assert "the campaign has no segment segment-2 by system-x" in str(refused.value)
    assert not Metric.objects.exists()


def test_a_file_of_several_metrics_is_stored_completely_or_not_at_all(campaign):
    store(campaign, text_of(campaign, title="TER"))
    lines = text_of(campaign, title="chrF\tTER").splitlines()
    wide = "\n".join([lines[0], *(f"{line}\t1" for line in lines[1:])]) + "\n"
    with pytest.raises(ScoresRefused, match="of TER already"):
        store(campaign, wide)
    assert list(Metric.objects.values_list("name", flat=True)) == ["TER"]


def test_a_metric_can_have_segment_and_system_scores(campaign):
    store(campaign, text_of(campaign))
    store(campaign, "system\tscore\nsystem-a\t1\nsystem-b\t2\n")
    assert set(Metric.objects.values_list("level", flat=True)) == {"segment", "system"}


def test_scores_of_a_collection_need_no_campaign():
    table = read("qe\t1\t0.5\t0\nqe\t2\t0.25\t0\n").tables[0]
    home = ScoreCollection.objects.create(name="WMT14 task 1.2")
    first, second = (store_scores(table=table, home=home, source=ScoreSource()) for _ in range(2))
    assert first == second and stored_table(first).keys == (("", "1"), ("", "2"))


def test_scores_are_deleted_with_their_collection():
    home, other = (ScoreCollection.objects.create(name=name) for name in ("one", "two"))
    for collection in (home, other):
        store_scores(
            table=read("qe\t1\t0.5\t0\nqe\t2\t0.25\t0\n").tables[0],
            home=collection,
            source=ScoreSource(),
        )
    home.delete()
    assert Metric.objects.get().collection == other and MetricScore.objects.count() == 2


def test_many_metrics_are_read_with_one_query(campaign, django_assert_num_queries):
    for name in ("A", "B", "C"):
        store(campaign, text_of(campaign, title=name))
    metrics = list(Metric.objects.all())
    with django_assert_num_queries(1):
        assert [table.name for table in stored_tables(metrics)] == ["A", "B", "C"]


# Directions -----------------------------------------------------------------------------------


def test_an_undeclared_direction_is_unconfirmed(campaign):
    (metric,) = store(campaign, text_of(campaign))
    assert metric.higher_is_better is None and metric in Metric.objects.unconfirmed()


def test_a_declared_direction_counts_as_confirmed_by_the_uploader(campaign):
    ada = make_person("researcher", campaign)
    (metric,) = store(campaign, text_of(campaign, title="TER:lower"), uploaded_by=ada)
    assert metric.higher_is_better is False and metric.direction_confirmed_by == ada
    assert metric.direction_confirmed_at is not None


def test_a_direction_is_confirmed_once_by_a_person(campaign):
    ada, bob = make_person("researcher", campaign), make_person("admin", campaign)
    (metric,) = store(campaign, text_of(campaign))
    confirm_direction(metric=metric, higher_is_better=True, actor=ada)
    confirm_direction(metric=metric, higher_is_better=True, actor=bob)
    assert metric.higher_is_better is True and metric.direction_confirmed_by == ada
    assert AuditEntry.objects.filter(action="metric_direction_confirmed").count() == 1
    assert metric in Metric.objects.confirmed()


def test_a_wrong_direction_can_be_corrected_and_is_audited(campaign):
    ada = make_person("researcher", campaign)
    (metric,) = store(campaign, text_of(campaign, title="TER:higher"))
    assert confirm_direction(metric=metric, higher_is_better=False, actor=ada) == metric
    assert metric.higher_is_better is False
    assert AuditEntry.objects.latest("pk").details["higher_is_better"] is False


# The command ----------------------------------------------------------------------------------


@pytest.fixture
def path(campaign, tmp_path):
    path = tmp_path / "TER.tsv"
    path.write_text(text_of(campaign))
    return path


def test_the_command_stores_a_file(campaign, path, capsys):
    call_command("add_scores", campaign.name, str(path), "--direction", "TER=lower")
    assert capsys.readouterr().out == "TER: 6 segment scores stored.\n"
    assert Metric.objects.get().higher_is_better is False


@pytest.mark.parametrize(("options", "names"), [((), ["qe"]), (("--ranks",), ["qe", "qe (ranks)"])])
def test_the_command_leaves_out_rankings_by_default(tmp_path, capsys, options, names):
    campaign = make_campaign()
    make_translations(campaign, n_segments=2, n_systems=1)
    for n in (1, 2):
        campaign.segments.filter(name=f"segment-{n}").update(name=str(n))
    path = tmp_path / "qe.tsv"
    path.write_text("qe\t1\t0.5\t2\nqe\t2\t0.25\t1\n")
    arguments = ["--direction", "qe=higher", "--system", "system-a", *options]
    call_command("add_scores", campaign.name, str(path), *arguments)
    assert list(Metric.objects.values_list("name", flat=True)) == names
    assert ("1 is best" in capsys.readouterr().out) is bool(options)


def test_the_command_suggests_a_direction_but_does_not_assume_it(campaign, path):
    message = "--direction 'TER=lower'. TER seems to be an error rate"
    with pytest.raises(CommandError, match=message):
        call_command("add_scores", campaign.name, str(path))
    assert not Metric.objects.exists()


def test_the_command_refuses_a_direction_for_an_unknown_metric(campaign, path):
    with pytest.raises(CommandError, match="The file has no metric WER"):
        call_command("add_scores", campaign.name, str(path), "--direction", "WER=lower")


def test_the_command_reports_what_is_wrong(campaign, path):
    path.write_text("nonsense")
    with pytest.raises(CommandError, match="TER.tsv, line 1"):
        call_command("add_scores", campaign.name, str(path))
