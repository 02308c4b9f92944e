"""Builds the sample in a folder: plays the story, sitting by sitting, with a clock and ids of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, groupby
from pathlib import Path
from zoneinfo import ZoneInfo

from workbench.demo.stage import Stage, door_of
from workbench.demo.story import load_story
from workbench.engine.clock import Clock, FixedClock, clock_from_environment
from workbench.engine.errors import InvalidInput
from workbench.engine.results.memories import Changed
from workbench.engine.workspace import Workspace

ZONE = ZoneInfo("Europe/Stockholm")
_FOLDER_MARK = ".workbench-demo"
_FINISHED = "Made by `workbench demo`.\n"
_UNFINISHED = "`workbench demo` is building here.\n"


def build(
    path: Path, *, clock: Clock | None = None, progress: Callable[[int, int], None] | None = None
) -> Changed:
    """Build the sample workspace, ending today; a sample that is there already is left as it is.

    Args:
        path: A folder that is empty, does not exist, or holds an earlier sample.
        clock: Tells which day is the last of the story; with a fixed one the sample is always the same, down
            to the hashes of its history.
        progress: Called with scenes done and scenes in all.

    Raises:
        InvalidInput: The folder holds something else.
    """
    if _is_sample(path):
        return Changed(None)
    now = (clock or clock_from_environment()).now()
    last_day = now.astimezone(ZONE).date()
    story = [scene for scene in load_story(last_day) if scene.moment(last_day, ZONE) <= now]
    moving = FixedClock(story[0].moment(last_day, ZONE))
    ids = _ids()
    last = Workspace.init(path, clock=moving, timezone=ZONE.key, new_id=ids)
    (path / _FOLDER_MARK).write_text(_UNFINISHED, encoding="utf-8")
    stage = Stage(path)
    done = 0
    for (_, door), scenes in groupby(story, key=lambda scene: (scene.day, door_of(scene.who, scene.verb))):
        sitting = list(scenes)
        moving.moment = sitting[0].moment(last_day, ZONE)
        with Workspace.open(path, role=door.role, actor=door.actor, clock=moving, new_id=ids) as workspace:
            for scene in sitting:
                moving.moment = scene.moment(last_day, ZONE)
                last = stage.play(workspace, scene)
                done += 1
                if progress is not None:
                    progress(done, len(story))
    (path / _FOLDER_MARK).write_text(_FINISHED, encoding="utf-8")
    return last


def _ids() -> Callable[[], str]:
    numbers: Iterator[int] = count(1)
    return lambda: f"de{next(numbers):014x}"


def _is_sample(path: Path) -> bool:
    """Tell whether the folder holds a sample already.

    Raises:
        InvalidInput: It holds something else.
    """
    mark = path / _FOLDER_MARK
    if mark.is_file():
        if mark.read_text(encoding="utf-8") == _FINISHED:
            return True
        raise InvalidInput(
            "The building of a sample was broken off here, or is still going on.",
            where=str(path),
            remedy="Delete the folder and build again, or name another one.",
        )
    if path.exists() and (path.is_file() or any(path.iterdir())):
        raise InvalidInput(
            "This folder is not empty.",
            where=str(path),
            remedy="Name another folder; the sample never replaces what it did not make.",
        )
    return False
