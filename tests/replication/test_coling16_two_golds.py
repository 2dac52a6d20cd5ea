"""Graham et al., COLING 2016, through the front door: Table 2 over four language pairs, its maps, and two golds."""

import csv
import io

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from numpy.testing import assert_allclose

from analysis.evaluation.stored_evaluations import result_of
from analysis.models import Evaluation
from analysis.scores.storing import stored_table
from analysis.stats.thresholds import ALPHA
from analysis.stats.williams import williams_test
from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job
from hits.models import Campaign
from tests.people import client_of
from tests.replication.locating import replication_data

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

PAIRS = ("cs-en", "de-en", "es-en", "en-de")
SYSTEM = "sampled"
# Our names and the names in Table 2, whose TER is that of Moses.
METRICS = {"sBLEU": "BLEU", "TER-Moses": "TER", "WER": "WER", "PER": "PER", "CDER": "CDER"}
# sacreBLEU's tries other shifts: how far its correlations are from the published ones.
CLOSE, TOLERANCE = "TER-cased", 0.013
CHOSEN = [*METRICS, CLOSE]


def lines_of(kind: str, pair: str) -> list[str]:
    text = replication_data("coling16-posteditions", f"{kind}.{pair}").read_text()
    return text.removesuffix("\n").split("\n")


def file(name: str, lines: list[str]) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, ("\n".join(lines) + "\n").encode())


def table(column: str, cells: list[str]) -> list[str]:
    rows = [f"{SYSTEM}\t{number}\t{cell}" for number, cell in enumerate(cells, 1)]
    return [f"system\tsegment\t{column}", *rows]


def post(client: Client, page: str, campaign: Campaign, fields: dict) -> None:
    answer = client.post(reverse(page, args=[campaign.code]), fields)
    assert answer.status_code == 302, answer.content.decode()[:3000]


def make_campaign(pair: str, folder) -> Campaign:
    """Import the published texts of a language pair."""
    (folder / "systems").mkdir(parents=True)
    for name, kind in (("sources", "src"), ("references", "ref"), (f"systems/{SYSTEM}", "sys")):
        (folder / f"{name}.txt").write_text("\n".join(lines_of(kind, pair)) + "\n")
    source, target = pair.split("-")
    call_command(
        *("import_campaign", folder, "--name", pair, "--from", source, "--to", target),
        stdout=io.StringIO(),
    )
    return Campaign.objects.get(name=pair)


def evaluate(client: Client, campaign: Campaign, hter: bool) -> Evaluation:
    """Upload texts and gold on the pages, compute metrics, and evaluate them as published."""
    scores = [line.split()[-1] for line in lines_of("human-scores", f"{campaign}.csv")[1:]]
    gold = {"gold-uploads": file("DA.tsv", table("score", scores)), "gold-kind": "da"}
    post(client, "campaign_gold", campaign, gold | {"gold-direction": "higher"})
    chosen = {"names": CHOSEN, "tokenise": "none"}
    post(client, "compute_metrics", campaign, chosen)
    run_job(Job.objects.latest("pk").pk)
    for use, names in (("metric", CHOSEN), ("gold", ["TER"] if hter else [])):
        edited = file(
            "edits.tsv", table("post_edition", lines_of("human-post-edit", campaign.name))
        )
        fields = {"edited-upload": edited, "edited-use": use, "edited-names": names}
        if use == "metric":
            post(client, "campaign_post_editions", campaign, fields | {"edited-tokenise": "none"})
        elif names:
            # As at WMT's quality estimation tasks.
            published = {"edited-ignore_case": "on", "edited-cap": "on", "edited-tokenise": "none"}
            post(client, "campaign_post_editions", campaign, fields | published)
    address = reverse("campaign_evaluate", args=[campaign.code])
    form = client.get(address).context["form"]
    options = {
        "golds": [value for value, _ in form.fields["golds"].choices],
        "metrics": [value for value, label in form.fields["metrics"].choices],
        "seed": 1,
        "uncertainty": "published",
    }
    answer = client.post(address, options)
    assert answer.status_code == 302, answer.context["form"].errors
    job = run_job(Job.objects.latest("pk").pk)
    assert job is not None and job.state == "done", job and job.error
    return Evaluation.objects.get(code=job.result["evaluation"])


def published_table() -> dict[tuple[str, str], float]:
    path = replication_data("coling16-posteditions", "expected-table2.csv")
    with path.open(newline="") as lines:
        return {
            (row["metric"], row["lp"]): float(row["published"]) for row in csv.DictReader(lines)
        }


def test_one_table_over_four_language_pairs_and_two_golds_of_the_largest(tmp_path):
    client = client_of("researcher")
    evaluations = {
        pair: evaluate(client, make_campaign(pair, tmp_path / pair), hter=pair == "es-en")
        for pair in PAIRS
    }
    published = published_table()
    codes = [str(evaluation.code) for evaluation in evaluations.values()]
    answer = client.get(reverse("evaluations_across_file", args=["csv"]), {"evaluation": codes})
    rows = {row["metric"]: row for row in csv.DictReader(io.StringIO(answer.content.decode()))}
    for pair in PAIRS:
        column = f"{pair}, DA" if pair == "es-en" else pair
        for ours, theirs in METRICS.items():
            assert f"{float(rows[ours][column]):.3f}" == f"{published[theirs, pair]:.3f}"
            targeted = f"{float(rows[f'H{ours}'][column]):.3f}"
            assert targeted == f"{published[f'H-{theirs}', pair]:.3f}"
        for prefix, name in (("", "TER"), ("H", "H-TER")):
            assert_allclose(
                float(rows[f"{prefix}{CLOSE}"][column]), published[name, pair], atol=TOLERANCE
            )
        assert_map(client, evaluations[pair], "DA")
    assert_map(client, evaluations["es-en"], "HTER")
    latex = client.get(reverse("evaluations_across_file", args=["tex"]), {"evaluation": codes})
    assert r"\textbf{" in latex.content.decode() and "Williams test" in latex.content.decode()
    assert_two_golds(client, evaluations["es-en"])


def assert_map(client: Client, evaluation: Evaluation, gold: str) -> None:
    """Compare every cell of a Williams map, and the winners, with tests of the stored scores."""
    assert evaluation.campaign is not None
    upload = evaluation.campaign.gold_uploads.get(name=gold)
    sign = 1 if upload.higher_is_better else -1
    truth = sign * np.array(upload.table["score"])
    metrics = {
        metric.name: (stored_table(metric).scores, bool(metric.higher_is_better))
        for metric in evaluation.metrics.filter(level="segment")
    }
    scores = {name: values * (1 if better else -1) for name, (values, better) in metrics.items()}

    def r(one: np.ndarray, other: np.ndarray) -> float:
        return float(np.corrcoef(one, other)[0, 1])

    page = reverse(
        "evaluation_picture", args=[evaluation.code, f"significance-{gold.lower()}", "csv"]
    )
    answer = client.get(page)
    cells = list(csv.DictReader(io.StringIO(answer.content.decode())))
    names = {cell["row"] for cell in cells}
    assert len(cells) == len(names) * (len(names) - 1) and len(names) == 2 * len(CHOSEN)
    outperformed = set()
    for cell in cells:
        better, worse = scores[cell["row"]], scores[cell["column"]]
        r_better, r_worse = r(better, truth), r(worse, truth)
        assert_allclose(float(cell["row_estimate"]), r_better, atol=1e-9)
        expected = williams_test(r_better, r_worse, r(better, worse), len(truth)).pvalue
        assert_allclose(float(cell["p"]), expected, atol=1e-9)
        if expected < ALPHA:
            outperformed.add(cell["column"])
    result = next(each for each in result_of(evaluation).golds if each.gold.name == gold)
    assert set(result.winners_in("segment", "pearson")) == names - outperformed != names


def assert_two_golds(client: Client, evaluation: Evaluation) -> None:
    """Check the page that holds DA and HTER against each other."""
    text = client.get(reverse("evaluation", args=[evaluation.code])).content.decode()
    assert "rank HTER" in text and "Translations on which DA and HTER contradict each other" in text
    page = client.get(reverse("evaluation_contrast", args=[evaluation.code]))
    found = page.context["contrast"]
    assert (found.first, found.second, found.n) == ("DA", "HTER", 500)
    # The correlation of H-TER with DA, of which only case and the cap differ.
    assert abs(found.r.estimate - published_table()["H-TER", "es-en"]) < 0.02
    for row in page.context["rows"]:
        assert row.texts.source and row.texts.reference and row.texts.output
        assert row.texts.post_edition in lines_of("human-post-edit", "es-en")
