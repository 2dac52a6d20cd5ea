"""The arguments of an import job that avoid the problems of a refused one."""

from collections.abc import Sequence
from typing import Any

from da_platform.files.problems import Fix
from da_platform.jobs.models import Job


def mended_import(job: Job, fixes: Sequence[Fix]) -> dict[str, Any]:
    arguments = dict(job.arguments)
    ignored = list(arguments.get("ignore_columns", []))
    for fix in fixes:
        if fix.option == "ignore_columns":
            ignored += fix.values
        else:
            arguments[fix.option] = True
    return arguments | ({"ignore_columns": ignored} if ignored else {})
