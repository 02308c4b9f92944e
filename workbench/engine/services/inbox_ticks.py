"""What a person considers of proposals and secrets before it is written, kept outside the workspace."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, get_args

from workbench.engine.clock import time_or_none
from workbench.engine.errors import StorageError
from workbench.engine.file_access import read_state, write_state
from workbench.engine.memory.wording import clip
from workbench.engine.results.inbox import (
    ConflictChoice,
    ProposalChoice,
    ProposalTick,
    SecretChoice,
    SecretTick,
)
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.history.git_store import GitStore
    from workbench.engine.results.reviews import Proposal

FILE: Final = "inbox-ticks.json"
# Numbers are never given twice, so that ticks may stay for an undo; the oldest go.
_MOST = 500
_PARTS: Final = ("proposals", "secrets", "conflicts")
_DONE: Final = "done"
_MOST_STEPS: Final = 50
_SHOWN: Final = 60


@dataclass(frozen=True)
class LastTick:
    """The newest tick that was not taken back.

    Args:
        id: `tick:` and a number.
        told: What was ticked, and how.
        moment: When.
        head: The newest commit then; empty where there was no history.
        commit: The commit of what was ticked of a reflection together with it; empty without.
    """

    id: str
    told: str
    moment: datetime
    head: str = ""
    commit: str = ""

    def is_newer_than(self, commit: str | None, store: GitStore) -> bool:
        """Return whether it was made after a commit, or together with it; None is before everything."""
        return commit is None or (store.has_object(self.head) and store.is_ancestor(commit, self.head))


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

    def on_conflicts(self, ids: Iterable[str]) -> dict[str, ConflictChoice]:
        """Return the ticks on what devices changed differently, by id."""
        known = self._read("conflicts")
        choices = {name: known[name].get("choice") for name in ids if isinstance(known.get(name), dict)}
        return {name: choice for name, choice in choices.items() if choice in get_args(ConflictChoice)}

    def tick(
        self,
        step: LastTick,
        proposals: Iterable[tuple[Proposal, ProposalTick | None]] = (),
        secrets: Mapping[int, SecretTick | None] = MappingProxyType({}),
        conflicts: Mapping[str, ConflictChoice | None] = MappingProxyType({}),
    ) -> None:
        """Tick what waits, or take ticks away with None.

        Args:
            step: What is done, to be taken back by its id.

        Raises:
            StorageError: The state folder cannot be written.
        """
        changes: dict[str, Mapping[Any, Mapping[str, Any] | None]] = {
            "proposals": {
                each.number: None if tick is None else {**asdict(tick), "seen": _digest(each.content)}
                for each, tick in proposals
            },
            "secrets": {number: None if tick is None else asdict(tick) for number, tick in secrets.items()},
            "conflicts": {
                name: None if choice is None else {"choice": choice} for name, choice in conflicts.items()
            },
        }
        self._change({part: ticks for part, ticks in changes.items() if ticks}, step)

    def last(self) -> LastTick | None:
        """Return the newest tick that can still be taken back, or None."""
        done = self._done()
        return _last_tick(done[-1]) if done else None

    def take_back(self) -> None:
        """Take back the newest tick.

        Raises:
            StorageError: The state folder cannot be written.
        """
        done = self._done()
        last = [each for each in done if each["id"] == done[-1]["id"]]
        rest = [each for each in done if each not in last]
        self._change({each["part"]: each["before"] for each in last}, done=rest)

    def forget_steps(self, secrets: Collection[int]) -> None:
        """Let no tick on secrets be taken back any more: they are erased for good.

        Raises:
            StorageError: The state folder cannot be written.
        """
        gone, steps = {str(number) for number in secrets}, self._done()
        kept = [each for each in steps if each["part"] != "secrets" or gone.isdisjoint(each["before"])]
        if kept != steps:
            self._change({}, done=kept)

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
                self._change({part: dict.fromkeys(gone)})
        steps = self._done()
        kept = [each for each in steps if not any(erase(text) != text for text in _texts_of_step(each))]
        if kept != steps:
            self._change({}, done=kept)

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
        changes: Mapping[str, Mapping[Any, Mapping[str, Any] | None]],
        step: LastTick | None = None,
        *,
        done: list[dict[str, Any]] | None = None,
    ) -> None:
        said: dict[str, Any] = {each: self._read(each) for each in _PARTS}
        steps = self._done() if done is None else done
        for part, ticks in changes.items():
            if step is not None:
                before = {str(number): said[part].get(str(number)) for number in ticks}
                own = {**asdict(step), "moment": step.moment.isoformat(), "part": part, "before": before}
                steps = [*steps, own][-_MOST_STEPS:]
            changed = {str(number) for number in ticks}
            kept = {number: tick for number, tick in said[part].items() if number not in changed}
            kept |= {str(number): dict(tick) for number, tick in ticks.items() if tick is not None}
            said[part] = dict(list(kept.items())[-_MOST:])
        said[_DONE] = steps
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
            "part": str(part), "before": dict(), **rest,
        } if part in _PARTS and (at := time_or_none(moment)) is not None:  # fmt: skip
            commit = rest.get("commit")
            return LastTick(name, told, at, head, commit if isinstance(commit, str) else "")
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


_CHOSEN: Final = {
    "accept": "accepted", "decline": "declined", "aside": "set aside", "both": "both kept", "keep": "stored",
    "without": "stored without its secret", "drop": "erased", "this": "this one taken", "that": "the other taken",
    "approved": "accepted", "rejected": "declined", "deferred": "set aside",
}  # fmt: skip


def _choice_of(tick: ProposalTick | SecretTick | None) -> str | None:
    return None if tick is None else tick.choice


def _ticked(what: str, choices: Sequence[str | None]) -> str:
    """Say what was ticked, and how."""
    if None in choices:
        return f"took the tick{'s' * (len(choices) > 1)} from {what}"
    return f"ticked {what}: {', '.join(_CHOSEN[each] for each in dict.fromkeys(choices) if each)}"


def told_of_proposals(chosen: Sequence[tuple[Proposal, ProposalTick | None]]) -> str:
    """Say which proposals were ticked, and how; of those that are one decision, by the one that is accepted."""
    lead, tick = next((each for each in chosen if each[1] and each[1].choice == "accept"), chosen[0])
    names = {f"#{each.number}" for each, _ in chosen}
    if len(chosen) > 2 or (len(chosen) == 2 and names.isdisjoint(lead.conflicts_with)):
        return _ticked(f"{len(chosen)} proposals", [_choice_of(each) for _, each in chosen])
    return _ticked(f"“{clip(lead.content, _SHOWN)}”", [_choice_of(tick)])


def told_of_items(decisions: Sequence[str]) -> str:
    """Say how items of a reflection were ticked."""
    what = "a change" if len(decisions) == 1 else f"{len(decisions)} changes"
    return _ticked(f"{what} of a reflection", [None if each == "undecided" else each for each in decisions])


def told_of_secrets(ticks: Sequence[SecretTick | None]) -> str:
    """Say how secrets were ticked."""
    what = "what was held back" if len(ticks) == 1 else f"{len(ticks)} secrets"
    return _ticked(what, [_choice_of(each) for each in ticks])


def told_of_conflicts(choices: Sequence[ConflictChoice | None]) -> str:
    """Say how what devices changed differently was ticked."""
    return _ticked(
        "what two devices changed" if len(choices) == 1 else f"{len(choices)} changes of two devices", choices
    )
