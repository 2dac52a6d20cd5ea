"""The tables of analysis: gold, the scores of metrics, and evaluations."""

from .collections import GoldUpload, JudgementUpload, ScoreCollection
from .evaluations import Evaluation
from .gold import GoldRun, GoldScore, GoldWeight
from .scores import Metric, MetricCounts, MetricScore

__all__ = [
    "Evaluation",
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
