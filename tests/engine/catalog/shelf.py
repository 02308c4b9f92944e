"""A workspace of plain files in a temporary folder, with its catalog."""

from __future__ import annotations

import time
from pathlib import Path
from zoneinfo import ZoneInfo

from workbench.engine.catalog.catalog import Catalog, Synced
from workbench.engine.catalog.lookups import Lookups
from workbench.engine.catalog.records import MemoryRecord
from workbench.engine.catalog.terms import terms

ZONE = ZoneInfo("Europe/Berlin")
ENTITIES = "memory/graph/entities"


def much_later() -> int:
    """Tell a time at which every stamp has settled."""
    return time.time_ns() + 10_000_000_000


class Shelf:
    """A workspace, its catalog and the questions to it.

    Args:
        folder: An empty temporary folder.
        files: Text by path.
    """

    def __init__(self, folder: Path, files: dict[str, str] | None = None) -> None:
        self.root = folder / "workspace"
        self.root.mkdir(parents=True, exist_ok=True)
        self.place = folder / "cache" / "catalog.sqlite"
        self.catalog = self.open()
        self.lookups = Lookups(self.catalog)
        for path, text in (files or {}).items():
            self.write(path, text)

    def open(self, zone: ZoneInfo = ZONE) -> Catalog:
        """Return one more catalog on the same files and database."""
        return Catalog(self.root, self.place, zone, clock_ns=much_later)

    def write(self, path: str, text: str | bytes) -> Path:
        """Write a file as an editor does that does not care: in place."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text if isinstance(text, bytes) else text.encode())
        return place

    def sync(self) -> Synced:
        """Bring the catalog up to date."""
        return self.catalog.sync()

    def ids(self) -> list[str]:
        """Return the ids of all memories by path and line."""
        return [record.id for record in self.lookups.memories()]

    def memory(self, memory_id: str) -> MemoryRecord:
        """Return a memory that has to be there."""
        record = self.lookups.memory(memory_id)
        assert record is not None, memory_id
        return record

    def found(self, query: str) -> list[str]:
        """Return the ids of memories with any of these words, by path and line."""
        wanted = set(terms(query))
        return [
            record.id
            for record in self.lookups.memories()
            if wanted.intersection(terms(f"{record.title}\n{record.text}"))
        ]

    def line(self, path: str, number: int) -> str:
        """Return a line of a file, counted from 1."""
        return (self.root / path).read_text().split("\n")[number - 1]


def episode(time: str, body: str, *, kind: str = "event", rest: str = "") -> str:
    """Return one entry of an episode log."""
    return f"## {time} | {kind}{rest}\n{body}\n\n"


def day(date: str, *entries: str) -> str:
    """Return an episode log."""
    return f"# {date} — Episode Log\n\n" + "".join(entries)


def entity(
    label: str,
    *,
    aliases: tuple[str, ...] = (),
    facts: tuple[str, ...] = (),
    relations: tuple[str, ...] = (),
    header: str = "",
    summary: str = "",
) -> str:
    """Return an entity file."""
    sections = {
        "Aliases": [f"- {alias}" for alias in aliases],
        "Summary": [summary] if summary else [],
        "Facts": [f"- {fact}" for fact in facts],
        "Relations": [f"- {relation}" for relation in relations],
    }
    written = "".join(f"\n## {name}\n" + "\n".join(lines) + "\n" for name, lines in sections.items() if lines)
    return f"# {label}\n" + (f"<!-- {header} -->\n" if header else "") + written


def furnish(shelf: Shelf) -> None:
    """Write a few memories of every kind, in several scripts, and have them read."""
    shelf.write("MEMORY.md", "## Identity\n- Name: Ada\n\n## Persona\n- Writes short answers\n")
    shelf.write(
        "memory/episodes/2026-02-02.md",
        day(
            "2026-02-02",
            episode(
                "09:00", "The NEAR operator and memory_search in src/auth/login.py.", rest=" | tags:[C++]"
            ),
            episode("10:00", "今天讨论了混合检索方案，小猫睡着了。"),
            episode(
                "11:00", "HTTPServer moved to v1.2, see [[project--apollo]] and episode:2026-01-01:09:00."
            ),
        ),
    )
    shelf.write(
        f"{ENTITIES}/project--apollo.md",
        entity(
            "Apollo",
            facts=("Ships on Fridays (from episode:2026-02-02:09:00) ^f1", "Is big ^f2"),
            relations=("uses: [[tool--git]] ^r1", "part of: [[project--moon]]"),
        )
        + "\n## Superseded\n- Ships on Mondays (2026-01-01 to 2026-02-01, superseded by ^f1) ^f0\n",
    )
    shelf.write(f"{ENTITIES}/tool--git.md", entity("Git", relations=("made by: [[project--apollo]]",)))
    shelf.write("memory/vault/letter.md", "# Letter\n\nDear Zoë, the tea.\n")
    shelf.sync()
