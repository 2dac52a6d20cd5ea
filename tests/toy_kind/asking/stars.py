"""A kind of task for tests: one to five stars for each translation. All that a new kind needs besides its template."""

from typing import Any

from hits.asking.rating import RatingKind
from hits.exceptions import AnswerNotUnderstood
from hits.hit_sizes import Sizes
from hits.models import Campaign
from hits.rating.forms import read_answer
from hits.task_facts import TaskFacts
from hits.task_kinds import Sent

STARS = range(1, 6)


class StarKind(RatingKind):
    tasks = (
        TaskFacts(
            "stars",
            "One to five stars",
            Campaign.Shows.REFERENCE.value,
            "how many stars it deserves",
            Sizes(set_size=10, min_sets=2, max_sets=4, default=20),
        ),
    )
    template = "toy/stars.html"

    def screen_context(self, campaign: Campaign) -> dict[str, Any]:
        return {"stars": STARS}

    def read(self, sent: Sent) -> dict[str, Any]:
        if sent.get("stars") not in map(str, STARS):
            raise AnswerNotUnderstood("Choose one to five stars.")
        return read_answer(dict(sent.items()) | {"score": str(25 * (int(sent["stars"]) - 1))})

    def is_unanswered(self, sent: Sent) -> bool:
        return "stars" not in sent

    def practice_task(self, campaign: Campaign) -> str:
        return Campaign.Task.REFERENCE_ADEQUACY.value


KIND = StarKind()
