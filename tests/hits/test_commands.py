"""The commands: what they print, what they refuse, and that each can be run twice."""

import json
from io import StringIO

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command, find_commands

from hits.campaigns.demo import DEMO_NAME, prepare_demo_campaign
from hits.campaigns.lifecycle import change_status
from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.models import HIT, Assignment, Campaign, Rating
from hits.rating.joining import take_part
from tests.factories import make_campaign, make_hits, make_translations, make_worker
from tests.migrated import migrated_database
from tests.simulated_crowds import demo_excerpt
from tests.subprocesses import manage, output_of

COMMANDS = find_commands(apps.get_app_config("hits").path + "/management")
assert "build_hits" in COMMANDS


def run(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def draft_campaign(**fields) -> Campaign:
    campaign = make_campaign(**fields)
    make_translations(campaign)
    return campaign


# build_hits ----------------------------------------------------------------------------------

database = pytest.mark.django_db


@database
def test_build_hits_reports_what_it_built():
    campaign = draft_campaign(name="News", hit_size=100)
    assert run("build_hits", "News").splitlines()[:2] == [
        "1 HITs of 40 items from 28 translations. The campaign is draft.",
        "Note: 28 translations do not fill a HIT of 100 items: the HITs have 40 items.",
    ]
    assert campaign.hits.count() == 1


@database
def test_build_hits_opens_the_campaign_when_asked_and_prints_json():
    draft_campaign(name="News")
    summary = json.loads(run("build_hits", "News", "--open", "--json"))
    assert len(summary.pop("notes")) == 1
    counts = {"n_hits": 1, "n_items": 40, "hit_size": 40, "n_translations": 28}
    assert summary == counts | {"status": "open"}
    assert Campaign.objects.get().status == Campaign.Status.OPEN


@database
def test_build_hits_needs_rebuild_to_replace_hits():
    draft_campaign(name="News")
    run("build_hits", "News")
    with pytest.raises(CommandError, match="--rebuild"):
        run("build_hits", "News")
    first = HIT.objects.get().code
    run("build_hits", "News", "--rebuild")
    assert HIT.objects.get().code != first


@database
def test_build_hits_refuses_too_few_texts_with_the_campaigns_name():
    make_campaign(name="Empty")
    with pytest.raises(CommandError, match="Empty: The smallest HIT needs 28"):
        run("build_hits", "Empty")


# Naming a campaign ---------------------------------------------------------------------------


@database
@pytest.mark.parametrize("command", ["build_hits", "campaign_status", "simulate_workers"])
def test_for_an_unknown_campaign_the_error_lists_the_existing_ones(command):
    with pytest.raises(CommandError, match="no campaign named 'Newz'. There are none yet"):
        run(command, "Newz")
    make_campaign(name="News")
    make_campaign(name="Medical")
    with pytest.raises(CommandError, match="Choose from: Medical, News"):
        run(command, "Newz")


# campaign_status -----------------------------------------------------------------------------


@database
def test_campaign_status_without_any_campaign_says_how_to_make_one():
    assert "import_campaign" in run("campaign_status")
    assert run("campaign_status", "--json") == ""


@database
def test_campaign_status_counts_texts_hits_places_and_ratings():
    campaign = make_hits(name="News", min_ratings=4)
    simulate_workers(campaign=campaign, crowd={Behaviour.HONEST: 1}, seed=1)
    page = run("campaign_status", "News")
    assert page.startswith("News (open)\n")
    for line in [
        "2 systems, 14 segments, 28 different translations",
        "1 of 40 items",
        "1 submitted, 0 in progress, 0 expired, 0 returned",
        "0 of 4 assignments trusted (0%), 3 places free",
        "40 by 1 workers",
    ]:
        assert line in page
    status = json.loads(run("campaign_status", "News", "--json"))
    assert (status["n_ratings"], status["n_places_left"], status["seed"]) == (40, 3, 7)


@database
def test_campaign_status_prints_one_json_object_per_line():
    make_hits(name="News")
    draft_campaign(name="Medical")
    rows = [json.loads(line) for line in run("campaign_status", "--json").splitlines()]
    assert [(row["name"], row["n_hits"]) for row in rows] == [("Medical", 0), ("News", 1)]
    assert "none yet; build them" in run("campaign_status", "Medical")


@database
def test_queries_of_campaign_status_do_not_grow_with_the_campaign(
    django_assert_num_queries, django_assert_max_num_queries
):
    campaign = make_hits(name="News", n_segments=42)
    with django_assert_max_num_queries(15) as queries:
        run("campaign_status", "News")
    simulate_workers(campaign=campaign, crowd={Behaviour.HONEST: 2}, hits_per_worker=2, seed=1)
    with django_assert_num_queries(len(queries)):
        run("campaign_status", "News")


# simulate_workers ----------------------------------------------------------------------------


@database
def test_simulate_workers_reports_what_was_done():
    make_hits(name="News")
    text = run("simulate_workers", "News", "--crowd", "honest=1, random=1")
    assert text == "2 workers did 2 assignments and gave 80 ratings.\n"
    summary = run("simulate_workers", "News", "--crowd", "honest=1", "--seed", "9", "--json")
    assert json.loads(summary) == {"n_workers": 1, "n_assignments": 1, "n_ratings": 40}


@database
@pytest.mark.parametrize("status", ["draft", "paused", "closed"])
def test_simulate_workers_refuses_a_campaign_that_is_not_open(status):
    campaign = make_hits(name="News")
    Campaign.objects.filter(pk=campaign.pk).update(status=status)
    with pytest.raises(CommandError, match=f"News is {status}; workers can only"):
        run("simulate_workers", "News")


@database
@pytest.mark.parametrize("is_paid", [True, False])
def test_simulate_workers_needs_an_option_for_a_campaign_with_real_workers(is_paid):
    campaign = make_hits(name="News", pay_per_hit=1 if is_paid else 0)
    if not is_paid:
        take_part(campaign=campaign, worker=make_worker("alice"))
    with pytest.raises(CommandError, match="--even-if-real"):
        run("simulate_workers", "News", "--crowd", "honest=1")
    assert not Rating.objects.exists()
    run("simulate_workers", "News", "--crowd", "honest=1", "--even-if-real")
    assert Rating.objects.count() == 40


@pytest.mark.parametrize(
    ("option", "value", "reason"),
    [
        ("--crowd", "sleepy=3", "'sleepy' is not a kind of worker. Choose from: honest, noisy"),
        ("--crowd", "honest", "write a number, as in honest=10"),
        ("--crowd", "honest=-1", "write a number"),
        ("--crowd", "", "is not a kind of worker"),
        ("--hits", "two", "'two' is not a whole number"),
        ("--seed", "-1", "'-1' is not a whole number"),
    ],
)
def test_simulate_workers_names_an_invalid_option(option, value, reason):
    with pytest.raises(CommandError, match=reason):
        run("simulate_workers", "News", f"{option}={value}")


# prepare_demo --------------------------------------------------------------------------------


@pytest.fixture
def debug(settings):
    settings.DEBUG = True


@pytest.fixture
def small_demo(monkeypatch, tmp_path):
    """A demo of one HIT, which is built sooner."""
    folder = demo_excerpt(tmp_path, n_segments=20)
    monkeypatch.setattr("hits.campaigns.demo.DEMO_FOLDER", folder)


def counts() -> dict[str, int]:
    return {
        model.__name__: model.objects.count() for model in [Campaign, HIT, Assignment, Rating, User]
    }


@database
def test_prepare_demo_can_be_run_twice_and_shows_the_password_once(debug):
    output = run("prepare_demo", "--port", "8123")
    first_counts = counts()
    assert first_counts == {"Campaign": 1, "HIT": 5, "Assignment": 7, "Rating": 700, "User": 1}
    campaign = Campaign.objects.get()
    assert f"http://127.0.0.1:8123{campaign.get_absolute_url()}" in output
    password = output.partition("with the password ")[2].split()[0]
    admin = User.objects.get()
    assert admin.is_superuser and admin.check_password(password)
    again = run("prepare_demo", "--port", "8123")
    assert counts() == first_counts
    assert "password" not in again and password not in again
    assert campaign.get_absolute_url() in again


@database
def test_prepare_demo_is_refused_in_production(settings):
    settings.DEBUG = False
    with pytest.raises(CommandError, match="DA_DEBUG=1"):
        run("prepare_demo")
    assert not Campaign.objects.exists() and not User.objects.exists()


@database
@pytest.mark.parametrize("n_steps_done", [1, 2, 3])
def test_an_interrupted_demo_is_completed(n_steps_done, small_demo, monkeypatch):
    """Steps: import, build, open with simulated workers."""
    steps = [
        "hits.campaigns.building.build_hits",
        "hits.campaigns.demo.change_status",
        "hits.campaigns.simulation.simulate_workers",
    ]

    def interrupt(**_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(steps[n_steps_done - 1], interrupt)
        with pytest.raises(KeyboardInterrupt):
            prepare_demo_campaign()
    assert Campaign.objects.get().name == DEMO_NAME
    campaign = prepare_demo_campaign()
    assert campaign.status == Campaign.Status.OPEN
    assert (campaign.hits.count(), Rating.objects.count()) == (1, 700)


@database
def test_a_closed_demo_stays_closed(debug, small_demo):
    run("prepare_demo")
    change_status(campaign=Campaign.objects.get(), to=Campaign.Status.CLOSED)
    run("prepare_demo")
    assert Campaign.objects.get().status == Campaign.Status.CLOSED


# As real processes ---------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_help_text(command, capsys):
    with pytest.raises(SystemExit) as end:
        call_command(command, "--help")
    assert end.value.code == 0
    assert len(capsys.readouterr().out.splitlines()) > 10


def test_exit_codes_tell_a_script_how_it_went(tmp_path):
    variables = {"DA_DEBUG": "1", "DA_DATA_DIR": str(tmp_path)}
    migrated_database(f"sqlite:///{tmp_path}/db.sqlite3")
    assert "no campaigns yet" in output_of(manage("campaign_status", **variables))
    refused = manage("campaign_status", "News", **variables)
    assert refused.returncode == 1 and refused.stdout == ""
    assert refused.stderr.startswith("CommandError: There is no campaign named 'News'.")
    wrong = manage("simulate_workers", "News", "--crowd", "sleepy=1", **variables)
    assert wrong.returncode == 2 and "Traceback" not in wrong.stderr
