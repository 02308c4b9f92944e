"""What Today says of notes that nobody has read, and of an empty folder: what is there, and how to begin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display import words
from workbench.display.today import days_of, names_of, passages_of, reading_time
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.results.account import NotedLine
    from workbench.tui.places.today import Account

BEGIN_CORE = "begin:core"
_NOTHING_WRITTEN = "What is found waits in the Inbox; nothing is written until you accept it."


@dataclass(frozen=True)
class Notice:
    """A row that leads to another place, or to a command.

    Args:
        place: Where `enter` leads; empty where it runs a command.
        command: What `enter` runs instead.
        told: What one finds there, or what it does, a sentence each.
        holds: Titles of what it stands for.
        key: The command whose key does the same; drawn before the row.
        opening: The first passages of the notes, for the card.
        begins: Whether `enter` begins the history.
    """

    id: str
    title: str
    beside: str = ""
    place: str = ""
    row: str = ""
    command: str = ""
    told: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()
    key: str = ""
    opening: tuple[NotedLine, ...] = ()
    begins: bool = False

    @property
    def about(self) -> str:
        """Return nothing: it is about no memory."""
        return ""


def unread_sections(account: Account) -> Iterator[tuple[str, Sequence[Notice]]]:
    """Yield headings with their rows: what nobody has read, what is in it, and the other ways to begin."""
    if account.is_bare and account.is_early:
        return
    if account.is_unread and account.notes is not None:
        yield "Begin", [_reading(account)]
        yield "In it", _in_it(account)
        yield "Or", _ways(account)
    elif account.due.unprocessed:
        yield "New notes", [_reading(account)]
    elif account.is_bare and not account.entries:
        yield "Begin", _ways(account)
    if not account.has_history and account.entries:
        yield "History", [_history()]


def _reading(account: Account) -> Notice:
    """Return the row that has the notes read, with how long that takes and where they go."""
    count = account.due.unprocessed
    title = "Read them" if account.is_unread else f"Read {count:,} new {'note' if count == 1 else 'notes'}"
    if account.model:
        beside = f"by {account.model}"
        goes = "Nothing leaves this machine." if account.local else f"They are sent to {account.model}."
    else:
        size = account.notes.size if account.notes is not None else 0
        beside = reading_time(size) if size else ""
        goes = "Nothing leaves this machine."
        if account.notes is not None and not account.notes.whole:
            beside = "a minute or more"
    told = (
        _NOTHING_WRITTEN,
        goes,
        "Everything else works meanwhile; esc here stops it, with nothing proposed.",
    )
    opening = account.notes.opening if account.notes is not None else ()
    return Notice("read", title, beside, command="reflect", told=told, key="reflect", opening=opening)


def _in_it(account: Account) -> list[Notice]:
    notes = account.notes
    assert notes is not None
    told = ("The Timeline shows them as they are, day by day.",)
    rows = [Notice("in:notes", passages_of(notes), days_of(notes), place="timeline", told=told)]
    if notes.named:
        rows.append(
            Notice("in:names", names_of(notes), place="timeline", told=("The names they mention most.",))
        )
    missing = ["no core memory", "no people"]
    if not account.has_history:
        missing.append("no history")
    rows.append(
        Notice(
            "in:missing",
            ", ".join(missing),
            place="core",
            told=("All of it comes with what is learned, and with what you write down.",),
        )
    )
    return rows


def _ways(account: Account) -> list[Notice]:
    rows = []
    if account.entries:
        rows.append(
            Notice("begin:timeline", "Look at the notes as they are", place="timeline", key="place-timeline")
        )
    rows.append(
        Notice(
            BEGIN_CORE,
            "Write what every session begins with",
            command="new",
            key="new",
            told=("It becomes core memory, which the agent always has.",),
        )
    )
    found = (
        f"{words.listed(account.elsewhere)} {'is' if len(account.elsewhere) == 1 else 'are'} on this machine"
    )
    rows.append(
        Notice(
            "begin:import",
            "Bring memory in from somewhere else",
            found if account.elsewhere else "",
            command="import",
            key="import",
            told=("You see what would come before anything is written.",),
        )
    )
    return rows


def _history() -> Notice:
    return Notice(
        "begin:history",
        "Begin it now",
        "else the first change does",
        told=(
            "What is here is kept as it is now, so that every later change can be seen and taken back.",
            "Your files stay as they are; .audit comes beside them, and a log in memory/meta.",
        ),
        begins=True,
    )
