"""Screens edits from outside before history takes them in: what must not be remembered is held back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from workbench.engine.errors import SecretFound
from workbench.engine.history.git_store import GitStore, blob_hash
from workbench.engine.history.journal import sync_folder
from workbench.engine.history.views import read_work_file
from workbench.engine.history.work_files import Staging, cannot_write, stamp_of


@dataclass(frozen=True)
class Edit:
    """A file that was written from outside.

    Args:
        path: Workspace-relative.
        after: The content on disk.
        before: Gives the content that history has, or None.
    """

    path: str
    after: bytes
    before: Callable[[], bytes | None]


@dataclass(frozen=True)
class Screened:
    """What history may have of an edited file.

    Args:
        content: What is committed and, where it is another one, what the file reads from now on; None leaves the
            file as it is and out of history.
        told: What was held back, and who decides.
    """

    content: bytes | None
    told: str


# Looks at edits; says by path what is held back of which. What it wants replaced it has kept elsewhere already.
Screen = Callable[[Sequence[Edit]], Mapping[str, Screened]]


def let_in(_edits: Sequence[Edit]) -> Mapping[str, Screened]:
    """Hold nothing back."""
    return {}


@dataclass(frozen=True)
class ScreenedEdits:
    """What is left of edits.

    Args:
        edits: New content by path as it is on disk now, None for a file that is gone.
        cut: What was told, by path, of files that read otherwise now.
        left_out: What was told, by path, of files that stay out of history.
    """

    edits: Mapping[str, bytes | None]
    cut: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return a line for each file of which something was held back."""
        return (*self.cut.values(), *self.left_out.values())


def screen_edits(
    root: Path,
    store: GitStore,
    tree: str | None,
    edits: Mapping[str, bytes | None],
    screen: Screen,
    new_id: Callable[[], str],
) -> ScreenedEdits:
    """Ask about the edited files, and give those their new content of which something is held back.

    A file that somebody saves at that very moment is left for the next look.

    Args:
        root: The workspace folder, absolute.
        store: The history.
        tree: The root tree the edits were made to; None for nothing.
        edits: New content by path, None for a file that is gone.
        screen: Whom to ask.
        new_id: Gives a fresh transaction id.

    Raises:
        StorageError: A file cannot be written; it is as it was.
    """
    blobs = {path: store.tree_blob(tree, path) if tree else None for path in edits}
    screened = screen(
        [
            Edit(path, content, partial(_content, store, blobs[path]))
            for path, content in edits.items()
            if content is not None
        ]
    )
    kept = {path: content for path, content in edits.items() if path not in screened}
    cut: dict[str, str] = {}
    left_out: dict[str, str] = {}
    for path, found in screened.items():
        before = edits[path]
        if found.content is None or before is None:
            left_out[path] = found.told
        elif replace_unless_edited(root, path, before, found.content, new_id()):
            cut[path] = found.told
            if blob_hash(found.content) != blobs[path]:
                kept[path] = found.content
    return ScreenedEdits(dict(sorted(kept.items())), cut, left_out)


def refuse_left_out(left_out: Mapping[str, str], changing: Collection[str]) -> None:
    """Refuse to write a file whose edit from outside is kept out of history: it would go in with the change.

    Raises:
        SecretFound: A person decides first.
    """
    for path in sorted(left_out.keys() & set(changing)):
        raise SecretFound(left_out[path], where=path, remedy="See: workbench secrets")


def replace_unless_edited(root: Path, path: str, before: bytes, after: bytes, transaction: str) -> bool:
    """Give a file new content if it still reads as it did; tell whether it was done.

    Raises:
        StorageError: It cannot be written.
    """
    staging = Staging(root, transaction)
    try:
        # The stamp is older than the content, so a change between the two is noticed.
        stamp = stamp_of(root / path)
        if read_work_file(root, path) != before:
            return False
        staging.lay(path, after)
        if stamp_of(root / path) != stamp:
            return False
        if not staging.place(path, before):
            return False
        sync_folder((root / path).parent)
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        staging.discard()
    return True


def _content(store: GitStore, blob: str | None) -> bytes | None:
    return store.read_blob(blob) if blob else None
