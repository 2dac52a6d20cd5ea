"""The edit field in a browser: a whole HIT by keyboard and by touch, offline, drafts, other scripts."""

from typing import Any

from django.urls import reverse
from playwright.sync_api import Page, expect

from hits.campaigns.building import build_hits
from hits.campaigns.lifecycle import change_status
from hits.campaigns.simulation import simulate_workers
from hits.models import Assignment, Campaign
from hits.post_editing.checking import check_post_editions
from hits.post_editing.simulated import Editor
from hits.workers.trust import update_evidence
from tests.browser.campaigns import make_hits_between
from tests.browser.opening import PHONE, Complaints, Visitor, rating_address
from tests.browser.rating import agree, expect_position, expect_saved
from tests.browser.staff_pages import staff_context
from tests.browser.test_looks import axe_violations
from tests.factories import make_hits

EDITING: dict[str, Any] = {"task": "edit", "hit_size": 20, "min_ratings": 1}


def stored_texts(assignment: Assignment) -> list[str]:
    edits = assignment.posteditions.order_by("item__position")
    return list(edits.values_list("text", flat=True))


def shown_texts(assignment: Assignment) -> list[str]:
    return list(assignment.hit.items.order_by("position").values_list("text", flat=True))


def type_edit(page: Page, position: int, text: str) -> None:
    """Type at the beginning of the text, and go on."""
    expect_position(page, position)
    expect(page.locator("#next")).to_be_disabled()
    page.keyboard.type(text)
    page.keyboard.press("Control+Enter")


def test_a_hit_is_edited_by_keyboard_with_an_outage_and_a_closed_tab(
    visitor: Visitor, complaints: Complaints
) -> None:
    complaints.expected.append("Failed to load resource")
    page, assignment = visitor.open_hit(make_hits(**EDITING, n_segments=14, shows="source"))
    texts = shown_texts(assignment)
    type_edit(page, 1, "One ")
    # The text is right as it is: two keys from the field.
    expect_position(page, 2)
    page.keyboard.press("Tab")
    expect(page.locator("#no-change")).to_be_focused()
    page.keyboard.press("Enter")
    expect_saved(page)
    page.context.set_offline(True)
    for position in (3, 4, 5, 6):
        type_edit(page, position, f"{position} ")
    expect(page.locator("#save-state")).to_have_class("save-state is-offline")
    page.context.set_offline(False)
    expect_saved(page)
    # A draft survives a closed tab, with its count and a way back.
    expect_position(page, 7)
    page.keyboard.type("Draft of ")
    page.close()
    again = page.context.new_page()
    again.goto(rating_address(assignment))
    field, changed = again.locator("#edit"), again.locator("#n-changed")
    expect(field).to_have_value(f"Draft of {texts[6]}")
    expect(changed).to_have_text("Words changed: 2")
    again.locator("#reset").click()
    expect(field).to_have_value(texts[6])
    expect(changed).to_have_text("Nothing changed")
    again.locator("#undo").click()
    expect(field).to_have_value(f"Draft of {texts[6]}")
    again.keyboard.press("Control+Enter")
    for position in range(8, 21):
        type_edit(again, position, "x ")
    again.wait_for_url("**/finish/")
    expected = [f"One {texts[0]}", texts[1], *(f"{n} {texts[n - 1]}" for n in (3, 4, 5, 6))]
    expected += [f"Draft of {texts[6]}", *(f"x {text}" for text in texts[7:])]
    assert stored_texts(assignment) == expected
    first = assignment.posteditions.order_by("item__position")[0]
    assert (first.keys, first.pastes, first.pasted) == (6, 0, 0)
    assert first.field_ms <= first.elapsed_ms
    kept = again.evaluate("Object.keys(localStorage).filter(key => key.startsWith('draft:'))")
    assert kept == [], "drafts are forgotten once they are sent"


def test_texts_from_right_to_left_are_edited_by_touch_on_a_narrow_phone(visitor: Visitor) -> None:
    campaign = make_hits_between("en", "ar", **EDITING)
    page, assignment = visitor.open_hit(campaign, **PHONE)
    expect_position(page, 1)
    assert axe_violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    field, tools = page.locator("#edit").bounding_box(), page.locator(".controls").bounding_box()
    assert field and tools and field["y"] + field["height"] <= tools["y"], (
        "nothing covers the field"
    )
    assert page.locator("#edit").evaluate("field => getComputedStyle(field).direction") == "rtl"
    page.locator("#no-change").tap()
    expect_position(page, 2)
    page.locator("#edit").tap()
    page.keyboard.insert_text("جديد ")
    expect(page.locator("#next")).to_be_enabled()
    page.locator("#undo").tap()
    expect(page.locator("#next")).to_be_disabled()
    page.locator("#edit").fill("نص آخر")
    page.locator("#next").tap()
    for position in range(3, 21):
        expect_position(page, position)
        page.locator("#no-change").tap()
    page.wait_for_url("**/finish/")
    texts = shown_texts(assignment)
    assert stored_texts(assignment) == [texts[0], "نص آخر", *texts[2:]]
    page.get_by_role("button").last.tap()
    page.wait_for_url("**/done/")


def test_a_whole_hit_without_scripts(visitor: Visitor) -> None:
    page, assignment = visitor.open_hit(make_hits(**EDITING), java_script_enabled=False)
    texts = shown_texts(assignment)
    for position in range(1, 21):
        expect(page.locator("#progress")).to_have_text(f"{position} of 20")
        if position % 2:
            page.locator("#edit").fill(f"{position} {texts[position - 1]}")
        page.locator("#next").click()
    page.wait_for_url("**/finish/")
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/done/")
    expected = [f"{n} {text}" if n % 2 else text for n, text in enumerate(texts, 1)]
    assert stored_texts(assignment) == expected


def test_by_touch_edits_wait_while_the_network_is_away(
    visitor: Visitor, complaints: Complaints
) -> None:
    complaints.expected.append("Failed to load resource")
    page, assignment = visitor.open_hit(make_hits(**EDITING), **PHONE)
    texts = shown_texts(assignment)
    page.context.set_offline(True)
    for position in (1, 2, 3):
        expect_position(page, position)
        page.locator("#edit").tap()
        page.locator("#edit").fill(f"{position}")
        page.locator("#next").tap()
    expect(page.locator("#save-state")).to_have_class("save-state is-offline")
    page.context.set_offline(False)
    expect_saved(page)
    expect_position(page, 4)
    assert stored_texts(assignment) == ["1", "2", "3"]
    expect(page.locator("#edit")).to_have_value(texts[3])


def paste(page: Page, text: str) -> None:
    """Paste as a person does, from the clipboard."""
    page.evaluate("text => navigator.clipboard.writeText(text)", text)
    page.keyboard.press("Control+V")


def test_what_is_pasted_from_outside_is_counted(visitor: Visitor) -> None:
    page, assignment = visitor.open_hit(make_hits(**EDITING))
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    expect_position(page, 1)
    text, above = page.locator("#edit").input_value(), page.locator("#text-above").inner_text()
    paste(page, f"{text.split()[0]} ")
    paste(page, f"{above.split()[0]} ")
    paste(page, "from a program ")
    expect(page.locator("#edit")).to_have_value(
        f"{text.split()[0]} {above.split()[0]} from a program {text}"
    )
    page.locator("#next").click()
    expect_saved(page)
    edit = assignment.posteditions.get()
    assert (edit.pastes, edit.pasted) == (3, len("from a program "))


def test_practice_and_the_question_are_about_editing(page: Page) -> None:
    campaign = make_hits(**EDITING)
    agree(page, campaign)
    expect(page.get_by_text("Our correction:").first).to_be_visible()
    page.get_by_role("link", name="Start practice").click()
    page.locator("#no-change").click()
    feedback = page.locator(".feedback")
    expect(feedback).to_contain_text("nothing has to be changed here")
    page.locator("#then").click()
    page.locator("#no-change").click()
    expect(feedback).to_contain_text("Something is still wrong here.")
    expect(feedback).to_contain_text("The children may swim in the lake, but not in the river.")
    assert axe_violations(page) == []
    page.locator("#edit").fill("The children may swim in the lake, but not in the river.")
    page.locator("#next").click()
    expect(feedback).to_contain_text("you changed only what was wrong")
    page.locator("#then").click()
    page.goto(reverse("check", args=[campaign.code]))
    page.get_by_label("I leave it as it is.").check()
    page.get_by_role("button", name="Submit answer").click()
    expect_position(page, 1)


def test_screen_readers_get_a_name_and_the_gray_text_for_the_field(visitor: Visitor) -> None:
    page, assignment = visitor.open_hit(make_hits(**EDITING))
    for position in (1, 2):
        expect_position(page, position)
        gray = assignment.hit.items.get(position=position).translation.segment.reference
        field = page.get_by_role("textbox", name="Correct this text", exact=True)
        expect(field).to_have_accessible_description(f"Gray text: {gray} Nothing changed")
        page.get_by_role("button", name="Needs no change").click()
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    expect(page.get_by_role("button", name="Start over")).to_be_disabled()
    page.keyboard.type("One ")
    expect(page.locator("#n-changed")).to_have_text("Words changed: 1")
    expect(page.locator("#n-changed")).to_have_role("status")


KEPT = "() => Object.keys(localStorage).filter((key) => key.startsWith('draft:')).sort()"


def test_reading_time_survives_a_closed_tab_and_drafts_of_old_hits_do_not(visitor: Visitor) -> None:
    page, assignment = visitor.open_hit(make_hits(**EDITING))
    expect_position(page, 1)
    expect(page.locator("#edit")).to_be_focused()
    past, future = 1, 4_000_000_000_000
    page.evaluate(
        """([past, future]) => {
          const draft = (until) => JSON.stringify({ text: "x", until });
          localStorage.setItem("draft:old:1", draft(past));
          localStorage.setItem("draft:older:1", JSON.stringify({ text: "x" }));
          localStorage.setItem("draft:other:1", draft(future));
        }""",
        [past, future],
    )
    page.goto(reverse("stop", args=[assignment.code]))
    [own, other] = [key for key in page.evaluate(KEPT) if "old" not in key]
    kept = page.evaluate("key => JSON.parse(localStorage.getItem(key))", own)
    assert other == "draft:other:1" and kept["fieldMs"] > 0
    page.goto(rating_address(assignment))
    expect_position(page, 1)
    assert page.evaluate(KEPT) == [own, other]
    page.locator("#no-change").click()
    expect_saved(page)
    edit = assignment.posteditions.get()
    assert edit.field_ms >= int(kept["fieldMs"]), "the time of the first visit counts"


def test_somebody_else_checks_post_editions(visitor: Visitor) -> None:
    edited = make_hits(**EDITING, n_segments=28, shows="source")
    simulate_workers(
        campaign=edited,
        crowd={Editor.CAREFUL: 3},
        hits_per_worker=2,
        seed=1,
        after_hit=lambda assignment: update_evidence(assignment=assignment),
    )
    check = check_post_editions(campaign=edited, name="check").campaign
    build_hits(campaign=check)
    change_status(campaign=check, to=Campaign.Status.OPEN)
    page, assignment = visitor.open_hit(check)
    page.goto(reverse("instructions", args=[check.code]))
    expect(page.locator("main")).to_contain_text("somebody has corrected already")
    page.goto(rating_address(assignment))
    expect_position(page, 1)
    assert axe_violations(page) == []
    expect(page.locator("#text-above")).to_have_count(0)
    expect(page.locator("#edit")).to_have_value(shown_texts(assignment)[0])
    page.keyboard.type("Better ")
    page.keyboard.press("Control+Enter")
    expect_position(page, 2)
    page.locator("#no-change").click()
    expect_position(page, 3)
    expect_saved(page)
    texts = shown_texts(assignment)
    assert stored_texts(assignment) == [f"Better {texts[0]}", texts[1]]
    # The page of the campaign whose texts were checked.
    staff = staff_context(visitor, "superuser").new_page()
    for width in (1280, 360):
        staff.set_viewport_size({"width": width, "height": 900})
        staff.goto(reverse("post_editions", args=[edited.code]))
        expect(staff.locator("main")).to_contain_text("post-editions have been checked")
        assert axe_violations(staff) == []
        assert staff.evaluate("document.documentElement.scrollWidth") <= width


def test_in_chinese_the_browser_knows_where_words_end(visitor: Visitor) -> None:
    page, _ = visitor.open_hit(make_hits_between("en", "zh", **EDITING))
    expect_position(page, 1)
    text = page.locator("#edit").input_value()
    page.locator("#edit").fill(text.replace("河流", "湖泊"))
    changed = page.locator("#n-changed")
    expect(changed).to_have_text(changed.get_attribute("data-some").replace("{n}", "1"))
    page.keyboard.press("Control+Enter")
    expect_position(page, 2)
