"""The page of held HITs, the command, and the API."""

import json

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from hits.models import Assignment, Campaign
from tests.api.callers import Caller, caller
from tests.factories import make_worker
from tests.holds import do_held_hit, do_hit, make_guarded_hits
from tests.people import browser_of, client_of, make_person

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    return make_guarded_hits(name="News", n_segments=28, pay_per_hit=2)


@pytest.fixture
def held(campaign) -> Assignment:
    return do_held_hit(campaign, make_worker("<b>bob</b>"))


@pytest.fixture
def ann() -> User:
    return make_person("admin")


@pytest.fixture
def admin(ann) -> Client:
    return browser_of(ann)


def address(name: str, campaign: Campaign) -> str:
    return reverse(name, args=[campaign.code])


def read(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    return answer.content.decode()


class TestPage:
    def test_it_lists_held_hits_with_worker_times_and_reason(self, campaign, held, admin):
        html = read(admin, address("held_hits", campaign))
        assert "&lt;b&gt;bob&lt;/b&gt;" in html and "<b>bob" not in html
        assert "30 ratings in a row reached the server within 0.3 seconds." in html
        assert "Held for a decision" in html and str(held.code) in html

    def test_it_shows_the_times_of_each_hit(self, campaign, held, admin):
        picture = reverse("held_picture", args=[campaign.code, held.code, "svg"])
        assert f'src="{picture}?for=screen"' in read(admin, address("held_hits", campaign))
        assert "came within 2 s, below the dotted line" in read(admin, picture)
        rows = read(admin, picture.replace(".svg", ".csv")).splitlines()
        assert rows[0] == "rating,hit,seconds" and rows[1] == "1,1,"
        seconds = [float(row.split(",")[2]) for row in rows[2:]]
        assert seconds == pytest.approx([0.01] * 39, abs=1e-5)

    def test_other_hits_have_no_picture_there(self, campaign, held, admin):
        honest = do_hit(campaign, make_worker())
        other = make_guarded_hits(name="Other")
        for args in ([campaign.code, honest.code, "svg"], [other.code, held.code, "svg"]):
            assert admin.get(reverse("held_picture", args=args)).status_code == 404
        path = reverse("held_picture", args=[campaign.code, held.code, "svg"])
        assert client_of("researcher", campaign).get(path).status_code == 403

    def test_an_honest_hit_is_not_listed(self, campaign, admin):
        do_hit(campaign, make_worker())
        assert "No HIT in this campaign had impossible times." in read(
            admin, address("held_hits", campaign)
        )

    def test_the_other_pages_lead_to_it(self, campaign, held, admin):
        link = f'href="{address("held_hits", campaign)}"'
        assert link in read(admin, address("campaign_workers", campaign))
        assert link in read(admin, address("campaign_overview", campaign))
        worker = reverse("campaign_worker", args=[campaign.code, held.worker.code])
        assert link in read(admin, worker)

    def test_researchers_see_the_number_but_no_link(self, campaign, held):
        researcher = client_of("researcher", campaign)
        html = read(researcher, address("campaign_overview", campaign))
        assert "1 submitted HIT is held" in html and address("held_hits", campaign) not in html
        assert researcher.get(address("held_hits", campaign)).status_code == 403

    def test_a_decision_is_previewed_and_confirmed_with_a_reason(self, campaign, held, admin):
        path = f"{address('decide_holds', campaign)}?choice=discard&hit={held.code}"
        preview = admin.get(path).context["preview"]
        assert preview.n_places_opened == 1
        refused = admin.post(path, {"reason": "", "seen": preview.fingerprint})
        assert refused.context["form"].errors
        answer = admin.post(path, {"reason": "A script", "seen": preview.fingerprint}, follow=True)
        assert "Decision applied to 1 HIT: do not count them." in answer.content.decode()
        held.refresh_from_db()
        assert held.hold == Assignment.Hold.DISCARDED

    def test_an_outdated_preview_is_refused(self, campaign, held, admin):
        path = f"{address('decide_holds', campaign)}?choice=count&hit={held.code}"
        answer = admin.post(path, {"reason": "Fine", "seen": "x"})
        assert "Something has changed in the meantime." in answer.content.decode()
        held.refresh_from_db()
        assert held.hold == Assignment.Hold.HELD

    def test_nothing_selected_is_said(self, campaign, admin):
        answer = admin.get(f"{address('decide_holds', campaign)}?choice=count", follow=True)
        assert "Select at least one HIT." in answer.content.decode()

    def test_a_hit_of_another_campaign_is_not_found(self, held, admin):
        other = make_guarded_hits()
        path = f"{address('decide_holds', other)}?choice=count&hit={held.code}"
        assert admin.get(path).status_code == 404


class TestApi:
    @pytest.fixture
    def program(self) -> Caller:
        return caller("admin")

    def test_held_hits_are_listed_with_times(self, campaign, held, program):
        [row] = program.get(f"/campaigns/{campaign.code}/held").json()["items"]
        assert (row["code"], row["hold"], row["n_ratings"]) == (str(held.code), "held", 40)
        assert row["fastest_burst"] < 1 and row["discarded_at"]

    def test_a_decision_takes_a_preview_and_a_reason(self, campaign, held, program):
        body = {"choice": "count", "hits": [str(held.code)]}
        path = f"/campaigns/{campaign.code}/held"
        seen = program.post(f"{path}/preview", body).json()["fingerprint"]
        body |= {"reason": "Fine", "seen": seen}
        assert program.post(f"{path}/decide", body).json() == {"n_decided": 1, "n_changed": 0}
        assert program.post(f"{path}/decide", body).status_code == 409
        held.refresh_from_db()
        assert held.hold == Assignment.Hold.COUNTED

    def test_hits_that_are_not_held_are_not_found(self, campaign, program):
        honest = do_hit(campaign, make_worker())
        body = {"choice": "count", "hits": [str(honest.code)]}
        path = f"/campaigns/{campaign.code}/held/preview"
        assert program.post(path, body).status_code == 404

    def test_researchers_do_not_see_them(self, campaign):
        answer = caller("researcher").get(f"/campaigns/{campaign.code}/held")
        assert answer.status_code == 403


class TestCommand:
    def test_it_lists_what_is_held(self, campaign, held, capsys):
        call_command("decide_held", "News", "--json")
        [row] = json.loads(capsys.readouterr().out)
        assert (row["code"], row["hold"]) == (str(held.code), "held")
        call_command("decide_held", "News")
        assert "1 HITs are or were held." in capsys.readouterr().out

    def test_it_decides_for_a_named_admin_and_can_run_twice(self, campaign, held, ann, capsys):
        decide = ["decide_held", "News", "--discard", "all", "--reason", "A script"]
        decide += ["--as", ann.username]
        call_command(*decide)
        call_command(*decide)
        out = capsys.readouterr().out
        assert "1 of 1 HITs decided about." in out and "0 of 0 HITs decided about." in out
        held.refresh_from_db()
        assert held.hold == Assignment.Hold.DISCARDED

    @pytest.mark.parametrize(
        ("more", "problem"),
        [
            (["--count", "all", "--reason", "x"], "Name the admin"),
            (["--count", "x", "--reason", "x"], "A code is the one that the list shows"),
            (["--count", "00000000-0000-0000-0000-000000000007"], "not held in this campaign"),
        ],
    )
    def test_it_says_what_is_missing(self, campaign, held, more, problem):
        with pytest.raises(CommandError, match=problem):
            call_command("decide_held", "News", *more)

    def test_a_researcher_cannot_decide(self, campaign, held):
        name = make_person("researcher", campaign).username
        with pytest.raises(CommandError, match="Name the admin"):
            call_command("decide_held", "News", "--count", "all", "--as", name, "--reason", "x")
