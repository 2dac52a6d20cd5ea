"""Rows that only the scores or only the gold have, grouped so that each cause is one problem with its way out."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from da_platform.files.problems import Problems

from .fixes import IGNORE_EXTRA, leave_out_metrics, leave_out_system, listed

# System and segment, as in `score_tables`.
Key = tuple[str, str]


@dataclass
class Gaps:
    """The rows that each metric lacks, and those that it has but the gold does not.

    Attributes
    ----------
    gold : collection of (system, segment)
        The rows of the gold.
    """

    gold: Collection[Key]
    _missing: dict[str, Sequence[Key]] = field(default_factory=dict)
    _extra: dict[str, Sequence[Key]] = field(default_factory=dict)
    _n_metrics: int = 0

    def add(self, metric: str, *, missing: Sequence[Key], extra: Sequence[Key]) -> None:
        """Note the gaps of one metric."""
        self._n_metrics += 1
        if missing:
            self._missing[metric] = missing
        if extra:
            self._extra[metric] = extra

    def report(self, problems: Problems) -> None:
        """Add a problem for each system or group of metrics."""
        if self._missing:
            unscored = self._unscored()
            for system, n in unscored.items():
                rows = f"{n:,} rows" if n > 1 else "1 row"
                reason = f"system {system} has {rows} of gold, but no metric has scores for it"
                problems.add("", None, reason, leave_out_system(system))
            self._report_missing(unscored, problems)
        if self._extra:
            systems = {system for system, _ in self.gold}
            self._report_extra_systems(systems, problems)
            self._report_extra(systems, problems)

    def _unscored(self) -> dict[str, int]:
        """Return the systems for which several metrics, and all of them, have no score at all."""
        if len(self._missing) < max(self._n_metrics, 2):
            return {}
        n_rows = Counter(system for system, _ in self.gold)
        n_missing = [Counter(system for system, _ in keys) for keys in self._missing.values()]
        return {
            system: n
            for system, n in n_rows.items()
            if system and all(counts[system] == n for counts in n_missing)
        }

    def _report_missing(self, unscored: Collection[str], problems: Problems) -> None:
        groups: dict[tuple[Key, ...], list[str]] = {}
        for metric, keys in self._missing.items():
            rest = tuple(key for key in keys if key[0] not in unscored)
            if rest:
                groups.setdefault(rest, []).append(metric)
        for rows, metrics in groups.items():
            verb = "has" if len(metrics) == 1 else "have"
            reason = f"{verb} no score for {_rows(rows)}"
            problems.add(listed(metrics), None, reason, leave_out_metrics(metrics))

    def _report_extra_systems(self, systems: Collection[str], problems: Problems) -> None:
        """Systems that the gold does not have at all, such as a reference among the outputs."""
        counts: dict[str, dict[str, int]] = {}
        for metric, keys in self._extra.items():
            for system, _ in keys:
                if system and system not in systems:
                    by_metric = counts.setdefault(system, {})
                    by_metric[metric] = by_metric.get(metric, 0) + 1
        for system, by_metric in counts.items():
            n = sum(by_metric.values())
            reason = (
                f"system {system} is not in the gold, but has {n:,} score{'s' * (n > 1)} "
                f"by {listed(list(by_metric))}"
            )
            problems.add("", None, reason, leave_out_system(system))

    def _report_extra(self, systems: Collection[str], problems: Problems) -> None:
        """Further rows of systems that the gold does have."""
        by_metric = {
            metric: rows
            for metric, keys in self._extra.items()
            if (rows := [key for key in keys if not key[0] or key[0] in systems])
        }
        if not by_metric:
            return
        metrics, every = list(by_metric), list(dict.fromkeys(sum(by_metric.values(), [])))
        verb, scores = ("has", "a score") if len(metrics) == 1 else ("have", "scores")
        which = "which is" if len(every) == 1 else "which are"
        reason = f"{verb} {scores} for {_rows(every)}, {which} not in the gold"
        problems.add(listed(metrics), None, reason, IGNORE_EXTRA)


def shown(key: Key) -> str:
    """Describe a row in a message."""
    system, segment = key
    if not segment:
        return f"system {system}"
    return f"segment {segment} by {system}" if system else f"segment {segment}"


def _rows(keys: Sequence[Key]) -> str:
    if len(keys) == 1:
        return shown(keys[0])
    return f"{len(keys):,} rows (the first: {shown(keys[0])})"
