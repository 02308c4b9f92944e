"""Holds secrets back: no request, change or edit from outside brings one into history before a person decides."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from workbench.engine import layout, results
from workbench.engine.clock import render_time
from workbench.engine.errors import Locked, SecretFound, StorageError
from workbench.engine.history.plan import OutsideEdit, Screened
from workbench.engine.secrets.detection import LEFT_OUT, added_secrets, find_secrets, masked, text_of
from workbench.engine.services.quarantine import EDIT, OUTSIDE, HeldRequest, Quarantine

if TYPE_CHECKING:
    from workbench.engine.history.plan import FileView, Plan
    from workbench.engine.secrets.detection import Secret
    from workbench.engine.services.context import WorkspaceContext


T = TypeVar("T")
_MOST_NAMED = 6


def held_back(
    context: WorkspaceContext,
    method: str,
    text: str,
    arguments: Mapping[str, Any],
    *,
    keep: bool = True,
    let_in: Collection[str] = (),
) -> results.memories.HeldBack | None:
    """Keep a request outside the workspace if its text looks like a secret; None where it does not.

    It is asked before anything else: a model that is asked where a memory belongs must not see the secret either.

    Args:
        method: `remember` or `propose`.
        text: What should be stored.
        arguments: Of that method, with the text.
        keep: Whether the request waits for a decision; else it is only told that it would.
        let_in: Digests of secrets that are being let in with it.
    """
    context.follow_settings()
    settings = context.settings.secrets
    allowed = {*settings.allow, *let_in}
    found = [each for each in find_secrets(text) if each.digest not in allowed]
    if not settings.hold_back:
        return None
    if not found:
        _refuse_elsewhere(context, method, text, arguments, let_in)
        return None
    kinds = tuple(dict.fromkeys(each.kind for each in found))
    reason = f"it looks like a secret ({' and '.join(kinds)}), and history would remember it"
    if not keep:
        return results.memories.HeldBack(reason, "A person would decide on it")
    request = HeldRequest(
        0,
        method,
        {name: list(each) if isinstance(each, tuple) else each for name, each in arguments.items()},
        str(context.role),
        render_time(context.now()),
        kinds,
        tuple(dict.fromkeys(each.digest for each in found)),
    )
    context.claim_state()
    number = Quarantine(context.state).add(request)[0].number
    return results.memories.HeldBack(
        reason,
        f"A person decides: workbench secrets store {number} (with --leave-out without the secret), or drop {number}",
    )


def _refuse_elsewhere(
    context: WorkspaceContext,
    method: str,
    text: str,
    arguments: Mapping[str, Any],
    let_in: Collection[str],
) -> None:
    """Refuse a secret in another argument than the text, as it was given: tags are written otherwise than they came."""
    for name, value in arguments.items():
        for said in (value,) if isinstance(value, str) else value if isinstance(value, list | tuple) else ():
            if isinstance(said, str) and said != text and (found := find_secrets(said)):
                refuse_secrets(new_here(found, context, let_in), f"{method}: {name}")


def guarded(
    planner: Callable[[FileView], Plan[T]], context: WorkspaceContext, let_in: Collection[str] = ()
) -> Callable[[FileView], Plan[T]]:
    """Return a planner whose plans are refused where they would bring a secret into the files or their history.

    Args:
        planner: Of the change.
        let_in: Digests of secrets that the change lets in.
    """

    def check(found: Collection[Secret], where: str) -> None:
        refuse_secrets(new_here(found, context, let_in), where)

    def plan(view: FileView) -> Plan[T]:
        planned = planner(view)
        for change in planned.changes:
            if change.content is not None:
                before = view.read(change.path)
                if before is None:
                    check(find_secrets(change.path), change.path)
                check(added_secrets(before, change.content), change.path)
        for words in (planned.summary, *(event.summary for event in planned.events)):
            check(find_secrets(words), planned.file)
        return planned

    return plan


def new_here(
    found: Collection[Secret], context: WorkspaceContext, let_in: Collection[str] = ()
) -> tuple[Secret, ...]:
    """Return the secrets that may not be stored as things are: nobody let them in, and history does not have them.

    What some file holds already may be moved, quoted and corrected; an edit that was kept out of history does not
    count.

    Args:
        found: Secrets.
        let_in: Digests of those that are being let in just now.
    """
    allowed = {*context.settings.secrets.allow, *let_in}
    new = {each.text: each for each in found if each.digest not in allowed}
    head = context.history.head() if new else None
    if head is not None:
        files, committed = context.raw_files, context.history.at(head)
        for path in files.list(""):
            content = files.read(path) or b""
            here = [said for said in new if said.encode("utf-8", "surrogatepass") in content]
            known = (committed.read(path) or b"") if here else b""
            for said in here:
                if said.encode("utf-8", "surrogatepass") in known:
                    del new[said]
            if not new:
                break
    return tuple(each for each in found if each.text in new)


def refuse_secrets(found: Collection[Secret], where: str) -> None:
    """Refuse what was found, if anything was.

    Raises:
        SecretFound: The message names what kind of secret it is, and never the secret.
    """
    if not found:
        return
    first = next(iter(found))
    further = f" and {len(found) - 1} more" if len(found) > 1 else ""
    raise SecretFound(
        f"This looks like a secret ({first.kind}{further}); history would remember it for ever.",
        where=masked(where),
        remedy=f"Leave it out; or a person lets it in: workbench secrets allow {first.digest}",
        kinds=tuple(dict.fromkeys(each.kind for each in found)),
        digests=tuple(dict.fromkeys(each.digest for each in found)),
    )


_LONGEST_LINE = 400
_UNTIL_DECIDED = "until a person takes the secret out or lets it in: workbench secrets"


class EditScreen:
    """Asked about edited files by the history, under the writer's lock.

    In a memory file that history knows, the secret gives way to a placeholder, and waits outside the workspace; that is
    on the disk before the file is written. Any other file is left as it is, and stays out of history: one that is new
    to it, so that adopting a folder changes nothing there; one in which a program may need the very characters
    (settings, what steers an agent); one that a placeholder could break (no text, JSON).
    """

    def __init__(self, context: WorkspaceContext) -> None:
        self._context = context

    def __call__(self, edits: Sequence[OutsideEdit]) -> dict[str, Screened]:
        """Return what is held back of which file; see `Screen`."""
        if not self._context.settings.secrets.hold_back:
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
            requests = Quarantine(self._context.state).read()
            waiting = {(each.path, digest) for each in requests for digest in each.digests if each.path}
        allowed = self._context.settings.secrets.allow
        asked = [(path, each) for path, secrets in found.items() for each in secrets]
        known = {
            (path, each.text)
            for path, each in asked
            if (path, each.digest) in waiting and each.digest not in allowed
        }
        others = [each for path, each in asked if (path, each.text) not in known]
        new = {each.text for each in new_here(others, self._context)}
        return known | {(path, each.text) for path, each in asked if each.text in new}

    def _screened(self, held: Sequence[tuple[OutsideEdit, Sequence[Secret]]]) -> dict[str, Screened]:
        cut = {edit.path: edit.before() is not None and _can_be_cut(edit, secrets) for edit, secrets in held}
        asked = [
            request
            for edit, secrets in held
            for request in self._requests(edit, secrets, keep=cut[edit.path])
        ]
        try:
            kept = iter(Quarantine(self._context.state).add(*asked))
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

    def _requests(self, edit: OutsideEdit, secrets: Sequence[Secret], *, keep: bool) -> Iterator[HeldRequest]:
        path, text = edit.path, text_of(edit.after)
        # What gives a secret away may be on another line: the head of a table, or the label above.
        found = find_secrets(text)
        moment = render_time(self._context.now())
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
    """Return the first occurrence of each secret: a file may hold one many thousand times."""
    first: dict[str, Secret] = {}
    for each in secrets:
        first.setdefault(each.text, each)
    return list(first.values())


def _left_out(edit: OutsideEdit, secrets: Sequence[Secret], until: str) -> Screened:
    kinds = " and ".join(dict.fromkeys(each.kind for each in secrets))
    path = masked(edit.path)
    return Screened(
        None, f"{path} holds what looks like a secret ({kinds}), so its edit stays out of history {until}"
    )


def _cut(edit: OutsideEdit, secrets: Sequence[Secret], held: Sequence[HeldRequest]) -> Screened:
    stand_ins = [(each, request.placeholder) for each, request in zip(secrets, held, strict=True)]
    told = ", ".join(dict.fromkeys(placeholder for _, placeholder in stand_ins))
    return Screened(
        _replaced(edit.after.decode(), stand_ins).encode(),
        f"{edit.path} held what looks like a secret; until a person decides (workbench secrets) it says {told}.",
    )


def _added(edit: OutsideEdit) -> tuple[Secret, ...]:
    """Return the secrets that history would get with an edit."""
    in_name, within = find_secrets(edit.path), find_secrets(text_of(edit.after))
    if not in_name and not within:
        return ()
    before = edit.before()
    return (*(in_name if before is None else ()), *added_secrets(before, edit.after))


def _can_be_cut(edit: OutsideEdit, found: Sequence[Secret]) -> bool:
    """Return whether a placeholder may replace a secret: in a memory file that stays valid with it."""
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


def waiting(context: WorkspaceContext) -> tuple[HeldRequest, ...]:
    """Return what waits for a person's decision, oldest first.

    An edit that was kept out of history waits as long as its file holds the secret, and nobody has let it in. One that
    was let in waits again where its placeholder is back, as after an undo.

    Raises:
        StorageError: The file of what was held back, or one that it names, cannot be read.
    """
    held = Quarantine(context.state).read()
    if not any(each.path for each in held):
        return held
    context.follow_settings()
    allowed = context.settings.secrets.allow

    @cache
    def text_in(path: str) -> str:
        return text_of(context.raw_files.read(path) or b"")

    @cache
    def digests_in(path: str) -> frozenset[str]:
        return frozenset(each.digest for each in (*find_secrets(text_in(path)), *find_secrets(path)))

    def waits(request: HeldRequest) -> bool:
        new = set(request.digests) - set(allowed)
        if request.is_left_out:
            return not digests_in(request.path).isdisjoint(new)
        if not request.path:
            return True
        text = text_in(request.path)
        return request.placeholder in text or bool(new and request.secret not in text)

    return tuple(filter(waits, held))


def forget_settled(context: WorkspaceContext) -> None:
    """Forget edits kept out of history that wait no more: their secret is out of the file, or was let in."""
    file = Quarantine(context.state)
    left_out = {each.number for each in file.read() if each.is_left_out}
    settled = left_out - {each.number for each in waiting(context)}
    file.forget(lambda request: request.number in settled)


def follow_held_back(context: WorkspaceContext, changes: Mapping[str, bool]) -> tuple[str, ...]:
    """Let what a change stored wait again once it is taken back; return a warning where that fails.

    Args:
        changes: Whether each change stands now, by its transaction.
    """
    try:
        Quarantine(context.state).follow(changes)
    except (StorageError, Locked) as error:
        # The commit is made all the same.
        return (f"What was held back does not follow: {error}",)
    return ()


def purge_held_back(context: WorkspaceContext, erase: Callable[[str], str]) -> tuple[str, ...]:
    """Forget every request that says what is purged; return what a person should know, one sentence each.

    Args:
        erase: Returns a text without what has to go.
    """

    def says(value: object) -> bool:
        if isinstance(value, str):
            return erase(value) != value
        return isinstance(value, list) and any(says(each) for each in value)

    file = Quarantine(context.state)
    try:
        file.forget(lambda request: any(says(each) for each in request.arguments.values()))
        file.clear_leavings()
    except (StorageError, Locked) as error:
        # Memory has let go of it already; what could not be reached is named.
        return (f"May still be among what was held back: {error}",)
    return ()


def tell_left_out(context: WorkspaceContext) -> tuple[str, ...]:
    """Return a line that names the files which stay out of history; none where there are none."""
    paths = list(dict.fromkeys(masked(each.path) for each in waiting(context) if each.is_left_out))
    if not paths:
        return ()
    more = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
    named = ", ".join(paths[:_MOST_NAMED]) + more
    what = "What looks like a secret is held back, and kept out of history until you decide"
    return (f"{what}: {named}. Decide with: workbench secrets",)
