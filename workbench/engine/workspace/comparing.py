"""How texts stand to each other and to memory: what says the same, and what cannot both hold."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from workbench.engine.workspace.routing import owner_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.proposals.comparing import Compare, Compared, Relation
    from workbench.engine.results.recall import Found
    from workbench.engine.workspace.ground import Ground

_LOOKED_AT: Final = 2000
_MOST_COMPARED: Final = 60
_NAME: Final = re.compile(r"\b[^\W\d_][\w+#-]{2,}")


def comparison(ground: Ground) -> Compare:
    """Return what tells how a new text stands to an older one."""
    owner = owner_of(ground)
    return lambda new, old: _relation(new[:_LOOKED_AT], old[:_LOOKED_AT], owner)


def compared_with_memory(ground: Ground, text: str, entities: Sequence[str], found: Found) -> Compared:
    """Tell what in memory a text repeats or contradicts.

    Compared are the facts of the entities that it names, core memory, and what a search for it finds.

    Args:
        ground: The open workspace, its catalog up to date.
        text: What is proposed.
        entities: What it is about, as `type--slug` or `TYPE:NAME`.
        found: What a search for the text found, explained.
    """
    from workbench.engine.proposals.comparing import compare_all

    near: dict[tuple[str, str], None] = {}
    for memory, said in _near(ground, text, entities, found):
        near[memory, said] = None
        if len(near) == _MOST_COMPARED:
            break
    return compare_all(text, near, comparison(ground))


def _near(ground: Ground, text: str, entities: Sequence[str], found: Found) -> Iterator[tuple[str, str]]:
    from workbench.engine.proposals.comparing import ways_to_say
    from workbench.engine.proposals.frames import contradict
    from workbench.engine.proposals.near import telling
    from workbench.engine.stores.core import view_core

    lookups = ground.lookups
    words = telling(text)
    # What a search leaves out for saying the same as another result can be contradicted as well.
    alike = (cut.id for cut in found.cuts if cut.reason == "near-duplicate")
    hits = tuple(dict.fromkeys((*(hit.id for hit in found.results), *alike)))
    for entity in dict.fromkeys((*_ids(ground, text, entities), *hits)):
        known = lookups.entity(entity) if entity.startswith("entity:") else None
        if known is None:
            continue
        for fact in lookups.facts_of(entity):
            if not fact.retired and words & telling(fact.text):
                *shorter, full = ways_to_say(fact.text, known.label)
                # To compare takes long; what the words alone tell costs next to nothing.
                yield from ((fact.id, said) for said in shorter if contradict(text[:_LOOKED_AT], said))
                yield fact.id, full
    for block in view_core(ground.files, ground.settings).blocks:
        for item in block.items:
            if words & telling(item.text):
                yield item.id, item.text
    for hit in hits:
        record = None if hit.startswith("entity:") else lookups.memory(hit)
        if record is not None and record.store in ("episodic", "vault", "procedural"):
            yield record.id, record.text


def _ids(ground: Ground, text: str, entities: Sequence[str]) -> Iterator[str]:
    lookups = ground.lookups
    for entity in entities:
        kind, dashes, _ = entity.removeprefix("entity:").partition("--")
        if dashes and kind:
            yield f"entity:{entity.removeprefix('entity:')}"
        elif known := lookups.named(entity.partition(":")[2]):
            yield known.id
    for name in dict.fromkeys(_NAME.findall(text[:_LOOKED_AT])):
        if name[:1].isupper() and (known := lookups.named(name)):
            yield known.id


@lru_cache(maxsize=4096)
def _same_statement(one: str, other: str) -> bool:
    from workbench.engine.reflection.claim_keys import same, statement

    return same(statement(one), statement(other))


def _relation(new: str, old: str, owner: str) -> Relation:
    from workbench.engine.proposals.frames import contradict
    from workbench.engine.reflection.claims.two_statements import cannot_both_hold
    from workbench.engine.stores.wording import text_key

    if text_key(new) == text_key(old) or _same_statement(new, old):
        return "repeats"
    if contradict(new, old) or (not _of_different_people(new, old) and cannot_both_hold(old, new, owner)):
        return "contradicts"
    return ""


def _of_different_people(new: str, old: str) -> bool:
    """Tell whether two statements begin with different names: what is said of two people is no contradiction."""
    first, second = new.split()[:1], old.split()[:1]
    if not first or not second or first == second:
        return False
    return all(_is_name(word[0]) for word in (first, second))


def _is_name(word: str) -> bool:
    from workbench.engine.catalog.terms import STOP_WORDS, fold

    plain = word.strip("“”\"'.,:;")
    return plain[:1].isupper() and fold(plain) not in STOP_WORDS | {"user", "the", "i"}
