"""What every kind of experiment consists of: its files, its options, and how it is measured and shown."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from da_platform.exceptions import PlatformError
from da_platform.files.problems import FilesRefused, Problems
from da_platform.plots.rendering import Picture

from ..scores.raw_files import RawFile, is_usable
from ..stats.multiple_tests import CORRECTIONS
from ..stats.resampling import DEFAULT_RESAMPLES
from ..stats.thresholds import ALPHA
from ..tables.table import Table

Result = dict[str, Any]
Settings = dict[str, Any]
# The files of an experiment, by role.
Inputs = Mapping[str, Sequence[RawFile]]
Progress = Callable[[int, int], None]

MOST_RESAMPLES = 100_000


class ExperimentRefused(PlatformError):
    """An experiment with unknown or impossible options."""


class FilesOfExperimentRefused(FilesRefused):
    """Files of an experiment with problems, each listed with its file and line."""

    heading = "The files could not be used"


def refuse_if_any(problems: Problems) -> None:
    problems.refuse_if_any(FilesOfExperimentRefused)


@dataclass(frozen=True, slots=True)
class FileRole:
    """What one or more of the files are."""

    name: str
    label: str
    help_text: str = ""
    many: bool = False
    required: bool = False


@dataclass(frozen=True, slots=True)
class CampaignRole:
    """A campaign that can give the files of some roles in place of uploads. It must have one of the tasks."""

    name: str
    label: str
    gives: Sequence[str]
    tasks: Sequence[str]
    read: Callable[[Any, Settings], Inputs]
    help_text: str = ""


@dataclass(frozen=True, slots=True)
class Option:
    """An option with its default, whose type it has. Numbers lie between `least` and `most`."""

    name: str
    label: str
    default: Any
    choices: Mapping[str, str] | None = None
    least: float = 0
    most: float = math.inf
    help_text: str = ""

    def read(self, value: Any) -> Any:
        """Return a value of the right type, or refuse it."""
        if self.choices is not None:
            if value not in self.choices:
                raise ExperimentRefused(
                    f"{self.name} must be one of {', '.join(self.choices)}, not {value!r}."
                )
            return value
        kind = type(self.default)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if kind is float and is_number:
            value = float(value)
        if not isinstance(value, kind) or isinstance(value, bool) != (kind is bool):
            raise ExperimentRefused(f"{self.name} must be {_named(kind)}, not {value!r}.")
        if kind in (int, float) and not self.least <= value <= self.most:
            raise ExperimentRefused(
                f"{self.name} must be between {self.least:g} and {self.most:g}, not {value!r}."
            )
        return value


def _named(kind: type) -> str:
    names = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}
    return names[kind]


@dataclass(frozen=True, slots=True)
class OutputsToRate:
    """Outputs that people can rate: of each system, parallel to the references. Sources and names may be missing."""

    systems: dict[str, list[str]]
    references: list[str]
    sources: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ExperimentKind:
    """A kind of experiment.

    Attributes
    ----------
    name, title, description : str
    roles : sequence of FileRole
    options : sequence of Option
    read : callable
        Takes the files and the options, returns what `measure` needs, or refuses the files.
    measure : callable
        Takes what was read, the options and a progress callback; returns the result as JSON, with
        a signature.
    tables, pictures, findings : callable
        Take a result; return its tables, its pictures, and what it says in sentences.
    template : str
        A template for what only this kind shows.
    context : callable
        Takes a result and the page's parameters, returns what the template needs.
    more_pictures : callable
        Takes a result, returns pictures that are neither in the report nor all on the page.
    long_tables : callable
        Takes a result, returns tables that are too long for the page, to download as CSV.
    campaigns : sequence of CampaignRole
    outputs_to_rate : callable, optional
        Takes what was read, returns the outputs for a campaign.
    """

    name: str
    title: str
    description: str
    roles: Sequence[FileRole]
    options: Sequence[Option]
    read: Callable[[Inputs, Settings], Any]
    measure: Callable[[Any, Settings, Progress], Result]
    tables: Callable[[Result], list[Table]]
    pictures: Callable[[Result], list[Picture]]
    findings: Callable[[Result], list[str]]
    template: str = ""
    context: Callable[[Result, Mapping[str, str]], dict[str, Any]] = lambda result, query: {}
    more_pictures: Callable[[Result], Iterable[Picture]] = lambda result: ()
    long_tables: Callable[[Result], list[Table]] = lambda result: []
    campaigns: Sequence[CampaignRole] = ()
    outputs_to_rate: Callable[[Any], OutputsToRate] | None = None

    def settings(self, given: Mapping[str, Any]) -> Settings:
        """Return all options, with defaults for those that were not given; refuse unknown ones."""
        known = {option.name: option for option in self.options}
        if unknown := sorted(given.keys() - known.keys()):
            raise ExperimentRefused(
                f"There is no option {unknown[0]!r}. Choose from: {', '.join(known)}."
            )
        return {
            name: option.read(given.get(name, option.default)) for name, option in known.items()
        }

    def needs_upload(self, role: FileRole) -> bool:
        """Whether a file must be uploaded, because no campaign can give it."""
        return role.required and not any(role.name in each.gives for each in self.campaigns)

    def with_campaigns(
        self, inputs: Inputs, campaigns: Mapping[str, Any], settings: Settings
    ) -> Inputs:
        """Add the files that campaigns give, by the names of their roles."""
        known = {role.name: role for role in self.campaigns}
        merged = {name: [*files] for name, files in inputs.items()}
        for name, campaign in campaigns.items():
            if name not in known:
                raise ExperimentRefused(f"This kind of experiment takes no {name}.")
            if campaign.task not in known[name].tasks:
                raise ExperimentRefused(f"{campaign} has no files for: {known[name].label}.")
            for role, files in known[name].read(campaign, settings).items():
                merged.setdefault(role, []).extend(files)
        return merged

    def checked(self, inputs: Inputs) -> Inputs:
        """Refuse missing, surplus and unusable files."""
        problems = Problems()
        known = {role.name: role for role in self.roles}
        for name, files in inputs.items():
            if name not in known and files:
                listed = ", ".join(known)
                problems.add("", None, f"there is no file role {name!r}; choose from {listed}")
        for role in self.roles:
            files = inputs.get(role.name, ())
            if role.required and not files:
                problems.add("", None, f"the file is missing: {role.label.lower()}")
            if len(files) > 1 and not role.many:
                problems.add(files[1].name, None, f"is a second file for: {role.label.lower()}")
            for file in files:
                is_usable(file, problems)
        refuse_if_any(problems)
        return {name: inputs.get(name, ()) for name in known}


# The options of every kind with tests.
TESTING = (
    Option("resamples", "Resamples", DEFAULT_RESAMPLES, least=1, most=MOST_RESAMPLES),
    Option("seed", "Seed", 1, most=2**31 - 1),
    Option("alpha", "Significance level", ALPHA, least=1e-6, most=1 - 1e-6),
    Option("confidence", "Confidence of intervals", 0.95, least=1e-6, most=1 - 1e-6),
    Option(
        "correction",
        "Correction for the number of tests",
        "holm",
        choices=dict(zip(CORRECTIONS, ("Holm", "None"), strict=True)),
    ),
)


def no_progress(n_done: int, n_total: int) -> None:
    """Report to nobody."""


def inputs_of(inputs: Inputs) -> list[dict[str, str]]:
    """Describe the files of an experiment, for its result."""
    return [
        {"role": role, "name": file.name, "sha256": file.sha256}
        for role, files in inputs.items()
        for file in files
    ]


def run(
    kind: ExperimentKind,
    inputs: Inputs,
    given: Mapping[str, Any],
    progress: Progress = no_progress,
) -> Result:
    """Read the files of an experiment and measure them."""
    settings, files = kind.settings(given), kind.checked(inputs)
    result = kind.measure(kind.read(files, settings), settings, progress)
    return result | {"kind": kind.name, "options": settings, "inputs": inputs_of(files)}
