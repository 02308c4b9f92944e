"""Whatever memory holds, whatever is damaged and whatever is pressed: the bench goes on, and history stays whole."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from textual import events
from textual.keys import _character_to_key
from textual.pilot import Pilot

from tests.isolation import isolate
from tests.tui.frame.hands import opened, press
from tests.tui.hostile_workspace import all_files, copy_harmed, harmed_template, tear
from tests.tui.proposed_workspace import asked_template
from tests.tui.seen_workspace import NOW, SETTINGS
from tests.tui.stillness import settle
from workbench.engine import FixedClock, Workspace
from workbench.tui.keys.table import ASK, COMMANDS, HEALTH, IMPORT, PLACES, PREFIXES

__all__ = ["asked_template", "harmed_template"]

SIZES = ((40, 10), (80, 24), (120, 36), (160, 40), (240, 60), (20, 5))
NAMES = [each.name for each in (*PLACES, ASK, HEALTH, IMPORT)]
CONTROL = re.compile("[\\x00-\\x1f\\x7f-\\x9f\u202e\u2066\u200b\u2028]")
_LEAVING = "ctrl+q"
# Hands the terminal to an editor, which a test has none of.
_OUTSIDE = "E"
# Makes the folder that one names, outside; tests/sync name good and bad ones.
_ELSEWHERE = "sync"
_MORE = ("ctrl+s", "backspace", "ctrl+c", "insert", "f5")
_NAMED = {*(key for command in COMMANDS for key in command.keys if len(key) > 1), *_MORE}
KEYS = (
    *(key for command in COMMANDS for key in command.keys if key not in (_LEAVING, _OUTSIDE)),
    *(
        f"{prefix.key} {key}"
        for prefix in PREFIXES
        for command in prefix.commands
        for key in command.keys
        if command.id != _ELSEWHERE
    ),
    *("escape", "enter", "down", "up") * 6,
    *_MORE,
    *("tide", "[b]x[/", "../../x", "~/x", "é漢\u202e", "1", "2026-01-12"),
)  # fmt: skip


@pytest.fixture
def folder(harmed_template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    isolate(tmp_path, monkeypatch, settings=SETTINGS)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home)
    return copy_harmed(harmed_template, tmp_path)


@contextmanager
def looked_at(folder: Path) -> Iterator[Workspace]:
    """Open it as the bench does; nothing may be read of it before."""
    with Workspace.open(folder, role="person", clock=FixedClock(NOW), reads_refresh=False) as workspace:
        yield workspace


def events_of(keys: str) -> Iterator[events.Key]:
    """Return the keys of one step: a key, a key behind a prefix, or a word letter by letter."""
    if keys in _NAMED:
        yield events.Key(keys, None)
    else:
        yield from map(event_of, keys.split(" ") if " " in keys else keys)


def event_of(key: str) -> events.Key:
    if len(key) > 1:
        return events.Key(key, None)
    return events.Key(key if key.isalnum() else _character_to_key(key), key)


def clean(pilot: Pilot[None]) -> None:
    """Check that what is drawn holds no control of its own."""
    for strip in pilot.app.screen._compositor.render_strips():
        for segment in strip:
            assert CONTROL.search(segment.text) is None, segment


async def press_at_random(pilot: Pilot[None], seed: str, steps: int = 150) -> list[str]:
    chance, pressed = random.Random(seed), list[str]()
    for at in range(steps):
        step = chance.choice(KEYS)
        pressed.append(step)
        for event in events_of(step):
            pilot.app.post_message(event)
        if at % 5 == 4:
            await settle(pilot)
            assert pilot.app.is_running, pressed
        if at % 25 == 24:
            clean(pilot)
            await pilot.resize_terminal(*chance.choice(SIZES))
            await settle(pilot)
    return pressed


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
async def test_keys_at_random_end_nothing_and_leave_history_whole(
    folder: Path, tmp_path: Path, name: str
) -> None:
    before = all_files(tmp_path / "outside", tmp_path / "home")
    with looked_at(folder) as workspace:
        async with opened(workspace, (120, 36), place=name) as pilot:
            await press_at_random(pilot, name)
            assert pilot.app.is_running
            await press(pilot, *["escape"] * 6)
            clean(pilot)
        assert workspace.audit_verify().ok
    assert all_files(tmp_path / "outside", tmp_path / "home") == before


def _no_history(folder: Path) -> None:
    shutil.rmtree(folder / ".audit")


def _damaged_objects(folder: Path) -> None:
    for at, path in enumerate(sorted((folder / ".audit" / "objects").rglob("*"))):
        if path.is_file() and at % 3 == 0:
            path.chmod(0o644)
            path.write_bytes(path.read_bytes()[:7])


def _no_head(folder: Path) -> None:
    (folder / ".audit" / "HEAD").write_text("ref: refs/heads/\x00nowhere\n")


def _history_is_a_file(folder: Path) -> None:
    shutil.rmtree(folder / ".audit")
    (folder / ".audit").write_text("no folder\n")


def _torn(folder: Path) -> None:
    tear(folder)


def _broken_settings(folder: Path) -> None:
    (folder / "workbench.toml").write_text("decay = [\n\x00")


def _broken_sessions(folder: Path) -> None:
    for path in (folder.parent / "state").rglob("sessions.json"):
        path.write_text("{[")


def _no_memory(folder: Path) -> None:
    shutil.rmtree(folder / "memory")
    (folder / "memory").write_text("a file\n")


def _state_cannot_be_written(folder: Path) -> None:
    state = folder.parent / "state"
    shutil.rmtree(state, ignore_errors=True)
    state.write_text("a file\n")


def _cache_cannot_be_written(folder: Path) -> None:
    cache = folder.parent / "cache"
    shutil.rmtree(cache, ignore_errors=True)
    cache.write_text("a file\n")


def _read_only(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        if not path.is_symlink():
            path.chmod(0o555 if path.is_dir() else 0o444)
    folder.chmod(0o555)


HARMS: dict[str, Callable[[Path], None]] = {
    "no-history": _no_history, "damaged-objects": _damaged_objects, "no-head": _no_head,
    "history-is-a-file": _history_is_a_file, "torn": _torn, "broken-settings": _broken_settings,
    "broken-sessions": _broken_sessions, "no-memory": _no_memory, "no-state": _state_cannot_be_written,
    "no-cache": _cache_cannot_be_written, "read-only": _read_only,
}  # fmt: skip
# Typed in one go each: look, change, decide and take back.
BURSTS = (
    ("down", "enter", "x", "o", "escape", "escape"),
    ("p", "e", "x", "ctrl+s", "escape", "escape"),
    ("a", "w", "enter", "u", "enter", "escape", "escape"),
)
WALK = ("1", "2", "3", "4", "5", "6", "7", "8", ",")


async def walk(pilot: Pilot[None]) -> None:
    """Go to every place, and look, change and decide there."""
    for place in WALK:
        for keys in ((place,), *BURSTS):
            await type_at_once(pilot, *keys)
        clean(pilot)
    await type_at_once(pilot, "/", *"ferry", "enter", "down", "enter", "escape", "escape")
    await type_at_once(pilot, "m", "d", "down", "enter", "escape", "escape")
    await type_at_once(pilot, "m", "i", "down", "escape", "escape", "m", "h", "R")
    clean(pilot)
    assert pilot.app.is_running


async def type_at_once(pilot: Pilot[None], *keys: str) -> None:
    for key in keys:
        pilot.app.post_message(event_of(key))
    await settle(pilot)


# Broken settings are refused before there is a bench to open.
@pytest.mark.parametrize("harm", [harm for harm in HARMS if harm != "broken-settings"])
async def test_what_is_damaged_is_told_and_ends_nothing(folder: Path, harm: str) -> None:
    HARMS[harm](folder)
    with looked_at(folder) as workspace:
        async with opened(workspace, (120, 36), place="today") as pilot:
            await walk(pilot)


@pytest.mark.parametrize("harm", HARMS)
async def test_what_is_damaged_while_one_looks_ends_nothing(folder: Path, harm: str) -> None:
    with looked_at(folder) as workspace:
        async with opened(workspace, (120, 36), place="today") as pilot:
            await type_at_once(pilot, *WALK)
            HARMS[harm](folder)
            await walk(pilot)
