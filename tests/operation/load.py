"""Simulate workers who rate without end, to test backups under load: python -m tests.operation.load"""

import django

if __name__ == "__main__":
    django.setup()
    from hits.campaigns.simulation import Behaviour, simulate_workers
    from tests.factories import make_hits

    campaign = make_hits(n_segments=56, min_ratings=500)
    print("ready", flush=True)
    for seed in range(10_000):
        simulate_workers(campaign=campaign, crowd={Behaviour.HONEST: 1}, seed=seed)
