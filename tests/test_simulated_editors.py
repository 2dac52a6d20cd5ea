"""From simulated editors to HTER gold: careless ones are caught, and the gold agrees with the simulated truth."""

from collections import defaultdict
from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from analysis.metrics.catalogue import targeted_metrics_for
from analysis.models import GoldUpload
from analysis.post_editions.measures import compute_targeted
from hits.campaigns.building import build_hits
from hits.campaigns.lifecycle import change_status
from hits.campaigns.simulation import simulate_workers
from hits.models import Campaign, Participation, PostEdition, SystemOutput
from hits.post_editing.arrays import load_edited_outputs
from hits.post_editing.checking import check_post_editions
from hits.post_editing.simulated import Editor, right_edit
from hits.rating.places import settle_unproven
from hits.workers.held_hits import discard_overdue
from hits.workers.trust import update_evidence
from tests.simulated_crowds import open_demo

pytestmark = pytest.mark.django_db

CROWD = {Editor.CAREFUL: 24, Editor.LAZY: 12, Editor.PASTING: 12}
# They do what the careless ones leave open.
LATER_CROWD = {Editor.CAREFUL: 24}


def edited_demo(seed: int) -> Campaign:
    campaign = open_demo(
        f"edited {seed}",
        task="edit",
        shows="source",
        hit_size=20,
        min_ratings=1,
        seed=seed,
        degradation="balanced",
        trust_rule="guarded",
    )
    for number, crowd in enumerate((CROWD, LATER_CROWD)):
        simulate_workers(
            campaign=campaign,
            crowd=crowd,
            hits_per_worker=2,
            seed=seed + 100 * number,
            start=timezone.now() - timedelta(days=9 - 4 * number),
            after_hit=lambda assignment: update_evidence(assignment=assignment),
        )
        # After a day without a decision, held HITs are offered to others.
        discard_overdue(at=timezone.now())
        settle_unproven()
    return campaign


def checked_by(campaign: Campaign, crowd: dict[Editor, int], *, seed: int) -> Campaign:
    """Let other simulated workers check the post-editions."""
    check = check_post_editions(campaign=campaign, name=f"{campaign}, check").campaign
    check.seed = seed
    check.save(update_fields=["seed"])
    build_hits(campaign=check)
    change_status(campaign=check, to=Campaign.Status.OPEN)
    simulate_workers(
        campaign=check,
        crowd=crowd,
        hits_per_worker=2,
        seed=seed,
        start=timezone.now() - timedelta(days=3),
        after_hit=lambda assignment: update_evidence(assignment=assignment),
    )
    discard_overdue(at=timezone.now())
    settle_unproven()
    return check


def true_hter(campaign: Campaign) -> dict[tuple[str, str], float]:
    hter = targeted_metrics_for(campaign.target_language)["TER"]
    outputs = SystemOutput.objects.filter(system__campaign=campaign).select_related(
        "system", "segment", "translation"
    )
    return {
        (output.system.name, output.segment.name): hter.of_segment(
            hter.counts(
                output.translation.text,
                right_edit(output.translation.text, output.segment.reference, spaced=True),
            )
        )
        for output in outputs
    }


def r_with(truth: dict[tuple[str, str], float], gold: dict[tuple[str, str], float]) -> float:
    keys = sorted(gold)
    return float(np.corrcoef([truth[key] for key in keys], [gold[key] for key in keys])[0, 1])


def gold_scores(campaign: Campaign) -> dict[tuple[str, str], float]:
    compute_targeted(campaign=campaign, names=["TER"], use="gold")
    table = GoldUpload.objects.get(campaign=campaign, name="HTER").table
    return dict(
        zip(zip(table["system"], table["segment"], strict=True), table["score"], strict=True)
    )


def hter_of_everyone(campaign: Campaign) -> dict[tuple[str, str], float]:
    """The mean HTER of each output over all editors, as if nobody had been judged."""
    hter = targeted_metrics_for(campaign.target_language)["TER"]
    scores: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    edits = PostEdition.objects.filter(assignment__hit__campaign=campaign, item__role=0)
    for edit in edits.select_related("item__translation__segment"):
        score = hter.of_segment(hter.counts(edit.item.text, edit.text))
        for output in edit.item.translation.outputs.select_related("system"):
            scores[output.system.name, edit.item.translation.segment.name].append(score)
    return {key: float(np.mean(values)) for key, values in scores.items()}


def kinds_by_outcome(campaign: Campaign) -> dict[str, set[str]]:
    """What became of each kind of editor: held, or the verdict about them."""
    outcomes: defaultdict[str, set[str]] = defaultdict(set)
    rows = Participation.objects.filter(campaign=campaign).select_related("worker")
    for participation in rows:
        holds = participation.worker.assignments.exclude(hold="")
        kind = participation.worker.external_id.partition("-")[0]
        outcomes[kind].add("held" if holds.exists() else participation.trust)
    return dict(outcomes)


def test_careless_editors_are_caught_and_hter_agrees_with_the_truth() -> None:
    campaign = edited_demo(seed=1)
    outcomes = kinds_by_outcome(campaign)
    # A careful one may not have done enough yet.
    assert outcomes.pop("careful") <= {"reliable", "unproven"}
    assert outcomes == {"lazy": {"unreliable"}, "pasting": {"held"}}
    truth, gold, everyone = true_hter(campaign), gold_scores(campaign), hter_of_everyone(campaign)
    assert len(gold) > 0.8 * len(truth) and len(everyone) == len(truth)
    # Printed as evidence with -s; docs/post-editing.md quotes them.
    r, r_of_everyone = r_with(truth, gold), r_with(truth, everyone)
    print(f"r of HTER with the truth: {r:.3f}; of everyone's edits: {r_of_everyone:.3f}")
    assert r > 0.88
    assert r_of_everyone < 0.8


def test_a_check_by_others_brings_hter_closer_to_the_truth() -> None:
    campaign = edited_demo(seed=1)
    truth, before = true_hter(campaign), gold_scores(campaign)
    check = checked_by(campaign, CROWD, seed=500)
    outcomes = kinds_by_outcome(check)
    assert outcomes.pop("careful") <= {"reliable", "unproven"}
    # Some lazy ones come too late for a second HIT.
    assert outcomes.pop("lazy") <= {"unreliable", "unproven"}
    assert outcomes == {"pasting": {"held"}}
    edits = list(load_edited_outputs(campaign, trusted_only=True))
    n_checked = sum(edit.check is not None for edit in edits)
    after = gold_scores(campaign)
    r_before, r_after = r_with(truth, before), r_with(truth, after)
    print(
        f"{n_checked} of {len(edits)} checked; r with the truth {r_before:.3f}, then {r_after:.3f}"
    )
    assert n_checked > 0.6 * len(edits)
    assert all(edit.check.checker != edit.worker for edit in edits if edit.check)
    assert r_after > r_before + 0.005
