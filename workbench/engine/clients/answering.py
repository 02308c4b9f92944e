"""What the daemon tells hooks over a socket of the user's own, from a memory that it has open already."""

from __future__ import annotations

import json
import os
import selectors
import socket
import stat
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from workbench import __version__
from workbench.engine import layout
from workbench.engine.clients.asking import (
    LONGEST_REQUEST,
    QUICK_MOMENTS,
    NotPrivate,
    address_of,
    require_private,
    surroundings,
)
from workbench.engine.clients.hooks import HookCall, answer
from workbench.engine.errors import NotFound, WorkbenchError
from workbench.engine.roles import parse_role
from workbench.engine.settings.sections import user_settings_file

if TYPE_CHECKING:
    from workbench.engine.clock import Clock
    from workbench.engine.workspace import Workspace

# Seconds until a connection that has not asked is closed.
_PATIENCE: Final = 1.0
# One more closes the oldest.
_MOST_CONNECTIONS: Final = 32
_MOST_WAITING: Final = 128
_MOST_DOORS: Final = 4
# Nobody waits for what takes longer; what was read by then is kept.
_READING_SECONDS: Final = 1.0
_FAREWELL: Final = 5.0
_PAUSE: Final = 0.02
_REFUSED: Final = b'{"ok": false}'
_SHUT: Final = b""


class HookServer:
    """Answers hooks of one workspace on a thread of its own, one at a time, while it is entered.

    Args:
        open_door: Opens the workspace in a role, with its present settings.
        clock: Tells the time.
        tell: Called with what went wrong, once for each thing.
    """

    def __init__(
        self,
        root: Path,
        open_door: Callable[[str], Workspace],
        clock: Clock,
        tell: Callable[[str], object],
    ) -> None:
        self._root = root
        self._clock = clock
        self._tell = tell
        self._told: set[str] = set()
        self._doors = _Doors(root, open_door)
        self._surroundings = surroundings()

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Listen; where that cannot be, say so and do without."""
        with ExitStack() as stack:
            try:
                listener = stack.enter_context(_listener(address_of(str(self._root))))
            except OSError as error:
                self._say(f"Hooks look for themselves: {error}.")
                yield
                return
            woken, wake = (stack.enter_context(end) for end in socket.socketpair())
            thread = threading.Thread(target=self._serve, args=(listener, woken), name="hooks", daemon=True)
            thread.start()
            try:
                yield
            finally:
                wake.close()
                thread.join(_FAREWELL)

    def _serve(self, listener: socket.socket, woken: socket.socket) -> None:
        with selectors.DefaultSelector() as selector, self._doors:
            selector.register(listener, selectors.EVENT_READ)
            selector.register(woken, selectors.EVENT_READ)
            visitors: dict[int, _Visitor] = {}

            def leave(number: int) -> None:
                selector.unregister(number)
                visitors.pop(number).connection.close()

            while True:
                for key, _ in selector.select(_PATIENCE if visitors else None):
                    if key.fileobj is woken:
                        for number in tuple(visitors):
                            leave(number)
                        return
                    if key.fileobj is listener:
                        if (visitor := _Visitor.let_in(listener)) is not None:
                            number = visitor.connection.fileno()
                            visitors[number] = visitor
                            selector.register(number, selectors.EVENT_READ)
                            if len(visitors) > _MOST_CONNECTIONS:
                                leave(next(iter(visitors)))
                    elif (here := visitors.get(key.fd)) is not None and here.has_asked():
                        self._reply(here)
                        leave(key.fd)
                late = time.monotonic() - _PATIENCE
                for number in [number for number, one in visitors.items() if one.since < late]:
                    leave(number)

    def _reply(self, visitor: _Visitor) -> None:
        """Answer in one piece; whoever has no room for it does without."""
        content = _REFUSED
        if visitor.is_ours() and (asked := visitor.request()) is not None:
            try:
                content = json.dumps({"ok": True, "told": self._answer(asked)}).encode()
            except _NotHere:
                pass
            except Exception as error:  # whatever it is, the daemon goes on and the hook looks for itself
                self._doors.close()
                self._say(f"A hook was not answered: {error}")
        with suppress(OSError):
            visitor.connection.send(content)

    def _answer(self, asked: dict[str, Any]) -> dict[str, Any] | None:
        moment, role, client = asked.get("moment"), asked.get("role"), asked.get("client")
        if (asked.get("version"), asked.get("in")) != (__version__, self._surroundings):
            raise _NotHere
        if moment not in QUICK_MOMENTS or not isinstance(role, str) or not isinstance(client, str):
            raise _NotHere
        try:
            # A person looks for themselves.
            if parse_role(role).kind == "person":
                raise _NotHere
        except WorkbenchError as error:
            raise _NotHere from error
        given = asked.get("given")
        call = HookCall(str(moment), client, given if isinstance(given, dict) else {})
        self._doors.check()

        def open_door() -> AbstractContextManager[Workspace]:
            return nullcontext(self._doors.fresh(role))

        return answer(call, self._root, self._clock, open_door, is_main=role == "main")

    def _say(self, text: str) -> None:
        if text not in self._told and len(self._told) < _MOST_CONNECTIONS:
            self._told.add(text)
            self._tell(text)


class _NotHere(Exception):
    """A request that is not for this daemon to answer."""


@dataclass
class _Visitor:
    """One connection and what came over it."""

    connection: socket.socket
    since: float = field(default_factory=time.monotonic)
    content: bytearray = field(default_factory=bytearray)
    gone: bool = False

    @classmethod
    def let_in(cls, listener: socket.socket) -> _Visitor | None:
        """Accept one that waits; None where that cannot be."""
        try:
            connection, _ = listener.accept()
        except OSError:
            # Of too many open files, it waits still.
            time.sleep(_PAUSE)
            return None
        connection.setblocking(False)
        return cls(connection)

    def has_asked(self) -> bool:
        """Take in what has come; return whether the request is whole, or will never be."""
        try:
            part = self.connection.recv(65_536)
        except BlockingIOError:
            return False
        except OSError:
            part, self.gone = _SHUT, True
        self.content += part
        return part == _SHUT or len(self.content) > LONGEST_REQUEST

    def request(self) -> dict[str, Any] | None:
        """Return what is asked; None where that cannot be read."""
        if self.gone or not 0 < len(self.content) <= LONGEST_REQUEST:
            return None
        try:
            found = json.loads(self.content)
        except (ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None

    def is_ours(self) -> bool:
        """Return whether the other end is a process of the same user, where the system tells."""
        option = getattr(socket, "SO_PEERCRED", None)
        if option is None:
            return True
        with suppress(OSError):
            told = self.connection.getsockopt(socket.SOL_SOCKET, option, struct.calcsize("3i"))
            return bool(struct.unpack("3i", told)[1] == os.getuid())
        return False


class _Doors:
    """The doors to one workspace that are open, one for each role that asked lately.

    Args:
        open_door: Opens one in a role.
    """

    def __init__(self, root: Path, open_door: Callable[[str], Workspace]) -> None:
        self._root = root
        self._open_door = open_door
        self._open: dict[str, Workspace] = {}
        self._folder = _identity(root)
        self._settings = self._stamps()

    def __enter__(self) -> None:
        """Open the first at once, so that nobody waits for it."""
        with suppress(WorkbenchError, OSError):
            self.fresh("main").search("memory", max_results=1)

    def __exit__(self, *_: object) -> None:
        self.close()

    def check(self) -> None:
        """Let go of doors whose settings have changed.

        Raises:
            NotFound: The workspace is gone, or another folder is in its place.
        """
        if _identity(self._root) != self._folder:
            raise NotFound("The workspace was deleted or moved away.", where=str(self._root))
        if (stamps := self._stamps()) != self._settings:
            self.close()
            self._settings = stamps

    def fresh(self, role: str) -> Workspace:
        """Return a door that knows what is in the files now.

        Raises:
            WorkbenchError: It cannot be opened or read.
        """
        door = self._open.pop(role, None) or self._open_door(role)
        # The one that was asked last is the last.
        self._open[role] = door
        while len(self._open) > _MOST_DOORS:
            self._open.pop(next(iter(self._open))).close()
        until = time.monotonic() + _READING_SECONDS
        door.refresh(cancelled=lambda: time.monotonic() > until)
        return door

    def close(self) -> None:
        """Close them all."""
        for door in self._open.values():
            with suppress(WorkbenchError, OSError):
                door.close()
        self._open.clear()

    def _stamps(self) -> tuple[object, ...]:
        return tuple(
            _stamp(place) for place in (self._root / layout.SETTINGS, user_settings_file(os.environ))
        )


def _identity(place: Path) -> tuple[int, int] | None:
    with suppress(OSError):
        status = place.stat()
        return status.st_dev, status.st_ino
    return None


def _stamp(place: Path) -> tuple[int, int, int] | None:
    with suppress(OSError):
        status = place.stat()
        return status.st_size, status.st_mtime_ns, status.st_ino
    return None


@contextmanager
def _listener(address: str) -> Iterator[socket.socket]:
    """Listen where only this user can ask; what a daemon that died left there is replaced.

    Raises:
        OSError: That cannot be: the folder cannot be made or is open to others, or something else is in the place.
    """
    place = Path(address)
    place.parent.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        place.parent.mkdir(mode=0o700)
    require_private(str(place.parent))
    with suppress(FileNotFoundError):
        if not stat.S_ISSOCK(place.lstat().st_mode):
            raise NotPrivate(f"{place} is no socket")
        place.unlink()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        place.chmod(0o600)
        own = _own(place)
        listener.listen(_MOST_WAITING)
        listener.setblocking(False)
        try:
            yield listener
        finally:
            # Another daemon may have taken the place.
            if _own(place) == own:
                with suppress(OSError):
                    place.unlink()


def _own(place: Path) -> tuple[int, int] | None:
    with suppress(OSError):
        status = place.lstat()
        return status.st_dev, status.st_ino
    return None
