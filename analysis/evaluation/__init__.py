"""Evaluate metrics and quality predictions against gold, from files or from the database."""

from .engine import Evaluated, evaluate
from .from_files import Directions, DirectionsUnknown, GoldFile, evaluate_files
from .from_folders import evaluate_folder
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
    "evaluate_folder",
    "write_report",
]
