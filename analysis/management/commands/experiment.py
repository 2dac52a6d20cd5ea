"""Run an experiment on files alone: word tags, tests between systems, automatic post-editing."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from tqdm import tqdm

from analysis.experiments.base import ExperimentKind, FilesOfExperimentRefused, Option, run
from analysis.experiments.catalogue import KINDS
from analysis.experiments.reporting import REPORT, check_folder, write_campaign, write_experiment
from analysis.scores.raw_files import RawFile, load
from da_platform.exceptions import PlatformError
from da_platform.files.problems import Problems
from hits.management.base import CommandWithExamples, campaign_named

EXAMPLES = """\
examples:
  Word tags of WMT submissions:
    manage.py experiment words --gold test.tags --submissions submissions/*.txt --out report/

  The same with gold from post-editions:
    manage.py experiment words --texts mt.tok --post-editions pe.tok --submissions tags/* --out report/

  Tests between systems:
    manage.py experiment systems --outputs outputs/*.txt --references ref.txt --out report/

  Automatic post-editing:
    manage.py experiment ape --before mt.txt --outputs ape/*.txt --post-editions pe.txt --out report/

See docs/experiments.md for files, numbers and reports.
"""


class Command(CommandWithExamples):
    help = "Run an experiment on files and write a report."
    examples = EXAMPLES
    # Without a campaign, neither a database nor a configured site is needed.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        kinds = parser.add_subparsers(dest="kind", required=True, metavar="KIND")
        for kind in KINDS.values():
            _add_kind(kinds.add_parser(kind.name, help=kind.description), kind)

    def handle(self, *args: Any, **options: Any) -> None:
        kind, folder = KINDS[options["kind"]], Path(options["out"])
        given = {
            option.name: value
            for option in kind.options
            if (value := options[option.name]) is not None
        }
        try:
            check_folder(folder, force=options["force"])
            inputs = kind.with_campaigns(
                {role.name: _loaded(options[role.name] or []) for role in kind.roles},
                {
                    role.name: campaign_named(name)
                    for role in kind.campaigns
                    if (name := options[role.name])
                },
                kind.settings(given),
            )
            with tqdm(desc="measuring", disable=None, leave=False) as bar:

                def move(n_done: int, n_total: int) -> None:
                    bar.total = n_total
                    bar.update(n_done - bar.n)

                result = run(kind, inputs, given, move)
            paths = write_experiment(kind, result, folder, force=options["force"])
            if kind.outputs_to_rate is not None:
                outputs = kind.outputs_to_rate(kind.read(kind.checked(inputs), result["options"]))
                paths += write_campaign(outputs, folder)
        except PlatformError as error:
            raise CommandError(str(error)) from error
        for sentence in kind.findings(result):
            self.stdout.write(sentence)
        self.stdout.write(f"Wrote {len(paths)} files. Open {folder / REPORT}.")


def _add_kind(parser: CommandParser, kind: ExperimentKind) -> None:
    for role in kind.roles:
        parser.add_argument(
            f"--{role.name.replace('_', '-')}",
            nargs="+" if role.many else 1,
            required=kind.needs_upload(role),
            type=Path,
            metavar="FILE",
            help=f"{role.label}. {role.help_text}".strip(),
        )
    for campaign in kind.campaigns:
        parser.add_argument(
            f"--{campaign.name.replace('_', '-')}",
            metavar="CAMPAIGN",
            help=f"{campaign.label}. {campaign.help_text}".strip(),
        )
    for option in kind.options:
        _add_option(parser, option)
    parser.add_argument("--out", required=True, metavar="FOLDER", help="folder for the report")
    parser.add_argument(
        "--force", action="store_true", help="write into a folder that is not empty"
    )


def _add_option(parser: CommandParser, option: Option) -> None:
    flag = f"--{option.name.replace('_', '-')}"
    help_text = f"{option.label}. {option.help_text}".strip()
    if isinstance(option.default, bool):
        parser.add_argument(flag, action="store_true", default=None, help=help_text)
        return
    shown = f" (default: {option.default})" if option.default != "" else ""
    parser.add_argument(
        flag,
        type=type(option.default),
        choices=None if option.choices is None else [*option.choices],
        metavar=None if option.choices is not None else option.name.upper(),
        help=f"{help_text}{shown}".replace("%", "%%"),
    )


def _loaded(paths: list[Path]) -> list[RawFile]:
    """Read the files, or list all that cannot be read."""
    problems = Problems()
    files = [load(path, problems) for path in paths]
    problems.refuse_if_any(FilesOfExperimentRefused)
    return [file for file in files if file is not None]
