"""The commands of the tutorial as a script."""

import re

from da_platform.help import pages

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What the tutorial defines for a checkout.
DEFINITION = "da() {"


def tutorial_script(*, python: str = "", until: str = "") -> str:
    """All commands of the page, or those before a heading, as one script that stops at the first failure.

    Without `python`, the command `da` is an installed one, and blocks of Python are left out.
    """
    parts = ["set -eux -o pipefail"]
    text = pages.read_markdown("tutorial")
    if until:
        text, heading, _ = text.partition(f"\n## {until}")
        assert heading
    for language, code in BLOCK.findall(text):
        assert language in ("bash", "python"), f"an unknown kind of block: {language!r}"
        if language == "bash" and (python or not code.startswith(DEFINITION)):
            parts.append(code)
        elif language == "python" and python:
            parts.append(f"{python} - <<'END'\n{code}END")
    return "\n".join(parts)
