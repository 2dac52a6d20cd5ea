"""A message queue in a folder, for the embedded default: nothing to install, nothing to run.

Kombu has a transport of this kind, but it writes a message under its final name, where a reader can
catch half of it, and moves what it reads through the temporary folder that everyone shares. Here a
message comes and goes by one rename within the folder.
"""

import os
import time
import uuid
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.exceptions import ChannelError
from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import dumps, loads

SCHEME = "folder"
TRANSPORT_ALIASES[SCHEME] = f"{__name__}:Transport"


class Channel(filesystem.Channel):
    def _put(self, queue: str, payload: dict[str, Any], **kwargs: Any) -> None:  # type: ignore[override]
        folder = Path(self.data_folder_out)
        # By the wall clock: the order must hold across a restart of the machine.
        name = f"{time.time_ns():020}_{uuid.uuid4().hex}.{queue}.msg"
        draft = folder / f".{name}"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            draft.write_text(dumps(payload), encoding="utf-8")
            draft.rename(folder / name)
        except OSError as error:
            raise ChannelError(f"Cannot write to the queue in {folder}: {error}") from error

    def _get(self, queue: str, timeout: float | None = None) -> dict[str, Any]:
        folder = Path(self.data_folder_in)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in sorted(os.listdir(folder)):
            if name.partition(".")[2] != f"{queue}.msg":
                continue
            taken = folder / f".{name}.taken"
            try:
                os.rename(folder / name, taken)
            except FileNotFoundError:
                # Another process was faster.
                continue
            payload = loads(taken.read_text(encoding="utf-8"))
            taken.unlink()
            return payload
        raise Empty


class Transport(filesystem.Transport):
    Channel = Channel
