"""Put several campaigns or language pairs together into one test set."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ._groups import factorise
from ._validation import Floats, Ints, Keys, as_keys, as_numbers, as_roles, check_same_length
from .signature import signature


@dataclass(frozen=True, slots=True)
class Ratings:
    """The ratings of one campaign, one row each; all columns run in parallel."""

    scores: ArrayLike
    workers: ArrayLike
    translations: ArrayLike
    roles: ArrayLike


@dataclass(frozen=True, slots=True)
class KeysByCampaign:
    """Keys numbered anew, so that equal keys of different campaigns differ.

    `codes` are the new keys row by row; `campaigns[code]` and `labels[code]` tell where a new key
    comes from and what it was there.
    """

    codes: Ints
    campaigns: Keys
    labels: Keys


@dataclass(frozen=True, slots=True)
class CombinedRatings:
    """Ratings of several campaigns one after the other, in the order the campaigns were given."""

    scores: Floats
    roles: Keys
    campaigns: Keys
    workers: KeysByCampaign
    translations: KeysByCampaign
    signature: str


def combine_keys(parts: Mapping[str, ArrayLike]) -> KeysByCampaign:
    """Concatenate one column of several campaigns and keep equal keys of different ones apart.

    Parameters
    ----------
    parts : mapping of str to array_like
        The column of each campaign, by the campaign's name.

    Returns
    -------
    KeysByCampaign
        Integer keys, campaign by campaign. Where one campaign has integer keys and another strings,
        the labels become strings.
    """
    codes, campaigns, labels, so_far = [], [], [], 0
    for campaign, column in parts.items():
        own_labels, own_codes = factorise(as_keys(campaign, column))
        codes.append(own_codes + so_far)
        campaigns.append(np.full(len(own_labels), campaign))
        labels.append(own_labels)
        so_far += len(own_labels)
    if not codes:
        raise ValueError("`parts` must hold at least one campaign.")
    if len({part.dtype.kind in "US" for part in labels}) > 1:
        labels = [part.astype(np.str_) for part in labels]
    return KeysByCampaign(np.concatenate(codes), np.concatenate(campaigns), np.concatenate(labels))


def combine_ratings(campaigns: Mapping[str, Ratings]) -> CombinedRatings:
    """Combine campaigns into one set of ratings that every other function here can take.

    A z-score is a matter of one worker in one campaign: the same person judging another language
    pair, or months later, uses another scale. So a worker of two campaigns counts as two workers,
    and standardising the combined ratings gives the same z-scores as standardising each campaign by
    itself. Translations are kept apart in the same way, whatever their keys.

    Parameters
    ----------
    campaigns : mapping of str to Ratings
        By name; the order is kept.

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
