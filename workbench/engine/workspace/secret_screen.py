"""Holds back secrets that were written into files from outside, before history takes the edit in."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.clock import render_time
from workbench.engine.errors import Locked, StorageError
from workbench.engine.history.screening import Edit, Screened
from workbench.engine.secrets.added import added_secrets, text_of
from workbench.engine.secrets.recognising import LEFT_OUT, find_secrets, masked
from workbench.engine.workspace.held_back import EDIT, OUTSIDE, HeldBackFile, HeldRequest
from workbench.engine.workspace.secret_gate import new_here

if TYPE_CHECKING:
    from workbench.engine.secrets.recognising import Secret
    from workbench.engine.workspace.ground import Ground

_LONGEST_LINE = 400
_UNTIL_DECIDED = "until a person takes the secret out or lets it in: workbench secrets"


class SecretScreen:
    """Asked about edited files by the history, under the writer's lock.

    In a memory file that history knows, the secret gives way to a placeholder, and waits outside the workspace; that is
    on the disk before the file is written. Any other file is left as it is, and stays out of history: one that is new
    to it, so that adopting a folder changes nothing there; one in which a program may need the very characters
    (settings, what steers an agent); one that a placeholder could break (no text, JSON).

    Args:
        ground: The open workspace.
    """

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    def __call__(self, edits: Sequence[Edit]) -> dict[str, Screened]:
        """Return what is held back of which file; see `Screen`."""
        if not self._ground.settings.secrets.hold_back:
            return {}
        found = {edit.path: added for edit in edits if (added := _added(edit))}
        new = self._new(found)
        held = [
            (edit, secrets)
            for edit in edits
            if (secrets := _once(each for each in found.get(edit.path, ()) if (edit.path, each.text) in new))
        ]
        return self._screened(held) if held else {}

    def _new(self, found: Mapping[str, Sequence[Secret]]) -> set[tuple[str, str]]:
        """Return path and text of the secrets that history must not have; of those that wait that is known."""
        if not found:
            return set()
        waiting: set[tuple[str, str]] = set()
        # Where that cannot be read, nothing waits that would be known; `_screened` tells of it.
        with suppress(StorageError):
            requests = HeldBackFile(self._ground.state).read()
            waiting = {(each.path, digest) for each in requests for digest in each.digests if each.path}
        allowed = self._ground.settings.secrets.allow
        asked = [(path, each) for path, secrets in found.items() for each in secrets]
        known = {
            (path, each.text)
            for path, each in asked
            if (path, each.digest) in waiting and each.digest not in allowed
        }
        others = [each for path, each in asked if (path, each.text) not in known]
        new = {each.text for each in new_here(others, self._ground)}
        return known | {(path, each.text) for path, each in asked if each.text in new}

    def _screened(self, held: Sequence[tuple[Edit, Sequence[Secret]]]) -> dict[str, Screened]:
        cut = {edit.path: edit.before() is not None and _can_be_cut(edit, secrets) for edit, secrets in held}
        asked = [
            request
            for edit, secrets in held
            for request in self._requests(edit, secrets, keep=cut[edit.path])
        ]
        try:
            kept = iter(HeldBackFile(self._ground.state).add(*asked))
        except (StorageError, Locked) as error:
            # Nothing else has to wait for that.
            until = f"until it can be held back: {error}"
            return {edit.path: _left_out(edit, secrets, until) for edit, secrets in held}
        requests = {edit.path: [next(kept) for _ in secrets] for edit, secrets in held}
        return {
            edit.path: _cut(edit, secrets, requests[edit.path])
            if cut[edit.path]
            else _left_out(edit, secrets, _UNTIL_DECIDED)
            for edit, secrets in held
        }

    def _requests(self, edit: Edit, secrets: Sequence[Secret], *, keep: bool) -> Iterator[HeldRequest]:
        path, text = edit.path, text_of(edit.after)
        # What gives a secret away may be on another line: the head of a table, or the label above.
        found = find_secrets(text)
        moment = render_time(self._ground.now())
        for secret in secrets:
            start = text.rfind("\n", 0, secret.start) + 1
            end = text.find("\n", secret.start + len(secret.text))
            arguments = {
                "path": path,
                "line": text.count("\n", 0, secret.start) + 1,
                "text": _masked_part(text, found, start, end if end >= 0 else len(text))[
                    :_LONGEST_LINE
                ].strip(),
                **({"secret": secret.text} if keep else {}),
            }
            yield HeldRequest(0, EDIT, arguments, OUTSIDE, moment, (secret.kind,), (secret.digest,))


def _masked_part(text: str, found: Sequence[Secret], start: int, end: int) -> str:
    """Return a part of a text without the secrets found in the whole of it, which are in order."""
    first = bisect_right(found, start, key=lambda each: each.start + len(each.text))
    after = bisect_left(found, end, key=lambda each: each.start)
    pieces, done = [], start
    for each in found[first:after]:
        pieces += [text[done : max(done, each.start)], LEFT_OUT]
        done = each.start + len(each.text)
    return masked("".join((*pieces, text[done:end])))


def _once(secrets: Iterable[Secret]) -> list[Secret]:
    """Return each secret where it stands first: a file may say one many thousand times."""
    first: dict[str, Secret] = {}
    for each in secrets:
        first.setdefault(each.text, each)
    return list(first.values())


def _left_out(edit: Edit, secrets: Sequence[Secret], until: str) -> Screened:
    kinds = " and ".join(dict.fromkeys(each.kind for each in secrets))
    path = masked(edit.path)
    return Screened(
        None, f"{path} holds what looks like a secret ({kinds}), so its edit stays out of history {until}"
    )


def _cut(edit: Edit, secrets: Sequence[Secret], held: Sequence[HeldRequest]) -> Screened:
    stand_ins = [(each, request.placeholder) for each, request in zip(secrets, held, strict=True)]
    told = ", ".join(dict.fromkeys(placeholder for _, placeholder in stand_ins))
    return Screened(
        _replaced(edit.after.decode(), stand_ins).encode(),
        f"{edit.path} held what looks like a secret; until a person decides (workbench secrets) it says {told}.",
    )


def _added(edit: Edit) -> tuple[Secret, ...]:
    """Return the secrets that history would get with an edit."""
    in_name, within = find_secrets(edit.path), find_secrets(text_of(edit.after))
    if not in_name and not within:
        return ()
    before = edit.before()
    return (*(in_name if before is None else ()), *added_secrets(before, edit.after))


def _can_be_cut(edit: Edit, found: Sequence[Secret]) -> bool:
    """Tell whether a placeholder may stand where a secret is: in a memory file that stays what it is with it."""
    if layout.store_of(edit.path) == "file" and not edit.path.startswith("memory/"):
        return False
    try:
        text = edit.after.decode()
    except UnicodeDecodeError:
        return False
    left = _replaced(text, [(each, "[held back 0]") for each in found])
    new = {each.text for each in found}
    if any(each.text in new for each in find_secrets(text_of(left.encode()))):
        return False
    return not edit.path.endswith(".json") or _is_json(left) or not _is_json(text)


def _replaced(text: str, stand_ins: Sequence[tuple[Secret, str]]) -> str:
    # A long secret may have a short one in it.
    for secret, placeholder in sorted(stand_ins, key=lambda each: -len(each[0].text)):
        text = text.replace(secret.text, placeholder)
    return text


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
