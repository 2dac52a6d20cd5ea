"""Calls about what ratings mean: gold, agreement, metrics, evaluations, files of them."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .connection import Connection
from .models import (
    Agreement,
    Evaluation,
    GoldRun,
    Job,
    Metric,
    MetricScore,
    RankedSystem,
    Ranking,
    RunComparison,
    SegmentScore,
)


class ResultCalls(Connection):
    # Gold -------------------------------------------------------------------------------------

    def build_gold(self, code: str, **options: Any) -> Job:
        """Start building gold; `method` and `minimum` may be given."""
        return Job.of(self._post(f"/campaigns/{code}/gold", options))

    def gold_runs(self, code: str) -> list[GoldRun]:
        return [GoldRun.of(row) for row in self._pages(f"/campaigns/{code}/gold")]

    def gold_run(self, code: str, number: int) -> GoldRun:
        return GoldRun.of(self._get(f"/campaigns/{code}/gold/{number}"))

    def scores(self, code: str, number: int) -> Iterator[SegmentScore]:
        """Every output's score in a run, page by page."""
        for row in self._pages(f"/campaigns/{code}/gold/{number}/scores"):
            yield SegmentScore.of(row)

    def ranking(self, code: str, number: int) -> Ranking:
        answer = self._get(f"/campaigns/{code}/gold/{number}/ranking")
        systems = [RankedSystem.of(row) for row in answer["systems"]]
        return Ranking(systems, answer["pvalues"], answer["signature"])

    def compare_runs(self, code: str, earlier: int, later: int) -> RunComparison:
        path = f"/campaigns/{code}/gold/compare"
        return RunComparison.of(self._get(path, earlier=earlier, later=later))

    def measure_agreement(self, code: str) -> Job:
        return Job.of(self._post(f"/campaigns/{code}/agreement"))

    def agreement(self, code: str) -> Agreement:
        """What was measured last."""
        return Agreement.of(self._get(f"/campaigns/{code}/agreement"))

    def export(
        self,
        code: str,
        kind: str,
        path: Path | str,
        *,
        format: str = "csv",
        run: int | None = None,
    ) -> Path:
        """Write an export to a file: ratings, evidence, segments or systems."""
        query = {"format": format} | ({"run": run} if run else {})
        return self._download(f"/campaigns/{code}/exports/{kind}", path, **query)

    def report(self, code: str, number: int, path: Path | str) -> Path:
        """Write the campaign's report to a PDF."""
        return self._download(f"/campaigns/{code}/gold/{number}/report", path)

    def pictures(self, code: str, number: int) -> list[str]:
        """The names of the pictures of a run."""
        rows = self._get(f"/campaigns/{code}/gold/{number}/pictures")
        return [row["name"] for row in rows]

    def picture(
        self, code: str, number: int, name: str, path: Path | str, *, format: str = "svg"
    ) -> Path:
        """Write a picture to a file: svg, png, pdf, or its numbers as csv."""
        address = f"/campaigns/{code}/gold/{number}/pictures/{name}"
        return self._download(address, path, format=format)

    # Metrics ----------------------------------------------------------------------------------

    def metrics(self, code: str) -> list[Metric]:
        return [Metric.of(row) for row in self._pages(f"/campaigns/{code}/metrics")]

    def metric_scores(self, code: str, metric: str) -> Iterator[MetricScore]:
        """Every score of a metric, page by page."""
        for row in self._pages(f"/campaigns/{code}/metrics/{metric}/scores"):
            yield MetricScore.of(row)

    def upload_scores(
        self,
        code: str,
        path: Path | str,
        *,
        higher: Sequence[str] = (),
        lower: Sequence[str] = (),
        **options: Any,
    ) -> list[Metric]:
        """Store the scores in a file; `higher` and `lower` name metrics by which way is better."""
        ways = {"higher": list(higher), "lower": list(lower)}
        fields = {name: names for name, names in ways.items() if names} | options
        answer = self._upload(f"/campaigns/{code}/metrics", [("file", Path(path))], fields)
        return [Metric.of(row) for row in answer.json()]

    def confirm_direction(self, code: str, metric: str, *, higher_is_better: bool) -> Metric:
        body = {"higher_is_better": higher_is_better}
        return Metric.of(self._post(f"/campaigns/{code}/metrics/{metric}/direction", body))

    def compute_metrics(self, code: str, names: Sequence[str] = ()) -> Job:
        """Start computing baselines: those named, or all there are."""
        body = {"names": list(names)} if names else {}
        return Job.of(self._post(f"/campaigns/{code}/metrics/compute", body))

    # Evaluations ------------------------------------------------------------------------------

    def evaluate(
        self,
        code: str,
        *,
        golds: Sequence[dict[str, Any]] = (),
        metrics: Sequence[str] | None = None,
        **options: Any,
    ) -> Job:
        """Start holding metrics against gold: `golds` such as `{"run": 1, "use": "raw"}`."""
        body: dict[str, Any] = {"golds": list(golds), "options": options}
        if metrics is not None:
            body["metrics"] = list(metrics)
        return Job.of(self._post(f"/campaigns/{code}/evaluations", body))

    def evaluations(self, code: str) -> Iterator[Evaluation]:
        """Evaluations, newest first, without what they found."""
        for row in self._pages(f"/campaigns/{code}/evaluations"):
            yield Evaluation.of(row)

    def evaluation(self, code: str, number: int) -> Evaluation:
        return Evaluation.of(self._get(f"/campaigns/{code}/evaluations/{number}"))

    def tables(self, code: str, number: int) -> list[str]:
        """The names of the tables of an evaluation."""
        rows = self._get(f"/campaigns/{code}/evaluations/{number}/tables")
        return [row["name"] for row in rows]

    def table(
        self, code: str, number: int, name: str, path: Path | str, *, format: str = "csv"
    ) -> Path:
        """Write a table to a file: csv, tex or md."""
        address = f"/campaigns/{code}/evaluations/{number}/tables/{name}"
        return self._download(address, path, format=format)

    def evaluation_pictures(self, code: str, number: int) -> list[str]:
        """The names of the pictures of an evaluation."""
        rows = self._get(f"/campaigns/{code}/evaluations/{number}/pictures")
        return [row["name"] for row in rows]

    def evaluation_picture(
        self, code: str, number: int, name: str, path: Path | str, *, format: str = "svg"
    ) -> Path:
        """Write a picture of an evaluation to a file: svg, png, pdf, or its numbers as csv."""
        address = f"/campaigns/{code}/evaluations/{number}/pictures/{name}"
        return self._download(address, path, format=format)
