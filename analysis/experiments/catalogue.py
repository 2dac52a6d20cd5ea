"""The kinds of experiments, by name."""

from .ape import APE
from .base import ExperimentKind, ExperimentRefused
from .systems import SYSTEMS
from .words import WORDS

KINDS: dict[str, ExperimentKind] = {kind.name: kind for kind in (WORDS, SYSTEMS, APE)}


def kind_named(name: str) -> ExperimentKind:
    if name not in KINDS:
        raise ExperimentRefused(
            f"There is no kind of experiment {name!r}. Choose from: {', '.join(KINDS)}."
        )
    return KINDS[name]
