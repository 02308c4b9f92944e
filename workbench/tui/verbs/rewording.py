"""What can be reworded: its texts, what comes of them, and what they would take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING

from workbench.display import words
from workbench.display.cells import cell_width, plain
from workbench.display.rows import budget_line
from workbench.display.words import counted, quoted
from workbench.engine.errors import Stale
from workbench.engine.values import dataclass
from workbench.tui.verbs.act import Act

if TYPE_CHECKING:
    from workbench.display.ink import Line
    from workbench.engine.results.memories import CoreView, LooseItem
    from workbench.engine.workspace import Workspace
    from workbench.tui.verbs.memories import Memory

TEXT = "text"
_LONGEST_LABEL = 24


@dataclass(frozen=True)
class Field:
    """A text that is written.

    Args:
        name: Its id.
        text: What it says to begin with.
        label: The word before it, or above it where it is long; empty where it needs none.
        many: Whether `enter` begins a line rather than saves.
        needed: Whether it may not be empty.
        choices: What `↑` and `↓` put there in turn.
        hint: What is shown while it is empty.
        kept: Whether a draft brings it back, rather than what it says to begin with.
    """

    name: str
    text: str
    label: str = ""
    many: bool = False
    needed: bool = True
    choices: tuple[str, ...] = ()
    hint: str = ""
    kept: bool = True


@dataclass(frozen=True)
class Written:
    """What was written: texts by the name of their field, and items of core memory that make room for it."""

    texts: Mapping[str, str]
    moving: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Return the text of the field `TEXT`, without space around it."""
        return self.texts.get(TEXT, "").strip()


@dataclass(frozen=True)
class Outlook:
    """What saving would do.

    Args:
        could_go: Items of core memory that may be ticked to make room.
        fits: Whether it would be taken as it is.
        warning: What saving would warn of, in a word or two; it would be taken all the same.
        room: How much of what could go would have to; empty where nothing has to.
        is_meter: Whether what is drawn is looked at while one types, and so stands above the text.
    """

    draw: Callable[[int], Sequence[Line]]
    could_go: tuple[LooseItem, ...] = ()
    fits: bool = True
    warning: str = ""
    room: str = ""
    is_meter: bool = False


@dataclass(frozen=True)
class Writing:
    """Something that is written in the editor.

    Args:
        key: The id under which a draft of it is kept.
        title: What it is, for the heading.
        save: What is done with what was written, or why it cannot be.
        look: Reads on a thread what saving would do, whenever the text changes.
        below: Draws what one wants to see meanwhile.
        gone: Reads what is written instead where the thing is gone by the time it is saved.
        suffix: Of the file that an editor outside gets.
    """

    key: str
    title: str
    thing: str
    fields: tuple[Field, ...]
    save: Callable[[Written], Act | str]
    look: Callable[[Workspace, Written], Outlook] | None = None
    below: Callable[[int], Sequence[Line]] | None = None
    gone: Callable[[Workspace], Writing] | None = None
    suffix: str = ".md"

    @property
    def texts(self) -> dict[str, str]:
        """Return what the fields say to begin with."""
        return {each.name: each.text for each in self.fields}


def memory_writing(workspace: Workspace, memory: Memory) -> Writing:
    """Return how a memory is reworded; called on a thread."""
    text = workspace.show(memory.id, count_access=False, history=False).text
    thing = memory.title or text
    # What has several lines is a file, or was written with them.
    field = Field(TEXT, words.corrected_by(text)[1], many="\n" in text.strip())
    if memory.store == "core":
        return _core_writing(workspace, memory.id, thing, field)
    corrects = memory.id.startswith("episode:")
    title = (
        "Correction; the old words stay in its history"
        if corrects
        else f"{words.kind(memory.store)}{' of ' + workspace.title(owner) if (owner := _owner(memory.id)) else ''}"
    )

    def save(written: Written) -> Act:
        def call(workspace: Workspace) -> str:
            changed = workspace.edit(
                memory.id, written.texts[TEXT] if field.many else written.text, expected=text
            )
            if changed.commit is not None and _is_superseded(workspace, memory.id, text):
                said = f"Corrected {quoted(text)} to {quoted(written.text)}."
            else:
                said = f"Corrected {quoted(thing)}." if corrects else f"Reworded {quoted(thing)}."
            return done(changed.commit, said)

        return Act(call)

    return Writing(memory.id, title, thing, (field,), save)


def _owner(memory_id: str) -> str:
    """Return the entity that a fact stands in; empty for everything else."""
    entity, anchor, _ = memory_id.partition("#^")
    return entity if anchor else ""


def _is_superseded(workspace: Workspace, fact: str, text: str) -> bool:
    """Return whether what a fact said is kept beside it as what held until now."""
    facts = workspace.graph(owner, depth=1).facts if (owner := _owner(fact)) else ()
    return any(
        each.retired and each.validity.superseded_by == fact and each.text.strip() == text.strip()
        for each in facts
    )


def _core_writing(workspace: Workspace, item_id: str, thing: str, field: Field) -> Writing:
    core = workspace.core()
    block = next(
        (block.name for block in core.blocks for item in block.items if item.id == item_id), "Core memory"
    )
    expected = field.text

    def save(written: Written) -> Act:
        def call(workspace: Workspace) -> str:
            now = workspace.show(item_id, count_access=False, history=False).text
            if now.strip() != expected.strip():
                raise Stale("It was changed meanwhile.", where=item_id)
            changed = workspace.core_replace(item_id, written.text, moving=written.moving)
            return done(changed.commit, f"Reworded {quoted(thing)}.", changed.warnings, len(written.moving))

        return Act(call)

    return Writing(
        item_id, block, thing, (field,), save, look=partial(core_outlook, core, block, item_id),
        gone=lambda workspace: new_core_writing(workspace.core(), block),
    )  # fmt: skip


def new_core_writing(core: CoreView, block: str) -> Writing:
    """Return how an item is added to a block of core memory."""

    def save(written: Written) -> Act:
        def call(workspace: Workspace) -> str:
            changed = workspace.core_add(block, written.text, moving=written.moving)
            return done(
                changed.commit,
                f"Added {quoted(written.text)} to {block}.",
                changed.warnings,
                len(written.moving),
            )

        return Act(call)

    return Writing(
        f"new:core:{block}", f"New in {block}", f"new item of {block}", (Field(TEXT, ""),), save,
        look=partial(core_outlook, core, block, None),
    )  # fmt: skip


def core_outlook(
    before: CoreView, name: str, item_id: str | None, workspace: Workspace, written: Written
) -> Outlook:
    """Read what core memory would hold with a text in it; called on a thread.

    Args:
        item_id: The item that is reworded, or None for a new one.
    """
    after = workspace.core_preview(name, written.text, id=item_id, moving=written.moving)
    block = next((each for each in after.blocks if each.name == name), None)
    was = next((each.tokens for each in before.blocks if each.name == name), 0)
    over = block is not None and block.budget is not None and block.tokens > block.budget

    def draw(width: int) -> list[Line]:
        lines = []
        label = min(_LONGEST_LABEL, cell_width(plain(name)) + 7)
        if block is not None and block.budget is not None:
            moved = f" {block.tokens - was:+,}" if block.tokens != was else ""
            lines.append(budget_line(name + moved, block.tokens, block.budget, width, label_width=label))
        moved = f" {after.tokens - before.tokens:+,}" if after.tokens != before.tokens else ""
        lines.append(budget_line("all" + moved, after.tokens, after.cap, width, label_width=label))
        return lines

    # As design document §4 has it: the cap is hard, the share of a block is what it should come to.
    shrinks = after.tokens < before.tokens
    warning = "over its budget, a guide" if over else "still over the cap" if shrinks else ""
    is_within = after.tokens <= after.cap
    beyond_budget = block.tokens - block.budget if block is not None and block.budget is not None else 0
    beyond = after.tokens - after.cap if not is_within else beyond_budget
    return Outlook(
        draw,
        after.could_go,
        fits=is_within or shrinks,
        warning=warning if over or not is_within else "",
        room=room_needed(beyond, [each.tokens for each in after.could_go if each.id not in written.moving]),
        is_meter=True,
    )


def room_needed(beyond: int, sizes: Sequence[int]) -> str:
    """Say how many of what could go, the best first, would make room for so many tokens; empty where none has to."""
    if beyond <= 0 or not sizes:
        return ""
    freed = list(accumulate(sizes))
    needed = next((at for at, size in enumerate(freed, 1) if size >= beyond), 0)
    if not needed:
        return (
            f"{counted(beyond, 'token')} too many; all of these free {freed[-1]:,}: shorten the text as well."
        )
    return f"{counted(beyond, 'token')} too many: the first {f'{needed} free' if needed > 1 else 'frees'} that much."


def done(commit: str | None, said: str, warnings: Sequence[str] = (), moved: int = 0) -> str:
    """Return the sentence of what was saved."""
    if commit is None:
        return " ".join(warnings) or "Nothing had to change."
    items = "" if not moved else " An item moved" if moved == 1 else f" {moved} items moved"
    room = f"{items} to the Timeline." if items else ""
    # A warning must not be cut off in a narrow terminal.
    return " ".join([f"{said}{room}", *warnings, "⸨undo⸩ undoes." if warnings else "⸨undo⸩ takes that back."])
