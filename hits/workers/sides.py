"""The sides of the evidence about a worker, and what each says under the campaign's rule.

Sides that decide speak for a worker or against. The others only advise; next to them stands how many trusted
workers of the campaign show the same.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.db.models import Max, QuerySet

from analysis.stats.ranking_control import stance_of_degraded, stance_of_kappa
from analysis.stats.thresholds import (
    AGAINST_P,
    AGREEMENT_P,
    ENOUGH_AGREEMENT_ITEMS,
    ENOUGH_PAIRS,
    RELIABLE_P,
)
from analysis.stats.timing import FAST_SECONDS, claims_too_much
from analysis.stats.trust_rules import Stance, stance_of_agreement, stance_of_pairs

from ..models import Campaign, Evidence, Participation
from ..task_kinds import TaskKind
from .wording import (
    NOT_EDITED,
    ORIGINS,
    agreement_in_words,
    claims_in_words,
    edits_in_words,
    is_of_ranking,
    kappa_in_words,
    likeness_in_words,
    pairs_in_words,
    references_in_words,
    repeats_in_words,
    run_in_words,
    skips_in_words,
    times_in_words,
    window_in_words,
)

Rule = Campaign.TrustRule
# A HIT of which more than this share was emptied, pasted or copied is held.
MOST_NOT_EDITED = 0.5
# Someone who changes more than this share of hidden references changes what is right.
MOST_REFERENCES_CHANGED = 0.5
# Someone who skips more than this share of the screens leaves the work to others.
MOST_SKIPPED = 1 / 3


class Weight(StrEnum):
    """What a side of the evidence can do under a rule."""

    DECIDES = "decides"
    # Impossible times keep a HIT from being counted until a person has looked at it.
    HOLDS = "holds"
    ADVISES = "advises"


_LABELS = {
    Stance.FOR: "Speaks for the worker",
    Stance.AGAINST: "Speaks against the worker",
    Stance.UNDECIDED: "Undecided",
    Stance.SILENT: "Too little to say",
}
_ADVICE_LABELS = {
    Stance.FOR: "Advice: no sign",
    Stance.AGAINST: "Advice: a sign",
    Stance.UNDECIDED: "Advice: undecided",
    Stance.SILENT: "Advice: too little to say",
}
_HOLD_LABELS = {
    Stance.FOR: "Can hold a HIT: no sign",
    Stance.AGAINST: "Can hold a HIT: a sign",
    Stance.SILENT: "Can hold a HIT: too little to say",
}
_BADGES = {Stance.FOR: "good", Stance.AGAINST: "bad", Stance.UNDECIDED: "warning"}


@dataclass(frozen=True, slots=True)
class Side:
    """One side of the evidence: what it is about, what it says, and whether that decides anything.

    `trusted` says how often trusted workers show the sign, if the side only advises.
    """

    name: str
    title: str
    weight: Weight
    stance: Stance
    text: str
    trusted: str = ""

    @property
    def label(self) -> str:
        if self.weight == Weight.DECIDES:
            return _LABELS[self.stance]
        labels = _HOLD_LABELS if self.weight == Weight.HOLDS else _ADVICE_LABELS
        return labels[self.stance]

    @property
    def badge(self) -> str:
        """The colour of the label. Advice is never red, and the absence of a sign is not praise."""
        if self.weight == Weight.DECIDES:
            return _BADGES.get(self.stance, "")
        return "warning" if self.stance == Stance.AGAINST else ""


@dataclass(frozen=True, slots=True)
class _Kind:
    """A side: its title, its sentence, its stance from the numbers, and the fields that this needs."""

    title: str
    text: Callable[[Evidence], str]
    stance: Callable[[Any], Stance]
    fields: tuple[str, ...]


def _sign(is_known: bool, has_sign: bool) -> Stance:
    if not is_known:
        return Stance.SILENT
    return Stance.AGAINST if has_sign else Stance.FOR


def _repeats(evidence: Any) -> Stance:
    p = evidence.repeat_p
    return _sign(p is not None, p is not None and p < RELIABLE_P)


def _times(evidence: Any) -> Stance:
    gap = evidence.median_gap_seconds
    is_fast = gap is not None and gap < FAST_SECONDS
    return _sign(gap is not None or evidence.n_held_hits > 0, is_fast or evidence.n_held_hits > 0)


def _claims(evidence: Any) -> Stance:
    claimed, passed = evidence.claimed_seconds, evidence.passed_seconds
    if claimed is None or passed is None:
        return Stance.SILENT
    return _sign(True, claims_too_much(claimed, passed))


def _kappa_with_others(evidence: Any) -> Stance:
    """Under the guarded rule a test decides; before it can be asked, kappa tells."""
    stance = stance_of_kappa(evidence.n_agreement_items, evidence.agreement_p)
    return _kappa("others_kappa")(evidence) if stance == Stance.SILENT else stance


def _kappa(name: str) -> Callable[[Any], Stance]:
    """Whether a kappa of someone who ranks is no better than chance."""

    def stance(evidence: Any) -> Stance:
        kappa = evidence.details[name]["kappa"]
        return _sign(kappa is not None, kappa is not None and kappa <= 0)

    return stance


def _origin(evidence: Any) -> Stance:
    """Whether most texts of an editor were emptied, pasted or copied; silent for other kinds of task."""
    counts = evidence.details
    n_not_edited = sum(counts.get(name, 0) for name in NOT_EDITED)
    n_texts = sum(counts.get(name, 0) for name in ORIGINS)
    return _sign(bool(counts), n_not_edited > MOST_NOT_EDITED * n_texts)


def _references(evidence: Any) -> Stance:
    """Whether an editor changed more hidden references than can be a matter of taste."""
    n, n_changed = (evidence.details[name] for name in ("n_references", "n_references_changed"))
    return _sign(True, n_changed > MOST_REFERENCES_CHANGED * n)


_KINDS = {
    "pairs": _Kind(
        "Degraded pairs",
        lambda evidence: f"{pairs_in_words(evidence)} {window_in_words(evidence)}".strip(),
        lambda evidence: stance_of_pairs(evidence.n_pairs, evidence.p),
        ("n_pairs", "p"),
    ),
    "agreement": _Kind(
        "Agreement with the others",
        agreement_in_words,
        lambda evidence: stance_of_agreement(evidence.n_agreement_items, evidence.agreement_p),
        ("n_agreement_items", "agreement_p"),
    ),
    "repeats": _Kind("Repeats", repeats_in_words, _repeats, ("repeat_p",)),
    "likeness": _Kind(
        "Likeness to a formula",
        likeness_in_words,
        lambda evidence: _sign(evidence.likeness_r is not None, evidence.has_likeness_flag),
        ("likeness_r", "has_likeness_flag"),
    ),
    "times": _Kind(
        "Time the server saw", times_in_words, _times, ("median_gap_seconds", "n_held_hits")
    ),
    "runs": _Kind(
        "Equal scores in a row",
        run_in_words,
        lambda evidence: _sign(True, evidence.has_sequence_flag),
        ("has_sequence_flag",),
    ),
    "origin": _Kind("How texts were edited", edits_in_words, _origin, ("details",)),
    "references": _Kind("References left alone", references_in_words, _references, ("details",)),
    "claims": _Kind(
        "Claimed against passed time",
        claims_in_words,
        _claims,
        ("claimed_seconds", "passed_seconds"),
    ),
}

# Of someone who ranks.
_RANKING_KINDS = {
    "pairs": _Kind(
        "Degraded outputs",
        lambda evidence: f"{pairs_in_words(evidence)} {window_in_words(evidence)}".strip(),
        lambda evidence: stance_of_degraded(evidence.n_pairs, evidence.p),
        ("n_pairs", "p"),
    ),
    "repeats": _Kind(
        "Agreement with themselves",
        lambda evidence: kappa_in_words(evidence.details["self_kappa"], "their own repeats"),
        _kappa("self_kappa"),
        ("details",),
    ),
    "agreement": _Kind(
        "Agreement with the others",
        agreement_in_words,
        _kappa_with_others,
        ("details", "n_agreement_items", "agreement_p"),
    ),
    "skips": _Kind(
        "Skipped screens",
        skips_in_words,
        lambda evidence: _sign(
            evidence.n_hits > 0, (evidence.details.get("share_skipped") or 0.0) > MOST_SKIPPED
        ),
        ("details", "n_hits"),
    ),
}

# Flags that are no side of their own; trusted workers may show them too.
OTHER_FLAGS = {
    "scrs": "has_scores_flag",
    "time": "has_time_flag",
    "rej": "has_rejection_flag",
}

_WEIGHTS = {
    Rule.GUARDED: {
        "pairs": Weight.DECIDES,
        "agreement": Weight.DECIDES,
        "times": Weight.HOLDS,
        "origin": Weight.HOLDS,
        "claims": Weight.HOLDS,
    },
    Rule.PUBLISHED: {"pairs": Weight.DECIDES},
}
_RANKING_WEIGHTS = {
    Rule.GUARDED: {
        "pairs": Weight.DECIDES,
        "agreement": Weight.DECIDES,
        "skips": Weight.HOLDS,
    },
    Rule.PUBLISHED: {"pairs": Weight.DECIDES},
}


@dataclass(frozen=True, slots=True)
class TrustedSigns:
    """How many workers of a campaign are trusted, and how many of them show each sign."""

    n_workers: int
    counts: dict[str, int]

    def about(self, name: str) -> str:
        n = self.counts.get(name, 0)
        has = "has" if n == 1 else "have"
        workers = "trusted worker" if self.n_workers == 1 else "trusted workers"
        return f"{n} of {self.n_workers} {workers} {has} this sign."


def trusted_signs(campaign: Campaign) -> TrustedSigns:
    """Count signs in the latest evidence of the trusted workers, in one query."""
    trusted = Participation.objects.filter(campaign=campaign).trusted().values("pk")
    kinds = [*_KINDS.values(), *_RANKING_KINDS.values()]
    # Each once: a name must not be repeated in a row.
    fields = dict.fromkeys(
        [*OTHER_FLAGS.values(), *(field for kind in kinds for field in kind.fields)]
    )
    return _count_signs(_latest(trusted).order_by().values_list(*fields, named=True))


def _kinds_of(evidence: Any) -> Mapping[str, _Kind]:
    """Return the sides that this evidence has."""
    if is_of_ranking(evidence):
        return _RANKING_KINDS
    # Of editors alone; and references only where they are hidden.
    missing = set() if evidence.details else {"origin"}
    missing |= set() if evidence.details.get("n_references") else {"references"}
    return {name: kind for name, kind in _KINDS.items() if name not in missing}


def latest_evidence(participations: Iterable[Participation]) -> dict[int, Evidence]:
    """The latest evidence about each participation that has any, by the key of the participation."""
    pks = [participation.pk for participation in participations]
    return {evidence.participation_id: evidence for evidence in _latest(pks)}


def _latest(participations: Any) -> QuerySet[Evidence]:
    evidence = Evidence.objects.filter(participation__in=participations).order_by()
    newest = evidence.values("participation").annotate(newest=Max("pk")).values("newest")
    return Evidence.objects.filter(pk__in=newest)


def _count_signs(rows: Iterable[Any]) -> TrustedSigns:
    counts = dict.fromkeys([*_KINDS, *_RANKING_KINDS, *OTHER_FLAGS], 0)
    n_workers = 0
    for row in rows:
        n_workers += 1
        for name, kind in _kinds_of(row).items():
            counts[name] += kind.stance(row) == Stance.AGAINST
        for name, column in OTHER_FLAGS.items():
            counts[name] += getattr(row, column)
    return TrustedSigns(n_workers, counts)


def sides_of(evidence: Evidence, rule: str, signs: TrustedSigns | None = None) -> list[Side]:
    """Return every side of the evidence, in words; those that decide first."""
    is_ranking = is_of_ranking(evidence)
    weights = (_RANKING_WEIGHTS if is_ranking else _WEIGHTS)[Rule(rule)]
    sides = []
    for name, kind in _kinds_of(evidence).items():
        weight, stance = weights.get(name, Weight.ADVISES), kind.stance(evidence)
        text = kind.text(evidence)
        if not is_ranking:
            if rule == Rule.PUBLISHED and name == "pairs" and stance == Stance.UNDECIDED:
                # The published rule has no middle: a worker passes or does not.
                stance = Stance.AGAINST
            if rule == Rule.GUARDED:
                p = evidence.p if name == "pairs" else evidence.agreement_p
                text = f"{text} {_why(name, stance, p)}".strip()
        trusted = signs.about(name) if signs and weight != Weight.DECIDES else ""
        sides.append(Side(name, kind.title, weight, stance, text, trusted))
    return sides


# What the guarded rule asks of the sides that decide: how many of what are enough, and the level.
_ENOUGH = {
    "pairs": (f"{ENOUGH_PAIRS} pairs", RELIABLE_P),
    "agreement": (f"{ENOUGH_AGREEMENT_ITEMS} texts", AGREEMENT_P),
}


def _why(name: str, stance: Stance, p: float | None) -> str:
    """Explain the guarded rule where it decides against a worker, or not yet."""
    if name not in _ENOUGH or p is None:
        return ""
    enough, level = _ENOUGH[name]
    if stance == Stance.UNDECIDED:
        return (
            f"Another HIT may settle it: p above {AGAINST_P:g}, or {enough} without p below {level:g}, "
            "would speak against the worker."
        )
    if stance != Stance.AGAINST:
        return ""
    if p > AGAINST_P:
        return f"Above p = {AGAINST_P:g}, scores look no better than chance."
    return f"With {enough} or more, a reader would have passed."


def rule_in_words(rule: str, kind: TaskKind) -> str:
    """Say which sides decide under a rule."""
    if rule == Rule.GUARDED:
        also_held = f", or {kind.also_held}," if kind.also_held else ""
        return (
            f"Under the guarded rule, {kind.control_noun} and agreement with the others decide, for a worker or "
            f"against. HITs with impossible times{also_held} are held until a person has looked at them. The rest is "
            "advice."
        )
    return (
        f"Under the published rule, the {kind.control_noun} alone decide, after every HIT. "
        "The rest is advice."
    )
