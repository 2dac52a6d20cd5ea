"""A campaign that stops when its ranking is decided, from the first part to the last look."""

import json

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from analysis.exporting import export
from analysis.gold.looks import take_look
from analysis.models import GoldRun
from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job
from hits.campaigns.building import build_hits
from hits.campaigns.editing import edit_campaign
from hits.campaigns.lifecycle import change_status
from hits.campaigns.looks import add_part, begin_look, conclude_look, waiting_for
from hits.chores import do_chores
from hits.exceptions import CannotBuildHITs, EditRefused, LookRefused
from hits.models import Assignment, Campaign, Item, Look, SystemOutput
from hits.rating.assignments import submit_assignment, take_assignment
from hits.rating.places import forecast, settle_places
from tests.api.callers import caller
from tests.factories import make_campaign, make_translations, make_worker, rate_items
from tests.looked_at import collect, make_looked_at

pytestmark = pytest.mark.django_db


def systems_in(campaign, part):
    items = Item.objects.filter(
        hit__campaign=campaign, hit__part=part, role=Item.Role.GENUINE.value
    )
    outputs = SystemOutput.objects.filter(translation__in=items.values("translation"))
    return [row.system.name for row in outputs.select_related("system")]


def test_only_the_first_part_is_built_before_the_first_look():
    campaign = make_looked_at()
    items = Item.objects.filter(hit__campaign=campaign, role=Item.Role.GENUINE.value)
    assert items.values("translation__segment").distinct().count() == 20
    assert set(campaign.hits.values_list("part", flat=True)) == {1}


def test_places_go_to_the_systems_that_are_undecided_until_nothing_is_left():
    campaign = make_looked_at()
    collect(campaign)
    first = take_look(campaign=campaign)
    assert first.result["open_systems"] == ["system-a", "system-b"] and not first.is_last
    names = systems_in(campaign, 2)
    assert names.count("system-a") == names.count("system-b") == 20
    # The last HIT is filled up with others, which no place is bought for.
    assert names.count("system-c") <= 2
    collect(campaign, seed=2)
    take_look(campaign=campaign)
    collect(campaign, seed=3)
    if not campaign.looks.filter(is_last=True).exists():
        take_look(campaign=campaign)
    last = campaign.looks.get(is_last=True)
    states = {(p["system"], p["other"]): p["state"] for p in last.result["pairs"]}
    assert states["system-a", "system-c"] == states["system-b", "system-c"] == "decided"
    campaign.refresh_from_db()
    assert campaign.stopped_at is not None
    with pytest.raises(LookRefused, match="had its last look"):
        take_look(campaign=campaign)


def test_a_look_before_its_time_is_refused_and_says_what_it_waits_for():
    campaign = make_looked_at()
    with pytest.raises(LookRefused, match="to be started"):
        take_look(campaign=campaign)
    assert not Look.objects.exists()


def test_a_campaign_without_looks_is_never_looked_at():
    campaign = make_looked_at(n_looks=None)
    assert campaign.hits.count() > 3
    with pytest.raises(LookRefused, match="no looks"):
        take_look(campaign=campaign)
    assert do_chores().n_looks == 0


def test_when_all_is_decided_no_places_are_left_and_work_under_way_still_counts():
    campaign = make_looked_at()
    far = {"system-a": 90.0, "system-b": 50.0, "system-c": 10.0}
    collect(campaign, by_system=far)
    # Somebody began, ran out of time, and was replaced.
    late = make_worker("late")
    hit = campaign.hits.first()
    assignment = Assignment.objects.create(
        hit=hit,
        worker=late,
        status="expired",
        expires_at=timezone.now() + timezone.timedelta(hours=1),
    )
    look = take_look(campaign=campaign)
    assert look.is_last and look.result["n_undecided"] == 0
    campaign.refresh_from_db()
    assert forecast(campaign).n_missing == 0
    # An exclusion would open a place, if the collection had not ended.
    campaign.participations.update(trust="unreliable")
    settle_places(campaign=campaign, hits=campaign.hits.values_list("pk", flat=True))
    assert not campaign.hits.filter(places_left__gt=0).exists()
    assert take_assignment(campaign=campaign, worker=make_worker("new")) is None
    # Their HIT can still be finished, and is paid.
    rate_items(assignment)
    assert submit_assignment(assignment=assignment).completion_code
    assert assignment.pk not in look.assignments.values_list("pk", flat=True)


def test_a_look_is_about_the_work_that_counted_when_it_began():
    campaign = make_looked_at()
    collect(campaign)
    look = begin_look(campaign=campaign)
    seen = set(look.assignments.values_list("pk", flat=True))
    submitted = Assignment.objects.submitted()
    trusted = campaign.participations.trusted().values("worker")
    assert seen == set(submitted.filter(worker__in=trusted).values_list("pk", flat=True))
    # A worker is excluded, and another submits, while the job is at work.
    first = campaign.participations.first()
    first.decision, first.decision_reason = "excluded", "a test"
    first.save()
    look = take_look(campaign=campaign)
    assert look.number == 1
    assert set(look.assignments.values_list("pk", flat=True)) == seen
    run = GoldRun.objects.get(number=look.result["run"])
    assert run.n_workers_trusted == len({a.worker_id for a in look.assignments.all()})


def test_a_job_that_runs_twice_makes_one_look_and_one_part():
    campaign = make_looked_at()
    collect(campaign)
    first = take_look(campaign=campaign)
    n_hits = campaign.hits.count()
    assert add_part(look=first) == 0
    with pytest.raises(LookRefused, match="not due yet"):
        take_look(campaign=campaign)
    assert conclude_look(look=first, result={"n_undecided": 9}, is_last=True).result == first.result
    assert (campaign.looks.count(), campaign.hits.count()) == (1, n_hits)


def test_an_interrupted_look_is_finished_by_the_next_job():
    campaign = make_looked_at()
    collect(campaign)
    begun = begin_look(campaign=campaign)
    assert begin_look(campaign=campaign) == begun
    take_look(campaign=campaign)
    # Interrupted again, between the conclusion and the HITs.
    campaign.hits.filter(part=2).delete()
    with pytest.raises(LookRefused, match="not due yet"):
        take_look(campaign=campaign)
    assert campaign.hits.filter(part=2).exists() and campaign.looks.count() == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"number": 1},
        {"number": 2},
        {"number": 0, "concluded_at": timezone.now()},
        {"number": 2, "share": 0, "concluded_at": timezone.now()},
        {"number": 2, "is_last": True},
    ],
)
def test_the_database_guards_looks(fields):
    campaign = make_campaign(n_looks=3)
    Look.objects.create(campaign=campaign, number=1, share=0.3)
    with pytest.raises(IntegrityError), transaction.atomic():
        Look.objects.create(**{"campaign": campaign, "share": 0.5} | fields)


def test_the_platform_looks_once_a_part_is_done():
    campaign = make_looked_at()
    assert do_chores().n_looks == 0
    collect(campaign)
    assert not waiting_for(campaign)
    assert do_chores().n_looks == 1
    assert do_chores().n_looks == 0
    for part in (2, 3):
        job = run_job(Job.objects.latest("pk").pk)
        assert job.state == "done", job.error
        assert campaign.hits.filter(part=part).exists() and do_chores().n_looks == 0
        collect(campaign, seed=part)
        assert do_chores().n_looks == 1
    job = run_job(Job.objects.latest("pk").pk)
    assert job.result["is_last"] and job.result["look"] == 3
    assert do_chores().n_looks == 0


def test_a_closed_campaign_has_a_last_look_at_what_there_is():
    campaign = make_looked_at()
    collect(campaign)
    take_look(campaign=campaign)
    collect(campaign, seed=4, n_workers=5)
    change_status(campaign=Campaign.objects.get(pk=campaign.pk), to="closed")
    Assignment.objects.in_progress().update(status="returned")
    look = take_look(campaign=campaign)
    assert look.is_last and 1 / 3 < look.share <= 2 / 3


def test_there_must_be_a_segment_for_each_look():
    campaign = make_campaign(n_looks=10)
    make_translations(campaign, n_segments=6, n_systems=10)
    with pytest.raises(CannotBuildHITs, match="Plan fewer looks"):
        build_hits(campaign=campaign)


def test_the_rule_is_in_the_signature_and_stays_as_it_was():
    campaign = make_looked_at(looks_alpha=0.01)
    collect(campaign)
    look = take_look(campaign=campaign)
    expected = "looks:3|spend:pocock,alpha=0.01|undecided:holm,sequential-p,p>=0.01|open:chance>=0"
    assert expected in look.result["signature"] and "look:1" in look.result["signature"]
    for changes in ({"looks_alpha": 0.2}, {"n_looks": None}, {"min_ratings": 9}):
        with pytest.raises(EditRefused):
            edit_campaign(campaign=campaign, actor=None, changes=changes)
    assert edit_campaign(campaign=campaign, actor=None, changes={"contact": "us@example.org"})


def test_the_command_says_what_was_decided(capsys):
    campaign = make_looked_at()
    with pytest.raises(CommandError, match="not due yet"):
        call_command("take_look", campaign.name)
    collect(campaign)
    call_command("take_look", campaign.name)
    output = capsys.readouterr().out
    assert "2 of 3 pairs of systems are decided" in output
    assert "HITs for system-a, system-b" in output
    collect(campaign, seed=2)
    call_command("take_look", campaign.name, "--json")
    summary = json.loads(capsys.readouterr().out)
    assert summary["look"] == 2 and summary["n_pairs"] == 3


def test_the_pages_and_the_api_show_the_rule_the_looks_and_all_pairs(admin_client):
    campaign = make_looked_at()
    overview, page = (
        reverse(name, args=[campaign.code]) for name in ("campaign_overview", "campaign_looks")
    )
    assert "Stop when it is decided" in admin_client.get(overview).text
    text = admin_client.get(page).text
    assert "3 equal parts" in text and "to be started" in text and "No look yet" in text
    api = caller("admin")
    assert api.get(f"/campaigns/{campaign.code}/looks").json() == []
    collect(campaign)
    response = admin_client.post(reverse("take_look", args=[campaign.code]))
    job = Job.objects.get(kind="take_look")
    assert response.url == reverse("job", args=[job.code])
    if job.state == "queued":
        call_command("run_job", str(job.code))
    text = admin_client.get(page).text
    assert "system-a, system-b" in text and "2 of 3" in text and "decided" in text
    assert "2 of 3 pairs are decided" in admin_client.get(overview).text
    [look] = api.get(f"/campaigns/{campaign.code}/looks").json()
    assert look["open_systems"] == ["system-a", "system-b"] and len(look["pairs"]) == 3
    results = admin_client.get(reverse("campaign_results", args=[campaign.code])).text
    assert "assume a single look" in results
    report = admin_client.get(reverse("campaign_report", args=[campaign.code])).text
    assert "group sequential tests" in report and "Look 1, not yet the last" in report


def test_looks_are_exported_with_every_pair(tmp_path):
    campaign = make_looked_at()
    collect(campaign)
    take_look(campaign=campaign)
    path = tmp_path / "looks.csv"
    assert export(kind="looks", campaign=campaign, path=path, format="csv").n_rows == 3
    header, *rows = path.read_text().splitlines()
    assert header.startswith("campaign,look,share,is_last,n_assignments,n_ratings,boundary,system")
    assert sum("decided" in row for row in rows) == 2


def test_a_campaign_without_looks_says_so(admin_client):
    campaign = make_looked_at(n_looks=None)
    page = admin_client.get(reverse("campaign_looks", args=[campaign.code]))
    assert "set looks in its" in page.text


def test_where_looks_decide_about_scores_only_uncertain_ones_are_rated_again(admin_client, capsys):
    campaign = make_looked_at(looks_goal="gold", looks_width=0.3)
    first = set(campaign.hits.values_list("pk", flat=True))
    assert Item.objects.filter(hit__in=first).values("translation").distinct().count() == 180
    collect(campaign, n_workers=40)
    call_command("take_look", campaign.name)
    assert "of 180 translations are still too uncertain" in capsys.readouterr().out
    look = campaign.looks.get()
    wide = look.result["open_translations"]
    assert 0 < len(wide) < 180 and not look.is_last and look.result["pairs"] == []
    again = Item.objects.filter(hit__campaign=campaign, hit__part=2, role=Item.Role.GENUINE.value)
    assert set(wide) <= set(again.values_list("translation", flat=True))
    # The last HIT is filled up with others.
    assert len(set(again.values_list("translation", flat=True)) - set(wide)) < 42
    assert "looks:3|wide:shrunk-se>0.3" in look.result["signature"]
    page = admin_client.get(reverse("campaign_looks", args=[campaign.code])).text
    assert f"{len(wide)} of 180" in page and "standard error above 0.3" in page
    report = admin_client.get(reverse("campaign_report", args=[campaign.code])).text
    assert f"{len(wide)} of 180 scores were less certain" in report
    collect(campaign, seed=5, n_workers=40)
    second = take_look(campaign=campaign)
    assert set(second.result["open_translations"]) < set(wide)
    [_, shown] = caller("admin").get(f"/campaigns/{campaign.code}/looks").json()
    assert shown["n_wide"] == len(second.result["open_translations"])
