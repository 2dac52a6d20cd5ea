"""The tables of analysis: jobs, gold, the scores of metrics, and evaluations."""

from .collections import GoldUpload, ScoreCollection
from .evaluations import Evaluation
from .gold import GoldRun, GoldScore
from .jobs import MAX_ATTEMPTS, Job, JobQuerySet
from .scores import Metric, MetricCounts, MetricScore

__all__ = [
    "MAX_ATTEMPTS",
    "Evaluation",
    "GoldRun",
    "GoldScore",
    "GoldUpload",
    "Job",
    "JobQuerySet",
    "Metric",
    "MetricCounts",
    "MetricScore",
    "ScoreCollection",
]
