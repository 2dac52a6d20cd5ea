"""Campaigns in languages other than the English of the factories."""

from hashlib import sha256
from typing import Any

from django.db import transaction

from hits.campaigns.building import build_hits
from hits.campaigns.lifecycle import change_status
from hits.languages import is_spaced
from hits.models import Campaign, Segment, System, SystemOutput, Translation
from tests.factories import make_campaign

# A sentence in each language, with spaces between its words.
SENTENCES = {
    "en": "The old bridge over the quiet river stays closed until spring for repairs",
    "de": "Die alte Brücke über den stillen Fluss bleibt bis zum Frühling gesperrt",
    "ar": "يبقى الجسر القديم فوق النهر الهادئ مغلقا للإصلاح حتى حلول الربيع القادم",
    "zh": "跨越 安静 河流 的 旧 桥 因 维修 将 关闭 到 明年 春天 为止",
}


def text_in(language: str, number: int) -> str:
    """A different text for each number: the words of the sentence, rotated and numbered."""
    words = SENTENCES[language].split()
    turn = number % len(words)
    words = [*words[turn:], str(number), *words[:turn]]
    return " ".join(words) + "." if is_spaced(language) else "".join(words) + "。"


@transaction.atomic
def make_hits_between(
    source_language: str, target_language: str, *, n_segments: int = 16, **fields: Any
) -> Campaign:
    """Make an open campaign with HITs of 40 items and texts in its languages."""
    campaign = make_campaign(
        source_language=source_language, target_language=target_language, **fields
    )
    systems = [System.objects.create(campaign=campaign, name=name) for name in "ab"]
    for position in range(1, n_segments + 1):
        segment = Segment.objects.create(
            campaign=campaign,
            position=position,
            name=str(position),
            source=text_in(source_language, position),
            reference=text_in(target_language, 100 + position),
        )
        for number, system in enumerate(systems, start=2):
            text = text_in(target_language, 100 * number + position)
            translation = Translation.objects.create(
                segment=segment, text=text, fingerprint=sha256(text.encode()).digest()[:16]
            )
            SystemOutput.objects.create(system=system, segment=segment, translation=translation)
    build_hits(campaign=campaign)
    return change_status(campaign=campaign, to=Campaign.Status.OPEN)
