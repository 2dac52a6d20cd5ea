"""Metrics and predictions of quality against gold: from files, from campaigns, with tables and pictures."""

from .engine import Evaluated, evaluate
from .files import Directions, DirectionsUnknown, GoldFile, evaluate_files
from .report import write_report
from .results import EvaluationResult, Options

__all__ = [
    "Directions",
    "DirectionsUnknown",
    "Evaluated",
    "EvaluationResult",
    "GoldFile",
    "Options",
    "evaluate",
    "evaluate_files",
    "write_report",
]
