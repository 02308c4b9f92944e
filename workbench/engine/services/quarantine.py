"""What is held back because it looks like a secret until a person decides, and how files read meanwhile."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.engine.clock import parse_time
from workbench.engine.errors import HistoryError, InvalidInput, Locked, NotFound, StorageError
from workbench.engine.file_access import flush_to_disk, replace_file
from workbench.engine.process import process_lock
from workbench.engine.secrets.detection import (
    Secret,
    find_secrets,
    mask_content,
    mask_secrets,
    recogniser,
    text_of,
)
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.history.history import History
    from workbench.engine.history.plan import FileView
    from workbench.engine.settings.sections import SecretSettings


FILE = "held-back.json"
EDIT = "edit"
"""The method of a request that nobody made through a door: something was written into a file from outside."""
OUTSIDE = "outside"
_LOCK = "held-back.lock"
_WAIT = 10.0


@dataclass(frozen=True)
class HeldRequest:
    """One request that was not carried out.

    Args:
        number: From 1; never given twice.
        method: The door's method: `remember` or `propose`; or `edit`.
        arguments: Of that method, as JSON has them. Of an edit, `path`, `line` and `text` say what was found where,
            without the secret; and `secret` is what a placeholder replaces, missing where the file is as it was.
        role: Of the door that asked, or `outside`.
        moment: When, ISO 8601.
        kinds: What was found in it, for example `GitHub token`.
        digests: Of what was found.
        stored_by: The transaction of the change that stored it; empty where none did yet.
        is_settled: Whether that change stands. Where it was taken back, the request waits again.
    """

    number: int
    method: str
    arguments: Mapping[str, Any]
    role: str
    moment: str
    kinds: tuple[str, ...]
    digests: tuple[str, ...]
    stored_by: str = ""
    is_settled: bool = False

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
        """Return the secret that the placeholder in the file of an edit replaces, else the empty string."""
        return str(self.arguments.get("secret", "")) if self.method == EDIT else ""

    @property
    def is_left_out(self) -> bool:
        """Return whether it is an edit of a file that stays as it was written, and out of history."""
        return bool(self.path) and not self.secret

    @property
    def placeholder(self) -> str:
        """Return the text that replaces the secret in the file of an edit."""
        return f"[held back {self.number}: {' and '.join(self.kinds)}]"

    @property
    def wish(self) -> str:
        """Return a key that equal requests share; a secret counts once for each file."""
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
            StorageError: The file cannot be read, or has another form.
        """
        return tuple(request for request in self._load()[1] if not request.is_settled)

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
            known = {each.wish: each for each in reversed(held) if not each.is_settled}
            asked = [(request.wish, request) for request in requests]
            new: dict[str, HeldRequest] = {}
            for wish, request in asked:
                if wish not in known and wish not in new:
                    new[wish] = replace(request, number=given + len(new) + 1)
            if new:
                self._store(given + len(new), [*held, *new.values()])
        kept = known | new
        return tuple(kept[wish] for wish, _ in asked)

    def take(self, number: int, *, or_stored: bool = False) -> HeldRequest:
        """Return one request that waits.

        Args:
            or_stored: Return it also where it was stored already.

        Raises:
            NotFound: None of that number waits.
        """
        for request in self._load()[1]:
            if request.number == number and (or_stored or not request.is_settled):
                return request
        raise NotFound(
            f"Nothing that was held back has the number {number}.", remedy="See them with: workbench secrets"
        )

    def settle(self, number: int, change: str) -> None:
        """Let a request wait no more as long as the change that stored it stands.

        Args:
            change: Its transaction.
        """
        self._replace(
            lambda each: replace(each, stored_by=change, is_settled=True) if each.number == number else each
        )

    def follow(self, changes: Mapping[str, bool]) -> None:
        """Let requests wait again whose change was taken back, and no more where it was done again.

        Args:
            changes: Whether each stands now, by its transaction.
        """
        self._replace(lambda each: replace(each, is_settled=changes.get(each.stored_by, each.is_settled)))

    def _replace(self, change: Callable[[HeldRequest], HeldRequest]) -> None:
        if not self._path.exists():
            return
        with self._locked():
            given, held = self._load()
            changed = [change(request) for request in held]
            if changed != held:
                self._store(given, changed)

    def drop(self, number: int) -> None:
        """Forget a request, without a trace of it."""
        self.forget(lambda request: request.number == number)

    def forget(self, goes: Callable[[HeldRequest], bool]) -> None:
        """Forget every request that `goes` accepts, without a trace; without any, nothing is written."""
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
            {"given": given, "held": [_written(request) for request in held]}, ensure_ascii=False
        )
        failing, remedy = (
            "What was held back cannot be kept",
            "Make room there, or give yourself the right to write.",
        )
        with replace_file(self._path, failing, remedy) as file:
            file.write(content.encode("utf-8", "replace"))
        flush_to_disk(self._folder)

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


def _written(request: HeldRequest) -> dict[str, Any]:
    fields = asdict(request)
    if not request.stored_by:
        del fields["stored_by"], fields["is_settled"]
    return fields


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
        str(said.get("stored_by", "")),
        said.get("is_settled") is True,
    )


_MOST_CLEAN = 20_000
_MOST_CLEAN_NAMES = 200_000


class Masking:
    """Masks what is held back wherever files are read for others than a person; safe from several threads.

    It takes no lock and reads no settings, so that it can be asked within a transaction of the catalog.

    Args:
        settings: Gives the settings of secrets as they are now.
        history: Gives the history, or None.
    """

    def __init__(self, settings: Callable[[], SecretSettings], history: Callable[[], History | None]) -> None:
        self._settings = settings
        self._find_history = history
        self._clean: set[bytes] = set()
        self._clean_names: set[str] = set()

    def policy(self) -> str:
        """Return what decides what is held back, in short: with another one, files may have to be read again.

        These are the decisions of a person so far, and the rules by which secrets are recognised.
        """
        settings = self._settings()
        allowed = "\n".join(sorted(settings.allow)) if settings.hold_back else "everything"
        return hashlib.blake2b(f"{self.recogniser()}\n{allowed}".encode(), digest_size=8).hexdigest()

    def recogniser(self) -> str:
        """Return what decides whether a file holds secrets at all."""
        return recogniser()

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
        if key not in self._clean and mask_content(content, lambda _: False)[1].has_secrets:
            # Before the looking: what is decided meanwhile makes it another.
            depends = self.depends_on(path)
            return mask_content(content, self._hidden_in(path))[0], depends
        if len(self._clean) >= _MOST_CLEAN:
            self._clean.clear()
        self._clean.add(key)
        return content, "" if self._is_clean_name(path) else self.depends_on(path)

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
        """Return a text from anywhere, as it may be read."""
        return mask_secrets(text, self._is_hidden).text

    def _is_hidden(self, secret: Secret) -> bool:
        settings = self._settings()
        return settings.hold_back and secret.digest not in settings.allow

    def _hidden_in(self, path: str) -> Callable[[Secret], bool]:
        """Return what says of the secrets of one file whether they are held back; history is read where it matters."""

        @cache
        def known() -> str:
            # A damaged history lets nothing in.
            with suppress(HistoryError):
                history, blob = self._find_history(), self._committed(path)
                if history is not None and blob is not None:
                    return text_of(history.store.read_blob(blob))
            return ""

        return lambda secret: self._is_hidden(secret) and secret.text not in known()

    def _committed(self, path: str) -> str | None:
        # A damaged history, of which `doctor` tells, lets nothing in.
        with suppress(HistoryError, NotFound):
            history = self._find_history()
            head = history.head() if history else None
            if history is not None and head is not None:
                return history.store.tree_blob(history.store.commit(head).tree, path)
        return None


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
