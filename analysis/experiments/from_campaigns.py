"""Files of an experiment from what campaigns collected: conclusions about systems, and post-editions."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from da_platform.numbers import known
from hits.models import Campaign, SystemOutput

from ..gold.ranking import rank_systems
from ..post_editions.reading import collected_post_editions
from ..ranking.stored import latest_ranking
from ..scores.raw_files import RawFile
from .base import ExperimentRefused, Option, Settings
from .comparing import OUTPUT_ENDING

JUDGED = (
    Campaign.Task.REFERENCE_ADEQUACY,
    Campaign.Task.SOURCE_ADEQUACY,
    Campaign.Task.FLUENCY,
    Campaign.Task.RANK,
)
EDITED = (Campaign.Task.EDIT,)
ALL_TASKS = tuple(Campaign.Task)
EDITED_SYSTEM = Option(
    "edited_system",
    "System that was edited",
    "",
    help_text="If the campaign has post-editions of several systems.",
)


def conclusions(campaign: Campaign) -> RawFile:
    """Return what a campaign says about pairs of systems, as a table that `read_conclusions` reads.

    Rankings give the clusters of their latest ranking; ratings the p-values of rank-sum tests of their newest gold.
    """
    if campaign.task == Campaign.Task.RANK:
        facts = latest_ranking(campaign)
        if facts is None:
            raise ExperimentRefused(f"{campaign} has no ranking yet. Rank its systems first.")
        rows = [(row["system"], row["cluster"]) for row in facts["systems"]]
        return _table(f"ranking of {campaign}.tsv", ("system", "cluster"), rows)
    run = campaign.gold_runs.newest()
    if run is None or not run.scores.filter(is_complete=True).exists():
        raise ExperimentRefused(f"{campaign} has no gold yet. Build it first.")
    comparison = rank_systems(run).comparison
    names, pvalues = comparison.systems.tolist(), comparison.rank_sum_pvalues
    tests = [
        (name, other, p)
        for i, name in enumerate(names)
        for j, other in enumerate(names)
        if i != j and (p := known(pvalues[i, j])) is not None
    ]
    return _table(f"{run}.tsv", ("system", "other", "p"), tests)


def _table(name: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> RawFile:
    lines = ["\t".join(map(str, row)) for row in (columns, *rows)]
    return RawFile(name, ("\n".join(lines) + "\n").encode())


def all_outputs(campaign: Campaign) -> dict[str, list[RawFile]]:
    """Return the outputs, references and sources of the segments that have a reference and an output of every system."""
    systems = campaign.systems.values_list("pk", "name")
    texts: defaultdict[int, dict[int, str]] = defaultdict(dict)
    outputs = SystemOutput.objects.filter(system__campaign=campaign).select_related("translation")
    for output in outputs.iterator():
        texts[output.segment_id][output.system_id] = str(output)
    segments = [
        segment
        for segment in campaign.segments.order_by("position")
        if segment.reference and len(texts[segment.pk]) == len(systems)
    ]
    if not segments:
        raise ExperimentRefused(
            f"{campaign} has no segment with a reference and an output of every system."
        )
    n_left_out = campaign.segments.count() - len(segments)
    plural = "" if n_left_out == 1 else "s"
    left_out = f", without {n_left_out} segment{plural}" if n_left_out else ""
    files = {
        "outputs": [
            RawFile(f"{name}{OUTPUT_ENDING}", _lines(texts[segment.pk][pk] for segment in segments))
            for pk, name in systems
        ],
        "references": [
            RawFile(
                f"references of {campaign}{left_out}.txt",
                _lines(segment.reference for segment in segments),
            )
        ],
    }
    if all(segment.source for segment in segments):
        sources = _lines(segment.source for segment in segments)
        files["sources"] = [RawFile(f"sources of {campaign}.txt", sources)]
    return files


def edited_outputs(campaign: Campaign, settings: Settings) -> dict[str, list[RawFile]]:
    """Return the outputs of one system, their sources, and the first post-edition that a trusted editor made of each."""
    texts = collected_post_editions(campaign).texts
    edited = sorted({system for system, _ in texts})
    if not edited:
        raise ExperimentRefused(f"{campaign} has no post-editions by trusted editors yet.")
    system = settings["edited_system"] or edited[0]
    if system not in edited or (len(edited) > 1 and not settings["edited_system"]):
        listed = ", ".join(edited)
        raise ExperimentRefused(f"Name the system that was edited (edited_system): {listed}.")
    outputs = SystemOutput.objects.filter(system__campaign=campaign, system__name=system)
    rows = [
        (str(output), output.segment.source, texts.get((system, output.segment.name), ("",))[0])
        for output in outputs.select_related("segment", "translation").order_by("segment__position")
    ]
    before, sources, edits = zip(*rows, strict=True)
    files = {"before": before, "post_editions": edits}
    if all(sources):
        files["sources"] = sources
    return {
        role: [RawFile(f"{role} of {campaign}.txt", _lines(lines))] for role, lines in files.items()
    }


def tokenised_editions(campaign: Campaign, settings: Settings) -> dict[str, list[RawFile]]:
    """Return the same with the words of outputs and post-editions apart, as they are tagged."""
    # sacreBLEU is slow to import, and pages do not need it.
    from ..metrics.catalogue import tokeniser_for, words_of

    words = words_of(tokeniser_for(campaign.target_language))
    files = edited_outputs(campaign, settings)

    def tokenised(role: str) -> list[RawFile]:
        return [
            RawFile(file.name, _lines(" ".join(words(line)) for line in text.splitlines()))
            for file in files[role]
            for text in (file.content.decode(),)
        ]

    sources = {role: files[role] for role in ("sources",) if role in files}
    return {
        "texts": tokenised("before"),
        "post_editions": tokenised("post_editions"),
        **sources,
    }


def _lines(texts: Iterable[str]) -> bytes:
    # An editor's text may have several lines.
    return "".join(f"{' '.join(text.split())}\n" for text in texts).encode()
