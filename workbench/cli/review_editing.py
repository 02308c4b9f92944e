"""The commands that change the words of what is proposed: reword, answer, resolve."""

from __future__ import annotations

import click

from workbench.cli.command import command
from workbench.cli.invocation import Invocation
from workbench.cli.printing import Page, safe_line
from workbench.cli.review_words import item_named
from workbench.cli.text_argument import text_of
from workbench.engine.errors import InvalidInput
from workbench.engine.results.memories import Changed

_TEXT = "text"
_HEADING = "# "


def report_edit(bench: Invocation, changed: Changed, said: str) -> int:
    """Tell of a change of an item, or that nothing changed; return the exit code."""

    def view(page: Page) -> list[str]:
        from workbench.cli.views.changed import changed_lines

        return changed_lines(page, changed, said, "Nothing changed.")

    return bench.report(changed, view)


@command(
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
        item = item_named(workspace.review(), id_)
        changed = workspace.review_edit(item.id, said, fields, decision)
    return report_edit(bench, changed, f"Changed {safe_line(item.id)}.")


def _field(pair: str) -> tuple[str, str]:
    name, equals, value = pair.partition("=")
    if not equals or not name.strip():
        raise click.BadParameter("Write NAME=VALUE, such as since=2026-02-03.", param_hint="--field")
    return name.strip(), value


def _edit_in_editor(bench: Invocation, id_: str, decision: str | None) -> int:
    from workbench.cli.editing import edit_in_editor

    with bench.open() as workspace:
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
    return report_edit(bench, changed, f"Changed {safe_line(item.id)}.")


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


@command(
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
        item = item_named(workspace.review(), id_)
        changed = workspace.review_edit(item.id, fields={"answer": text}, decision="approved")
    return report_edit(bench, changed, f"Answered {safe_line(item.id)}; apply to remember it.")


@command(
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
        item = item_named(workspace.review(), id_)
        decision = "undecided" if side == "ask" else "approved"
        changed = workspace.review_edit(item.id, fields={"resolve": side}, decision=decision)
    return report_edit(bench, changed, f"Resolved {safe_line(item.id)}: {side}.")
