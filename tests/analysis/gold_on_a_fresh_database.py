"""Create a campaign in a migrated database, build its gold and print it bit for bit.

DJANGO_SETTINGS_MODULE=da_platform.settings python -m tests.analysis.gold_on_a_fresh_database
"""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

START = datetime(2026, 3, 1, tzinfo=UTC)


def fresh_gold() -> dict[str, object]:
    import django

    django.setup()
    from django.db import connection

    from analysis.gold.runs import build_gold, gold_scores
    from hits.campaigns.simulation import Behaviour, simulate_workers
    from hits.rating.arrays import load_ratings
    from hits.workers.trust import weigh_pending
    from tests.factories import make_hits

    campaign = make_hits(n_segments=35, hit_size=100)
    crowd = {Behaviour.HONEST: 3, Behaviour.RANDOM: 1}
    simulate_workers(campaign=campaign, crowd=crowd, seed=2, start=START)
    weigh_pending()
    ratings = load_ratings(campaign)
    run = build_gold(campaign=campaign, minimum=2)
    gold = gold_scores(run)

    def build_in_a_thread(_: int) -> int:
        try:
            return build_gold(campaign=campaign).number
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        numbers = sorted(pool.map(build_in_a_thread, range(8)))
    gold_facts = {
        "vendor": connection.vendor,
        "digest": run.input_digest,
        "n_scored": run.n_scored,
        "numbers built at once": numbers,
        "ratings": {
            name: getattr(ratings, name).astype("i8").tolist() for name in ratings.__slots__
        },
        "gold": {name: getattr(gold, name).tobytes().hex() for name in ("translation", "raw", "z")},
    }
    connection.close()
    return gold_facts


if __name__ == "__main__":
    print(json.dumps(fresh_gold()))
