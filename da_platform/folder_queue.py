"""A message queue in a folder, for the embedded default: nothing to install, nothing to run.

Kombu has such a transport, but it writes a message under its final name, where a reader can find half of it,
and moves messages through the shared temporary folder. Here a message appears and disappears by one rename
within the folder.
"""

import os
import time
import uuid
from functools import cached_property
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.exceptions import ChannelError
from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import dumps, loads

SCHEME = "folder"
TRANSPORT_ALIASES[SCHEME] = f"{__name__}:Transport"


class Channel(filesystem.Channel):
    @cached_property
    def data_folder_in(self) -> str:
        """The folder, created on first use and readable only by the platform's user."""
        folder = Path(self.transport_options["folder"])
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise ChannelError(f"Cannot make the queue's folder: {error}") from error
        return str(folder)

    @property
    def data_folder_out(self) -> str:
        return self.data_folder_in

    def _queue_bind(self, *args: Any, **kwargs: Any) -> None:
        """Store no table of bindings, because two processes writing it at once would corrupt it."""

    def _lookup(self, exchange: str, routing_key: str, default: str | None = None) -> list[str]:
        # Every queue is addressed by its name.
        return [routing_key]

    def _put(self, queue: str, payload: dict[str, Any], **kwargs: Any) -> None:  # type: ignore[override]
        folder = Path(self.data_folder_out)
        # Wall clock time, so that the order survives a restart of the machine.
        name = f"{time.time_ns():020}_{uuid.uuid4().hex}.{queue}.msg"
        draft = folder / f".{name}"
        try:
            draft.write_text(dumps(payload), encoding="utf-8")
            draft.rename(folder / name)
        except OSError as error:
            raise ChannelError(f"Cannot write to the queue in {folder}: {error}") from error

    def _get(self, queue: str, timeout: float | None = None) -> dict[str, Any]:
        folder = Path(self.data_folder_in)
        for name in sorted(os.listdir(folder)):
            if name.partition(".")[2] != f"{queue}.msg":
                continue
            claimed = folder / f".{name}.taken"
            try:
                os.rename(folder / name, claimed)
            except FileNotFoundError:
                # Another process was faster.
                continue
            payload = loads(claimed.read_text(encoding="utf-8"))
            claimed.unlink()
            return payload
        raise Empty


class Transport(filesystem.Transport):
    Channel = Channel
