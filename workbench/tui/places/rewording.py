"""What can be reworded of what waits: the parts of a change, the words of a proposal, the answer to a question."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from workbench.display.card import MEASURE
from workbench.display.cells import wrap
from workbench.display.contradiction import HEAD
from workbench.display.deciding import block_in, block_of
from workbench.display.ink import ink
from workbench.display.markdown import unlinked
from workbench.display.words import answer_effect, quoted, told_days
from workbench.engine import layout
from workbench.engine.reflection.kinds import Kind, kind_of
from workbench.tui.places.ticks import Unreadable, cannot, keeping
from workbench.tui.verbs.act import Act
from workbench.tui.verbs.rewording import TEXT, Field, Writing, core_outlook, done

if TYPE_CHECKING:
    from workbench.display.ink import Line
    from workbench.engine.results.reviews import ReviewItem
    from workbench.engine.workspace import Workspace
    from workbench.tui.places.ticks import Waiting
    from workbench.tui.verbs.rewording import Written

# For each kind its fields: name, label, whether it has lines, whether it may be empty.
_FIELDS: Final[dict[Kind, tuple[tuple[str, str, bool, bool], ...]]] = {
    Kind.FACT: ((TEXT, "fact", False, False), ("since", "holds since", False, True)),
    Kind.ENTITY: (
        (TEXT, "name", False, False),
        ("aliases", "also called; separated by ;", False, True),
        ("summary", "summary", False, True),
    ),
    Kind.RELATION: ((TEXT, "relation", False, False), ("since", "holds since", False, True)),
    Kind.SUPERSESSION: (
        (TEXT, "new value", False, False),
        ("since", "holds since", False, True),
        ("until", "the old one held until", False, True),
    ),
    Kind.CONTRADICTION: (("this", "the older", False, False), ("that", "the newer", False, False)),
    Kind.PROCEDURE: (
        (TEXT, "title", False, False),
        ("when", "when to do it", False, True),
        ("steps", "steps, one a line", True, False),
    ),
    Kind.CORE_CHANGE: ((TEXT, "", False, False),),
    Kind.PROMOTION: ((TEXT, "", False, False),),
    Kind.INSIGHT: ((TEXT, "", False, False),),
    Kind.QUESTION: (("answer", "", False, False),),
}
_TAKEN_OR_LEFT: Final = "This is taken or declined as it is."


def waiting_writing(workspace: Workspace, row: Waiting) -> Writing | str:
    """Return how something that waits is reworded, or why it cannot be; called on a thread."""
    if row.held is not None:
        return "A secret is stored, left out or erased; it is not edited."
    if row.conflict is not None:
        return file_writing(workspace, Unreadable(row.id, row.title, row.conflict.path, ()))
    if row.item is not None:
        return _item_writing(workspace, row, row.item)
    if len(row.proposals) != 1:
        return "Two proposals are not reworded at once; take one, and edit what is stored."
    return _proposal_writing(row)


def file_writing(workspace: Workspace, file: Unreadable) -> Writing:
    """Return how a file that cannot be read in part is mended; called on a thread."""
    place = layout.resolve(workspace.root, file.path)
    text = place.read_bytes().decode("utf-8", "surrogateescape") if place.is_file() else ""

    def save(written: Written) -> Act:
        def call(workspace: Workspace) -> str:
            changed = workspace.edit_file(file.path, written.texts[TEXT], expected=text)
            return done(changed.commit, f"Changed {file.path}.", changed.warnings)

        return Act(call)

    return Writing(file.id, file.path, file.path, (Field(TEXT, text, many=True, needed=False),), save)


def _proposal_writing(row: Waiting) -> Writing:
    proposal = row.proposals[0]

    def save(written: Written) -> Act:
        text = None if written.text == proposal.content.strip() else written.text
        mine = replace(row, tick="newer" if row.is_clash else "accept", text=text)
        call = keeping((mine,))

        def keep(workspace: Workspace) -> str:
            call(workspace)
            return _accepted(written.text)

        return Act(keep)

    text = row.text or proposal.content
    field = Field(TEXT, text, many="\n" in text.strip())
    return Writing(
        row.id, f"What {proposal.from_ or 'nobody'} proposes, in your words", row.title, (field,), save
    )


def _item_writing(workspace: Workspace, row: Waiting, item: ReviewItem) -> Writing | str:
    kind = kind_of(item.kind)
    if kind is None or kind not in _FIELDS:
        return _TAKEN_OR_LEFT
    said = {TEXT: item.after, **(item.fields or {})}
    if said.get("answer", "").strip() in ("…", "..."):
        said["answer"] = ""
    fields = tuple(
        Field(name, said.get(name, ""), label, many=many, needed=not may_be_empty)
        for name, label, many, may_be_empty in _FIELDS[kind]
    )
    answers = kind is Kind.QUESTION
    # Whoever rewords what is proposed wants it, unless it is still to say which of two.
    accepts = answers or not cannot(row, "accept")

    def save(written: Written) -> Act:
        changed = {name: text.strip() for name, text in written.texts.items() if text != said.get(name, "")}
        text = changed.pop(TEXT, None)

        def call(workspace: Workspace) -> str:
            edited = workspace.review_edit(item.id, text, changed, decision="approved" if accepts else None)
            own = _accepted(text or row.title) if accepts else f"Reworded {quoted(row.title)}."
            return " ".join((f"Answered {quoted(item.after)}." if answers else own, *edited.warnings))

        return Act(call)

    titles = {Kind.QUESTION: "Your answer", Kind.CONTRADICTION: HEAD, Kind.CORE_CHANGE: block_of(item.target)}
    look = None
    if kind in (Kind.CORE_CHANGE, Kind.PROMOTION):
        core = workspace.core()
        block = block_in(core, item.target)
        if block is not None:
            look = partial(core_outlook, core, block, item.target if item.target.count(":") == 2 else None)
    title = titles.get(kind, item.kind.capitalize())
    below = partial(_asked, item) if answers else None
    return Writing(row.id, title, row.title, fields, save, look=look, below=below)


def _accepted(text: str) -> str:
    return f"Will accept in your words: {quoted(text)}. ⸨write⸩ writes it; ⸨undo⸩ takes words and tick back."


def _asked(item: ReviewItem, width: int) -> list[Line]:
    """Draw the question that is being answered, why it is asked, and what an answer does."""
    width = min(width, MEASURE)
    asked = [(ink(part, "strong"),) for part in wrap(told_days(unlinked(item.after)), width)]
    block = block_of(item.target)
    does = answer_effect(block, writes="writes" in (item.fields or {})) if block else ""
    return [
        *asked,
        *((ink(part, "soft"),) for part in wrap(unlinked(item.reason), width)),
        *((ink(part),) for part in wrap(does, width)),
    ]
