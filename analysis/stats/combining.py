"""Combine several campaigns or language pairs into one test set."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ._groups import factorise
from ._validation import Floats, Ints, Keys, as_keys, as_numbers, as_roles, check_same_length
from .signature import signature


@dataclass(frozen=True, slots=True)
class Ratings:
    """The ratings of one campaign, as parallel arrays with one element per rating."""

    scores: ArrayLike
    workers: ArrayLike
    translations: ArrayLike
    roles: ArrayLike


@dataclass(frozen=True, slots=True)
class KeysByCampaign:
    """Keys renumbered so that equal keys of different campaigns differ.

    `codes` has the new key of each row; `campaigns[code]` and `labels[code]` are its campaign and its
    original key.
    """

    codes: Ints
    campaigns: Keys
    labels: Keys


@dataclass(frozen=True, slots=True)
class CombinedRatings:
    """Concatenated ratings of several campaigns, in the order of the campaigns."""

    scores: Floats
    roles: Keys
    campaigns: Keys
    workers: KeysByCampaign
    translations: KeysByCampaign
    signature: str


def combine_keys(parts: Mapping[str, ArrayLike]) -> KeysByCampaign:
    """Concatenate a key column of several campaigns, keeping the campaigns' keys distinct.

    Parameters
    ----------
    parts : mapping of str to array_like
        The column of each campaign, by campaign name.

    Returns
    -------
    KeysByCampaign
        Integer keys, campaign by campaign. If some campaigns have integer keys and others strings,
        all labels become strings.
    """
    codes, campaigns, labels, n_labels = [], [], [], 0
    for campaign, column in parts.items():
        own_labels, own_codes = factorise(as_keys(campaign, column))
        codes.append(own_codes + n_labels)
        campaigns.append(np.full(len(own_labels), campaign))
        labels.append(own_labels)
        n_labels += len(own_labels)
    if not codes:
        raise ValueError("`parts` must hold at least one campaign.")
    if len({part.dtype.kind in "US" for part in labels}) > 1:
        labels = [part.astype(np.str_) for part in labels]
    return KeysByCampaign(np.concatenate(codes), np.concatenate(campaigns), np.concatenate(labels))


def combine_ratings(campaigns: Mapping[str, Ratings]) -> CombinedRatings:
    """Combine campaigns into one set of ratings for the other functions of this package.

    A worker may use the scale differently for another language pair, or months later. A worker of
    two campaigns therefore counts as two workers, and standardising the combined ratings gives the
    same z-scores as standardising each campaign. Translations are kept distinct in the same way.

    Parameters
    ----------
    campaigns : mapping of str to Ratings
        The ratings of each campaign, by campaign name.

    Returns
    -------
    CombinedRatings
        Use `workers.codes` and `translations.codes` as keys.
    """
    if not campaigns:
        raise ValueError("`campaigns` must hold at least one campaign.")
    scores = {name: as_numbers("scores", part.scores) for name, part in campaigns.items()}
    roles = {name: as_roles("roles", part.roles) for name, part in campaigns.items()}
    for name, part in campaigns.items():
        check_same_length(
            scores=scores[name],
            roles=roles[name],
            workers=as_keys("workers", part.workers),
            translations=as_keys("translations", part.translations),
        )
    return CombinedRatings(
        scores=np.concatenate(list(scores.values())),
        roles=np.concatenate(list(roles.values())),
        campaigns=np.repeat(list(scores), [len(part) for part in scores.values()]),
        workers=combine_keys({name: part.workers for name, part in campaigns.items()}),
        translations=combine_keys({name: part.translations for name, part in campaigns.items()}),
        signature=signature(campaigns=tuple(campaigns), std="worker-and-campaign"),
    )
