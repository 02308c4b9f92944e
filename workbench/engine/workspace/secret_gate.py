"""The gate that every change passes: nothing that looks like a secret is stored, unless a person let it in."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, TypeVar

from workbench.engine.errors import SecretFound
from workbench.engine.secrets import added_secrets, find_secrets, masked

if TYPE_CHECKING:
    from workbench.engine.history import FileView, Plan
    from workbench.engine.secrets import Secret

T = TypeVar("T")


def without_secrets(
    planner: Callable[[FileView], Plan[T]], allowed: Collection[str], files: FileView
) -> Callable[[FileView], Plan[T]]:
    """Return a planner whose plans are refused where they would bring a secret into the files or their history.

    What stands in some file already may be moved, quoted and corrected: history has it.

    Args:
        planner: Of the change.
        allowed: Digests of secrets that a person lets in.
        files: All tracked files as they are.
    """

    def is_new(secret: Secret) -> bool:
        if secret.digest in allowed:
            return False
        said = secret.text.encode("utf-8", "surrogatepass")
        return not any(said in (files.read(path) or b"") for path in files.list(""))

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
