"""Names of workers, one a line, so that gold can be built from their ratings alone."""

from collections import defaultdict
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from da_platform.files.problems import FilesRefused, Problems
from da_platform.files.pseudonyms import Pseudonyms
from da_platform.files.reading import CampaignFolder, Line, printable, read_lines
from hits.archives.storing import PROVIDER as IMPORTED
from hits.models import Campaign, Worker

# More than any campaign has had; keeps a request small.
MOST_WORKERS = 10_000
# Where names that were typed or sent came from, in problems.
FIELD_NAME = "workers"


class WorkersRefused(FilesRefused):
    heading = "The workers were refused"


def read_worker_file(campaign: Campaign, path: Path) -> list[str]:
    """Return the pseudonyms of the workers that a file names by pseudonym or id.

    Raises
    ------
    WorkersRefused
        With file and line of every name that is unknown, ambiguous or repeated.
    """
    problems = Problems()
    lines = list(read_lines(CampaignFolder(path.parent), path, problems, may_have_crlf=True))
    return sorted(lines_by_pseudonym(campaign, lines, path.name, problems, by_id=True))


def pseudonyms_of(campaign: Campaign, names: Iterable[str], *, by_id: bool) -> list[str]:
    """Return the pseudonyms of named workers. Only those who may see ids may name workers by id."""
    lines = enumerate(names, start=1)
    return sorted(lines_by_pseudonym(campaign, lines, FIELD_NAME, Problems(), by_id=by_id))


def keys_of(campaign: Campaign, pseudonyms: Iterable[str]) -> list[int]:
    """Return the keys of the workers with these pseudonyms, in order."""
    known = {name: worker.pk for name, worker in _by_pseudonym(campaign).items()}
    problems = Problems()
    chosen = set(pseudonyms)
    for name in sorted(chosen - known.keys()):
        problems.add("", None, f"{printable(name)} is no longer a worker of {campaign}")
    problems.refuse_if_any(WorkersRefused)
    return sorted(known[name] for name in chosen)


def fingerprint(campaign: Campaign, keys: Iterable[int]) -> str:
    """Return eight digits that are equal if the same workers were named, for signatures."""
    by_key = {worker.pk: name for name, worker in _by_pseudonym(campaign).items()}
    names = sorted(by_key.get(key, "") for key in keys)
    return sha256("\n".join(names).encode()).hexdigest()[:8]


def _by_pseudonym(campaign: Campaign) -> dict[str, Worker]:
    names = Pseudonyms(campaign.code, "worker")
    workers = Worker.objects.filter(participations__campaign=campaign)
    return {names.name(str(worker)): worker for worker in workers}


def lines_by_pseudonym(
    campaign: Campaign, lines: Iterable[Line], file: str, problems: Problems, *, by_id: bool
) -> dict[str, int]:
    """Return the pseudonym of each named worker with the number of its line, or raise `WorkersRefused`."""
    by_pseudonym = _by_pseudonym(campaign)
    known = defaultdict(set, {name: {name} for name in by_pseudonym})
    if by_id:
        for pseudonym, worker in by_pseudonym.items():
            known[str(worker)].add(pseudonym)
            known[worker.external_id].add(pseudonym)
            if worker.provider == IMPORTED:
                # As in the files of the collection, without the namespace.
                known[worker.external_id.rpartition("/")[2]].add(pseudonym)
    first_lines: dict[str, int] = {}
    for number, line in lines:
        # A line that cannot be read is a problem already.
        if not (name := (line or "").strip()):
            continue
        matches = known.get(name, set())
        if not matches:
            problems.add(file, number, f"no worker of this campaign is called {printable(name)!r}")
        elif len(matches) > 1:
            reason = f"{printable(name)!r} matches {len(matches)} workers: write the provider first, as in link:{printable(name)}"
            problems.add(file, number, reason)
        elif (first := first_lines.setdefault(min(matches), number)) != number:
            problems.add(file, number, f"names the same worker as line {first}")
    if not first_lines and not problems.total:
        problems.add(file, None, "names no workers")
    problems.refuse_if_any(WorkersRefused)
    return first_lines
