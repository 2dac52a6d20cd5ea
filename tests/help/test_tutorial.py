"""Every command of the tutorial runs, in its order, and ends with a table."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from da_platform.help import pages
from tests.subprocesses import CHECKOUT, TIMEOUT_SECONDS, environment

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def script() -> str:
    """All commands of the page as one script that stops at the first failure and prints each command."""
    parts = ["set -eux -o pipefail"]
    for language, code in BLOCK.findall(pages.read_markdown("tutorial")):
        assert language in ("bash", "python"), f"an unknown kind of block: {language!r}"
        parts.append(code if language == "bash" else f".venv/bin/python - <<'END'\n{code}END")
    return "\n".join(parts)


@pytest.mark.slow
def test_every_command_of_the_tutorial_runs(tmp_path: Path):
    for name in ("examples", "manage.py"):
        (tmp_path / name).symlink_to(CHECKOUT / name)
    (tmp_path / ".venv").symlink_to(Path(sys.prefix))
    process = subprocess.run(
        ["bash", "-c", script()],
        cwd=tmp_path,
        env=environment(PYTHONPATH=str(CHECKOUT)),
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
