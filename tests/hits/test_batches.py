"""Exporting HITs and results in the columns of published batches, and reading them back without loss."""

import csv
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from analysis.exporting import export
from hits.archives import import_collection
from hits.batches import batch_hits, export_batch, import_results, read_batch_hits
from hits.exceptions import ImportRefused
from hits.models import Assignment, Item, Payment, PaymentRun, Rating, System, SystemOutput, Worker
from hits.payments.owing import plans
from hits.payments.reporting import standing
from hits.rating.assignments import submit_assignment, take_assignment
from hits.workers.forgetting import forget_worker
from tests.factories import make_campaign, make_hits, make_translations, make_worker, rate_items
from tests.paying import add_bonus
from tests.people import client_of

pytestmark = pytest.mark.django_db


def submit(campaign, worker, comment=""):
    assignment = take_assignment(campaign=campaign, worker=worker)
    rate_items(assignment)
    submit_assignment(assignment=assignment, comment=comment)


def finished(*names, comment="", **fields):
    """Make a campaign in which workers with these names have submitted a HIT each."""
    campaign = make_hits(**fields)
    for name in names:
        submit(campaign, make_worker(name), comment)
    return campaign


def export_results(campaign, path, *, real_ids=True):
    assert export_batch(campaign=campaign, path=path, with_results=True, real_ids=real_ids)
    return path


def twin_of(campaign, **fields):
    """Return another campaign with the same texts and seed, and so the same HITs."""
    name = campaign.name
    campaign.name = f"{name} as it was"
    campaign.save()
    return make_hits(name=name, **fields)


def exported(folder, *names, **fields):
    """Export the results of a finished campaign; return the file and a twin to import it into."""
    campaign = finished(*names, **fields)
    return export_results(campaign, folder / "results.csv"), twin_of(campaign, **fields)


def rows_of(path):
    return list(csv.reader(path.read_text().splitlines()))


def shape(campaign):
    items = Item.objects.filter(hit__campaign=campaign).order_by("hit__number", "position")
    return list(
        items.values_list(
            "hit__number", "position", "role", "translation__segment__name", "partner__position"
        )
    )


def scores(campaign):
    ratings = Rating.objects.filter(assignment__hit__campaign=campaign)
    return sorted(
        ratings.values_list(
            "assignment__worker__external_id", "item__hit__number", "item__position", "score"
        )
    )


def test_exported_hits_are_read_back_unchanged(tmp_path):
    campaign = make_hits(n_segments=42)
    path = tmp_path / "hits.csv"
    assert export_batch(campaign=campaign, path=path) == campaign.hits.count() == 3
    assert read_batch_hits(path) == list(batch_hits(campaign))


def test_the_columns_are_the_published_ones(tmp_path):
    path = tmp_path / "hits.csv"
    export_batch(campaign=make_hits(), path=path)
    header, row = rows_of(path)
    assert header[:2] == ["HITId", "HITTypeId"]
    assert header[27:34] == ["Input.src", "Input.trg", "Input.item"] + [
        f"Input.{part}_0" for part in ("sys_id", "sid", "tst", "rid")
    ]
    assert header[-4:] == ["Answer.Q1", "Answer.comments", "Approve", "Reject"]
    assert len(header) == len(row) == 27 + 3 + 4 * 40 + 4


def test_systems_that_share_a_translation_are_all_named(tmp_path):
    campaign = make_hits()
    output = SystemOutput.objects.order_by("pk").first()
    SystemOutput.objects.create(
        system=System.objects.create(campaign=campaign, name="x|y"),
        segment=output.segment,
        translation=output.translation,
    )
    export_batch(campaign=campaign, path=tmp_path / "hits.csv")
    names = {item.systems for hit in read_batch_hits(tmp_path / "hits.csv") for item in hit.items}
    assert r"system-a|x\|y" in names


def test_exported_results_are_read_back_with_every_score(tmp_path):
    campaign = finished("alice", "bob", comment="Too long, 2 of 5", min_ratings=3)
    path = tmp_path / "results.csv"
    assert export_batch(campaign=campaign, path=path, with_results=True, real_ids=True) == 2
    before = scores(campaign)
    twin = twin_of(campaign)
    summary = import_results(campaign=twin, paths=[path])
    assert (summary.n_assignments, summary.n_ratings, summary.n_workers) == (2, 80, 2)
    assert scores(twin) == before
    assignments = Assignment.objects.order_by("pk")
    old, new = (assignments.filter(hit__campaign=each).first() for each in (campaign, twin))
    assert new.comment == old.comment == "Too long, 2 of 5"
    assert new.submitted_at == old.submitted_at.replace(microsecond=0)


def test_results_become_an_archive_with_the_same_items_and_scores(tmp_path):
    campaign = finished("alice")
    path = export_results(campaign, tmp_path / "results.csv")
    archive = import_collection(
        paths=[path], format="mturk", name="archive", source_language="de", target_language="en"
    ).campaign
    assert shape(archive) == shape(campaign)
    assert [row[1:] for row in scores(archive)] == [row[1:] for row in scores(campaign)]


def test_importing_results_again_adds_nothing_even_if_a_worker_was_forgotten(tmp_path):
    path, twin = exported(tmp_path, "alice", "bob", min_ratings=3)
    import_results(campaign=twin, paths=[path])
    n_ratings = len(scores(twin))
    alice = Worker.objects.get(provider="mturk", external_id="alice")
    forget_worker(worker=alice, reason="on request")
    again = import_results(campaign=twin, paths=[path])
    assert (again.n_assignments, again.n_known) == (0, 2)
    assert len(scores(twin)) == n_ratings
    assert not Worker.objects.filter(provider="mturk", external_id="alice").exists()


def test_imported_work_uses_up_its_place_and_is_owed_its_pay(tmp_path):
    path, twin = exported(tmp_path, "alice", min_ratings=2, pay_per_hit=1)
    import_results(campaign=twin, paths=[path])
    assert twin.hits.get().places_left == 1
    assert [plan.total for plan in plans(twin)] == [Decimal(1)]


class TestPaidByMechanicalTurk:
    def results(self, tmp_path, status):
        path = export_results(self.campaign, tmp_path / f"{status}.csv")
        path.write_text(path.read_text().replace(",Submitted,", f",{status},"))
        assert f",{status}," in path.read_text()
        return path

    @pytest.fixture(autouse=True)
    def twins(self):
        self.campaign = finished("alice", "bob", min_ratings=3, pay_per_hit=1)
        self.twin = twin_of(self.campaign, min_ratings=3, pay_per_hit=1)

    def test_approved_work_is_not_owed_and_is_recorded_once_as_paid(self, tmp_path):
        path = self.results(tmp_path, "Approved")
        for _ in range(2):
            import_results(campaign=self.twin, paths=[path])
        assert plans(self.twin) == []
        assert standing(self.twin, []).paid == 2
        codes = Assignment.objects.filter(hit__campaign=self.campaign).values_list("code")
        prepared = Payment.objects.values_list("prepared", flat=True)
        assert sorted(prepared) == sorted(str(code) for (code,) in codes)
        assert PaymentRun.objects.get().finished_at

    def test_work_approved_there_later_is_no_longer_owed(self, tmp_path):
        import_results(campaign=self.twin, paths=[self.results(tmp_path, "Submitted")])
        assert [plan.total for plan in plans(self.twin)] == [2]
        import_results(campaign=self.twin, paths=[self.results(tmp_path, "Approved")])
        assert plans(self.twin) == []

    def test_a_bonus_for_approved_work_is_still_owed(self, tmp_path):
        import_results(campaign=self.twin, paths=[self.results(tmp_path, "Approved")])
        add_bonus(self.twin)
        assert [plan.total for plan in plans(self.twin)] == [Decimal("0.50")]

    def test_the_pages_say_that_the_command_line_recorded_it(self, tmp_path):
        call_command("import_results", self.twin.name, str(self.results(tmp_path, "Approved")))
        run = PaymentRun.objects.get()
        for url in (
            reverse("campaign_payments", args=[self.twin.code]),
            reverse("payment_run", args=[self.twin.code, run.code]),
        ):
            assert "the command line" in client_of("admin").get(url).content.decode()


def test_workers_have_the_pseudonyms_of_the_other_exports_by_default(tmp_path):
    campaign = finished("alice", min_ratings=2)
    submit(campaign, Worker.objects.create(provider="panel", external_id="alice"))
    path = export_results(campaign, tmp_path / "results.csv", real_ids=False)
    assert "alice" not in path.read_text()
    export(kind="ratings", campaign=campaign, path=tmp_path / "ratings.csv", format="csv")
    pseudonyms = [
        {row[name] for row in csv.DictReader((tmp_path / file).read_text().splitlines())}
        for file, name in (("results.csv", "WorkerId"), ("ratings.csv", "worker"))
    ]
    assert pseudonyms[0] == pseudonyms[1] and len(pseudonyms[0]) == 2


def test_rejected_work_stays_rejected(tmp_path):
    campaign = finished("alice")
    Assignment.objects.update(is_rejected=True)
    path = export_results(campaign, tmp_path / "results.csv")
    twin = twin_of(campaign)
    import_results(campaign=twin, paths=[path])
    assert Assignment.objects.get(hit__campaign=twin).is_rejected


def test_a_comment_cannot_be_a_formula(tmp_path):
    campaign = finished("alice", comment="=HYPERLINK(1)")
    path = export_results(campaign, tmp_path / "results.csv")
    assert ",'=HYPERLINK(1)," in path.read_text()


def test_results_of_another_campaign_are_refused(tmp_path):
    path = export_results(finished("alice"), tmp_path / "results.csv")
    other = make_hits(seed=8)
    with pytest.raises(ImportRefused, match="not in this campaign"):
        import_results(campaign=other, paths=[path])


def test_results_with_a_rating_missing_are_refused(tmp_path):
    path, twin = exported(tmp_path, "alice")
    rows = rows_of(path)
    rows[1][-4] = rows[1][-4].rpartition("|")[0]
    with path.open("w") as file:
        csv.writer(file).writerows(rows)
    with pytest.raises(ImportRefused, match="lacks 1 of 40"):
        import_results(campaign=twin, paths=[path])
    assert not Assignment.objects.filter(hit__campaign=twin).exists()


def test_a_file_without_the_columns_of_a_batch_is_refused(tmp_path):
    path = tmp_path / "hits.csv"
    path.write_text("HITId,Title\n1,2\n")
    with pytest.raises(ImportRefused, match="line 1: does not have the columns"):
        read_batch_hits(path)


def test_the_commands_export_and_import_results(tmp_path, capsys):
    campaign = finished("alice")
    path = tmp_path / "results.csv"
    call_command("export_batch", campaign.name, str(path), "--results", "--real-ids")
    twin = twin_of(campaign)
    call_command("import_results", twin.name, str(path))
    assert "1 assignments with 40 ratings by 1 workers stored" in capsys.readouterr().out
    with pytest.raises(CommandError, match="File exists"):
        call_command("export_batch", campaign.name, str(path))


def test_the_export_of_a_campaign_without_hits_is_empty(tmp_path):
    campaign = make_campaign()
    make_translations(campaign)
    assert export_batch(campaign=campaign, path=tmp_path / "hits.csv") == 0
