"""A program in a terminal of its own, for timing what a person sees."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

ROWS, COLUMNS = 40, 120
QUIET = 0.08
PATIENCE = 30.0
STYLES = re.compile(
    rb"\x1b\[[0-9;:?<>=]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[PX^_].*?\x1b\\|\x1b.", re.DOTALL
)


class Terminal:
    """A program in a terminal of its own, of 120 by 40 cells."""

    def __init__(self, command: list[str]) -> None:
        self.started = time.perf_counter()
        self.pid, self.handle = pty.fork()
        if not self.pid:
            os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")
            os.execvp(command[0], command)
        fcntl.ioctl(self.handle, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.raw = bytearray()

    def read(self, wait: float) -> bytes:
        """Return what is printed within so many seconds, at once when there is something."""
        ready, _, _ = select.select([self.handle], [], [], wait)
        if not ready:
            return b""
        try:
            chunk = os.read(self.handle, 1 << 16)
        except OSError:
            chunk = b""
        self.raw += chunk
        return chunk

    def wait_for(self, text: str, *, since: float | None = None) -> float:
        """Return the seconds until a text has been painted.

        Args:
            text: As it stands on one line.
            since: Reading of the clock to count from; the start of the program by default.
        """
        since = self.started if since is None else since
        wanted = text.encode()
        while time.perf_counter() - since < PATIENCE:
            self.read(0.05)
            if wanted in STYLES.sub(b"", bytes(self.raw)):
                return time.perf_counter() - since
        shown = STYLES.sub(b"", bytes(self.raw))[-2000:].decode(errors="replace")
        raise SystemExit(f"“{text}” was never painted. The last of what was:\n{shown}")

    def press_for(self, key: bytes, text: str) -> float:
        """Press a key; returns the seconds until a text has been painted that was not there before."""
        self.raw.clear()
        pressed = time.perf_counter()
        os.write(self.handle, key)
        return self.wait_for(text, since=pressed)

    def settle(self) -> None:
        """Read until nothing has been printed for a while."""
        while self.read(0.4):
            pass

    def press(self, key: bytes, quiet: float = QUIET) -> tuple[float, float, int]:
        """Press a key; returns seconds to the first and to the last byte of the answer, and how many bytes it had.

        Args:
            key: What the terminal sends for it.
            quiet: Seconds without a byte after which the answer is over.
        """
        pressed = time.perf_counter()
        os.write(self.handle, key)
        first = last = 0.0
        count = 0
        while chunk := self.read(quiet if count else 2.0):
            last = time.perf_counter() - pressed
            first = first or last
            count += len(chunk)
        return first, last, count

    def close(self) -> None:
        """End the program and wait for it."""
        os.kill(self.pid, signal.SIGTERM)
        os.waitpid(self.pid, 0)
        os.close(self.handle)
