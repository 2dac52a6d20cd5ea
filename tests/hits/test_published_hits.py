"""Published HITs stay the same to the byte, no matter what is added for other campaigns.

The hashes were computed with the code that built HITs before there was balanced degradation.
"""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings

from hits.campaigns import degradation
from hits.campaigns.building import build_hits
from hits.campaigns.composition import References, choose_layout, plan_hits
from hits.campaigns.degradation import DonorPool, Spacing
from hits.campaigns.importing import import_campaign
from hits.models import Campaign, Item

FOLDER = Path(settings.BASE_DIR) / "examples" / "demo-de-en" / "campaign"

# Translations, HIT size, whether references are hidden, seed, SHA-256 of the plan.
HASHES = [
    (336, 100, True, 7, "3fcf9c6b89f6f068b2f1a7d6e8816e4a6118a25deb5977c2d45016b062939a29"),
    (336, 100, False, 7, "cf424c9a5654d5a503dd7931b4daf64600b5a670a41354fe3c101565834a4173"),
    (200, 40, True, 0, "ac64c83a6bc14ec8ec2ebf04872ab361757d170c59c87f6130433a848a72a716"),
    (
        150,
        60,
        False,
        1099511627776,
        "047389a54022dc8ae371500cc38afd3cfbc6767cd10b0b3d18f48b9192b29328",
    ),
    (28, 40, True, 3, "d1b1b06bed9fb34030e8412a75e27c23285e6dd41ab0a9b04601eb1dd108ec66"),
    (75, 100, True, 11, "2c20a908da5f56bc9693044d8da839c25cd2a67bbf8e47be72966db38e061f43"),
]


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def degrade():
    references = lines_of(FOLDER / "references.txt")
    systems = [lines_of(path) for path in sorted((FOLDER / "systems").iterdir())]
    spacings = [Spacing(texts) for texts in systems]
    donor_texts = list(dict.fromkeys(references))
    donors = DonorPool(donor_texts, donor_texts, spaced=True)

    def degrade(translation: int, rng: np.random.Generator) -> str:
        segment, system = divmod(translation, len(systems))
        return degradation.degrade(
            systems[system][segment],
            key=references[segment],
            donors=donors,
            spacing=spacings[system],
            rng=rng,
        )

    return degrade


@pytest.mark.parametrize(("n_translations", "hit_size", "has_references", "seed", "sha256"), HASHES)
def test_published_hits_do_not_change(
    degrade, n_translations, hit_size, has_references, seed, sha256
):
    references = References.ALL if has_references else References.NONE
    layout = choose_layout(n_translations, hit_size=hit_size, references=references)
    plan = [
        [
            [item.position, item.role.value, item.translation, item.text, item.partner]
            for item in hit
        ]
        for hit in plan_hits(n_translations, layout=layout, seed=seed, degrade=degrade)
    ]
    written = json.dumps(plan, ensure_ascii=False).encode()
    assert hashlib.sha256(written).hexdigest() == sha256


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("task", "sha256"),
    [
        ("reference", "ce1c6dc1c65793d5fd513baee85d9a0d4d009b3b9259206b64780b73cc5644f5"),
        ("source", "1974165232457e31f00aaaea15b0d07327b036f64e9972681b85cb792f29ea20"),
        ("fluency", "1974165232457e31f00aaaea15b0d07327b036f64e9972681b85cb792f29ea20"),
    ],
)
def test_hits_of_a_campaign_do_not_change(task, sha256):
    """With references that several segments share, as in real test sets."""
    campaign = import_campaign(
        path=FOLDER, name="demo", source_language="de", target_language="en", task=task, seed=7
    ).campaign
    Campaign.objects.update(degradation="published")
    shared = campaign.segments.get(position=5).reference
    campaign.segments.filter(position__lt=20).update(reference=shared)
    build_hits(campaign=campaign)
    rows = list(
        Item.objects.order_by("hit__number", "position").values_list(
            "hit__number", "position", "role", "text", "partner__position"
        )
    )
    written = json.dumps(rows, ensure_ascii=False).encode()
    assert hashlib.sha256(written).hexdigest() == sha256
