"""Plays the story on a fresh workspace, each scene through the door its actor would use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo

from workbench.demo.story import Scene, load_story
from workbench.engine import layout
from workbench.engine.clock import Clock, FixedClock, clock_from_environment
from workbench.engine.errors import InvalidInput
from workbench.engine.results import Changed
from workbench.engine.workspace import Workspace

ZONE = ZoneInfo("Europe/Stockholm")
_ACTORS = {"trigger": "bot:trigger-remember", "auto": "bot:auto-detect", "person": "manual"}
_FOLDER_MARK = ".workbench-demo"


def build(
    path: Path, *, clock: Clock | None = None, progress: Callable[[int, int], None] | None = None
) -> Changed:
    """Build the sample workspace, ending today; a sample that is there already is left as it is.

    Args:
        path: A folder that is empty, does not exist, or holds an earlier sample.
        clock: Tells which day is the last of the story; with a fixed one the sample is always the same.
        progress: Called with scenes done and scenes in all.

    Raises:
        InvalidInput: The folder holds something else.
    """
    if _is_sample(path):
        return Changed(None)
    end = (clock or clock_from_environment()).now()
    story = [scene for scene in load_story() if scene.moment(end, ZONE) <= end]
    stage = _Stage(path, FixedClock(story[0].moment(end, ZONE)))
    last = Workspace.init(path, clock=stage.clock, timezone=ZONE.key)
    for number, scene in enumerate(story, start=1):
        stage.clock.moment = scene.moment(end, ZONE)
        last = stage.play(scene)
        if progress is not None:
            progress(number, len(story))
    (path / _FOLDER_MARK).write_text("Made by `workbench demo`.\n", encoding="utf-8")
    return last


@dataclass
class _Stage:
    path: Path
    clock: FixedClock

    def play(self, scene: Scene) -> Changed:
        """Let one scene happen."""
        actor = _ACTORS.get(scene.actor, scene.actor)
        with Workspace.open(self.path, role="person", actor=actor, clock=self.clock) as workspace:
            act: Callable[[Workspace, Scene], Changed] = getattr(self, f"_{scene.verb.replace('-', '_')}")
            return act(workspace, scene)

    def _remember(self, workspace: Workspace, scene: Scene) -> Changed:
        options = scene.options
        return workspace.remember(
            scene.text,
            store=options.get("store", "episodic"),
            type=options.get("type"),
            tags=_listed(options.get("tag")),
            entities=_listed(options.get("entity")),
            source="user-explicit" if scene.actor == "trigger" else "conversation",
            block=options.get("block"),
            trigger=_trigger(scene),
        )

    def _forget(self, workspace: Workspace, scene: Scene) -> Changed:
        found = workspace.forget(scene.options["match"])
        if not found.matches:
            raise InvalidInput(f"Nothing matches “{scene.options['match']}”.", where=_place(scene))
        forgotten = workspace.forget(ids=[found.matches[0].id], apply=True)
        return Changed(forgotten.commit, forgotten.files, forgotten.ids)

    def _pin(self, workspace: Workspace, scene: Scene) -> Changed:
        return workspace.pin(_found(workspace, scene))

    def _reinforce(self, workspace: Workspace, scene: Scene) -> Changed:
        return workspace.reinforce(_found(workspace, scene))

    def _undo(self, workspace: Workspace, scene: Scene) -> Changed:
        del scene
        return workspace.undo()

    def _fold(self, workspace: Workspace, scene: Scene) -> Changed:
        del scene
        return workspace.settle()

    def _core_set(self, workspace: Workspace, scene: Scene) -> Changed:
        return workspace.core_set(scene.options["block"], scene.text)

    def _graph_link(self, workspace: Workspace, scene: Scene) -> Changed:
        options = scene.options
        return workspace.graph_link(options["from"], options["relation"], options["to"])

    def _merge(self, workspace: Workspace, scene: Scene) -> Changed:
        return workspace.graph_merge(scene.options["keep"], scene.options["absorb"])

    def _evolution(self, workspace: Workspace, scene: Scene) -> Changed:
        text = workspace.get(layout.EVOLUTION).text
        day = workspace.now().date().isoformat()
        return workspace.edit_file(layout.EVOLUTION, f"{text.rstrip()}\n- {day}: {scene.text}\n")

    def _soul(self, workspace: Workspace, scene: Scene) -> Changed:
        return workspace.edit_file("SOUL.md", scene.text)

    def _identity(self, workspace: Workspace, scene: Scene) -> Changed:
        return workspace.edit_file("IDENTITY.md", scene.text)

    def _ack(self, workspace: Workspace, scene: Scene) -> Changed:
        alerts = workspace.audit_alerts().alerts
        waiting = [a for a in alerts if a.file == scene.options["match"] and not a.acknowledged]
        return workspace.acknowledge(waiting[0].id)

    def _edit_outside(self, workspace: Workspace, scene: Scene) -> Changed:
        day = workspace.now().date().isoformat()
        place = self.path / scene.options["path"].replace("DATE", day)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(scene.text, encoding="utf-8")
        return workspace.adopt()


def _found(workspace: Workspace, scene: Scene) -> str:
    found = workspace.search(scene.options["match"], max_results=1)
    if not found.results:
        raise InvalidInput(f"Nothing matches “{scene.options['match']}”.", where=_place(scene))
    return found.results[0].id


def _trigger(scene: Scene) -> str:
    if scene.actor == "trigger":
        return f"user said “remember {scene.text[:60]}”"
    return "noticed in conversation" if scene.actor == "auto" else scene.actor


def _place(scene: Scene) -> str:
    return f"story, day {scene.day}"


def _listed(text: str | None) -> list[str]:
    return [part.strip() for part in text.split(",")] if text else []


def _is_sample(path: Path) -> bool:
    """Tell whether the folder holds a sample already.

    Raises:
        InvalidInput: It holds something else.
    """
    if (path / _FOLDER_MARK).is_file():
        return True
    if path.exists() and (path.is_file() or any(path.iterdir())):
        raise InvalidInput(
            "This folder is not empty.",
            where=str(path),
            remedy="Name another folder; the sample never replaces what it did not make.",
        )
    return False
