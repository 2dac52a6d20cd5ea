"""What workers answered, as counts and for one worker."""

from collections import Counter
from dataclasses import dataclass
from statistics import median
from typing import Any

from django.utils import translation

from ..models import Campaign, Participation, QuestionnaireReply
from .answering import questionnaire_of
from .forms import answer_in_words, wording_of
from .questions import NUMBER, TEXT, Question

# Of a question with more different answers, the others are counted together.
MOST_ANSWERS = 20


@dataclass(frozen=True, slots=True)
class Answers:
    """How often each answer to a question was given, most frequent first; of numbers, their range instead."""

    key: str
    question: str
    n: int
    counts: list[tuple[str, int]]
    summary: str = ""

    @property
    def text(self) -> str:
        """The counts in one line."""
        return self.summary or "; ".join(f"{answer}: {n:,}" for answer, n in self.counts)


@dataclass(frozen=True, slots=True)
class ReplyCounts:
    """The counts of all questions, of how many workers, and how many of them were screened out."""

    n_replies: int
    n_screened_out: int
    questions: list[Answers]

    def as_json(self) -> list[dict[str, str]]:
        """The questions and the counts of their answers, for a report."""
        return [
            {"question": f"{asked.question} ({asked.n:,})", "counts": asked.text or "–"}
            for asked in self.questions
        ]


# Staff pages and reports are in English.
@translation.override("en")
def count_answers(campaign: Campaign) -> ReplyCounts:
    questions = questionnaire_of(campaign).questions
    replies = QuestionnaireReply.objects.filter(participation__campaign=campaign)
    given: dict[str, list[Any]] = {question.key: [] for question in questions}
    workers = set()
    for participation, answers in replies.values_list("participation", "answers").iterator():
        workers.add(participation)
        for key in given.keys() & answers.keys():
            given[key].append(answers[key])
    n_screened_out = campaign.participations.exclude(screened_out_at=None).count()
    counted = [_count(question, given[question.key]) for question in questions]
    return ReplyCounts(len(workers), n_screened_out, counted)


def _count(question: Question, answers: list[Any]) -> Answers:
    wording, n = wording_of(question), len(answers)
    if question.kind == TEXT:
        return Answers(question.key, wording, n, [], f"{n:,} texts" if n != 1 else "1 text")
    if question.kind == NUMBER:
        summary = (
            f"{min(answers)} to {max(answers)}, median {median(answers):g}" if answers else "–"
        )
        return Answers(question.key, wording, n, [], summary)
    frequent = Counter(answers).most_common(MOST_ANSWERS)
    counts = [(answer_in_words(question, answer), count) for answer, count in frequent]
    rest = n - sum(count for _, count in counts)
    return Answers(question.key, wording, n, [*counts, ("others", rest)] if rest else counts)


@translation.override("en")
def answers_of(participation: Participation) -> list[dict[str, Any]]:
    """Return what one worker answered, in the order of the questions; also to questions that are no longer asked."""
    questions = {q.key: q for q in questionnaire_of(participation.campaign).questions}
    rows = []
    for reply in participation.replies.order_by("pk"):
        for key, answer in reply.answers.items():
            question = questions.get(key)
            rows.append(
                {
                    "key": key,
                    "question": wording_of(question) if question else key,
                    "answer": answer_in_words(question, answer),
                    "answered_at": reply.answered_at,
                }
            )
    return rows
