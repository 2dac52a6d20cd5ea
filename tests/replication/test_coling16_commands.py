"""Graham et al., COLING 2016, Table 2, with commands alone, as a user would run them."""

import csv
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from tests.replication.locating import replication_data

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

SYSTEM = "WMT13"
# The metrics of the table, by our names.
METRICS = {"TER-Moses": "TER", "sBLEU": "BLEU", "CDER": "CDER", "WER": "WER", "PER": "PER"}


def lines_of(kind: str, pair: str) -> list[str]:
    text = replication_data("coling16-posteditions", f"{kind}.{pair}").read_text()
    return text.removesuffix("\n").split("\n")


def write(path: Path, lines: list[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("pair", ["cs-en", "de-en", "es-en", "en-de"])
def test_ten_correlations_match_the_published_ones_to_three_decimals(pair: str, tmp_path: Path):
    texts = tmp_path / "campaign"
    write(texts / "sources.txt", lines_of("src", pair))
    write(texts / "references.txt", lines_of("ref", pair))
    write(texts / "systems" / f"{SYSTEM}.txt", lines_of("sys", pair))
    post_editions = write(
        tmp_path / "post-editions.tsv",
        ["system\tsegment\tpost_edition"]
        + [f"{SYSTEM}\t{i}\t{text}" for i, text in enumerate(lines_of("human-post-edit", pair), 1)],
    )
    # The published rows name the systems and segments that were sampled; line i is our segment i.
    gold = write(
        tmp_path / "gold.tsv",
        ["segment\tscore"]
        + [
            f"{i}\t{line.split()[-1]}"
            for i, line in enumerate(lines_of("human-scores", f"{pair}.csv")[1:], 1)
        ],
    )
    source, target = pair.split("-")
    call_command("import_campaign", texts, "--name", pair, "--from", source, "--to", target)
    chosen = ["--tokenise", "none", "--metrics", *METRICS]
    plain, targeted = tmp_path / "scores.tsv", tmp_path / "targeted.tsv"
    call_command("compute_metrics", pair, *chosen, "--out", str(plain), stdout=StringIO())
    extra = ["--post-editions", str(post_editions), "--case-sensitive", "--uncapped"]
    extra += ["--out", str(targeted)]
    call_command("compute_metrics", pair, *chosen, *extra, stdout=StringIO())
    call_command(
        *("evaluate", str(plain), str(targeted), "--gold", f"da={gold}"),
        *("--system", SYSTEM, "--out", str(tmp_path / "report")),
        stdout=StringIO(),
    )
    with (tmp_path / "report" / "tables" / "segment-gold.csv").open(newline="") as file:
        computed = {row["metric"]: float(row["r"]) for row in csv.DictReader(file)}
    with replication_data("coling16-posteditions", "expected-table2.csv").open(newline="") as file:
        published = {
            row["metric"]: float(row["published"])
            for row in csv.DictReader(file)
            if row["lp"] == pair
        }
    assert len(computed) == 10
    for ours, theirs in METRICS.items():
        assert f"{computed[ours]:.3f}" == f"{published[theirs]:.3f}"
        assert f"{computed[f'H{ours}']:.3f}" == f"{published[f'H-{theirs}']:.3f}"
