"""What is wrong with a campaign's files, gathered so that an admin can mend it all at once."""

from dataclasses import dataclass, field

from ..exceptions import ImportRefused

# A screenful. The rest is counted only, so that a hopeless file takes no memory.
MAX_LISTED = 20


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing to mend. `file` is empty for the campaign's own settings; lines count from 1."""

    file: str
    line: int | None
    reason: str

    def __str__(self) -> str:
        if not self.file:
            return self.reason
        place = self.file if self.line is None else f"{self.file}, line {self.line}"
        return f"{place}: {self.reason}"


@dataclass
class Problems:
    listed: list[Problem] = field(default_factory=list)
    total: int = 0

    def add(self, file: str, line: int | None, reason: str) -> None:
        self.total += 1
        if len(self.listed) < MAX_LISTED:
            self.listed.append(Problem(file, line, reason))

    def refuse_if_any(self) -> None:
        if self.total:
            raise ImportRefused(self.listed, self.total)
