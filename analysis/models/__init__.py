"""The tables of analysis: gold, the scores of metrics, evaluations and experiments."""

from .collections import GoldUpload, JudgementUpload, ScoreCollection
from .evaluations import Evaluation
from .experiments import Experiment, ExperimentFile
from .gold import GoldRun, GoldScore, GoldWeight
from .scores import Metric, MetricCounts, MetricScore

__all__ = [
    "Evaluation",
    "Experiment",
    "ExperimentFile",
    "GoldRun",
    "GoldScore",
    "GoldWeight",
    "GoldUpload",
    "JudgementUpload",
    "Metric",
    "MetricCounts",
    "MetricScore",
    "ScoreCollection",
]
