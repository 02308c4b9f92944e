"""Workspace: making and opening a folder of agent memory, and everything that can be done with it."""

from __future__ import annotations

import configparser
import contextlib
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, Self, TypeVar, cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from workbench.engine import layout, results
from workbench.engine.clock import Clock, clock_from_environment
from workbench.engine.errors import InvalidInput, InvalidSetting, NotFound, StorageError, WorkbenchError
from workbench.engine.file_access import expand_home, expand_writable
from workbench.engine.history.plan import Action, Attribution, FileChange, FileView, Plan, Receipt
from workbench.engine.markdown.source import TEMPLATES, load_template
from workbench.engine.roles import Capability, parse_role, require
from workbench.engine.services.context import WorkspaceContext
from workbench.engine.services.mutator import plan_setting
from workbench.engine.services.opened import Services
from workbench.engine.services.secret_guard import tell_left_out
from workbench.engine.settings.layers import load_settings, read_toml
from workbench.engine.settings.sections import Settings

if TYPE_CHECKING:
    from workbench.engine.scoped_memory import ScopedMemory

_FOLDERS = (layout.EPISODES, layout.ENTITIES, layout.PROCEDURES, layout.VAULT, layout.META)
_SECTION = "workbench"
_MARKS = (layout.HISTORY, layout.SETTINGS, layout.CORE, "memory")

R = TypeVar("R")
P = ParamSpec("P")
# Hashes of size, time and number: of tens of thousands of files, these take half as much room.
_Stamps = dict[str, int]


class Beginning:
    """Begins the history of an open workspace."""

    def __init__(self, context: WorkspaceContext) -> None:
        self._context = context

    def begin_history(self) -> results.memories.Changed:
        """Do as `init` does, in this workspace: commit what it holds; only a person may.

        Raises:
            RoleRefused: This door is no person's.
            StorageError: The folder cannot be written.
        """
        require(self._context.role, Capability.CHANGE_SETTINGS, doing="begin the history")
        return initialise(self._context, None)


def initialise(context: WorkspaceContext, timezone: str | None) -> results.memories.Changed:
    """Create the history, the layout where there is no memory yet, and record the time zone.

    A folder that has memory gets nothing but the history; the zone is recorded in it, unless the settings
    say it. A zone that is there already stays.

    Raises:
        InvalidInput: There is no such time zone, or the workspace has another.
        OutsideWorkspace: A folder of memory is a link.
        StorageError: The folder cannot be written.
    """
    zone = timezone or context.settings.timezone or context.zone.key
    _require_zone(zone)
    present = _zone_of_settings(context) or recorded_timezone(context.root)
    if timezone and present and timezone != present:
        raise InvalidInput(
            f"This is a workspace already, and its time zone is {present}.",
            where=layout.SETTINGS,
            remedy=f'Change it there: timezone = "{timezone}"',
        )
    had_memory = any(path != layout.SETTINGS for path in layout.tracked_files(context.root))
    if not had_memory:
        for folder in _FOLDERS:
            layout.resolve(context.root, folder)  # refuses a link before anything is written
    attribution = Attribution("system:init", "auto", "workbench init", may_touch_critical=True)
    with context.leaving_the_graph_index():
        receipts: list[Receipt[Any]] = [context.history.init(attribution)]
    context.claim_state()
    if not had_memory:
        for folder in _FOLDERS:
            (context.root / folder).mkdir(parents=True, exist_ok=True)
        laid_out = present or zone
        receipts.append(context.history.mutate(lambda view: _plan_layout(view, laid_out), attribution))
    elif _zone_of_settings(context) is not None:
        if timezone:
            receipts.append(context.history.mutate(lambda view: _zone_setting(view, zone), attribution))
    elif timezone or not recorded_timezone(context.root):
        _record_timezone(context.root, zone)
    context.refresh()
    commits = [receipt.commit for receipt in receipts if receipt.commit]
    files = [path for receipt in receipts for path in receipt.files]
    told = (*context.troubles, *tell_left_out(context))
    return results.memories.Changed(
        commits[-1] if commits else None, tuple(dict.fromkeys(files)), warnings=told
    )


def recorded_timezone(root: Path) -> str:
    """Return the zone that `init` recorded in the history, or the empty string."""
    config = configparser.ConfigParser(strict=False, interpolation=None)
    try:
        config.read(root / layout.HISTORY / "config", encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError):
        return ""
    return config.get(_SECTION, "timezone", fallback="")


def _record_timezone(root: Path, zone: str) -> None:
    place = root / layout.HISTORY / "config"
    temporary = place.with_name(f"config.{os.getpid()}.tmp")
    try:
        lines = place.read_text(encoding="utf-8").splitlines()
        lines = [line for line in lines if not line.strip().startswith("timezone =")]
        lines.insert(lines.index(f"[{_SECTION}]") + 1, f"\ttimezone = {zone}")
        # The history cannot be opened without its config, so that is whole at any instant.
        with temporary.open("w", encoding="utf-8", newline="\n") as file:
            file.write("\n".join(lines) + "\n")
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(place)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise StorageError(
            f"The time zone cannot be recorded: {error.strerror}.",
            where=f"{layout.HISTORY}/config",
            remedy="Make the folder writable, or free some space.",
        ) from error


def _zone_of_settings(context: WorkspaceContext) -> str | None:
    """Return the zone that the workspace's own settings give, or None."""
    content = context.raw_files.read(layout.SETTINGS) or b""
    zone = read_toml(content, layout.SETTINGS, personal=False)[0].get("timezone")
    return None if zone is None else str(zone)


def _plan_layout(view: FileView, zone: str) -> Plan[None]:
    changes = [
        FileChange(path, load_template(path), Action.CREATE, "laid out the workspace")
        for path in TEMPLATES
        if view.read(path) is None
    ]
    changes.extend(_zone_setting(view, zone).changes)
    return Plan(Action.CREATE, "workspace", "laid out the workspace", tuple(changes))


def _zone_setting(view: FileView, zone: str) -> Plan[results.memories.Changed]:
    return plan_setting(view, "timezone", zone, f"recorded the time zone {zone}")


def _require_zone(name: str) -> None:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise InvalidInput(
            f"There is no time zone “{name}”.", remedy="Give an IANA name such as Europe/Stockholm."
        ) from error


class _Verb(Generic[P, R]):
    """A method of the workspace that is a method of one of its services, which documents it.

    Args:
        find: Returns it.
    """

    def __init__(self, find: Callable[[Services], Callable[P, R]]) -> None:
        self._find = find

    def __get__(self, workspace: Workspace | None, owner: type[Workspace]) -> Callable[P, R]:
        if workspace is None:
            # The class answers for no workspace: with the signature and the documentation.
            return self._find(Services(cast("WorkspaceContext", None)))
        return self._find(workspace._services)


class Workspace:
    """An agent's memory in a folder: a context manager, safe to use from several threads.

    Open one with `Workspace.open`; opening reads and writes nothing in the folder. The first mutation
    creates the history, `.audit`.
    """

    def __init__(self, context: WorkspaceContext) -> None:
        self._context = context
        self._services = Services(context)
        context.open_history = self._services.open_history

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        role: str = "main",
        actor: str | None = None,
        clock: Clock | None = None,
        reads_refresh: bool = True,
        lock_timeout: float | None = None,
        new_id: Callable[[], str] | None = None,
        lenient: bool = False,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> Self:
        """Open a workspace.

        Args:
            path: Any folder; missing parts of the layout are made when first written.
            role: `person`, `main`, `agent:NAME` or `reader`; fixed from here on.
            actor: The actor that changes are attributed to where a call names none.
            clock: Tells the time; the system's, or `WORKBENCH_NOW`, by default.
            reads_refresh: Whether reading looks for changed files first. Turn it off where `refresh` is
                called in the background.
            lock_timeout: Seconds that a change waits for another writer; the setting’s by default.
            new_id: Gives a fresh id of lower-case letters and digits for each transaction; random by default.
            lenient: Open with the defaults where the settings are broken; `doctor` says what is wrong with them.
            progress: Told of work that may take long: what it is, what is done, and of how much (0 where that is
                unknown). When it is over, both are the same.

        Raises:
            NotFound: There is no such folder.
            InvalidSetting: A settings file does not hold what it may.
            StorageError: A settings file cannot be read.
            InvalidInput: There is no such role.
        """
        root = _folder(Path(path))
        context = WorkspaceContext(
            root=root,
            role=parse_role(role),
            actor=actor,
            clock=clock or clock_from_environment(),
            settings=_settings(root, lenient=lenient),
            reads_refresh=reads_refresh,
            lock_timeout=lock_timeout,
        )
        if new_id is not None:
            context.new_id = new_id
        if progress is not None:
            context.progress = progress
        return cls(context)

    @classmethod
    def init(
        cls,
        path: str | Path,
        *,
        clock: Clock | None = None,
        timezone: str | None = None,
        new_id: Callable[[], str] | None = None,
    ) -> results.memories.Changed:
        """Lay out a new workspace, or give one that has memory its history.

        An empty folder gets the templates of the layout; in a folder with memory nothing but `.audit` and the
        time zone's setting is added, and what is found is committed. Doing it again changes nothing.

        Args:
            path: A folder; made where it does not exist.
            clock: Tells the time.
            timezone: IANA name of the zone that episodes are dated in; the system's by default.
            new_id: Gives a fresh id for each transaction; random by default.

        Raises:
            InvalidInput: There is no such time zone, or no user of the name that the path begins with.
            StorageError: The folder cannot be made or written.
        """

        place = expand_writable(path)
        try:
            place.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:
            raise InvalidInput(
                "A workspace is a folder, and this is a file.", where=str(path), remedy="Name another place."
            ) from error
        except OSError as error:
            raise StorageError(
                f"The folder cannot be made: {error.strerror}.", where=str(path), remedy="Name another place."
            ) from error
        with cls.open(place, role="person", clock=clock, new_id=new_id) as workspace:
            return initialise(workspace._context, timezone)

    @staticmethod
    def find(start: Path) -> Path | None:
        """Return the nearest workspace from a folder upward, or None.

        A workspace is a folder that holds `.audit`, `workbench.toml`, `MEMORY.md` or `memory/`.
        """
        for folder in (start, *start.parents):
            if any((folder / mark).exists() for mark in _MARKS):
                return folder
        return None

    @property
    def root(self) -> Path:
        """Return the workspace folder, absolute and real."""
        return self._context.root

    @property
    def role(self) -> str:
        """Return the role this door was opened with."""
        return str(self._context.role)

    @property
    def settings(self) -> Settings:
        """Return the settings as they held at opening; those that may change meanwhile as the files have them now."""
        self._context.follow_settings()
        return self._context.settings

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return one line for each thing that did not work as it should while memory was changed."""
        history = self._context.__dict__.get("history")
        told = (
            *self._context.troubles,
            *self._services.mutator.edits_told,
            *(history.warnings if history is not None else ()),
        )
        return tuple(dict.fromkeys(told))

    @property
    def state(self) -> Path:
        """Return the folder on this machine, outside the workspace, of what cannot be derived from its files."""
        return self._context.state

    def scoped(self, scope: str) -> ScopedMemory:
        """Return the door to this memory for one person or one group; it ends with this one.

        Args:
            scope: `person:NAME`, `group:NAME`, or the key of a session that names a chat.

        Raises:
            InvalidInput: It is no such scope.
        """
        from workbench.engine.scoped_memory import ScopedMemory

        return ScopedMemory(
            self._context, self._services.mutator, self._services.proposals, scope, self.close
        )

    def now(self) -> datetime:
        """Return the present moment in the workspace's zone."""
        return self._context.now()

    def head(self) -> str | None:
        """Return the newest commit, or None where there is no history yet."""
        return self._context.history.head() if self._context.has_history() else None

    def refresh(
        self,
        *,
        progress: Callable[[int, int], None] | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> frozenset[str]:
        """Look at every file for changes and bring the catalog along.

        Args:
            progress: Called with files done and to do.
            cancelled: Asked between files.

        Returns:
            The paths that changed since the last look.
        """
        return self._context.refresh(progress=progress, cancelled=cancelled).paths

    def watch(self, changed: Callable[[frozenset[str]], None]) -> Callable[[], None]:
        """Follow changes of the files; outside edits are adopted as they come.

        Args:
            changed: Called on a thread of its own with the changed paths.

        Returns:
            What ends the watching.
        """
        from workbench.engine.search.updater import Watcher

        return Watcher(self._context.root, ChangeFollower(self._context, changed).look).stop

    def close(self) -> None:
        """Fold what is due and let go of the files."""
        self._services.mutator.close()
        self._context.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # Every verb is the method of a service, which documents it.

    core = _Verb(lambda of: of.core.view)
    core_preview = _Verb(lambda of: of.core.preview)
    get = _Verb(lambda of: of.retrieval.get)
    show = _Verb(lambda of: of.retrieval.show)
    history_of = _Verb(lambda of: of.retrieval.history_of)
    why = _Verb(lambda of: of.reasons.why)
    resolve = _Verb(lambda of: of.retrieval.resolve)
    memory_around = _Verb(lambda of: of.retrieval.memory_around)
    title = _Verb(lambda of: of.retrieval.title)
    titles = _Verb(lambda of: of.retrieval.titles)
    timeline = _Verb(lambda of: of.retrieval.timeline)
    brief = _Verb(lambda of: of.briefing.brief)
    broken_parts = _Verb(lambda of: of.status.broken_parts)
    doctor = _Verb(lambda of: of.status.diagnose)
    search = _Verb(lambda of: of.retrieval.search)
    search_request = _Verb(lambda of: of.retrieval.search_request)
    why_not = _Verb(lambda of: of.retrieval.why_not)
    index = _Verb(lambda of: of.retrieval.index)
    index_status = _Verb(lambda of: of.retrieval.index_status)

    remember = _Verb(lambda of: of.memory.remember)
    remember_request = _Verb(lambda of: of.memory.remember_request)
    forget = _Verb(lambda of: of.forgetting.forget)
    to_forget = _Verb(lambda of: of.forget_requests.to_forget)
    restore = _Verb(lambda of: of.forgetting.restore)
    pin = _Verb(lambda of: of.memory.pin)
    unpin = _Verb(lambda of: of.memory.unpin)
    reinforce = _Verb(lambda of: of.memory.reinforce)
    message = _Verb(lambda of: of.messages.message)
    question = _Verb(lambda of: of.messages.question)
    edit = _Verb(lambda of: of.memory.edit)
    edit_file = _Verb(lambda of: of.memory.edit_file)
    settle = _Verb(lambda of: of.memory.settle)

    core_set = _Verb(lambda of: of.core.set)
    core_add = _Verb(lambda of: of.core.add)
    core_replace = _Verb(lambda of: of.core.replace)
    core_remove = _Verb(lambda of: of.core.remove)

    graph = _Verb(lambda of: of.graph.view)
    graph_path = _Verb(lambda of: of.graph.path)
    graph_entities = _Verb(lambda of: of.graph.entities)
    graph_count = _Verb(lambda of: of.graph.count)
    graph_relations = _Verb(lambda of: of.graph.relations)
    graph_merge = _Verb(lambda of: of.graph.merge)
    graph_unmerge = _Verb(lambda of: of.graph.unmerge)
    graph_rename = _Verb(lambda of: of.graph.rename)
    graph_link = _Verb(lambda of: of.graph.link)
    graph_unlink = _Verb(lambda of: of.graph.unlink)
    graph_add = _Verb(lambda of: of.graph.add)
    graph_add_fact = _Verb(lambda of: of.graph.add_fact)
    graph_retire = _Verb(lambda of: of.graph.retire)
    graph_propose_merge = _Verb(lambda of: of.graph.propose_merge)

    proposals = _Verb(lambda of: of.proposals.waiting)
    proposal_commit = _Verb(lambda of: of.proposals.commit)
    proposal_reject = _Verb(lambda of: of.proposals.reject)
    proposal_defer = _Verb(lambda of: of.proposals.defer)
    proposal_keep_both = _Verb(lambda of: of.proposals.keep_both)
    proposal_settle = _Verb(lambda of: of.proposals.settle)
    propose = _Verb(lambda of: of.proposals.propose)
    propose_request = _Verb(lambda of: of.proposals.propose_request)

    review = _Verb(lambda of: of.reviews.review)
    review_waiting = _Verb(lambda of: of.reviews.waiting)
    review_decide = _Verb(lambda of: of.reviews.decide)
    review_edit = _Verb(lambda of: of.reviews.edit)
    review_preview = _Verb(lambda of: of.reviews.preview)
    review_apply = _Verb(lambda of: of.reviews.apply)
    review_rejected = _Verb(lambda of: of.reviews.rejected)
    review_allow = _Verb(lambda of: of.reviews.allow)
    reflect = _Verb(lambda of: of.reflections.reflect)
    reflect_hand_out = _Verb(lambda of: of.handed_reflection.hand_out)
    reflect_take_in = _Verb(lambda of: of.handed_reflection.take_in)
    reflection_due = _Verb(lambda of: of.reviews.due)
    reflection_trace = _Verb(lambda of: of.reflections.trace)
    reflections = _Verb(lambda of: of.past_reflections.all)

    inbox = _Verb(lambda of: of.inbox.view)
    inbox_waiting = _Verb(lambda of: of.inbox.waiting)
    inbox_tick = _Verb(lambda of: of.inbox.tick)
    inbox_tick_proposals = _Verb(lambda of: of.inbox.tick_proposals)
    inbox_tick_secrets = _Verb(lambda of: of.inbox.tick_secrets)
    inbox_tick_conflicts = _Verb(lambda of: of.inbox.tick_conflicts)
    inbox_undo_tick = _Verb(lambda of: of.inbox.undo_tick)
    inbox_preview = _Verb(lambda of: of.inbox.preview)
    inbox_write = _Verb(lambda of: of.inbox.write)
    conflicts = _Verb(lambda of: of.inbox.conflicts.waiting)
    conflict_settle = _Verb(lambda of: of.inbox.conflicts.settle)

    decay = _Verb(lambda of: of.decay.view)
    decay_course = _Verb(lambda of: of.decay.course)
    decay_terms = _Verb(lambda of: of.decay.terms)
    decay_falls = _Verb(lambda of: of.decay.falls)
    decay_explain = _Verb(lambda of: of.decay.explain)
    decay_keep = _Verb(lambda of: of.decay.keep)

    actions = _Verb(lambda of: of.actions.actions)
    action = _Verb(lambda of: of.actions.action)
    action_count = _Verb(lambda of: of.actions.count)
    audit_log = _Verb(lambda of: of.audit.log)
    audit_pages = _Verb(lambda of: of.audit.pages)
    audit_show = _Verb(lambda of: of.audit.show)
    audit_diff = _Verb(lambda of: of.audit.diff)
    audit_blame = _Verb(lambda of: of.audit.blame)
    audit_at = _Verb(lambda of: of.audit.moment)
    audit_verify = _Verb(lambda of: of.audit.verify)
    audit_alerts = _Verb(lambda of: of.audit.alerts)
    alerts_waiting = _Verb(lambda of: of.audit.alerts_waiting)
    acknowledge = _Verb(lambda of: of.audit.acknowledge)
    audit_prune = _Verb(lambda of: of.audit.prune)
    revert = _Verb(lambda of: of.audit.revert)
    rollback = _Verb(lambda of: of.audit.rollback)
    undo = _Verb(lambda of: of.audit.undo)
    redo = _Verb(lambda of: of.audit.redo)
    next_steps = _Verb(lambda of: of.audit.next_steps)
    adopt = _Verb(lambda of: of.audit.adopt)
    set_aside_history = _Verb(lambda of: of.audit.set_aside_history)
    history_line = _Verb(lambda of: of.audit.history_line)
    at = _Verb(lambda of: of.audit.at)
    compare = _Verb(lambda of: of.audit.compare)
    since = _Verb(lambda of: of.account.since)
    notes = _Verb(lambda of: of.account.notes)
    begin_history = _Verb(lambda of: Beginning(of.context).begin_history)

    secrets_held = _Verb(lambda of: of.secrets.held)
    secrets_reveal = _Verb(lambda of: of.secrets.reveal)
    secrets_store = _Verb(lambda of: of.secrets.store)
    secrets_drop = _Verb(lambda of: of.secrets.drop)
    secrets_allow = _Verb(lambda of: of.secrets.allow)
    secrets_scan = _Verb(lambda of: of.secrets.scan)

    sessions = _Verb(lambda of: of.sessions.all)
    session = _Verb(lambda of: of.sessions.view)
    session_context = _Verb(lambda of: of.sessions.context)
    session_flush_check = _Verb(lambda of: of.sessions.flush_check)
    session_places = _Verb(lambda of: of.sessions.places)
    session_reader = _Verb(lambda of: of.sessions.reader)

    session_flush = _Verb(lambda of: of.session_flush.flush)
    session_reset = _Verb(lambda of: of.session_flush.reset)

    session_append = _Verb(lambda of: of.session_changes.append)
    session_compact = _Verb(lambda of: of.session_changes.compact)
    session_repair = _Verb(lambda of: of.session_changes.repair)
    session_recover = _Verb(lambda of: of.session_changes.recover)

    import_preview = _Verb(lambda of: of.imports.preview)
    import_from = _Verb(lambda of: of.imports.run)
    import_undo = _Verb(lambda of: of.imports.undo)
    import_pre_images = _Verb(lambda of: of.imports.pre_images)
    import_places = _Verb(lambda of: of.imports.places)

    export_lines = _Verb(lambda of: of.exports.lines)
    export = _Verb(lambda of: of.exports.write)

    instructions = _Verb(lambda of: of.instructions.text)

    settings_listed = _Verb(lambda of: of.setting_changes.listed)
    setting_change = _Verb(lambda of: of.setting_changes.change)
    setting_reset = _Verb(lambda of: of.setting_changes.reset)

    sync = _Verb(lambda of: of.sync.sync)
    sync_preview = _Verb(lambda of: of.sync.preview)
    sync_status = _Verb(lambda of: of.sync.status)
    sync_retire = _Verb(lambda of: of.sync.retire)
    sync_forget = _Verb(lambda of: of.sync.forget)
    sync_key = _Verb(lambda of: of.sync.key)
    sync_allow = _Verb(lambda of: of.sync.allow)
    sync_recovery = _Verb(lambda of: of.sync.recovery)

    tokens = _Verb(lambda of: of.access.tokens)
    token_add = _Verb(lambda of: of.access.add)
    token_revoke = _Verb(lambda of: of.access.revoke)

    upkeep = _Verb(lambda of: of.mutator.upkeep)


def _settings(root: Path, *, lenient: bool) -> Settings:
    try:
        settings = load_settings(root)
    except (InvalidSetting, StorageError) as error:
        if not lenient:
            raise
        settings = Settings(broken=str(error))
    if settings.timezone:
        return settings

    recorded = recorded_timezone(root)
    if not recorded:
        return settings
    origins = {**settings.origins, "timezone": "recorded by init"}
    return replace(settings, timezone=recorded, origins=origins)


def _folder(path: Path) -> Path:
    place = expand_home(path)
    if not place.is_dir():
        raise NotFound(
            "There is no such folder.", where=str(path), remedy=f"Make one with: workbench init {path}"
        )
    return place.resolve()


def context_of(workspace: Workspace) -> WorkspaceContext:
    """Return what an open workspace stands on, for what else of the engine works with it; it ends with that door."""
    return workspace._context


class ChangeFollower:
    """Finds what changed in a workspace since the last look.

    The catalog cannot: this process and others keep it up to date.

    Args:
        changed: Called with the paths that differ from the last look, never twice at once.
    """

    def __init__(self, context: WorkspaceContext, changed: Callable[[frozenset[str]], None]) -> None:
        self._context = context
        self._changed = changed
        self._lock = threading.Lock()
        self._seen = self._stamps()

    def look(self) -> None:
        """Take in what was edited from outside, and tell what changed; the audit log counts as a file here.

        Raises:
            WorkbenchError: Something could not be taken in (another process holds the lock); what changed was told.
        """
        with self._lock:
            failure: WorkbenchError | None = None
            try:
                self._context.adopt()
                self._context.refresh()
            except WorkbenchError as error:
                # The files have changed all the same.
                failure = error
            seen = self._stamps()
            paths = {path for path, _ in self._seen.items() ^ seen.items()}
            self._seen = seen
            if paths:
                self._changed(frozenset(paths))
            if failure is not None:
                raise failure

    def _stamps(self) -> _Stamps:
        stamps = {
            path: hash((status.st_size, status.st_mtime_ns, status.st_ino))
            for path, status in layout.tracked_files(self._context.root).items()
        }
        # What changes no file, such as an acknowledgement, still has its line there.
        with suppress(OSError):
            status = (self._context.root / layout.AUDIT_LOG).lstat()
            stamps[layout.AUDIT_LOG] = hash((status.st_size, status.st_mtime_ns, status.st_ino))
        return stamps
