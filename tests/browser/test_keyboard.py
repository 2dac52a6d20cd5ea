"""Staff pages by keyboard alone: every control is reached by Tab, in the order of the page, and its focus is visible."""

from pathlib import Path

import pytest

from tests.browser.keyboard import walk
from tests.browser.opening import PHONE, Complaints, Visitor
from tests.browser.staff_pages import staff_tour

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser_staff"),
]

PAGES = {
    "home",
    "campaign_overview",
    "next step: build",
    "draft_basics",
    "draft_files",
    "campaign_cost",
    "campaign_settings",
    "campaign_recruiting",
    "campaign_payments",
    "plan_payments",
    "payment_run",
    "campaign_worker_texts",
    "import_report",
    "campaign_workers",
    "job",
    "evaluation",
    "collection_metrics",
}


@pytest.mark.parametrize("way", ["desktop", "phone"])
def test_tab_reaches_every_control_in_order_and_shows_where_it_is(
    visitor: Visitor, complaints: Complaints, tmp_path: Path, way: str
):
    complaints.expected.append("file:///")
    opened = set()
    options = PHONE if way == "phone" else {}
    for name, page in staff_tour(visitor, tmp_path, only=PAGES, **options):
        names, reached, unseen = walk(page)
        missed = [names[number] for number in range(len(names)) if number not in reached]
        assert missed == [], (name, missed)
        assert reached == sorted(reached), (name, [names[number] for number in reached])
        assert unseen == [], (name, [names[number] for number in unseen])
        opened.add(name)
    assert opened == PAGES
