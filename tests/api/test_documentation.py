"""docs/api.md names every address that there is, and none that is not."""

import re

from da_platform.api import api
from tests.subprocesses import CHECKOUT

ROOT, CAMPAIGN = "/api/v1", "/api/v1/campaigns/{code}"


def table() -> str:
    text = (CHECKOUT / "docs/api.md").read_text()
    return text.partition("| about | addresses |")[2].partition("\n\n")[0]


def named(cell: str) -> set[str]:
    """The addresses in a cell, whole; those after `and below it` continue the one before it."""
    found = set()
    for part in cell.split(";"):
        plain, _, below = part.partition(" and below it ")
        whole = [_whole(address) for address in re.findall(r"`([^`]+)`", plain)]
        found |= set(whole) | {f"{whole[-1]}/{end}" for end in re.findall(r"`([^`]+)`", below)}
    return found


def _whole(address: str) -> str:
    return ROOT + address if address.startswith("/") else f"{CAMPAIGN}/{address}"


def test_the_documentation_names_every_address_and_no_other():
    documented = set().union(*(named(row) for row in table().splitlines() if "`" in row))
    assert documented == api.get_openapi_schema()["paths"].keys()
