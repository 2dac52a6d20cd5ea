"""The tables of analysis: gold, the scores of metrics, and evaluations."""

from .collections import GoldUpload, JudgementUpload, ScoreCollection
from .evaluations import Evaluation
from .gold import GoldRun, GoldScore
from .scores import Metric, MetricCounts, MetricScore

__all__ = [
    "Evaluation",
    "GoldRun",
    "GoldScore",
    "GoldUpload",
    "JudgementUpload",
    "Metric",
    "MetricCounts",
    "MetricScore",
    "ScoreCollection",
]
