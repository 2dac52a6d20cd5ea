"""Calls about campaigns: made, built, run, copied, reckoned; and who decided what."""

import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .connection import Connection
from .models import AuditEntry, Campaign, Cost, Estimate, Forecast, Job, Settings


class CampaignCalls(Connection):
    def campaigns(self, *, search: str = "") -> list[Campaign]:
        return [Campaign.of(row) for row in self._pages("/campaigns", search=search)]

    def campaign(self, code: str) -> Campaign:
        return Campaign.of(self._get(f"/campaigns/{code}"))

    def create_campaign(
        self,
        path: Path | str,
        *,
        name: str,
        source_language: str,
        target_language: str,
        **settings: Any,
    ) -> Campaign:
        """Make a campaign of a file, or of a folder, and wait until it is there.

        Parameters
        ----------
        path : path
            A table, a WMT test set, a zip, or a folder in the form of `docs/campaign-files.md`.
        name, source_language, target_language : str
        **settings
            Such as `hit_size`, `min_ratings`, `pay_per_hit`, `currency`, `seed`, `task`.

        Raises
        ------
        ApiError
            With `problems` by file and line.
        JobFailed
            If files so large that a job reads them are refused.
        """
        about = {
            "name": name,
            "source_language": source_language,
            "target_language": target_language,
        }
        with tempfile.TemporaryDirectory() as folder:
            package = _packed(Path(path), Path(folder))
            answer = self._upload("/campaigns", [("package", package)], about | settings)
        if answer.status_code == 202:
            return self.campaign(self.result_of(Job.of(answer.json()))["campaign"])
        return Campaign.of(answer.json())

    def build_hits(self, code: str, *, rebuild: bool = False) -> Job:
        return Job.of(self._post(f"/campaigns/{code}/hits", {"rebuild": rebuild}))

    def set_status(self, code: str, status: str) -> Campaign:
        """Make a campaign open, paused or closed."""
        return Campaign.of(self._post(f"/campaigns/{code}/status", {"status": status}))

    def settings(self, code: str) -> Settings:
        return Settings.of(self._get(f"/campaigns/{code}/settings"))

    def change_settings(self, code: str, **changes: Any) -> Settings:
        return Settings.of(self._send("PATCH", f"/campaigns/{code}/settings", changes))

    def set_instructions(self, code: str, text: str) -> Settings:
        body = {"instructions": text}
        return Settings.of(self._send("PUT", f"/campaigns/{code}/instructions", body))

    def duplicate(self, code: str, name: str) -> Campaign:
        return Campaign.of(self._post(f"/campaigns/{code}/duplicate", {"name": name}))

    def forecast(self, code: str) -> Forecast:
        return Forecast.of(self._get(f"/campaigns/{code}/forecast"))

    def cost(self, code: str) -> Cost:
        """The forecast with what was spent and what the rest will likely cost."""
        return Cost.of(self._get(f"/campaigns/{code}/cost"))

    def estimate(self, code: str, **numbers: Any) -> Estimate:
        """What it costs; `pay`, `fee`, `passing` and `ratings` may be played with."""
        return Estimate.of(self._get(f"/campaigns/{code}/estimate", **numbers))

    def audit_log(self, **filters: Any) -> Iterator[AuditEntry]:
        """Who did what, newest first; by `campaign`, `action`, `by`, `since` and `until`."""
        for row in self._pages("/audit", **filters):
            yield AuditEntry.of(row)


def _packed(path: Path, folder: Path) -> Path:
    """A file as it is; a folder as a zip."""
    if not path.is_dir():
        return path
    package = folder / f"{path.name}.zip"
    with zipfile.ZipFile(package, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(path.rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(path.parent))
    return package
