"""Create campaigns from the texts of another one, with other references or other outputs."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.contrib.auth.models import User

from ..models import Campaign
from ..people.audit import record
from .editing import keep_admin
from .importing.service import import_campaign

Row = Mapping[str, str]

# Settings that a campaign has in common with the one it is made from, until somebody changes them.
SAME_SETTINGS = (
    *("run_by", "contact", "interface_language", "pay_per_hit", "currency", "lease_minutes"),
    *("degradation", "trust_rule", "drift", "records_signals", "has_canary"),
)


def settings_in_common(campaign: Campaign) -> dict[str, Any]:
    """Return the settings that `import_rows` gives to a campaign that goes on with the work of this one."""
    return {field: getattr(campaign, field) for field in SAME_SETTINGS}


def import_rows(
    rows: Iterable[Row],
    *,
    like: Campaign,
    name: str,
    actor: User | None,
    recorded: dict[str, Any],
    **settings: Any,
) -> Campaign:
    """Create a draft with these outputs, in the languages of a campaign; its creator can manage it.

    Rows have the columns of a table of outputs: segment, system, translation, and perhaps source, reference and document,
    which are left out where they are empty. `recorded` goes into the audit log. Raise `ImportRefused` as `import_campaign` does.
    """
    with TemporaryDirectory() as folder:
        table = Path(folder) / "outputs.jsonl"
        with table.open("w", encoding="utf-8") as file:
            for row in rows:
                cells = {key: text for key, text in row.items() if text or key == "translation"}
                file.write(json.dumps(cells, ensure_ascii=False) + "\n")
        summary = import_campaign(
            path=table,
            name=name,
            source_language=like.source_language,
            target_language=like.target_language,
            allow_missing_translations=True,
            **settings,
        )
    if actor is not None:
        keep_admin(actor, summary.campaign)
        record("campaign created", actor=actor, campaign=summary.campaign, **recorded)
    return summary.campaign
