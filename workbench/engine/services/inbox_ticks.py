"""What a person considers of proposals and secrets before it is written, kept outside the workspace."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

from workbench.engine.clock import time_or_none
from workbench.engine.errors import StorageError
from workbench.engine.file_access import read_state, write_state
from workbench.engine.results.inbox import (
    ConflictChoice,
    ProposalChoice,
    ProposalTick,
    SecretChoice,
    SecretTick,
)
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.results.reviews import Proposal

FILE: Final = "inbox-ticks.json"
# Numbers are never given twice, so that ticks may stay for an undo; the oldest go.
_MOST = 500
_PARTS: Final = ("proposals", "secrets", "conflicts")
_DONE: Final = "done"
_MOST_STEPS: Final = 50


@dataclass(frozen=True)
class LastTick:
    """The newest tick that was not taken back.

    Args:
        id: `tick:` and a number.
        told: What was ticked, and how.
        moment: When.
        head: The newest commit then; empty where there was no history.
    """

    id: str
    told: str
    moment: datetime
    head: str = ""


class Ticks:
    """The ticks of one workspace; those of items of a reflection are in the reflection's own file.

    Args:
        folder: Its state directory.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE

    def on_proposals(self, proposals: Iterable[Proposal]) -> dict[int, ProposalTick]:
        """Return the ticks on proposals that still say what they said when they were ticked, by number."""
        known = self._read("proposals")
        found = {each.number: _proposal_tick(known.get(str(each.number)), each) for each in proposals}
        return {number: tick for number, tick in found.items() if tick is not None}

    def on_secrets(self, numbers: Iterable[int]) -> dict[int, SecretTick]:
        """Return the ticks on secrets, by number."""
        known = self._read("secrets")
        found = {number: _secret_tick(known.get(str(number))) for number in numbers}
        return {number: tick for number, tick in found.items() if tick is not None}

    def tick_proposals(
        self, ticks: Iterable[tuple[Proposal, ProposalTick | None]], step: LastTick | None = None
    ) -> None:
        """Tick proposals, or take their ticks away with None.

        Args:
            step: What is done, to be taken back by its id.

        Raises:
            StorageError: The state folder cannot be written.
        """
        self._change(
            "proposals",
            {
                each.number: None if tick is None else {**asdict(tick), "seen": _digest(each.content)}
                for each, tick in ticks
            },
            step,
        )

    def tick_secrets(self, ticks: Mapping[int, SecretTick | None], step: LastTick | None = None) -> None:
        """Tick secrets, or take their ticks away with None; as `tick_proposals`.

        Raises:
            StorageError: The state folder cannot be written.
        """
        self._change(
            "secrets",
            {number: None if tick is None else asdict(tick) for number, tick in ticks.items()},
            step,
        )

    def on_conflicts(self, ids: Iterable[str]) -> dict[str, ConflictChoice]:
        """Return the ticks on what devices changed differently, by id."""
        known = self._read("conflicts")
        choices = {name: known[name].get("choice") for name in ids if isinstance(known.get(name), dict)}
        return {name: choice for name, choice in choices.items() if choice in get_args(ConflictChoice)}

    def tick_conflicts(
        self, ticks: Mapping[str, ConflictChoice | None], step: LastTick | None = None
    ) -> None:
        """Tick what devices changed differently, or take the ticks away with None; as `tick_proposals`.

        Raises:
            StorageError: The state folder cannot be written.
        """
        self._change(
            "conflicts",
            {name: None if choice is None else {"choice": choice} for name, choice in ticks.items()},
            step,
        )

    def last(self) -> LastTick | None:
        """Return the newest tick that was neither taken back nor written; None where there is none."""
        done = self._done()
        return _last_tick(done[-1]) if done else None

    def take_back(self) -> None:
        """Take back the newest tick.

        Raises:
            StorageError: The state folder cannot be written.
        """
        *rest, last = self._done()
        self._change(last["part"], last["before"], done=rest)

    def forget_steps(self) -> None:
        """Let no tick be taken back any more: what was ticked is written."""
        if self._done():
            self._change("proposals", {}, done=[])

    def purge(self, erase: Callable[[str], str]) -> None:
        """Take away every tick that says what is purged.

        Args:
            erase: Returns a text without what has to go.
        """
        for part in ("proposals", "secrets"):
            gone = [
                number
                for number, tick in self._read(part).items()
                if any(erase(text) != text for text in _texts(tick))
            ]
            if gone:
                self._change(part, dict.fromkeys(gone))
        steps = self._done()
        kept = [each for each in steps if not any(erase(text) != text for text in _texts_of_step(each))]
        if kept != steps:
            self._change("proposals", {}, done=kept)

    def _read(self, part: str) -> dict[str, Any]:
        # What cannot be read is a tick less: nothing is lost by that but a moment of thought.
        said = read_state(self._path)
        found = said.get(part) if isinstance(said, dict) else None
        return found if isinstance(found, dict) else {}

    def _done(self) -> list[dict[str, Any]]:
        said = read_state(self._path)
        done = said.get(_DONE) if isinstance(said, dict) else None
        return [each for each in done if _last_tick(each)] if isinstance(done, list) else []

    def _change(
        self,
        part: str,
        ticks: Mapping[Any, Mapping[str, Any] | None],
        step: LastTick | None = None,
        *,
        done: list[dict[str, Any]] | None = None,
    ) -> None:
        said: dict[str, Any] = {each: self._read(each) for each in _PARTS}
        steps = self._done() if done is None else done
        if step is not None:
            before = {str(number): said[part].get(str(number)) for number in ticks}
            own = {**asdict(step), "moment": step.moment.isoformat(), "part": part, "before": before}
            steps = [*steps, own][-_MOST_STEPS:]
        said[_DONE] = steps
        changed = {str(number) for number in ticks}
        kept = {number: tick for number, tick in said[part].items() if number not in changed}
        kept |= {str(number): dict(tick) for number, tick in ticks.items() if tick is not None}
        said[part] = dict(list(kept.items())[-_MOST:])
        if not write_state(self._path, json.dumps(said, ensure_ascii=False).encode()):
            raise StorageError(
                "The tick cannot be kept.",
                where=str(self._path),
                remedy="Make room there, or give yourself the right to write.",
            )


def _last_tick(said: object) -> LastTick | None:
    match said:
        case {
            "id": str(name), "told": str(told), "moment": str(moment), "head": str(head),
            "part": str(part), "before": dict(),
        } if part in _PARTS and (at := time_or_none(moment)) is not None:  # fmt: skip
            return LastTick(name, told, at, head)
    return None


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _texts(tick: object) -> Iterable[str]:
    values = tick.values() if isinstance(tick, dict) else ()
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (each for each in value if isinstance(each, str))


def _texts_of_step(step: Mapping[str, Any]) -> Iterable[str]:
    yield step["told"]
    for tick in step["before"].values():
        yield from _texts(tick)


def _proposal_tick(said: object, proposal: Proposal) -> ProposalTick | None:
    if not isinstance(said, dict) or said.get("seen") != _digest(proposal.content):
        return None
    replacing = said.get("replacing")
    if said.get("choice") not in get_args(ProposalChoice) or not isinstance(replacing, list):
        return None
    # Who settled the contradiction elsewhere meanwhile has left less of it.
    standing = tuple(str(each) for each in replacing if each in proposal.conflicts_with)
    return ProposalTick(said["choice"], standing, _text(said, "store"), _text(said, "text"))


def _secret_tick(said: object) -> SecretTick | None:
    if not isinstance(said, dict) or said.get("choice") not in get_args(SecretChoice):
        return None
    return SecretTick(said["choice"], _text(said, "store"))


def _text(said: Mapping[str, object], name: str) -> str | None:
    value = said.get(name)
    return value if isinstance(value, str) and value else None
