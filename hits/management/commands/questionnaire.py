import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from hits.campaigns.questionnaires import set_questionnaire
from hits.exceptions import EditRefused, QuestionsRefused, TextsRefused
from hits.management.base import CommandWithExamples, campaign_named
from hits.questionnaires.answering import questionnaire_of
from hits.questionnaires.counting import count_answers
from hits.rating.own_texts import parse_texts


class Command(CommandWithExamples):
    help = "Show, load or remove a campaign's questions about its workers, and count the answers."
    examples = """examples:
  manage.py questionnaire news --load examples/questionnaires/languages.json
  manage.py questionnaire news --print > questions.json
  manage.py questionnaire news"""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="the campaign's name")
        what = parser.add_mutually_exclusive_group()
        what.add_argument(
            "--load", type=Path, metavar="FILE", help="a JSON file with the questions"
        )
        what.add_argument("--remove", action="store_true", help="remove the questions")
        what.add_argument(
            "--print", action="store_true", dest="prints", help="write the questions as JSON"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_named(options["campaign"])
        if options["prints"]:
            questions = questionnaire_of(campaign).as_json()
            self.stdout.write(json.dumps(questions, ensure_ascii=False, indent=2))
            return
        try:
            if options["load"] or options["remove"]:
                given, name = _given(options)
                set_questionnaire(campaign=campaign, actor=None, given=given, name=name)
        except (QuestionsRefused, TextsRefused, EditRefused) as error:
            raise CommandError(str(error)) from error
        counts = count_answers(campaign)
        self.stdout.write(
            f"{campaign.name}: {len(counts.questions)} questions, answered by {counts.n_replies} workers; "
            f"{counts.n_screened_out} screened out."
        )
        for question in counts.questions:
            self.stdout.write(f"  {question.key} ({question.n}): {question.text or '–'}")


def _given(options: dict[str, Any]) -> tuple[Any, str]:
    """Return the questions to store, and the name of their file."""
    if options["remove"]:
        return {}, ""
    path: Path = options["load"]
    try:
        return parse_texts(path.read_bytes(), name=path.name), path.name
    except OSError as error:
        raise CommandError(f"{path}: cannot be read: {error}") from error
