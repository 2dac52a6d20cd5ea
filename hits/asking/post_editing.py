"""Post-editing: one translation in an edit field, corrected with as few changes as possible."""

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext

from analysis.stats.thresholds import FASTEST_HIT_SECONDS

from ..hit_sizes import Sizes
from ..models import Assignment, Campaign, Participation, PostEdition
from ..post_editing.saving import MAX_LENGTH, SavedEdit, as_one_line, read_edit, save_edit
from ..rating import desk
from ..task_facts import TaskFacts
from ..task_kinds import Judged, ScoreWords, Sent, ShownItem, TaskKind, TextCounts, Words

if TYPE_CHECKING:
    from ..campaigns.planning import HITPlan


# What editors saw next to a translation, in reports.
IN_VIEW: dict[str, str] = {
    Campaign.Shows.REFERENCE: "with the reference in view",
    Campaign.Shows.SOURCE: "with the source in view",
    Campaign.Shows.BOTH: "with source and reference in view",
    Campaign.Shows.NOTHING: "with neither source nor reference in view",
}


# An edit takes several times as long as a rating, so its HITs are shorter.
SIZES = Sizes(set_size=5, min_sets=4, max_sets=20, default=20)


class PostEditingKind(TaskKind):
    tasks = (
        TaskFacts(
            Campaign.Task.EDIT.value,
            "Post-editing",
            Campaign.Shows.REFERENCE.value,
            "how much of it editors kept",
            SIZES,
            can_choose_what_it_shows=True,
            # A post-edition is expensive, and one is enough for HTER.
            usual_ratings=1,
            order=3,
        ),
    )
    shows_media = True
    usual_crowd = "careful=8,lazy=2,pasting=2"
    answers = PostEdition
    template = "hits/edit.html"
    practice_template = "hits/practice_edit.html"
    statement_template = "hits/_statement_of_editing.html"
    guideline_template = "hits/_guideline_of_editing.html"
    examples_template = "hits/_examples_of_editing.html"
    results_page = "post_editions"
    seconds_per_screen = 45
    answer_noun = "post-edition"
    also_held = "most of whose texts were emptied, pasted or copied"
    score_words = ScoreWords(
        axis="Kept, %",
        answer="Text",
        answers="Texts",
        use="How much of the texts is kept",
        in_order="Texts kept, one after the other",
    )

    def in_report(self, campaign: Campaign) -> str:
        return f"were post-edited, one at a time, with as few changes as possible, {IN_VIEW[campaign.effective_shows]}"

    def words(self, campaign: Campaign) -> Words:
        title, purpose = (
            gettext("Correct these translations"),
            gettext(
                "You will read machine translations one at a time and correct them with as few changes as possible. Your corrections help researchers find out which systems translate well."
            ),
        )
        if campaign.checks_id:
            title, purpose = (
                gettext("Check these corrected translations"),
                gettext(
                    "You will read translations that somebody has corrected, one at a time, and correct what is still wrong with as few changes as possible. Your corrections help researchers find out which systems translate well."
                ),
            )
        return Words(
            title=title,
            purpose=purpose,
            consent=gettext(
                "We store the texts you write, when you wrote them, how long you took, how many keys you pressed and how often you pasted. We do not ask for your name, and we use the texts for research only."
            ),
            stored=(
                gettext(
                    "The texts you write, when you sent them and how long you took, and a comment if you write one."
                ),
                gettext(
                    "For each text, how long you were in its field, how many keys you pressed there, how often you pasted and how many characters came from elsewhere. We never record which keys you press."
                ),
            ),
            finished=gettext("You have corrected all the texts"),
            is_no_problem=gettext("What is wrong? A bad translation is not: just correct it."),
        )

    def least_seconds(self, campaign: Campaign) -> float:
        # That of a hundred texts, for those of this HIT.
        return FASTEST_HIT_SECONDS * campaign.hit_size / 100

    def screens(self, assignment: Assignment, *, first: int, last: int) -> list[ShownItem]:
        return desk.shown_items(assignment, first=first, last=last)

    def screen_context(self, campaign: Campaign) -> dict[str, Any]:
        return {"max_length": MAX_LENGTH}

    def read(self, sent: Sent) -> dict[str, Any]:
        return read_edit(sent)

    def is_unanswered(self, sent: Sent) -> bool:
        return "text" not in sent

    def save(self, *, assignment: Assignment, **answer: Any) -> SavedEdit:
        return save_edit(assignment=assignment, **answer)

    canary_request = "write the number {score} at the end of text {position} of this task."

    def follows_canary(self, assignment: Assignment, *, position: int, score: int) -> bool:
        edit = (
            assignment.posteditions.select_related("item").filter(item__position=position).first()
        )
        ending = str(score)
        # Not in a text that ends so anyway.
        return (
            edit is not None
            and edit.text.rstrip(". ").endswith(ending)
            and not edit.item.text.rstrip(". ").endswith(ending)
        )

    def judge_practice(self, campaign: Campaign, item: Any, sent: Sent) -> Judged | None:
        if "text" not in sent:
            return None
        from ..post_editing.practice import judge_edit

        return judge_edit(item, as_one_line(sent["text"]))

    # What follows loads NumPy and SciPy, which web processes do not need.

    def plan_hits(
        self, campaign: Campaign, progress: Callable[[int], None] | None = None
    ) -> "HITPlan":
        from ..campaigns.planning import editing_layout, plan_in_sets

        return plan_in_sets(campaign, editing_layout, progress)

    def n_hits(self, campaign: Campaign, counts: TextCounts) -> int:
        from ..campaigns.planning import editing_layout

        return editing_layout(campaign, counts.n_translations).n_hits(counts.n_translations)

    def weigh(self, participation: Participation) -> dict[str, Any]:
        from ..post_editing.evidence import weigh_edits

        return weigh_edits(participation)

    def load_origins(self, participation: Participation) -> Mapping[int, Counter[str]]:
        from ..post_editing.evidence import origins_by_assignment

        return origins_by_assignment(participation)

    def reason_to_hold(self, assignment: Assignment) -> str:
        from ..post_editing.evidence import reason_to_hold

        return reason_to_hold(assignment)

    def load_worker_answers(self, participation: Participation) -> Any:
        from ..post_editing.arrays import load_worker_edits

        return load_worker_edits(participation)

    def load_scores(self, assignments: Mapping[int, int]) -> Any:
        from ..post_editing.arrays import load_edit_scores

        return load_edit_scores(assignments)

    @property
    def behaviours(self) -> type[StrEnum]:
        from ..post_editing.simulated import Editor

        return Editor

    def simulate(
        self, assignment: Assignment, person: Any, qualities: Mapping[int, float], *, at: datetime
    ) -> datetime:
        from ..post_editing.simulated import edit_items

        return edit_items(assignment, person, at=at)


KIND = PostEditingKind()
