"""Holds back secrets that were written into files from outside, before history takes the edit in."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.clock import render_time
from workbench.engine.history.screening import Screened
from workbench.engine.secrets import added_secrets, find_secrets, masked
from workbench.engine.workspace.held_back import EDIT, OUTSIDE, HeldBackFile, HeldRequest
from workbench.engine.workspace.secret_gate import is_new_here

if TYPE_CHECKING:
    from workbench.engine.secrets import Secret
    from workbench.engine.workspace.ground import Ground

_LONGEST_LINE = 400


class SecretScreen:
    """Asked about each edited file by the history, under the writer's lock.

    In a memory file the secret gives way to a placeholder, and waits outside the workspace; that is on the disk before
    the file is written. Where a program may need the very characters (settings, the files that steer an agent), or
    they cannot be told apart (no text, broken JSON), the file is left alone and stays out of history.

    Args:
        ground: The open workspace.
    """

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    def __call__(self, path: str, before: Callable[[], bytes | None], after: bytes) -> Screened:
        """Return what history may have of an edited file; see `Screen`."""
        text = after.decode("utf-8", "replace")
        if not self._ground.settings.secrets.hold_back or not (find_secrets(text) or find_secrets(path)):
            return Screened(after)
        was = before()
        in_name = self._new(path, find_secrets(path)) if was is None else ()
        found = self._new(path, added_secrets(was, after))
        if not in_name and not found:
            return Screened(after)
        if in_name or not _can_be_cut(path, after, found):
            return self._left_out(path, text, (*found, *in_name))
        return self._cut(path, text, found)

    def _new(self, path: str, found: Sequence[Secret]) -> tuple[Secret, ...]:
        """Return the secrets that history must not have; one that waits already need not be looked for in all files."""
        if not found:
            return ()
        waiting = {
            digest
            for each in HeldBackFile(self._ground.state).read()
            if each.path == path
            for digest in each.digests
        }
        allowed = self._ground.settings.secrets.allow
        return tuple(
            each
            for each in found
            if each.digest not in allowed and (each.digest in waiting or is_new_here(each, self._ground))
        )

    def _cut(self, path: str, text: str, found: Sequence[Secret]) -> Screened:
        stand_ins = [(each, self._hold(path, text, each, keep=True).placeholder) for each in found]
        told = ", ".join(dict.fromkeys(placeholder for _, placeholder in stand_ins))
        return Screened(
            _replaced(text, stand_ins).encode(),
            f"{path} held what looks like a secret; until a person decides (workbench secrets) it says {told}.",
        )

    def _left_out(self, path: str, text: str, found: Sequence[Secret]) -> Screened:
        for each in found:
            self._hold(path, text, each, keep=False)
        kinds = " and ".join(dict.fromkeys(each.kind for each in found))
        return Screened(
            None,
            f"{masked(path)} holds what looks like a secret ({kinds}), so its edit stays out of history until a person "
            "takes the secret out or lets it in: workbench secrets",
        )

    def _hold(self, path: str, text: str, secret: Secret, *, keep: bool) -> HeldRequest:
        start = text.rfind("\n", 0, secret.start) + 1
        end = text.find("\n", secret.start + len(secret.text))
        line = text[start : end if end >= 0 else len(text)]
        arguments = {"path": path, "line": text.count("\n", 0, secret.start) + 1}
        arguments["text"] = masked(line)[:_LONGEST_LINE].strip()
        if keep:
            arguments["secret"] = secret.text
        return HeldBackFile(self._ground.state).add(
            EDIT,
            arguments,
            role=OUTSIDE,
            moment=render_time(self._ground.now()),
            kinds=(secret.kind,),
            digests=(secret.digest,),
        )


def _can_be_cut(path: str, content: bytes, found: Sequence[Secret]) -> bool:
    """Tell whether a placeholder may stand where a secret is: in a memory file that stays what it is with it."""
    if layout.store_of(path) == "file" and not path.startswith("memory/"):
        return False
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return False
    left = _replaced(text, [(each, "[held back 0]") for each in found])
    new = {each.text for each in found}
    if any(each.text in new for each in find_secrets(left)):
        return False
    return not path.endswith(".json") or _is_json(left) or not _is_json(text)


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
