"""The review of secrets: a person sees what was held back, stores it, drops it or allows it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.engine import layout, results
from workbench.engine.clock import parse_time
from workbench.engine.errors import InvalidInput, NotFound, Refused, Stale
from workbench.engine.history.commits import parse_message
from workbench.engine.history.outside_edits import replace_unless_edited
from workbench.engine.history.plan import Action, FileChange, FileView, Plan
from workbench.engine.requests import RememberRequest
from workbench.engine.roles import Capability, require
from workbench.engine.secrets.detection import LEFT_OUT, Secret, find_secrets, masked, text_of
from workbench.engine.services.context import WorkspaceContext
from workbench.engine.services.mutator import Mutator, allowed_words, plan_setting
from workbench.engine.services.quarantine import HeldRequest, Quarantine
from workbench.engine.services.secret_guard import forget_settled, waiting
from workbench.engine.settings.layers import check_settings, write_setting

if TYPE_CHECKING:
    from workbench.engine.services.memory import Memory

_DOING = "let secrets into memory"
# What history says of it: none of its words, which are about the secret.
_STORED = "stored what was held back, secret and all"
_STORED_WITHOUT = "stored what was held back, without its secret"
_DIGEST = frozenset("0123456789abcdef")


class Secrets:
    """Secrets: seen by everybody with their own text left out, decided on by a person."""

    def __init__(self, context: WorkspaceContext, mutator: Mutator, memory: Callable[[], Memory]) -> None:
        self._context = context
        self._mutator = mutator
        self._memory = memory

    def held(self) -> results.memories.HeldBackList:
        """Return what was held back, oldest first; the secrets themselves are left out.

        Raises:
            StorageError: The file of what was held back cannot be read.
        """
        require(self._context.role, Capability.READ)
        # What was just written from outside is asked about now, and not after the next change.
        self._context.adopt_for_reading()
        return results.memories.HeldBackList(
            tuple(
                results.memories.HeldMemory(
                    each.number,
                    masked(each.text),
                    each.method,
                    each.role,
                    parse_time(each.moment),
                    each.kinds,
                    each.digests,
                    store=each.arguments.get("store") or None,
                    scope=each.arguments.get("scope") or None,
                    path=masked(each.path),
                    line=each.arguments.get("line") if each.path else None,
                    left_out=each.is_left_out,
                )
                for each in waiting(self._context)
            )
        )

    def reveal(self, number: int) -> results.memories.HeldSecret:
        """Return what was held back with the secret in it. Only a person may.

        Raises:
            RoleRefused: This door is no person's.
            NotFound: Nothing of that number waits.
        """
        require(self._context.role, Capability.CHANGE_SETTINGS, doing="see what was held back")
        request = self._held().take(number)
        if request.is_left_out:
            found = dict.fromkeys(each.text for each in self._secrets_in(request))
            return results.memories.HeldSecret(number, "\n".join(found))
        return results.memories.HeldSecret(number, request.secret or request.text)

    def store(
        self, number: int, *more: int, leave_out: bool = False, store: str | None = None
    ) -> results.memories.Remembered:
        """Store what was held back; the secrets in it are allowed from then on. Only a person may.

        A request is remembered; what was written into a file from outside is put back in place of its placeholder,
        or the file as it is taken into history. One undo takes back all of it, and what was remembered waits again;
        but it leaves a file that was new to history.

        Args:
            number: Of what was held back.
            leave_out: Store it with `[secret left out]` where the secret is; nothing is allowed then. The secret is
                kept for an undo until `drop`, and a warning says so.
            store: Where a request is remembered, instead of where it was asked for.

        Returns:
            What became of the last; files, ids and warnings are those of all.

        Raises:
            RoleRefused: This door is no person's.
            NotFound: Nothing of a number waits, or its placeholder is no longer in the file.
            Refused: The secret shall be left out, and is in the name of a file.
        """
        require(self._context.role, Capability.CHANGE_SETTINGS, doing=_DOING)
        requests = [self._held().take(each) for each in (number, *more)]
        told: tuple[str, ...] = ()
        let_in: tuple[str, ...] = ()
        if not leave_out:
            self._refuse_gone(requests)
            digests = dict.fromkeys(digest for each in requests for digest in each.digests)
            let_in = self._not_allowed(digests)
        left_out = self._left_out()
        with self._mutator.group.begun():
            if let_in and (layout.SETTINGS in left_out or any(each.is_left_out for each in requests)):
                # What stays out of history is taken in by no plan, which could allow it in its own commit.
                told, let_in = self.allow(let_in).warnings, ()
            with self._mutator.group.letting_in(let_in):
                stored = [self._store(each, leave_out=leave_out, store=store) for each in requests]
            if let_in:
                told = self._take_in_what_waits_no_more(left_out)
        forget_settled(self._context)
        return replace(
            stored[-1],
            # Where it was stored; that the settings allow it is in the same commit.
            files=tuple(
                dict.fromkeys(path for each in stored for path in each.files if path != layout.SETTINGS)
            ),
            ids=tuple(dict.fromkeys(name for each in stored for name in each.ids)),
            warnings=tuple(dict.fromkeys((*told, *(line for each in stored for line in each.warnings)))),
        )

    def drop(self, number: int, *more: int) -> results.memories.HeldBackList:
        """Forget what was held back; no trace of it stays. Only a person may. Returns what waits still.

        In a file, `[secret left out]` replaces it or its placeholder. What was remembered of it stays, but does not
        wait again once that is undone.

        Args:
            number: Of what was held back, or was and is stored now.

        Raises:
            RoleRefused: This door is no person's.
            NotFound: Nothing of a number waits.
            Refused: The secret is in the name of a file.
        """
        require(self._context.role, Capability.CHANGE_SETTINGS, doing="decide on what was held back")
        held = self._held()
        requests = [held.take(each, or_stored=True) for each in (number, *more)]
        with self._mutator.group.begun():
            for request in requests:
                if request.path:
                    self._leave_out_of_file(request)
                held.drop(request.number)
        forget_settled(self._context)
        return self.held()

    def _store(
        self, request: HeldRequest, *, leave_out: bool, store: str | None
    ) -> results.memories.Remembered:
        """Store one; its secrets are allowed, or are with this, where they are not left out."""
        if request.path:
            changed = self._leave_out_of_file(request) if leave_out else self._keep_in_file(request)
            stored = _as_remembered(request, changed)
        else:
            text = masked(request.text) if leave_out else request.text
            asked = _request(request, text)
            with self._mutator.group.telling(_STORED_WITHOUT if leave_out else _STORED):
                stored = self._memory().remember_request(replace(asked, store=store or asked.store))
        # What was put back where its placeholder stood waits again once that is undone.
        put_back = bool(request.secret) and not leave_out
        if stored.held_back is not None or put_back:
            return stored
        is_kept = self._settle(request, stored.commit)
        if not (is_kept and leave_out):
            return stored
        told = f"The secret is kept outside the workspace, for an undo, until: workbench secrets drop {request.number}"
        return replace(stored, warnings=(*stored.warnings, told))

    def _settle(self, request: HeldRequest, commit: str | None) -> bool:
        """Let a request wait no more until its commit is taken back; forget it where no commit is, or a file has it.

        Returns:
            Whether it is kept.
        """
        if commit is None or request.is_left_out:
            self._held().drop(request.number)
            return False
        transaction = parse_message(self._context.history.store.commit(commit)).transaction
        self._held().settle(request.number, transaction)
        return True

    def _refuse_gone(self, requests: Iterable[HeldRequest]) -> None:
        """Refuse to let in what can be put back nowhere, before anything is allowed."""
        for request in requests:
            if request.secret and request.placeholder not in self._text_of(request.path):
                raise NotFound(
                    f"“{request.placeholder}” is no longer there.",
                    where=request.path,
                    remedy="Write it back where the secret belongs, or see the secret with: workbench secrets reveal "
                    f"{request.number}",
                )

    def _keep_in_file(self, request: HeldRequest) -> results.memories.Changed:
        """Let in what was written into a file from outside."""
        if request.is_left_out:
            return self._take_in(request.path)
        return self._replace_in(request, request.secret, "put back what was held back")

    def _leave_out_of_file(self, request: HeldRequest) -> results.memories.Changed:
        """Leave a secret out of the file it was written into from outside."""
        if request.is_left_out:
            return self._take_out(request)
        return self._replace_in(request, LEFT_OUT, "left out what was held back")

    def _take_in(self, path: str) -> results.memories.Changed:
        """Let history take in a file that it did not, if nothing else in it waits.

        With a file that it does not know history begins, as with those that `init` finds: undo, which would delete
        the file, passes over that.
        """
        context, history = self._context, self._context.history
        context.follow_settings()
        head = history.head()
        told: tuple[str, ...] = ()
        if head is not None and history.store.tree_blob(history.store.commit(head).tree, path):
            commits = history.adopt("manual", path, self._mutator.group.trailers).commits
            self._mutator.group.note(commits[0] if commits else None)
        else:
            commits = history.adopt("system:init", path).commits
            told = (f"History has {masked(path)} from now on; an undo leaves the file as it is.",)
        return results.memories.Changed(
            commits[-1] if commits else history.head(), (path,), (f"file:{path}",), warnings=told
        )

    def _left_out(self) -> set[str]:
        """Return the files that stay out of history until a person decides."""
        return {each.path for each in waiting(self._context) if each.is_left_out}

    def _rewrite(self, path: str, before: bytes, after: bytes) -> None:
        """Write other content into a file that history does not hold, on a person’s decision."""
        context = self._context
        with context.history.writing("manual"):
            if not replace_unless_edited(context.root, path, before, after, context.new_id()):
                raise Stale("The file was just edited.", where=path, remedy="Decide again.")

    def _take_out(self, request: HeldRequest) -> results.memories.Changed:
        """Take a secret out of a file that history does not hold, and commit the rest."""
        before = self._context.raw_files.read(request.path) or b""
        after = before
        for each in self._secrets_in(request):
            after = after.replace(each.text.encode("utf-8", "surrogatepass"), LEFT_OUT.encode())
        left = find_secrets(text_of(after))
        if any(each.digest in request.digests for each in (*left, *find_secrets(request.path))):
            raise Refused(
                "The secret cannot be taken out from here.",
                where=masked(request.path),
                remedy="Rename the file or take it out in an editor, and the rest is taken into history; or let it in "
                f"with: workbench secrets store {request.number}",
            )
        self._rewrite(request.path, before, after)
        return self._take_in(request.path)

    def _replace_in(self, request: HeldRequest, text: str, summary: str) -> results.memories.Changed:
        """Replace the placeholder in a file by other words, in one commit; none where it is not there."""

        def plan(view: FileView) -> Plan[results.memories.Changed]:
            outcome = results.memories.Changed(None, ids=(f"file:{request.path}",))
            before = view.read(request.path)
            after = before and before.replace(request.placeholder.encode(), text.encode())
            if after is None or after == before:
                return Plan(Action.EDIT, request.path, summary, outcome=outcome)
            change = FileChange(request.path, after, Action.EDIT, summary)
            return Plan(Action.EDIT, request.path, summary, (change,), outcome=outcome)

        return self._mutator.change(
            plan, "a person decided on a secret", Capability.CHANGE_SETTINGS, doing=_DOING
        )

    def _secrets_in(self, request: HeldRequest) -> list[Secret]:
        """Return the secrets of a request that are in its file, or in its name."""
        found = (*find_secrets(self._text_of(request.path)), *find_secrets(request.path))
        return [each for each in found if each.digest in request.digests]

    def _text_of(self, path: str) -> str:
        return text_of(self._context.raw_files.read(path) or b"")

    def allow(self, digests: Iterable[str]) -> results.memories.Changed:
        """Let secrets be stored, wherever they come up; one commit of the settings. Only a person may.

        Files that stayed out of history for them alone are taken in.

        Args:
            digests: As refusals and `held` name them.

        Raises:
            RoleRefused: This door is no person's.
            InvalidInput: One is no digest.
            InvalidSetting: `workbench.toml` cannot be read.
        """
        context = self._context
        require(context.role, Capability.CHANGE_SETTINGS, doing=_DOING)
        wanted = tuple(dict.fromkeys(digests))
        for digest in wanted:
            if len(digest) != 16 or not _DIGEST.issuperset(digest):
                raise InvalidInput(
                    f"“{digest[:40]}” is no digest of a secret.", remedy="Copy it from: workbench secrets"
                )
        new = self._not_allowed(wanted)
        if not new:
            return results.memories.Changed(None, ids=(f"file:{layout.SETTINGS}",))
        allowed = [*context.settings.secrets.allow, *new]
        left_out = self._left_out()
        if layout.SETTINGS in left_out:
            # What was edited from outside and stays out of history is written by no plan.
            before = context.raw_files.read(layout.SETTINGS) or b""
            after = write_setting(before, "secrets.allow", allowed)
            check_settings(after)
            self._rewrite(layout.SETTINGS, before, after)
            changed = self._take_in(layout.SETTINGS)
        else:
            summary = allowed_words(len(new))
            changed = self._mutator.change(
                lambda view: plan_setting(view, "secrets.allow", allowed, summary),
                "a secret was allowed",
                Capability.CHANGE_SETTINGS,
                doing=_DOING,
            )
        told = self._take_in_what_waits_no_more(left_out)
        return replace(changed, warnings=(*changed.warnings, *told))

    def _not_allowed(self, digests: Iterable[str]) -> tuple[str, ...]:
        """Return those digests that nobody has allowed yet, once each."""
        self._context.follow_settings()
        known = self._context.settings.secrets.allow
        return tuple(dict.fromkeys(each for each in digests if each not in known))

    def _take_in_what_waits_no_more(self, left_out: Collection[str]) -> tuple[str, ...]:
        """Let history have the files that stayed out of it for what is allowed now; return the warnings.

        Args:
            left_out: The files that stayed out before it was.
        """
        # What was masked may be read now, in files that do not change with it as well.
        self._context.refresh_later()
        self._context.follow_settings()
        settled = sorted({*left_out} - self._left_out() - {layout.SETTINGS})
        return tuple(line for path in settled for line in self._take_in(path).warnings)

    def scan(self) -> results.memories.SecretScan:
        """Look through every memory file for what looks like a secret already.

        Raises:
            OutsideWorkspace: A file leads out of the workspace.
        """
        context = self._context
        require(context.role, Capability.READ)
        context.follow_settings()
        allowed = context.settings.secrets.allow
        places: list[results.memories.SecretPlace] = []
        paths = context.raw_files.list("")
        for path in paths:
            text = text_of(context.raw_files.read(path) or b"")
            places += [
                results.memories.SecretPlace(
                    masked(path),
                    text.count("\n", 0, each.start) + 1,
                    each.kind,
                    each.digest,
                    each.digest in allowed,
                )
                for each in find_secrets(text)
            ]
        return results.memories.SecretScan(tuple(places), len(paths))

    def _held(self) -> Quarantine:
        return Quarantine(self._context.state)


def _as_remembered(request: HeldRequest, changed: results.memories.Changed) -> results.memories.Remembered:
    return results.memories.Remembered(
        changed.commit,
        changed.files,
        (f"file:{request.path}",),
        changed.warnings,
        id=f"file:{request.path}",
        store=layout.store_of(request.path),
        path=request.path,
        router="given",
    )


def _request(held: HeldRequest, text: str) -> RememberRequest:
    """Return what is to be remembered; what an agent proposed is remembered as from that agent."""
    request = RememberRequest.from_arguments(text, held.arguments)
    if held.method != "propose":
        return request
    agent = held.role.partition(":")[2]
    source = held.arguments.get("source") or "conversation"
    return replace(request, source=source, actor=f"bot:commit-from:{agent}" if agent else None)
