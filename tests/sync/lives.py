"""One seeded life of a memory on three devices: `python -m tests.sync.lives SEED FOLDER`.

Twenty steps of writing, editing, deciding, undoing, purging and syncing, each in a process of its own; every third is
killed somewhere. Then everybody syncs, and what must hold is checked. Prints what does not, and exits with 1.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import sys
import time
import traceback
from collections import defaultdict
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from tests.sync.household import START, Household
from workbench.engine import Workspace, layout
from workbench.engine.clock import FixedClock
from workbench.engine.errors import StorageError, WorkbenchError
from workbench.engine.sync.conflicts import ConflictFile, ConflictRecord, Decision

STEPS = 20
NAMES = ("laptop", "desk", "server")
_TOKEN = re.compile(rb"tok[0-9]{4}x")
_PEOPLE = ("Sam", "Jo", "Kim")
# Seconds; a step takes about half of this.
_LONGEST = 0.25
_NOTE = "memory/vault/plans.md"


class Life:
    """A life, and what is known to have happened in it.

    Args:
        seed: Decides everything but where a kill falls.
        folder: An empty folder.
    """

    def __init__(self, seed: int, folder: Path) -> None:
        self.random = random.Random(seed)
        self.home = Household(folder)
        self.problems: list[str] = []
        self.written: set[str] = set()
        self.purged: set[str] = set()
        self.gone: set[str] = set()
        self.edited: set[str] = set()
        # By device and id: what was asked there. By id: what was answered anywhere. What an undo asks again.
        self.asked: dict[str, dict[str, ConflictRecord]] = {name: {} for name in NAMES}
        self.answers: dict[str, set[Decision]] = defaultdict(set)
        self.taken_back: set[str] = set()
        self.is_note_purged = False
        self.log: list[str] = []
        self.number = 0

    def live(self) -> list[str]:
        """Return what does not hold at the end."""
        Workspace.init(self.home.root(NAMES[0]), clock=self.home.clock, timezone="UTC")
        (self.home.root(NAMES[0]) / "memory/vault").mkdir(parents=True, exist_ok=True)
        (self.home.root(NAMES[0]) / _NOTE).write_text("# Plans\n\n- Monday: rest\n- Tuesday: rest\n")
        for name in NAMES:
            self.home.join(name)
        for self.number in range(1, STEPS + 1):
            self.step()
        self.end()
        return self.problems

    def step(self) -> None:
        name = self.random.choice(NAMES)
        kinds = ["write", "write", "edit", "edit", "undo", "purge", "sync", "sync", "sync", "sync"]
        # Who is asked something often answers.
        kinds += ["decide"] * 4 * any(each.decision is None for each in self.asked[name].values())
        kind = self.random.choice(kinds)
        token = f"tok{self.number:04}x"
        before = self.tokens(name)
        # What is purged may be on other devices, too, or only wait for a decision.
        known = sorted(before)
        victim = self.random.choice(known) if kind == "purge" and known else ""
        acts: dict[str, Callable[[Workspace], object]] = {
            "write": lambda it: it.remember(
                f"{self.random.choice(_PEOPLE)} keeps the number {token} for the garden door",
                entities=[f"person:{self.random.choice(_PEOPLE)}"],
            ),
            "edit": lambda it: self.edit(it, token),
            "decide": self.decide,
            "undo": lambda it: it.undo(),
            "purge": lambda it: self.purge(it, victim),
            "sync": lambda it: it.sync(),
        }
        kill = self.random.random() < 1 / 3
        after = self.random.uniform(0.0, _LONGEST)
        how = self.run(name, acts[kind], after if kill else None)
        self.log.append(f"{self.number} {name} {kind} {token if kind in ('write', 'edit') else victim} {how}")
        if how == "killed":
            # Whoever comes next finishes or forgets it.
            self.run(name, lambda it: it.adopt(), None)
        now = self.tokens(name)
        if token in now or (kind == "write" and how == "done"):
            self.written.add(token)
        if kind == "purge" and victim and (how == "done" or victim not in now):
            self.purged.add(victim)
        if victim and victim in before - now and victim in self.edited:
            # The whole note went, and what others wrote into it meanwhile goes with it.
            self.is_note_purged = True
        if kind == "edit":
            self.edited.add(token)
        if kind in ("undo", "edit", "decide"):
            self.gone |= before - now
        self.look_at_conflicts(name, kind)

    def edit(self, workspace: Workspace, token: str) -> None:
        """Change a line by hand, as an editor does."""
        place = workspace.root / _NOTE
        if not place.exists():
            return
        day = self.random.choice(("Monday", "Tuesday"))
        text = re.sub(rf"- {day}: .*", f"- {day}: meet at {token}", place.read_text())
        place.with_suffix(".new").write_text(text)
        place.with_suffix(".new").replace(place)
        workspace.adopt()

    def purge(self, workspace: Workspace, victim: str) -> None:
        """Purge a token that a file has."""
        if victim and not workspace.forget(victim, apply=True, hard=True, purge_history=True).applied:
            raise AssertionError(f"nothing was found of {victim}")

    def decide(self, workspace: Workspace) -> None:
        """Decide on one of what waits, if anything does."""
        waiting = workspace.conflicts().conflicts
        if waiting:
            chosen = self.random.choice(waiting)
            choices = ("this", "that", "both") if chosen.may_keep_both else ("this", "that")
            workspace.conflict_settle(chosen.id, self.random.choice(choices))

    def look_at_conflicts(self, name: str, kind: str) -> None:
        """Check that what was decided is not asked again, and that nothing that was asked goes away by itself."""
        before = self.asked[name]
        self.asked[name] = now = dict(ConflictFile.parse(self.home.files(name).get(layout.CONFLICTS)).records)
        for conflict, record in now.items():
            self.answers[conflict] |= {record.decision} if record.decision else set()
        for conflict, record in before.items():
            if conflict in now:
                # Two who answer differently are asked once more.
                is_again = (
                    record.decision is not None
                    and now[conflict].decision is None
                    and len(self.answers[conflict]) == 1
                )
            else:
                # What is purged takes its question with it.
                is_again = not self.is_note_purged and not any(token in repr(record) for token in self.purged)
            if is_again and kind == "undo":
                self.taken_back.add(conflict)
            elif is_again and conflict not in self.taken_back:
                told = "is asked again" if conflict in now else "was asked and is gone"
                self.problems.append(f"step {self.number}, {kind} on {name}: {conflict} {told}")

    def run(self, name: str, act: Callable[[Workspace], object], kill_after: float | None) -> str:
        """Do something in a process of its own; return `done`, `killed`, or why it was refused."""
        seed = self.random.random()
        reads, writes = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reads)
            self._be(name, act, seed, writes)
        os.close(writes)
        if kill_after is not None:
            time.sleep(kill_after)
            os.kill(child, signal.SIGKILL)
        with open(reads, "rb") as answer:  # noqa: PTH123 - a handle
            told = answer.read().decode()
        os.waitpid(child, 0)
        if told.startswith("!"):
            self.problems.append(f"step {self.number} on {name}: {told[1:]}")
        return told or "killed"

    def _be(self, name: str, act: Callable[[Workspace], object], seed: float, answer: int) -> None:
        """Be the process: never returns."""
        self.random = random.Random(seed)
        told = "done"
        try:
            # Several devices write within one minute.
            clock = FixedClock(START + timedelta(minutes=10 + self.number // 3, seconds=self.number))
            with Workspace.open(self.home.root(name), role="person", clock=clock) as workspace:
                act(workspace)
        except StorageError as error:
            told = f"!{error}"
        except WorkbenchError as error:
            told = f"{type(error).__name__}: {error}"
        except BaseException:  # the driver reports it
            told = f"!{traceback.format_exc()}"
        os.write(answer, told.encode())
        os._exit(0)

    def tokens(self, name: str) -> set[str]:
        """Return the tokens in the files of a device."""
        found: set[str] = set()
        for path, content in self.home.files(name).items():
            if not path.startswith("memory/meta/") or path == layout.CONFLICTS:
                found |= {token.decode() for token in _TOKEN.findall(content)}
        return found

    def end(self) -> None:
        """Let everybody sync, two decide by themselves, all sync until nothing is new; check what must hold."""
        self.sync_all(2)
        for name in self.random.sample(NAMES, 2):
            self.number += 1
            before = self.tokens(name)
            self.run(name, self.decide, None)
            self.gone |= before - self.tokens(name)
            self.look_at_conflicts(name, "decide")
        self.sync_all(3)
        first = self.home.files(NAMES[0])
        for name in NAMES[1:]:
            files = self.home.files(name)
            differing = sorted(path for path in {*first, *files} if first.get(path) != files.get(path))
            if differing:
                self.problems.append(f"{name} differs from {NAMES[0]} in {differing}")
            if self.home.head(name) != self.home.head(NAMES[0]):
                self.problems.append(f"{name} stands at another commit")
        lost = self.written - self.gone - self.purged - self.tokens(NAMES[0])
        if self.is_note_purged:
            lost -= self.edited
        if lost:
            self.problems.append(f"lost: {sorted(lost)}")
        for name in NAMES:
            self.check(name)
        for token in self.purged:
            for place in (self.home.remote, *map(self.home.root, NAMES)):
                if self.home.says(place, token):
                    self.problems.append(f"{place.name} still says {token}")

    def sync_all(self, rounds: int) -> None:
        for _ in range(rounds):
            for name in NAMES:
                self.number += 1
                how = self.run(name, lambda it: it.sync(), None)
                if how != "done":
                    self.problems.append(f"last sync of {name}: {how}")
                self.look_at_conflicts(name, "sync")

    def check(self, name: str) -> None:
        def ask(workspace: Workspace) -> None:
            verified = workspace.audit_verify(deep=True)
            alerts = [alert.summary for alert in workspace.audit_alerts().alerts]
            if not verified.ok or alerts:
                raise AssertionError(f"{verified.problems} {alerts}")

        self.run(name, ask, None)


def main(seed: int, folder: Path) -> int:
    """Live one life."""
    folder.mkdir(parents=True, exist_ok=True)
    life = Life(seed, folder)
    problems = life.live()
    if problems:
        sys.stdout.write(json.dumps({"seed": seed, "problems": problems, "log": life.log}, indent=1) + "\n")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), Path(sys.argv[2])))
