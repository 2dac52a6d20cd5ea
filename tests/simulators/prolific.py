"""A local simulator of Prolific: its API, completion page, launches and webhooks.

A real HTTP server that accepts exactly what the published API accepts.
"""

import base64
import hmac
import json
import re
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.simulators import prolific_shapes as shapes

TOKEN = "token-of-the-simulator"
SECRET = "webhook-secret-of-the-simulator"
ISSUER = "https://www.prolific.com"


class Refused(Exception):
    def __init__(self, status: int, detail: str) -> None:
        self.status = status
        super().__init__(detail)


@dataclass
class Session:
    """A submission."""

    id: str
    participant: str
    study: str
    status: str = "ACTIVE"
    code: str | None = None
    bonuses: list[int] = field(default_factory=list)
    started_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat())


@cache
def signing_key(name: str) -> rsa.RSAPrivateKey:
    """The key with this name, cached because generating one is slow."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def new_id() -> str:
    """An id like Prolific's, with 24 hexadecimal digits."""
    return uuid.uuid4().hex[:24]


class ProlificSimulator:
    """Start it, point PROLIFIC_API_URL and PROLIFIC_APP_URL at `url`, and stop it."""

    def __init__(self) -> None:
        self.studies: dict[str, dict[str, Any]] = {}
        self.sessions: dict[str, Session] = {}
        self.prepared: dict[str, list[tuple[str, Decimal]]] = {}
        self.completions: list[str] = []
        self.requests: list[str] = []
        self.violations: list[str] = []
        self.kid = "key-1"
        self.key = signing_key(self.kid)
        self.failing: int | None = None
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        # Poll often, so that stopping it after each test is quick.
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    # What participants do --------------------------------------------------------------------

    def join(self, study: str, participant: str | None = None) -> Session:
        """Let a participant take a place in a published study."""
        body = self.studies[study]
        assert body["status"] == "ACTIVE", "The study is not published."
        gone = ("RETURNED", "TIMED-OUT", "REJECTED", "SCREENED OUT")
        held = [s for s in self.sessions.values() if s.study == study and s.status not in gone]
        assert len(held) < body["total_available_places"], "No place is left."
        session = Session(new_id(), participant or new_id(), study)
        self.sessions[session.id] = session
        return session

    def launch_url(self, session: Session, **changes: Any) -> str:
        """Where Prolific sends a participant, with a token if the study uses signed launches."""
        body = self.studies[session.study]
        ids = self.ids_of(session)
        url = body["external_study_url"]
        for name, value in ids.items():
            url = url.replace(f"{{{{%{name}%}}}}", value)
        if body.get("is_external_study_url_secure"):
            url += f"&{urlencode({'prolific_token': self.token(session, **changes)})}"
        return url

    @staticmethod
    def ids_of(session: Session) -> dict[str, str]:
        return {
            "PROLIFIC_PID": session.participant,
            "STUDY_ID": session.study,
            "SESSION_ID": session.id,
        }

    def token(self, session: Session, *, key: Any = None, **claims: Any) -> str:
        """A launch token; `claims` replace those that Prolific would write."""
        now = int(time.time())
        address = self.studies[session.study]["external_study_url"].partition("?")[0]
        payload = {
            "iss": ISSUER,
            "aud": address,
            "sub": session.id,
            "iat": now,
            "exp": now + 120,
            "prolific": self.ids_of(session) | {"workspace_id": "workspace"},
        }
        headers = {"kid": self.kid}
        return jwt.encode(payload | claims, key or self.key, algorithm="RS256", headers=headers)

    def complete(self, session: Session, code: str) -> None:
        """Let a participant come back with a completion code."""
        codes = {entry["code"]: entry for entry in self.studies[session.study]["completion_codes"]}
        session.code = code
        actions = {action["action"] for action in codes[code]["actions"]}
        session.status = "RETURNED" if "REQUEST_RETURN" in actions else "AWAITING REVIEW"

    # Webhooks --------------------------------------------------------------------------------

    def event(self, session: Session, **changes: Any) -> bytes:
        payload = {
            "resource_id": session.id,
            "event_type": "submission.status.change",
            "participant_id": session.participant,
            "status": session.status,
        }
        assert not list(shapes.complaints(payload, shapes.STATUS_CHANGE))
        return json.dumps(payload | changes).encode()

    @staticmethod
    def headers(
        body: bytes, *, event_id: str = "", secret: str = SECRET, at: float | None = None
    ) -> dict[str, str]:
        timestamp = str(int(time.time() if at is None else at))
        digest = hmac.new(secret.encode(), timestamp.encode() + body, sha256).digest()
        return {
            "X-Prolific-Request-Timestamp": timestamp,
            "X-Prolific-Request-Signature": base64.b64encode(digest).decode(),
            "X-Event-ID": event_id or new_id(),
        }

    # The API ---------------------------------------------------------------------------------

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        simulator = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args: Any) -> None:
                pass

            def _answer(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(length)
                status, kind, content = simulator._respond(
                    self.command, self.path, body, self.headers.get("Authorization", "")
                )
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PATCH = do_DELETE = _answer

        return Handler

    def _respond(self, method: str, path: str, body: bytes, token: str) -> tuple[int, str, bytes]:
        with self._lock:
            self.requests.append(f"{method} {path.partition('?')[0]}")
            if path == "/favicon.ico":
                return 204, "image/x-icon", b""
            if path.startswith("/submissions/complete"):
                return self._completion_page(path)
            try:
                status, answer = self._api(method, path, body, token)
            except Refused as refusal:
                status, answer = refusal.status, {"error": {"detail": str(refusal)}}
                if refusal.status in (400, 404, 405):
                    self.violations.append(f"{method} {path}: {refusal}")
        content = b"" if answer is None else json.dumps(answer).encode()
        return status, "application/json", content

    def _completion_page(self, path: str) -> tuple[int, str, bytes]:
        [code] = parse_qs(urlsplit(path).query)["cc"]
        self.completions.append(code)
        page = "<!doctype html><html lang=en><title>Prolific</title><h1>Thanks</h1></html>"
        return 200, "text/html", page.encode()

    def _api(self, method: str, path: str, body: bytes, token: str) -> tuple[int, Any]:
        if self.failing:
            raise Refused(self.failing, "Out of order.")
        if path == "/.well-known/study/jwks.json":
            return 200, {"keys": [self.public_key()]}
        if token != f"Token {TOKEN}":
            raise Refused(401, "No valid token.")
        parts = urlsplit(path)
        for verb, pattern, answer in self._routes():
            match = re.fullmatch(f"/api/v1/{pattern}", parts.path)
            if match and verb == method:
                payload = json.loads(body) if body else None
                return answer(*match.groups(), payload, parse_qs(parts.query))
        raise Refused(404, f"There is no {method} {parts.path}.")

    def public_key(self) -> dict[str, Any]:
        key = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
        return key | {"kid": self.kid, "alg": "RS256", "use": "sig", "key_ops": ["verify"]}

    def _routes(self) -> list[tuple[str, str, Callable[..., tuple[int, Any]]]]:
        return [
            ("POST", "studies/", self._create_study),
            ("GET", "studies/([^/]+)/", self._study),
            ("PATCH", "studies/([^/]+)/", self._update_study),
            ("DELETE", "studies/([^/]+)/", self._delete_study),
            ("POST", "studies/([^/]+)/transition/", self._transition_study),
            ("GET", "submissions/", self._submissions),
            ("POST", "submissions/bonus-payments/", self._set_up_bonuses),
            ("GET", "submissions/([^/]+)/", self._submission),
            ("POST", "submissions/([^/]+)/transition/", self._transition_submission),
            ("POST", "bulk-bonus-payments/([^/]+)/pay/", self._pay_bonuses),
        ]

    @staticmethod
    def _check(body: Any, shape: shapes.Shape) -> None:
        if problems := list(shapes.complaints(body, shape)):
            raise Refused(400, "; ".join(problems))

    def _answer(self, value: Any, shape: shapes.Shape, status: int = 200) -> tuple[int, Any]:
        assert not list(shapes.complaints(value, shape)), "The simulator's own answer is invalid."
        return status, value

    def _create_study(self, body: Any, query: Any) -> tuple[int, Any]:
        self._check(body, shapes.CREATE_STUDY)
        codes = [entry["code"] for entry in body["completion_codes"]]
        if len(set(codes)) < len(codes) or body["total_available_places"] < 1:
            raise Refused(400, "Codes must differ, and there must be places.")
        for entry in body["completion_codes"]:
            for action in entry["actions"]:
                if (action["action"] == "REQUEST_RETURN") != ("return_reason" in action):
                    raise Refused(400, "A request to return needs a reason, and nothing else does.")
        study = new_id()
        self.studies[study] = body | {"id": study, "status": "UNPUBLISHED"}
        return self._study_answer(study, 201)

    def _study_answer(self, study: str, status: int = 200) -> tuple[int, Any]:
        body = self.studies[study]
        return self._answer({key: body[key] for key in shapes.STUDY}, shapes.STUDY, status)

    def _find_study(self, study: str) -> dict[str, Any]:
        if study not in self.studies:
            raise Refused(404, "There is no such study.")
        return self.studies[study]

    def _study(self, study: str, body: Any, query: Any) -> tuple[int, Any]:
        self._find_study(study)
        return self._study_answer(study)

    def _delete_study(self, study: str, body: Any, query: Any) -> tuple[int, Any]:
        if self._find_study(study)["status"] != "UNPUBLISHED":
            raise Refused(400, "Only drafts can be deleted.")
        del self.studies[study]
        return 204, None

    def _update_study(self, study: str, body: Any, query: Any) -> tuple[int, Any]:
        stored = self._find_study(study)
        self._check(body, shapes.UPDATE_STUDY)
        if body.get("total_available_places", 10**9) < stored["total_available_places"]:
            raise Refused(400, "Places only grow.")
        stored |= body
        return self._study_answer(study)

    def _transition_study(self, study: str, body: Any, query: Any) -> tuple[int, Any]:
        self._check(body, shapes.TRANSITION_STUDY)
        change = self._find_study(study)["status"], body["action"]
        if change not in shapes.STUDY_TRANSITIONS:
            raise Refused(400, "The study cannot do that.")
        self.studies[study]["status"] = shapes.STUDY_TRANSITIONS[change]
        return self._study_answer(study)

    def _submissions(self, body: Any, query: Any) -> tuple[int, Any]:
        if set(query) - {"study", "page", "page_size", "status"}:
            raise Refused(400, "An unknown parameter.")
        [study], size, page = query["study"], int(query["page_size"][0]), int(query["page"][0])
        sessions = [session for session in self.sessions.values() if session.study == study]
        results = [
            {
                "id": session.id,
                "participant_id": session.participant,
                "status": session.status,
                "started_at": session.started_at,
                "completed_at": None,
                "study_code": session.code,
            }
            for session in sessions[(page - 1) * size : page * size]
        ]
        return self._answer({"results": results}, {"results": [shapes.SUBMISSION_IN_LIST]})

    def _session(self, reference: str) -> Session:
        if reference not in self.sessions:
            raise Refused(404, "There is no such submission.")
        return self.sessions[reference]

    def _submission(self, reference: str, body: Any, query: Any) -> tuple[int, Any]:
        session = self._session(reference)
        answer = {
            "id": session.id,
            "participant": session.participant,
            "study_id": session.study,
            "status": session.status,
            "started_at": session.started_at,
            "completed_at": None,
            "entered_code": session.code,
            "bonus_payments": list(session.bonuses),
        }
        return self._answer(answer, shapes.SUBMISSION)

    def _transition_submission(self, reference: str, body: Any, query: Any) -> tuple[int, Any]:
        self._check(body, shapes.TRANSITION_SUBMISSION)
        session, action = self._session(reference), body["action"]
        new_status = {"APPROVE": "APPROVED", "REJECT": "REJECTED"}.get(action)
        if new_status is None:
            raise Refused(400, "The simulator completes by code only.")
        if action == "REJECT" and (
            len(body.get("message", "")) < shapes.MIN_REJECTION_LENGTH
            or "rejection_category" not in body
        ):
            raise Refused(400, "A rejection needs a category and a message of 100 characters.")
        if session.status not in ("AWAITING REVIEW", new_status):
            raise Refused(400, f"It is {session.status}.")
        session.status = new_status
        return self._submission(reference, None, None)

    def _set_up_bonuses(self, body: Any, query: Any) -> tuple[int, Any]:
        self._check(body, shapes.SET_UP_BONUSES)
        rows = [line.split(",") for line in body["csv_bonuses"].split("\n") if line]
        for row in rows:
            if len(row) != 2 or not re.fullmatch(r"\d+\.\d\d", row[1]):
                raise Refused(400, f"Not a bonus: {row}.")
            if self._session(row[0]).study != body["study_id"]:
                raise Refused(400, "Not of this study.")
        bonuses = new_id()
        self.prepared[bonuses] = [(reference, Decimal(amount)) for reference, amount in rows]
        amount = float(100 * sum(paid for _, paid in self.prepared[bonuses]))
        answer = {
            "id": bonuses,
            "study": body["study_id"],
            "amount": amount,
            "fees": 0.0,
            "vat": 0.0,
            "total_amount": amount,
        }
        return self._answer(answer, shapes.BONUSES, 201)

    def _pay_bonuses(self, bonuses: str, body: Any, query: Any) -> tuple[int, Any]:
        self._check(body, shapes.PAY_BONUSES)
        if bonuses not in self.prepared:
            raise Refused(404, "There are no such bonuses.")
        # Like the real service, it pays again when asked twice.
        for reference, amount in self.prepared[bonuses]:
            self.sessions[reference].bonuses.append(int(amount * 100))
        return 202, f"Bulk bonus payment with ID {bonuses} is being processed asynchronously."
