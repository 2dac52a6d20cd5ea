"""The ways in, one module each. A campaign's `Recruitment` names its provider."""

from typing import TYPE_CHECKING

from django.utils.module_loading import import_string

if TYPE_CHECKING:
    from ..models import Recruitment
    from .base import Provider

# By path: a page that needs one of them does not load the others.
PROVIDERS = {
    "link": "hits.providers.link.LinkProvider",
    "prolific": "hits.providers.prolific.ProlificProvider",
    "panel": "hits.providers.panel.PanelProvider",
    "mturk": "hits.providers.mturk.MTurkProvider",
}


def provider_class(name: str) -> "type[Provider]":
    found: type[Provider] = import_string(PROVIDERS[name])
    return found


def provider_for(recruitment: "Recruitment") -> "Provider":
    return provider_class(recruitment.provider)(recruitment)
