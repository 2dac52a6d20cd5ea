"""A network cable that can be pulled: it forwards a local port to a server."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

_BLOCK = 65_536


@dataclass
class Cable:
    """Forwards a local port to a Unix socket or another local port."""

    target: str | int
    listener: socket.socket = field(default_factory=socket.socket)
    is_plugged: bool = True
    ends: set[socket.socket] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def port(self) -> int:
        port: int = self.listener.getsockname()[1]
        return port

    def start(self) -> None:
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(200)
        threading.Thread(target=self._accept, daemon=True).start()

    def pull(self) -> None:
        """Cut all connections and refuse new ones."""
        with self.lock:
            self.is_plugged = False
            for end in self.ends:
                _hang_up(end)
            self.ends.clear()

    def plug(self) -> None:
        self.is_plugged = True

    def stop(self) -> None:
        self.pull()
        self.listener.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._join, args=(near,), daemon=True).start()

    def _join(self, near: socket.socket) -> None:
        try:
            far = self._reach()
        except OSError:
            near.close()
            return
        with self.lock:
            if not self.is_plugged:
                _hang_up(near)
                _hang_up(far)
                return
            self.ends |= {near, far}
        for source, sink in ((near, far), (far, near)):
            threading.Thread(target=self._pass, args=(source, sink), daemon=True).start()

    def _reach(self) -> socket.socket:
        if not self.is_plugged:
            raise ConnectionRefusedError
        if isinstance(self.target, int):
            return socket.create_connection(("127.0.0.1", self.target), timeout=None)
        far = socket.socket(socket.AF_UNIX)
        try:
            far.connect(self.target)
        except OSError:
            far.close()
            raise
        return far

    def _pass(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while block := source.recv(_BLOCK):
                sink.sendall(block)
        for end in (source, sink):
            _hang_up(end)
            with self.lock:
                self.ends.discard(end)


def _hang_up(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()


@contextmanager
def cable(target: str | int) -> Iterator[Cable]:
    wire = Cable(target)
    wire.start()
    try:
        yield wire
    finally:
        wire.stop()
