"""Links memories that are kept though they contradict each other, so that whoever reads one finds the other (§13.6).

A fact's entity asks which of them holds; any other memory names what it contradicts in its own words.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.engine.errors import InvalidInput, NotFound, OutsideWorkspace
from workbench.engine.stores.entities import EntityFiles
from workbench.engine.stores.locate import locate_memory
from workbench.engine.stores.semantic import find_fact
from workbench.engine.stores.wording import clip

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, tzinfo

    from workbench.engine.stores.drafting import Draft
    from workbench.engine.stores.lookups import EntityLookup


def naming(text: str, memories: Sequence[str]) -> str:
    """Return a text that names what it contradicts; the text itself where that is nothing."""
    return f"{text.rstrip()} (contradicts {', '.join(memories)})" if memories else text


def ask_which_holds(
    draft: Draft, memories: Sequence[str], now: datetime, zone: tzinfo, lookup: EntityLookup
) -> None:
    """Put the question to each entity that one of the memories is a fact of, and make those facts less sure.

    Args:
        draft: The files; changed.
        memories: Ids of all sides.
        now: Aware, in the workspace's zone.
        zone: The workspace's.
        lookup: Finds entities by name.
    """
    files = EntityFiles(draft, lookup, now)
    said = {memory: text for memory in memories if (text := _text(draft, memory, zone))}
    for memory in said:
        if "#^" not in memory:
            continue
        file, fact = find_fact(files, memory)
        if fact.provenance.confidence != "low" and fact.block_id:
            file = file.set_provenance(fact.block_id, replace(fact.provenance, confidence="low"))
        others = [f"“{clip(text)}” ({other})" for other, text in said.items() if other != memory]
        question = f"Which holds: “{clip(fact.text)}” (^{fact.block_id}) or {' or '.join(others)}?"
        if others:
            file = file.add_question(question)
        files.save(file, f"asked which holds: {clip(question)}")


def _text(draft: Draft, memory: str, zone: tzinfo) -> str | None:
    try:
        return locate_memory(draft, memory, zone).text
    except (NotFound, InvalidInput, OutsideWorkspace):
        # It went meanwhile: then there is nothing to link to.
        return None
