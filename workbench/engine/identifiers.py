"""Memory ids: how they are written, parsed and made."""

from __future__ import annotations

import base64
import hashlib
import re
import unicodedata
from functools import lru_cache

from workbench.engine.errors import InvalidInput
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

EPISODE_ID = lazy_pattern(r"^episode:(\d{4}-\d{2}-\d{2}):(\d{2}:\d{2})(?:#([1-9]\d*))?$")
FILE_ID = lazy_pattern(r"^file:(?P<path>[^\n]+?)(?:#L(?P<start>\d+)(?:-L(?P<end>\d+))?)?$")
BLOCK_ID = lazy_pattern(r"^[A-Za-z0-9-]+$")
ENTITY_TYPES = ("person", "project", "concept", "tool", "place")
"""The types that are told from a text (design document §8.2); who names an entity may use any other word."""
# Replaces the type in the id of an entity whose file has a free name.
NOTE = "note"
_MOST_NOTE = 50
_MOST_TYPE = 40
# Characters with a meaning in ids, lists of ids and wikilinks.
_UNFIT = lazy_pattern(r"""[\s#|\[\]^\\/,:"]""")
WIKILINK = lazy_pattern(r"\[\[([^\[\]|#\n]+)(?:[|#][^\[\]\n]*)?\]\]")
_MARK = lazy_pattern(r"-0[a-z2-7]{5}$")
_UNLINKABLE = lazy_pattern(r"[#|\[\]^\\/:]")
# Stores of memories, sources outside the workspace, and everything a search can be narrowed to.
MEMORY_STORES = ("core", "episodic", "semantic", "procedural", "vault")
OUTSIDE_STORES = ("extra", "session")
SEARCHED_STORES = (*MEMORY_STORES, "file", *OUTSIDE_STORES)

# Latin letters that Unicode does not decompose into a base letter and an accent.
_LATIN_WITHOUT_ACCENT = str.maketrans(
    {"ø": "o", "đ": "d", "ł": "l", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ı": "i"}
)

_KIND_TO_STORE = {
    "core": "core",
    "episode": "episodic",
    "entity": "semantic",
    "procedure": "procedural",
    "vault": "vault",
    "file": "file",
}
RESERVED_KINDS = frozenset(
    {*_KIND_TO_STORE, *OUTSIDE_STORES, NOTE, "proposal", "reflection", "source"} - {"procedure"}
)
"""What ids and sources of memories begin with; no type of entity is called so, except `procedure` (§13.2)."""


@dataclass(frozen=True)
class MemoryId:
    """A parsed memory id.

    Args:
        kind: `core`, `episode`, `entity`, `procedure`, `vault` or `file`.
        name: The part after the kind, without the block id of a fact or relation.
        block: The Obsidian block id (without `^`) of one fact or relation of an entity, or None.
    """

    kind: str
    name: str
    block: str | None = None

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}" + (f"#^{self.block}" if self.block else "")

    @property
    def store(self) -> str:
        """Return the store of such a memory."""
        return _KIND_TO_STORE[self.kind]

    @property
    def whole(self) -> MemoryId:
        """Return the memory that a fact or relation is part of; otherwise the id itself."""
        return MemoryId(self.kind, self.name)


def parse_memory_id(text: str) -> MemoryId:
    """Parse a memory id; a bare `type--slug` is an entity.

    Raises:
        InvalidInput: The text has none of the forms of an id.
    """
    text = text.strip()
    kind, colon, rest = text.partition(":")
    if not colon and "--" in text:
        kind, rest = "entity", text
    if kind in _KIND_TO_STORE and rest:
        name, hash_mark, block = rest.partition("#^")
        well_formed = {
            "episode": bool(EPISODE_ID.match(text)),
            "file": bool(FILE_ID.match(text)),
            "entity": "--" in name and "/" not in name and "\\" not in name,
            "procedure": "/" not in name and "\\" not in name,
            "core": ":" in name,
            "vault": True,
        }[kind]
        if hash_mark and (kind != "entity" or not BLOCK_ID.match(block)):
            well_formed = False
        if well_formed and name.isprintable():
            return MemoryId(kind, name, block or None)
    raise InvalidInput(
        f"“{text[:80]}” is not the id of a memory.",
        remedy="Ids look like episode:2026-02-02:14:30, entity:person--alex, procedure:how-to-deploy, "
        "core:critical-facts:…, vault:… or file:memory/2026-02-01.md#L3-L5.",
    )


def cited_lines(citation: str) -> tuple[str, int, int] | None:
    """Split `PATH#L3-L5` into the path, first and last line; None if it cites no lines."""
    match = FILE_ID.match(f"file:{citation}")
    if match is None or match["start"] is None:
        return None
    first = int(match["start"])
    return match["path"], first, int(match["end"] or first)


def entity_id(entity_type: str, name: str) -> MemoryId:
    """Return the id of an entity by its type and name: `entity:person--alex`."""
    return MemoryId("entity", f"{slug(entity_type)}--{slug(name)}")


def entity_type(word: str) -> str:
    """Return a type of entity as ids have it, such as `preference` or `board-game`; empty for what is no short word."""
    bare = word.strip()
    if len(bare) > _MOST_TYPE or not any(map(str.isalpha, bare)):
        return ""
    return slug(bare, limit=_MOST_TYPE)


def entity_name(stem: str) -> str:
    """Return the `type--slug` of the entity for a file name without `.md`.

    A name of that form is the id. A note with a free name (`Mira Holm`) gets its id from the name alone, so
    that neither
    its content nor another file can change it: `note--mira-holm` if each word is capitalised, otherwise with a suffix
    derived from the exact name, so that no two names share an id.
    """
    kind, _, rest = stem.partition("--")
    if kind and rest and stem.isprintable() and not _UNFIT.search(stem):
        return stem
    words = slug(stem.encode("utf-8", "backslashreplace").decode(), limit=_MOST_NOTE)
    if stem == _spelled(words):
        return f"{NOTE}--{words}"
    digest = hashlib.blake2b(stem.encode("utf-8", "backslashreplace"), digest_size=5).digest()
    return f"{NOTE}--{words}-0{base64.b32encode(digest).decode().lower()[:5]}"


def linked_entity(link: str) -> str:
    """Return the `type--slug` of the entity that a wikilink targets, given the text before any `|` or `#`."""
    return entity_name(link.strip().removeprefix("entity:").removesuffix(".md").rsplit("/", 1)[-1])


def linked_in(text: str) -> frozenset[str]:
    """Return the `type--slug` of every entity linked in a text."""
    return frozenset(map(linked_entity, WIKILINK.findall(text)))


def link_to(entity: str, stem: str | None = None) -> str:
    """Return the target to write in a wikilink to an entity, so that editors follow it too.

    Args:
        entity: Its `type--slug`.
        stem: Its file name without `.md`, if known.
    """
    words = entity.removeprefix(f"{NOTE}--")
    is_plain = words != entity and not _MARK.search(words)
    name = stem or (_spelled(words) if is_plain else entity)
    fits = name.isprintable() and not _UNLINKABLE.search(name) and linked_entity(name) == entity
    return name if fits else entity


def _spelled(words: str) -> str:
    return " ".join(word[:1].upper() + word[1:] for word in words.split("-"))


# The versions of a file name the same things over and over.
@lru_cache(maxsize=4096)
def slug(text: str, *, limit: int = 60) -> str:
    """Turn a name into a stable slug that is safe in file names.

    Latin letters lose their accents; letters of other scripts are kept; everything else becomes `-`.

    Args:
        limit: Maximum characters, cut at a word if possible.

    Returns:
        At least one character; `untitled` if nothing can be kept.
    """
    folded = []
    for character in unicodedata.normalize("NFKC", text).casefold().translate(_LATIN_WITHOUT_ACCENT):
        for part in unicodedata.normalize("NFKD", character) if _is_latin(character) else character:
            category = unicodedata.category(part)
            if category[0] in "LN" or (category[0] == "M" and not _is_latin(character)):
                folded.append(part)
            elif category != "Mn" and part not in "'’":
                folded.append("-")
    whole = re.sub(r"-+", "-", "".join(folded)).strip("-")
    # Two hyphens separate type and name, and file names are limited in bytes.
    while len(whole) > limit or len(whole.encode()) > 180:
        head, hyphen, _ = whole.rpartition("-")
        whole = head if hyphen and len(head) >= limit // 2 else whole[: min(limit, len(whole) - 1)]
    return whole.strip("-") or "untitled"


def _is_latin(character: str) -> bool:
    return ord(character) < 0x0250 or 0x1E00 <= ord(character) < 0x1F00
