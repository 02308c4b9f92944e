"""Entries of the stores other than graph and core memory: episodes, procedures and vault notes."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from workbench.engine import layout
from workbench.engine.catalog.terms import same_name
from workbench.engine.errors import InvalidInput
from workbench.engine.history.plan import Action, FileView
from workbench.engine.identifiers import parse_memory_id, slug
from workbench.engine.markdown.episodes import SCOPE_FIELD, EpisodeEntry, EpisodeLog, NewEntry
from workbench.engine.markdown.pages import Procedure, VaultNote
from workbench.engine.memory.draft import Draft, Stored
from workbench.engine.memory.wording import (
    NAME_CHARACTERS,
    checked_source,
    clean_line,
    clean_memory,
    clip,
    numbered,
    one_line,
    text_key,
)
from workbench.engine.patterns import lazy_pattern
from workbench.engine.triggers.model import ProcedureOutline

_MOST_STEPS = 200
_TITLE_CHARACTERS = 60
_TITLE_END = lazy_pattern(
    r"\s*(?:[:\uff1a\u3002.!?;\uff1b\u2014]|\s[\u2013-]\s)(?=\s|$|[\u3400-\u9fff“\"])\s*"
)


def episode_path(moment: datetime) -> str:
    """Return the log of the day, in the zone that `moment` is in."""
    return f"{layout.EPISODES}/{moment:%Y-%m-%d}.md"


def read_log(view: FileView, moment: datetime) -> EpisodeLog:
    """Return the log of the day in the zone of `moment`; a new, empty log if the day has none."""
    path = episode_path(moment)
    return EpisodeLog.parse(view.read(path) or b"", path)


def same_entry(entries: Iterable[EpisodeEntry], text: str, scope: str | None = None) -> EpisodeEntry | None:
    """Return an entry with the same text and audience."""
    wanted = text_key(text)
    return next((entry for entry in entries if entry.scope == scope and text_key(entry.body) == wanted), None)


def heading_fields(
    entities: tuple[str, ...], origins: tuple[str, ...], scope: str | None
) -> tuple[tuple[str, str], ...]:
    """Return the further fields of an episode's heading.

    Args:
        entities: Ids (`type--slug`) of the entities it is about. They are not part of the text, whose own [[links]]
            stay as they are.
        origins: Ids of its sources, such as lines of a session.
        scope: Its audience; None for the owner alone.
    """
    listed = (("entities", entities), ("from", origins))
    fields = tuple((name, f"[{', '.join(ids)}]") for name, ids in listed if ids)
    return fields if scope is None else ((SCOPE_FIELD, scope), *fields)


def append_episode(draft: Draft, log: EpisodeLog, entry: NewEntry, summary: str) -> str:
    """Append an entry to a log and return its id.

    Args:
        log: The log of its day, as drafted.
        entry: The entry; its text is clean.
    """
    extended = log.append_entries([entry], draft.was_given)
    draft.write(log.path, extended.render(), Action.APPEND, f"logged “{clip(summary)}”")
    return extended.entries[-1].id


def correct_episode(draft: Draft, episode_id: str, text: str, now: datetime, source: str) -> Stored:
    """Append a correction that names the corrected entry, which stays as recorded.

    Raises:
        InvalidInput: The text cannot be kept, or such a correction was recorded today.
    """
    wording = clean_memory(text)
    correction = clean_memory(f"Correction of {episode_id}: {wording.text}").text
    log = read_log(draft, now)
    if same_entry(log.entries, correction) is not None:
        raise InvalidInput(f"{episode_id} has been corrected so today already.", where=log.path)
    entry = NewEntry(
        f"{now:%H:%M}",
        correction,
        type="correction",
        tags=("correction",),
        source=checked_source(source),
    )
    recorded = append_episode(draft, log, entry, f"corrected {episode_id}")
    return Stored(recorded, log.path, fresh=True, warnings=wording.warnings)


def procedure_path(procedure: str) -> str:
    """Return the file of a procedure by its id, `procedure:how-to-deploy`.

    Raises:
        InvalidInput: It is not such an id.
    """
    name = parse_memory_id(procedure if procedure.startswith("procedure:") else f"procedure:{procedure}").name
    return layout.normalise(f"{layout.PROCEDURES}/{name}.md")


def learn(
    draft: Draft,
    workflow: ProcedureOutline,
    learned_from: tuple[str, ...],
    now: datetime,
    *,
    scope: str | None = None,
) -> Stored:
    """Add a workflow to the procedure with its title, or create that procedure.

    An existing trigger and existing steps stay; missing steps are appended.

    Args:
        scope: Its audience, None for the owner alone; another audience means another procedure.

    Raises:
        InvalidInput: One of its texts cannot be kept.
    """
    title = clean_line(workflow.title, what="The title of a procedure", limit=NAME_CHARACTERS).text
    steps = tuple(clean_line(step, what="A step").text for step in workflow.steps if step.strip())
    trigger = clean_line(workflow.trigger, what="The trigger").text if workflow.trigger.strip() else ""
    warnings: tuple[str, ...] = ()
    if len(steps) > _MOST_STEPS:
        warnings = (f"{len(steps):,} steps are many; consider several procedures.",)
    path, known = _procedure_called(draft, title, scope)
    if known is None:
        made = Procedure.create(
            path,
            title=title,
            learned=f"{now:%Y-%m-%d}",
            trigger=trigger,
            steps=steps,
            learned_from=learned_from,
            scope=scope,
        )
        draft.write(path, made.render(), Action.CREATE, f"learned “{clip(title)}”")
        return Stored(made.id, path, fresh=True, warnings=warnings)
    extended = known if known.trigger or not trigger else known.set_trigger(trigger)
    told = {text_key(step) for step in known.steps}
    for step in steps:
        if text_key(step) not in told:
            extended = extended.add_step(step)
    if trigger and known.trigger and text_key(trigger) != text_key(known.trigger):
        warnings = (*warnings, f"{known.id} keeps its trigger “{clip(known.trigger)}”.")
    if extended is known:
        return Stored(known.id, path, fresh=False, warnings=warnings)
    for source in learned_from:
        extended = extended.add_learned_from(source)
    draft.write(path, extended.render(), Action.EDIT, f"extended “{clip(known.title)}”")
    return Stored(known.id, path, fresh=True, warnings=warnings)


def _procedure_called(draft: Draft, title: str, scope: str | None) -> tuple[str, Procedure | None]:
    """Return the procedure with that title and audience, or an unused path."""
    base = slug(title)
    names = numbered(base)
    while True:
        path = f"{layout.PROCEDURES}/{next(names)}.md"
        content = draft.read(path)
        if content is None:
            return path, None
        known = Procedure.parse(content, path)
        # A file whose author gave it another title, or none, matches by its name.
        named = same_name(known.title, title) or slug(known.title.removesuffix(".md")) == base
        if named and known.scope == scope:
            return path, known


def vault_path(note: str) -> str:
    """Return the file of a note by its id, `vault:promises/first`.

    Raises:
        OutsideWorkspace: The id leads out of the vault.
    """
    name = note.removeprefix("vault:").removesuffix(".md")
    return layout.normalise(f"{layout.VAULT}/{name}.md")


def note_title(text: str) -> str:
    """Return a short heading for a text: up to its first colon or full stop, cut at a word."""
    line = one_line(text)
    head = _TITLE_END.split(line, maxsplit=1)[0] or line
    if len(head) <= _TITLE_CHARACTERS:
        return head
    cut = head[:_TITLE_CHARACTERS]
    words, blank, _ = cut.rpartition(" ")
    return (words if blank else cut).rstrip(' ,;:“"(') + "…"


def keep_note(draft: Draft, title: str, text: str, *, scope: str | None) -> Stored:
    """Put a note into the vault, unless one with that name has the same text.

    Args:
        title: Its heading, which also names its file.
        text: Its text, clean.
        scope: Its audience; None for the owner alone.

    Raises:
        InvalidInput: The title cannot be kept.
    """
    heading = clean_line(title, what="The title of a note", limit=NAME_CHARACTERS).text
    names = numbered(slug(heading))
    while True:
        path = f"{layout.VAULT}/{next(names)}.md"
        content = draft.read(path)
        if content is None:
            note = VaultNote.create(path, title=heading, body=text, scope=scope)
            draft.write(path, note.render(), Action.CREATE, f"protected “{clip(heading)}”")
            return Stored(note.id, path, fresh=True)
        known = VaultNote.parse(content, path)
        if known.scope == scope and text_key(known.body) == text_key(text):
            return Stored(known.id, path, fresh=False)
