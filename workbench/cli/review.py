"""The commands `reflect` and `review`: run a reflection, decide on its items one by one, apply them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.cli.command import group, text_of
from workbench.cli.edit import edit_in_editor
from workbench.cli.invocation import DONE, NOTHING_FOUND, Invocation, role_of
from workbench.display.changes import changed_lines
from workbench.display.conflicts import conflicts_lines
from workbench.display.reviews import (
    applied_lines,
    due_lines,
    handed_out_lines,
    item_lines,
    past_lines,
    preview_lines,
    progress_line,
    reflected_lines,
    rejections_lines,
    review_lines,
    trace_lines,
    waiting_elsewhere_lines,
)
from workbench.display.text import Page, ProgressLine, safe_line
from workbench.engine.errors import Ambiguous, InvalidInput, NotFound
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.kinds import Kind
from workbench.engine.results.memories import Changed
from workbench.engine.results.reviews import Applied, HandedOut, Review, ReviewItem
from workbench.engine.roles import Capability, parse_role, require

if TYPE_CHECKING:
    from workbench.engine.results.reviews import CycleProgress
    from workbench.engine.workspace import Workspace


ALL = "all"
_NUMBER = lazy_pattern(r"\d{1,6}")
_RANGE = lazy_pattern(r"(\d{1,6})-(\d{1,6})")
_WORD = lazy_pattern(r"\w+")
_WORDS = click.argument("words", metavar="ID…", nargs=-1)
_SECTION = click.option(
    "--section", "sections", multiple=True, metavar="WORD", help="Every undecided item of a section."
)
_YES = click.option("-y", "--yes", is_flag=True, help="With --apply: do it without asking.")
_TEXT = "text"
_HEADING = "# "


def chosen_items(
    review: Review, words: Sequence[str], sections: Sequence[str] = (), *, undecided: bool = True
) -> tuple[str, ...]:
    """Return the ids that words mean, each once, in the order they were said.

    What is named by number or id is meant in any case; a section or `all` means what nobody has decided yet, so
    that earlier decisions stay.

    Args:
        words: `all`, `r-012.3`, `3`, `1-4`, or a word of a section or kind, such as `archival`.
        undecided: Whether a section or `all` means what is undecided; else what is decided.

    Raises:
        NotFound: A word means no item.
        Ambiguous: A number is that of several items.
    """
    found: dict[str, None] = {}
    for word in words:
        found.update(dict.fromkeys(_meant(review, word, undecided=undecided)))
    for section in sections:
        found.update(dict.fromkeys(_open(_of_section(review, section), undecided=undecided)))
    return tuple(found)


def one_item(review: Review, word: str) -> str:
    """Return the id that a word means; an id that the proposal does not have comes back unchanged."""
    number = _NUMBER.fullmatch(word)
    return _numbered(review, int(word)).id if number else word


def item_named(review: Review, word: str) -> ReviewItem:
    """Return the item that a word means.

    Raises:
        NotFound: There is no such item, or nothing waits.
        Ambiguous: A number is that of several items.
    """
    require_items(review)
    wanted = one_item(review, word)
    item = next((each for each in review.items if each.id == wanted), None)
    if item is None:
        raise NotFound(
            f"There is no item {safe_line(wanted)[:40]}.",
            where=review.path,
            remedy="See `workbench review` for the list.",
        )
    return item


def require_items(review: Review) -> None:
    """Check that a proposal has items.

    Raises:
        NotFound: Nothing waits for decisions.
    """
    if not review.items:
        raise NotFound(
            "No reflection waits for decisions.",
            where=review.path,
            remedy="Let one propose something with: workbench reflect",
        )


def _meant(review: Review, word: str, *, undecided: bool) -> list[str]:
    if word.casefold() == ALL:
        return _open(review.items, undecided=undecided)
    if any(item.id == word for item in review.items):
        return [word]
    if _NUMBER.fullmatch(word):
        return [_numbered(review, int(word)).id]
    span = _RANGE.fullmatch(word)
    if span:
        first, last = sorted((int(span[1]), int(span[2])))
        inside = [item for item in review.items if first <= _number(item) <= last]
        if not inside:
            raise _nothing(word)
        return [item.id for item in _own(review, inside) or inside]
    if word.startswith("r-"):
        # The door knows which ids are near.
        return [word]
    return _open(_of_section(review, word), undecided=undecided)


def _of_section(review: Review, word: str) -> list[ReviewItem]:
    """Return the items whose section or kind has a word that begins with this one."""
    wanted = word.casefold().split()
    found = [
        item
        for item in review.items
        if all(
            any(each.startswith(part) for each in _WORD.findall(f"{item.section} {item.kind}".casefold()))
            for part in wanted
        )
    ]
    if not found:
        sections = dict.fromkeys(" ".join(_WORD.findall(item.section)) for item in review.items)
        raise NotFound(
            f"No item is meant by “{word[:40]}”.",
            remedy=f"Name an id, a number, 1-4, all, or a section: {', '.join(sections)}.",
        )
    return found


def _open(items: Sequence[ReviewItem], *, undecided: bool) -> list[str]:
    return [item.id for item in items if (item.decision == "undecided") == undecided]


def _numbered(review: Review, number: int) -> ReviewItem:
    found = [item for item in review.items if _number(item) == number]
    meant = _own(review, found) or found
    if len(meant) == 1:
        return meant[0]
    if found:
        raise Ambiguous(
            f"{number} may be {', '.join(item.id for item in found[:5])}.", remedy="Give the whole id."
        )
    raise _nothing(str(number))


def _own(review: Review, items: Sequence[ReviewItem]) -> list[ReviewItem]:
    """Return the items of the proposal's own reflection, without those that came over from an earlier one."""
    return [item for item in items if item.id.startswith(f"{review.id}.")]


def _number(item: ReviewItem) -> int:
    last = item.id.rpartition(".")[2]
    return int(last) if _NUMBER.fullmatch(last) else -1


def _nothing(word: str) -> NotFound:
    return NotFound(f"No item has the number {word}.", remedy="See `workbench review` for the list.")


def apply_now(
    invocation: Invocation, workspace: Workspace, decisions: Mapping[str, str] | None = None, *, yes: bool
) -> int:
    """Show what would be written, ask, and write it.

    Args:
        decisions: What is decided first, by item id, once it is agreed to.
        yes: Do it without asking.

    Returns:
        The exit code.
    """
    if not yes and not _agreed(invocation, workspace, decisions):
        return DONE
    if decisions:
        workspace.review_decide(decisions)
    applied: Applied = workspace.review_apply()
    return invocation.report(applied, applied_lines)


@contextmanager
def _deciding(invocation: Invocation) -> Iterator[Workspace]:
    """Open the workspace for a decision; who may take none is told so before anything is looked for.

    Raises:
        RoleRefused: The role is no person's.
    """
    require(parse_role(role_of(invocation.role)), Capability.DECIDE_REVIEW, doing="decide on a reflection")
    with invocation.open() as workspace:
        yield workspace


def _agreed(invocation: Invocation, workspace: Workspace, decisions: Mapping[str, str] | None) -> bool:
    """Show what applying would write and ask whether it shall be; True where there is nothing to ask about.

    Raises:
        ConfirmationNeeded: There is no terminal to ask at; with JSON the refusal is part of the preview.
    """
    preview = workspace.review_preview(decisions)
    if not preview.files:
        return True
    kept = f" and remember {len(preview.rejected)} as rejected" if preview.rejected else ""
    many = "item" if len(preview.applied) == 1 else "items"
    question = f"Apply {len(preview.applied)} approved {many}{kept}?"
    return invocation.agree(question, preview, preview_lines)


def _decide(
    invocation: Invocation,
    decision: str,
    words: Sequence[str],
    sections: Sequence[str],
    *,
    apply: bool = False,
    yes: bool = False,
) -> int:
    if not (words or sections):
        raise click.UsageError("Name the items, or say all.", click.get_current_context())
    with _deciding(invocation) as workspace:
        review = workspace.review()
        require_items(review)
        ids = chosen_items(review, words, sections, undecided=decision != "undecided")
        decisions = dict.fromkeys(ids, decision)
        if apply:
            return apply_now(invocation, workspace, decisions, yes=yes)
        changed = workspace.review_decide(decisions) if decisions else Changed(None)
        after = None if invocation.json else workspace.review()

    def draw(page: Page, changed: Changed) -> list[str]:
        done = "Took back the decision on" if decision == "undecided" else decision.capitalize()
        named = ", ".join(map(safe_line, ids)) if len(ids) < 5 else f"{len(ids)} items"
        lines = changed_lines(page, changed, f"{done} {named}.", "They were decided so already.")
        if after is not None:
            decided = any(item.decision in ("approved", "rejected") for item in after.items)
            hint = "   Apply: workbench review apply" if decided else ""
            lines.append(page.paint(f"  {progress_line(after)}{hint}", "quiet"))
        return lines

    waits = [
        f"{item.id} waits: {item.waits}{_way_out(item)}"
        for item in (after.items if after else ())
        if item.waits and item.id in ids
    ]
    return invocation.report(replace(changed, warnings=(*changed.warnings, *waits)), draw)


def _way_out(item: ReviewItem) -> str:
    """Return the command that says in words what an approval alone leaves open; empty where nothing is."""
    fields = item.fields or {}
    if item.kind == Kind.CONTRADICTION and fields.get("resolve", "ask").casefold() == "ask":
        return f" Say it with: workbench review resolve {item.id} this"
    if item.kind == Kind.QUESTION and fields.get("answer", "…") in ("", "…"):
        return f" Give it with: workbench review answer {item.id} TEXT"
    return ""


def _field(pair: str) -> tuple[str, str]:
    name, equals, value = pair.partition("=")
    if not equals or not name.strip():
        raise click.BadParameter("Write NAME=VALUE, such as since=2026-02-03.", param_hint="--field")
    return name.strip(), value


def _edit_in_editor(invocation: Invocation, id_: str, decision: str | None) -> int:
    with _deciding(invocation) as workspace:
        item = item_named(workspace.review(), id_)
        before = {_TEXT: item.after, **(item.fields or {})}
        draft = "\n\n".join(f"{_HEADING}{name}\n{text}" for name, text in before.items()) + "\n"

        def write_back(after: str) -> Changed:
            parts = _parts(after, tuple(before))
            changed = {name: text for name, text in parts.items() if text != before[name].strip()}
            gone = {name: "" for name in before if name not in parts and name != _TEXT}
            text = changed.pop(_TEXT, None)
            return workspace.review_edit(item.id, text, {**changed, **gone}, decision)

        changed = edit_in_editor(workspace.settings.editor, draft, write_back)
    return invocation.report_change(changed, f"Changed {safe_line(item.id)}.")


def _parts(text: str, names: tuple[str, ...]) -> dict[str, str]:
    """Split what a person saved into the text below each heading that names a part."""
    parts: dict[str, list[str]] = {}
    current: list[str] = []
    for line in text.split("\n"):
        name = line.removeprefix(_HEADING).strip() if line.startswith(_HEADING) else ""
        if name in names and name not in parts:
            current = parts.setdefault(name, [])
        elif parts:
            current.append(line)
        elif line.strip():
            raise InvalidInput(
                "The headings are gone, so it is not clear what is what.",
                remedy=f"Keep the lines {', '.join(_HEADING + each for each in names)}.",
            )
    return {name: "\n".join(lines).strip() for name, lines in parts.items()}


review_command = group(
    "review",
    default="list",
    help="A reflection only proposes; you decide, item by item, here, in the bench, or by ticking the boxes of "
    "memory/meta/pending-reflection.md in any editor. ID is r-012.3 or just 3; where several are taken, also 1-4, "
    "all, or a word of a section or kind such as “archival”, which means what is still undecided.",
    answers="What does the agent want to learn, and may it?",
    examples=("workbench review", "workbench review approve 1-4", "workbench review apply"),
)


@review_command.subcommand("list", short_help="List what is proposed", hidden=True)
def list_items(invocation: Invocation) -> int:
    with invocation.open() as workspace:
        inbox = workspace.inbox()
    # Where they cannot be read, the command that is named says what is wrong.
    differing = len(inbox.conflicts) + bool(inbox.unreadable)

    def draw(page: Page, review: Review) -> list[str]:
        elsewhere = waiting_elsewhere_lines(page, inbox)
        return [*(review_lines(page, review) if review.items or not elsewhere else ()), *elsewhere]

    return invocation.report(
        inbox.review, draw, code=DONE if inbox.review.items or differing else NOTHING_FOUND
    )


@review_command.subcommand(
    "conflicts",
    short_help="List what two devices changed differently",
    answers="Two devices changed the same; what did each write?",
    examples=("workbench review conflicts", "workbench review conflicts --json"),
)
def conflicts(invocation: Invocation) -> int:
    """Both texts are kept until you decide: one in the file, the other beside it, on every device."""
    with invocation.open() as workspace:
        found = workspace.conflicts()
    return invocation.report(found, conflicts_lines, code=DONE if found.conflicts else NOTHING_FOUND)


@review_command.subcommand(
    "settle",
    short_help="Decide between what two devices wrote",
    answers="Which of the two holds?",
    examples=("workbench review settle c-0123456789 that",),
)
@click.argument("id_", metavar="ID")
@click.argument("side", type=click.Choice(("this", "that", "both")))
def settle(invocation: Invocation, id_: str, side: str) -> int:
    """This is in the file now, that waits. It is written at once; other devices learn of it when they sync."""
    with invocation.open() as workspace:
        changed = workspace.conflict_settle(id_, side)
    return invocation.report_change(changed, f"Decided {safe_line(id_)}: {side}.")


@review_command.subcommand(
    "show",
    short_help="Show one item with why, and the words it rests on",
    answers="Why does it want to learn this, and who said so?",
    examples=("workbench review show 3",),
)
@click.argument("id_", metavar="ID")
def show(invocation: Invocation, id_: str) -> int:
    """What changes is shown as a diff; of a stale item, what was proposed on and what stands there now."""
    with invocation.open() as workspace:
        item = item_named(workspace.review(), id_)
    return invocation.report(item, item_lines)


@review_command.subcommand(
    "approve",
    short_help="Approve items",
    answers="This is right; how do I say so?",
    examples=("workbench review approve 3", "workbench review approve all --apply"),
)
@_WORDS
@_SECTION
@click.option("--apply", is_flag=True, help="Apply at once what is approved.")
@_YES
def approve(
    invocation: Invocation, words: tuple[str, ...], sections: tuple[str, ...], apply: bool, yes: bool
) -> int:
    """Nothing is written to memory before `apply`."""
    return _decide(invocation, "approved", words, sections, apply=apply, yes=yes)


@review_command.subcommand(
    "reject",
    short_help="Reject items, which then stay away",
    answers="This is wrong; how do I keep it out?",
    examples=("workbench review reject 2 5", "workbench review reject all --apply"),
)
@_WORDS
@_SECTION
@click.option("--apply", is_flag=True, help="Apply at once what is decided.")
@_YES
def reject(
    invocation: Invocation, words: tuple[str, ...], sections: tuple[str, ...], apply: bool, yes: bool
) -> int:
    """Once applied, the same is not proposed again without new evidence; see `review rejected`."""
    return _decide(invocation, "rejected", words, sections, apply=apply, yes=yes)


@review_command.subcommand(
    "defer",
    short_help="Put items off until the next reflection",
    answers="I cannot say yet; how do I put it off?",
    examples=("workbench review defer 4",),
)
@_WORDS
@_SECTION
def defer(invocation: Invocation, words: tuple[str, ...], sections: tuple[str, ...]) -> int:
    """They come again with the next reflection."""
    return _decide(invocation, "deferred", words, sections)


@review_command.subcommand(
    "undecide",
    short_help="Take decisions back before they are applied",
    answers="I decided too fast; how do I open it again?",
    examples=("workbench review undecide 3", "workbench review undecide all"),
)
@_WORDS
@click.option("--section", "sections", multiple=True, metavar="WORD", help="Every decided item of a section.")
def undecide(invocation: Invocation, words: tuple[str, ...], sections: tuple[str, ...]) -> int:
    """What is applied already is taken back with `revert` or `rollback --reflection`."""
    return _decide(invocation, "undecided", words, sections)


@review_command.subcommand(
    "edit",
    short_help="Reword an item before approving it",
    answers="This is nearly right; how do I correct it?",
    examples=(
        'workbench review edit 3 --text "Prefers green tea" --approve',
        "workbench review edit 3 --field since=2026-02",
    ),
)
@click.argument("id_", metavar="ID")
@click.option("--text", help="The new text; “-” reads it from stdin.")
@click.option(
    "--field", "pairs", multiple=True, metavar="NAME=VALUE", help="A field, such as since or steps."
)
@click.option("--approve", is_flag=True, help="Approve it as changed.")
def edit(invocation: Invocation, id_: str, text: str | None, pairs: tuple[str, ...], approve: bool) -> int:
    """Without a text or field it opens in $VISUAL or $EDITOR. An empty VALUE takes the field out."""
    fields = dict(map(_field, pairs))
    decision = "approved" if approve else None
    if text is None and not fields:
        return _edit_in_editor(invocation, id_, decision)
    said = text_of((text,), what="The text") if text is not None else None
    with _deciding(invocation) as workspace:
        item = item_named(workspace.review(), id_)
        changed = workspace.review_edit(item.id, said, fields, decision)
    return invocation.report_change(changed, f"Changed {safe_line(item.id)}.")


@review_command.subcommand(
    "answer",
    short_help="Answer a question, and approve that the answer is remembered",
    answers="It asks me something; where do I answer?",
    examples=('workbench review answer 9 "Yes, it is still relevant"',),
)
@click.argument("id_", metavar="ID")
@click.argument("words", metavar="TEXT", nargs=-1, required=True)
def answer(invocation: Invocation, id_: str, words: tuple[str, ...]) -> int:
    """TEXT may be “-” for stdin. The answer becomes a memory when it is applied."""
    text = text_of(words, what="The answer")
    with _deciding(invocation) as workspace:
        item = item_named(workspace.review(), id_)
        changed = workspace.review_edit(item.id, fields={"answer": text}, decision="approved")
    return invocation.report_change(changed, f"Answered {safe_line(item.id)}; apply to remember it.")


@review_command.subcommand(
    "resolve",
    short_help="Say which side of a contradiction holds, and approve it so",
    answers="Two memories disagree; how do I say which is right?",
    examples=("workbench review resolve 1 that", "workbench review resolve 1 both"),
)
@click.argument("id_", metavar="ID")
@click.argument("side", type=click.Choice(("this", "that", "both", "ask")))
def resolve(invocation: Invocation, id_: str, side: str) -> int:
    """This is the first statement, that the second. Both keeps both, with the scope or dates that you give them by
    `review edit ID --field this=…`; ask leaves it open.
    """
    with _deciding(invocation) as workspace:
        item = item_named(workspace.review(), id_)
        decision = "undecided" if side == "ask" else "approved"
        changed = workspace.review_edit(item.id, fields={"resolve": side}, decision=decision)
    return invocation.report_change(changed, f"Resolved {safe_line(item.id)}: {side}.")


@review_command.subcommand(
    "apply",
    short_help="Write what is approved into memory, in one commit",
    answers="I have decided; how does it become memory?",
    examples=("workbench review apply --dry-run", "workbench review apply --yes"),
)
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
@click.option("-y", "--yes", is_flag=True, help="Do it without asking.")
def apply_decisions(invocation: Invocation, dry_run: bool, yes: bool) -> int:
    """Shows what will be written, then asks. Rejected items are remembered as rejected; undecided ones stay."""
    with invocation.open() if dry_run else _deciding(invocation) as workspace:
        require_items(workspace.review())
        if not dry_run:
            return apply_now(invocation, workspace, yes=yes)
        preview = workspace.review_preview()
    return invocation.report(preview, preview_lines)


@review_command.subcommand(
    "rejected",
    short_help="List what you rejected, which stays away",
    answers="Why does it never propose this any more?",
    examples=("workbench review rejected", "workbench review rejected --forget r-003.2"),
)
@click.option("--forget", "ids", multiple=True, metavar="ID", help="Allow this to be proposed again.")
def rejected(invocation: Invocation, ids: tuple[str, ...]) -> int:
    """A rejected claim comes back only with evidence that is newer than the rejection, and says so then."""
    with invocation.open() as workspace:
        if ids:
            changed = workspace.review_allow(*ids)
            names = ", ".join(map(safe_line, ids))
            return invocation.report_change(changed, f"{names} may be proposed again.")
        found = workspace.review_rejected()
    return invocation.report(found, rejections_lines, code=DONE if found.rejections else NOTHING_FOUND)


@review_command.subcommand(
    "past",
    short_help="List past reflections: what was written, declined, or taken back",
    answers="Which reflections were there, and can I take one back?",
    examples=("workbench review past", "workbench review past --json"),
)
def past(invocation: Invocation) -> int:
    """One is taken back whole with `rollback --reflection ID`; what was done since elsewhere stays."""
    with invocation.open() as workspace:
        found = workspace.reflections()
    return invocation.report(found, past_lines, code=DONE if found.reflections else NOTHING_FOUND)


reflect_command = group(
    "reflect",
    default="run",
    help="Reflection reads what no reflection has read yet and writes one proposal, memory/meta/pending-reflection.md. "
    "Nothing of it is applied until a person decides: workbench review. Without a model, rules reflect; or an agent's "
    "own model does, task by task: --hand-out prints the next one, --take-in takes its answer.",
    answers="What should the agent learn from the last days?",
    examples=(
        "workbench reflect",
        "workbench reflect --if-due",
        "workbench reflect --hand-out --json",
        "workbench reflect --take-in answer.json --json",
        "workbench reflect due --json",
    ),
)


@reflect_command.subcommand("run", short_help="Reflect on what is new, and propose", hidden=True)
@click.option("--if-due", is_flag=True, help="Only where a reflection is due; for cron.")
@click.option("--session-end", is_flag=True, help="Tell that a session has ended; implies --if-due.")
@click.option("--renew", is_flag=True, help="Although a proposal waits; what is undecided in it comes again.")
@click.option("--hand-out", is_flag=True, help="Print the next task for the agent's own model instead.")
@click.option(
    "--take-in",
    metavar="FILE",
    help="Take in the answer to that task, - for stdin, and print what follows: the next task, or the proposal.",
)
def run(
    invocation: Invocation,
    if_due: bool,
    session_end: bool,
    renew: bool,
    hand_out: bool,
    take_in: str | None,
) -> int:
    if hand_out or take_in is not None:
        if if_due or session_end or renew or (hand_out and take_in is not None):
            raise InvalidInput(
                "--hand-out and --take-in go alone.",
                remedy="Leave the other options out, and use one of the two.",
            )
        return _with_agent(invocation, take_in)
    occasion = "session-end" if session_end else "schedule" if if_due else "manual"

    def told(progress: CycleProgress) -> None:
        steps = f" {progress.done:,} of {progress.total:,}" if progress.total else ""
        line.tell(f"Reflecting: {progress.phase}{steps}, {progress.tokens:,} of {progress.cap:,} tokens")

    with invocation.open() as workspace, ProgressLine() as line:
        reflected = workspace.reflect(
            if_due=if_due or session_end, trigger=occasion, renew=renew, progress=told
        )
    return invocation.report(reflected, reflected_lines)


def _read(name: str) -> str:
    """Return what a file says, or stdin where its name is “-”."""
    if name == "-":
        return text_of((name,), what="The answer")
    try:
        return Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"The answer cannot be read: {error}.",
            where=name,
            remedy="Name a file with the answer as JSON, or -.",
        ) from error


def _with_agent(invocation: Invocation, answer: str | None) -> int:
    """Hand out the next task, or take an answer in first; prints the task, or what was proposed in the end."""
    text = None if answer is None else _read(answer)
    with invocation.open() as workspace:
        told = workspace.reflect_hand_out() if text is None else workspace.reflect_take_in(text)
    if isinstance(told, HandedOut):
        return invocation.report(told, handed_out_lines)
    return invocation.report(told, reflected_lines)


@reflect_command.subcommand(
    "due",
    short_help="Say whether a reflection is due, and why",
    answers="Will the next cron run reflect?",
    examples=("workbench reflect due",),
)
def due(invocation: Invocation) -> int:
    return invocation.ask(lambda it: it.reflection_due(), due_lines)


@reflect_command.subcommand(
    "trace",
    short_help="Print what a model was asked in a cycle, and what it answered",
    help="Kept in the cache of this machine, beside the index; clearing the cache or purging history deletes it.",
    answers="Why did the model propose this?",
    examples=("workbench reflect trace r-004",),
)
@click.argument("reflection", metavar="ID")
def trace(invocation: Invocation, reflection: str) -> int:
    with invocation.open() as workspace:
        exchanges = workspace.reflection_trace(reflection)

    found = {"id": reflection, "exchanges": list(exchanges)}
    code = DONE if exchanges else NOTHING_FOUND
    return invocation.report(found, lambda page, _: trace_lines(page, exchanges), code=code)
