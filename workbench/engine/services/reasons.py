"""Why a memory is believed: the words it rests on, else the commit that wrote it, and what becomes of it."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from workbench.engine import layout, results
from workbench.engine.errors import HistoryError, InvalidInput, NotFound, OutsideWorkspace, StorageError
from workbench.engine.history.commits import parse_message
from workbench.engine.identifiers import cited_lines, parse_memory_id
from workbench.engine.markdown.review import PendingReflection
from workbench.engine.markdown.source import SourceText
from workbench.engine.memory.lookup import locate_memory
from workbench.engine.memory.wording import text_key
from workbench.engine.requests import ASKED_FOR

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from zoneinfo import ZoneInfo

    from workbench.engine.history.plan import FileView
    from workbench.engine.memory.lookup import LocatedMemory
    from workbench.engine.reflection.model import Passage
    from workbench.engine.services.context import WorkspaceContext
    from workbench.engine.services.retrieval import Retrieval
    from workbench.engine.services.sessions import Sessions

_INIT = "system:init"
_SESSIONS = "sessions/"
# A person reads no more, and an entity may have hundreds of sources.
_MOST_SOURCES = 20
_MOST_LINES = 10


class Reasons:
    """What memories rest on; looking counts as no access."""

    def __init__(self, context: WorkspaceContext, retrieval: Retrieval, sessions: Sessions) -> None:
        self._context = context
        self._retrieval = retrieval
        self._sessions = sessions

    def why(self, id: str) -> results.memories.Why:
        """Return why a memory is believed, what names it, and when it fades.

        A memory whose sources can be read rests on their words. Any other rests on the newest commit that changed
        its own words; where that is the first of the history, it was adopted rather than written.

        Args:
            id: A memory id, an entity's or fact's too, or the name of an entity.

        Raises:
            NotFound: There is no such memory.
            Ambiguous: There are several.
        """
        shown = self._retrieval.show(id, count_access=False, history=False)
        words, sources = _sorted_out(shown.provenance)
        # A page that was merged into another says nothing beside what that took over from it.
        absorbed = self._context.lookups.absorbed(shown.id.partition("#")[0])
        sources = tuple(each for each in sources if each not in absorbed)
        said: list[results.memories.Saying] = []
        lost: list[str] = []
        for source in sources[:_MOST_SOURCES]:
            found = [each for each in self._follow(source, shown.text) if each not in said]
            said += found
            if not found and source not in {each.id for each in said}:
                lost.append(source)
        newest = None if said else next(iter(self._standing(shown)), None)
        if newest is not None and not sources and shown.id.startswith("core:"):
            said += self._proposed(shown, newest)
        written = None if said or newest is None else self._told(newest)
        falls, status = self._falls(shown)
        if said:
            basis = "words"
        elif written is None:
            basis = "file"
        else:
            basis = "adoption" if written.actor == _INIT else "commit"
        return results.memories.Why(
            id=shown.id,
            title=shown.title,
            basis=basis,
            said=tuple(said),
            told=words,
            lost=tuple(lost),
            more=max(0, len(sources) - _MOST_SOURCES),
            written=written,
            used_by=shown.links.from_,
            status=status,
            falls=falls,
            reworded=self._reworded(shown) if said else None,
        )

    def _proposed(
        self, shown: results.memories.Shown, newest: results.memories.HistoryEntry
    ) -> Iterator[results.memories.Saying]:
        """Yield the words on which a reflection rested that wrote an item of core memory, which notes no source."""
        if not newest.actor.startswith("reflection:"):
            return
        store = self._context.history.store
        content = None
        with contextlib.suppress(HistoryError, NotFound):
            content = store.file_at(store.commit(newest.commit).parent, layout.PENDING_REFLECTION)
        said = text_key(shown.text)
        for item in PendingReflection.parse(content or b"").items:
            if item.target.startswith("core:") and text_key(item.text) == said:
                for proof in item.evidence:
                    yield from self._follow(proof.id, proof.quote)
                return

    def _follow(self, source: str, about: str) -> Iterator[results.memories.Saying]:
        """Yield the words behind a source: first those it came from itself, then its own; nothing if it is gone.

        Args:
            about: What the memory says that rests on it; of what was said in one go, the sentence nearest to it.
        """
        if source.startswith(f"file:{_SESSIONS}"):
            yield from self._spoken(source)
            return
        context = self._context
        # One source that is gone or cannot be read hides no other; it is named as lost.
        with contextlib.suppress(NotFound, InvalidInput, OutsideWorkspace, StorageError):
            memory = locate_memory(context.files, source, context.zone)
            if memory.id.kind == "episode":
                for origin in memory.provenance.sources:
                    if origin.startswith(f"file:{_SESSIONS}"):
                        yield from self._spoken(origin)
            # Words of an entry that the person asked for are the person's.
            saying = results.memories.Saying(
                id=source,
                quote=memory.text,
                path=memory.path,
                line=_first_said(context.files, memory),
                speaker="user" if memory.source == ASKED_FOR else None,
                moment=memory.created,
            )
            yield self._in_log(saying, memory, about) if memory.id.kind == "file" else saying

    def _in_log(
        self, saying: results.memories.Saying, memory: LocatedMemory, about: str
    ) -> results.memories.Saying:
        """Return the words of a line of notes as they were proposed: without list mark, time and label."""
        from workbench.engine.reflection.rules.phrasing import content_words, quote_of

        content = self._context.files.read(memory.path) or b""
        span = memory.span
        passages = (
            each
            for each in _passages(memory.path, content, self._context.zone)
            if each.start_line <= span.start and span.end <= each.end_line
        )
        passage = next(passages, None)
        if passage is None:
            return saying
        quote = quote_of(passage, content_words(about)).quote
        return replace(
            saying,
            quote=quote,
            speaker=passage.speaker or saying.speaker,
            moment=passage.moment or saying.moment,
        )

    def _spoken(self, citation: str) -> Iterator[results.memories.Saying]:
        """Yield the cited lines of a session's transcript, as this role may read them."""
        cited = cited_lines(citation.removeprefix("file:"))
        count = min(cited[2] - cited[1] + 1, _MOST_LINES) if cited else 1
        with contextlib.suppress(NotFound, InvalidInput, OutsideWorkspace, StorageError):
            view = self._sessions.view(citation, limit=max(1, count))
            for line in view.lines:
                yield results.memories.Saying(
                    id=line.citation,
                    quote=line.text,
                    speaker=line.role or None,
                    path=view.session.transcript,
                    line=line.line,
                    moment=line.moment,
                    session=view.session.key,
                )

    def _reworded(self, shown: results.memories.Shown) -> results.memories.Written | None:
        """Return the last change of the words of a fact; none where they are as they were learned."""
        changes = self._standing(shown) if "#^" in shown.id else ()
        return self._told(changes[0]) if len(changes) > 1 else None

    def _standing(self, shown: results.memories.Shown) -> tuple[results.memories.HistoryEntry, ...]:
        """Return the commits that made a memory say what it says, newest first; what was undone is none of them."""
        entries = self._retrieval.history_of(shown.id, shown.path)
        # Where the file came back by an undo, its history begins with that.
        return tuple(each for each in entries if not each.undone) or entries[:1]

    def _told(self, newest: results.memories.HistoryEntry) -> results.memories.Written:
        trigger = "—"
        # The log tells who and when of a commit that was lost.
        with contextlib.suppress(HistoryError, NotFound):
            trigger = parse_message(self._context.history.store.commit(newest.commit)).trigger
        return results.memories.Written(
            newest.commit,
            newest.timestamp,
            newest.actor,
            newest.approval,
            newest.summary,
            None if trigger == "—" else trigger,
        )

    def _falls(self, shown: results.memories.Shown) -> tuple[tuple[results.decay.Fall, ...], str | None]:
        """Return the thresholds that a memory passes from now on, and its status; none where it has no score."""
        if shown.score is None:
            return (), None
        try:
            whole = str(parse_memory_id(shown.id).whole)
            return self._context.scores().explained(whole, None, lambda_=None).falls, shown.score.status
        except InvalidInput:
            return (), shown.score.status


# Facts that were learned together rest on one file.
@lru_cache(maxsize=4)
def _passages(path: str, content: bytes, zone: ZoneInfo) -> Sequence[Passage]:
    from workbench.engine.reflection.passages import passages_of

    return passages_of(path, content, zone)


def _first_said(view: FileView, memory: LocatedMemory) -> int:
    """Return the line in which the words of a memory begin, below its heading; its first where they cannot be told."""
    said = next((line.strip() for line in memory.text.splitlines() if line.strip()), "")
    lines = SourceText.from_bytes(view.read(memory.path) or b"").lines
    span = memory.span
    return next((at for at in range(span.start, span.end + 1) if said and said in lines[at - 1]), span.start)


def _sorted_out(provenance: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words among the sources of a memory, such as `user-explicit`, and the ids."""
    words, ids = [], []
    for source in provenance:
        try:
            parse_memory_id(source)
        except InvalidInput:
            words.append(source)
        else:
            ids.append(source)
    return tuple(words), tuple(ids)
