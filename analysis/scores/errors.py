"""The error raised for score files that cannot be used."""

from da_platform.files.problems import FilesRefused, Problems


class ScoresRefused(FilesRefused):
    """Score files with problems, each listed with its file and line."""

    heading = "The scores were not used"


def refuse_if_any(problems: Problems) -> None:
    problems.refuse_if_any(ScoresRefused)
