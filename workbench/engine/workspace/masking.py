"""What may be read of files while a person has not decided on the secrets in them: all but those secrets.

A secret may be read once a person let it in (`secrets.allow`), and where history has it already.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from contextlib import suppress
from typing import TYPE_CHECKING

from workbench.engine.errors import HistoryError, NotFound
from workbench.engine.secrets.added import text_of
from workbench.engine.secrets.masking import mask_content, mask_secrets
from workbench.engine.secrets.recognising import find_secrets

if TYPE_CHECKING:
    from workbench.engine.history.plan import FileView
    from workbench.engine.secrets.recognising import Secret
    from workbench.engine.sessions.lines import Lines
    from workbench.engine.workspace.ground import Ground

_MOST_CLEAN = 20_000
_MOST_CLEAN_NAMES = 200_000


class Masking:
    """Masks what is held back wherever files are read for others than a person; safe from several threads.

    It takes no lock and reads no settings, so that it can be asked within a transaction of the catalog.

    Args:
        ground: The open workspace.
    """

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._clean: set[bytes] = set()
        self._clean_names: set[str] = set()

    def policy(self) -> str:
        """Return what a person decided so far, in short: with another one, files may have to be read again."""
        settings = self._ground.settings.secrets
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
        from workbench.engine.sessions.masked_lines import MaskedLines

        return MaskedLines(lines, self.text)

    def _is_hidden(self, secret: Secret) -> bool:
        settings = self._ground.settings.secrets
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
            return text_of(self._ground.history.store.read_blob(blob))
        return ""

    def _committed(self, path: str) -> str | None:
        ground = self._ground
        # A damaged history, of which `doctor` tells, lets nothing in.
        with suppress(HistoryError, NotFound):
            head = ground.history.head() if ground.has_history() else None
            if head is not None:
                store = ground.history.store
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
