"""The variables that the platform reads, out of the code that reads them and the words of .env.example.

The code knows each variable's type and default; the example file says what it is for. Put together they
are docs/environment.md, and where one of them lacks what the other has, that is an error.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

EXAMPLE = ".env.example"
READERS = ("da_platform/settings.py", "da_platform/celery.py", "gunicorn.conf.py")
# For tests and tools, not for those who run the platform.
NOT_TOLD = {"DA_ENV_FILE", "DJANGO_SETTINGS_MODULE"}

_KINDS = {
    "flag": "1 or 0",
    "whole_number": "whole number",
    "one_of": "word",
    "named_secrets": "secret: name=secret, comma-separated",  # pragma: allowlist secret
    "secret": "secret",  # pragma: allowlist secret
    "list": "list, comma-separated",
    "str": "text",
    "get": "text",
}


@dataclass(frozen=True, slots=True)
class Variable:
    name: str
    kind: str
    default: str


@dataclass(frozen=True, slots=True)
class Description:
    words: str
    example: str


def variables() -> dict[str, Variable]:
    """Find every variable that the code reads, by name."""
    found: dict[str, Variable] = {}
    for path in READERS:
        tree = ast.parse((Path(settings.BASE_DIR) / path).read_text(encoding="utf-8"))
        for variable in _read_in(tree):
            found.setdefault(variable.name, variable)
    return {name: found[name] for name in found if name not in NOT_TOLD}


def _read_in(tree: ast.Module) -> Iterator[Variable]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (name := _variable_name(node)):
            called = ast.unparse(node.func).rpartition(".")[2]
            yield Variable(name, _KINDS.get(called, "text"), _default(node))
        # `if "NAME" not in os.environ`
        if isinstance(node, ast.Compare) and "os.environ" in ast.unparse(node):
            yield Variable(ast.literal_eval(node.left), "text", "")


def _variable_name(node: ast.Call) -> str | None:
    called = ast.unparse(node.func)
    is_reader = called in _KINDS or called.startswith(("env.", "os.environ.get"))
    if not (is_reader and node.args and isinstance(node.args[0], ast.Constant)):
        return None
    name = node.args[0].value
    return name if isinstance(name, str) and re.fullmatch(r"[A-Z][A-Z0-9_]+", name) else None


def _default(node: ast.Call) -> str:
    given = [keyword.value for keyword in node.keywords if keyword.arg == "default"]
    given += node.args[1:2] if not given and len(node.args) > 1 else []
    if not given or not isinstance(given[0], ast.Constant):
        return ""
    value = given[0].value
    return str(int(value)) if isinstance(value, bool) else str(value)


def descriptions() -> dict[str, Description]:
    """Read .env.example: the comment above a variable, or above the group it stands in, is its words."""
    text = (Path(settings.BASE_DIR) / EXAMPLE).read_text(encoding="utf-8")
    found: dict[str, Description] = {}
    words: list[str] = []
    was_variable = False
    for line in text.splitlines():
        if match := re.fullmatch(r"#?([A-Z][A-Z0-9_]+)=(.*)", line):
            found[match[1]] = Description(" ".join(words), match[2])
            was_variable = True
        elif line.startswith("# "):
            words = [] if was_variable else words
            words.append(line[2:].strip())
            was_variable = False
        else:
            words, was_variable = [], False
    return found


def undescribed() -> set[str]:
    return variables().keys() - descriptions().keys()


def unread() -> set[str]:
    return descriptions().keys() - variables().keys()


def as_markdown() -> str:
    """The reference page, in the order of the example file."""
    read, described = variables(), descriptions()
    lines = [
        "# Environment",
        "",
        "Made by `manage.py describe_environment` from `.env.example` and the settings; do not edit.",
        "Set these in the process environment or in a file `.env` beside `manage.py`; the former wins.",
        "An unknown value of a variable is refused at the start, by name. A *secret* may be in a file instead, as vaults,",
        "systemd (`LoadCredential=`) and containers hand them out: `NAME_FILE` is then the path of the file.",
        "",
        "| variable | value | default | what it is for |",
        "|---|---|---|---|",
    ]
    for name, description in described.items():
        if name in read:
            default = f"`{read[name].default}`" if read[name].default else ""
            words = " ".join(description.words.split()).replace("|", "\\|")
            lines.append(f"| `{name}` | {read[name].kind} | {default} | {words} |")
    return "\n".join(lines) + "\n"
