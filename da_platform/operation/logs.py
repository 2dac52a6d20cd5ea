"""Logs with one JSON object per line, without personal data and texts.

Our own messages are logged in full: by convention they contain only random codes and counts. Of other packages'
messages only the template is logged, without its arguments: Django's would contain paths, and a login guard's
would contain usernames and addresses. Of an exception, the type and the traceback's locations are logged, but not
its message, which may quote a row. Only staff logins are logged with the address they came from.
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
    # The maximum length of a mailbox name, which keeps the search of a long line fast.
    r"|[^\s@<>]{1,64}@[^\s@<>]{1,255}\.\w+",
    re.IGNORECASE,
)
MAX_FRAMES = 30
# The only logger whose lines include the visitor's address, which is needed to investigate guessed passwords.
LOGINS = "hits.logins"


class LineFormatter(logging.Formatter):
    """For people at a terminal: logs everything except secrets in URLs."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        request = getattr(record, "request", None)
        path = getattr(request, "path", "")
        if path.strip("/"):
            match = request.resolver_match  # type: ignore[union-attr]
            page = f"/{match.route}" if match else "an unknown URL"
            # Django may log it with backslash escapes.
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
    """Name the page by its route, since the path may identify a person."""
    request = getattr(record, "request", None)
    match = getattr(request, "resolver_match", None)
    facts = {
        "method": getattr(request, "method", None),
        "route": match.route if match else None,
        "status": getattr(record, "status_code", None),
    }
    return {name: value for name, value in facts.items() if value is not None}


def _login_facts(record: logging.LogRecord) -> dict[str, Any]:
    """Only for logins: the account number, which means nothing to outsiders, and the address."""
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
