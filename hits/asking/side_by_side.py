"""Rating side by side: up to five outputs of one segment on a screen, a slider for each."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db.models import Max
from django.utils.translation import gettext

from ..hit_sizes import items_between
from ..models import HIT, Assignment, Campaign, Participation, Rating
from ..rating.forms import has_number_by_code
from ..side_by_side.forms import SCORES, read_scores
from ..side_by_side.saving import SavedScreen, save_screen, stored_scores
from ..side_by_side.screens import ITEMS_AHEAD, shown_sides
from ..task_kinds import Place, Sent, ShownItem, TextCounts, Words, screens_in_words
from .rating import RatingKind

if TYPE_CHECKING:
    from ..campaigns.planning import HITPlan


class SideBySideKind(RatingKind):
    presentation = Campaign.Presentation.SIDE_BY_SIDE.value
    has_large_screens = True
    gives_judgements = True
    template = "hits/rate_side_by_side.html"
    # Three texts or so; the gray one is read once.
    seconds_per_screen = 30

    def shown_how(self, campaign: Campaign) -> str:
        return f"up to {campaign.outputs_per_screen} outputs of a segment side by side"

    def words(self, campaign: Campaign) -> Words:
        return replace(
            super().words(campaign),
            purpose=gettext(
                "You will read several translations of the same text at a time and use sliders to say how good each one is. Your ratings help researchers find out which systems translate well."
            ),
            presented=gettext(
                "You will see several black texts at once. Score each one on its own slider; equally good texts may get the same score."
            ),
        )

    def size_in_words(self, campaign: Campaign, n_screens: int) -> str:
        return screens_in_words(n_screens, campaign.outputs_per_screen)

    def place_of(self, assignment: Assignment) -> Place:
        rated = Rating.objects.filter(assignment=assignment)
        last = rated.aggregate(last=Max("item__screen"))["last"]
        return Place(last or 0, self.n_screens(assignment.hit))

    def n_screens(self, hit: HIT) -> int:
        last: int = hit.items.aggregate(last=Max("screen"))["last"]
        return last

    def n_ahead(self, assignment: Assignment) -> int:
        most = assignment.hit.campaign.outputs_per_screen
        apart = items_between(assignment.hit.size) // most
        return max(1, min(-(-ITEMS_AHEAD // most), apart - 1))

    def screens(self, assignment: Assignment, *, first: int, last: int) -> list[ShownItem]:
        return shown_sides(assignment, first=first, last=last)

    def screen_context(self, campaign: Campaign) -> dict[str, Any]:
        return {"scores": SCORES}

    def read(self, sent: Sent) -> dict[str, Any]:
        return read_scores(sent)

    def is_unanswered(self, sent: Sent) -> bool:
        return not has_number_by_code(sent, "score")

    def save(self, *, assignment: Assignment, **answer: Any) -> SavedScreen:  # type: ignore[override]
        position = answer["position"]
        is_new = save_screen(assignment=assignment, **answer)
        scores = answer["scores"] if is_new else stored_scores(assignment, position)
        # The browser holds the screens up to there.
        following = position + self.n_ahead(assignment)
        ahead = shown_sides(assignment, first=following, last=following)
        return SavedScreen(is_new, scores, ahead)

    canary_request = (
        "rate every text of screen {position} of this task with exactly {score} of 100."
    )

    def follows_canary(self, assignment: Assignment, *, position: int, score: int) -> bool:
        rated = assignment.ratings.filter(item__screen=position)
        return set(rated.values_list("score", flat=True)) == {score}

    # What follows loads NumPy and SciPy, which web processes do not need.

    def plan_hits(
        self, campaign: Campaign, progress: Callable[[int], None] | None = None
    ) -> "HITPlan":
        from ..side_by_side.planning import plan_sides

        return plan_sides(campaign, progress)

    def n_hits(self, campaign: Campaign, counts: TextCounts) -> int:
        from ..side_by_side.planning import count_hits

        return count_hits(campaign, counts)

    def load_worker_answers(self, participation: Participation) -> Any:
        from ..side_by_side.arrays import spread_over_screens

        return spread_over_screens(super().load_worker_answers(participation))

    def load_rankings(self, campaign: Campaign, *, trusted_only: bool = True) -> Any:
        from ..side_by_side.arrays import load_rankings

        return load_rankings(campaign, trusted_only=trusted_only)

    def simulate(
        self, assignment: Assignment, person: Any, qualities: Mapping[int, float], *, at: datetime
    ) -> datetime:
        from ..side_by_side.simulation import rate_screens

        return rate_screens(assignment, person, qualities, at=at)


KIND = SideBySideKind()
