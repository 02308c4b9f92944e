"""Decides where a link leads: which pane shows it, at which row, through which filter."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from workbench.engine.identifiers import entity_name, link_to
from workbench.tui.trail import Place

_MEMORY_KINDS = frozenset({"core", "episode", "entity", "procedure", "vault", "file"})
LINK_KINDS = _MEMORY_KINDS | {"commit", "history", "decay", "past", "session"}
# Characters of a commit that the audit log keeps.
_SHORT = 10
CORE, TIMELINE, AUDIT, INBOX = "core", "timeline", "audit", "inbox"
GRAPH, DECAY, PAST, SESSIONS = "graph", "decay", "past", "sessions"
REVIEW = "review"
_REVIEW_ITEM = re.compile(r"r-\d+(\.\d+)?")
_PROPOSAL = re.compile(r"(proposal|held):#?(\d{1,9})", re.ASCII)


def destination(link: str) -> Place | None:
    """Return the place that shows what a link names, or None where no pane does: it is shown by itself then.

    Args:
        link: An id of a memory or of a review item; `proposal:` and its number; `commit:…`; `history:` and a path;
            `alerts`; `review`; `decay:` and the id of a memory; `past:` and a commit, or a memory and a commit with
            `@` between them; the commit before one has `^` after it; `session:` and its key; the citation of a line of
            a transcript.
    """
    kind, _, name = link.partition(":")
    if link == REVIEW or _REVIEW_ITEM.fullmatch(link):
        return Place(INBOX, link if "." in link else "")
    if proposal := _PROPOSAL.fullmatch(link):
        return Place(INBOX, f"{proposal[1]}:{int(proposal[2])}")
    if link == "alerts":
        return Place(AUDIT, "alert:")
    if kind == "commit":
        return Place(AUDIT, "", f"commit:{name[:_SHORT]}")
    if kind == "history":
        return Place(AUDIT, "", f'file:"{name}"' if " " in name else f"file:{name}")
    if kind == "core":
        return Place(CORE, link)
    if kind == "episode":
        return Place(TIMELINE, link)
    if kind == "entity":
        return Place(GRAPH, link)
    if kind in (DECAY, PAST):
        return Place(kind, name)
    if kind == "session":
        return Place(SESSIONS, name)
    if is_cited_line(link):
        return Place(SESSIONS, link)
    if kind == "file":
        return _file_destination(name)
    return None


def _file_destination(name: str) -> Place | None:
    path = PurePosixPath(name.partition("#")[0])
    if str(path) == "MEMORY.md":
        return Place(CORE)
    if path.parent == PurePosixPath("memory/episodes"):
        return Place(TIMELINE, f"day:{path.stem}")
    if path.parent == PurePosixPath("memory"):
        return Place(TIMELINE, f"file:{name}")
    return None


def is_cited_line(link: str) -> bool:
    """Tell whether a link is the citation of a line of a transcript: `file:sessions/ID.jsonl#L12`."""
    path = PurePosixPath(link.removeprefix("file:").partition("#")[0])
    return link.startswith("file:") and path.suffix == ".jsonl" and path.parent == PurePosixPath("sessions")


def cited_number(link: str) -> int:
    """Return the line, 1-based, that the citation of a line names; 0 where it names none."""
    digits = link.rpartition("#L")[2].partition("-")[0]
    return int(digits) if digits.isascii() and digits.isdecimal() else 0


def is_memory(link: str) -> bool:
    """Tell whether a link, or the key of a row, is the id of a memory."""
    return link.partition(":")[0] in _MEMORY_KINDS


def is_whole_entity(link: str) -> bool:
    """Tell whether a link is the id of an entity, not of one of its facts or relations."""
    return link.startswith("entity:") and "#" not in link


def link_of_target(target: str) -> str:
    """Return the link that somebody means who opens the bench at an id or at a path.

    Args:
        target: An id as it is, `type--slug`, `review`, `proposal:4`, or a path inside the workspace.
    """
    if target.partition(":")[0] in LINK_KINDS or target == REVIEW or _REVIEW_ITEM.fullmatch(target):
        return target
    if _PROPOSAL.fullmatch(target):
        return target
    if "--" in target and "/" not in target and not target.endswith(".md"):
        return f"entity:{target}"
    return memory_of_file(f"file:{target.removeprefix('./')}") if target else ""


def memory_of_file(link: str) -> str:
    """Return the id of the memory that a link to a file means, where the file is one memory; else the link."""
    kind, _, name = link.partition(":")
    path = PurePosixPath(name.partition("#")[0])
    if kind != "file" or path.suffix != ".md":
        return link
    folders = {"memory/graph/entities": "entity", "memory/procedures": "procedure"}
    found = folders.get(str(path.parent))
    if found == "entity":
        return f"entity:{entity_name(path.name.removesuffix('.md'))}"
    return f"{found}:{path.stem}" if found else link


def path_of(memory_id: str) -> str:
    """Return the file that a memory is in, as far as its id tells; empty where it does not."""
    kind, _, name = memory_id.partition(":")
    slug = name.partition("#")[0]
    if kind == "core":
        return "MEMORY.md"
    if kind == "episode":
        return f"memory/episodes/{slug[:10]}.md"
    folders = {"entity": "memory/graph/entities/", "procedure": "memory/procedures/"}
    if kind in folders:
        return f"{folders[kind]}{link_to(slug) if kind == 'entity' else slug}.md"
    return {"file": slug, "vault": f"memory/vault/{slug}"}.get(kind, "")


def layout_for(width: int, height: int) -> frozenset[str]:
    """Return the classes of the screen at a size: list and detail beside, below, or one at a time.

    Args:
        width: Columns.
        height: Rows.
    """
    tall = {"-tall"} if height >= 28 else set()
    if width > 100:
        return frozenset(tall | {"-beside"} | ({"-wide"} if width >= 170 else set()))
    return frozenset(tall | ({"-below"} if height >= 32 else {"-single"}))
