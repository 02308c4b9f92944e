"""Every public method of the door, and of what it hands out, called in every role."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.engine.services import callings
from tests.engine.services.callings import EVERY, MAY, READ, Calling, public_methods
from tests.recording import fixing
from tests.recording.folders import CHANGED
from workbench.engine.requests import ProposeRequest, RememberRequest, SearchRequest

# What the callings name is another thing in the sample.
_RENAMED = {
    "EPISODE": "{episode}",
    "FACT": "{fact}",
    "RELATION": "{relation}",
    "ITEM": "{item}",
    "ROBIN": "entity:{person}",
    "HARBOUR": "entity:{project}",
}
FAMILY = "group:family"


@dataclass(frozen=True)
class View:
    """What the door hands out: how to get it, and how each of its public names is asked.

    Args:
        get: Returns it from the door.
        asked: By label; each begins with the name that is asked.
        left: Public names that are asked elsewhere.
    """

    get: Callable[[Any], Any]
    asked: Mapping[str, Callable[[Any], object]]
    left: frozenset[str] = frozenset()

    def missing(self, given: object) -> set[str]:
        """Return the public names of what the door handed out that nothing here asks for."""
        return fixing.public(type(given)) - {label.split()[0] for label in self.asked} - self.left


VIEWS: dict[str, View] = {
    "scoped": View(
        lambda door: door.scoped(FAMILY),
        {
            "scope": lambda view: view.scope,
            "role": lambda view: view.role,
            "search": lambda view: view.search("ferry trip", min_score=0.0, max_results=20, explain=True),
            "search budget": lambda view: view.search("ferry", budget=300),
            "search store": lambda view: view.search("ferry", store="core"),
            "search_request": lambda view: view.search_request(SearchRequest("ferry", store="episodic")),
            "show": lambda view: view.show("Mira"),
            "show private": lambda view: view.show("MEMORY.md"),
            "show entity": lambda view: view.show(callings.ROBIN),
            "brief": lambda view: view.brief(),
            "instructions": lambda view: view.instructions(),
            "remember": lambda view: view.remember("The family sails on Sunday", tags=["trip"]),
            "remember fact": lambda view: view.remember(
                "Mira likes maps", store="semantic", entities=["person:Mira"]
            ),
            "remember core": lambda view: view.remember("A thing", store="core"),
            "remember dry": lambda view: view.remember("A thing", dry_run=True),
            "remember_request": lambda view: view.remember_request(
                RememberRequest("Ann is in", scope="shared")
            ),
            "propose": lambda view: view.propose("Mira plays chess", entities=["person:Mira"]),
            "propose_request": lambda view: view.propose_request(
                ProposeRequest("Ann is out", scope="shared")
            ),
            "message": lambda view: view.message("Remember that the tent is green."),
            "message recall": lambda view: view.message("What do you remember about the ferry?"),
            "close": lambda view: view.close(),
        },
        frozenset({"open"}),
    ),
    "past": View(
        lambda door: door.at(callings.newest(door)),
        {
            "commit": lambda past: past.commit,
            "timestamp": lambda past: past.timestamp,
            "moment": lambda past: past.moment,
            "moment_of": lambda past: past.moment_of("MEMORY.md"),
            "core": lambda past: past.core(),
            "get": lambda past: past.get("MEMORY.md"),
            "get outside": lambda past: past.get("../outside/canary.md"),
            "show": lambda past: past.show(callings.ROBIN),
            "graph": lambda past: past.graph(callings.ROBIN, depth=2),
            "entities": lambda past: past.entities(),
            "scores": lambda past: past.scores(),
            "scores one": lambda past: past.scores([callings.EPISODE]),
            "differing": lambda past: past.differing(past),
            "unit": lambda past: past.unit(callings.EPISODE),
        },
        frozenset({"copy_to"}),
    ),
}
_ROLES = {
    "sample": ("person", "reader"),
    "openclaw": tuple(MAY),
    "hostile": ("person", "reader"),
}


def roles_of(folder: str) -> tuple[str, ...]:
    """Return the roles that a folder is walked in."""
    return _ROLES[folder]


def retarget(names: Mapping[str, str]) -> None:
    """Have the callings name what a folder has."""
    for name, template in _RENAMED.items():
        setattr(callings, name, template.format(**names))
    callings.elsewhere = _as_it_lay


def _as_it_lay(workspace: Any, lay: Callable[[Any], Path] = callings.elsewhere) -> Path:
    """Lay a folder beside the workspace whose files were changed when those of the stage were: an import tells when."""
    folder = lay(workspace)
    for place in (folder, *folder.iterdir()):
        os.utime(place, (CHANGED, CHANGED))
    return folder


def is_reading(calling: Calling) -> bool:
    """Say whether a call leaves everything as it is, so that the next can be made at the same door."""
    changing = ("index", "close", "watch", "message", "show", "export", "settle", "scoped")
    return calling.needs == READ and calling.prepare is None and calling.method not in changing


def missing_methods() -> set[str]:
    """Return the public methods of the door that are not called."""
    return public_methods() - {calling.method for calling in EVERY}


def asked(call: Callable[[], object]) -> dict[str, Any]:
    """Return the answer of a call, or its failure, as JSON values."""
    try:
        found = call()
    except Exception as error:  # whatever a caller would get belongs into the record
        names = ("kind", "message", "where", "remedy")
        told = {name: getattr(error, name) for name in names if hasattr(error, name)}
        return {"error": {"type": type(error).__name__, **(told or {"message": str(error)})}}
    kept = found if isinstance(found, set | frozenset | bytes) else fixing.shape(found)
    return {"answer": kept}
