"""The providers, one module each. A campaign's `Recruitment` names its provider."""

from typing import TYPE_CHECKING

from django.utils.module_loading import import_string

if TYPE_CHECKING:
    from ...models import Recruitment
    from .base import Provider

# As import paths, so that a page loads only the provider it needs.
PROVIDERS = {
    "link": "hits.recruiting.providers.link.LinkProvider",
    "prolific": "hits.recruiting.providers.prolific.ProlificProvider",
    "panel": "hits.recruiting.providers.panel.PanelProvider",
    "mturk": "hits.recruiting.providers.mturk.MTurkProvider",
}


def provider_class(name: str) -> "type[Provider]":
    provider: type[Provider] = import_string(PROVIDERS[name])
    return provider


def provider_for(recruitment: "Recruitment") -> "Provider":
    return provider_class(recruitment.provider)(recruitment)
