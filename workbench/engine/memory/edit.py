"""Edits one memory's own text in place, in any store, or a whole file.

Episodes record what happened: editing one appends a correction that names it, and the entry stays. Only a person
who edits the file itself changes it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, tzinfo

from workbench.engine import layout
from workbench.engine.errors import InvalidInput, NotFound, OutsideWorkspace, Refused, Stale
from workbench.engine.history.plan import Action, FileView, Plan
from workbench.engine.markdown.core import CoreMemory
from workbench.engine.markdown.decay_scores import DecayScores
from workbench.engine.markdown.entity import EntityFile, Fact
from workbench.engine.markdown.episodes import EpisodeLog
from workbench.engine.markdown.source import SourceText
from workbench.engine.markdown.statements import Provenance
from workbench.engine.memory.core import plan_replace_item, read_core, release_ids, within_cap
from workbench.engine.memory.draft import Draft
from workbench.engine.memory.graph import checked_words
from workbench.engine.memory.lookup import SOURCE_WORD, LocatedMemory, check_expected, locate_memory
from workbench.engine.memory.stores import correct_episode
from workbench.engine.memory.wording import (
    clean_line,
    clean_memory,
    clip,
    clip_difference,
    is_correction,
)
from workbench.engine.results.memories import Changed
from workbench.engine.settings.foreign_files import read_relaxed_json
from workbench.engine.settings.sections import Settings

FILE_CHARACTERS = 1_000_000
# Of a correction.
_SOURCE = "user-explicit"


def plan_edit(
    view: FileView,
    memory_id: str,
    text: str,
    now: datetime,
    settings: Settings,
    *,
    expected: str | None = None,
) -> Plan[Changed]:
    """Plan a new text for a memory.

    Args:
        memory_id: A core item, episode, entity, fact, relation, procedure, vault note or passage of free text.
        text: The new text, for a relation `uses: [[tool--git]]`; for an entity, procedure or note the whole file, as
            `show` gives it.
        expected: The text from which the edit started, as `show` gave it.

    Raises:
        InvalidInput: The text cannot be kept, or is not a relation although the memory is one.
        NotFound: There is no such memory.
        Stale: Its text is not the expected one.
        BudgetExceeded: Core memory would exceed its cap.
    """
    memory = locate_memory(view, memory_id, now.tzinfo or settings.zone)
    check_expected(memory, expected)
    match memory.id.kind:
        case "core":
            return plan_replace_item(view, memory.id_text, text, settings, now)
        case "episode":
            return _correct(view, memory, text, now)
        case "entity" if memory.id.block is not None:
            return _edit_fact(view, memory, text, now, settings)
        case _:
            if layout.store_of(memory.path) == "episodic":
                raise _append_only(memory.path)
            return _edit_lines(view, memory, text, now, settings)


def plan_edit_file(
    view: FileView,
    path: str,
    content: str,
    now: datetime,
    settings: Settings,
    *,
    person: bool,
    expected: str | None = None,
) -> Plan[Changed]:
    """Plan a whole file's new content, exactly as given.

    Args:
        path: A tracked file of the layout.
        content: The whole file; lone surrogates represent bytes that are not UTF-8.
        person: Whether a person edits; all others may only append to an episode log.
        expected: The content from which the edit started.

    Raises:
        OutsideWorkspace: The file is not part of the layout.
        InvalidInput: It is too long, has invalid characters, or should be JSON and is not.
        Stale: The file has changed.
        Refused: It is an episode log, and recorded entries would change.
        BudgetExceeded: Core memory would exceed its cap.
    """
    path = layout.normalise(path)
    if not layout.is_tracked(path):
        raise OutsideWorkspace(
            "This file is not part of memory.",
            where=path,
            remedy="Only files of the layout can be edited here.",
        )
    held = view.read(path)
    current = (held or b"").decode("utf-8", "surrogateescape")
    if expected is not None and SourceText.from_text(expected).lines != SourceText.from_text(current).lines:
        raise Stale(
            "This file has changed since the edit began.", where=path, remedy="Look at it again, then edit."
        )
    if len(content) > FILE_CHARACTERS:
        raise InvalidInput(
            f"A file may be {FILE_CHARACTERS:,} characters long; this one has {len(content):,}.", where=path
        )
    try:
        new = content.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise InvalidInput(
            "This text cannot be written as UTF-8.", where=path, remedy="Give it as text."
        ) from error
    if path.endswith(".json"):
        _check_json(content, path)
    if layout.store_of(path) == "episodic" and not person and not _only_adds(held or b"", new, path):
        raise _append_only(path)
    draft = Draft(view)
    warnings: tuple[str, ...] = ()
    if layout.store_of(path) == "core":
        before, after = CoreMemory.parse(held or b"", path), CoreMemory.parse(new, path)
        warnings = within_cap(before, after, settings).warnings
        release_ids(draft, after, now)
    action = Action.CREATE if held is None else Action.EDIT
    summary = f"{'wrote' if held is None else 'edited'} {path.rsplit('/', 1)[-1]}"
    draft.write(path, new, action, summary)
    return draft.plan(action, path, summary, Changed(None, ids=(f"file:{path}",), warnings=warnings))


def _check_json(content: str, path: str) -> None:
    """Refuse a text that would break a file read by programs."""
    try:
        # Other programs' settings are JSON5.
        read = read_relaxed_json if path in layout.FOREIGN_SETTINGS else json.loads
        held = read(content)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            f"This would leave the file without valid JSON: {clip(str(error))}",
            where=path,
            remedy="Correct that; the file is as it was.",
        ) from error
    if path == layout.DECAY_SCORES:
        problem = next(iter(DecayScores.parse(content.encode("utf-8", "surrogateescape")).problems), None)
        if problem is not None or not isinstance(held, dict):
            where = f"{path}:{problem.line}" if problem is not None and problem.line else path
            raise InvalidInput(
                problem.message if problem is not None else "This is not a scores file.",
                where=where,
                remedy="Correct that; the file is as it was.",
            )


def _correct(view: FileView, memory: LocatedMemory, text: str, now: datetime) -> Plan[Changed]:
    draft = Draft(view)
    recorded = correct_episode(draft, memory.id_text, text, now, _SOURCE)
    warning = f"{memory.id} stays as it was recorded; {recorded.id} corrects it."
    outcome = Changed(None, ids=(recorded.id, memory.id_text), warnings=(*recorded.warnings, warning))
    return draft.plan(Action.APPEND, recorded.path, f"corrected {memory.id}", outcome)


def _edit_fact(
    view: FileView, memory: LocatedMemory, text: str, now: datetime, settings: Settings
) -> Plan[Changed]:
    wording = clean_line(text, what=f"A {memory.type or 'line'}")
    file = EntityFile.parse(view.read(memory.path) or b"", memory.path)
    words = wording.text
    if memory.type == "relation":
        words = checked_words(view, settings, file, memory.id.block or "", words)
    draft = Draft(view)
    fact = next((each for each in file.facts if each.block_id == memory.id.block), None)
    edited, verb = file.replace_fact(memory.id.block or "", words), "changed"
    if fact is not None and _says_otherwise(view, fact, words, now.tzinfo or settings.zone):
        edited, verb = _corrected(draft, file, fact, words, f"{now:%Y-%m-%d}"), "corrected"
    old, new = clip_difference(memory.text, words)
    summary = f"{verb} “{old}” to “{new}”"
    draft.write(memory.path, edited.render(), Action.EDIT, summary)
    return draft.plan(
        Action.EDIT, memory.path, summary, Changed(None, ids=(memory.id_text,), warnings=wording.warnings)
    )


def _says_otherwise(view: FileView, fact: Fact, text: str, zone: tzinfo) -> bool:
    """Return whether a new text contradicts what the sources of a fact say."""
    said = list(_said(view, fact.provenance, zone))
    return bool(said) and is_correction(fact.text, text, said)


def _said(view: FileView, known: Provenance, zone: tzinfo) -> Iterator[str]:
    for source in known.sources:
        with suppress(NotFound, InvalidInput, OutsideWorkspace):
            yield locate_memory(view, source, zone).text


def _corrected(draft: Draft, file: EntityFile, fact: Fact, text: str, today: str) -> EntityFile:
    """Return a file whose fact says something else from today on; what it said keeps its sources, as superseded."""
    block = fact.block_id or ""
    known = Provenance(since=today, sources=(f"{SOURCE_WORD}{_SOURCE}",), scope=fact.provenance.scope)
    file = file.replace_fact(block, text).set_provenance(block, known)
    new = draft.new_block(file, "f", fact.text)
    file = file.add_fact(fact.text, replace(fact.provenance, until=None), block_id=new)
    added = next(each for each in file.facts if each.block_id == new)
    return file.retire(added, until=today, by=block)


def _edit_lines(
    view: FileView, memory: LocatedMemory, text: str, now: datetime, settings: Settings
) -> Plan[Changed]:
    wording = clean_memory(text, what="A file", limit=FILE_CHARACTERS)
    source = SourceText.from_bytes(view.read(memory.path) or b"")
    whole = len(memory.span) >= len(source.lines)
    lines = SourceText.from_text(text if whole and not wording.warnings else wording.text).lines
    edited = source.splice(memory.span.start, min(memory.span.end, len(source.lines)), lines)
    draft = Draft(view)
    warnings = wording.warnings
    if layout.store_of(memory.path) == "core":
        after = CoreMemory.parse(edited.render(), memory.path)
        warnings = (*warnings, *within_cap(read_core(view), after, settings).warnings)
        release_ids(draft, after, now)
    summary = f"edited “{clip(memory.title, 60)}”"
    draft.write(memory.path, edited.render(), Action.EDIT, summary)
    return draft.plan(
        Action.EDIT, memory.path, summary, Changed(None, ids=(memory.id_text,), warnings=warnings)
    )


def _only_adds(before: bytes, after: bytes, path: str) -> bool:
    """Return True if every recorded entry is unchanged and in order, before anything added."""
    old = [(entry.id, entry.body) for entry in EpisodeLog.parse(before, path).entries]
    new = [(entry.id, entry.body) for entry in EpisodeLog.parse(after, path).entries]
    return after.startswith(before.rstrip(b"\r\n")) and new[: len(old)] == old


def _append_only(path: str) -> Refused:
    return Refused(
        "Episodes are only ever added to.",
        where=path,
        remedy="Edit the episode by its id: a correction that names it is appended.",
    )
