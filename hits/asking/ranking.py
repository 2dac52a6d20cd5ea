"""Ranking: up to five outputs of one segment on a screen, ordered from best to worst."""

import math
from collections.abc import Callable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from django.db.models import Max, Q
from django.utils.translation import gettext

from analysis.stats.thresholds import RELIABLE_P

from ..hit_sizes import Sizes, hidden_screens
from ..models import HIT, Assignment, Campaign, Participation, Rank
from ..ranking.forms import RANKS, is_unranked, read_ranking
from ..ranking.practice import judge_ranking, practice_outputs
from ..ranking.saving import SavedRanking, save_ranking, stored_ranks
from ..ranking.screens import shown_screens
from ..task_facts import RANKING_SETTINGS, TaskFacts
from ..task_kinds import (
    Judged,
    Place,
    Sent,
    ShownItem,
    TaskKind,
    TextCounts,
    Words,
    screens_in_words,
)

if TYPE_CHECKING:
    from ..campaigns.planning import HITPlan


# Three ranking tasks, as at WMT; one of them is hidden.
SIZES = Sizes(3, 1, 10, default=3, has_large_screens=True)
# Nobody reads and orders several texts in less.
LEAST_SECONDS_PER_SCREEN = 5


class RankingKind(TaskKind):
    tasks = (
        TaskFacts(
            Campaign.Task.RANK.value,
            "Relative ranking of several outputs",
            Campaign.Shows.BOTH.value,
            "how it compares with other outputs of the same segment",
            SIZES,
            RANKING_SETTINGS,
            can_choose_what_it_shows=True,
            # Rankings are about systems, not about single outputs.
            usual_ratings=1,
            order=4,
        ),
    )
    has_large_screens = True
    gives_judgements = True
    shows_media = True
    worker_facts_template = "hits/_worker_facts_ranking.html"
    answers = Rank
    template = "hits/rank.html"
    practice_template = "hits/practice_ranking.html"
    statement_template = "hits/_statement_of_ranking.html"
    guideline_template = "hits/_guideline_of_ranking.html"
    examples_template = "hits/_examples_of_ranking.html"
    results_page = "campaign_ranking"
    # A ranking at WMT took a minute or so.
    seconds_per_screen = 60
    one_a_screen = Q(place=1)

    def fewest_sets(self, campaign: Campaign) -> int:
        # So many degraded outputs, all of them last, are less likely by chance than the level.
        n_outputs = campaign.outputs_per_screen
        n_degraded = math.ceil(math.log(RELIABLE_P) / math.log(1 / n_outputs))
        kinds = hidden_screens(n_outputs)
        return math.ceil(n_degraded * len(kinds) / sum(kinds))

    def least_seconds(self, campaign: Campaign) -> float:
        return LEAST_SECONDS_PER_SCREEN * campaign.hit_size

    def reason_to_hold(self, assignment: Assignment) -> str:
        ranks = Rank.objects.filter(assignment=assignment)
        return "" if ranks.filter(skip="").exists() else "Every screen was skipped."

    answer_noun = "rank"
    control_noun = "degraded outputs"
    also_held = "all of whose screens were skipped"

    def in_report(self, campaign: Campaign) -> str:
        return f"were ranked: up to {campaign.outputs_per_screen} outputs of a segment from best to worst, with ties"

    def words(self, campaign: Campaign) -> Words:
        return Words(
            title=gettext("Rank these translations"),
            purpose=gettext(
                "You will read several translations of the same text at a time and rank them from best to worst. Your rankings help researchers find out which systems translate well."
            ),
            consent=gettext(
                "We store your rankings, when you gave them and how long you took. We do not ask for your name, and we use the rankings for research only."
            ),
            stored=(
                gettext(
                    "Your rankings, when you gave them and how long you took, and a comment if you write one."
                ),
            ),
            finished=gettext("You have ranked all the texts"),
            is_no_problem=gettext("What is wrong? A bad translation is not: just rank it low."),
        )

    def size_in_words(self, campaign: Campaign, n_screens: int) -> str:
        return screens_in_words(n_screens, campaign.outputs_per_screen)

    def place_of(self, assignment: Assignment) -> Place:
        ranked = Rank.objects.filter(assignment=assignment)
        last = ranked.aggregate(last=Max("item__screen"))["last"]
        return Place(last or 0, self.n_screens(assignment.hit))

    def n_screens(self, hit: HIT) -> int:
        last: int = hit.items.aggregate(last=Max("screen"))["last"]
        return last

    def screens(self, assignment: Assignment, *, first: int, last: int) -> list[ShownItem]:
        return shown_screens(assignment, first=first, last=last)

    def screen_context(self, campaign: Campaign) -> dict[str, Any]:
        # Two texts are better and worse, or equal.
        ranks = RANKS[:2] if campaign.outputs_per_screen == 2 else RANKS
        return {"ranks": ranks, "skips": Rank.Skip.choices}

    def read(self, sent: Sent) -> dict[str, Any]:
        return read_ranking(sent)

    def is_unanswered(self, sent: Sent) -> bool:
        return is_unranked(sent)

    def save(self, *, assignment: Assignment, **answer: Any) -> SavedRanking:
        position = answer["position"]
        is_new = save_ranking(assignment=assignment, **answer)
        ranks = (
            answer["ranks"] if is_new and not answer["skip"] else stored_ranks(assignment, position)
        )
        # The browser holds the next screen; it gets the one after that.
        following = position + self.n_ahead(assignment)
        return SavedRanking(
            is_new, ranks, shown_screens(assignment, first=following, last=following)
        )

    canary_request = "give every text of screen {position} of this task the rank {score}."
    # All texts equally good happens, all equally bad hardly ever.
    canary_scores = (4, 5)

    def follows_canary(self, assignment: Assignment, *, position: int, score: int) -> bool:
        ranked = Rank.objects.filter(assignment=assignment, item__screen=position)
        return set(ranked.values_list("rank", flat=True)) == {score}

    def practice_task(self, campaign: Campaign) -> str:
        # Practice compares the gray text with a translation of it, so there must be a gray text.
        return Campaign.Task.REFERENCE_ADEQUACY

    def judge_practice(self, campaign: Campaign, item: Any, sent: Sent) -> Judged | None:
        return judge_ranking(item, sent)

    def practice_context(self, item: Any, judged: Judged | None) -> dict[str, Any]:
        given = judged.given if judged and isinstance(judged.given, dict) else {}
        return {"practice_outputs": practice_outputs(item, given)}

    # What follows loads NumPy and SciPy, which web processes do not need.

    def plan_hits(
        self, campaign: Campaign, progress: Callable[[int], None] | None = None
    ) -> "HITPlan":
        from ..ranking.planning import plan_rankings

        return plan_rankings(campaign, progress)

    def n_hits(self, campaign: Campaign, counts: TextCounts) -> int:
        from ..ranking.planning import count_hits

        return count_hits(campaign, counts)

    def weigh(self, participation: Participation) -> dict[str, Any]:
        from ..ranking.weighing import weigh_rankings

        return weigh_rankings(participation)

    def load_worker_answers(self, participation: Participation) -> Any:
        from ..ranking.arrays import load_worker_ranks

        return load_worker_ranks(participation)

    def load_rankings(self, campaign: Campaign, *, trusted_only: bool = True) -> Any:
        from ..ranking.arrays import load_rankings

        return load_rankings(campaign, trusted_only=trusted_only)

    def load_scores(self, assignments: Mapping[int, int]) -> Any:
        from ..ranking.arrays import load_scores

        return load_scores(assignments)

    @property
    def behaviours(self) -> type[StrEnum]:
        from ..campaigns.behaviours import Behaviour

        return Behaviour

    def simulate(
        self, assignment: Assignment, person: Any, qualities: Mapping[int, float], *, at: datetime
    ) -> datetime:
        from ..ranking.simulation import rank_screens

        return rank_screens(assignment, person, qualities, at=at)


KIND = RankingKind()
