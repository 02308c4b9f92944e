"""The gate that every change passes: nothing that looks like a secret is stored, unless a person let it in."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, TypeVar

from workbench.engine.errors import SecretFound
from workbench.engine.secrets import added_secrets, find_secrets, masked

if TYPE_CHECKING:
    from workbench.engine.history import FileView, Plan
    from workbench.engine.secrets import Secret
    from workbench.engine.workspace.ground import Ground

T = TypeVar("T")


def without_secrets(planner: Callable[[FileView], Plan[T]], ground: Ground) -> Callable[[FileView], Plan[T]]:
    """Return a planner whose plans are refused where they would bring a secret into the files or their history.

    Args:
        planner: Of the change.
        ground: The open workspace.
    """

    def is_new(secret: Secret) -> bool:
        return is_new_here(secret, ground)

    def plan(view: FileView) -> Plan[T]:
        planned = planner(view)
        for change in planned.changes:
            if change.content is not None:
                if view.read(change.path) is None:
                    refuse([each for each in find_secrets(change.path) if is_new(each)], change.path)
                found = added_secrets(view.read(change.path), change.content)
                refuse([each for each in found if is_new(each)], change.path)
        for words in (planned.summary, *(event.summary for event in planned.events)):
            refuse([each for each in find_secrets(words) if is_new(each)], planned.file)
        return planned

    return plan


def is_new_here(secret: Secret, ground: Ground) -> bool:
    """Tell whether a secret may not be stored as things are: nobody let it in, and history does not have it.

    What stands in some file already may be moved, quoted and corrected; in an edit that was kept out of history it
    does not stand yet.

    Args:
        secret: What was found.
        ground: The open workspace, with a history.
    """
    if secret.digest in ground.settings.secrets.allow:
        return False
    head = ground.history.head()
    if head is None:
        return True
    said, files, committed = (
        secret.text.encode("utf-8", "surrogatepass"),
        ground.files,
        ground.history.at(head),
    )
    return not any(
        said in (files.read(path) or b"") and said in (committed.read(path) or b"") for path in files.list("")
    )


def refuse(found: Collection[Secret], where: str) -> None:
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
