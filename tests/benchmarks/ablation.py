"""What each pattern and list of the rule readers is worth: each is taken out in turn, and the figures are measured.

    python -m tests.benchmarks.ablation triggers|claims|extraction [--data FOLDER] [--out FILE] [--only MODULE]

A unit is a compiled pattern or a set of words of a module, one of those within a tuple or table, or an entry of a
data file that the room reads. One line for each tells by half (the one that the rules were made with, and the other)
what is lost or gained without it. `--data` is a folder of data sets, each with conversations of `memory/*.md` and a
`queries.json` whose `evidence` names the lines that questions are answered from; what is learned is *founded* where
it cites one: `-f:2` are two founded facts less, `+u:3` three unfounded ones more, `o` other items.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pkgutil
import re
import sys
import tempfile
import tomllib
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import workbench.engine
from tests.benchmarks import reflection_pairs, routing, triggers
from tests.benchmarks.reflection import read_passages
from tests.engine.reflection.snapshots import snapshot
from workbench.engine.identifiers import FILE_ID
from workbench.engine.patterns import _Uncompiled
from workbench.engine.reflection.claims import find_conflicts
from workbench.engine.reflection.extraction import extract_knowledge
from workbench.engine.reflection.model import Agenda
from workbench.engine.reflection.work import Work
from workbench.engine.triggers.phrases import load_phrases
from workbench.engine.triggers.rules import route_by_rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.model import Snapshot

ROOMS: Final = {
    "triggers": ("workbench.engine.triggers",),
    "claims": ("workbench.engine.reflection.claims",),
    "extraction": (
        "workbench.engine.reflection.extraction",
        "workbench.engine.reflection.english",
        "workbench.engine.reflection.third_person",
    ),
}
TABLES: Final = {"triggers": ("triggers/routing.toml",), "extraction": ("reflection/extraction/worth.toml",)}
"""Data files whose lists hold patterns, each an entry of its own; lists of plain words are taken out whole."""
LOG: Final = Path(__file__).with_name("agent_log")
NEVER: Final = re.compile(r"(?!)")
CHATS: Final = {
    "beam-dev": (("beam-01",), ("beam-06", "beam-13")),
}
"""By data set the conversations that the rules were made with, and others."""

Figures = dict[str, Counter[str]]


@dataclass(frozen=True)
class Unit:
    """One thing to take out.

    Args:
        module: Where it stands.
        name: Of the constant.
        path: Of keys, indexes and fields to it within the constant.
    """

    module: str
    name: str
    path: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return f"{self.module.removeprefix('workbench.engine.')}.{self.name}" + "".join(
            f"[{each}]" for each in self.path
        )


@dataclass(frozen=True)
class Read:
    """A conversation with the lines that its questions are answered from."""

    half: str
    made: Snapshot
    worth: frozenset[tuple[str, int]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Take out each unit of a room in turn and print what that changes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("room", choices=ROOMS)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only", default="", help="part of a module's name")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args(arguments)
    _prepare(options.room, options.data)
    units = [unit for unit in units_of(options.room) if options.only in unit.module]
    base = measure(options.room)
    lines = [f"base: {json.dumps(base)}"]
    with ProcessPoolExecutor(options.workers, max_tasks_per_child=None) as pool:
        for unit, told in zip(
            units, pool.map(_without, [(options.room, unit, base) for unit in units]), strict=True
        ):
            lines.append(f"{unit}\t{told}")
            print(lines[-1], flush=True)
    if options.out:
        options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


def units_of(room: str) -> Iterator[Unit]:
    """Yield the units of a room's modules, each object once."""
    seen: set[int] = set()
    for module in _modules(room):
        for name, value in vars(module).items():
            foreign = name.startswith("__") or getattr(value, "__module__", None) not in (None, "re")
            if foreign and not isinstance(value, _Uncompiled):
                continue
            for path, leaf in _leaves(value):
                if id(leaf) not in seen:
                    seen.add(id(leaf))
                    yield Unit(module.__name__, name, path)
    for name in TABLES.get(room, ()):
        table = tomllib.loads((Path(workbench.engine.__file__).parent / name).read_text(encoding="utf-8"))
        for path, entries in _lists(table):
            if all(re.fullmatch(r"[\w' -]+", each) for each in entries):
                yield Unit(name, "", path)
            else:
                yield from (Unit(name, "", (*path, at)) for at in range(len(entries)))


def measure(room: str) -> dict[str, dict[str, int]]:
    """Return the figures of a room by half."""
    if room == "triggers":
        return _triggers()
    if room == "claims":
        return _claims()
    return _learned()


def _modules(room: str) -> Iterator[Any]:
    for name in ROOMS[room]:
        package = importlib.import_module(name)
        if hasattr(package, "__path__"):
            yield from (
                importlib.import_module(f"{name}.{each.name}")
                for each in pkgutil.iter_modules(package.__path__)
            )
        else:
            yield package


def _lists(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], list[str]]]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _lists(each, (*path, key))
    elif isinstance(value, list) and all(isinstance(each, str) for each in value):
        yield path, value
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield from _lists(each, (*path, at))


def _take_out(unit: Unit) -> None:
    """Take a unit out of the modules of this process, or out of what its data file reads as."""
    if unit.name:
        value = getattr(importlib.import_module(unit.module), unit.name)
        changed = _emptied(value, unit.path)
        for module in list(sys.modules.values()):
            if (
                getattr(module, "__name__", "").startswith("workbench.")
                and vars(module).get(unit.name) is value
            ):
                setattr(module, unit.name, changed)
    else:
        whole, loads = (
            (Path(workbench.engine.__file__).parent / unit.module).read_text(encoding="utf-8"),
            tomllib.loads,
        )

        def without(text: str) -> dict[str, Any]:
            table = loads(text)
            if text == whole:
                *path, last = unit.path
                holder: Any = table
                for key in path:
                    holder = holder[key]
                if isinstance(last, int):
                    holder[last] = "(?!)"
                else:
                    holder[last] = []
            return table

        setattr(tomllib, "loads", without)  # noqa: B010 - typed as what it stands in for
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("workbench."):
            for each in list(vars(module).values()):
                getattr(each, "cache_clear", lambda: None)()


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(value, (re.Pattern, _Uncompiled)) or (
        isinstance(value, frozenset | set) and value and all(isinstance(each, str) for each in value)
    ):
        yield path, value
    elif isinstance(value, tuple | list):
        if value and all(isinstance(each, str) for each in value):
            yield path, value
        else:
            for at, each in enumerate(value):
                yield from _leaves(each, (*path, at))
    elif isinstance(value, dict):
        if value and all(isinstance(each, str | int | float) for each in value.values()):
            yield path, value
        else:
            for key, each in value.items():
                yield from _leaves(each, (*path, key))
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _leaves(getattr(value, field.name), (*path, field.name))


def _emptied(value: Any, path: tuple[Any, ...]) -> Any:
    if not path:
        return NEVER if isinstance(value, (re.Pattern, _Uncompiled)) else type(value)()
    first, rest = path[0], path[1:]
    if isinstance(value, dict):
        return {key: _emptied(each, rest) if key == first else each for key, each in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{first: _emptied(getattr(value, first), rest)})
    return type(value)(_emptied(each, rest) if at == first else each for at, each in enumerate(value))


def _without(task: tuple[str, Unit, dict[str, dict[str, int]]]) -> str:
    """Measure in a process of its own, whose modules lack the unit."""
    room, unit, base = task
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            _take_out(unit)
            told = _changes(base, measure(room))
        except Exception as trouble:
            told = f"needed: {type(trouble).__name__} {trouble}"
        os.write(writer, told.encode()[:60000])
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        told = pipe.read().decode()
    os.waitpid(child, 0)
    return told


def _changes(base: dict[str, Any], now: dict[str, Any]) -> str:
    told = []
    for half, before in base.items():
        after = now[half]
        keys = [key for key in dict.fromkeys((*before, *after)) if before.get(key, 0) != after.get(key, 0)]
        if keys and not keys[0].startswith("="):
            told.append(
                f"{half}: " + " ".join(f"{key}{after.get(key, 0) - before.get(key, 0):+}" for key in keys)
            )
        elif keys:
            lost, won = (
                [key for key in keys if sign * (after.get(key, 0) - before.get(key, 0)) > 0]
                for sign in (-1, 1)
            )
            sums = Counter(f"{side}{key[1]}" for side, each in (("-", lost), ("+", won)) for key in each)
            told.append(f"{half}: " + " ".join(f"{key}:{number}" for key, number in sorted(sums.items())))
    return "; ".join(told) or "nothing"


def _triggers() -> dict[str, dict[str, int]]:
    book = load_phrases()
    found: dict[str, dict[str, int]] = {}
    pairs = [(label, triggers.detect(label.message, book)) for label in triggers.read_labelled()]
    for half in ("tune", "held"):
        own = [(label, got) for label, got in pairs if label.half == half]
        every = [each for each in routing.read_labelled() if each.half == half]
        routed = [(each, route_by_rules(each.text, routing.HINTS)) for each in every]
        total, wrong = routing.measure_stores({"tune": "A", "held": "B"}[half])
        found[half] = {
            "kinds": sum(label.kind == got.kind for label, got in own),
            "payloads": sum(
                label.payload == got.payload
                for label, got in own
                if label.payload is not None and label.kind == got.kind
            ),
            "flags": sum(
                triggers._flags(label) == triggers._flags(got) for label, got in own if label.kind != "none"
            ),
            "stores": sum(each.store == got.store for each, got in routed) + total - len(wrong),
            "types": sum(each.type == got.type for each, got in routed),
            "blocks": sum(each.block == got.core_block for each, got in routed),
            "entities": sum(len(each.entities & routing.entities_of(got)) for each, got in routed),
            "false entities": -sum(len(routing.entities_of(got) - each.entities) for each, got in routed),
            "relations": sum(len(each.relations & routing.relations_of(got)) for each, got in routed),
            "false relations": -sum(len(routing.relations_of(got) - each.relations) for each, got in routed),
        }
    return found


_READ: list[Read] = []
_PAIRS: list[tuple[str, str, list[Any], list[Any]]] = []
_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []


def _prepare(room: str, data: Path | None) -> None:
    if room == "triggers":
        return
    if room == "claims":
        for name, pairs in reflection_pairs.read_pairs(reflection_pairs.DATA / "pairs.json").items():
            half = "held" if name in reflection_pairs.HELD_OUT else "tune"
            _PAIRS.append((half, name, pairs, list(read_passages(reflection_pairs.DATA / name))))
    labels = json.loads((LOG / "labels.json").read_text(encoding="utf-8"))
    _READ.append(_reading("held", LOG, {(path, line) for path, line in labels["worth"]}))
    if data is None:
        return
    for each, halves in CHATS.items():
        queries = json.loads((data / each / "queries.json").read_text(encoding="utf-8"))
        for half, names in zip(("tune", "held"), halves, strict=True):
            for name in names:
                worth = {
                    (span[0], line)
                    for query in queries
                    if query["conv"] == name
                    for span in query.get("evidence") or ()
                    for line in range(span[1], span[-1] + 1)
                }
                _READ.append(_reading(half, data / each / name, worth))


def _reading(half: str, folder: Path, worth: set[tuple[str, int]]) -> Read:
    kept = tempfile.TemporaryDirectory()
    _FOLDERS.append(kept)
    return Read(half, snapshot(Path(kept.name), list(read_passages(folder))), frozenset(worth))


def _claims() -> dict[str, dict[str, int]]:
    found: dict[str, Counter[str]] = {"tune": Counter(), "held": Counter()}
    for half, name, pairs, passages in _PAIRS:
        outcome = reflection_pairs.evaluate(name, pairs, passages, {})
        found[half]["pairs"] += sum(hit for _, hit in outcome.found)
        found[half]["others"] -= sum(not each for *_, each in outcome.items)
    for read in _READ:
        found[read.half]["raised elsewhere"] += len(find_conflicts(read.made, Work()))
    return {half: dict(each) for half, each in found.items()}


def _cited(item: ReviewItem) -> set[tuple[str, int]]:
    """Return the lines that an item cites, as path and number."""
    spans = (found for proof in item.evidence if (found := FILE_ID.match(proof.id)) and found["start"])
    return {
        (span["path"], line)
        for span in spans
        for line in range(int(span["start"]), int(span["end"] or span["start"]) + 1)
    }


def _learned() -> dict[str, dict[str, int]]:
    """Return each item of the proposals by its words; `f` founded and `u` unfounded facts, `o` others."""
    found: dict[str, dict[str, int]] = {"tune": {}, "held": {}}
    for at, read in enumerate(_READ):
        for item in extract_knowledge(read.made, Agenda(()), Work()):
            sign = "o" if item.kind != "fact" else "f" if _cited(item) & read.worth else "u"
            found[read.half][f"={sign}{at} {item.kind} {item.target} {item.text}"] = 1
    return found


if __name__ == "__main__":
    sys.exit(main())
