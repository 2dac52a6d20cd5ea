"""Tests that share a slow fixture or must not run in parallel are in pytest-xdist groups."""

import pytest


@pytest.mark.xdist_group("groups")
def test_xdist_groups_are_respected(request: pytest.FixtureRequest):
    """pytest-xdist silently ignores groups with a version of pytest that it does not know."""
    uses_groups = request.config.getoption("loadgroup", default=False)
    assert not uses_groups or request.node.nodeid.endswith("@groups")
