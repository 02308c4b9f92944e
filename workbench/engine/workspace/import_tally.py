"""What an import comes to, item by item: what is new, what is known, what is left out and why."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from workbench.engine.errors import InvalidInput, WorkbenchError
from workbench.engine.results.importing import LeftOut

if TYPE_CHECKING:
    from datetime import datetime

    from workbench.engine.importing import Note, Piece, Skipped, StoredFile
    from workbench.engine.importing.ledger import Ledger

WAYS: Final = ("memories", "episodes", "proposals")
MOST_TOLD: Final = 200


@dataclass
class Tally:
    """What an import has come to."""

    added: int = 0
    known: int = 0
    left_out: list[LeftOut] = field(default_factory=list)
    left_out_count: int = 0
    commits: list[str] = field(default_factory=list)
    files: dict[str, None] = field(default_factory=dict)
    ids: list[str] = field(default_factory=list)
    proposals: list[int] = field(default_factory=list)
    complete: bool = True

    def leave_out(self, skipped: Skipped) -> None:
        """Note that something is left out; the first 200 are told one by one."""
        self.left_out_count += 1
        if len(self.left_out) < MOST_TOLD:
            self.left_out.append(LeftOut(skipped.where, skipped.reason))


def check_way(imported_as: str) -> None:
    """Let pass what is a way to import.

    Raises:
        InvalidInput: It is none.
    """
    if imported_as not in WAYS:
        raise InvalidInput(
            f"“{imported_as[:40]}” is no way to import.", remedy=f"Ways are {', '.join(WAYS)}."
        )


def masked_but(text: str, allowed: Collection[str]) -> str:
    """Return a text without what looks like a secret, but for those that a person lets in."""
    from workbench.engine.secrets.recognising import find_secrets

    for secret in reversed(find_secrets(text)):
        if secret.digest not in allowed:
            text = f"{text[: secret.start]}[secret left out]{text[secret.start + len(secret.text) :]}"
    return text


def tell_secrets(item: Piece | Note, allowed: Collection[str], tally: Tally) -> None:
    """Tell of every secret in an item that it is left out."""
    from workbench.engine.importing import Note, Skipped
    from workbench.engine.secrets.recognising import find_secrets

    for secret in find_secrets(item.text if isinstance(item, Note) else item.body):
        if secret.digest not in allowed:
            told = f"What looks like a secret ({secret.kind}) is left out of it; the rest is stored."
            tally.leave_out(Skipped(str(item.place), told))


def has_no_secret_name(item: Piece | Note | StoredFile, allowed: Collection[str], tally: Tally) -> bool:
    """Tell whether memory may say where an item is from: what is named with a secret stays out, and is told."""
    from workbench.engine.importing import Skipped
    from workbench.engine.secrets.recognising import find_secrets

    name = str(item.place)
    found = [secret for secret in find_secrets(name) if secret.digest not in allowed]
    for secret in found:
        told = (
            f"Its name holds what looks like a secret ({secret.kind}). Rename it; or a person lets it in: "
            "workbench secrets allow "
        )
        tally.leave_out(Skipped(masked_but(name, allowed), told + secret.digest))
    return not found


def holds_no_secret(item: StoredFile, allowed: Collection[str], tally: Tally) -> bool:
    """Tell whether a file may be brought back; one with a secret may not, since files come back whole or not at all."""
    from workbench.engine.importing import Skipped
    from workbench.engine.secrets.added import text_of
    from workbench.engine.secrets.recognising import find_secrets

    found = [secret for secret in find_secrets(text_of(item.content)) if secret.digest not in allowed]
    for secret in found:
        told = f"It holds what looks like a secret ({secret.kind}). A person lets it in: workbench secrets allow "
        tally.leave_out(Skipped(str(item.place), told + secret.digest))
    return not found


def new_in(
    item: Piece | Note | StoredFile, ledger: Ledger, read: Callable[[str], bytes | None], *, note: bool = True
) -> tuple[str, str, datetime | None]:
    """Tell what kind of new thing an item is, with its text and moment; an empty kind where it is known.

    Args:
        item: What was read.
        ledger: The account.
        read: Reads a file of the workspace.
        note: Whether the item counts as known from now on.
    """
    from workbench.engine.importing import Note, Piece

    if isinstance(item, Note):
        known = ledger.knows(item)
        if note:
            ledger.notes[item.key] = ""
        return "" if known else "notes", item.text, item.moment
    if isinstance(item, Piece):
        rest = ledger.new_part(item)
        if note:
            ledger.pieces[item.key] = item.standing() if item.turns else ""
        return ("", "", None) if rest is None else ("episodes", rest.body, rest.moment)
    if item.key in ledger.pieces:
        return "", "", None
    try:
        same = read(item.path) == item.content
    except WorkbenchError:
        same = False
    return "" if same else "files", "", None
