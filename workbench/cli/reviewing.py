"""The commands by which a person decides on a reflection, item by item, and applies what they decided."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from workbench.cli.command import group
from workbench.cli.failure import describe
from workbench.cli.invocation import DONE, NOTHING_FOUND, Invocation
from workbench.cli.printing import Page, page_for, safe_line, write
from workbench.cli.review_words import chosen_items, one_item
from workbench.cli.text_argument import text_of
from workbench.engine.errors import ConfirmationNeeded, InvalidInput, NotFound, WorkbenchError
from workbench.engine.results import Applied, Changed, Review, ReviewItem

if TYPE_CHECKING:
    from workbench.engine.workspace import Workspace

_TEXT = "text"
_HEADING = "# "

review_command = group(
    "review",
    default="list",
    help="A reflection only proposes; you decide, item by item, here, in the bench, or by ticking the boxes of "
    "memory/meta/pending-reflection.md in any editor. ID is r-012.3 or just 3; where several are taken, also 1-4, "
    "all, or a word of a section or kind such as “archival”, which means what is still undecided.",
    answers="What does the agent want to learn, and may it?",
    examples=("workbench review", "workbench review approve 1-4", "workbench review apply"),
)


@review_command.bench_command("list", short_help="List what is proposed", hidden=True)
@click.pass_obj
def list_items(bench: Invocation) -> int:
    with bench.open() as workspace:
        review = workspace.review()

    def view(page: Page) -> list[str]:
        from workbench.cli.views.review import review_lines

        return review_lines(page, review)

    return bench.report(review, view, code=DONE if review.items else NOTHING_FOUND)


@review_command.bench_command(
    "show",
    short_help="Show one item with why, and the words it rests on",
    answers="Why does it want to learn this, and who said so?",
    examples=("workbench review show 3",),
)
@click.argument("id_", metavar="ID")
@click.pass_obj
def show(bench: Invocation, id_: str) -> int:
    """What changes is shown as a diff; of a stale item, what was proposed on and what stands there now."""
    with bench.open() as workspace:
        item = _item(workspace.review(), id_)
        places = [] if bench.json else [(quoted, _place(workspace, quoted.id)) for quoted in item.evidence]

    def view(page: Page) -> list[str]:
        from workbench.cli.views.review import item_lines

        return item_lines(page, item, places)

    return bench.report(item, view)


def _item(review: Review, word: str) -> ReviewItem:
    _require_items(review)
    wanted = one_item(review, word)
    item = next((each for each in review.items if each.id == wanted), None)
    if item is None:
        raise NotFound(
            f"There is no item {safe_line(wanted)[:40]}.",
            where=review.path,
            remedy="See `workbench review` for the list.",
        )
    return item


def _require_items(review: Review) -> None:
    if not review.items:
        raise NotFound(
            "No reflection waits for decisions.",
            where=review.path,
            remedy="Let one propose something with: workbench reflect",
        )


def _place(workspace: Workspace, memory_id: str) -> str:
    try:
        shown = workspace.show(memory_id, count_access=False, history=False)
    except WorkbenchError:
        # That a memory is gone is what is told here.
        return ""
    return f"{shown.path}:{shown.start_line} · {shown.title}"


def _decide(
    bench: Invocation,
    decision: str,
    words: Sequence[str],
    sections: Sequence[str],
    *,
    apply: bool = False,
    yes: bool = False,
) -> int:
    if not (words or sections):
        raise click.UsageError("Name the items, or say all.", click.get_current_context())
    with bench.open() as workspace:
        review = workspace.review()
        _require_items(review)
        ids = chosen_items(review, words, sections, undecided=decision != "undecided")
        changed = workspace.review_decide(dict.fromkeys(ids, decision)) if ids else Changed(None)
        if apply:
            return _apply(bench, workspace, yes=yes)
        after = None if bench.json else workspace.review()

    def view(page: Page) -> list[str]:
        from workbench.cli.views.changed import changed_lines
        from workbench.cli.views.review import progress_line

        done = "Took back the decision on" if decision == "undecided" else decision.capitalize()
        named = ", ".join(map(safe_line, ids)) if len(ids) < 5 else f"{len(ids)} items"
        lines = changed_lines(page, changed, f"{done} {named}.", "They were decided so already.")
        if after is not None:
            decided = any(item.decision in ("approved", "rejected") for item in after.items)
            hint = "   Apply: workbench review apply" if decided else ""
            lines.append(page.paint(f"  {progress_line(after)}{hint}", "quiet"))
        return lines

    waits = [
        f"{item.id} waits: {item.waits}"
        for item in (after.items if after else ())
        if item.waits and item.id in ids
    ]
    return bench.report(replace(changed, warnings=(*changed.warnings, *waits)), view)


@review_command.bench_command(
    "approve",
    short_help="Approve items",
    answers="This is right; how do I say so?",
    examples=("workbench review approve 3", "workbench review approve all --apply"),
)
@click.argument("words", metavar="ID…", nargs=-1)
@click.option(
    "--section", "sections", multiple=True, metavar="WORD", help="Every undecided item of a section."
)
@click.option("--apply", is_flag=True, help="Apply at once what is approved.")
@click.option("-y", "--yes", is_flag=True, help="With --apply: do it without asking.")
@click.pass_obj
def approve(
    bench: Invocation, words: tuple[str, ...], sections: tuple[str, ...], apply: bool, yes: bool
) -> int:
    """Nothing is written to memory before `apply`."""
    return _decide(bench, "approved", words, sections, apply=apply, yes=yes)


@review_command.bench_command(
    "reject",
    short_help="Reject items, which then stay away",
    answers="This is wrong; how do I keep it out?",
    examples=("workbench review reject 2 5", "workbench review reject all --apply"),
)
@click.argument("words", metavar="ID…", nargs=-1)
@click.option(
    "--section", "sections", multiple=True, metavar="WORD", help="Every undecided item of a section."
)
@click.option("--apply", is_flag=True, help="Apply at once what is decided.")
@click.option("-y", "--yes", is_flag=True, help="With --apply: do it without asking.")
@click.pass_obj
def reject(
    bench: Invocation, words: tuple[str, ...], sections: tuple[str, ...], apply: bool, yes: bool
) -> int:
    """Once applied, the same is not proposed again without new evidence; see `review rejected`."""
    return _decide(bench, "rejected", words, sections, apply=apply, yes=yes)


@review_command.bench_command(
    "defer",
    short_help="Put items off until the next reflection",
    answers="I cannot say yet; how do I put it off?",
    examples=("workbench review defer 4",),
)
@click.argument("words", metavar="ID…", nargs=-1)
@click.option(
    "--section", "sections", multiple=True, metavar="WORD", help="Every undecided item of a section."
)
@click.pass_obj
def defer(bench: Invocation, words: tuple[str, ...], sections: tuple[str, ...]) -> int:
    """They come again with the next reflection."""
    return _decide(bench, "deferred", words, sections)


@review_command.bench_command(
    "undecide",
    short_help="Take decisions back before they are applied",
    answers="I decided too fast; how do I open it again?",
    examples=("workbench review undecide 3", "workbench review undecide all"),
)
@click.argument("words", metavar="ID…", nargs=-1)
@click.option("--section", "sections", multiple=True, metavar="WORD", help="Every decided item of a section.")
@click.pass_obj
def undecide(bench: Invocation, words: tuple[str, ...], sections: tuple[str, ...]) -> int:
    """What is applied already is taken back with `revert` or `rollback --reflection`."""
    return _decide(bench, "undecided", words, sections)


def _report_edit(bench: Invocation, changed: Changed, said: str) -> int:
    def view(page: Page) -> list[str]:
        from workbench.cli.views.changed import changed_lines

        return changed_lines(page, changed, said, "Nothing changed.")

    return bench.report(changed, view)


@review_command.bench_command(
    "edit",
    short_help="Reword an item before approving it",
    answers="This is nearly right; how do I correct it?",
    examples=(
        'workbench review edit 3 --text "Prefers green tea" --approve',
        "workbench review edit 3 --field since=2026-02",
    ),
)
@click.argument("id_", metavar="ID")
@click.option("--text", help="What it shall say; “-” reads it from stdin.")
@click.option(
    "--field", "pairs", multiple=True, metavar="NAME=VALUE", help="A field, such as since or steps."
)
@click.option("--approve", is_flag=True, help="Approve it as changed.")
@click.pass_obj
def edit(bench: Invocation, id_: str, text: str | None, pairs: tuple[str, ...], approve: bool) -> int:
    """Without a text or field it opens in $VISUAL or $EDITOR. An empty VALUE takes the field out."""
    fields = dict(map(_field, pairs))
    decision = "approved" if approve else None
    if text is None and not fields:
        return _edit_in_editor(bench, id_, decision)
    said = text_of((text,), what="The text") if text is not None else None
    with bench.open() as workspace:
        item = _item(workspace.review(), id_)
        changed = workspace.review_edit(item.id, said, fields, decision)
    return _report_edit(bench, changed, f"Changed {safe_line(item.id)}.")


def _field(pair: str) -> tuple[str, str]:
    name, equals, value = pair.partition("=")
    if not equals or not name.strip():
        raise click.BadParameter("Write NAME=VALUE, such as since=2026-02-03.", param_hint="--field")
    return name.strip(), value


def _edit_in_editor(bench: Invocation, id_: str, decision: str | None) -> int:
    from workbench.cli.editing import edit_in_editor

    with bench.open() as workspace:
        item = _item(workspace.review(), id_)
        before = {_TEXT: item.after, **(item.fields or {})}
        draft = "\n\n".join(f"{_HEADING}{name}\n{text}" for name, text in before.items()) + "\n"

        def write_back(after: str) -> Changed:
            parts = _parts(after, tuple(before))
            changed = {name: text for name, text in parts.items() if text != before[name].strip()}
            gone = {name: "" for name in before if name not in parts and name != _TEXT}
            text = changed.pop(_TEXT, None)
            return workspace.review_edit(item.id, text, {**changed, **gone}, decision)

        changed = edit_in_editor(workspace.settings.editor, draft, write_back)
    return _report_edit(bench, changed, f"Changed {safe_line(item.id)}.")


def _parts(text: str, names: tuple[str, ...]) -> dict[str, str]:
    """Take apart what a person saved: what stands below each heading that names a part."""
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


@review_command.bench_command(
    "answer",
    short_help="Answer a question, and approve that the answer is remembered",
    answers="It asks me something; where do I answer?",
    examples=('workbench review answer 9 "Yes, it is still relevant"',),
)
@click.argument("id_", metavar="ID")
@click.argument("words", metavar="TEXT", nargs=-1, required=True)
@click.pass_obj
def answer(bench: Invocation, id_: str, words: tuple[str, ...]) -> int:
    """TEXT may be “-” for stdin. The answer becomes a memory when it is applied."""
    text = text_of(words, what="The answer")
    with bench.open() as workspace:
        item = _item(workspace.review(), id_)
        changed = workspace.review_edit(item.id, fields={"answer": text}, decision="approved")
    return _report_edit(bench, changed, f"Answered {safe_line(item.id)}; apply to remember it.")


@review_command.bench_command(
    "resolve",
    short_help="Say which side of a contradiction holds, and approve it so",
    answers="Two memories disagree; how do I say which is right?",
    examples=("workbench review resolve 1 that", "workbench review resolve 1 both"),
)
@click.argument("id_", metavar="ID")
@click.argument("side", type=click.Choice(("this", "that", "both", "ask")))
@click.pass_obj
def resolve(bench: Invocation, id_: str, side: str) -> int:
    """This is the first statement, that the second. Both keeps both, with the scope or dates that you give them by
    `review edit ID --field this=…`; ask leaves it open.
    """
    with bench.open() as workspace:
        item = _item(workspace.review(), id_)
        decision = "undecided" if side == "ask" else "approved"
        changed = workspace.review_edit(item.id, fields={"resolve": side}, decision=decision)
    return _report_edit(bench, changed, f"Resolved {safe_line(item.id)}: {side}.")


@review_command.bench_command(
    "apply",
    short_help="Write what is approved into memory, in one commit",
    answers="I have decided; how does it become memory?",
    examples=("workbench review apply --dry-run", "workbench review apply --yes"),
)
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
@click.option("-y", "--yes", is_flag=True, help="Do it without asking.")
@click.pass_obj
def apply_decisions(bench: Invocation, dry_run: bool, yes: bool) -> int:
    """Shows what will be written, then asks. Rejected items are remembered as rejected; undecided ones stay."""
    with bench.open() as workspace:
        _require_items(workspace.review())
        if not dry_run:
            return _apply(bench, workspace, yes=yes)
        preview = workspace.review_preview()

    def view(page: Page) -> list[str]:
        from workbench.cli.views.review import preview_lines

        return preview_lines(page, preview)

    return bench.report(preview, view)


def _apply(bench: Invocation, workspace: Workspace, *, yes: bool) -> int:
    if not yes and not _agreed(bench, workspace):
        return DONE
    applied: Applied = workspace.review_apply()

    def view(page: Page) -> list[str]:
        from workbench.cli.views.review import applied_lines

        return applied_lines(page, applied)

    return bench.report(applied, view)


def _agreed(bench: Invocation, workspace: Workspace) -> bool:
    """Show what applying would write and ask whether it shall be; True where there is nothing to ask about.

    Raises:
        ConfirmationNeeded: There is no terminal to ask at; with JSON the refusal is part of the preview.
    """
    from workbench.cli.views.review import preview_lines

    preview = workspace.review_preview()
    if not preview.files:
        return True
    if not bench.json:
        write(preview_lines(page_for(sys.stdout), preview))
    kept = f" and remember {len(preview.rejected)} as rejected" if preview.rejected else ""
    try:
        many = "item" if len(preview.applied) == 1 else "items"
        agreed = bench.confirm(f"Apply {len(preview.applied)} approved {many}{kept}?")
    except ConfirmationNeeded as refusal:
        if not bench.json:
            raise
        from workbench.cli.json_output import as_json, print_json

        print_json({**as_json(preview), **describe(refusal).as_json()})
        raise click.exceptions.Exit(refusal.exit_code) from refusal
    if not agreed:
        bench.warn(["Nothing was changed."])
    return agreed


@review_command.bench_command(
    "rejected",
    short_help="List what you rejected, which stays away",
    answers="Why does it never propose this any more?",
    examples=("workbench review rejected", "workbench review rejected --forget r-003.2"),
)
@click.option("--forget", "ids", multiple=True, metavar="ID", help="Allow this to be proposed again.")
@click.pass_obj
def rejected(bench: Invocation, ids: tuple[str, ...]) -> int:
    """A rejected claim comes back only with evidence that is newer than the rejection, and says so then."""
    with bench.open() as workspace:
        if ids:
            changed = workspace.review_allow(*ids)
            names = ", ".join(map(safe_line, ids))
            return _report_edit(bench, changed, f"{names} may be proposed again.")
        found = workspace.review_rejected()

    def view(page: Page) -> list[str]:
        from workbench.cli.views.review import rejections_lines

        return rejections_lines(page, found)

    return bench.report(found, view, code=DONE if found.rejections else NOTHING_FOUND)
