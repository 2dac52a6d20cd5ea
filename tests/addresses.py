"""Every address of the platform, read from the URL configuration."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

from da_platform.api import api

# The rules of Django's own views. Its admin site requires is_staff, which only superusers have.
DJANGO_RULES = {
    "login": "anyone",
    "logout": "logged in",
    "password_change": "logged in",
    "password_change_done": "logged in",
    "password_reset": "anyone",
    "password_reset_done": "anyone",
    "password_reset_confirm": "anyone",
    "password_reset_complete": "anyone",
}
DJANGO_ADMIN = "admin:"


@dataclass(frozen=True)
class Address:
    """A URL pattern: its name, who may open it, and its parameters with their converters."""

    name: str
    rule: str
    parameters: tuple[tuple[str, Any], ...]

    @property
    def is_of_a_campaign(self) -> bool:
        return self.rule.startswith("campaign_")


def addresses() -> list[Address]:
    result = []
    for name, pattern in walk(get_resolver().url_patterns):
        if name.startswith(DJANGO_ADMIN):
            continue
        rule = getattr(pattern.callback, "access_rule", DJANGO_RULES.get(name))
        result.append(Address(name, rule, tuple(pattern.pattern.converters.items())))
    return result


def walk(patterns: list[Any], prefix: str = "") -> Iterator[tuple[str, URLPattern]]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            space = f"{prefix}{pattern.namespace}:" if pattern.namespace else prefix
            yield from walk(pattern.url_patterns, space)
        else:
            yield f"{prefix}{pattern.name}", pattern


@cache
def api_schema() -> dict[str, Any]:
    """The OpenAPI schema as its readers get it; it takes half a second to make."""
    schema: dict[str, Any] = json.loads(json.dumps(api.get_openapi_schema()))
    return schema
