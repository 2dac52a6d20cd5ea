"""Write a sample of degraded texts of the example campaign as Markdown: python -m benchmarks.degraded_sample > docs/degraded-texts.md"""

import numpy as np

from benchmarks.degradation import EXAMPLE, balanced_way, load_texts
from hits.campaigns.degradation import CannotDegrade

N_PAIRS = 200

INTRODUCTION = f"""\
# A sample of degraded texts

{N_PAIRS} translations of the example campaign with their balanced degraded versions, made by
`python -m benchmarks.degraded_sample`. A degraded text shares about as much with the reference as the
genuine one does; what is broken is its meaning. See [workers.md](workers.md).

| reference | genuine | degraded |
|---|---|---|"""


def main() -> None:
    texts = load_texts(EXAMPLE)
    way, rng = balanced_way(texts), np.random.default_rng(1)
    print(INTRODUCTION)
    n_pairs = 0
    while n_pairs < N_PAIRS:
        for number in rng.permutation(len(texts.outputs)).tolist():
            try:
                degraded = way(number, rng)
            except CannotDegrade:
                continue
            gray = texts.grays[texts.segments[number]]
            print(f"| {gray} | {texts.outputs[number]} | {degraded} |")
            n_pairs += 1
            if n_pairs == N_PAIRS:
                break


if __name__ == "__main__":
    main()
