"""Determines what a purge has to remove, and removes it from file contents and commit messages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from workbench.engine import layout
from workbench.engine.errors import InvalidInput, OutsideWorkspace
from workbench.engine.history.commits import VERDICT, CommitMessage
from workbench.engine.history.differences import DocumentUnits, Unit, parse_units
from workbench.engine.history.revert import ITEM_UNIT
from workbench.engine.history.work_files import named_by_id, stem_of
from workbench.engine.identifiers import EPISODE_ID, entity_name, link_to, linked_in, parse_memory_id
from workbench.engine.markdown.audit_log import parse_audit_fields, render_audit_fields
from workbench.engine.markdown.review import cited_id
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

PURGED = "[purged]"
# Shorter texts occur in unrelated sentences by chance; they are removed only where they are all a unit says.
_LEAST_CHARACTERS = 8
# Lines of a longer text are matched on their own from this length; summaries truncate texts beyond this length.
_LEAST_LINE = 20
_LEAST_CUT = 24

_MARKER = lazy_pattern(r"^\s*(?:[-*+]|\d+[.)])\s+(?:\[.\]\s+)?")
_TRAILING = lazy_pattern(
    r"\s*(?:\((?:since|from|until|confidence|superseded|\d{4}-\d\d-\d\d)[^()]*\))?\s*(?:\^[A-Za-z0-9-]+)?\s*$"
)
_STRUCTURE = lazy_pattern(r"^\s*(?:#|<!--|---|```|\|)|^\s*(?:[-*+]\s+)?[\w -]+:\s*\[\[")
_Match = re.Pattern[str]
_FOLDERS = (layout.ENTITIES, layout.PROCEDURES, layout.VAULT)


@dataclass(frozen=True)
class Erasure:
    """What a purge has to remove.

    Args:
        paths: Files to remove completely, in every version.
        keys: Keys of units (see `document_units.Unit`) to remove, by path.
        names: Ids and paths that may not remain in messages or scores.
        texts: Patterns of texts to remove wherever they occur.
        cuts: Patterns of those texts truncated with an ellipsis, as in summaries.
        alone: Short texts to remove where a unit, or an entry below its heading, says nothing else.
        entities: Entities to remove, `type--slug`, with the relations to them.
        links: The link targets that refer to one of them.
        called: Present and former titles of removed files; messages may not mention them.
    """

    paths: frozenset[str]
    keys: Mapping[str, frozenset[tuple[str, ...]]]
    names: tuple[str, ...]
    texts: tuple[_Match, ...]
    cuts: tuple[_Match, ...]
    alone: frozenset[str]
    entities: frozenset[str]
    links: frozenset[str]
    called: _Match | None


def erasure_of(
    ids: Iterable[str], texts: Iterable[str], *, paths: Iterable[str] = (), called: Iterable[str] = ()
) -> Erasure:
    """Return what has to be removed to purge memories.

    A whole entity, procedure or vault note is its file; a fact, relation or episode is its unit of the file.
    Texts match by content, regardless of list mark, block id and bracketed provenance. The longer lines of a
    multiline text also match on their own, except headings, comments and relations, which are not specific to it.

    Args:
        ids: Ids of the memories.
        texts: Their text as it was in the files.
        paths: Their present and former files beyond those the ids imply, for memories that are whole files.
        called: Labels, titles and aliases of these files.

    Raises:
        InvalidInput: No id and no text is given.
    """
    own = dict.fromkeys(paths)
    keys: dict[str, set[tuple[str, ...]]] = {}
    names = list(dict.fromkeys(ids))
    entities: set[str] = set()
    for name in names:
        for path, key in places_of_units(name):
            if key is None:
                own[path] = None
            else:
                keys.setdefault(path, set()).add(key)
        if name.startswith("entity:") and "#" not in name:
            entities.add(name.removeprefix("entity:"))
    texts = tuple(texts)
    sentences = dict.fromkeys(sentence for text in texts for sentence in _sentences(text))
    # An entry may have had another heading: with another device it gets another number.
    bodies = {body for text in texts if len(body := _sentence(_body(text))) < _LEAST_LINE}
    if not names and not sentences:
        raise InvalidInput("Nothing to purge was named.", remedy="Name memories or texts.")
    stems = {stem_of(path) for path in own}
    links = {*entities, *map(link_to, entities), *(stems if entities else ())}
    shown = {form for path in own for form in (path, layout.shown(path))}
    long = [sentence for sentence in sentences if len(sentence) >= _LEAST_CHARACTERS]
    return Erasure(
        paths=frozenset(map(named_by_id, own)),
        keys={path: frozenset(found) for path, found in keys.items()},
        names=tuple(sorted({*names, *shown}, key=len, reverse=True)),
        texts=tuple(map(_pattern, sorted(long, key=len, reverse=True))),
        cuts=tuple(_cut_pattern(sentence) for sentence in long if len(sentence) > _LEAST_CUT),
        alone=frozenset(
            text.casefold()
            for text in {
                *(each for each in sentences if len(each) < _LEAST_CHARACTERS),
                *filter(None, bodies),
            }
        ),
        entities=frozenset(entities),
        links=frozenset(links),
        called=_called_pattern({*stems, *map(layout.shown, stems), *entities, *called}),
    )


def ids_of_file(path: str) -> tuple[str, ...]:
    """Return the id of the memory that a file is, in every form in which it is written."""
    folder = next((each for each in _FOLDERS if path.startswith(f"{each}/")), None)
    if folder is None or not path.endswith(".md"):
        return (f"file:{layout.shown(path)}",)
    if folder == layout.ENTITIES:
        return (f"entity:{entity_name(stem_of(path))}",)
    name = layout.shown(path).removeprefix(f"{folder}/").removesuffix(".md")
    if folder == layout.PROCEDURES:
        return (f"procedure:{name}",)
    return (f"vault:{name}", f"vault:{name}.md")


def erase_from_content(erasure: Erasure, path: str, content: bytes) -> tuple[bytes | None, tuple[str, ...]]:
    """Return a file without the content to remove, and the removed pieces.

    Args:
        content: One version of the file.

    Returns:
        The content itself if nothing matches, None if no file remains; the removed pieces.
    """
    if named_by_id(path) in erasure.paths:
        return None, (path,)
    text = content.decode("utf-8", "surrogateescape")
    if path.endswith(".json"):
        return _erase_from_json(erasure, path, text, content)
    if not _concerns(erasure, path, text):
        return content, ()
    parted = parse_units(content, markdown=path.endswith(".md"))
    kept: list[tuple[Unit, str]] = []
    removed: list[str] = []
    lead = parted.gaps[0]
    for unit, gap in zip(parted.units, parted.gaps[1:], strict=True):
        left = _left_of(erasure, path, unit)
        if left != unit.text:
            removed.append(unit.text)
        if left:
            kept.append((replace(unit, text=left), gap))
    if not removed:
        return content, ()
    if not kept:
        return None, tuple(removed)
    gaps = (lead, *(gap for _, gap in kept[:-1]), parted.gaps[-1])
    rest = DocumentUnits(tuple(unit for unit, _ in kept), gaps, parted.mark, parted.newline)
    return rest.render(), tuple(removed)


def erase_from_text(erasure: Erasure, text: str) -> str:
    """Return a line of a message without the content to remove."""
    for pattern in (*erasure.texts, *erasure.cuts):
        text = pattern.sub(PURGED, text)
    for name in erasure.names:
        text = re.sub(re.escape(name) + r"(?![\w-])", PURGED, text)
    return text


def erase_from_words(erasure: Erasure, text: str) -> str:
    """Return free text of a message, which contains no functional file name, without the content to remove."""
    text = erase_from_text(erasure, text)
    return erasure.called.sub(PURGED, text) if erasure.called else text


def erase_from_message(erasure: Erasure, message: CommitMessage, touched: frozenset[str]) -> CommitMessage:
    """Return a commit's message without the content to remove.

    Args:
        touched: Paths in which this commit wrote or removed purged content; its statements about them go
            completely, since a summary may paraphrase the text.
    """

    def clean(text: str) -> str:
        return erase_from_text(erasure, text)

    def clean_words(text: str) -> str:
        return erase_from_words(erasure, text)

    def entry_summary(file: str, summary: str) -> str:
        return PURGED if file in touched else clean_words(summary)

    trailers = []
    for key, value in message.trailers:
        fields = parse_audit_fields(value) if key == ITEM_UNIT else ()
        if len(fields) == 3:
            what = PURGED if fields[1] in touched else clean(fields[2])
            trailers.append((key, render_audit_fields((fields[0], clean(fields[1]), what))))
        elif key == VERDICT and touched:
            # Its words may say in part what goes.
            continue
        else:
            trailers.append((key, clean(value)))
    return replace(
        message,
        file=clean(message.file),
        summary=PURGED if touched else clean_words(message.summary),
        trigger=PURGED if touched else clean_words(message.trigger),
        entries=tuple(
            replace(entry, file=clean(entry.file), summary=entry_summary(entry.file, entry.summary))
            for entry in message.entries
        ),
        trailers=tuple(trailers),
    )


def places_of_units(name: str) -> list[tuple[str, tuple[str, ...] | None]]:
    """Return the possible files of a memory, each with the key of its unit if it is a part of the file."""
    try:
        memory = parse_memory_id(name)
        if memory.kind == "entity":
            path = layout.normalise(f"{layout.ENTITIES}/{memory.name}.md")
            return [(path, ("block", memory.block) if memory.block else None)]
        if memory.kind == "procedure":
            return [(layout.normalise(f"{layout.PROCEDURES}/{memory.name}.md"), None)]
        if memory.kind == "vault":
            note = memory.name.removeprefix(f"{layout.VAULT}/").removesuffix(".md")
            return [(layout.normalise(f"{layout.VAULT}/{note}.md"), None)]
    except (InvalidInput, OutsideWorkspace):
        return []
    episode = EPISODE_ID.match(name)
    if episode:
        key = ("entry", episode.group(2), episode.group(3) or "1")
        return [(f"{layout.EPISODES}/{episode.group(1)}.md", key)]
    return []


def _sentences(text: str) -> list[str]:
    lines = [line for line in text.splitlines() if line.strip()]
    found = [_sentence(text) if len(lines) == 1 else text.strip()]
    if len(lines) > 1:
        long = (_sentence(line) for line in lines if not _STRUCTURE.match(line))
        found += [sentence for sentence in long if len(sentence) >= _LEAST_LINE]
    return [sentence for sentence in found if sentence]


def _body(text: str) -> str:
    """Return what stands below the heading of an entry; nothing of any other text."""
    heading, _, body = text.partition("\n")
    return body.strip() if heading.startswith("#") else ""


def _sentence(line: str) -> str:
    return _TRAILING.sub("", _MARKER.sub("", line.strip())).strip()


def _pattern(text: str) -> _Match:
    """Match a text regardless of wrapping, case, or escapes in an audit line."""
    return re.compile(r"(?:\s|\\n)+".join(map(_word, text.split())), re.IGNORECASE)


def _cut_pattern(text: str) -> _Match:
    head = text[:_LEAST_CUT]
    return re.compile(r"(?:\s|\\n)+".join(map(_word, head.split())) + r"[^\n|]*?(?:…|\.\.\.)", re.IGNORECASE)


def _called_pattern(called: Iterable[str]) -> _Match | None:
    """Match the titles of a file; short plain words are skipped as too common."""
    names = {" ".join(name.split()) for name in called}
    telling = [
        name for name in names if len(name) >= _LEAST_CHARACTERS or not (name.islower() and name.isascii())
    ]
    if not any(telling):
        return None
    words = "|".join(re.escape(name) for name in sorted(filter(None, telling), key=len, reverse=True))
    return re.compile(rf"(?<![\w/.-])(?:{words})(?![\w/-]|\.\w)")


def _word(word: str) -> str:
    return "".join(r"\\*\|" if char == "|" else r"\\+" if char == "\\" else re.escape(char) for char in word)


def _concerns(erasure: Erasure, path: str, text: str) -> bool:
    return (
        named_by_id(path) in erasure.keys
        or _names_one(erasure, path, text)
        or any(pattern.search(text) for pattern in erasure.texts)
        or any(link in text for link in erasure.links)
        or any(short in text.casefold() for short in erasure.alone)
    )


def _left_of(erasure: Erasure, path: str, unit: Unit) -> str:
    """Return the rest of a unit; empty if it goes completely."""
    if unit.key and unit.key in erasure.keys.get(named_by_id(path), ()):
        return ""
    said = _body(unit.text) if unit.kind == "entry" else unit.text
    if _sentence(said).casefold() in erasure.alone or _is_relation_to(erasure, unit):
        return ""
    if unit.kind == "item" and _names_one(erasure, path, unit.text):
        return ""
    hits = [match.span() for pattern in erasure.texts for match in pattern.finditer(unit.text)]
    if not hits:
        return unit.text
    if unit.kind in ("item", "line", "heading"):
        return ""
    lines, start = [], 0
    for line in unit.text.splitlines(keepends=True):
        end = start + len(line)
        if not any(first < end and last > start for first, last in hits):
            lines.append(line)
        start = end
    left = "".join(lines)
    # A heading alone says nothing.
    return left.rstrip("\r\n") if (_body(left) if unit.kind == "entry" else left.strip()) else ""


def _names_one(erasure: Erasure, path: str, text: str) -> bool:
    """Return True if a reflection record quotes or paraphrases a memory to remove."""
    if path not in layout.DECIDED:
        return False
    cited = (form for name in erasure.names for form in {name, cited_id(name)} if form in text)
    return _links_to_one(erasure, text) or any(
        re.search(re.escape(form) + r"(?![\w#-])", text) for form in cited
    )


def _is_relation_to(erasure: Erasure, unit: Unit) -> bool:
    if unit.kind != "item" or not any("relation" in heading.casefold() for heading in unit.section):
        return False
    return _links_to_one(erasure, unit.text)


def _links_to_one(erasure: Erasure, text: str) -> bool:
    return any(link in text for link in erasure.links) and not erasure.entities.isdisjoint(linked_in(text))


def _erase_from_json(
    erasure: Erasure, path: str, text: str, content: bytes
) -> tuple[bytes | None, tuple[str, ...]]:
    named = any(name in text for name in erasure.names)
    # Escaped text shows only once it is decoded.
    if path != layout.CONFLICTS and not (
        named or "\\" in text or any(pattern.search(text) for pattern in erasure.texts)
    ):
        return content, ()
    try:
        value = json.loads(text.removeprefix("\ufeff"))
    except ValueError:
        cleaned = erase_from_text(erasure, text)
        return cleaned.encode("utf-8", "surrogateescape"), (text,) if cleaned != text else ()
    removed: list[str] = []
    if path == layout.CONFLICTS and isinstance(value, dict):
        left = _without_conflicts(erasure, value, removed)
    else:
        left = _without(erasure, value, removed)
    if not removed:
        return content, ()
    indent = re.search(r"[\[{]\r?\n([ \t]+)", text)
    rendered = json.dumps(left, indent=indent.group(1) if indent else None, ensure_ascii=text.isascii())
    return (rendered + text[len(text.rstrip()) :]).encode("utf-8", "surrogatepass"), tuple(removed)


def _without_conflicts(erasure: Erasure, value: dict[str, Any], removed: list[str]) -> dict[str, Any]:
    """Return the file of conflicts between devices with their texts erased as in the files that they are of."""
    rows = value.get("conflicts")
    kept: dict[str, Any] = {}
    for name, row in rows.items() if isinstance(rows, dict) else ():
        try:
            path = str(row["path"])
            left = {side: _erased(erasure, path, row[side]["text"], removed) for side in ("stands", "waits")}
            gone = any(left[side] is None and row[side]["text"] is not None for side in left)
            base = _erased(erasure, path, row.get("base"), removed)
        except (KeyError, TypeError, ValueError):
            kept[name] = _without(erasure, row, removed)
            continue
        if (
            gone
            or name in erasure.names
            or named_by_id(path) in erasure.paths
            or _goes(erasure, str(row.get("unit", "")))
        ):
            removed.append(name)
        else:
            sides = {side: {**row[side], "text": text} for side, text in left.items()}
            kept[name] = {**row, "base": base, **sides}
    return {**value, "conflicts": kept}


def _erased(erasure: Erasure, path: str, text: str | None, removed: list[str]) -> str | None:
    if text is None:
        return None
    if path.endswith(".json") and text.startswith('"'):
        said = json.loads(text)
        if not (_goes(erasure, said) or said.casefold() in erasure.alone):
            return text
        removed.append(said)
        return None
    content, gone = erase_from_content(erasure, path, text.encode("utf-8", "surrogateescape"))
    removed.extend(gone)
    left = (content or b"").decode("utf-8", "surrogateescape")
    return left if left.strip() else None


def _without(erasure: Erasure, value: Any, removed: list[str]) -> Any:
    if isinstance(value, dict):
        kept = {}
        for key, item in value.items():
            if _goes(erasure, key) or (isinstance(item, str) and _goes(erasure, item)):
                removed.append(f"{key}: {json.dumps(item, ensure_ascii=False)}")
            else:
                kept[key] = _without(erasure, item, removed)
        return kept
    if isinstance(value, list):
        gone: Sequence[Any] = [item for item in value if isinstance(item, str) and _goes(erasure, item)]
        removed.extend(map(str, gone))
        return [_without(erasure, item, removed) for item in value if item not in gone]
    return value


def _goes(erasure: Erasure, text: str) -> bool:
    if any(text == name or text.startswith(f"{name}#") for name in erasure.names):
        return True
    return any(pattern.search(text) for pattern in erasure.texts)
