"""Episodes: what happened, appended to the log of its day and never changed afterwards (design document §5).

One `remember` is one entry. A recorder of a longer conversation starts a new entry when the topic changes or after
half an hour of silence; `starts_new_entry` decides this from the pause and the topics.
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
"""A silence of this length ends an entry, whatever the topics."""


@dataclass(frozen=True)
class Episode:
    """An episode to record.

    Args:
        text: Any text; see `wording.clean_memory`.
        type: One of the seven of design document §5.
        confidence: high, medium or low.
        tags: Topical tags.
        source: One word, such as `conversation` or `user-explicit`.
        entities: Ids (`type--slug`) of the entities it is about; kept in the heading, so that the text stays unchanged.
        origins: Ids of its sources, such as lines of a session; also kept in the heading.
        scope: Its audience, kept in the heading. None for the owner alone.
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
    """The entry of an episode; `fresh` is False if it had been recorded before."""

    id: str
    path: str
    fresh: bool
    warnings: tuple[str, ...] = ()


def episode_path(moment: datetime) -> str:
    """Return the log of the day, in the zone that `moment` is in."""
    return f"{layout.EPISODES}/{moment:%Y-%m-%d}.md"


def read_log(view: FileView, moment: datetime) -> EpisodeLog:
    """Return the log of the day, in the zone that `moment` is in; an empty one if there is none yet."""
    path = episode_path(moment)
    return EpisodeLog.parse(view.read(path) or b"", path)


def append_episode(
    draft: Draft, episode: Episode, now: datetime, *, summary: str = "", log: EpisodeLog | None = None
) -> StoredEpisode:
    """Append an entry to today's log, unless it was already recorded today.

    Args:
        draft: The plan's draft.
        episode: The episode.
        now: Aware, in the workspace's zone.
        summary: One line for the audit log; by default the beginning of the text.
        log: Today's log if it was already read.

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
    # A heading's entities are not those of the text, whose own [[links]] stay as they are.
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
    """Plan a single entry; see `append_episode`."""
    draft = Draft(view)
    recorded = append_episode(draft, episode, now)
    warnings = recorded.warnings
    if not recorded.fresh:
        warnings = (f"This was recorded today already, as {recorded.id}.",)
    outcome = Changed(None, ids=(recorded.id,), warnings=warnings)
    return draft.plan(Action.APPEND, recorded.path, f"logged “{clip(episode.text)}”", outcome)


def correct_episode(draft: Draft, episode_id: str, text: str, now: datetime, source: str) -> StoredEpisode:
    """Append a correction that names the corrected entry, which stays as recorded.

    Raises:
        InvalidInput: The text cannot be kept, or equals the entry's.
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
    """Return an entry with the same text and audience."""
    wanted = text_key(text)
    return next((entry for entry in entries if entry.scope == scope and text_key(entry.body) == wanted), None)


def starts_new_entry(
    last: datetime | None, now: datetime, topics: Iterable[str], last_topics: Iterable[str]
) -> bool:
    """Return whether a new statement starts an entry of its own.

    Args:
        last: When the current entry was last extended; None if there is none.
        now: Aware.
        topics: Tags and entities of the new statement.
        last_topics: Those of the current entry.

    Returns:
        True after a pause of half an hour, on another day, or if both have topics and share none.
    """
    if last is None or now - last >= PAUSE or last.date() != now.astimezone(last.tzinfo).date():
        return True
    new, old = {topic.casefold() for topic in topics}, {topic.casefold() for topic in last_topics}
    return bool(new and old and not new & old)
