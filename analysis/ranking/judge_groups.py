"""Groups of judges, such as researchers and crowd workers, within which agreement is measured."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from da_platform.files.problems import Problems
from da_platform.files.reading import CampaignFolder, Line, printable, read_lines
from hits.models import Campaign, Worker

from ..gold.named_workers import WorkersRefused, keys_of, lines_by_pseudonym

# Group by pseudonym.
Groups = dict[str, str]

MOST_CHARACTERS = 100
# Where groups that were typed or sent came from, in problems.
FIELD_NAME = "groups"


def read_group_file(campaign: Campaign, path: Path) -> Groups:
    """Return the groups of a file with a worker and a group on each line, divided by a tab or a comma.

    Raises
    ------
    WorkersRefused
        With file and line of every worker that is unknown, ambiguous or repeated, or has no group.
    """
    problems = Problems()
    lines = list(read_lines(CampaignFolder(path.parent), path, problems, may_have_crlf=True))
    return _groups(campaign, lines, path.name, problems, by_id=True)


def groups_in(campaign: Campaign, text: str, *, by_id: bool) -> Groups:
    """Return the groups of lines that were typed. Only those who may see ids may name workers by id."""
    lines = enumerate(text.splitlines(), start=1)
    return _groups(campaign, lines, FIELD_NAME, Problems(), by_id=by_id)


def groups_of(campaign: Campaign, groups: Mapping[str, str], *, by_id: bool) -> Groups:
    """Return the groups of workers that were sent by name."""
    lines = (f"{name}\t{group}" for name, group in groups.items())
    return _groups(campaign, enumerate(lines, start=1), FIELD_NAME, Problems(), by_id=by_id)


def judges_by_group(campaign: Campaign, groups: Groups | None) -> dict[str, list[int]]:
    """Return the keys of the judges in each group; without groups, by the way in which they came.

    Nothing if all of them came the same way.
    """
    if groups:
        names = sorted(set(groups.values()))
        return {
            group: keys_of(campaign, [name for name in groups if groups[name] == group])
            for group in names
        }
    judges: dict[str, list[int]] = {}
    workers = Worker.objects.filter(participations__campaign=campaign)
    for pk, provider in workers.order_by("provider", "pk").values_list("pk", "provider"):
        judges.setdefault(provider, []).append(pk)
    return judges if len(judges) > 1 else {}


def _groups(
    campaign: Campaign, lines: Iterable[Line], file: str, problems: Problems, *, by_id: bool
) -> Groups:
    names: list[Line] = []
    by_line: dict[int, str] = {}
    for number, line in lines:
        if not (text := (line or "").strip()):
            continue
        name, _, group = text.rpartition("\t" if "\t" in text else ",")
        name, group = name.strip(), printable(group.strip())
        if not name or not group:
            problems.add(file, number, "needs a worker and a group, separated by a tab or a comma")
        elif len(group) > MOST_CHARACTERS:
            problems.add(file, number, f"the group has more than {MOST_CHARACTERS} characters")
        else:
            names.append((number, name))
            by_line[number] = group
    if not names:
        problems.refuse_if_any(WorkersRefused)
    pseudonyms = lines_by_pseudonym(campaign, names, file, problems, by_id=by_id)
    return {name: by_line[number] for name, number in pseudonyms.items()}
