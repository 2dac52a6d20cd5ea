"""Kinds of jobs about collecting: thin, each around one service."""

from typing import Any

from analysis.jobs import job_kind
from analysis.models import Job
from analysis.reporting import Report

from .models import ApiToken, PaymentRun
from .payments.sending import pay_run


@job_kind("pay", needs_campaign=True, scope=ApiToken.Scope.PAY, is_confidential=True)
def pay_job(job: Job, report: Report) -> dict[str, Any]:
    """Send the payments of the run that the arguments name."""
    run = PaymentRun.objects.select_related("campaign__recruitment").get(
        code=job.arguments["run"], campaign=job.campaign
    )
    return pay_run(run=run, progress=report.progress)
