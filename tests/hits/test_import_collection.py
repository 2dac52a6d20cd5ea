"""Importing a finished collection, in any format, as a closed campaign with its ratings."""

import io
import json
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean, stdev
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.forms import model_to_dict
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.stats.roles import Role
from da_platform.files.problems import Problems
from hits.archives import CollectionSummary, Judgement, import_collection
from hits.archives.records import LanguagePair
from hits.archives.wmt_da import read_wmt_da
from hits.models import HIT, Assignment, AuditEntry, Campaign, Evidence, Item, Rating, Worker
from hits.workers.trust import update_evidence, weigh_pending

pytestmark = pytest.mark.django_db

DATA = Path(__file__).parents[1] / "data" / "collections"
FILES = {
    "mturk": [DATA / "mturk.csv"],
    "wmt-da": [DATA / "wmt-da.csv", DATA / "wmt-da-means.txt"],
    "appraise": [DATA / "appraise.csv"],
}


def import_example(
    format: str, *, paths: list[Path] | None = None, **options: Any
) -> CollectionSummary:
    options = {"name": "Old", "source_language": "de", "target_language": "en"} | options
    return import_collection(paths=paths or FILES[format], format=format, **options)


def import_text(folder: Path, format: str, text: str) -> CollectionSummary:
    path = folder / "ratings.csv"
    path.write_text(text)
    return import_example(format, paths=[path])


def ratings_of(campaign: Campaign) -> list[tuple[Any, ...]]:
    rows = Rating.objects.filter(assignment__hit__campaign=campaign).values_list(
        "assignment__worker__external_id",
        "item__translation__outputs__system__name",
        "item__translation__segment__name",
        "item__role",
        "score",
    )
    return sorted((worker.split("/")[-1], *rating) for worker, *rating in rows)


def trust_of(campaign: Campaign) -> dict[str, str]:
    rows = campaign.participations.select_related("worker")
    return {row.worker.external_id.split("/")[-1]: row.state for row in rows}


@pytest.mark.parametrize("format", FILES)
def test_every_format_gives_a_closed_campaign_with_all_ratings(format: str) -> None:
    summary = import_example(format)
    campaign = summary.campaign
    assert (campaign.status, campaign.is_archive, campaign.hit_size) == ("closed", True, 13)
    assert (summary.n_systems, summary.n_segments, summary.n_translations) == (2, 3, 6)
    assert (summary.n_workers, summary.n_assignments, summary.n_ratings) == (3, 3, 39)
    assert summary.n_hits == (3 if format == "appraise" else 1)
    assert campaign.segments.filter(source="", reference="").count() == 3
    assert [segment.name for segment in campaign.segments.all()] == ["1", "2", "3"]
    assert HIT.objects.exclude(places_left=0).count() == 0


def test_all_formats_give_the_same_ratings_and_verdicts() -> None:
    campaigns = [import_example(format, name=format).campaign for format in FILES]
    first, second, third = (ratings_of(campaign) for campaign in campaigns)
    assert first == second == third
    assert ("alice", "alder", "1", Role.GENUINE, 80) in first
    assert ("carol", "birch", "3", Role.REPEAT, 93) in first
    for campaign in campaigns:
        expected = {"alice": "reliable", "bob": "unreliable", "carol": "reliable"}
        assert trust_of(campaign) == expected


@pytest.mark.parametrize("format", FILES)
def test_qc_items_of_the_same_translation_share_their_partner(format: str) -> None:
    import_example(format)
    assignment = Assignment.objects.get(worker__external_id="Old/alice")
    items = {
        (item.translation.outputs.get().system.name, item.translation.segment.name, item.role): item
        for item in Item.objects.filter(hit=assignment.hit)
    }
    genuine = items["birch", "3", Role.GENUINE]
    for role in (Role.REPEAT, Role.REFERENCE):
        assert items["birch", "3", role].partner == genuine
    assert items["alder", "2", Role.BAD_REFERENCE].partner == items["alder", "2", Role.GENUINE]
    assert genuine.partner is None


@pytest.mark.parametrize("format", ["mturk", "appraise"])
def test_evidence_is_the_same_as_computed_worker_by_worker(format: str) -> None:
    import_example(format)
    assert weigh_pending() == 0
    ignored = {"id", "assignment", "computed_at", "details"}
    imported = list(Evidence.objects.all())
    assert len(imported) == 3
    for evidence in imported:
        expected = {k: v for k, v in model_to_dict(evidence).items() if k not in ignored}
        evidence.delete()
        again = update_evidence(assignment=evidence.assignment)
        recomputed = {k: v for k, v in model_to_dict(again).items() if k not in ignored}
        assert recomputed == pytest.approx(expected, abs=1e-12)
        assert again.verdict == evidence.verdict


def test_mturk_files_bring_times_rejections_and_comments() -> None:
    import_example("mturk")
    alice, bob, carol = Assignment.objects.order_by("worker__external_id")
    assert alice.started_at == datetime(2024, 3, 1, 12, 0, tzinfo=UTC)
    assert (alice.submitted_at - alice.started_at).total_seconds() == 520
    assert [each.is_rejected for each in (alice, bob, carol)] == [False, True, False]
    assert carol.comment == 'Long,\nbut "fine".'
    assert set(alice.ratings.values_list("received_at", flat=True)) == {alice.submitted_at}
    assert bob.evidence.get().has_rejection_flag and bob.evidence.get().has_time_flag
    assert [item.position for item in alice.hit.items.all()] == list(range(1, 14))


def test_mturk_time_zones_are_respected(tmp_path: Path) -> None:
    import_text(tmp_path, "mturk", FILES["mturk"][0].read_text().replace("GMT", "PDT"))
    assert {assignment.started_at.hour for assignment in Assignment.objects.all()} == {19}


def test_an_unanswered_assignment_is_left_out_and_noted(tmp_path: Path) -> None:
    lines = FILES["mturk"][0].read_text().split("\n")
    answers = lines[1].split(",")[-2]
    lines[1] = lines[1].replace(answers, '""')
    summary = import_text(tmp_path, "mturk", "\n".join(lines))
    assert "assignments without any answers were skipped: 1" in summary.notes
    assert summary.n_workers == 2


def test_a_worker_who_did_a_hit_twice_has_two_hits_of_the_same_items(tmp_path: Path) -> None:
    lines = FILES["mturk"][0].read_text().split("\n")
    again = lines[1].replace("assignment of alice", "another of alice")
    summary = import_text(tmp_path, "mturk", "\n".join([*lines[:2], again, *lines[2:]]))
    assert (summary.n_hits, summary.n_workers, summary.n_ratings) == (2, 3, 52)
    assert Evidence.objects.get(assignment__worker__external_id="Old/alice").n_pairs == 10


def test_appraise_ratings_are_ordered_by_time() -> None:
    import_example("appraise")
    alice = Assignment.objects.get(worker__external_id="Old/alice")
    scores = alice.ratings.order_by("item__position").values_list("score", flat=True)
    assert list(scores) == [80, 20, 70, 10, 60, 90, 30, 75, 15, 85, 5, 88, 100]
    first = alice.ratings.get(item__position=1)
    assert (first.elapsed_ms, first.received_at.second) == (40_000, 40)


def test_each_appraise_batch_is_a_hit(tmp_path: Path) -> None:
    lines = FILES["appraise"][0].read_text().splitlines()
    rows = [f"{line},{1 + number % 2},{number}" for number, line in enumerate(lines)]
    summary = import_text(tmp_path, "appraise", "\n".join(rows))
    assert (summary.n_hits, summary.n_workers, summary.n_ratings) == (6, 3, 39)
    assert any("without their genuine partner" in note for note in summary.notes)
    assert not any("one task" in note for note in summary.notes)


def test_a_translation_rated_twice_as_genuine_keeps_both_ratings(tmp_path: Path) -> None:
    text = FILES["appraise"][0].read_text()
    text += "alice,alder,1,TGT,deu,eng,82,1709300000.000,1709300009.000\n"
    text += "alice,alder,1,BAD,deu,eng,33,1709300010.000,1709300019.000\n"
    import_text(tmp_path, "appraise", text)
    alice = Assignment.objects.get(worker__external_id="Old/alice")
    pairs = alice.ratings.filter(
        item__role=Role.BAD_REFERENCE, item__translation__outputs__system__name="alder"
    ).filter(item__translation__segment__name="1")
    partners = {rating.score: rating.item.partner for rating in pairs}
    assert alice.ratings.get(item=partners[30]).score == 80
    assert alice.ratings.get(item=partners[33]).score == 82


def test_a_quality_control_item_without_its_partner_is_kept_and_noted(tmp_path: Path) -> None:
    lines = FILES["appraise"][0].read_text().splitlines()
    lines = [line for line in lines if not line.startswith("alice,alder,1,TGT")]
    summary = import_text(tmp_path, "appraise", "\n".join(lines))
    assert any(note.endswith("not used: 1") for note in summary.notes)
    assert Evidence.objects.get(participation__worker__external_id="Old/alice").n_pairs == 4


def test_wmt_durations_are_kept_without_dates() -> None:
    summary = import_example("wmt-da")
    alice = Assignment.objects.get(worker__external_id="Old/alice")
    assert (alice.submitted_at - alice.started_at).total_seconds() == 520
    assert alice.started_at.year == 1970
    assert any("1 January 1970" in note for note in summary.notes)
    evidence = alice.evidence.get()
    assert (evidence.fastest_hit_seconds, evidence.window_n_pairs) == (520, 0)
    # Without the order of ratings, there are no runs of equal scores.
    assert evidence.longest_run == 0


def test_wmt_hits_of_one_worker_do_not_overlap(tmp_path: Path) -> None:
    text = (DATA / "wmt-da.csv").read_text()
    rows = [line for line in text.splitlines()[1:] if "\talice\t" in line]
    path = tmp_path / "ratings.csv"
    path.write_text(text + "\n".join(line.replace("HIT1", "HIT2") for line in rows) + "\n")
    import_example("wmt-da", paths=[path, DATA / "wmt-da-means.txt"])
    first, second = Assignment.objects.filter(worker__external_id="Old/alice")
    assert first.submitted_at == second.started_at
    assert Evidence.objects.get(assignment=second).fastest_hit_seconds == 520


SCORES = st.lists(st.integers(0, 100), min_size=2, max_size=40).filter(
    lambda scores: len(set(scores)) > 1
)


@settings(max_examples=50)
@given(scores=SCORES)
def test_ratings_are_recovered_from_z_scores_and_printed_means(scores: list[int]) -> None:
    own_mean, own_sd = float(f"{mean(scores):.7g}"), float(f"{stdev(scores):.7g}")
    header = "HITId WorkerId Input.src Input.trg sys_id type sid score time"
    rows = [
        f"h\tw\tde\ten\ts\tSYSTEM\t{segment}\t{(score - own_mean) / own_sd:.15g}\t60.0"
        for segment, score in enumerate(scores)
    ]
    with TemporaryDirectory() as folder:
        ratings, means = Path(folder, "ratings.csv"), Path(folder, "means.txt")
        ratings.write_text("\n".join([header, *rows]))
        means.write_text(f'[1] "w"\n[1] {own_mean:.7g}\n[1] {own_sd:.7g}\n')
        problems = Problems()
        collection = read_wmt_da([ratings, means], LanguagePair("de", "en"), problems)
    assert problems.listed == []
    assert [rating.score for rating in collection.assignments[0].ratings] == scores


# Trust -----------------------------------------------------------------------------------------


def test_all_workers_can_be_trusted_if_they_were_judged_elsewhere() -> None:
    summary = import_example("mturk", judgement=Judgement(trusts_all=True, reason="Passed before."))
    assert summary.n_trusted == 3
    assert trust_of(summary.campaign)["bob"] == "reinstated"
    bob = summary.campaign.participations.get(worker__external_id="Old/bob")
    assert bob.trust == "unreliable"
    entry = AuditEntry.objects.get(worker=bob.worker, action="reinstated")
    assert entry.reason == "Passed before. Judged reliable where the ratings were collected."
    assert entry.details == {"before": "unreliable", "after": "reinstated"}


def test_a_file_can_name_the_workers_to_trust_and_excludes_the_others(tmp_path: Path) -> None:
    names = tmp_path / "reliable.txt"
    names.write_text("alice\t0.001\t-6.0\t5\nbob\nmallory\n")
    summary = import_example("mturk", judgement=Judgement(trusted=names))
    expected = {"alice": "reinstated", "bob": "reinstated", "carol": "excluded"}
    assert trust_of(summary.campaign) == expected
    note = "reliable.txt names workers who are not in the collection: mallory (1 in all)"
    assert note in summary.notes


def test_rejected_workers_can_be_excluded() -> None:
    summary = import_example("mturk", judgement=Judgement(trusts_all=True, excludes_rejected=True))
    expected = {"alice": "reinstated", "bob": "excluded", "carol": "reinstated"}
    assert trust_of(summary.campaign) == expected


def test_the_audit_log_says_where_the_collection_came_from() -> None:
    campaign = import_example("wmt-da").campaign
    entry = campaign.audit_entries.get(action="collection imported")
    assert entry.details["format"] == "wmt-da"
    assert set(entry.details["files"]) == {"wmt-da.csv", "wmt-da-means.txt"}
    assert all(len(digest) == 64 for digest in entry.details["files"].values())
    changes = campaign.audit_entries.filter(action="trust changed")
    assert changes.count() == 3


def test_collections_share_workers_only_within_a_namespace() -> None:
    import_example("mturk", name="One")
    import_example("mturk", name="Two")
    assert Worker.objects.count() == 6
    import_example("mturk", name="Three", worker_namespace="effort")
    import_example("mturk", name="Four", worker_namespace="effort")
    assert Worker.objects.count() == 9
    assert Worker.objects.get(external_id="effort/alice").participations.count() == 2


def test_an_archive_cannot_be_opened() -> None:
    campaign = import_example("mturk").campaign
    with pytest.raises(IntegrityError), transaction.atomic():
        Campaign.objects.filter(pk=campaign.pk).update(status=Campaign.Status.OPEN)


def test_progress_counts_every_rating() -> None:
    steps: list[int] = []
    import_example("mturk", progress=steps.append)
    assert sum(steps) == 39


# The command -----------------------------------------------------------------------------------


def run(*arguments: str) -> str:
    stdout = io.StringIO()
    languages = ["--from", "de", "--to", "en", "--name", "Old"]
    call_command("import_collection", *arguments, *languages, stdout=stdout)
    return stdout.getvalue()


def test_the_command_reports_what_it_imported() -> None:
    output = run(str(DATA / "mturk.csv"), "--format", "mturk")
    assert "2 systems, 3 segments, 6 translations, 1 HITs, 3 assignments, 39 ratings" in output
    assert "by 3 workers, 2 of them trusted." in output
    assert "Note: the files contain no texts" in output


def test_the_command_can_print_json() -> None:
    options = ["--format", "wmt-da", "--trust-all", "--min-ratings", "2", "--json"]
    summary = json.loads(run(*map(str, FILES["wmt-da"]), *options))
    campaign = Campaign.objects.get()
    assert summary["campaign"] == str(campaign.code)
    assert (summary["n_ratings"], summary["n_trusted"]) == (39, 3)
    assert campaign.min_ratings == 2


def test_the_command_refuses_with_file_line_and_reason(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("alice,alder,1,TGT,deu,eng,101,1.0,2.0\n")
    with pytest.raises(CommandError, match=r"scores\.csv, line 1: score '101' is not a whole"):
        run(str(path), "--format", "appraise")
    assert not Campaign.objects.exists()
