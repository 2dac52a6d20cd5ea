"""Scripts against ranking: none becomes reliable more often than by chance, and people who read do."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest

from analysis.stats.ranking_control import degraded_last
from analysis.stats.roles import Role
from hits.campaigns.behaviours import chrf, word_f1
from hits.models import Campaign, Item
from tests.simulated_crowds import open_demo

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

N_WORKERS, N_HITS = 300, 10
MOST_SCRIPTS, FEWEST_READERS = 0.05, 0.95


@dataclass
class Screen:
    gray: str
    texts: list[str]
    roles: list[Role]


@dataclass
class Script:
    """Scores texts, the best highest; it remembers all screens that it has seen."""

    rng: np.random.Generator
    seen: dict[str, set[str]] = field(default_factory=dict)


Scores = Callable[[Script, Screen], list[float]]


def at_random(script, screen):
    return script.rng.random(len(screen.texts)).tolist()


def all_equal(script, screen):
    return [0.0] * len(screen.texts)


def by_words(script, screen):
    return [word_f1(text, screen.gray) for text in screen.texts]


def by_characters(script, screen):
    return [chrf(text, screen.gray) for text in screen.texts]


def by_length(script, screen):
    return [len(text) for text in screen.texts]


def what_is_new_last(script, screen):
    """Random, but what was not on an earlier screen of the segment comes last, if something else was."""
    known = script.seen.get(screen.gray, set())
    chances = at_random(script, screen)
    if not known:
        return chances
    return [
        chance - (text not in known) for chance, text in zip(chances, screen.texts, strict=True)
    ]


def what_is_known_last(script, screen):
    known = script.seen.get(screen.gray, set())
    chances = at_random(script, screen)
    return [chance - (text in known) for chance, text in zip(chances, screen.texts, strict=True)]


SCRIPTS = [
    at_random,
    all_equal,
    by_words,
    by_characters,
    by_length,
    what_is_new_last,
    what_is_known_last,
]


def reads(script, screen):
    """What nine in ten degraded texts look like to a reader."""
    return [
        script.rng.random() - 2 * (role == Role.BAD_REFERENCE and script.rng.random() < 0.9)
        for role in screen.roles
    ]


@pytest.fixture
def screens():
    """The screens of each HIT of the demo campaign, with balanced degraded texts."""
    return _screens(
        open_demo(
            "scripts",
            task=Campaign.Task.RANK,
            hit_size=3,
            outputs_per_screen=5,
            degradation=Campaign.Degradation.BALANCED,
            seed=5,
        )
    )


def _screens(campaign: Campaign) -> list[list[Screen]]:
    hits: dict[int, dict[int, Screen]] = {}
    items = Item.objects.filter(hit__campaign=campaign).select_related("translation__segment")
    for item in items.order_by("hit__number", "position"):
        gray = campaign.gray_text(item.translation.segment)
        screen = hits.setdefault(item.hit_id, {}).setdefault(item.screen, Screen(gray, [], []))
        screen.texts.append(item.text)
        screen.roles.append(Role(item.role))
    return [list(hit.values()) for hit in hits.values()]


def share_reliable(hits: list[list[Screen]], scores_of: Scores) -> float:
    """Let workers do ten HITs each, one after another as the platform gives them; return how many are reliable."""
    verdicts = []
    for worker in range(N_WORKERS):
        script = Script(np.random.default_rng([worker, 7]))
        start = int(script.rng.integers(len(hits) - N_HITS + 1))
        is_last, sizes = [], []
        for hit in hits[start : start + N_HITS]:
            for screen in hit:
                scores = scores_of(script, screen)
                script.seen.setdefault(screen.gray, set()).update(screen.texts)
                if Role.BAD_REFERENCE in screen.roles:
                    bad = screen.roles.index(Role.BAD_REFERENCE)
                    rest = [score for place, score in enumerate(scores) if place != bad]
                    is_last.append(scores[bad] < min(rest))
                    sizes.append(len(scores))
        verdicts.append(degraded_last(is_last, sizes).verdict)
    return verdicts.count("reliable") / N_WORKERS


def test_no_script_is_reliable_more_often_than_by_chance_but_readers_are(screens):
    shares = {script.__name__: share_reliable(screens, script) for script in SCRIPTS}
    assert {name: share for name, share in shares.items() if share > MOST_SCRIPTS} == {}
    assert share_reliable(screens, reads) >= FEWEST_READERS
