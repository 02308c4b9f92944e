"""What is held back because it looks like a secret until a person decides, and how files read meanwhile."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.engine import results
from workbench.engine.clock import parse_time, render_time
from workbench.engine.errors import HistoryError, InvalidInput, Locked, NotFound, StorageError
from workbench.engine.file_access import replace_file
from workbench.engine.history.journal import sync_folder
from workbench.engine.process import process_lock
from workbench.engine.secrets.detection import find_secrets, mask_content, mask_secrets, text_of

if TYPE_CHECKING:
    from workbench.engine.history.plan import FileView
    from workbench.engine.secrets.detection import Secret
    from workbench.engine.services.context import WorkspaceContext
    from workbench.engine.sessions.lines import Lines


FILE = "held-back.json"
EDIT = "edit"
"""The method of a request that nobody made through a door: something was written into a file from outside."""
OUTSIDE = "outside"
_LOCK = "held-back.lock"
_WAIT = 10.0
_MOST_NAMED = 6


@dataclass(frozen=True)
class HeldRequest:
    """One request that was not carried out.

    Args:
        number: From 1; never given twice.
        method: The door's method: `remember` or `propose`; or `edit`.
        arguments: Of that method, as JSON has them. Of an edit, `path`, `line` and `text` say what was found where,
            without the secret; and `secret` is what a placeholder stands for, missing where the file is as it was.
        role: Of the door that asked, or `outside`.
        moment: When, ISO 8601.
        kinds: What was found in it, for example `GitHub token`.
        digests: Of what was found.
    """

    number: int
    method: str
    arguments: Mapping[str, Any]
    role: str
    moment: str
    kinds: tuple[str, ...]
    digests: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return what should be stored, with the secrets in it; of an edit its line without."""
        return str(self.arguments.get("content" if self.method == "propose" else "text", ""))

    @property
    def path(self) -> str:
        """Return the file of an edit, else the empty string."""
        return str(self.arguments.get("path", "")) if self.method == EDIT else ""

    @property
    def secret(self) -> str:
        """Return what the placeholder in the file of an edit stands for, else the empty string."""
        return str(self.arguments.get("secret", "")) if self.method == EDIT else ""

    @property
    def is_left_out(self) -> bool:
        """Tell whether it is an edit of a file that stays as it was written, and out of history."""
        return bool(self.path) and not self.secret

    @property
    def placeholder(self) -> str:
        """Return what stands in the file of an edit where the secret was."""
        return f"[held back {self.number}: {' and '.join(self.kinds)}]"

    @property
    def wish(self) -> str:
        """Return what is alike in requests for the very same; a secret of a file is one wherever it stands in it."""
        if self.method == EDIT:
            return json.dumps([EDIT, self.path, self.secret, self.digests])
        return json.dumps([self.method, self.arguments, self.role], sort_keys=True)


class Quarantine:
    """The requests that wait, in a file that only its owner reads; no history remembers it.

    Args:
        folder: This workspace's state directory; made when first written to.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / FILE

    def read(self) -> tuple[HeldRequest, ...]:
        """Return what waits, oldest first.

        Raises:
            StorageError: The file cannot be read, or is none of ours.
        """
        return tuple(self._load()[1])

    def add(self, *requests: HeldRequest) -> tuple[HeldRequest, ...]:
        """Keep requests, flushed to the disk; the very same one is kept once.

        Args:
            requests: Their numbers mean nothing yet.

        Returns:
            The same with the numbers they have now, or had already.

        Raises:
            StorageError: The file cannot be written.
        """
        with self._locked():
            given, held = self._load()
            known = {each.wish: each for each in reversed(held)}
            asked = [(request.wish, request) for request in requests]
            new: dict[str, HeldRequest] = {}
            for wish, request in asked:
                if wish not in known and wish not in new:
                    new[wish] = replace(request, number=given + len(new) + 1)
            if new:
                self._store(given + len(new), [*held, *new.values()])
        kept = known | new
        return tuple(kept[wish] for wish, _ in asked)

    def take(self, number: int) -> HeldRequest:
        """Return one request that waits.

        Raises:
            NotFound: None of that number waits.
        """
        for request in self.read():
            if request.number == number:
                return request
        raise NotFound(
            f"Nothing that was held back has the number {number}.", remedy="See them with: workbench secrets"
        )

    def drop(self, number: int) -> None:
        """Forget a request, without a trace of it."""
        self.forget(lambda request: request.number == number)

    def forget(self, goes: Callable[[HeldRequest], bool]) -> None:
        """Forget every request of which `goes` says so, without a trace; nothing is written where there is none."""
        if not self._path.exists():
            return
        with self._locked():
            given, held = self._load()
            kept = [request for request in held if not goes(request)]
            if len(kept) < len(held):
                self._store(given, kept)

    def clear_leavings(self) -> None:
        """Delete what writers that died had not finished writing."""
        if not self._folder.is_dir():
            return
        with self._locked():
            for place in self._folder.glob(f"{FILE}.*.tmp"):
                place.unlink(missing_ok=True)

    def _load(self) -> tuple[int, list[HeldRequest]]:
        try:
            said = json.loads(self._path.read_bytes())
            return int(said["given"]), [_read_request(each) for each in said["held"]]
        except (FileNotFoundError, NotADirectoryError):
            return 0, []
        except OSError as error:
            raise StorageError(
                f"What was held back cannot be read: {error.strerror or error}.",
                where=str(self._path),
                remedy="Give yourself the right to read it.",
            ) from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, InvalidInput) as error:
            raise StorageError(
                "The file of what was held back is damaged.",
                where=str(self._path),
                remedy="Look at it in an editor; move it away to begin a new one.",
            ) from error

    def _store(self, given: int, held: list[HeldRequest]) -> None:
        content = json.dumps(
            {"given": given, "held": [asdict(request) for request in held]}, ensure_ascii=False
        )
        failing, remedy = (
            "What was held back cannot be kept",
            "Make room there, or give yourself the right to write.",
        )
        with replace_file(self._path, failing, remedy) as file:
            file.write(content.encode("utf-8", "replace"))
        sync_folder(self._folder)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise StorageError(
                f"The folder cannot be made: {error.strerror or error}.",
                where=str(self._folder),
                remedy="Give yourself the right to write there, or set paths.state.",
            ) from error
        with process_lock(self._folder / _LOCK, _WAIT) as got:
            if not got:
                raise Locked(
                    "Another process is changing what was held back.",
                    where=str(self._path),
                    remedy="Try again.",
                )
            yield


def _read_request(said: Mapping[str, Any]) -> HeldRequest:
    """Read a request as the file has it; whatever is wrong with it raises one of Python's own errors."""
    arguments, kinds, digests = said["arguments"], said["kinds"], said["digests"]
    texts = [said["method"], said["role"], said["moment"], *kinds, *digests]
    if not isinstance(arguments, dict) or not all(isinstance(text, str) for text in texts):
        raise TypeError(said)
    parse_time(said["moment"])
    return HeldRequest(
        int(said["number"]),
        said["method"],
        arguments,
        said["role"],
        said["moment"],
        tuple(kinds),
        tuple(digests),
    )


def waiting(context: WorkspaceContext) -> tuple[HeldRequest, ...]:
    """Return what waits for a person's decision, oldest first.

    An edit that was kept out of history waits as long as its file holds the secret, and nobody has let it in. One that
    was let in waits again where its placeholder is back, as after an undo.

    Args:
        context: The open workspace.

    Raises:
        StorageError: The file of what was held back, or one that it names, cannot be read.
    """
    from workbench.engine.secrets.detection import find_secrets, text_of

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


def purge_held_back(context: WorkspaceContext, erase: Callable[[str], str]) -> tuple[str, ...]:
    """Forget every request that says what is purged; return what a person should know, one sentence each.

    Args:
        context: The open workspace.
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
        return (f"May still stand among what was held back: {error}",)
    return ()


def tell_left_out(context: WorkspaceContext) -> tuple[str, ...]:
    """Return a line that names the files which stay out of history; none where there are none."""
    from workbench.engine.secrets.detection import masked

    paths = list(dict.fromkeys(masked(each.path) for each in waiting(context) if each.is_left_out))
    if not paths:
        return ()
    more = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
    named = ", ".join(paths[:_MOST_NAMED]) + more
    what = "What looks like a secret is held back, and kept out of history until you decide"
    return (f"{what}: {named}. Decide with: workbench secrets",)


def held_back(
    context: WorkspaceContext, method: str, text: str, arguments: Mapping[str, Any], *, keep: bool = True
) -> results.memories.HeldBack | None:
    """Keep a request outside the workspace if its text looks like a secret; None where it does not.

    It is asked before anything else: a model that is asked where a memory belongs must not see the secret either.

    Args:
        context: Of the door that was asked.
        method: `remember` or `propose`.
        text: What should be stored.
        arguments: Of that method, with the text.
        keep: Whether the request waits for a decision; else it is only told that it would.
    """
    from workbench.engine.secrets.detection import find_secrets

    context.follow_settings()
    settings = context.settings.secrets
    found = [each for each in find_secrets(text) if each.digest not in settings.allow]
    if not found or not settings.hold_back:
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


_MOST_CLEAN = 20_000
_MOST_CLEAN_NAMES = 200_000


class Masking:
    """Masks what is held back wherever files are read for others than a person; safe from several threads.

    It takes no lock and reads no settings, so that it can be asked within a transaction of the catalog.

    Args:
        context: The open workspace.
    """

    def __init__(self, context: WorkspaceContext) -> None:
        self._context = context
        self._clean: set[bytes] = set()
        self._clean_names: set[str] = set()

    def policy(self) -> str:
        """Return what a person decided so far, in short: with another one, files may have to be read again."""
        settings = self._context.settings.secrets
        allowed = "\n".join(sorted(settings.allow)) if settings.hold_back else "everything"
        return hashlib.blake2b(allowed.encode(), digest_size=8).hexdigest()

    def depends_on(self, path: str) -> str:
        """Return what decides, beside its content, on what is held back of a memory file."""
        return f"{self.policy()} {self._committed(path) or ''}"

    def screened(self, path: str, content: bytes) -> tuple[bytes, str]:
        """Mask the content of a memory file.

        Args:
            path: Workspace-relative.
            content: As it is on disk.

        Returns:
            What may be read, the very same object where nothing is held back; and what that depended on, empty where
            nothing in it, nor in its name, looks like a secret.
        """
        key = hashlib.blake2b(content, digest_size=16).digest()
        if key in self._clean:
            return content, "" if self._is_clean_name(path) else self.depends_on(path)
        # Before the looking: what is decided meanwhile makes it another.
        depends = self.depends_on(path) if (found := mask_content(content, _nothing)[1]).has_secrets else ""
        if not found.has_secrets:
            if len(self._clean) >= _MOST_CLEAN:
                self._clean.clear()
            self._clean.add(key)
            return content, "" if self._is_clean_name(path) else self.depends_on(path)
        return mask_content(content, self._hidden_in(path))[0], depends

    def hidden_names(self, paths: Collection[str], clean: Collection[str] = ()) -> frozenset[str]:
        """Return the memory files that nobody may know of yet, since their names hold a secret that is held back.

        Args:
            paths: All of them.
            clean: Those that were looked at before, by whomever, and hold none.
        """
        if len(self._clean_names) > _MOST_CLEAN_NAMES:
            self._clean_names.clear()
        self._clean_names.update(clean)
        new = [path for path in paths if path not in self._clean_names]
        # One look at all of them is enough, but where there is such a name.
        telling = [path for path in new if find_secrets(path)] if find_secrets("\n".join(new)) else []
        self._clean_names.update(set(new).difference(telling))
        return frozenset(
            path
            for path in telling
            if any(map(self._is_hidden, find_secrets(path))) and self._committed(path) is None
        )

    def _is_clean_name(self, path: str) -> bool:
        return path in self._clean_names or not find_secrets(path)

    def content(self, path: str, content: bytes) -> bytes:
        """Return what may be read of a memory file."""
        return self.screened(path, content)[0]

    def elsewhere(self, content: bytes) -> bytes:
        """Return what may be read of a file that no history of ours has."""
        return mask_content(content, self._is_hidden)[0]

    def text(self, text: str) -> str:
        """Return what may be read of a text from anywhere."""
        return mask_secrets(text, self._is_hidden).text

    def transcript(self, lines: Lines) -> Lines:
        """Return a transcript of which the secrets cannot be read."""
        from workbench.engine.sessions.lines import MaskedLines

        return MaskedLines(lines, self.text)

    def _is_hidden(self, secret: Secret) -> bool:
        settings = self._context.settings.secrets
        return settings.hold_back and secret.digest not in settings.allow

    def _hidden_in(self, path: str) -> _HiddenIn:
        return _HiddenIn(self, path)

    def is_hidden(self, secret: Secret, known: str) -> bool:
        """Say whether a secret is held back of a file.

        Args:
            secret: That stands in the file.
            known: What history has of the file.
        """
        return self._is_hidden(secret) and secret.text not in known

    def committed_text(self, path: str) -> str:
        """Return what history has of a file; nothing where it has none, or is damaged."""
        blob = self._committed(path)
        if blob is None:
            return ""
        with suppress(HistoryError):
            return text_of(self._context.history.store.read_blob(blob))
        return ""

    def _committed(self, path: str) -> str | None:
        context = self._context
        # A damaged history, of which `doctor` tells, lets nothing in.
        with suppress(HistoryError, NotFound):
            head = context.history.head() if context.has_history() else None
            if head is not None:
                store = context.history.store
                return store.tree_blob(store.commit(head).tree, path)
        return None


class _HiddenIn:
    """Says of the secrets of one file whether they are held back; history is asked where it matters alone."""

    def __init__(self, masking: Masking, path: str) -> None:
        self._masking = masking
        self._path = path
        self._known: str | None = None

    def __call__(self, secret: Secret) -> bool:
        if not self._masking.is_hidden(secret, ""):
            return False
        if self._known is None:
            self._known = self._masking.committed_text(self._path)
        return self._masking.is_hidden(secret, self._known)


class MaskedFiles:
    """The files on disk, without what is held back of them.

    Args:
        files: As they are.
        masking: Of the workspace.
    """

    def __init__(self, files: FileView, masking: Masking) -> None:
        self._files = files
        self._masking = masking

    def read(self, path: str) -> bytes | None:
        """Return what may be read of a file, or None where there is no such regular file; raises as reading does."""
        content = self._files.read(path)
        return self._masking.content(path, content) if content else content

    def list(self, folder: str) -> list[str]:
        """Return the tracked paths below a folder, sorted."""
        paths = self._files.list(folder)
        hidden = self._masking.hidden_names(paths)
        return [path for path in paths if path not in hidden] if hidden else paths


def _nothing(_secret: Secret) -> bool:
    return False
