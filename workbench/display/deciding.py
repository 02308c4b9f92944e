"""Draws what waits for a person: a row and a card for a change, a contradiction, a secret and a past reflection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Final

from workbench.display import words
from workbench.display.action_words import slug_words
from workbench.display.card import MEASURE, Card, Section, said_words
from workbench.display.cells import wrap
from workbench.display.contradiction import (
    Side,
    clash_lines,
    clash_title,
    differing,
    head_lines,
    key_lines,
    outcomes,
    statement_lines,
)
from workbench.display.diffing import compare, diff_lines
from workbench.display.ink import BLANK, Line, Span, cut, gap, hanging, ink, line_width, wrap_line
from workbench.display.markdown import unlinked
from workbench.display.rows import beside_row, budget_line
from workbench.engine.markdown.statements import parse_statement
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.kinds import Kind, kind_of
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from datetime import datetime

    from workbench.engine.results.inbox import PastItem, PastReflection
    from workbench.engine.results.memories import CoreView, HeldMemory, Why
    from workbench.engine.results.reviews import Proposal, Quoted, ReviewItem

BOXES: Final = {
    "": "[ ]", "accept": "[✓]", "decline": "[✗]", "aside": "[…]", "older": "[<]", "newer": "[>]", "both": "[=]",
    "without": "[✓]",
}  # fmt: skip
DECIDED: Final = {"undecided": "", "approved": "accept", "rejected": "decline", "deferred": "aside"}
"""The tick of each decision on an item of a reflection."""
RESOLVE: Final = {"older": "this", "newer": "that", "both": "both"}
"""What the file of a reflection says for each tick of a contradiction."""
_HEADS: Final = {
    Kind.FACT: "New fact",
    Kind.ENTITY: "New in the graph",
    Kind.RELATION: "New link",
    Kind.MERGE: "Two that are the same",
    Kind.SUPERSESSION: "What has changed",
    Kind.ARCHIVE: "To be archived",
    Kind.RESTORE: "To be brought back",
    Kind.PROCEDURE: "How something is done",
    Kind.CORE_CHANGE: "Change to core memory",
    Kind.PROMOTION: "New in core memory",
    Kind.DEMOTION: "Out of core memory",
    Kind.VAULT_PIN: "To be kept for good",
    Kind.INSIGHT: "Insight",
    Kind.QUESTION: "Question for you",
}
_EFFECTS: Final = {
    Kind.FACT: "It is added to what is known of {name}.",
    Kind.ENTITY: "It gets a page of its own in the Graph.",
    Kind.RELATION: "Both are linked in the Graph.",
    Kind.MERGE: "Facts, links and mentions of both stand under one name; ⸨merge⸩ takes them apart again.",
    Kind.SUPERSESSION: "The old value is kept as what held until then.",
    Kind.ARCHIVE: "The agent no longer recalls it on its own; ⸨bring-back⸩ brings it back.",
    Kind.RESTORE: "The agent recalls it again.",
    Kind.PROCEDURE: "The agent finds it when it does the same again.",
    Kind.DEMOTION: "It is no longer always with the agent.",
    Kind.VAULT_PIN: "It never fades.",
    Kind.INSIGHT: "It is noted under how understanding has changed.",
    Kind.QUESTION: "Your answer becomes a memory; ⸨edit⸩ writes it.",
}
_IN_CORE: Final = frozenset({Kind.CORE_CHANGE, Kind.PROMOTION, Kind.DEMOTION})
_DOING: Final = {Kind.ARCHIVE: "Archive", Kind.RESTORE: "Bring back", Kind.VAULT_PIN: "Keep"}
_QUOTED: Final = frozenset({Kind.ARCHIVE, Kind.RESTORE, Kind.VAULT_PIN, Kind.MERGE})
_SHOWN_ELSEWHERE: Final = frozenset(
    {"this", "that", "resolve", "steps", "answer", "writes", "resembles", "of", "as of", "score"}
)
# Nobody decides on more at a glance; the file has the rest.
_LONGEST: Final = 4000
_MOST_QUOTES: Final = 4
_MOST_LISTED: Final = 40
_LINK = lazy_pattern(r"\[\[([^\[\]|]{1,120})(?:\|([^\[\]]{1,120}))?\]\]")


def statement(text: str) -> str:
    """Return the words of a fact without what is known about it."""
    return unlinked(parse_statement(text.strip().removeprefix("- ")).text)


# Titles.


def block_of(target: str) -> str:
    """Return the name of the block of core memory that an item is about, as it reads; empty for anything else."""
    if not target.startswith("core:"):
        return ""
    return target.split(":")[1].replace("-", " ").capitalize()


def block_in(core: CoreView, target: str) -> str | None:
    """Return the name of the block of core memory that a change goes into; None where there is no such block."""
    wanted = (block_of(target) or "Critical facts").casefold()
    return next((each.name for each in core.blocks if each.name.casefold() == wanted), None)


def item_title(item: ReviewItem) -> str:
    """Return what an item proposes, in one line."""
    kind, said = kind_of(item.kind), unlinked(item.after[:_LONGEST])
    name = "" if item.title == item.target else item.title
    if kind is Kind.CONTRADICTION:
        fields = item.fields or {}
        this, that = unlinked(fields.get("this", "")), unlinked(fields.get("that", ""))
        return clash_title([this], that) if any(differing(this, that)) else said
    if kind is Kind.QUESTION:
        return words.told_days(said) or item.kind
    if kind is Kind.CORE_CHANGE:
        return f"Core, {block_of(item.target)}: {said}"
    if kind is Kind.PROMOTION:
        return f"Into core memory: {said}"
    if kind is Kind.DEMOTION:
        return f"Out of core memory: {words.quoted(item.before or said)}"
    if kind is Kind.MERGE:
        other = _LINK.search(item.after)
        return f"Merge “{unlinked(other[0]) if other else said}” and “{name or item.target}”"
    if kind in _DOING:
        return f"{_DOING[kind]} {words.quoted(said or name, 200)}"
    if kind is Kind.ENTITY:
        return f"New: {said or name}"
    if kind is Kind.RELATION:
        verb, _, rest = said.partition(" ")
        return f"{name} {verb.replace('-', ' ')} {rest}".strip()
    if kind in (Kind.FACT, Kind.SUPERSESSION) and name and name.casefold() not in said.casefold():
        return f"{name}: {said}"
    return said or name or item.kind


def item_words(item: ReviewItem) -> str:
    """Return what an item proposes, in one line that stands under the name of its kind."""
    kind, said = kind_of(item.kind), unlinked(item.after[:_LONGEST])
    if kind is Kind.ARCHIVE:
        return said or item.title
    return item_title(item).removeprefix("Core, ")


def held_title(held: HeldMemory) -> str:
    """Return what was held back, in one line: what it looks like, and where it is."""
    kinds = " and ".join(held.kinds)
    what = f"{'An' if kinds[:1].upper() in 'AEIO' else 'A'} {kinds}" if kinds else "Something"
    where = f" in {held.path}" + (f", line {held.line}" if held.line else "") if held.path else ""
    return f"{what}{where}" if where else f"{what}: {' '.join(held.text.split())}"


def past_title(past: PastReflection, now: datetime) -> str:
    """Return which reflection it was: that of a day."""
    on = words.day(past.written.astimezone(now.tzinfo).date(), now.date()) if past.written else past.id
    return f"Reflection of {on}" if past.written else f"Reflection {on}"


def past_words(past: PastReflection, now: datetime) -> str:
    """Return what became of a past reflection: “9 accepted, 3 declined”, “waits again; taken back by you, 9 Nov”."""
    if past.taken_back is not None:
        by = past.taken_back_by.replace("the person", "you")
        on = words.day(past.taken_back.astimezone(now.tzinfo).date(), now.date())
        return f"{'waits again; ' if past.waits else ''}taken back by {by}, {on}"
    counts = ((past.applied, "accepted"), (past.declined, "declined"))
    return ", ".join(f"{count} {word}" for count, word in counts if count)


# Rows.


def item_tick(item: ReviewItem) -> str:
    """Return what is decided on an item so far, as a key of `BOXES`."""
    tick = DECIDED.get(item.decision, "")
    if kind_of(item.kind) is Kind.CONTRADICTION and tick == "accept":
        resolve = (item.fields or {}).get("resolve", "")
        return next((each for each, word in RESOLVE.items() if word == resolve), "")
    return tick


def box(tick: str, link: str = "") -> Line:
    """Draw the box before what waits, with its tick."""
    return (Span(BOXES[tick], "strong" if tick else "decide", link), gap(1))


def title_role(tick: str) -> str:
    """Return the role of the title behind a box."""
    return "soft" if tick in ("decline", "aside") else "text"


def waiting_lines(item: ReviewItem, width: int) -> list[Line]:
    """Draw an item whole: its row, what it changes, and what there is to note of it.

    Args:
        width: Cells; what is too long is broken under the title.
    """
    tick, kind, fields = item_tick(item), kind_of(item.kind), item.fields or {}
    lead = (*box(tick), ink(item.id, "faint"), gap(2))
    indent = line_width(lead)
    lines = hanging(lead, (ink(item_title(item), title_role(tick)),), width)
    if kind is Kind.CONTRADICTION:
        for word in ("this", "that"):
            said = (ink(unlinked(fields.get(word, "")), "soft"),)
            lines += hanging((gap(indent), Span(f"{word}: ", "soft")), said, width)
    elif (item.before and kind is not Kind.DEMOTION) or "steps" in fields or _answer(item):
        lines += [(gap(indent), *line) for line in changed_lines(item, kind, width - indent)]
    lost = [f"No longer said by {each.id}." for each in item.evidence if not each.found]
    for told in (*_notices(item), *lost):
        lines += hanging((gap(indent), Span("! ", "decide")), (ink(told, "decide"),), width)
    return lines


def waiting_row(tick: str, title: str, beside: str, width: int, link: str = "") -> Line:
    """Draw something that waits: its tick, what it is, and from whom.

    Args:
        tick: A key of `BOXES`.
        beside: From whom, at the right margin.
        link: What a click on the box does.
    """
    return beside_row((*box(tick, link), ink(title, title_role(tick))), beside, width)


def past_row(past: PastReflection, now: datetime, width: int) -> Line:
    """Draw a past reflection: its day, and what became of it."""
    on = words.day(past.written.astimezone(now.tzinfo).date(), now.date()) if past.written else past.id
    role = "faint" if past.taken_back is not None else "soft"
    return cut((ink(f"{on:<11} ", role), ink(past_words(past, now), role)), width)


# Cards.


@dataclass(frozen=True)
class Cited:
    """Words that speak for a change, and what those rest on where that is known."""

    proof: Quoted
    why: Why | None = None


def item_card(
    item: ReviewItem,
    cited: Sequence[Cited],
    core: tuple[CoreView, CoreView] | None,
    now: datetime,
    key: Callable[[str], str],
    *,
    whole: bool = False,
) -> Card:
    """Return the card of a change that a reflection proposes.

    Args:
        core: Core memory as it is and as it would be with this change; None where it does not change.
        key: Gives the key of a command, as it is written.
        whole: Whether all is cited, instead of the first few.
    """
    most = len(cited) if whole else _MOST_QUOTES
    kind = kind_of(item.kind)
    sections = [Section.of("NOTE", told, "decide") for told in _notices(item)]
    if kind is Kind.CONTRADICTION:
        if item.reason or len(cited) > 2:
            sections.append(Section("WHY", _why(item.reason, cited[2:], now, most)))
    else:
        sections.append(Section("WHY", _why(item.reason, cited, now, most)))
        effect = _effect(item, kind)
        if core is not None:
            sections.append(core_section(*core, block_of(item.target), effect))
        elif effect:
            sections.append(Section.of("EFFECT", effect))
    if fields := _fields(item, now.date()):
        sections.append(Section("ALSO", fields))
    details = [
        Section.of("ITEM", f"{item.id} · {item.kind} · {item.risk} risk", "soft"),
        *([Section.of("SURE", item.confidence, "soft")] if item.confidence else []),
        *([Section.of("TARGET", item.target, "soft")] if item.target else []),
    ]
    body = (
        partial(clash_lines, *_sides(item, cited, now), item_outcomes(item, key))
        if kind is Kind.CONTRADICTION
        else partial(_change, item, kind)
    )
    return Card(item_title(item), "", sections=tuple(sections), details=tuple(details), body=body)


def item_outcomes(item: ReviewItem, key: Callable[[str], str]) -> tuple[tuple[str, str], ...]:
    """Say what each key does to a contradiction that a reflection found."""
    if item.stale:
        return ((key("decline"), "decline it: it asks about words that have changed, and cannot be written"),)
    fields = item.fields or {}
    return outcomes(fields.get("this", ""), fields.get("that", ""), "kept as what held until then", key)


def proposal_card(
    proposals: Sequence[Proposal],
    sides: Sequence[Side],
    effect: str,
    keys: Sequence[tuple[str, str]],
    now: datetime,
) -> Card:
    """Return the card of what an agent proposes, or of what contradicts it.

    Args:
        proposals: Those that are decided on together.
        sides: Statements of a contradiction, the older first; none where nothing is contradicted.
        keys: What each key does; none where that goes without saying.
    """
    first = proposals[0]
    sections = []
    if first.repeats:
        sections.append(
            Section(
                "NOTE", ((ink("Memory says the same already.", "decide"), ink(" "), _linked(first.repeats)),)
            )
        )
    if not sides:
        sections.append(Section("WHY", (*_proposed(first, now),)))
    if effect:
        sections.append(Section.of("EFFECT", effect))
    about = tuple(dict.fromkeys(name for each in proposals for name in each.entities))
    if about:
        sections.append(Section("ABOUT", tuple(_named(name) for name in about)))
    details = [
        Section.of("PROPOSAL", ", ".join(f"#{each.number}" for each in proposals), "soft"),
        Section.of("SURE", first.confidence or "not said", "soft"),
    ]
    if first.origins:
        details.append(Section("FROM", tuple((_linked(each),) for each in first.origins)))
    # What contradicts another proposal and is not decided together with it stands by itself.
    is_alone = len(proposals) == 1 and any(each.startswith("#") for each in first.conflicts_with)
    is_pair = len(sides) == 2 and not is_alone
    title = clash_title([sides[0].text], sides[1].text) if is_pair else first.content
    if is_pair:
        body: Callable[[int], Sequence[Line]] = partial(clash_lines, sides[0], sides[1], keys)
    elif sides:
        body = partial(statement_lines, sides, keys)
    else:
        body = partial(_words, f"Proposed by {first.from_ or 'nobody'}", first.content)
    return Card(title, "", sections=tuple(sections), details=tuple(details), body=body)


def held_card(held: HeldMemory, revealed: str, keys: Sequence[tuple[str, str]], now: datetime) -> Card:
    """Return the card of a secret that was held back.

    Args:
        revealed: Its words with the secret in them, while somebody looks at it; else empty.
        keys: What each key does.
    """
    who = {"outside": "another program", "main": "the agent", "person": "you"}.get(
        held.role, held.role.removeprefix("agent:")
    )
    did = {"edit": "wrote it there", "propose": "proposed it"}.get(held.asked, "wanted to remember it")
    lines: list[Line] = [(ink(f"{who} {did} · {words.moment(held.timestamp, now)}"),)]
    if held.path:
        place = f"file:{held.path}" + (f"#L{held.line}" if held.line else "")
        lines.append((ink(place.removeprefix("file:"), "text+link", None, place),))
        lines.append(
            (
                ink(
                    "The file stays as it was written; the edit stays out of history."
                    if held.left_out
                    else "A placeholder is there now.",
                    "soft",
                ),
            )
        )
    reason = (
        "History remembers everything; what looks like a key or a password is not stored until you say so."
    )
    return Card(
        held_title(held),
        "",
        sections=(Section("WHO", tuple(lines)), Section.of("WHY", reason, "soft")),
        details=(Section.of("NUMBER", f"{held.number}", "soft"),),
        body=partial(_held, held, revealed, keys),
    )


def past_card(past: PastReflection, refusal: str, now: datetime, key: Callable[[str], str]) -> Card:
    """Return the card of a past reflection.

    Args:
        refusal: Why it cannot be taken back; empty where it can.
        key: Gives the key of a command.
    """
    sections = [
        Section(label, _past_items(items))
        for label, decision in (("WRITTEN", "approved"), ("DECLINED", "rejected"), ("ASIDE", "deferred"))
        if (items := [item for item in past.items if item.decision == decision])
    ]
    if past.summary:
        sections.insert(
            0, Section("SUMMARY", tuple((ink(unlinked(line)),) for line in past.summary.splitlines()))
        )
    if past.taken_back is None:
        effect = refusal or f"{key('bring-back')} takes all of it back; what was done since elsewhere stays."
        sections.append(Section.of("EFFECT", effect, "decide" if refusal else "text"))
    return Card(
        past_title(past, now),
        past_title(past, now),
        (ink(past_words(past, now), "soft"),),
        tuple(sections),
        (
            Section.of("ID", past.id, "soft"),
            *(
                [Section("COMMITS", tuple((ink(each[:10], "soft"),) for each in past.commits))]
                if past.commits
                else []
            ),
        ),
    )


def unreadable_card(path: str, problems: Sequence[str], key: Callable[[str], str]) -> Card:
    """Return the card of a file of what waits, parts of which cannot be read."""
    mend = f"{key('edit')} mends it here, {key('edit-outside')} in your editor. What can be read is listed below."
    return Card(
        path,
        f"Parts of {path} cannot be read",
        sections=(
            Section("WHERE", tuple((ink(f"line {each}", "decide"),) for each in problems[:_MOST_LISTED])),
            Section.of("EFFECT", mend),
        ),
    )


def core_section(before: CoreView, after: CoreView, block: str = "", effect: str = "") -> Section:
    """Return the budget of core memory before and after a change, and that of one block."""
    lines: list[Line] = [(ink(effect),)] if effect else []
    old = {each.name: each for each in before.blocks}
    for each in after.blocks:
        was = old[each.name].tokens if each.name in old else 0
        if each.name.casefold() == block.casefold() or was != each.tokens:
            room = f" of {each.budget:,}" if each.budget is not None else ""
            over = each.budget is not None and each.tokens > each.budget
            lines.append(
                (ink(f"{each.name} {was:,} → {each.tokens:,}{room} tokens", "danger" if over else "text"),)
            )

    def draw(width: int) -> list[Line]:
        return [budget_line("all of it", after.tokens, after.cap, width, label_width=11, role="soft")]

    return Section("EFFECT", tuple(lines), draw=draw)


# Bodies.


def _words(head: str, text: str, width: int) -> list[Line]:
    width = min(width, MEASURE)
    shown = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    return [*head_lines(head, width), *_paragraphs(shown, width, "strong")]


def _paragraphs(text: str, width: int, role: str) -> list[Line]:
    return [(Span(part, role),) for block in text.splitlines() or [""] for part in wrap(block, width)]


def _change(item: ReviewItem, kind: Kind | None, width: int) -> list[Line]:
    """Draw what a change puts where."""
    width = min(width, MEASURE)
    lines: list[Line] = head_lines(_HEADS.get(kind, item.kind) if kind is not None else item.kind, width)
    name = block_of(item.target) or ("" if item.title == item.target else item.title)
    if name and kind not in _QUOTED:
        link = link_of(item.target)
        lines.append(cut((ink(name, "text+link" if link else "text", None, link),), width))
    lines.append(BLANK)
    if kind in _QUOTED or kind in (Kind.QUESTION, Kind.INSIGHT, Kind.ENTITY):
        said = unlinked(item_title(item) if kind in (Kind.MERGE, Kind.QUESTION) else item.after)
        lines += [(Span(part, "strong"),) for part in wrap(said, width)]
        return [*lines, *([BLANK] if _answer(item) else []), *changed_lines(item, kind, width)]
    if kind is Kind.PROCEDURE and "steps" in (item.fields or {}):
        lines += [(Span(part, "strong"),) for part in wrap(item.after, width)]
    return [*lines, *changed_lines(item, kind, width)]


def changed_lines(item: ReviewItem, kind: Kind | None, width: int) -> list[Line]:
    """Draw what an item changes word by word, the steps of a procedure, or the answer that was given."""
    if kind in _QUOTED or kind in (Kind.QUESTION, Kind.INSIGHT, Kind.ENTITY):
        answer = _answer(item)
        return wrap_line((Span("You answer: ", "soft"), ink(answer)), width) if answer else []
    steps = (item.fields or {}).get("steps") if kind is Kind.PROCEDURE else None
    after = "" if kind is Kind.DEMOTION else item.after if steps is None else steps
    return difference(item.now if item.stale else item.before, after, width)


def _answer(item: ReviewItem) -> str:
    """Return the answer that was given to a question; empty where none was."""
    answer = (item.fields or {}).get("answer", "").strip()
    return answer if kind_of(item.kind) is Kind.QUESTION and answer not in ("", "…", "...") else ""


def difference(before: str, after: str, width: int) -> list[Line]:
    """Draw what a text is changed into, word by word; what is new alone without a ground of its own."""
    before, after = unlinked(before[:_LONGEST]), unlinked(after[:_LONGEST])
    if not before.strip():
        return [
            (Span("+ " if at == 0 else "  ", "soft"), Span(part))
            for block in after.splitlines() or [""]
            for at, part in enumerate(wrap(block, max(1, width - 2)))
        ]
    return diff_lines(compare(before, after), width, numbers=False)


def _held(held: HeldMemory, revealed: str, keys: Sequence[tuple[str, str]], width: int) -> list[Line]:
    width = min(width, MEASURE)
    kinds = " and ".join(held.kinds)
    shown = revealed or held.text
    role = "match" if revealed else "strong"
    return [
        *head_lines(f"Looks like a secret: {kinds}", width),
        BLANK,
        *_paragraphs(shown[:_LONGEST], width, role),
        BLANK,
        *key_lines(keys, width),
    ]


# Sections.


def link_of(memory_id: str) -> str:
    """Return the link that a target or an entity means; empty where it leads nowhere."""
    if memory_id.startswith("core:") and memory_id.count(":") == 1:
        return ""
    if ":" not in memory_id:
        return f"entity:{memory_id}" if "--" in memory_id else ""
    return memory_id if memory_id.partition(":")[0] in _LINKED else ""


_LINKED: Final = frozenset({"core", "episode", "entity", "procedure", "vault", "file"})


def _linked(memory_id: str) -> Span:
    return ink(words.origin(memory_id), "soft+link", None, memory_id)


def _named(name: str) -> Line:
    link = link_of(name.removeprefix("entity:"))
    said = name.partition("--")[2].replace("-", " ") or name.partition(":")[2] or name
    return (ink(said, "text+link" if link else "text", None, link),)


def _notices(item: ReviewItem) -> list[str]:
    told = []
    if item.stale:
        told.append(item.why_stale or "What it changes has changed since it was proposed.")
    if item.waits:
        told.append(f"It waits: {item.waits}")
    elif item.needs:
        needed = "one more row" if len(item.needs) == 1 else f"{len(item.needs)} more rows"
        told.append(f"Accepting it also accepts {needed} of the Inbox, which it needs.")
    if item.resembles:
        told.append(f"Close to what you declined before: {item.resembles}")
    return told


def _effect(item: ReviewItem, kind: Kind | None) -> str:
    if kind is None or kind in _IN_CORE - {Kind.DEMOTION}:
        return ""
    if kind is Kind.QUESTION and (block := block_of(item.target)):
        return f"⸨edit⸩ answers. {words.answer_effect(block, writes='writes' in (item.fields or {}))}"
    name = "" if item.title == item.target else item.title
    return _EFFECTS[kind].format(name=name or "It")


def _fields(item: ReviewItem, today: date) -> tuple[Line, ...]:
    told = [(label, value) for label, value in (item.fields or {}).items() if label not in _SHOWN_ELSEWHERE]
    days = {label: words.day_of(value, today) for label, value in told if label in ("since", "until")}
    said = ((label, days.get(label) or unlinked(value)) for label, value in told if value.strip())
    return tuple((Span(f"{label}  ", "soft"), ink(value)) for label, value in said)


def _why(reason: str, cited: Sequence[Cited], now: datetime, most: int) -> tuple[Line, ...]:
    lines: list[Line] = []
    for each in cited[:most]:
        if each.proof.quote:
            lines.append((ink(f"“{' '.join(each.proof.quote.split())}”", "text+link", None, each.proof.id),))
        lines.append(_source(each, now))
    if (more := len(cited) - most) > 0:
        lines.append((Span(f"and {more} more", "faint"),))
    if reason:
        lines.append((ink(reason, "soft"),))
    return tuple(lines) or ((Span("Nobody noted why.", "soft"),),)


def _source(cited: Cited, now: datetime) -> Line:
    missing: Line = () if cited.proof.found else (Span("  no longer says so", "decide"),)
    role = "soft" if cited.proof.quote else "soft+link"
    return (ink(_by(cited, now), role, None, cited.proof.id), *missing)


def _by(cited: Cited, now: datetime) -> str:
    """Return who said what is cited, or who wrote it down, and when; else where it stands."""
    why = cited.why
    if why is not None and why.said:
        return said_words(why.said[0], now)
    if why is not None and why.written is not None and cited.proof.id.startswith("entity:"):
        told = words.origin(why.told[0]) if why.told else words.who(why.written.actor)
        return f"{told} · {words.moment(why.written.timestamp, now)}"
    return source_words(cited.proof.id, now)


def source_words(memory_id: str, now: datetime) -> str:
    """Return where something stands, in words: the day of an episode, the name of an entity, a block of core memory."""
    kind, _, rest = memory_id.partition(":")
    if kind == "episode":
        on = date_of(rest[:10])
        return f"{words.day(on, now.date())}, {rest[11:16]}".rstrip(", ") if on is not None else rest
    if kind == "core":
        return f"core memory, {block_of(memory_id)}"
    return slug_words(rest.partition("#")[0]) if kind in ("entity", "procedure") else words.origin(memory_id)


def _sides(item: ReviewItem, cited: Sequence[Cited], now: datetime) -> tuple[Side, Side]:
    fields = item.fields or {}
    proofs = [*cited[:2], None, None]

    def side(text: str, each: Cited | None) -> Side:
        if each is None:
            return Side(unlinked(text))
        said = each.proof.quote
        if statement(said) == text:
            if (
                each.why is not None
                and "#^" in each.proof.id
                and (reads := statement(each.why.title)) != text
            ):
                # Who worded it otherwise since did not say what stands here.
                return Side(unlinked(text), f"reads now “{reads}” · {_by(each, now)}", "", each.proof.id)
            # A fact that quotes itself proves nothing; what it was learned from does.
            said = each.why.said[0].quote if each.why is not None and each.why.said else ""
        return Side(unlinked(text), _by(each, now), said, each.proof.id)

    return side(fields.get("this", ""), proofs[0]), side(fields.get("that", ""), proofs[1])


def _proposed(proposal: Proposal, now: datetime) -> tuple[Line, ...]:
    when = f" · {words.moment(proposal.timestamp, now)}" if proposal.timestamp is not None else ""
    lines: list[Line] = [(ink(f"{proposal.from_ or 'nobody'} proposes it{when}", "soft"),)]
    if proposal.trigger:
        lines.insert(0, (ink(proposal.trigger),))
    return tuple(lines)


def _past_items(items: Sequence[PastItem]) -> tuple[Line, ...]:
    lines: list[Line] = [
        (
            ink(
                unlinked(each.text) or each.target or each.id,
                "text+link" if link_of(each.target) else "text",
                None,
                link_of(each.target),
            ),
        )
        for each in items[:_MOST_LISTED]
    ]
    if (more := len(items) - _MOST_LISTED) > 0:
        lines.append((Span(f"and {more} more", "faint"),))
    return tuple(lines)


def date_of(text: str) -> date | None:
    """Return a day written as in an id; None where it is none."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
