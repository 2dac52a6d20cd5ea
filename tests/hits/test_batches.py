"""A campaign's HITs and results in the columns of published batches, and back without loss."""

import csv
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from analysis.exporting import export
from hits.archives import import_collection
from hits.batches import batch_hits, export_batch, import_results, read_batch_hits
from hits.exceptions import ImportRefused
from hits.models import (
    Assignment,
    Campaign,
    Item,
    Payment,
    PaymentRun,
    Rating,
    System,
    SystemOutput,
    Worker,
)
from hits.payments.owing import plans
from hits.payments.reporting import standing
from hits.payments.runs import add_rule
from hits.rating.assignments import submit_assignment, take_assignment
from hits.workers.forgetting import forget_worker
from tests.factories import make_campaign, make_hits, make_translations, make_worker, rate_items
from tests.paying import make_admin
from tests.people import client_of

pytestmark = pytest.mark.django_db


def finished(campaign, *names, comment=""):
    for name in names:
        worker = make_worker(name)
        assignment = take_assignment(campaign=campaign, worker=worker)
        rate_items(assignment)
        submit_assignment(assignment=assignment, comment=comment)
    return campaign


def twin_of(campaign):
    """Another campaign with the same texts and seed, and so the same HITs."""
    name = campaign.name
    campaign.name = f"{name} as it was"
    campaign.save()
    return make_hits(name=name)


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


def test_hits_come_back_from_the_published_columns_as_they_went_out(tmp_path):
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


def test_results_come_back_into_the_campaign_score_by_score(tmp_path):
    campaign = finished(make_hits(min_ratings=3), "alice", "bob", comment="Too long, 2 of 5")
    path = tmp_path / "results.csv"
    assert export_batch(campaign=campaign, path=path, with_results=True, real_ids=True) == 2
    before = scores(campaign)
    twin = twin_of(campaign)
    summary = import_results(campaign=twin, paths=[path])
    assert (summary.n_assignments, summary.n_ratings, summary.n_workers) == (2, 80, 2)
    assert scores(twin) == before
    old, new = (
        Assignment.objects.filter(hit__campaign=one).order_by("pk").first()
        for one in (campaign, twin)
    )
    assert new.comment == old.comment == "Too long, 2 of 5"
    assert new.submitted_at == old.submitted_at.replace(microsecond=0)


def test_results_become_an_archive_with_the_same_items_and_scores(tmp_path):
    campaign = finished(make_hits(), "alice")
    path = tmp_path / "results.csv"
    export_batch(campaign=campaign, path=path, with_results=True, real_ids=True)
    archive = import_collection(
        paths=[path], format="mturk", name="archive", source_language="de", target_language="en"
    ).campaign
    assert shape(archive) == shape(campaign)
    assert [row[1:] for row in scores(archive)] == [row[1:] for row in scores(campaign)]


def test_reading_results_again_changes_nothing(tmp_path):
    campaign = finished(make_hits(), "alice")
    path = tmp_path / "results.csv"
    export_batch(campaign=campaign, path=path, with_results=True, real_ids=True)
    twin = twin_of(campaign)
    import_results(campaign=twin, paths=[path])
    again = import_results(campaign=twin, paths=[path])
    assert (again.n_assignments, again.n_known) == (0, 1)
    assert Assignment.objects.filter(hit__campaign=twin).count() == 1


def test_reading_results_again_does_not_bring_forgotten_workers_back(tmp_path):
    campaign = make_hits(min_ratings=3)
    finished(campaign, "alice", "bob")
    path = tmp_path / "results.csv"
    export_batch(campaign=campaign, path=path, with_results=True, real_ids=True)
    twin = twin_of(campaign)
    import_results(campaign=twin, paths=[path])
    n_ratings = len(scores(twin))
    alice = Worker.objects.get(provider="mturk", external_id="alice")
    forget_worker(worker=alice, reason="on request")
    again = import_results(campaign=twin, paths=[path])
    assert (again.n_assignments, again.n_known) == (0, 2)
    assert len(scores(twin)) == n_ratings
    assert not Worker.objects.filter(provider="mturk", external_id="alice").exists()


def test_imported_work_takes_up_its_place_and_is_owed_its_pay(tmp_path):
    campaign = finished(make_hits(min_ratings=2, pay_per_hit=Decimal(1)), "alice")
    path = tmp_path / "results.csv"
    export_batch(campaign=campaign, path=path, with_results=True, real_ids=True)
    twin = twin_of(campaign)
    Campaign.objects.filter(pk=twin.pk).update(min_ratings=2, pay_per_hit=1)
    twin.refresh_from_db()
    import_results(campaign=twin, paths=[path])
    assert twin.hits.get().places_left == 1
    assert [plan.total for plan in plans(twin)] == [Decimal(1)]


class TestWhatMechanicalTurkHasPaid:
    def results(self, tmp_path, status):
        path = tmp_path / f"{status}.csv"
        export_batch(campaign=self.campaign, path=path, with_results=True, real_ids=True)
        path.write_text(path.read_text().replace(",Submitted,", f",{status},"))
        assert f",{status}," in path.read_text()
        return path

    @pytest.fixture(autouse=True)
    def twins(self):
        self.campaign = finished(make_hits(min_ratings=3, pay_per_hit=Decimal(1)), "alice", "bob")
        self.twin = twin_of(self.campaign)
        Campaign.objects.filter(pk=self.twin.pk).update(min_ratings=3, pay_per_hit=1)
        self.twin.refresh_from_db()

    def test_it_is_not_owed_and_stands_in_the_ledger(self, tmp_path):
        import_results(campaign=self.twin, paths=[self.results(tmp_path, "Approved")])
        assert plans(self.twin) == []
        assert standing(self.twin, []).paid == 2
        lines = Payment.objects.all()
        codes = Assignment.objects.filter(hit__campaign=self.campaign).values_list("code")
        assert {line.prepared for line in lines} == {str(code) for (code,) in codes}
        assert PaymentRun.objects.get().finished_at

    def test_what_is_approved_there_later_is_owed_no_more(self, tmp_path):
        import_results(campaign=self.twin, paths=[self.results(tmp_path, "Submitted")])
        assert [plan.total for plan in plans(self.twin)] == [2]
        import_results(campaign=self.twin, paths=[self.results(tmp_path, "Approved")])
        assert plans(self.twin) == []

    def test_reading_it_again_notes_it_once(self, tmp_path):
        path = self.results(tmp_path, "Approved")
        import_results(campaign=self.twin, paths=[path])
        import_results(campaign=self.twin, paths=[path])
        assert PaymentRun.objects.count() == 1 and Payment.objects.count() == 2

    def test_a_bonus_is_owed_all_the_same(self, tmp_path):
        import_results(campaign=self.twin, paths=[self.results(tmp_path, "Approved")])
        add_rule(
            campaign=self.twin,
            kind="flat",
            amount=Decimal("0.25"),
            reason="Thank you",
            actor=make_admin(),
        )
        assert [plan.total for plan in plans(self.twin)] == [Decimal("0.50")]

    def test_the_pages_show_it_as_done_by_the_command_line(self, tmp_path):
        call_command("import_results", self.twin.name, str(self.results(tmp_path, "Approved")))
        run = PaymentRun.objects.get()
        for url in (
            reverse("campaign_payments", args=[self.twin.code]),
            reverse("payment_run", args=[self.twin.code, run.code]),
        ):
            assert "the command line" in client_of("admin").get(url).content.decode()


def test_workers_have_other_names_unless_real_ids_are_asked_for(tmp_path):
    campaign = finished(make_hits(), "alice")
    export_batch(campaign=campaign, path=tmp_path / "results.csv", with_results=True)
    assert "alice" not in (tmp_path / "results.csv").read_text()


def test_a_worker_has_the_made_up_name_of_the_other_exports(tmp_path):
    campaign = make_hits(min_ratings=2)
    finished(campaign, "alice")
    other = Worker.objects.create(provider="panel", external_id="alice")
    assignment = take_assignment(campaign=campaign, worker=other)
    rate_items(assignment)
    submit_assignment(assignment=assignment)
    export_batch(campaign=campaign, path=tmp_path / "results.csv", with_results=True)
    export(kind="ratings", campaign=campaign, path=tmp_path / "ratings.csv", format="csv")
    named = [
        {row[name] for row in csv.DictReader((tmp_path / file).read_text().splitlines())}
        for file, name in (("results.csv", "WorkerId"), ("ratings.csv", "worker"))
    ]
    assert named[0] == named[1] and len(named[0]) == 2


def test_rejected_work_says_so(tmp_path):
    campaign = finished(make_hits(), "alice")
    Assignment.objects.update(is_rejected=True)
    path = tmp_path / "results.csv"
    export_batch(campaign=campaign, path=path, with_results=True, real_ids=True)
    twin = twin_of(campaign)
    import_results(campaign=twin, paths=[path])
    assert Assignment.objects.get(hit__campaign=twin).is_rejected


def test_a_comment_cannot_be_a_formula(tmp_path):
    campaign = finished(make_hits(), "alice", comment="=HYPERLINK(1)")
    export_batch(campaign=campaign, path=tmp_path / "results.csv", with_results=True)
    assert ",'=HYPERLINK(1)," in (tmp_path / "results.csv").read_text()


def test_results_of_another_campaign_are_refused(tmp_path):
    campaign = finished(make_hits(), "alice")
    path = tmp_path / "results.csv"
    export_batch(campaign=campaign, path=path, with_results=True)
    other = make_hits(seed=8)
    with pytest.raises(ImportRefused, match="not in this campaign"):
        import_results(campaign=other, paths=[path])


def test_results_with_a_rating_missing_are_refused(tmp_path):
    campaign = finished(make_hits(), "alice")
    path = tmp_path / "results.csv"
    export_batch(campaign=campaign, path=path, with_results=True, real_ids=True)
    rows = rows_of(path)
    rows[1][-4] = rows[1][-4].rpartition("|")[0]
    with path.open("w") as file:
        csv.writer(file).writerows(rows)
    twin = twin_of(campaign)
    with pytest.raises(ImportRefused, match="lacks 1 of 40"):
        import_results(campaign=twin, paths=[path])
    assert not Assignment.objects.filter(hit__campaign=twin).exists()


def test_a_file_that_is_no_batch_is_refused(tmp_path):
    path = tmp_path / "hits.csv"
    path.write_text("HITId,Title\n1,2\n")
    with pytest.raises(ImportRefused, match="line 1: does not have the columns"):
        read_batch_hits(path)


def test_the_commands_do_it_too(tmp_path, capsys):
    campaign = finished(make_hits(), "alice")
    path = tmp_path / "results.csv"
    call_command("export_batch", campaign.name, str(path), "--results", "--real-ids")
    twin = twin_of(campaign)
    call_command("import_results", twin.name, str(path))
    assert "1 assignments with 40 ratings by 1 workers stored" in capsys.readouterr().out
    with pytest.raises(CommandError, match="File exists"):
        call_command("export_batch", campaign.name, str(path))


def test_a_campaign_without_hits_has_a_header_only(tmp_path):
    campaign = make_campaign()
    make_translations(campaign)
    assert export_batch(campaign=campaign, path=tmp_path / "hits.csv") == 0
