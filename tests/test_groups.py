"""Tests that must not run beside each other, or share what is made once, are in groups of pytest-xdist."""

import pytest


@pytest.mark.xdist_group("groups")
def test_a_group_is_known_to_whoever_hands_out_the_tests(request: pytest.FixtureRequest):
    """A pytest that pytest-xdist does not know yet loses the groups without a word."""
    hands_out_groups = request.config.getoption("loadgroup", default=False)
    assert not hands_out_groups or request.node.nodeid.endswith("@groups")
