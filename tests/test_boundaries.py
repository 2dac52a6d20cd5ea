"""Imports point one way: da_platform <- hits <- analysis. Only analysis.stats may also be used by hits.

Imports inside functions count too.
"""

import ast
import re
import subprocess
import sys
from collections import defaultdict
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.subprocesses import output_of, run_python

ROOT = Path(__file__).parents[1]
APPS = ("da_platform", "hits", "analysis")
# These put the parts together: they may import everything, and nothing may import them.
COMPOSITION = {f"da_platform.{name}" for name in ("api", "api_reference", "urls", "wsgi")}
STATS = "analysis.stats"
# Numba is optional, and imported only when something is compiled.
ALLOWED_IN_STATS = {"numpy", "scipy", "numba", "da_platform"} | set(sys.stdlib_module_names)

IMPORT_ALL = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
print(*sorted(sys.modules))
"""

# Other packages are as if they were not installed.
REFUSE_OTHERS = """
from importlib.metadata import packages_distributions

OTHERS = packages_distributions().keys() - {"numpy", "scipy"}

class Refusal:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in OTHERS:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Refusal)
"""


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


MODULES = {
    module_name(path): path
    for app in APPS
    for path in sorted((ROOT / app).rglob("*.py"))
    if "migrations" not in path.parts
}


def imported_names(path: Path, name: str) -> list[str]:
    """The full names of everything a module imports, anywhere in the module."""
    names = []
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            # Either a submodule or a name in the module.
            names += [
                full if (full := f"{module}.{alias.name}") in MODULES else module
                for alias in node.names
            ]
    return names


@cache
def import_graph() -> dict[str, set[str]]:
    return {name: set(imported_names(path, name)) - {name} for name, path in MODULES.items()}


def is_in(name: str, package: str) -> bool:
    return f"{name}.".startswith(f"{package}.")


def wrong_directions(graph: dict[str, set[str]]) -> list[str]:
    return [
        f"{name} imports {imported}"
        for name, imports in graph.items()
        if name not in COMPOSITION
        for imported in imports
        if (app := imported.split(".")[0]) in APPS
        and (
            imported in COMPOSITION
            or (
                APPS.index(app) > APPS.index(name.split(".")[0])
                and not (is_in(name, "hits") and is_in(imported, STATS))
            )
        )
    ]


def package_of(module: str) -> str:
    """The package of a module; modules at the top of an app count as packages."""
    parts = module.split(".")
    is_package = MODULES[module].name == "__init__.py"
    return module if len(parts) + is_package <= 2 else ".".join(parts[:2])


def package_graph(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    packages: dict[str, set[str]] = defaultdict(set)
    for name, imports in graph.items():
        packages[package_of(name)] |= {package_of(other) for other in imports if other in MODULES}
    return {package: imports - {package} for package, imports in packages.items()}


def test_imports_point_one_way():
    assert wrong_directions(import_graph()) == []


def test_packages_do_not_import_each_other_in_a_circle():
    try:
        TopologicalSorter(package_graph(import_graph())).prepare()
    except CycleError as error:
        pytest.fail(f"A circle: {' -> '.join(error.args[1])}")


def test_a_wrong_direction_and_a_circle_are_noticed():
    graph = import_graph() | {
        "hits.models": {"analysis.gold.runs"},
        "hits.people": {"hits.views.jobs"},
    }
    assert wrong_directions(graph) == ["hits.models imports analysis.gold.runs"]
    with pytest.raises(CycleError):
        TopologicalSorter(package_graph(graph)).prepare()


# Where the project is put together by names, and names that only look like modules.
NAMES_OF_APPS = {
    "da_platform.settings",
    "da_platform.celery",
    "da_platform.command",
    "da_platform.operation.logs",
    "da_platform.files.pseudonyms",
    *COMPOSITION,
}
IN_AN_APP = re.compile(r"(hits|analysis)[.]\w+[\w.]*")


def names_in_strings(path: Path) -> list[str]:
    """Modules and models of the apps that a module names in strings, such as for `import_string`."""
    constants = (
        node.value
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    return [text for text in constants if IN_AN_APP.fullmatch(text)]


def test_the_ground_does_not_name_the_apps_in_strings_either():
    ground = {name: path for name, path in MODULES.items() if is_in(name, "da_platform")}
    named = {name: names for name, path in ground.items() if (names := names_in_strings(path))}
    assert named.keys() <= NAMES_OF_APPS, named
    assert "hits.Campaign" in named["da_platform.settings"]


def test_the_statistics_do_not_import_the_platform():
    stats = {name: imports for name, imports in import_graph().items() if is_in(name, STATS)}
    assert f"{STATS}.segments" in stats
    for name, imports in stats.items():
        foreign = {
            other
            for other in imports
            if not is_in(other, STATS)
            and (other.split(".")[0] not in ALLOWED_IN_STATS or other.startswith("da_platform."))
        }
        assert foreign == set(), name


def test_importing_the_statistics_does_not_load_django():
    names = [name for name in MODULES if is_in(name, STATS)]
    program = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{IMPORT_ALL}"
    process = subprocess.run(
        [sys.executable, "-I", "-c", program, *names],
        capture_output=True,
        text=True,
        check=True,
        env={},
    )
    loaded = process.stdout.split()
    assert set(names) <= set(loaded)
    assert not [name for name in loaded if name.split(".")[0] in ("django", "pandas", "hits")]


def test_the_statistics_need_only_numpy_and_scipy():
    names = [name for name in MODULES if is_in(name, STATS)]
    program = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{REFUSE_OTHERS}\n{IMPORT_ALL}"
    command = [sys.executable, "-I", "-c", program, *names]
    process = subprocess.run(command, capture_output=True, text=True, env={})
    assert process.returncode == 0, process.stderr
    refused = subprocess.run([*command, "django"], capture_output=True, text=True, env={})
    assert "No module named 'django'" in refused.stderr


def test_a_web_process_loads_heavy_packages_only_when_it_needs_them():
    """Each would add some 30 MB, and a quarter of a second to every start."""
    names = ("scipy.special", "scipy.sparse", "scipy.stats", "matplotlib", "pandas", "sacrebleu")
    program = "import sys, da_platform.wsgi; print(*sys.modules)"
    loaded = set(output_of(run_python("-c", program, DA_DEBUG="1")).split())
    assert "analysis.stats.systems" in loaded
    assert not loaded & {*names, "numba"}


def test_the_architecture_page_names_existing_code():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]*[?]) \| `([^`]+)` \| `([^`]+)` \|$", text, re.M)
    assert len(rows) == text.count("? |") >= 12
    assert len({question for question, _, _ in rows}) == len(rows)
    for question, file, symbol in rows:
        assert symbol in defined_names(ROOT / file), f"{question} {file} has no {symbol}"


# Parts of every Django app.
USUAL_FOLDERS = {"migrations", "static", "templatetags", "locale", "__pycache__"}


def test_the_architecture_page_draws_every_package_once():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    picture = text.partition("```\n")[2].partition("```")[0]
    for app in APPS:
        drawn = picture.partition(f"{app} ")[2].partition("^")[0]
        names = re.findall(r"(?:^|  )(\w+)/(?= )", drawn, re.M)
        folders = {path.name for path in (ROOT / app).iterdir() if path.is_dir()} - USUAL_FOLDERS
        assert sorted(names) == sorted(folders - {"stats"}), app


def defined_names(path: Path) -> set[str]:
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names
