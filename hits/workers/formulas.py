"""What a program could compute from the texts of an item without understanding them."""

from collections.abc import Callable

from sacrebleu.metrics import BLEU, CHRF

from ..campaigns.simulation import word_f1

_CHRF, _BLEU = CHRF(), BLEU(effective_order=True)

# From the black and the gray text of an item to a number.
FORMULAS: dict[str, Callable[[str, str], float]] = {
    "word_f1": word_f1,
    "chrf": lambda text, gray: float(_CHRF.sentence_score(text, [gray]).score),
    "bleu": lambda text, gray: float(_BLEU.sentence_score(text, [gray]).score),
    "length": lambda text, gray: float(len(text)),
}
