"""The checklist of a first campaign, the words that pages explain, and the public front page."""

import pytest
from django.template import Context, Template
from django.test import Client
from django.urls import reverse

from hits.campaigns.first_steps import first_steps
from hits.campaigns.lifecycle import change_status
from hits.models import Campaign, CampaignDraft, Recruitment
from hits.terms import TERMS
from hits.workers.reading import FLAGS
from tests.factories import make_campaign, make_hits
from tests.people import browser_of, make_person

pytestmark = pytest.mark.django_db


def current(user) -> str:
    return next((step.label for step in first_steps(user) if step.is_current), "")


def test_the_checklist_follows_the_first_campaign_until_it_is_open():
    admin = make_person("admin")
    assert current(admin) == "Files"
    draft = CampaignDraft.objects.create(owner=admin, basics={"name": "mine"})
    assert first_steps(admin)[0].url == reverse("draft_files", args=[draft.code])
    draft.files = [{"name": "a.txt", "size": 1}]
    draft.save()
    assert current(admin) == "Check"
    draft.delete()
    campaign = make_hits()
    Campaign.objects.update(status="draft")
    campaign.refresh_from_db()
    Recruitment.objects.all().delete()
    assert current(admin) == "Recruit"
    Recruitment.objects.create(campaign=campaign, is_open=True)
    assert current(admin) == "Open"
    change_status(campaign=campaign, to="open")
    assert first_steps(admin) == []


def test_an_open_example_does_not_end_the_checklist():
    make_campaign(is_example=True, status="open")
    assert current(make_person("admin")) == "Files"


def test_the_first_page_shows_the_checklist_to_admins_only():
    campaign = make_campaign()
    for role, is_shown in (("admin", True), ("researcher", False)):
        page = browser_of(make_person(role)).get(reverse("home")).content.decode()
        assert ("Your first campaign" in page) is is_shown
    page = browser_of(make_person("admin")).get(reverse("campaign_overview", args=[campaign.code]))
    assert 'aria-current="step"' in page.content.decode()


def test_every_flag_and_the_words_of_progress_and_results_are_explained():
    assert {"places", "promised", "unproven", "trusted", "gold", "z", "cluster", "held"} <= set(
        TERMS
    )
    assert set(FLAGS) <= set(TERMS)


def test_a_question_mark_is_a_button_with_a_name_and_one_sentence():
    html = Template("{% load staff %}{% explain 'gold' %}{% explain 'unheard' %}").render(Context())
    assert html.count("<button") == 1
    assert 'aria-label="What does “Gold” mean?"' in html and TERMS["gold"].sentence in html


def test_the_front_page_says_what_this_is_and_lets_a_visitor_try_an_open_example():
    page = Client().get(reverse("home")).content.decode()
    assert "machine translation" in page and "front-rate" in page and "Try the task" not in page
    campaign = make_campaign(is_example=True, status="open")
    Recruitment.objects.update(is_open=True)
    assert (
        reverse("landing", args=[campaign.code]) in Client().get(reverse("home")).content.decode()
    )
