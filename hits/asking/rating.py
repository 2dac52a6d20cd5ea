"""Rating: one translation on a screen, and a score from 0 to 100 on a slider."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ..models import SCORE_MAX, SCORE_MIN, Assignment, Campaign, Participation, Rating
from ..rating import desk
from ..rating.forms import read_answer
from ..rating.saving import SavedRating, save_rating
from ..task_kinds import Sent, ShownItem, TaskKind

if TYPE_CHECKING:
    from ..campaigns.planning import HITPlan

# The choices of the slider in browsers without JavaScript.
SCORES = range(SCORE_MIN, SCORE_MAX + 1)


class RatingKind(TaskKind):
    answers = Rating
    template = "hits/rate.html"
    seconds_per_screen = 12

    def n_ahead(self, assignment: Assignment) -> int:
        return desk.n_ahead(assignment.hit.size)

    def screens(self, assignment: Assignment, *, first: int, last: int) -> list[ShownItem]:
        return desk.shown_items(assignment, first=first, last=last)

    def screen_context(self, campaign: Campaign) -> dict[str, Any]:
        return {"scores": SCORES}

    def read(self, sent: Sent) -> dict[str, Any]:
        return read_answer(sent)

    def is_unanswered(self, sent: Sent) -> bool:
        return "score" not in sent

    def save(self, *, assignment: Assignment, **answer: Any) -> SavedRating:
        return save_rating(assignment=assignment, **answer)

    # What follows loads NumPy and SciPy, which web processes do not need.

    def plan_hits(
        self, campaign: Campaign, progress: Callable[[int], None] | None = None
    ) -> "HITPlan":
        from ..campaigns.planning import plan_in_sets, rating_layout

        return plan_in_sets(campaign, rating_layout, progress)

    def n_hits(self, campaign: Campaign, n_translations: int) -> int:
        from ..campaigns.planning import rating_layout

        return rating_layout(campaign, n_translations).n_hits(n_translations)

    def weigh(self, participation: Participation) -> dict[str, Any]:
        from ..workers.weighing import weigh_ratings

        return weigh_ratings(participation)

    def simulate(
        self, assignment: Assignment, person: Any, qualities: Mapping[int, float], *, at: datetime
    ) -> datetime:
        from ..campaigns.simulation import rate_items

        return rate_items(assignment, person, qualities, at=at)


KIND = RatingKind()
