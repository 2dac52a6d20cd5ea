"""The tables of analysis: gold, the scores of metrics, and evaluations."""

from .collections import GoldUpload, ScoreCollection
from .evaluations import Evaluation
from .gold import GoldRun, GoldScore, GoldWeight
from .scores import Metric, MetricCounts, MetricScore

__all__ = [
    "Evaluation",
    "GoldRun",
    "GoldScore",
    "GoldWeight",
    "GoldUpload",
    "Metric",
    "MetricCounts",
    "MetricScore",
    "ScoreCollection",
]
