"""A process that pays and can be killed at any step. Not a test itself.

It reads orders from standard input (one JSON object per line), runs each in a child process, and prints the child's
exit code. A step is a point where a crash can matter: before and after each database write, and before and after each
request to a provider. The child kills itself there with SIGKILL, so no cleanup code runs.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

import botocore.httpsession
import django
import httpx

WRITES = ("INSERT", "UPDATE", "DELETE")


class Steps:
    """Count steps and kill the process at one of them."""

    def __init__(self, kill_at: int | None) -> None:
        self.kill_at = kill_at
        self.n = 0

    def step(self) -> None:
        self.n += 1
        if self.n == self.kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            self.step()
            result = function(*args, **kwargs)
            self.step()
            return result

        return wrapper

    def around_write(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if not sql.lstrip().upper().startswith(WRITES):
            return execute(sql, params, many, context)
        return self.around(execute)(sql, params, many, context)


def pay(database: str, run: str, kill_at: int | None) -> None:
    from django.db import connection

    from hits.models import PaymentRun
    from hits.payments.sending import pay_run

    connection.settings_dict["NAME"] = database
    steps = Steps(kill_at)
    session = botocore.httpsession.URLLib3Session
    session.send = steps.around(session.send)  # type: ignore[method-assign]
    httpx.request = steps.around(httpx.request)
    with connection.execute_wrapper(steps.around_write):
        pay_run(run=PaymentRun.objects.get(code=run))


def main() -> None:
    django.setup()
    # Import once here, so that the children only have to pay.
    import boto3

    import hits.job_kinds  # noqa: F401
    import hits.recruiting.providers.mturk
    import hits.recruiting.providers.prolific  # noqa: F401

    # Caches the service description in memory for all children.
    boto3.client("mturk", region_name="us-east-1")
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            try:
                pay(**json.loads(line))
            except BaseException as error:
                print(repr(error), file=sys.stderr, flush=True)
                os._exit(1)
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
