"""Rating: one translation on a screen, and a score from 0 to 100 on a slider."""

from collections.abc import Callable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext

from ..models import SCORE_MAX, SCORE_MIN, Assignment, Campaign, Participation, Rating
from ..rating import desk
from ..rating.forms import ScoreForm, read_answer
from ..rating.saving import SavedRating, save_rating
from ..task_facts import LOOK_SETTINGS, PRESENTATION_SETTINGS, TaskFacts, facts_of
from ..task_kinds import Judged, Sent, ShownItem, TaskKind, TextCounts, Words

if TYPE_CHECKING:
    from ..campaigns.planning import HITPlan

# The choices of the slider in browsers without JavaScript.
SCORES = range(SCORE_MIN, SCORE_MAX + 1)
SETTINGS = (*PRESENTATION_SETTINGS, *LOOK_SETTINGS)

TASKS = (
    TaskFacts(
        Campaign.Task.REFERENCE_ADEQUACY.value,
        "Adequacy against the reference",
        Campaign.Shows.REFERENCE.value,
        "how adequately it expresses the meaning of the reference",
        settings=SETTINGS,
        order=0,
    ),
    TaskFacts(
        Campaign.Task.SOURCE_ADEQUACY.value,
        "Adequacy against the source (bilingual)",
        Campaign.Shows.SOURCE.value,
        "how adequately it expresses the meaning of the source",
        settings=SETTINGS,
        order=1,
    ),
    TaskFacts(
        Campaign.Task.FLUENCY.value,
        "Fluency",
        Campaign.Shows.NOTHING.value,
        "how fluent it is",
        settings=SETTINGS,
        order=2,
    ),
)


class RatingKind(TaskKind):
    tasks = TASKS
    shows_media = True
    answers = Rating
    template = "hits/rate.html"
    practice_template = "hits/practice.html"
    statement_template = "hits/_statement.html"
    guideline_template = "hits/_guideline_of_rating.html"
    examples_template = "hits/_examples_of_rating.html"
    seconds_per_screen = 12

    def in_report(self, campaign: Campaign) -> str:
        return (
            f"were rated by direct assessment: {self.shown_how(campaign)}, on a scale from 0 to 100, for "
            f"{facts_of(campaign.task).criterion}"
        )

    def shown_how(self, campaign: Campaign) -> str:
        """Say how translations were shown, for a report."""
        return "one at a time"

    def words(self, campaign: Campaign) -> Words:
        return Words(
            title=gettext("How good are these translations?"),
            purpose=gettext(
                "You will read machine translations one at a time and use a slider to say how good each one is. Your ratings help researchers find out which systems translate well."
            ),
            consent=gettext(
                "We store your ratings, when you gave them and how long you took. We do not ask for your name, and we use the ratings for research only."
            ),
            stored=(
                gettext(
                    "Your ratings, when you gave them and how long you took, and a comment if you write one."
                ),
            ),
            finished=gettext("You have rated all the texts"),
            is_no_problem=gettext(
                "What is wrong? A bad translation is not: just give it a low score."
            ),
        )

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

    def judge_practice(self, campaign: Campaign, item: Any, sent: Sent) -> Judged | None:
        form = ScoreForm(sent)
        if not form.is_valid():
            return None
        score = form.cleaned_data["score"]
        verdict, feedback = item.feedback(score)
        return Judged(verdict, feedback, score)

    # What follows loads NumPy and SciPy, which web processes do not need.

    def plan_hits(
        self, campaign: Campaign, progress: Callable[[int], None] | None = None
    ) -> "HITPlan":
        from ..campaigns.parts import plan_part
        from ..campaigns.planning import plan_in_sets, rating_layout

        if campaign.n_looks is not None:
            return plan_part(campaign, 1, progress=progress)
        return plan_in_sets(campaign, rating_layout, progress)

    def n_hits(self, campaign: Campaign, counts: TextCounts) -> int:
        from ..campaigns.planning import rating_layout

        return rating_layout(campaign, counts.n_translations).n_hits(counts.n_translations)

    def weigh(self, participation: Participation) -> dict[str, Any]:
        from ..workers.weighing import weigh_answers

        return weigh_answers(participation)

    def load_worker_answers(self, participation: Participation) -> Any:
        from ..rating.arrays import load_worker_ratings

        return load_worker_ratings(participation)

    def load_scores(self, assignments: Mapping[int, int]) -> Any:
        from ..rating.arrays import load_scores

        return load_scores(assignments)

    @property
    def behaviours(self) -> type[StrEnum]:
        from ..campaigns.behaviours import Behaviour

        return Behaviour

    def simulate(
        self, assignment: Assignment, person: Any, qualities: Mapping[int, float], *, at: datetime
    ) -> datetime:
        from ..campaigns.simulation import rate_items

        return rate_items(assignment, person, qualities, at=at)


KIND = RatingKind()
