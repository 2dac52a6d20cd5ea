"""Practice for ranking: a translation next to the gray text itself, which nothing can beat."""

from typing import Any

from ..task_kinds import Judged, Sent
from .forms import RANKS

# The highest score of practice texts that keep the whole meaning.
FULL = 100
# The fields of the two texts of a practice screen.
COPY, TRANSLATION = "copy", "translation"


def practice_outputs(item: Any, given: dict[str, int]) -> list[dict[str, Any]]:
    """Return the two texts of a practice screen, with the ranks that were given."""
    texts = {TRANSLATION: item.translation, COPY: item.gray_text}
    return [{"code": code, "text": text, "rank": given.get(code)} for code, text in texts.items()]


def judge_ranking(item: Any, sent: Sent) -> Judged | None:
    """Return feedback on the ranks of both texts; None unless both have one."""
    ranks = {code: sent.get(f"rank-{code}", "") for code in (COPY, TRANSLATION)}
    if not set(ranks.values()) <= set(map(str, RANKS)):
        return None
    given = {code: int(rank) for code, rank in ranks.items()}
    # A free wording with the whole meaning may come first as well; a text with a fault may not.
    is_fine = item.high == FULL or given[COPY] < given[TRANSLATION]
    verdict = "fine" if is_fine else "too_high"
    return Judged(verdict, getattr(item, verdict), given)
