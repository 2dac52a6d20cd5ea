"""Write the same small collection, made up for the tests, as each kind of file.

Run in this folder: python make_examples.py
"""

import csv
from datetime import UTC, datetime
from statistics import mean, stdev

# System, segment and role of each item of the HIT, in the order shown. The last two share a partner.
ITEMS = [
    ("alder", "1", "system"),
    ("birch", "1", "cal"),
    ("alder", "2", "system"),
    ("alder", "3", "cal"),
    ("birch", "2", "system"),
    ("birch", "3", "system"),
    ("alder", "1", "cal"),
    ("birch", "1", "system"),
    ("alder", "2", "cal"),
    ("alder", "3", "system"),
    ("birch", "2", "cal"),
    ("birch", "3", "repeat"),
    ("birch", "3", "ref"),
]
SCORES = {
    "alice": [80, 20, 70, 10, 60, 90, 30, 75, 15, 85, 5, 88, 100],
    "bob": [50, 55, 40, 62, 51, 47, 58, 44, 53, 49, 60, 52, 50],
    "carol": [71, 30, 66, 41, 52, 93, 20, 83, 35, 77, 12, 93, 97],
}
STATUS = {"alice": "Approved", "bob": "Rejected", "carol": "Submitted"}
START = datetime(2024, 3, 1, 12, 0, tzinfo=UTC).timestamp()
SECONDS_PER_ITEM = {"alice": 40, "bob": 5, "carol": 60}
WMT_TYPES = {"system": "SYSTEM", "cal": "BAD_REF", "repeat": "REPEAT", "ref": "REF"}
APPRAISE_TYPES = {"system": "TGT", "cal": "BAD", "repeat": "CHK", "ref": "REF"}


def write_mturk() -> None:
    names = ["HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "AcceptTime", "SubmitTime"]
    inputs = ["Input.src", "Input.trg"]
    for place in range(len(ITEMS)):
        inputs += [f"Input.{part}_{place}" for part in ("sys_id", "sid", "tst", "rid")]
    with open("mturk.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writerow([*names, *inputs, "Answer.Q1", "Answer.comments", "Approve", "Reject"])
        for worker, scores in SCORES.items():
            end = START + len(ITEMS) * SECONDS_PER_ITEM[worker]
            row = [
                "HIT1",
                f"assignment of {worker}",
                worker,
                STATUS[worker],
                shown(START),
                shown(end),
            ]
            row += ["de", "en"]
            for place, item in enumerate(ITEMS):
                row += [*item, str(1000 + place)]
            answers = [f"{place}_{1000 + place}_{score}" for place, score in enumerate(scores)]
            comment = 'Long,\nbut "fine".' if worker == "carol" else ""
            writer.writerow([*row, "|".join(answers), comment])


def shown(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%a %b %d %H:%M:%S GMT %Y")


def write_wmt_da() -> None:
    with open("wmt-da.csv", "w") as ratings, open("wmt-da-means.txt", "w") as means:
        ratings.write(
            "HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type sid score time\n"
        )
        for worker, scores in SCORES.items():
            own_mean, own_sd = float(f"{mean(scores):.7g}"), float(f"{stdev(scores):.7g}")
            means.write(f'[1] "{worker}"\n[1] {own_mean:.7g}\n[1] {own_sd:.7g}\n')
            for place, ((system, segment, kind), score) in enumerate(
                zip(ITEMS, scores, strict=True)
            ):
                z = f"{(score - own_mean) / own_sd:.15g}"
                time = f"{len(ITEMS) * SECONDS_PER_ITEM[worker]:.1f}"
                cells = ["HIT1", worker, "de", "en", "ad", "1", system, str(1000 + place)]
                ratings.write("\t".join([*cells, WMT_TYPES[kind], segment, z, time]) + "\n")


def write_appraise() -> None:
    with open("appraise.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for worker, scores in SCORES.items():
            rows = []
            for place, ((system, segment, kind), score) in enumerate(
                zip(ITEMS, scores, strict=True)
            ):
                start = START + place * SECONDS_PER_ITEM[worker]
                end = start + SECONDS_PER_ITEM[worker]
                cells = [worker, system, segment, APPRAISE_TYPES[kind], "deu", "eng", score]
                rows.append([*cells, f"{start:.3f}", f"{end:.3f}"])
            # Exports are in no order that means anything.
            writer.writerows(sorted(rows))


if __name__ == "__main__":
    write_mturk()
    write_wmt_da()
    write_appraise()
