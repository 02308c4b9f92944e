"""Reads and changes memory on threads, and says in the status line what takes long.

Changes go one after another; of what is read for one part, only the newest request is shown.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from workbench.display import words
from workbench.display.words import counted, told_in_bench
from workbench.engine.errors import WorkbenchError
from workbench.engine.results.reviews import Phase
from workbench.tui.keys.table import COMMAND
from workbench.tui.verbs.act import Act

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import App

    from workbench.engine.results.reviews import CycleProgress, ReflectionDue
    from workbench.engine.workspace import Workspace
    from workbench.tui.frame.screen import Frame

_STAYS = "what was done until then stays"
# Seconds that leaving waits for the end of what was called off; what it writes is whole or absent.
_LONGEST_FAREWELL = 5.0
_PHASES = {
    Phase.SURVEY: "reading",
    Phase.META_REFLECTION: "looking at past reflections",
    Phase.CONSOLIDATE: "finding what is new",
    Phase.REWRITE_CORE: "looking at core memory",
    Phase.SUMMARISE: "summing up",
}
T = TypeVar("T")
_READERS = 3
# Seconds from a key to its echo on the screen, if nothing else is at work.
_FOR_A_KEY = 0.04


class Working:
    """Does what takes long beside everything else.

    Args:
        frame: In which it is told.
    """

    def __init__(self, frame: Frame, workspace: Workspace) -> None:
        self._frame = frame
        self.workspace = workspace
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._name = ""
        self.words = ""

    @property
    def is_running(self) -> bool:
        """Return whether something is under way."""
        return self._thread is not None

    @property
    def busy(self) -> str:
        """Return the sentence that says what is under way."""
        return f"{self._name} is still under way; esc in Today stops it."

    def begin(
        self,
        name: str,
        work: Callable[[Callable[[str], None], Callable[[], bool]], str],
        left: str = _STAYS,
        then: Callable[[], object] | None = None,
    ) -> None:
        """Begin something.

        Args:
            name: What it is called, as a sentence begins: “The reading”.
            work: Does it on a thread; told how to say in a word or two how far it is, and what to ask whether it was
                called off. Returns the sentence of the status line.
            left: What is left of it where it is called off, as a sentence goes on.
            then: Called once it came to its end, instead of reading again what is shown.
        """
        if self._thread is not None:
            self._frame.say(self.busy)
            return
        self._name, self.words = name, ""
        self._stop.clear()
        # Asked for here: a thread that outlives the bench finds no app through its screen.
        later = self._frame.app.call_later

        def tell(words: str) -> None:
            if words != self.words:
                self.words = words
                later(self._frame.redraw)

        def run() -> None:
            try:
                said, is_problem, is_done = work(tell, self._stop.is_set), False, True
            except WorkbenchError as error:
                said, is_problem, is_done = told_in_bench(error), not self._stop.is_set(), False
                if self._stop.is_set():
                    said = f"{name} was stopped; {left}."
            except BaseException as error:
                # Ours to mend: the bench ends with it, rather than wait for what never comes.
                later(self._broke, error)
                raise
            later(self._ended, said, is_problem, then if is_done else None)

        self._thread = threading.Thread(target=run, name=name, daemon=True)
        self._thread.start()

    def stop(self, name: str = "") -> bool:
        """Call off what is under way; returns whether anything is.

        Args:
            name: Only where it is called so.
        """
        if self._thread is None or (name and name != self._name):
            return False
        self._stop.set()
        self._frame.say(f"{self._name} stops.")
        return True

    def close(self) -> None:
        """Call off what is under way, and wait a while for its end."""
        thread = self._thread
        if thread is not None:
            self._stop.set()
            thread.join(_LONGEST_FAREWELL)

    def _ended(self, said: str, is_problem: bool, then: Callable[[], object] | None) -> None:
        self._thread, self.words = None, ""
        self._frame.say(said, is_problem=is_problem, stays=True)
        (then or self._frame.read_again)()

    def _broke(self, error: BaseException) -> None:
        self._thread, self.words = None, ""
        raise error

    def do(self, command: str) -> bool:
        """Read what is new, where anything is."""
        if command != "reflect":
            return False
        self._frame.reading.read("due", lambda workspace: workspace.reflection_due(), self._reflect)
        return True

    def _reflect(self, due: ReflectionDue) -> None:
        now = self._frame.now()
        if not due.unprocessed:
            read = COMMAND["reflect"].elsewhere.rstrip(".")
            last = due.last.astimezone(now.tzinfo) if due.last is not None else None
            when = f"; the last reflection was {words.on_day(last.date(), now.date())}" if last else ""
            self._frame.say(f"{read}{when}.")
        elif due.waiting:
            notes = f"{due.unprocessed:,} new {'note' if due.unprocessed == 1 else 'notes'}"
            renew = Act(
                lambda _: self._begin_from_thread(renew=True),
                f"The last reflection is not decided yet. Read {notes} as well?",
                "read them; what is undecided comes again",
            )
            self._frame.begin(renew)
        else:
            self._begin(renew=False)

    def _begin_from_thread(self, *, renew: bool) -> str:
        self._frame.app.call_later(lambda: self._begin(renew=renew))
        return "Reading what is new; esc in Today stops it."

    def _begin(self, *, renew: bool) -> None:
        self._frame.say("Reading what is new; everything else works meanwhile, and esc in Today stops it.")

        def read(tell: Callable[[str], None], stopped: Callable[[], bool]) -> str:
            def progress(told: CycleProgress) -> None:
                steps = f" {told.done:,} of {told.total:,}" if told.total else ""
                tell(f"{_PHASES[told.phase]}{steps}")

            reflected = self.workspace.reflect(renew=renew, progress=progress, cancelled=stopped)
            if not reflected.ids:
                return reflected.reason
            count = len(reflected.ids)
            key = self._frame.keymap.key("place-inbox")
            return f"{counted(count, 'change waits', 'changes wait')} in the Inbox; key {key} goes there."

        self.begin("The reading", read, "nothing was proposed")


class Told(Protocol):
    """Is told after each action what was done."""

    def __call__(self, said: str, *, is_problem: bool, stays: bool) -> object: ...


class Acting:
    """A queue of actions, in the order in which they were asked for.

    Args:
        app: On whose thread is told what was done.
        done: Told the sentence after each action, with whether it is a problem and whether it stays.
    """

    def __init__(self, app: App[None], workspace: Workspace, done: Told) -> None:
        self._app = app
        self._workspace = workspace
        self._done = done
        self._queue = ThreadPoolExecutor(1, "act")
        self._last: Future[None] | None = None
        self._under_way = 0
        self.undo_before = ""
        """What undo would have taken back before what was done last; the same still where that cannot be undone."""

    def act(self, act: Act) -> None:
        """Have something done, on the thread of actions."""

        def do() -> None:
            # Asked here: what the frame counted last may be from before, or from the midst of it.
            before = None if act.only_looks else _next_undo(self._workspace)
            try:
                said, is_problem = act.call(self._workspace), False
            except WorkbenchError as error:
                said, is_problem = told_in_bench(error), True
            self._app.call_later(self._tell, said, is_problem, act.stays, before)

        self._under_way += 1
        self._last = self._queue.submit(do)
        self._last.add_done_callback(partial(break_with, self._app))

    @property
    def is_busy(self) -> bool:
        """Return whether something that was asked for is not done and told yet."""
        return self._under_way > 0

    def _tell(self, said: str, is_problem: bool, stays: bool, before: str | None) -> None:
        self._under_way -= 1
        if before is not None:
            self.undo_before = "" if is_problem else before
        self._done(said, is_problem=is_problem, stays=stays)

    def close(self) -> None:
        """Wait until everything asked for is done; nothing more is taken then."""
        if self._last is not None:
            wait([self._last])
        self._queue.shutdown(wait=False)


def _next_undo(workspace: Workspace) -> str:
    """Return the commit or tick that undo would take back; empty where there is none, or none can be read."""
    try:
        step = workspace.next_steps().last
    except WorkbenchError:
        return ""
    return step.commit if step is not None else ""


class Courtesy:
    """Lets what nobody waits for wait while a key is on its way to the screen: Python runs one thread at a time."""

    def __init__(self) -> None:
        self._until = 0.0

    def begin(self) -> None:
        """Be told that a key has come in."""
        self._until = time.monotonic() + _FOR_A_KEY

    def unless(self, stopped: Callable[[], bool]) -> Callable[[], bool]:
        """Return what work on a thread is to ask again and again whether it was called off."""

        def asked() -> bool:
            if (left := self._until - time.monotonic()) > 0:
                time.sleep(left)
            return stopped()

        return asked


class Reading:
    """Answers questions to memory; the only thing beside `Acting` that calls the engine.

    Args:
        app: Which answers are delivered to, on its own thread.
        failed: Told of a question that could not be answered.
    """

    def __init__(
        self, app: App[None], workspace: Workspace, failed: Callable[[WorkbenchError], object]
    ) -> None:
        self._app = app
        self._workspace = workspace
        self._failed = failed
        self._newest: dict[str, int] = {}
        self._under_way: set[str] = set()
        self._pool = ThreadPoolExecutor(_READERS, "read")
        self._is_closed = False

    def read(
        self,
        part: str,
        ask: Callable[[Workspace], T],
        show: Callable[[T], object],
        failed: Callable[[WorkbenchError], object] | None = None,
    ) -> None:
        """Ask on a thread, and show the answer unless something newer was asked for the same part.

        Args:
            part: For whom; a newer request for it makes this one void.
            ask: Called on a thread.
            show: Called with the answer on the app's thread.
            failed: Told instead of the one that is told of every failure.
        """
        if self._is_closed:
            return
        number = self._newest[part] = self._newest.get(part, 0) + 1
        self._under_way.add(part)

        def answer() -> None:
            if self._newest[part] != number:
                return
            try:
                found = ask(self._workspace)
            except WorkbenchError as error:
                self._app.call_later(self._tell, part, number, failed or self._failed, error)
                return
            except Exception:
                if self._is_closed:
                    # The bench was left meanwhile: who asked looked for a screen that is gone.
                    return
                raise
            self._app.call_later(self._tell, part, number, show, found)

        self._pool.submit(answer).add_done_callback(partial(break_with, self._app))

    def is_reading(self, part: str) -> bool:
        """Return whether something is still being read for a part."""
        return part in self._under_way

    def forget(self, part: str) -> None:
        """Make void whatever is still being read for a part."""
        self._newest[part] = self._newest.get(part, 0) + 1
        self._under_way.discard(part)

    def _tell(self, part: str, number: int, show: Callable[[T], object], found: T) -> None:
        # Once the bench was left, there is nothing on the screen to show it in.
        if self._newest[part] == number and not self._is_closed:
            self._under_way.discard(part)
            show(found)

    def close(self) -> None:
        """Begin nothing more; what is asked from now on is not answered."""
        self._is_closed = True
        self._pool.shutdown(wait=False, cancel_futures=True)


def break_with(app: App[Any], future: Future[None]) -> None:
    """End the bench with what nobody expected on a thread: it is ours to mend, and nothing may go on waiting for it."""
    if not future.cancelled() and (error := future.exception()) is not None:
        app.call_later(raise_on_screen, error)


def raise_on_screen(error: BaseException) -> None:
    """Raise what a thread ran into where it ends the bench, with its trace."""
    raise error
