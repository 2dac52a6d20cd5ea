"""The second step of post-editing: somebody else checks a post-edition, and may correct it."""

import csv
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analysis.exporting import export
from analysis.models import GoldUpload
from analysis.post_editions.measures import compute_targeted
from analysis.post_editions.reading import collected_post_editions
from analysis.stats.roles import Role
from hits.campaigns.building import build_hits
from hits.campaigns.editing import duplicate_campaign
from hits.campaigns.lifecycle import change_status
from hits.campaigns.simulation import simulate_workers
from hits.exceptions import CannotCheck, EditRefused
from hits.models import Assignment, Campaign, EditionToCheck, PostEdition, Recruitment, Worker
from hits.post_editing.arrays import load_edited_outputs
from hits.post_editing.checking import check_post_editions
from hits.post_editing.simulated import Editor
from hits.questionnaires.questions import native_language_question, read_questionnaire
from hits.rating.assignments import take_assignment
from hits.rating.joining import take_part
from hits.workers.trust import update_evidence
from tests.api.callers import caller
from tests.factories import make_campaign, make_hits, make_worker
from tests.people import client_of, make_person

pytestmark = pytest.mark.django_db

STARTED = timezone.now() - timedelta(days=3)


def simulate(campaign: Campaign, *, seed: int, n: int = 3) -> None:
    simulate_workers(
        campaign=campaign,
        crowd={Editor.CAREFUL: n},
        hits_per_worker=2,
        seed=seed,
        start=STARTED,
        after_hit=lambda assignment: update_evidence(assignment=assignment),
    )


def open_check(check: Campaign) -> Campaign:
    Recruitment.objects.create(campaign=check, is_open=True)
    # Another seed than that of the campaign, or its HITs would be those of one editor each.
    check.seed = 11
    check.save(update_fields=["seed"])
    build_hits(campaign=check)
    return change_status(campaign=check, to=Campaign.Status.OPEN)


@pytest.fixture
def edited() -> Campaign:
    """A campaign with post-editions of 56 outputs by two careful editors."""
    campaign = make_hits(task="edit", hit_size=20, min_ratings=1, n_segments=28, shows="source")
    simulate(campaign, seed=1)
    return campaign


@pytest.fixture
def check(edited: Campaign) -> Campaign:
    """An open campaign that checks them."""
    return open_check(check_post_editions(campaign=edited, name="check").campaign)


def test_a_check_is_a_campaign_with_the_post_editions_as_its_texts(edited: Campaign):
    edits = list(load_edited_outputs(edited, trusted_only=True))
    made = check_post_editions(campaign=edited, name="check")
    check = made.campaign
    assert (check.task, check.effective_shows, check.checks) == ("edit", "nothing", edited)
    assert (check.hit_size, check.min_ratings, check.status) == (20, 1, "draft")
    assert check.trust_rule == edited.trust_rule
    assert made.n_post_editions == len(edits) == EditionToCheck.objects.count()
    for link in EditionToCheck.objects.select_related("translation"):
        edit = PostEdition.objects.get(assignment=link.assignment, item=link.item)
        assert (edit.text, edit.item.role) == (link.translation.text, Role.GENUINE)
    assert made.n_texts == len({(edit.segment, edit.text) for edit in edits})


def test_nobody_checks_a_text_of_their_own(edited: Campaign, check: Campaign):
    stranger = make_worker("stranger")
    take_part(campaign=check, worker=stranger)
    assert take_assignment(campaign=check, worker=stranger)
    editors = Worker.objects.filter(
        participations__campaign=edited, participations__trust="reliable"
    )
    assert len(editors) == 2
    for editor in editors:
        take_part(campaign=check, worker=editor)
        taken = take_assignment(campaign=check, worker=editor)
        own = EditionToCheck.objects.filter(assignment__worker=editor).values("translation")
        assert own
        assert taken is None or not taken.hit.items.filter(translation__in=own).exists()
    # Each HIT has texts by both.
    assert Assignment.objects.filter(hit__campaign=check).count() == 1


def test_a_post_edition_is_in_one_check_unless_that_was_closed_too_early(edited: Campaign):
    first = check_post_editions(campaign=edited, name="first")
    with pytest.raises(CannotCheck, match="not in a check already"):
        check_post_editions(campaign=edited, name="second")
    open_check(first.campaign)
    change_status(campaign=first.campaign, to=Campaign.Status.CLOSED)
    second = check_post_editions(campaign=edited, name="second")
    assert second.n_post_editions == first.n_post_editions
    simulate(open_check(second.campaign), seed=2)
    n_checked = sum(
        edit.check is not None for edit in load_edited_outputs(edited, trusted_only=True)
    )
    assert n_checked == second.n_post_editions
    change_status(campaign=second.campaign, to=Campaign.Status.CLOSED)
    with pytest.raises(CannotCheck):
        check_post_editions(campaign=edited, name="third")


def test_a_check_is_not_duplicated_because_the_editors_would_be_lost(edited: Campaign):
    check = check_post_editions(campaign=edited, name="check").campaign
    with pytest.raises(EditRefused, match="cannot be duplicated"):
        duplicate_campaign(campaign=check, name="copy", actor=make_person("superuser"))


def test_only_post_editions_can_be_checked(edited: Campaign):
    with pytest.raises(CannotCheck, match="not for post-editing"):
        check_post_editions(campaign=make_campaign(), name="check")
    with pytest.raises(CannotCheck, match="no post-editions by trusted"):
        check_post_editions(campaign=make_campaign(task="edit", hit_size=20), name="check")
    edit = PostEdition.objects.filter(item__role=Role.GENUINE).first()
    PostEdition.objects.filter(assignment=edit.assignment, item=edit.item).update(text="")
    made = check_post_editions(campaign=edited, name="check")
    assert made.n_left_out == 1 and made.in_words.endswith("Left out: 1 that were emptied.")


def test_checked_texts_are_what_gold_and_exports_use(
    edited: Campaign, check: Campaign, tmp_path: Path
):
    before = collected_post_editions(edited)
    simulate(check, seed=2)
    after = collected_post_editions(edited)
    edits = list(load_edited_outputs(edited, trusted_only=True))
    assert all(edit.check for edit in edits) and after.n_checked == len(edits)
    assert {edit.final for edit in edits} == {edit.check.text for edit in edits if edit.check}
    assert any(edit.final != edit.text for edit in edits)
    assert before.texts == collected_post_editions(edited, as_edited=True).texts != after.texts
    assert before.seconds == after.seconds, "times are those of the editors"
    compute_targeted(campaign=edited, names=["TER"], use="gold")
    gold = GoldUpload.objects.get(name="HTER")
    assert gold.signature.endswith(f"|checked:{len(edits)}")
    compute_targeted(campaign=edited, names=["TER"], use="gold", as_edited=True)
    assert "checked" not in GoldUpload.objects.get(name="HTER").signature
    export(kind="post-editions", campaign=edited, path=tmp_path / "edits.csv", format="csv")
    with (tmp_path / "edits.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    by_role = {role: [row for row in rows if row["role"] == role] for role in ("genuine", "repeat")}
    finals = {(edit.segment, edit.text): edit.final for edit in edits}
    assert len(rows) == PostEdition.objects.filter(assignment__hit__campaign=edited).count()
    for row in by_role["genuine"]:
        if row["worker_state"] != "reliable":
            assert (row["checked_text"], row["checker"]) == ("", "")
            continue
        assert row["checked_text"] == finals[row["segment"], row["post_edition"]]
        assert row["checker"] and row["checker"] != row["worker"]
        assert "simulation" not in row["checker"]
    assert all((row["checked_text"], row["checker"]) == ("", "") for row in by_role["repeat"])


def test_checks_by_workers_who_are_not_trusted_do_not_count(edited: Campaign, check: Campaign):
    simulate(check, seed=2)
    check.participations.update(decision="excluded", decision_reason="Careless.")
    assert all(edit.check is None for edit in load_edited_outputs(edited))


def test_checkers_learn_what_is_asked_of_them(check: Campaign, client: Client):
    landing = client.get(check.get_absolute_url()).content.decode()
    assert "Check these corrected translations" in landing
    assert "This task is for people whose native language is English." in landing
    client.post(check.get_absolute_url())
    client.post(reverse("questions", args=[check.code]), {"question-native_language": "en"})
    page = client.get(reverse("instructions", args=[check.code])).content.decode()
    assert "that somebody has corrected already" in page and "Needs no change" in page


def test_the_page_creates_a_check_and_shows_what_became_of_each_text(edited: Campaign):
    admin = client_of("superuser")
    url = reverse("post_editions", args=[edited.code])
    assert "Have them checked" in admin.get(url).content.decode()
    address = reverse("check_post_editions", args=[edited.code])
    fields = {"check-name": "check", "check-shows": "reference"}
    assert admin.post(address, {"check-name": ""}).status_code == 422
    assert admin.post(address, fields).status_code == 302
    check = Campaign.objects.get(name="check")
    assert check.effective_shows == "reference"
    simulate(open_check(check), seed=2)
    text = admin.get(url).content.decode()
    n = EditionToCheck.objects.count()
    assert f"{n} of {n} post-editions have been checked" in text
    assert "Checked by" in text and "no change" in text
    of_check = admin.get(reverse("post_editions", args=[check.code])).content.decode()
    assert f'post-editions from <a href="{url}">{edited}</a>' in of_check
    refused = admin.post(address, fields)
    assert refused.status_code == 422 and b"in a check already" in refused.content


def test_the_api_and_the_command_create_a_check(edited: Campaign, capsys):
    send = caller("superuser")
    path = f"/campaigns/{edited.code}/post-editions/check"
    assert send.post(path, {"name": "check", "shows": "all"}).status_code == 422
    answer = send.post(path, {"name": "check"})
    assert answer.status_code == 201, answer.content
    made = answer.json()
    assert made["n_post_editions"] == EditionToCheck.objects.count() and made["n_left_out"] == 0
    with pytest.raises(CommandError, match="in a check already"):
        call_command("check_post_editions", edited.name, "--name", "again")
    change_status(campaign=open_check(Campaign.objects.get(code=made["code"])), to="closed")
    call_command("check_post_editions", edited.name, "--name", "again", "--shows", "source")
    assert "Created again: " in capsys.readouterr().out


def test_only_native_speakers_who_say_so_get_a_hit(edited: Campaign):
    check = open_check(check_post_editions(campaign=edited, name="check").campaign)

    def answer(language: str) -> str:
        client = Client()
        client.post(check.get_absolute_url())
        sent = {"question-native_language": language}
        return client.post(reverse("questions", args=[check.code]), sent, follow=True).text

    assert "What to do" in answer("en")
    assert "looking for other participants" in answer("de")


def test_a_variety_accepts_those_who_name_their_language():
    for code, accepted in (("pt-BR", ["pt-BR", "pt"]), ("de", ["de"])):
        [question] = native_language_question(code)["questions"]
        assert question["accept"] == accepted
        read_questionnaire(native_language_question(code), target_language=code)


def test_nobody_is_asked_if_the_admin_does_not_want_it(edited: Campaign, capsys):
    call_command("check_post_editions", edited.name, name="unasked", ask_nobody=True)
    assert Campaign.objects.get(name="unasked").questionnaire == {}
    page = client_of("superuser").get(reverse("post_editions", args=[edited.code])).text
    assert "Ask for their native language" in page
