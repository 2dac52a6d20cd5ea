"""The command `da`: short names, where data are kept, and campaigns from text files."""

import io
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from analysis.exporting import ExportRefused, export
from da_platform import command, extras, served
from hits.models import Campaign
from tests.factories import make_campaign
from tests.subprocesses import CHECKOUT, environment

EXAMPLE = CHECKOUT / "examples" / "demo-de-en" / "campaign"


def da(*arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "da_platform.command", *arguments],
        cwd=CHECKOUT,
        env=environment(**variables),
        capture_output=True,
        text=True,
    )


def test_the_overview_names_every_short_command():
    text = da("--help").stdout
    assert all(f"  da {name} " in text for name in ("run", *command.COMMANDS))


def test_a_short_name_has_the_help_of_its_command(tmp_path):
    text = da("import", "--help", DA_DEBUG="1", DA_DATA_DIR=str(tmp_path)).stdout
    assert text.startswith("usage: da import")
    assert "Create a campaign from a folder or file of sources" in text
    assert "\n    da import newstest/ --name" in text and "manage.py" not in text


def test_everything_is_kept_where_the_option_says(tmp_path):
    process = da("status", "--data", str(tmp_path / "here"), DA_DEBUG="1")
    assert "There are no campaigns yet" in process.stdout, process.stderr
    assert (tmp_path / "here" / "db.sqlite3").exists()


def test_a_first_start_needs_no_settings_and_later_ones_do_not_change_them(tmp_path, monkeypatch):
    for name in command.ENOUGH_TO_START:
        monkeypatch.delenv(name, raising=False)
    file = tmp_path / "new" / ".env"
    monkeypatch.setattr(command, "env_file", lambda: file)
    command._use_for_development()
    assert "DA_DEBUG=1" in file.read_text() and file.stat().st_mode & 0o777 == 0o600
    file.write_text("DA_DEBUG=0\n")
    command._use_for_development()
    assert file.read_text() == "DA_DEBUG=0\n"


@pytest.mark.parametrize("port", ["70000", "0", "-5", "eight", ""])
def test_what_is_not_a_port_is_refused_in_one_sentence(port):
    with pytest.raises(SystemExit) as refused:
        command.main(["run", "--port", port])
    assert str(refused.value).startswith(f'"{port}" is not a port. Choose a number between')


def test_a_port_that_only_root_may_use_is_refused(monkeypatch):
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr("socket.socket.bind", refuse)
    with pytest.raises(SystemExit, match="Only an administrator may use port 80"):
        command.main(["run", "--port", "80"])


FILES = [str(EXAMPLE / "systems" / f"{name}.txt") for name in ("alder", "birch")]
RATE = ["rate", *FILES, f"--source={EXAMPLE}/sources.txt", "--from", "de", "--to", "en"]


def test_a_campaign_made_while_the_platform_runs_has_a_link_to_where_it_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("DA_DATA_DIR", str(tmp_path))
    lock = served.note_port(8123)
    assert lock and served.note_port(9000) is None and served.port_in_use() == 8123
    process = da(*RATE, "--data", str(tmp_path), DA_DEBUG="1")
    assert "http://127.0.0.1:8123/" in process.stdout, process.stderr
    lock.close()
    assert served.port_in_use() is None


def test_no_campaign_is_made_where_another_program_uses_the_port(tmp_path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        process = da(*RATE, "--port", str(port), "--data", str(tmp_path), DA_DEBUG="1")
    assert process.returncode == 1 and f"Port {port} is in use" in process.stderr
    assert not (tmp_path / "db.sqlite3").exists()


def test_an_installation_keeps_its_data_in_the_users_folder(tmp_path):
    packages = tmp_path / "site-packages" / "da_platform"
    (packages / "shipped").mkdir(parents=True)
    (packages / "places.py").write_bytes((CHECKOUT / "da_platform" / "places.py").read_bytes())
    code = "from places import *; print(DEFAULT_DATA_DIR, SHIPPED_DIR, env_file(), sep='\\n')"
    homes = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "xdg")}
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=packages, env=homes, capture_output=True, text=True
    )
    data, shipped, env_file = map(Path, process.stdout.split())
    if sys.platform == "linux":
        assert data == tmp_path / "xdg" / "da-platform"
    assert shipped == packages / "shipped" and env_file == data / ".env"
    assert tmp_path / "site-packages" not in data.parents


# Campaigns from text files -------------------------------------------------------------------


def rate(*arguments: str) -> None:
    systems = [str(EXAMPLE / "systems" / f"{name}.txt") for name in ("alder", "birch")]
    languages = ["--from", "de", "--to", "en"]
    call_command("rate_files", *systems, *languages, *arguments, stdout=io.StringIO())


@pytest.fixture
def debug(settings):
    settings.DEBUG = True


@pytest.mark.django_db
def test_text_files_become_a_campaign_that_anyone_with_the_link_can_join(debug):
    rate(f"--source={EXAMPLE}/sources.txt", f"--reference={EXAMPLE}/references.txt")
    campaign = Campaign.objects.get()
    assert (campaign.name, campaign.status) == ("alder, birch", Campaign.Status.OPEN)
    assert campaign.shows_references and campaign.hits.exists()
    assert Client().get(campaign.get_absolute_url()).status_code == 200
    # Without a reference workers see the source; the name is still free with a number.
    rate(f"--source={EXAMPLE}/sources.txt")
    second = Campaign.objects.get(name="alder, birch (2)")
    assert second.task == Campaign.Task.SOURCE_ADEQUACY


@pytest.mark.django_db
def test_files_that_do_not_match_leave_nothing_behind(debug, tmp_path):
    short = tmp_path / "short.txt"
    short.write_text("Ein Satz.\n")
    with pytest.raises(CommandError, match="short|lines"):
        rate(f"--source={short}")
    with pytest.raises(CommandError, match="none.txt cannot be read"):
        rate(f"--source={tmp_path}/none.txt")
    assert not Campaign.objects.exists()


@pytest.mark.django_db
def test_in_production_no_campaign_is_opened_to_everyone(settings):
    settings.DEBUG = False
    with pytest.raises(CommandError, match="DA_DEBUG=1"):
        rate(f"--source={EXAMPLE}/sources.txt")


# Extras --------------------------------------------------------------------------------------


def test_a_missing_package_is_reported_with_its_extra():
    with (
        pytest.raises(extras.ExtraMissing, match=r"pip install 'da-platform\[mturk\]'"),
        extras.needs_extra("mturk"),
    ):
        import no_such_package  # type: ignore[import-not-found]  # noqa: F401


@pytest.mark.django_db
def test_an_export_to_parquet_names_the_extra_that_is_missing(monkeypatch, tmp_path):
    monkeypatch.setattr("analysis.exporting.service.is_installed", lambda package: False)
    with pytest.raises(ExportRefused, match=r"da-platform\[pandas\]"):
        export(
            kind="ratings", campaign=make_campaign(), path=tmp_path / "r.parquet", format="parquet"
        )
