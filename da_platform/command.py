"""The command `da`: the platform without a checkout, and the commands of `manage.py` under short names.

    da run                     serve the platform with its examples
    da rate a.txt b.txt --source src.txt --reference ref.txt --from de --to en
                               create a campaign from text files and serve it
    da status                  and so on; any command of manage.py works too

The modules that need Django are imported when the settings are known.
"""

import os
import socket
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from .places import DEFAULT_DATA_DIR, env_file
from .serve import PREPARE_ONLY
from .served import port_in_use

# Short names of commands of `manage.py`.
COMMANDS = {
    "rate": "rate_files",
    "import": "import_campaign",
    "status": "campaign_status",
    "simulate": "simulate_workers",
    "gold": "build_gold",
    "evaluate": "evaluate",
    "export": "export",
    "examples": "copy_examples",
}
# These then serve what they made.
SERVED = ("run", "rate")
USAGE = """\
usage: da COMMAND [--data DIR] ...

  da run        serve the platform with its examples, and print what to open
  da rate       create a campaign from text files, serve it and print the worker's link
  da import     create a campaign from files of many formats
  da status     show the state of campaigns
  da simulate   let simulated workers rate
  da gold       compute the gold of a campaign
  da evaluate   evaluate metrics against gold
  da export     write ratings, evidence, gold or the ranking to a file
  da examples   copy the example files of the tutorial into a folder

  --data DIR    where everything is kept (default: $DA_DATA_DIR, or {folder})

Each has --help. All commands of Django work too, such as da changepassword.
"""
MAX_PORT = 65_535
# Without one of these the platform would refuse to start.
ENOUGH_TO_START = ("DA_DEBUG", "DA_SECRET_KEY", "DA_SECRET_KEY_FILE", "DA_ENV_FILE")


def main(arguments: Sequence[str] | None = None) -> None:
    common = ArgumentParser(add_help=False, allow_abbrev=False)
    common.add_argument("--data", type=Path)
    # From `da_platform.serve`, which serves what is prepared here.
    common.add_argument(PREPARE_ONLY, action="store_true")
    chosen, rest = common.parse_known_args(arguments)
    if chosen.data:
        os.environ["DA_DATA_DIR"] = str(chosen.data.expanduser().resolve())
    if chosen.prepare_only:
        _call(rest[0], rest[1:])
    else:
        _run(*rest)


def _run(name: str = "help", *arguments: str) -> None:
    if name in ("help", "-h", "--help"):
        print(USAGE.format(folder=DEFAULT_DATA_DIR), end="")
        return
    _use_for_development()
    if name not in SERVED or {"-h", "--help"} & set(arguments):
        _call(name, arguments)
        return
    port, running = _port(arguments), port_in_use()
    if name == "rate" and running:
        # The platform that serves these data shows the new campaign, too.
        _call(name, [*arguments, "--port", str(running)])
        return
    if not _is_free(port):
        sys.exit(f"Port {port} is in use. Stop what runs there or choose another: --port 8001")
    command = ["-m", "da_platform.serve", "--port", str(port), name, *arguments]
    os.execv(sys.executable, [sys.executable, *command])


def _port(arguments: Sequence[str]) -> int:
    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--port", default="8000", nargs="?")
    text = parser.parse_known_args(arguments)[0].port or ""
    if not (text.isdecimal() and 0 < int(text) <= MAX_PORT):
        sys.exit(
            f'"{text}" is not a port. Choose a number between 1024 and {MAX_PORT}: --port 8001'
        )
    return int(text)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As the server does it, which may follow another at once.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except PermissionError:
            sys.exit(f"Only an administrator may use port {port}. Choose another: --port 8001")
        except OSError:
            return False
    return True


def _use_for_development() -> None:
    """Write an environment file for a platform on one's own machine, unless there are any settings."""
    path = env_file()
    if path.exists() or any(name in os.environ for name in ENOUGH_TO_START):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    text = (
        "# Written by `da`: development on your own machine. See docs/environment.md.\nDA_DEBUG=1\n"
    )
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(text)


def _call(name: str, arguments: Sequence[str]) -> None:
    """Run a command of `manage.py`, with the short name in its help."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "da_platform.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import ManagementUtility
    from django.urls import set_urlconf

    long_name = {"run": "prepare_demo", **COMMANDS}.get(name, name)
    utility = ManagementUtility(["da", long_name, *arguments])
    try:
        if name not in COMMANDS and name != "run":
            utility.execute()
            return
        import django

        django.setup()
        # The links are all in here; loading the others would double the time to start.
        set_urlconf("hits.urls")
        if not {"-h", "--help"} & set(arguments):
            from .operation.migrating import migrate_if_needed

            migrate_if_needed()
        utility.fetch_command(long_name).run_from_argv(["da", name, *arguments])
    except ImproperlyConfigured as error:
        # The message says what to change; a traceback would only hide it.
        sys.exit(f"The platform cannot start: {error}")


if __name__ == "__main__":
    main()
