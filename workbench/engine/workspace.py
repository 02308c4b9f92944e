"""Workspace: making and opening a folder of agent memory, and everything that can be done with it."""

from __future__ import annotations

import configparser
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Self, TypeVar

from workbench.engine import layout, results
from workbench.engine.clock import Clock, clock_from_environment
from workbench.engine.errors import InvalidInput, InvalidSetting, NotFound, StorageError, WorkbenchError
from workbench.engine.file_access import expand_home, expand_writable
from workbench.engine.roles import parse_role
from workbench.engine.services.audit import Audit
from workbench.engine.services.context import WorkspaceContext
from workbench.engine.services.core import Core
from workbench.engine.services.decay import Decay
from workbench.engine.services.exports import Exports
from workbench.engine.services.graph import Graph
from workbench.engine.services.imports import Imports
from workbench.engine.services.instructions import Instructions
from workbench.engine.services.memory import Memory
from workbench.engine.services.mutator import Mutator
from workbench.engine.services.proposals import ProposalService
from workbench.engine.services.retrieval import Retrieval
from workbench.engine.services.reviews import Reviews
from workbench.engine.services.secrets import Secrets
from workbench.engine.services.session_changes import SessionChanges
from workbench.engine.services.session_flush import SessionFlush
from workbench.engine.services.sessions import SessionService
from workbench.engine.settings.layers import load_settings
from workbench.engine.settings.sections import Settings

if TYPE_CHECKING:
    from workbench.engine.history.plan import FileView, Plan
    from workbench.engine.scoped_memory import ScopedMemory


_MARKS = (layout.HISTORY, layout.SETTINGS, layout.CORE, "memory")


S = TypeVar("S")
R = TypeVar("R")
P = ParamSpec("P")


def _verb(service: type[S], method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[Workspace, P], R]:
    """Return a method of the door that hands a call on to the service whose method it is."""

    @wraps(method)
    def call(self: Workspace, /, *given: P.args, **options: P.kwargs) -> R:
        return method(self._services.of(service), *given, **options)

    return call


class _Services:
    """The services of one open workspace, one of each kind."""

    def __init__(self, *services: object) -> None:
        self._by_kind = {type(service): service for service in services}

    def of(self, kind: type[S]) -> S:
        service = self._by_kind[kind]
        assert isinstance(service, kind)
        return service


def _assemble(context: WorkspaceContext) -> _Services:
    """Make the services, each with those that it calls on."""
    mutator = Mutator(context)
    retrieval = Retrieval(context)
    reviews = Reviews(context, mutator, retrieval)
    proposals = ProposalService(context, mutator, retrieval)
    memory = Memory(context, mutator, retrieval, reviews)
    sessions = SessionService(context)
    session_flush = SessionFlush(context, mutator, memory, sessions)
    return _Services(
        retrieval,
        memory,
        Core(context, mutator),
        Graph(context, mutator, retrieval),
        proposals,
        reviews,
        Decay(context, mutator, retrieval),
        Audit(context, mutator),
        Secrets(context, mutator, memory),
        sessions,
        session_flush,
        SessionChanges(context, mutator, sessions, session_flush),
        Imports(context, mutator, proposals),
        Exports(context),
        Instructions(context),
        mutator,
    )


class Workspace:
    """An agent's memory in a folder: a context manager, safe to use from several threads.

    Open one with `Workspace.open`; opening reads and writes nothing in the folder. The first mutation
    creates the history, `.audit`.
    """

    def __init__(self, context: WorkspaceContext) -> None:
        self._context = context
        self._services = _assemble(context)

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

        Raises:
            NotFound: There is no such folder.
            InvalidSetting: A settings file does not hold what it may.
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
        """Return the settings as they held at opening; those of decay as the file has them now."""
        self._context.follow_settings()
        return self._context.settings

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return one line for each thing that did not work as it should while memory was changed."""
        history = self._context.__dict__.get("history")
        told = (
            *self._context.troubles,
            *self._services.of(Mutator).edits_told,
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

        return ScopedMemory(self, scope)

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
        """Follow changes of the files, whoever makes them; outside edits are adopted as they come.

        Args:
            changed: Called on a thread of its own with the changed paths.

        Returns:
            What ends the watching.
        """
        from workbench.engine.search.watcher import Watcher

        return Watcher(self._context.root, ChangeFollower(self._context, changed).look).stop

    def close(self) -> None:
        """Fold what is due and let go of the files."""
        self._services.of(Mutator).close()
        self._context.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # Every verb is the method of a service, which documents it.

    core = _verb(Retrieval, Retrieval.core)
    core_preview = _verb(Retrieval, Retrieval.core_preview)
    get = _verb(Retrieval, Retrieval.get)
    show = _verb(Retrieval, Retrieval.show)
    history_of = _verb(Retrieval, Retrieval.history_of)
    resolve = _verb(Retrieval, Retrieval.resolve)
    memory_around = _verb(Retrieval, Retrieval.memory_around)
    title = _verb(Retrieval, Retrieval.title)
    titles = _verb(Retrieval, Retrieval.titles)
    timeline = _verb(Retrieval, Retrieval.timeline)
    brief = _verb(Retrieval, Retrieval.brief)
    broken_parts = _verb(Retrieval, Retrieval.broken_parts)
    doctor = _verb(Retrieval, Retrieval.doctor)
    search = _verb(Retrieval, Retrieval.search)
    search_request = _verb(Retrieval, Retrieval.search_request)
    why_not = _verb(Retrieval, Retrieval.why_not)
    index = _verb(Retrieval, Retrieval.index)
    index_status = _verb(Retrieval, Retrieval.index_status)

    remember = _verb(Memory, Memory.remember)
    remember_request = _verb(Memory, Memory.remember_request)
    forget = _verb(Memory, Memory.forget)
    restore = _verb(Memory, Memory.restore)
    pin = _verb(Memory, Memory.pin)
    unpin = _verb(Memory, Memory.unpin)
    reinforce = _verb(Memory, Memory.reinforce)
    message = _verb(Memory, Memory.message)
    edit = _verb(Memory, Memory.edit)
    edit_file = _verb(Memory, Memory.edit_file)
    settle = _verb(Memory, Memory.settle)

    core_set = _verb(Core, Core.core_set)
    core_add = _verb(Core, Core.core_add)
    core_replace = _verb(Core, Core.core_replace)
    core_remove = _verb(Core, Core.core_remove)

    graph = _verb(Graph, Graph.graph)
    graph_path = _verb(Graph, Graph.graph_path)
    graph_entities = _verb(Graph, Graph.graph_entities)
    graph_relations = _verb(Graph, Graph.graph_relations)
    graph_merge = _verb(Graph, Graph.graph_merge)
    graph_unmerge = _verb(Graph, Graph.graph_unmerge)
    graph_rename = _verb(Graph, Graph.graph_rename)
    graph_link = _verb(Graph, Graph.graph_link)
    graph_unlink = _verb(Graph, Graph.graph_unlink)
    graph_add = _verb(Graph, Graph.graph_add)
    graph_add_fact = _verb(Graph, Graph.graph_add_fact)
    graph_retire = _verb(Graph, Graph.graph_retire)
    graph_propose_merge = _verb(Graph, Graph.graph_propose_merge)

    proposals = _verb(ProposalService, ProposalService.proposals)
    proposal_commit = _verb(ProposalService, ProposalService.proposal_commit)
    proposal_reject = _verb(ProposalService, ProposalService.proposal_reject)
    proposal_defer = _verb(ProposalService, ProposalService.proposal_defer)
    proposal_keep_both = _verb(ProposalService, ProposalService.proposal_keep_both)
    proposal_settle = _verb(ProposalService, ProposalService.proposal_settle)
    propose = _verb(ProposalService, ProposalService.propose)
    propose_request = _verb(ProposalService, ProposalService.propose_request)

    review = _verb(Reviews, Reviews.review)
    review_waiting = _verb(Reviews, Reviews.review_waiting)
    review_decide = _verb(Reviews, Reviews.review_decide)
    review_edit = _verb(Reviews, Reviews.review_edit)
    review_preview = _verb(Reviews, Reviews.review_preview)
    review_apply = _verb(Reviews, Reviews.review_apply)
    review_rejected = _verb(Reviews, Reviews.review_rejected)
    review_allow = _verb(Reviews, Reviews.review_allow)
    reflect = _verb(Reviews, Reviews.reflect)
    reflection_due = _verb(Reviews, Reviews.reflection_due)
    reflection_trace = _verb(Reviews, Reviews.reflection_trace)

    decay = _verb(Decay, Decay.decay)
    decay_course = _verb(Decay, Decay.decay_course)
    decay_terms = _verb(Decay, Decay.decay_terms)
    decay_falls = _verb(Decay, Decay.decay_falls)
    decay_explain = _verb(Decay, Decay.decay_explain)
    decay_keep = _verb(Decay, Decay.decay_keep)

    audit_log = _verb(Audit, Audit.audit_log)
    audit_pages = _verb(Audit, Audit.audit_pages)
    audit_show = _verb(Audit, Audit.audit_show)
    audit_diff = _verb(Audit, Audit.audit_diff)
    audit_blame = _verb(Audit, Audit.audit_blame)
    audit_at = _verb(Audit, Audit.audit_at)
    audit_verify = _verb(Audit, Audit.audit_verify)
    audit_alerts = _verb(Audit, Audit.audit_alerts)
    alerts_waiting = _verb(Audit, Audit.alerts_waiting)
    acknowledge = _verb(Audit, Audit.acknowledge)
    audit_prune = _verb(Audit, Audit.audit_prune)
    revert = _verb(Audit, Audit.revert)
    rollback = _verb(Audit, Audit.rollback)
    undo = _verb(Audit, Audit.undo)
    redo = _verb(Audit, Audit.redo)
    next_steps = _verb(Audit, Audit.next_steps)
    adopt = _verb(Audit, Audit.adopt)
    set_aside_history = _verb(Audit, Audit.set_aside_history)
    history_line = _verb(Audit, Audit.history_line)
    at = _verb(Audit, Audit.at)
    compare = _verb(Audit, Audit.compare)

    secrets_held = _verb(Secrets, Secrets.secrets_held)
    secrets_reveal = _verb(Secrets, Secrets.secrets_reveal)
    secrets_store = _verb(Secrets, Secrets.secrets_store)
    secrets_drop = _verb(Secrets, Secrets.secrets_drop)
    secrets_allow = _verb(Secrets, Secrets.secrets_allow)
    secrets_scan = _verb(Secrets, Secrets.secrets_scan)

    sessions = _verb(SessionService, SessionService.sessions)
    session = _verb(SessionService, SessionService.session)
    session_context = _verb(SessionService, SessionService.session_context)
    session_flush_check = _verb(SessionService, SessionService.session_flush_check)
    session_places = _verb(SessionService, SessionService.session_places)
    session_reader = _verb(SessionService, SessionService.session_reader)

    session_flush = _verb(SessionFlush, SessionFlush.session_flush)
    session_reset = _verb(SessionFlush, SessionFlush.session_reset)

    session_append = _verb(SessionChanges, SessionChanges.session_append)
    session_compact = _verb(SessionChanges, SessionChanges.session_compact)
    session_repair = _verb(SessionChanges, SessionChanges.session_repair)
    session_recover = _verb(SessionChanges, SessionChanges.session_recover)

    import_preview = _verb(Imports, Imports.import_preview)
    import_from = _verb(Imports, Imports.import_from)
    import_undo = _verb(Imports, Imports.import_undo)
    import_pre_images = _verb(Imports, Imports.import_pre_images)
    import_places = _verb(Imports, Imports.import_places)

    export_lines = _verb(Exports, Exports.export_lines)
    export = _verb(Exports, Exports.export)

    instructions = _verb(Instructions, Instructions.instructions)

    upkeep = _verb(Mutator, Mutator.upkeep)


def _settings(root: Path, *, lenient: bool) -> Settings:
    try:
        settings = load_settings(root)
    except InvalidSetting as error:
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


_Stamps = dict[str, tuple[int, int, int]]


class ChangeFollower:
    """Looks at a workspace again and again.

    The catalog cannot tell what changed: this door's own writing, and other processes, bring it along.

    Args:
        context: The open workspace.
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
            path: (status.st_size, status.st_mtime_ns, status.st_ino)
            for path, status in layout.tracked_files(self._context.root).items()
        }
        # What changes no file, such as an acknowledgement, still has its line there.
        with suppress(OSError):
            status = (self._context.root / layout.AUDIT_LOG).lstat()
            stamps[layout.AUDIT_LOG] = (status.st_size, status.st_mtime_ns, status.st_ino)
        return stamps


_FOLDERS = (layout.EPISODES, layout.ENTITIES, layout.PROCEDURES, layout.VAULT, layout.META)
_SECTION = "workbench"


def initialise(context: WorkspaceContext, timezone: str | None) -> results.memories.Changed:
    """Create the history, the layout where there is no memory yet, and record the time zone.

    A folder that has memory gets nothing but the history; the zone is recorded in it, unless the settings
    say it.

    Raises:
        InvalidInput: There is no such time zone.
        StorageError: The folder cannot be written.
    """
    from workbench.engine.history.plan import Attribution
    from workbench.engine.services.quarantine import tell_left_out

    zone = timezone or context.settings.timezone or context.zone.key
    _require_zone(zone)
    had_memory = any(path != layout.SETTINGS for path in layout.tracked_files(context.root))
    attribution = Attribution("system:init", "auto", "workbench init")
    with context.leaving_the_graph_index():
        receipts = [context.history.init(attribution)]
    context.claim_state()
    if not had_memory:
        for folder in _FOLDERS:
            (context.root / folder).mkdir(parents=True, exist_ok=True)
        receipts.append(
            context.history.mutate(lambda view: _plan(view, zone), attribution, may_touch_critical=True)
        )
    elif _zone_of_settings(context) is not None:
        if timezone:
            receipts.append(
                context.history.mutate(
                    lambda view: _plan_zone(view, zone), attribution, may_touch_critical=True
                )
            )
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
        temporary.unlink(missing_ok=True)
        raise StorageError(
            f"The time zone cannot be recorded: {error.strerror}.",
            where=f"{layout.HISTORY}/config",
            remedy="Make the folder writable, or free some space.",
        ) from error


def _zone_of_settings(context: WorkspaceContext) -> object:
    """Return the zone that the workspace's own settings give, or None."""
    from workbench.engine.settings.layers import read_toml

    content = context.raw_files.read(layout.SETTINGS) or b""
    return read_toml(content, layout.SETTINGS, personal=False)[0].get("timezone")


def _plan(view: FileView, zone: str) -> Plan[None]:
    from workbench.engine.history.plan import Action, FileChange, Plan
    from workbench.engine.markdown.template import TEMPLATES, load_template

    changes = [
        FileChange(path, load_template(path), Action.CREATE, "laid out the workspace")
        for path in TEMPLATES
        if view.read(path) is None
    ]
    changes.extend(_plan_zone(view, zone).changes)
    return Plan(Action.CREATE, "workspace", "laid out the workspace", tuple(changes))


def _plan_zone(view: FileView, zone: str) -> Plan[None]:
    from workbench.engine.history.plan import Action, FileChange, Plan
    from workbench.engine.settings.layers import write_setting

    settings = view.read(layout.SETTINGS)
    recorded = write_setting(settings or b"", "timezone", zone)
    action = Action.CREATE if settings is None else Action.EDIT
    summary = f"recorded the time zone {zone}"
    change = FileChange(layout.SETTINGS, recorded, action, summary)
    return Plan(action, layout.SETTINGS, summary, (change,) if recorded != settings else ())


def _require_zone(name: str) -> None:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise InvalidInput(
            f"There is no time zone “{name}”.", remedy="Give an IANA name such as Europe/Stockholm."
        ) from error
