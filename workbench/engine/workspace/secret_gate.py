"""The gate that every change passes: nothing that looks like a secret is stored, unless a person let it in."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, TypeVar

from workbench.engine.errors import SecretFound
from workbench.engine.secrets.added import added_secrets
from workbench.engine.secrets.recognising import find_secrets, masked

if TYPE_CHECKING:
    from workbench.engine.history.plan import FileView, Plan
    from workbench.engine.secrets.recognising import Secret
    from workbench.engine.workspace.ground import Ground

T = TypeVar("T")


def without_secrets(planner: Callable[[FileView], Plan[T]], ground: Ground) -> Callable[[FileView], Plan[T]]:
    """Return a planner whose plans are refused where they would bring a secret into the files or their history.

    Args:
        planner: Of the change.
        ground: The open workspace.
    """

    def check(found: Collection[Secret], where: str) -> None:
        refuse(new_here(found, ground), where)

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


def new_here(found: Collection[Secret], ground: Ground) -> tuple[Secret, ...]:
    """Return the secrets that may not be stored as things are: nobody let them in, and history does not have them.

    What stands in some file already may be moved, quoted and corrected; in an edit that was kept out of history it
    does not stand yet.

    Args:
        found: Secrets.
        ground: The open workspace.
    """
    new = {each.text: each for each in found if each.digest not in ground.settings.secrets.allow}
    head = ground.history.head() if new else None
    if head is not None:
        files, committed = ground.raw_files, ground.history.at(head)
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
