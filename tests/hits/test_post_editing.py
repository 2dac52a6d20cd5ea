"""Post-editing: the edit field instead of the slider, with everything else as for ratings."""

from typing import Any

import numpy as np
import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from analysis.stats.roles import Role
from analysis.stats.trust_rules import Stance
from hits.campaigns.simulation import simulate_workers
from hits.exceptions import AnswerRefused, NotFinished
from hits.models import Assignment, Campaign, Participation, PostEdition
from hits.post_editing.arrays import load_edited_outputs
from hits.post_editing.changes import changed_spans, n_edits, share_changed
from hits.post_editing.evidence import reason_to_hold, weigh_edits
from hits.post_editing.saving import save_edit
from hits.post_editing.simulated import Editor
from hits.rating.assignments import submit_assignment, take_assignment
from hits.rating.joining import take_part
from hits.task_kinds import kind_of
from hits.workers.pictures import pictures_of
from hits.workers.sides import rule_in_words, sides_of
from hits.workers.trust import update_evidence
from hits.workers.wording import origins_in_words
from tests.factories import make_campaign, make_hits, make_worker
from tests.people import client_of
from tests.rating_page import items_on

pytestmark = pytest.mark.django_db


def make_edits(**fields: Any) -> Campaign:
    return make_hits(
        **{"task": "edit", "hit_size": 20, "min_ratings": 1, "n_segments": 14} | fields
    )


def take(campaign: Campaign, name: str = "alice") -> Assignment:
    worker = make_worker(name)
    take_part(campaign=campaign, worker=worker)
    assignment = take_assignment(campaign=campaign, worker=worker)
    assert assignment is not None
    return assignment


def edit(assignment: Assignment, position: int, text: str, **fields: Any) -> Any:
    item = assignment.hit.items.get(position=position)
    return save_edit(
        assignment=assignment, position=position, item_code=item.code, text=text, **fields
    )


def test_changes_are_counted_in_words_or_in_characters_without_spaces():
    assert n_edits("the old bridge", "the new bridge is", spaced=True) == 2
    assert share_changed("a b c d", "a b c d", spaced=True) == 0
    assert share_changed("a b c d", "", spaced=True) == 1
    assert n_edits("我喜欢猫", "我喜欢小狗", spaced=False) == 2
    assert changed_spans("the old bridge", "the new bridge", spaced=True) == [
        ("equal", "the", "the"),
        ("replace", "old", "new"),
        ("equal", "bridge", "bridge"),
    ]


def test_a_hit_of_twenty_has_six_hidden_items_at_a_distance_from_their_partners():
    items = list(make_edits(shows="source").hits.get(number=1).items.select_related("partner"))
    roles = [Role(item.role) for item in items]
    assert (len(items), roles.count(Role.GENUINE)) == (20, 14)
    assert (roles.count(Role.BAD_REFERENCE), roles.count(Role.REPEAT)) == (4, 1)
    assert roles.count(Role.REFERENCE) == 1
    distances = [abs(item.position - item.partner.position) for item in items if item.partner]
    assert min(distances) >= 6
    assert [item.screen for item in items] == [item.position for item in items]


def test_no_reference_is_hidden_where_editors_see_it():
    roles = set(make_edits().hits.get(number=1).items.values_list("role", flat=True))
    assert roles == {Role.GENUINE, Role.BAD_REFERENCE, Role.REPEAT}


def test_the_first_text_wins_and_items_come_in_order():
    assignment = take(make_edits())
    with pytest.raises(AnswerRefused, match="not the next item"):
        edit(assignment, 2, "too early")
    assert edit(assignment, 1, "first", keys=7, pasted=3).is_new
    again = edit(assignment, 1, "second")
    assert (again.text, again.is_new) == ("first", False)
    stored = PostEdition.objects.get(assignment=assignment)
    assert (stored.text, stored.keys, stored.pasted, stored.pastes) == ("first", 7, 3, None)


def test_a_hit_is_submitted_once_all_texts_are_edited():
    assignment = take(make_edits())
    for item in assignment.hit.items.order_by("position")[:19]:
        edit(assignment, item.position, item.text)
    with pytest.raises(NotFinished, match="1 of 20"):
        submit_assignment(assignment=assignment)
    edit(assignment, 20, "")
    assert submit_assignment(assignment=assignment).completion_code


@pytest.fixture
def editor(client: Client) -> tuple[Client, Assignment]:
    """A worker who came by link and has passed practice and check, with a HIT."""
    campaign = make_edits(shows="source")
    client.post(campaign.get_absolute_url())
    for step in (1, 2, 3):
        page = client.get(reverse("practice", args=[campaign.code, step]))
        assert 'id="edit"' in page.content.decode()
    answer = {"answer": "I leave it as it is."}
    client.post(reverse("check", args=[campaign.code]), answer)
    client.get(reverse("next_hit", args=[campaign.code]))
    return client, Assignment.objects.get(hit__campaign=campaign)


def test_a_worker_edits_without_scripts_and_with_them(editor: tuple[Client, Assignment]) -> None:
    client, assignment = editor
    url = reverse("rate", args=[assignment.code])
    items = items_on(client.get(url).content.decode())
    assert sorted(items) == list(range(1, 7)), "six texts, of which none is a partner of another"
    assert {frozenset(item) for item in items.values()} == {
        frozenset(["item", "position", "text", "above"])
    }, "nothing but these fields, whatever the role of the item"
    first = {"position": "1", "item": items[1]["item"]}
    assert client.post(url, first).status_code == 422, "sent without a text"
    assert client.post(url, first | {"text": "  plain\r\nform "}).status_code == 302
    counts = {"elapsed_ms": "9000", "active_ms": "8000", "field_ms": "9500", "keys": "4"}
    second = {"position": "2", "item": items[2]["item"], "text": "by script"}
    second |= counts | {"pastes": "1", "pasted": "0"}
    answer = client.post(url, second, headers={"accept": "application/json"})
    facts = answer.json()
    assert (facts["saved"], facts["next"], facts["text"]) == (2, 3, "by script")
    assert [item["position"] for item in facts["items"]] == [8]
    texts = PostEdition.objects.order_by("item__position").values_list("text", "field_ms")
    assert list(texts) == [("plain form", None), ("by script", 9500)]


@pytest.mark.parametrize(
    "change",
    [{"item": "x"}, {"position": "0"}, {"keys": "-1"}, {"text": "a\x00b"}, {"text": "a" * 20_001}],
)
def test_what_is_not_an_edit_is_refused(editor: tuple[Client, Assignment], change: Any) -> None:
    client, assignment = editor
    url = reverse("rate", args=[assignment.code])
    items = items_on(client.get(url).content.decode())
    sent = {"position": "1", "item": items[1]["item"], "text": "fine"} | change
    answer = client.post(url, sent, headers={"accept": "application/json"})
    assert (answer.status_code, PostEdition.objects.count()) == (400, 0)


def test_practice_says_when_too_little_or_too_much_was_changed(client: Client) -> None:
    campaign = make_edits()
    client.post(campaign.get_absolute_url())

    def verdict(step: int, change: Any) -> str:
        url = reverse("practice", args=[campaign.code, step])
        item = client.get(url).context["item"]
        return client.post(url, {"text": change(item)}).context["verdict"]

    assert verdict(1, lambda item: item.translation) == "fine"
    assert verdict(1, lambda item: item.gray_text) == "too_high"
    assert verdict(2, lambda item: item.translation) == "too_low"
    assert verdict(2, lambda item: item.edited) == "fine"
    assert verdict(3, lambda item: "something else entirely, in other words") == "too_high"
    url = reverse("practice", args=[campaign.code, 3])
    page = client.post(url, {"text": "Yesterday"}).content.decode()
    assert "Our correction:" in page and "the neighbours bought a new car" in page


def test_careless_editors_are_caught_and_careful_ones_trusted():
    campaign = make_edits(n_segments=40, min_ratings=4, shows="source", trust_rule="guarded")
    crowd = {Editor.CAREFUL: 5, Editor.LAZY: 3, Editor.PASTING: 3}
    simulate_workers(
        campaign=campaign,
        crowd=crowd,
        hits_per_worker=2,
        seed=3,
        after_hit=lambda assignment: update_evidence(assignment=assignment),
    )
    trust: dict[str, set[str]] = {}
    for participation in Participation.objects.filter(campaign=campaign).select_related("worker"):
        kind = participation.worker.external_id.split("-")[0]
        held = participation.worker.assignments.filter(hold="held").count()
        trust.setdefault(kind, set()).add("held" if held else participation.trust)
    assert trust == {"careful": {"reliable"}, "lazy": {"unreliable"}, "pasting": {"held"}}
    pasting = campaign.participations.filter(worker__external_id__startswith="pasting")
    counts = [participation.worker.assignments.first().hold_reason for participation in pasting]
    assert all("20 pasted from outside" in reason for reason in counts)
    careful = campaign.participations.filter(worker__external_id__startswith="careful").first()
    side = next(
        side
        for side in sides_of(careful.evidence.last(), campaign.trust_rule)
        if side.name == "origin"
    )
    assert (side.weight, side.stance) == ("holds", Stance.FOR)
    assert side.text.startswith("Of 40 texts:")
    pictures = {picture.name: picture for picture in pictures_of(careful)}
    assert {"repairs", "how-edited", "repeats"} <= pictures.keys()
    assert "degraded-pairs" not in pictures
    assert not careful.evidence.last().has_time_flag, "twenty texts take less than a hundred"
    counts = careful.evidence.last().details
    assert pictures["how-edited"].columns[1:3] == ("typed", "unchanged")
    assert sum(row[1] for row in pictures["how-edited"].rows) == counts["typed"]
    brought_back = [row[1] for row in pictures["repairs"].rows]
    assert len(brought_back) == careful.evidence.last().n_pairs
    assert np.mean(brought_back) == pytest.approx(-careful.evidence.last().mean_difference)
    assert min(brought_back) >= -100 and max(brought_back) == 100
    rows = list(load_edited_outputs(campaign, trusted_only=True))
    assert rows and {row.is_trusted for row in rows} == {True}
    assert all(row.systems and row.seconds for row in rows)


def sides_after(campaign: Campaign, n_changed: int) -> dict[str, Any]:
    """The sides of the evidence about an editor who changes this many of the hidden references, and nothing else."""
    assignment = take(campaign, f"changes {n_changed}")
    for item in assignment.hit.items.order_by("position"):
        is_changed = item.role == Role.REFERENCE and n_changed > 0
        n_changed -= is_changed
        edit(assignment, item.position, item.text + " Indeed." * is_changed)
    submitted = submit_assignment(assignment=assignment)
    update_evidence(assignment=submitted)
    evidence = campaign.participations.get(worker=assignment.worker).evidence.last()
    return {side.name: side for side in sides_of(evidence, campaign.trust_rule)}


def test_changing_a_hidden_reference_is_a_side_of_the_evidence_that_only_advises():
    campaign = make_edits(n_segments=28, min_ratings=2, shows="source", hit_size=40)
    Campaign.objects.filter(pk=campaign.pk).update(max_hits_per_worker=None)
    n = campaign.hits.first().items.filter(role=Role.REFERENCE).count()
    assert n == 2
    found = {changed: sides_after(campaign, changed)["references"] for changed in (0, 1, 2)}
    assert {changed: side.text for changed, side in found.items()} == {
        changed: f"Changed {changed} of 2 hidden references, which need no change."
        for changed in (0, 1, 2)
    }
    stances = [side.stance for side in found.values()]
    assert stances == [Stance.FOR, Stance.FOR, Stance.AGAINST]
    assert {side.weight for side in found.values()} == {"advises"}


def test_an_editor_who_sees_the_reference_gets_none_to_edit():
    campaign = make_edits(n_segments=14)
    sides = sides_after(campaign, 1)
    assert (
        "references" not in sides
        and sides["origin"].text == "Of 20 texts: 20 left unchanged, 0 typed."
    )


def test_sizes_and_defaults_follow_the_task():
    campaign = make_campaign(task="edit", hit_size=20)
    campaign.full_clean()
    campaign.hit_size = 100
    campaign.full_clean()
    campaign.hit_size = 25
    with pytest.raises(ValidationError, match="sets of 5 items"):
        campaign.full_clean()


def test_a_text_changed_without_a_key_or_a_paste_has_an_origin_of_its_own():
    campaign = make_edits()
    assignment = take(campaign)
    for position, counts in enumerate(
        [{"keys": 0, "pastes": 0}, {"keys": 3, "pastes": 0}, {"keys": 0, "pastes": 1}, {}], 1
    ):
        edit(assignment, position, f"text {position}", **counts)
    for position in range(5, 21):
        edit(assignment, position, assignment.hit.items.get(position=position).text)
    submit_assignment(assignment=assignment)
    fields = weigh_edits(assignment.worker.participations.get())
    counts = fields["details"]
    assert (counts["inserted"], counts["typed"], counts["unchanged"]) == (1, 3, 16)
    words = "Of 20 texts: 1 changed without a key or a paste, 16 left unchanged, 3 typed."
    assert origins_in_words(counts) == words
    assert reason_to_hold(assignment) == "", "dictation looks the same"


def test_the_evidence_of_an_editor_speaks_of_edits():
    campaign = make_edits(trust_rule="guarded")
    assignment = take(campaign)
    for item in assignment.hit.items.order_by("position"):
        edit(assignment, item.position, f"one {item.text}", keys=4, pastes=0)
    submit_assignment(assignment=assignment)
    participation = assignment.worker.participations.get()
    update_evidence(assignment=assignment)
    evidence = participation.evidence.last()
    sides = {side.name: side.text for side in sides_of(evidence, "guarded")}
    assert "rated" not in sides["repeats"] and "rating" not in sides["repeats"]
    rule = rule_in_words("guarded", kind_of(campaign))
    assert "most of whose texts were emptied, pasted or copied" in rule
    titles = [picture.title for picture in pictures_of(participation)]
    assert "How much of the texts is kept" in titles and "How the scale is used" not in titles
    page = client_of("superuser").get(reverse("held_hits", args=[campaign.code])).text
    assert "or most of whose texts were emptied, pasted or copied, are held" in page
