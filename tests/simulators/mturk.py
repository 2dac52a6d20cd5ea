"""A local simulator of Mechanical Turk: the operations we use, in its JSON 1.1 protocol, with a record of payments.

Requests are validated against botocore's service model, as in the real service. boto3 uses the same model to check
requests and read answers.
"""

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from http.server import BaseHTTPRequestHandler
from typing import Any

import botocore.session
from botocore.model import ServiceModel
from botocore.validate import ParamValidator

from tests.simulators.serving import serving

TARGET = "MTurkRequesterServiceV20170117."
PAGE_SIZE = 2


class Refused(Exception):
    """Answered with a RequestError."""


@dataclass
class TurkAssignment:
    assignment_id: str
    worker_id: str
    hit_id: str
    reward: Decimal
    status: str = "Submitted"
    feedback: str = ""
    submitted_at: float = field(default_factory=time.time)

    def as_json(self) -> dict[str, Any]:
        return {
            "AssignmentId": self.assignment_id,
            "WorkerId": self.worker_id,
            "HITId": self.hit_id,
            "AssignmentStatus": self.status,
            "AcceptTime": self.submitted_at - 60,
            "SubmitTime": self.submitted_at,
        }


@dataclass
class MTurk:
    """The state of the service, and the payments from the requester's account."""

    assignments: dict[str, TurkAssignment] = field(default_factory=dict)
    bonuses: list[dict[str, Any]] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)
    # How often each payment was made, by worker, reason and amount.
    payments: Counter[tuple[str, str, Decimal]] = field(default_factory=Counter)
    calls: list[str] = field(default_factory=list)
    # What happens to the next calls of an operation: refuse, lose_request or lose_answer.
    mishaps: dict[str, list[str]] = field(default_factory=dict)
    endpoint: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def submit(
        self, assignment_id: str, worker_id: str, *, hit_id: str = "H1", reward: str = "1.50"
    ) -> None:
        self.assignments[assignment_id] = TurkAssignment(
            assignment_id, worker_id, hit_id, Decimal(reward)
        )

    def money_of(self, worker_id: str) -> Decimal:
        return sum(
            (amount * n for (who, _, amount), n in self.payments.items() if who == worker_id),
            Decimal(0),
        )

    def act(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        operations = {
            "ApproveAssignment": self._approve,
            "RejectAssignment": self._reject,
            "GetAssignment": self._get,
            "ListAssignmentsForHIT": self._list,
            "SendBonus": self._send_bonus,
            "ListBonusPayments": self._list_bonuses,
        }
        with self.lock:
            self.calls.append(operation)
            return operations[operation](request)

    def _assignment(self, request: dict[str, Any]) -> TurkAssignment:
        try:
            return self.assignments[request["AssignmentId"]]
        except KeyError:
            raise Refused(f"Assignment {request['AssignmentId']} does not exist.") from None

    def _approve(self, request: dict[str, Any]) -> dict[str, Any]:
        assignment = self._assignment(request)
        allowed = {"Submitted"} | ({"Rejected"} if request.get("OverrideRejection") else set())
        if assignment.status not in allowed:
            raise Refused("This operation can be called with a status of: Submitted")
        assignment.status = "Approved"
        self.payments[assignment.worker_id, "reward", assignment.reward] += 1
        return {}

    def _reject(self, request: dict[str, Any]) -> dict[str, Any]:
        assignment = self._assignment(request)
        if assignment.status != "Submitted":
            raise Refused("This operation can be called with a status of: Submitted")
        assignment.status, assignment.feedback = "Rejected", request["RequesterFeedback"]
        return {}

    def _get(self, request: dict[str, Any]) -> dict[str, Any]:
        return {"Assignment": self._assignment(request).as_json()}

    def _list(self, request: dict[str, Any]) -> dict[str, Any]:
        rows = [
            assignment
            for assignment in self.assignments.values()
            if assignment.hit_id == request["HITId"]
        ]
        first = int(request.get("NextToken") or 0)
        page = rows[first : first + PAGE_SIZE]
        more = {"NextToken": str(first + PAGE_SIZE)} if first + PAGE_SIZE < len(rows) else {}
        return {
            "NumResults": len(page),
            "Assignments": [assignment.as_json() for assignment in page],
            **more,
        }

    def _send_bonus(self, request: dict[str, Any]) -> dict[str, Any]:
        assignment = self._assignment(request)
        if assignment.worker_id != request["WorkerId"]:
            raise Refused("The worker has not done this assignment.")
        if token := request.get("UniqueRequestToken"):
            if token in self.tokens:
                raise Refused("A bonus with this UniqueRequestToken has been paid already.")
            self.tokens.add(token)
        amount = Decimal(request["BonusAmount"])
        self.bonuses.append({**request, "GrantTime": time.time()})
        self.payments[assignment.worker_id, request["Reason"], amount] += 1
        return {}

    def _list_bonuses(self, request: dict[str, Any]) -> dict[str, Any]:
        names = ("WorkerId", "AssignmentId", "BonusAmount", "Reason", "GrantTime")
        rows = [
            {name: bonus[name] for name in names}
            for bonus in self.bonuses
            if bonus["AssignmentId"] == request["AssignmentId"]
        ]
        return {"NumResults": len(rows), "BonusPayments": rows}


def _handler(service: MTurk, model: ServiceModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            operation = self.headers["X-Amz-Target"].removeprefix(TARGET)
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            mishap = self._mishap(operation)
            if mishap == "lose_request":
                return self._hang_up()
            try:
                if mishap == "refuse":
                    raise Refused("Your account has no funds for this.")
                self._check(operation, request)
                answer, status = service.act(operation, request), 200
            except Refused as refusal:
                answer, status = {"__type": "RequestError", "Message": str(refusal)}, 400
            if mishap == "lose_answer":
                return self._hang_up()
            self._answer(answer, status)

        def _mishap(self, operation: str) -> str:
            waiting = service.mishaps.get(operation, [])
            return waiting.pop(0) if waiting else ""

        def _check(self, operation: str, request: dict[str, Any]) -> None:
            if not self.headers.get("Authorization", "").startswith("AWS4-HMAC-SHA256 "):
                raise Refused("The request is not signed.")
            shape = model.operation_model(operation).input_shape
            report = ParamValidator().validate(request, shape)
            if report.has_errors():
                raise Refused(report.generate_report())

        def _hang_up(self) -> None:
            self.close_connection = True
            self.connection.close()

        def _answer(self, answer: dict[str, Any], status: int) -> None:
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/x-amz-json-1.1")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Log nothing."""

    return Handler


@contextmanager
def running_mturk() -> Iterator[MTurk]:
    service = MTurk()
    model = ServiceModel(botocore.session.get_session().get_service_data("mturk"))
    with serving(_handler(service, model)) as service.endpoint:
        yield service
