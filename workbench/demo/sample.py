"""Builds the sample by playing its story, read from `story.psv`, with a fixed clock and fixed ids."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import field, replace
from datetime import UTC, date, datetime, time, timedelta
from importlib import resources
from itertools import count, groupby
from pathlib import Path
from zoneinfo import ZoneInfo

from workbench.engine import layout
from workbench.engine.clock import Clock, FixedClock, clock_from_environment
from workbench.engine.errors import InvalidInput
from workbench.engine.markdown.entity import EntityFile
from workbench.engine.markdown.reflection_records import Evolution, ReflectionLog, ReflectionRecord
from workbench.engine.markdown.statements import Provenance, new_block_id
from workbench.engine.patterns import lazy_pattern
from workbench.engine.results.memories import Changed
from workbench.engine.values import dataclass
from workbench.engine.workspace import Workspace

_DATE = lazy_pattern(r"\{(zh)?([+-]\d+)\}")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
# Decision files are written by hand here, which no agent may do.
_BY_HAND = ("evolution", "reflected")
_WINDOW = 200_000
# Result of a `use` scene besides its options.
_NO_PARTICULARS = frozenset({"session", "tool", "failed"})
_FOLDER_MARK = ".workbench-demo"
_FINISHED = "Made by `workbench demo`.\n"
_UNFINISHED = "`workbench demo` is building here.\n"
ZONE = ZoneInfo("Europe/Stockholm")


@dataclass(frozen=True)
class Scene:
    """One event of the story.

    Args:
        day: Days before the story's last day, 0 or less.
        at: Time of day in the workspace's zone.
        who: `user` (asks the agent), `agent` (acts by itself), `person` (uses the bench), or an actor tag such
            as `reflection:r-001`.
    """

    day: int
    at: time
    who: str
    verb: str
    options: dict[str, str] = field(default_factory=dict)
    text: str = ""

    def moment(self, last_day: date, zone: ZoneInfo) -> datetime:
        """Return when it happens, in UTC."""
        day = last_day + timedelta(days=self.day)
        return datetime.combine(day, self.at, tzinfo=zone).astimezone(UTC)


def load_story(last_day: date) -> list[Scene]:
    """Return all scenes in order, with dates in their texts relative to the story's last day."""
    table = resources.files("workbench.demo").joinpath("story.psv").read_text(encoding="utf-8")
    scenes = (_scene(line) for line in table.splitlines() if line and not line.startswith("#"))
    return [replace(scene, text=_dated(scene.text, last_day)) for scene in scenes]


def _scene(line: str) -> Scene:
    day, at, who, verb, options, text = line.split("|", 5)
    return Scene(
        day=int(day),
        at=time.fromisoformat(at),
        who=who,
        verb=verb,
        options=_options(options),
        text=text.replace("\\n", "\n"),
    )


def _dated(text: str, last_day: date) -> str:
    def name(match: re.Match[str]) -> str:
        day = last_day + timedelta(days=int(match[2]))
        return f"{day.month}月{day.day}日" if match[1] else f"{day.day} {_MONTHS[day.month - 1]}"

    return _DATE.sub(name, text)


def _options(text: str) -> dict[str, str]:
    """Parse `key=value` pairs; a value extends to the next key, so it may hold blanks."""
    found: dict[str, str] = {}
    key = ""
    for word in shlex.split(text):
        name, equals, value = word.partition("=")
        if equals:
            key = name
            found[key] = value
        else:
            found[key] += f" {word}"
    return found


@dataclass(frozen=True)
class Door:
    """How an actor opens the workspace."""

    role: str
    actor: str | None = None


def door_of(who: str, verb: str) -> Door:
    """Return the role for a scene's actor: agents and skills work as agents, people and approvals as persons."""
    if verb in _BY_HAND:
        return Door("person", who)
    if who.startswith("subagent:"):
        return Door(f"agent:{who.partition(':')[2]}")
    if who in ("user", "agent"):
        return Door("main")
    if who == "person":
        return Door("person")
    return Door("main" if who.startswith(("skill:", "bot:")) else "person", who)


@dataclass
class Stage:
    """State while the story is played.

    Args:
        made: Ids created by earlier scenes, under the names the story gave them.
    """

    path: Path
    made: dict[str, str] = field(default_factory=dict)

    def play(self, workspace: Workspace, scene: Scene) -> Changed:
        """Play one scene.

        Raises:
            InvalidInput: The story names something that does not exist.
        """
        act: Callable[[Workspace, Scene], Changed] = getattr(self, f"_{scene.verb.replace('-', '_')}")
        changed = act(workspace, scene)
        if "as" in scene.options:
            self.made[scene.options["as"]] = changed.ids[0]
        return changed

    def _remember(self, workspace: Workspace, scene: Scene) -> Changed:
        options = scene.options
        return workspace.remember(
            scene.text,
            store=options.get("store", "episodic"),
            type=options.get("type"),
            tags=_listed(options.get("tag")),
            entities=_listed(options.get("entity")),
            source="user-explicit" if scene.who == "user" else "conversation",
            block=options.get("block"),
            trigger=None if scene.who in ("user", "agent") else scene.who,
            origins=self._origins(scene),
        )

    def _overhear(self, workspace: Workspace, scene: Scene) -> Changed:
        """Note something with a secret in it: it is held back, and waits for a person."""
        remembered = workspace.remember(scene.text, store="episodic", source="conversation")
        return Changed(remembered.commit)

    def _forget(self, workspace: Workspace, scene: Scene) -> Changed:
        forgotten = workspace.forget(ids=[_found(workspace, scene)], apply=True)
        return Changed(forgotten.commit, forgotten.files, forgotten.ids)

    def _recall(self, workspace: Workspace, scene: Scene) -> Changed:
        for name in scene.options["match"].split(";"):
            workspace.show(name)
        return Changed(None)

    def _pin(self, workspace: Workspace, scene: Scene) -> Changed:
        return workspace.pin(_found(workspace, scene))

    def _reinforce(self, workspace: Workspace, scene: Scene) -> Changed:
        return workspace.reinforce(_found(workspace, scene))

    def _undo(self, workspace: Workspace, scene: Scene) -> Changed:
        del scene
        return workspace.undo(confirmed=True)

    def _core_set(self, workspace: Workspace, scene: Scene) -> Changed:
        return workspace.core_set(scene.options["block"], scene.text)

    def _graph_link(self, workspace: Workspace, scene: Scene) -> Changed:
        options = scene.options
        return workspace.graph_link(options["from"], options["relation"], options["to"])

    def _graph_unlink(self, workspace: Workspace, scene: Scene) -> Changed:
        options = scene.options
        return workspace.graph_unlink(options["from"], options["relation"], options["to"])

    def _merge(self, workspace: Workspace, scene: Scene) -> Changed:
        return workspace.graph_merge(scene.options["keep"], scene.options["absorb"])

    def _rename(self, workspace: Workspace, scene: Scene) -> Changed:
        return workspace.graph_rename(scene.options["entity"], scene.text)

    def _supersede(self, workspace: Workspace, scene: Scene) -> Changed:
        entity, _, block = self.made[scene.options["fact"]].removeprefix("entity:").partition("#^")
        day = f"{workspace.now():%Y-%m-%d}"
        provenance = Provenance(since=day, sources=self._origins(scene) or ("source:user-explicit",))

        def edit(file: EntityFile) -> EntityFile:
            old = next(fact for fact in file.facts if fact.block_id == block)
            new = new_block_id("f", scene.text, file.block_ids)
            longer = file.add_fact(scene.text, provenance, block_id=new)
            old = next(fact for fact in longer.facts if fact.block_id == old.block_id)
            return longer.retire(old, until=day, by=new)

        return _edit_entity(workspace, entity, edit)

    def _summary(self, workspace: Workspace, scene: Scene) -> Changed:
        return _edit_entity(workspace, scene.options["entity"], lambda file: file.set_summary(scene.text))

    def _question(self, workspace: Workspace, scene: Scene) -> Changed:
        return _edit_entity(workspace, scene.options["entity"], lambda file: file.add_question(scene.text))

    def _relations(self, workspace: Workspace, scene: Scene) -> Changed:
        own = "\n".join(f"- {relation}" for relation in scene.text.split("; "))
        text = workspace.get(layout.RELATIONS).text
        return workspace.edit_file(layout.RELATIONS, f"{text.rstrip()}\n\n## Our Own\n{own}\n")

    def _evolution(self, workspace: Workspace, scene: Scene) -> Changed:
        file = Evolution.parse(_content(workspace, layout.EVOLUTION))
        day = f"{workspace.now():%Y-%m-%d}"
        return _edit(
            workspace, layout.EVOLUTION, file.add(scene.options["section"], f"{day}: {scene.text}").render()
        )

    def _reflected(self, workspace: Workspace, scene: Scene) -> Changed:
        record = ReflectionRecord(
            scene.who.partition(":")[2],
            workspace.now().isoformat(timespec="seconds"),
            scene.options["outcome"],
            scene.text,
            (("items", scene.options["items"]), ("read", workspace.head() or "")),
        )
        log = ReflectionLog.parse(_content(workspace, layout.REFLECTION_LOG))
        return _edit(workspace, layout.REFLECTION_LOG, log.append(record).render())

    def _reflect(self, workspace: Workspace, scene: Scene) -> Changed:
        """Run a reflection; its proposal is left for the user of the sample."""
        del scene
        reflected = workspace.reflect(trigger="schedule")
        return Changed(reflected.commit, reflected.files, reflected.ids)

    def _propose(self, workspace: Workspace, scene: Scene) -> Changed:
        options = scene.options
        return workspace.propose(
            scene.text,
            store=options["store"],
            entities=_listed(options.get("entity")),
            confidence=options["confidence"],
            trigger=options["why"],
            origins=self._origins(scene),
        )

    def _commit(self, workspace: Workspace, scene: Scene) -> Changed:
        """Store the pending proposal, reworded if the scene has a text."""
        (waiting,) = workspace.proposals().proposals
        return workspace.proposal_commit([waiting.number], text=scene.text or None)

    def _say(self, workspace: Workspace, scene: Scene) -> Changed:
        """Add a message to a session; the agent's messages also report the token count."""
        options = scene.options
        said = workspace.session_append(
            options["session"],
            scene.text,
            role="user" if scene.who == "user" else "assistant",
            total_tokens=int(options["tokens"]) if "tokens" in options else None,
            context_tokens=_WINDOW if "tokens" in options else None,
            label=options.get("label"),
        )
        return Changed(
            None, ids=tuple(f"file:sessions/{said.session_id}.jsonl#L{line}" for line in said.lines)
        )

    def _use(self, workspace: Workspace, scene: Scene) -> Changed:
        """Add a tool call and its result to a session."""
        key, tool = scene.options["session"], scene.options["tool"]
        given = {name: value for name, value in scene.options.items() if name not in _NO_PARTICULARS}
        name = f"{tool}-{scene.at:%H%M}"
        call = {"type": "toolCall", "id": name, "name": tool, "arguments": given}
        answer = {
            "role": "toolResult",
            "toolCallId": name,
            "toolName": tool,
            "isError": "failed" in scene.options,
            "content": [{"type": "text", "text": scene.text}],
        }
        workspace.session_append(key, message={"role": "assistant", "content": [call]})
        workspace.session_append(key, message=answer)
        return Changed(None)

    def _compact(self, workspace: Workspace, scene: Scene) -> Changed:
        workspace.session_compact(scene.options["session"], keep_tokens=int(scene.options["keep"]))
        return Changed(None)

    def _edit(self, workspace: Workspace, scene: Scene) -> Changed:
        return workspace.edit_file(scene.options["path"], scene.text)

    def _ack(self, workspace: Workspace, scene: Scene) -> Changed:
        alerts = workspace.audit_alerts().alerts
        waiting = [a for a in alerts if a.file == scene.options["match"] and not a.acknowledged]
        return workspace.acknowledge(waiting[0].id)

    def _edit_outside(self, workspace: Workspace, scene: Scene) -> Changed:
        place = self.path / scene.options["path"].replace("DATE", f"{workspace.now():%Y-%m-%d}")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(scene.text, encoding="utf-8")
        return workspace.adopt()

    def _origins(self, scene: Scene) -> tuple[str, ...]:
        return tuple(self.made[name] for name in _listed(scene.options.get("from")))


def _found(workspace: Workspace, scene: Scene) -> str:
    if scene.options["match"].startswith("core:"):
        return scene.options["match"]
    found = workspace.search(scene.options["match"], max_results=1)
    if not found.results:
        raise InvalidInput(
            f"Nothing matches “{scene.options['match']}”.",
            where=f"story.psv, day {scene.day}",
            remedy="Name a memory that the story has made by then.",
        )
    return found.results[0].id


def _edit_entity(workspace: Workspace, entity: str, edit: Callable[[EntityFile], EntityFile]) -> Changed:
    path = f"{layout.ENTITIES}/{entity}.md"
    before = EntityFile.parse(_content(workspace, path), path)
    after = edit(before)
    changed = _edit(workspace, path, after.render())
    new = [fact for fact in after.facts if fact.block_id not in before.block_ids]
    return replace(changed, ids=(f"entity:{entity}#^{new[0].block_id}",) if new else changed.ids)


def _content(workspace: Workspace, path: str) -> bytes:
    return workspace.get(path).text.encode()


def _edit(workspace: Workspace, path: str, content: bytes) -> Changed:
    return workspace.edit_file(path, content.decode())


def _listed(text: str | None) -> list[str]:
    return [part.strip() for part in text.split(",")] if text else []


def build(
    path: Path, *, clock: Clock | None = None, progress: Callable[[int, int], None] | None = None
) -> Changed:
    """Build the sample workspace; one that is there already is left as it is.

    It ends today, or yesterday as long as its last morning is not over.

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
    story = load_story(last_day)
    if story[-1].moment(last_day, ZONE) > now:
        # Its last scenes are those of a morning.
        last_day -= timedelta(days=1)
        story = load_story(last_day)
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
    """Return whether the folder already holds a sample.

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
