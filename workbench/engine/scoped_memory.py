"""ScopedMemory: the door for one person or one group beside the owner; what is not in it cannot be asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final, Self, TypeVar

from workbench.engine import results
from workbench.engine.clock import Clock, in_zone
from workbench.engine.errors import (
    Ambiguous,
    InvalidInput,
    InvalidSetting,
    NotFound,
    RoleRefused,
    StorageError,
    WorkbenchError,
)
from workbench.engine.history.plan import FileView, Plan
from workbench.engine.identifiers import MEMORY_STORES
from workbench.engine.memory.remember import plan_remember
from workbench.engine.requests import ASKED_FOR, ProposeRequest, RememberRequest, SearchRequest
from workbench.engine.roles import Capability, parse_door_scope, parse_role, require
from workbench.engine.services.context import WorkspaceContext
from workbench.engine.services.instructions import scoped_text
from workbench.engine.services.messages import NOTHING_KEPT
from workbench.engine.services.mutator import Mutator, shortened
from workbench.engine.services.past import PastReader
from workbench.engine.services.proposals import Proposals
from workbench.engine.services.retrieval import Retrieval, are_citations_given
from workbench.engine.services.routing import read_message, route, warnings_of_rejected
from workbench.engine.services.scoped_view import ScopedView
from workbench.engine.services.secret_guard import held_back

T = TypeVar("T")
_MOST_IN_BRIEF: Final = 8
_BRIEF_CHARACTERS: Final = 300
_STORES: Final = ("episodic", "semantic")
"""What is written through this door. Procedures and notes of the vault, which steer agents or never fade, are given to
a scope by the owner alone; core memory never is."""
_OWNERS_ALONE: Final = ("block", "origins", "pinned")


class ScopedMemory:
    """The memory that one person or one group shares with the owner: a context manager, safe from several threads.

    It reads a copy that holds what is for its scope, or for everybody, and nothing else; so no answer, and no message
    of an error, says anything of other memories. What it writes is for its scope. Core memory, files, history, alerts,
    reflections and other proposals do not exist here.

    Args:
        context: Of the whole workspace.
        mutator: Of the whole workspace.
        proposals: Of the whole workspace.
        scope: `person:NAME`, `group:NAME`, or the key of a session that names a chat.
        close: Lets go of the whole workspace.
    """

    def __init__(
        self,
        context: WorkspaceContext,
        mutator: Mutator,
        proposals: Proposals,
        scope: str,
        close: Callable[[], None],
    ) -> None:
        self.__context = context
        self.__mutator = mutator
        self.__proposals = proposals
        self.__scope = parse_door_scope(scope)
        self.__close = close
        self.__view = ScopedView(context, self.__scope)

    @staticmethod
    def open(
        path: str | Path,
        *,
        scope: str,
        role: str = "main",
        actor: str | None = None,
        clock: Clock | None = None,
        lock_timeout: float | None = None,
    ) -> ScopedMemory:
        """Open a workspace for one scope.

        Args:
            path: The workspace's folder.
            scope: `person:NAME`, `group:NAME`, or the key of a session that names a chat.
            role: `main`, `agent:NAME` or `reader`; a person's door is the whole workspace.
            actor: The actor that changes are attributed to.
            clock: Tells the time; the system's, or `WORKBENCH_NOW`, by default.
            lock_timeout: Seconds that a change waits for another writer; the setting's by default.

        Raises:
            NotFound: There is no such folder.
            InvalidInput: There is no such role or scope.
        """
        from workbench.engine.workspace import Workspace

        name = parse_door_scope(scope)
        if parse_role(role).kind == "person":
            role = "main"
        return Workspace.open(path, role=role, actor=actor, clock=clock, lock_timeout=lock_timeout).scoped(
            name
        )

    @property
    def scope(self) -> str:
        """Return whom this door is for."""
        return self.__scope

    @property
    def role(self) -> str:
        """Return the role this door was opened with."""
        return str(self.__context.role)

    def search(
        self,
        query: str,
        *,
        max_results: int | None = None,
        min_score: float | None = None,
        store: str | None = None,
        after: str | None = None,
        before: str | None = None,
        include_dormant: bool = False,
        budget: int | None = None,
        explain: bool = False,
    ) -> results.recall.Found:
        """Find the memories of this scope that answer a question; see `Workspace.search`.

        Raises:
            InvalidInput: An option makes no sense as given.
        """
        return self.search_request(
            SearchRequest(
                query, max_results, min_score, store, after, before, include_dormant, budget, explain
            )
        )

    def search_request(self, request: SearchRequest) -> results.recall.Found:
        """Find the memories of this scope that answer a question; see `Workspace.search_request`.

        Raises:
            InvalidInput: A day cannot be read.
        """

        def ask() -> results.recall.Found:
            context = self.__view.current()
            retrieval = Retrieval(context, PastReader(context))
            found = retrieval.search_request(request)
            if found.stale is not None:
                # An index that is behind may still hold what was taken away: it catches up, or does not answer.
                context.finder.sync()
                found = retrieval.search_request(request)
            if found.stale is not None:
                raise _unreachable()
            if not self.__is_cited():
                found = found.with_hits(lambda hit: replace(hit, citation=None))
            return replace(found, fallback=None)

        return self.__told(ask)

    def show(self, id: str) -> results.memories.Shown:
        """Return one memory of this scope with what it is linked to; its history is the owner's.

        Args:
            id: A memory id, or the name of an entity.

        Raises:
            NotFound: There is no such memory, or it is not for this scope.
            Ambiguous: The name is that of several.
        """

        def ask() -> results.memories.Shown:
            context = self.__view.current()
            shown = Retrieval(context, PastReader(context)).show(id, count_access=False, history=False)
            self.__context.count_access(shown.id.partition("#^")[0])
            return shown

        return self.__told(ask)

    def brief(self) -> results.audit.ScopedBrief:
        """Return the newest of what is for this scope, for the start of a session."""

        def ask() -> results.audit.ScopedBrief:
            context = self.__view.current()
            newest = Retrieval(context, PastReader(context)).timeline(limit=_MOST_IN_BRIEF)
            lines = (context.lookups.memory(entry.id) for entry in newest.entries)
            memories = tuple(
                results.audit.BriefMemory(
                    record.id,
                    record.store,
                    in_zone(record.moment, context.zone).date().isoformat() if record.moment else None,
                    shortened(record.text, _BRIEF_CHARACTERS),
                )
                for record in lines
                if record is not None
            )
            return results.audit.ScopedBrief(self.__scope, memories, context.lookups.count())

        return self.__told(ask)

    def instructions(self) -> str:
        """Return the text for the prompt of an agent that talks to these people, as Markdown."""
        return scoped_text(self.__scope, self.__context.role, cited=self.__is_cited())

    def remember(
        self,
        text: str,
        *,
        store: str | None = None,
        type: str | None = None,
        tags: Iterable[str] = (),
        entities: Iterable[str] = (),
        confidence: str | None = None,
        source: str | None = None,
        dry_run: bool = False,
    ) -> results.memories.Remembered:
        """Store a memory for this scope: an episode, or a fact about somebody or something.

        Args:
            text: What to remember; any language, kept as it is.
            store: episodic or semantic; found by its wording if left out. What else is asked for becomes an episode.
            type: decision, fact, preference, task, event, emotion or correction.
            tags: Topical tags.
            entities: What it is about: `TYPE:NAME`, or ids.
            confidence: high, medium or low.
            source: `user-explicit` (asked for; the default) or `conversation` (noticed).
            dry_run: Say what would be done, and do nothing.

        Raises:
            InvalidInput: The text cannot be kept, or an option makes no sense.
            RoleRefused: This door may not write; a sub-agent proposes instead.
        """
        return self.remember_request(
            RememberRequest(
                text,
                store=store,
                type=type,
                tags=tuple(tags),
                entities=tuple(entities),
                confidence=confidence,
                source=source or ASKED_FOR,
                dry_run=dry_run,
            )
        )

    def remember_request(self, request: RememberRequest) -> results.memories.Remembered:
        """Store a memory for this scope; see `remember`.

        Args:
            request: What to remember. Whom it is for is this scope, whatever it says, and what is the owner's alone
                (actor, block, origins, pin and trigger) is passed over.

        Raises:
            InvalidInput: The text cannot be kept, or an option makes no sense.
            RoleRefused: This door may not write; a sub-agent proposes instead.
        """
        own = replace(
            request, scope=self.__scope, actor=None, block=None, origins=(), pinned=False, trigger=None
        )
        return self.__told(lambda: self.__remember(own))

    def propose(
        self,
        content: str,
        *,
        store: str | None = None,
        entities: Iterable[str] = (),
        confidence: str = "medium",
        trigger: str = "",
        type: str | None = None,
        tags: Iterable[str] = (),
    ) -> results.reviews.Proposed:
        """Ask for something to be remembered for this scope; it waits for the verdict of the main agent or the owner.

        What it repeats or contradicts is told to them and not here.

        Raises:
            InvalidInput: The text cannot be kept, or an option makes no sense.
            RoleRefused: This door may only read.
        """
        return self.propose_request(
            ProposeRequest(
                content,
                store=store,
                entities=tuple(entities),
                confidence=confidence,
                trigger=trigger,
                type=type,
                tags=tuple(tags),
            )
        )

    def propose_request(self, request: ProposeRequest) -> results.reviews.Proposed:
        """Ask for something to be remembered for this scope; see `propose`.

        Args:
            request: What to remember. Whom it is for is this scope, whatever it says, and what is the owner's alone
                (origins, and core memory) is passed over.

        Raises:
            InvalidInput: The text cannot be kept, or an option makes no sense.
            RoleRefused: This door may only read.
        """

        def ask() -> results.reviews.Proposed:
            require(self.__context.role, Capability.PROPOSE)
            own = replace(
                request, store=_store(request.store), scope=self.__scope, core_worthy=False, origins=()
            )
            return results.reviews.Proposed(
                None, held_back=_held(self.__proposals.propose_request(own).held_back)
            )

        return self.__told(ask)

    def message(self, text: str) -> results.memories.MessageOutcome:
        """Look for triggers in one message, and do what it asks as far as this door goes.

        Remembering is done and recalling answered. What it asks to forget, or to reflect on, is said and left to the
        owner.
        """

        def ask() -> results.memories.MessageOutcome:
            detection = read_message(self.__context, text)
            outcome = results.memories.MessageOutcome(
                detection.kind, None, detection.payload or None, applied=False
            )
            if detection.kind == "remember" and not detection.payload:
                return replace(outcome, note=NOTHING_KEPT)
            if detection.kind == "remember":
                remembered = self.remember(detection.payload)
                return replace(outcome, applied=bool(remembered.id), remembered=remembered)
            if detection.kind == "recall" and detection.payload:
                return replace(outcome, found=self.search(detection.payload))
            return outcome

        return self.__told(ask)

    def close(self) -> None:
        """Let go of the files."""
        self.__view.close()
        self.__close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __remember(self, request: RememberRequest) -> results.memories.Remembered:
        context, mutator, dry_run = self.__context, self.__mutator, request.dry_run
        require(context.role, Capability.WRITE_MEMORY, doing="write memory")
        kept = {name: each for name, each in request.as_arguments().items() if name not in _OWNERS_ALONE}
        if held := held_back(context, "remember", request.text, kept, keep=not dry_run):
            return results.memories.Remembered(None, held_back=_held(held), dry_run=dry_run)
        store = _store(request.store)
        if not request.is_asked_for and warnings_of_rejected(context, request.text):
            # That it was said may be noted; that the owner did not believe it is not told.
            store = "episodic"
        if not dry_run:
            mutator.prepare_writing()
        seen = self.__view.current()
        routing = route(seen, replace(request, store=store))
        placed = replace(request, store=store or (routing.store if routing.store in _STORES else "episodic"))

        def plan(view: FileView) -> Plan[results.memories.Remembered]:
            return plan_remember(
                view, placed, routing, now=context.now(), settings=context.settings, lookup=seen.lookups
            )

        if dry_run:
            return replace(_own(plan(seen.files).outcome), dry_run=True)
        usual = "bot:trigger-remember" if request.is_asked_for else "bot:auto-detect"
        said = "asked for" if request.is_asked_for else "noticed in conversation"
        by = mutator.attribution(shortened(f"{said} in {self.__scope}"), actor=usual)
        return _own(mutator.mutate(plan, by, Capability.WRITE_MEMORY, doing="write memory").outcome)

    def __is_cited(self) -> bool:
        """Return whether results say how to cite them; in a group others read along."""
        where = "group" if self.__scope.startswith("group:") else "direct"
        return are_citations_given(self.__context.settings.search.citations, where)

    def __told(self, ask: Callable[[], T]) -> T:
        """Answer a question; what goes wrong beyond it is told without a word of where."""
        try:
            return ask()
        except InvalidSetting:
            raise _unreachable() from None
        except (InvalidInput, NotFound, Ambiguous, RoleRefused) as error:
            # Their place is a file of the copy, which nobody at this door can open.
            raise type(error)(error.message, remedy=error.remedy) from None
        except WorkbenchError:
            raise _unreachable() from None


def _unreachable() -> StorageError:
    return StorageError("Memory cannot be reached as it is now.", remedy="Try again, or tell the owner.")


def _store(store: str | None) -> str | None:
    if store is None or store in _STORES:
        return store
    if store.strip().lower() in MEMORY_STORES:
        return "episodic"
    raise InvalidInput(f"“{store[:40]}” is no store.", remedy=f"Use {' or '.join(_STORES)}.")


def _own(outcome: results.memories.Remembered) -> results.memories.Remembered:
    """Return what may be told of what was written: what was said, and under which id it is kept."""
    return results.memories.Remembered(
        None,
        ids=(outcome.id,),
        id=outcome.id,
        store=outcome.store,
        router=outcome.router,
        tags=outcome.tags,
        confidence=outcome.confidence,
        entities=outcome.entities,
        relations=outcome.relations,
        summary=outcome.summary,
    )


def _held(held: results.memories.HeldBack | None) -> results.memories.HeldBack | None:
    return replace(held, detail="The owner decides on it.") if held is not None else None
