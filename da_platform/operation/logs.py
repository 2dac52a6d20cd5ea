"""Logs as one JSON object a line, with nothing in them that could name a person or tell a text.

A line from our own code is logged as it is: by rule it names nothing but random codes and counts. Of other
packages' lines only the template is logged, not what they filled in: Django's would hold paths, a login
guard's would hold user names and addresses. Of an exception the type and the places are logged, not its
message, which may quote a row. Only staff logins are logged with the address they came from.
"""

import json
import logging
import re
import traceback
from datetime import UTC, datetime
from typing import Any

OWN_LOGGERS = ("hits", "analysis", "da_platform")
_ADDRESSES = re.compile(
    r"\b\d{1,3}(?:\.\d{1,3}){3}\b|\b(?:[0-9a-f]{0,4}:){3,7}[0-9a-f]{0,4}\b"
    # As long as a mailbox may be, and no longer: a long line is looked through once.
    r"|[^\s@<>]{1,64}@[^\s@<>]{1,255}\.\w+",
    re.IGNORECASE,
)
MAX_FRAMES = 30
# The one logger whose lines may say where a visitor is: a guessed password is of no use without it.
LOGINS = "hits.logins"


class LineFormatter(logging.Formatter):
    """For people at a terminal, who see everything but the keys that some addresses are."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        request = getattr(record, "request", None)
        path = getattr(request, "path", "")
        if path.strip("/"):
            match = request.resolver_match  # type: ignore[union-attr]
            page = f"/{match.route}" if match else "an address without a page"
            # Django writes it with escapes, where it needs some.
            for form in (path, path.encode("unicode_escape").decode("ascii")):
                record.message = record.message.replace(form, page)
        return super().formatMessage(record)


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": _ADDRESSES.sub("[removed]", _message(record)),
            "process": record.process,
        }
        line |= _request_facts(record) | _login_facts(record)
        if record.exc_info and record.exc_info[0]:
            line |= _exception_facts(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def _message(record: logging.LogRecord) -> str:
    if record.name.partition(".")[0] in OWN_LOGGERS:
        return record.getMessage()
    return str(record.msg)


def _request_facts(record: logging.LogRecord) -> dict[str, Any]:
    """Say which page it was by its route: the path itself may name whose page."""
    request = getattr(record, "request", None)
    match = getattr(request, "resolver_match", None)
    facts = {
        "method": getattr(request, "method", None),
        "route": match.route if match else None,
        "status": getattr(record, "status_code", None),
    }
    return {name: value for name, value in facts.items() if value is not None}


def _login_facts(record: logging.LogRecord) -> dict[str, Any]:
    """Of logins, and of nothing else: who, by a number that tells strangers nothing, and from where."""
    if record.name != LOGINS:
        return {}
    return {name: getattr(record, name, None) for name in ("person", "address")}


def _exception_facts(exc_info: Any) -> dict[str, Any]:
    kind, _, trace = exc_info
    frames = traceback.extract_tb(trace)[-MAX_FRAMES:]
    return {
        "exception": f"{kind.__module__}.{kind.__qualname__}",
        "where": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
    }
