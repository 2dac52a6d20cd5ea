"""`make lint` looks for secrets, and would find one."""

import shutil
import subprocess
import sys
from pathlib import Path

from tests.subprocesses import CHECKOUT, environment

HOOK = Path(sys.executable).with_name("detect-secrets-hook")


def scan(path: Path) -> subprocess.CompletedProcess[str]:
    # A copy: the checkout's own may have been brought up to date by a lint just now.
    baseline = shutil.copy(CHECKOUT / ".secrets.baseline", path.parent)
    command = [str(HOOK), "--baseline", str(baseline), str(path)]
    return subprocess.run(
        command, cwd=CHECKOUT, env=environment(), capture_output=True, text=True, timeout=60
    )


def test_it_runs_with_make_lint():
    recipe = (CHECKOUT / "Makefile").read_text().partition("\nlint:")[2].partition("\n\n")[0]
    assert "detect-secrets-hook --baseline .secrets.baseline" in recipe and "bandit" in recipe


def test_a_planted_secret_is_found(tmp_path: Path):
    planted = tmp_path / "planted.py"
    # In two halves, so that this file has none.
    planted.write_text(f'key = "AKIA{"IOSFODNN7" + "EXAMPLQ"}"\n')
    found = scan(planted)
    assert found.returncode == 1 and "AWS Access Key" in found.stdout
    harmless = tmp_path / "harmless.py"
    harmless.write_text('greeting = "good morning"\n')
    assert scan(harmless).returncode == 0
