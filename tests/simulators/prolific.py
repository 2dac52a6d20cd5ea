"""Prolific on this machine: its API, its page at the end, its launches and its webhooks.

A real HTTP server on loopback that takes what the published API takes, strictly, and refuses the rest.
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
HALF_DONE = {"RESERVED", "ACTIVE"}


class Refused(Exception):
    def __init__(self, status: int, detail: str) -> None:
        self.status = status
        super().__init__(detail)


@dataclass
class Session:
    """A submission, as the simulator knows it."""

    id: str
    participant: str
    study: str
    status: str = "ACTIVE"
    code: str | None = None
    bonuses: list[int] = field(default_factory=list)
    started_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat())


@cache
def signing_key(name: str) -> rsa.RSAPrivateKey:
    """A key of a name, made once: that takes a while."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def new_id() -> str:
    """An id as Prolific's are: 24 hexadecimal digits."""
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
        # It is stopped after each test, and is not to wait half a second for that.
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    # What participants do --------------------------------------------------------------------

    def join(self, study: str, participant: str | None = None) -> Session:
        """Let someone take a place of a published study."""
        body = self.studies[study]
        assert body["status"] == "ACTIVE", "Nobody sees a study that is not published."
        held = [
            one
            for one in self.sessions.values()
            if one.study == study
            and one.status not in ("RETURNED", "TIMED-OUT", "REJECTED", "SCREENED OUT")
        ]
        assert len(held) < body["total_available_places"], "No place is left."
        session = Session(new_id(), participant or new_id(), study)
        self.sessions[session.id] = session
        return session

    def launch_url(self, session: Session, **changes: Any) -> str:
        """Where Prolific sends a participant; with a token if the study asks for signed launches."""
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
        told = {
            "iss": ISSUER,
            "aud": address,
            "sub": session.id,
            "iat": now,
            "exp": now + 120,
            "prolific": self.ids_of(session) | {"workspace_id": "workspace"},
        }
        headers = {"kid": self.kid}
        return jwt.encode(told | claims, key or self.key, algorithm="RS256", headers=headers)

    def complete(self, session: Session, code: str) -> None:
        """What becomes of a participant who comes back with a code."""
        [known] = [
            one for one in self.studies[session.study]["completion_codes"] if one["code"] == code
        ]
        session.code = code
        actions = {one["action"] for one in known["actions"]}
        session.status = "RETURNED" if "REQUEST_RETURN" in actions else "AWAITING REVIEW"

    # Webhooks --------------------------------------------------------------------------------

    def event(self, session: Session, **changes: Any) -> bytes:
        told = {
            "resource_id": session.id,
            "event_type": "submission.status.change",
            "participant_id": session.participant,
            "status": session.status,
        }
        assert not list(shapes.complaints(told, shapes.STATUS_CHANGE))
        return json.dumps(told | changes).encode()

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
            found = re.fullmatch(f"/api/v1/{pattern}", parts.path)
            if found and verb == method:
                told = json.loads(body) if body else None
                return answer(*found.groups(), told, parse_qs(parts.query))
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
        if wrong := list(shapes.complaints(body, shape)):
            raise Refused(400, "; ".join(wrong))

    def _told(self, value: Any, shape: shapes.Shape, status: int = 200) -> tuple[int, Any]:
        assert not list(shapes.complaints(value, shape)), "The simulator itself strays."
        return status, value

    def _create_study(self, body: Any, query: Any) -> tuple[int, Any]:
        self._check(body, shapes.CREATE_STUDY)
        codes = [one["code"] for one in body["completion_codes"]]
        if len(set(codes)) < len(codes) or body["total_available_places"] < 1:
            raise Refused(400, "Codes must differ, and there must be places.")
        for code in body["completion_codes"]:
            for action in code["actions"]:
                if (action["action"] == "REQUEST_RETURN") != ("return_reason" in action):
                    raise Refused(400, "A request to return needs a reason, and nothing else does.")
        study = new_id()
        self.studies[study] = body | {"id": study, "status": "UNPUBLISHED"}
        return self._study_told(study, 201)

    def _study_told(self, study: str, status: int = 200) -> tuple[int, Any]:
        body = self.studies[study]
        return self._told({key: body[key] for key in shapes.STUDY}, shapes.STUDY, status)

    def _known(self, study: str) -> dict[str, Any]:
        if study not in self.studies:
            raise Refused(404, "There is no such study.")
        return self.studies[study]

    def _study(self, study: str, body: Any, query: Any) -> tuple[int, Any]:
        self._known(study)
        return self._study_told(study)

    def _delete_study(self, study: str, body: Any, query: Any) -> tuple[int, Any]:
        if self._known(study)["status"] != "UNPUBLISHED":
            raise Refused(400, "Only drafts can be deleted.")
        del self.studies[study]
        return 204, None

    def _update_study(self, study: str, body: Any, query: Any) -> tuple[int, Any]:
        known = self._known(study)
        self._check(body, shapes.UPDATE_STUDY)
        if body.get("total_available_places", 10**9) < known["total_available_places"]:
            raise Refused(400, "Places only grow.")
        known |= body
        return self._study_told(study)

    def _transition_study(self, study: str, body: Any, query: Any) -> tuple[int, Any]:
        self._check(body, shapes.TRANSITION_STUDY)
        change = self._known(study)["status"], body["action"]
        if change not in shapes.STUDY_TRANSITIONS:
            raise Refused(400, "The study cannot do that.")
        self.studies[study]["status"] = shapes.STUDY_TRANSITIONS[change]
        return self._study_told(study)

    def _submissions(self, body: Any, query: Any) -> tuple[int, Any]:
        if set(query) - {"study", "page", "page_size", "status"}:
            raise Refused(400, "An unknown parameter.")
        [study], size, page = query["study"], int(query["page_size"][0]), int(query["page"][0])
        own = [one for one in self.sessions.values() if one.study == study]
        results = [
            {
                "id": one.id,
                "participant_id": one.participant,
                "status": one.status,
                "started_at": one.started_at,
                "completed_at": None,
                "study_code": one.code,
            }
            for one in own[(page - 1) * size : page * size]
        ]
        return self._told({"results": results}, {"results": [shapes.SUBMISSION_IN_LIST]})

    def _session(self, reference: str) -> Session:
        if reference not in self.sessions:
            raise Refused(404, "There is no such submission.")
        return self.sessions[reference]

    def _submission(self, reference: str, body: Any, query: Any) -> tuple[int, Any]:
        one = self._session(reference)
        told = {
            "id": one.id,
            "participant": one.participant,
            "study_id": one.study,
            "status": one.status,
            "started_at": one.started_at,
            "completed_at": None,
            "entered_code": one.code,
            "bonus_payments": list(one.bonuses),
        }
        return self._told(told, shapes.SUBMISSION)

    def _transition_submission(self, reference: str, body: Any, query: Any) -> tuple[int, Any]:
        self._check(body, shapes.TRANSITION_SUBMISSION)
        one, action = self._session(reference), body["action"]
        wanted = {"APPROVE": "APPROVED", "REJECT": "REJECTED"}.get(action)
        if wanted is None:
            raise Refused(400, "The simulator completes by code only.")
        if action == "REJECT" and (
            len(body.get("message", "")) < shapes.MIN_REJECTION_LENGTH
            or "rejection_category" not in body
        ):
            raise Refused(400, "A rejection needs a category and a message of 100 characters.")
        if one.status not in ("AWAITING REVIEW", wanted):
            raise Refused(400, f"It is {one.status}.")
        one.status = wanted
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
        self.prepared[bonuses] = [(one, Decimal(amount)) for one, amount in rows]
        amount = float(100 * sum(paid for _, paid in self.prepared[bonuses]))
        told = {
            "id": bonuses,
            "study": body["study_id"],
            "amount": amount,
            "fees": 0.0,
            "vat": 0.0,
            "total_amount": amount,
        }
        return self._told(told, shapes.BONUSES, 201)

    def _pay_bonuses(self, bonuses: str, body: Any, query: Any) -> tuple[int, Any]:
        self._check(body, shapes.PAY_BONUSES)
        if bonuses not in self.prepared:
            raise Refused(404, "There are no such bonuses.")
        # As the real one: asked twice it pays twice.
        for reference, amount in self.prepared[bonuses]:
            self.sessions[reference].bonuses.append(int(amount * 100))
        return 202, f"Bulk bonus payment with ID {bonuses} is being processed asynchronously."
