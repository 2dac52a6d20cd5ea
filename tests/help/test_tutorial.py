"""Every command of the tutorial runs, in its order, and ends with a table."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.help.tutorial import tutorial_script
from tests.subprocesses import CHECKOUT, TIMEOUT_SECONDS, environment


@pytest.mark.slow
def test_every_command_of_the_tutorial_runs(tmp_path: Path):
    (tmp_path / ".venv").symlink_to(Path(sys.prefix))
    process = subprocess.run(
        ["bash", "-c", tutorial_script(python=".venv/bin/python")],
        cwd=tmp_path,
        env=environment(PYTHONPATH=str(CHECKOUT), DA_DEBUG="1"),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
    )
    assert process.returncode == 0, process.stderr[-3000:]
    shown = process.stdout
    assert "5 HITs of 100 items" in shown
    assert "336 of 336 translations have the 15 ratings they need" in shown
    assert re.search(r"1 alder .*\n-+\n", shown)
    assert r"\begin{tabular}" in shown
    assert "bad_reference" in shown
    assert not (tmp_path / "tutorial").exists()
