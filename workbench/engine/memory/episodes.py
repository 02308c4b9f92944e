"""Episodes: what happened, appended to the log of its day and never changed afterwards (design document §5).

One `remember` is one entry. Who records a longer conversation starts a new entry where the topic changes or
where nothing was said for half an hour; `starts_new_entry` decides so from the pause and the topics.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from workbench.engine import layout
from workbench.engine.errors import InvalidInput
from workbench.engine.history.plan import Action, FileView, Plan
from workbench.engine.markdown.episodes import SCOPE_FIELD, EpisodeEntry, EpisodeLog
from workbench.engine.memory.draft import Draft
from workbench.engine.memory.wording import (
    CONFIDENCES,
    EPISODE_TYPES,
    checked_source,
    checked_word,
    clean_memory,
    clean_tags,
    clip,
    text_key,
)
from workbench.engine.results.memories import Changed

PAUSE = timedelta(minutes=30)
"""So long a silence ends an entry, whatever was talked about."""


@dataclass(frozen=True)
class Episode:
    """What is to be recorded.

    Args:
        text: Any text; see `wording.clean_memory`.
        type: One of the seven of design document §5.
        confidence: high, medium or low.
        tags: Topical tags.
        source: One word, such as `conversation` or `user-explicit`.
        entities: Ids (`type--slug`) of the entities it is about; kept in the heading, so that the text
            stays as it was said.
        origins: Ids of what it was taken from, such as lines of a session; kept in the heading as well.
        scope: Whom it is for; kept in the heading. None for the owner alone.
    """

    text: str
    type: str = "event"
    confidence: str = "high"
    tags: tuple[str, ...] = ()
    source: str = "conversation"
    entities: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    scope: str | None = None


@dataclass(frozen=True)
class StoredEpisode:
    """The entry that stands for an episode; `fresh` is false where it had been recorded before."""

    id: str
    path: str
    fresh: bool
    warnings: tuple[str, ...] = ()


def episode_path(moment: datetime) -> str:
    """Return the log of the day, in the zone that `moment` is in."""
    return f"{layout.EPISODES}/{moment:%Y-%m-%d}.md"


def read_log(view: FileView, moment: datetime) -> EpisodeLog:
    """Return the log of the day, in the zone that `moment` is in; an empty one where there is none yet."""
    path = episode_path(moment)
    return EpisodeLog.parse(view.read(path) or b"", path)


def append_episode(
    draft: Draft, episode: Episode, now: datetime, *, summary: str = "", log: EpisodeLog | None = None
) -> StoredEpisode:
    """Append an entry to today's log, unless the same was recorded today already.

    Args:
        draft: What is being planned.
        episode: What happened.
        now: Aware, in the workspace's zone.
        summary: One line for the audit log; the beginning of the text where empty.
        log: Today's log where it was read already.

    Raises:
        InvalidInput: Text, type, confidence or source cannot be kept.
    """
    wording = clean_memory(episode.text)
    kind = checked_word(episode.type, EPISODE_TYPES, "type of memory")
    confidence = checked_word(episode.confidence, CONFIDENCES, "confidence")
    log = log or read_log(draft, now)
    path = log.path
    known = same_entry(log.entries, wording.text, episode.scope)
    if known is not None:
        return StoredEpisode(known.id, path, fresh=False)
    # The entities of a heading are not those of the text: a text keeps its own [[links]] as they are.
    listed = (("entities", episode.entities), ("from", episode.origins))
    extra = tuple((name, f"[{', '.join(ids)}]") for name, ids in listed if ids)
    if episode.scope is not None:
        extra = ((SCOPE_FIELD, episode.scope), *extra)
    extended = log.append_entry(
        f"{now:%H:%M}",
        wording.text,
        type=kind,
        confidence=confidence,
        tags=clean_tags(episode.tags),
        source=checked_source(episode.source),
        extra=extra,
        was_given=draft.was_given,
    )
    draft.write(path, extended.render(), Action.APPEND, f"logged “{clip(summary or wording.text)}”")
    return StoredEpisode(extended.entries[-1].id, path, fresh=True, warnings=wording.warnings)


def plan_episode(view: FileView, episode: Episode, now: datetime) -> Plan[Changed]:
    """Plan one entry by itself; see `append_episode`."""
    draft = Draft(view)
    recorded = append_episode(draft, episode, now)
    warnings = recorded.warnings
    if not recorded.fresh:
        warnings = (f"This was recorded today already, as {recorded.id}.",)
    outcome = Changed(None, ids=(recorded.id,), warnings=warnings)
    return draft.plan(Action.APPEND, recorded.path, f"logged “{clip(episode.text)}”", outcome)


def correct_episode(draft: Draft, episode_id: str, text: str, now: datetime, source: str) -> StoredEpisode:
    """Append a correction that names the entry it corrects; the entry itself stays as it was recorded.

    Raises:
        InvalidInput: The text cannot be kept, or says what the entry says already.
    """
    wording = clean_memory(text)
    correction = Episode(
        f"Correction of {episode_id}: {wording.text}", type="correction", tags=("correction",), source=source
    )
    recorded = append_episode(draft, correction, now, summary=f"corrected {episode_id}")
    if not recorded.fresh:
        raise InvalidInput(f"{episode_id} has been corrected so today already.", where=recorded.path)
    return StoredEpisode(recorded.id, recorded.path, True, wording.warnings)


def same_entry(entries: Iterable[EpisodeEntry], text: str, scope: str | None = None) -> EpisodeEntry | None:
    """Return the entry that says the same to the same people."""
    wanted = text_key(text)
    return next((entry for entry in entries if entry.scope == scope and text_key(entry.body) == wanted), None)


def starts_new_entry(
    last: datetime | None, now: datetime, topics: Iterable[str], last_topics: Iterable[str]
) -> bool:
    """Tell whether what is said now begins an entry of its own.

    Args:
        last: When the running entry was last added to; None where none is running.
        now: Aware.
        topics: Tags and entities of what is said now.
        last_topics: Those of the running entry.

    Returns:
        True after a pause of half an hour, on another day, or where both have topics and share none.
    """
    if last is None or now - last >= PAUSE or last.date() != now.astimezone(last.tzinfo).date():
        return True
    new, old = {topic.casefold() for topic in topics}, {topic.casefold() for topic in last_topics}
    return bool(new and old and not new & old)
