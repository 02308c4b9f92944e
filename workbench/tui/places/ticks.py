"""What waits for a person and how it is ticked: one way for changes, contradictions and secrets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from workbench.display.conflicts import conflict_title, version_words
from workbench.display.contradiction import clash_title
from workbench.display.deciding import (
    DECIDED,
    RESOLVE,
    held_title,
    item_tick,
    item_title,
    item_words,
    link_of,
)
from workbench.display.words import counted, quoted
from workbench.engine import layout
from workbench.engine.reflection.kinds import Kind, kind_of
from workbench.engine.results.inbox import (
    ConflictChoice,
    ProposalChoice,
    ProposalTick,
    SecretChoice,
    SecretTick,
)
from workbench.engine.values import dataclass
from workbench.tui.verbs.act import OTHER_VERBS, Act

if TYPE_CHECKING:
    from workbench.engine.results.inbox import Inbox, PastReflection, SyncConflict
    from workbench.engine.results.memories import HeldMemory
    from workbench.engine.results.reviews import Proposal, ReviewItem
    from workbench.engine.workspace import Workspace

TICKS: Final = {
    "accept": "accept",
    "decline": "decline",
    "set-aside": "aside",
    "older": "older",
    "newer": "newer",
    "both": "both",
    "store-without": "without",
}
"""Commands that tick, and how."""
UNREADABLE, CLASHES, DEVICES, SECRETS, QUESTIONS, CORE, KNOWN, FADED, ASIDE, PAST = (
    "Cannot be read",
    "Cannot both be true",
    "Changed on two devices",
    "Held back",
    "Questions for you",
    "Core memory",
    "New or changed",
    "To be archived",
    "Set aside",
    "Past reflections",
)
CHANGES: Final = (CORE, KNOWN, FADED)
"""The groups of what asks for no more than a yes or no."""
_GROUPS: Final = {
    Kind.CONTRADICTION: CLASHES,
    Kind.QUESTION: QUESTIONS,
    Kind.CORE_CHANGE: CORE,
    Kind.PROMOTION: CORE,
    Kind.DEMOTION: CORE,
    Kind.ARCHIVE: FADED,
}
_DECISIONS: Final = {tick: decision for decision, tick in DECIDED.items()}
# Nothing is done before it is written, but for what is set aside.
_TICKED: Final = {
    "accept": "Will accept",
    "decline": "Will decline",
    "aside": "Set aside",
    "older": "Will keep the older:",
    "newer": "Will take the newer:",
    "both": "Will keep both:",
    "without": "Will store without the secret:",
}
_ANSWERS: Final = frozenset({"", "…", "..."})
_SAID_OTHERWISE: Final = "One of the two reads otherwise by now; ⸨decline⸩ declines the question."
SAY_WHICH: Final = "Say which holds: ⸨older⸩ the older, ⸨newer⸩ the newer, ⸨both⸩ both."
_SEVERAL: Final = (
    "There are more than two statements: ⸨accept⸩ takes this one, ⸨decline⸩ declines it, ⸨both⸩ keeps all."
)
ANSWER: Final = "A question is accepted with its answer; ⸨edit⸩ writes it, ⸨decline⸩ declines it."
_NOT_ASIDE: Final = (
    "A secret cannot be set aside: ⸨accept⸩ stores it, ⸨store-without⸩ stores the rest, ⸨decline⸩ erases it."
)
_IS_ASIDE: Final = "This is set aside already; ⸨accept⸩ accepts it, ⸨decline⸩ declines it."
ONLY_PAIRS: Final = "Only two contradicting statements are decided with ⸨older⸩ ⸨newer⸩ ⸨both⸩."
_NOT_BOTH: Final = "Both do not fit here; take one, then ⸨edit⸩ writes the rest into the file."
_CHANGED_AGAIN: Final = (
    "The file was changed again since; ⸨edit⸩ writes what it should say, then keep what is there."
)
_DEVICES_WAIT: Final = "This waits until one is taken; both texts are kept meanwhile."
_ONLY_SECRETS: Final = "Only something held back is stored without its secret."


@dataclass(frozen=True)
class Waiting:
    """A row of the Inbox: an item of a reflection, proposals that belong together, a secret, a change of two devices.

    Args:
        tick: What is considered of it: accept, decline, aside, older, newer, both, without; empty where nothing is.
        proposals: The older first.
        store: Where it is to be stored, instead of where that was asked for.
        text: What is to be stored, instead of what was proposed.
        statements: Of two between which one decides, what each says, the older first.
    """

    id: str
    title: str
    group: str
    tick: str = ""
    item: ReviewItem | None = None
    proposals: tuple[Proposal, ...] = ()
    held: HeldMemory | None = None
    conflict: SyncConflict | None = None
    store: str | None = None
    text: str | None = None
    statements: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Return its title without what its group says already."""
        return item_words(self.item) if self.item is not None and self.group in (CORE, FADED) else self.title

    @property
    def is_clash(self) -> bool:
        """Return whether it is decided with `<`, `>` and `=`: two statements, no more."""
        return self.conflict is not None or (self.group == CLASHES and not self.is_several)

    @property
    def is_several(self) -> bool:
        """Return whether it, or a proposal that it contradicts, contradicts more than one statement."""
        if len(self.proposals) != 1:
            return False
        # Two that contradict each other alone are one row.
        return len(self.proposals[0].conflicts_with) > 1 or bool(rivals(self.proposals[0]))

    @property
    def who(self) -> str:
        """Return from whom it is, in a word or two; nothing of a reflection, as most is."""
        if self.held is not None:
            return "without it" if self.tick == "without" else ""
        if self.conflict is not None:
            return f"{self.conflict.older.device}, {self.conflict.newer.device}"
        if self.proposals:
            said = ", ".join(dict.fromkeys(each.from_ or "nobody" for each in self.proposals))
            return f"{said}, reworded" if self.text else f"{said}, to {self.store}" if self.store else said
        return ""

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the ids of where it comes from, of a contradiction on either side; none where nobody noted it."""
        if self.item is not None:
            return tuple(dict.fromkeys(each.id for each in self.item.evidence))
        if self.held is not None:
            return (f"file:{self.held.path}#L{self.held.line or 1}",) if self.held.path else ()
        if self.conflict is not None:
            return (f"file:{self.conflict.path}#L{self.conflict.line}",)
        named = (each for one in self.proposals for each in (*one.origins, *memories_against(one)))
        return tuple(dict.fromkeys(named))

    @property
    def source(self) -> str:
        """Return the first of them; empty where there is none."""
        return next(iter(self.sources), "")

    @property
    def about(self) -> str:
        """Return the id of the memory or file that it is about; empty where that is none yet."""
        if self.item is not None:
            return link_of(self.item.target) or self.source
        if self.held is not None:
            return f"file:{self.held.path}" if self.held.path else ""
        if self.conflict is not None:
            return f"file:{self.conflict.path}"
        named = (
            *(memory for one in self.proposals for memory in memories_against(one)),
            *(link for one in self.proposals for name in one.entities if (link := link_of(name))),
        )
        return next(iter(named), "")


@dataclass(frozen=True)
class Reflected:
    """A past reflection as a row of the Inbox."""

    id: str
    title: str
    past: PastReflection

    @property
    def about(self) -> str:
        """Return nothing: it is about no memory."""
        return ""


@dataclass(frozen=True)
class Unreadable:
    """A file of what waits, parts of which cannot be read.

    Args:
        title: What is wrong with it first.
        problems: What is wrong, each with its line before a colon.
    """

    id: str
    title: str
    path: str
    problems: tuple[str, ...]

    @property
    def about(self) -> str:
        """Return nothing: it is about no memory."""
        return ""

    @property
    def line(self) -> int:
        """Return the line of the first problem, from 1."""
        first = self.problems[0].partition(":")[0]
        return int(first) if first.isdecimal() else 1


def unreadable_files(inbox: Inbox) -> tuple[Unreadable, ...]:
    """Return the files of what waits that cannot be read in part."""
    files = (
        (inbox.review.path, inbox.review.problems),
        (layout.PENDING_MEMORIES, inbox.problems),
        (layout.CONFLICTS, (inbox.unreadable,) if inbox.unreadable else ()),
    )
    return tuple(
        Unreadable(f"unread:{path}", problems[0].partition(": ")[2] or problems[0], path, problems)
        for path, problems in files
        if problems
    )


def memories_against(proposal: Proposal) -> tuple[str, ...]:
    """Return the ids of the memories that a proposal contradicts."""
    return tuple(each for each in proposal.conflicts_with if not each.startswith("#"))


def rivals(proposal: Proposal) -> tuple[int, ...]:
    """Return the numbers of the proposals that one contradicts."""
    return tuple(int(each[1:]) for each in proposal.conflicts_with if each.startswith("#"))


def waiting_rows(inbox: Inbox, said: Mapping[str, str]) -> tuple[Waiting, ...]:
    """Return all that waits as rows, grouped by what they ask.

    Args:
        said: The words of memories that proposals contradict, by id.
    """
    rows = [
        *(_of_proposals(group, inbox, said) for group in inbox.proposals),
        *(_of_item(item, inbox) for item in inbox.review.items),
        *(_of_held(held, inbox) for held in inbox.held),
        *(_of_conflict(conflict, inbox) for conflict in inbox.conflicts),
    ]
    order = (CLASHES, DEVICES, SECRETS, QUESTIONS, *CHANGES, ASIDE)
    return tuple(sorted(rows, key=lambda row: order.index(row.group)))


def _of_item(item: ReviewItem, inbox: Inbox) -> Waiting:
    group = _GROUPS.get(kind_of(item.kind) or Kind.FACT, KNOWN)
    if item.id in inbox.set_aside:
        return Waiting(item.id, item_title(item), ASIDE, item=item)
    fields = item.fields or {}
    statements = (fields.get("this", ""), fields.get("that", "")) if group == CLASHES else ()
    return Waiting(item.id, item_title(item), group, item_tick(item), item=item, statements=statements)


def _of_conflict(conflict: SyncConflict, inbox: Inbox) -> Waiting:
    choice = inbox.conflict_ticks.get(conflict.id, "")
    chosen = {"this": conflict.this, "that": conflict.that}.get(choice)
    tick = choice if chosen is None else "older" if chosen is conflict.older else "newer"
    sides = (conflict.older, conflict.newer)
    statements = tuple(version_words(each) if each.text is not None else "" for each in sides)
    return Waiting(
        f"conflict:{conflict.id}",
        conflict_title(conflict),
        DEVICES,
        tick,
        conflict=conflict,
        statements=statements,
    )


def _of_held(held: HeldMemory, inbox: Inbox) -> Waiting:
    tick = inbox.secret_ticks.get(held.number)
    ticks = {"keep": "accept", "without": "without", "drop": "decline"}
    return Waiting(
        f"held:{held.number}",
        held_title(held),
        SECRETS,
        ticks[tick.choice] if tick is not None else "",
        held=held,
        store=tick.store if tick is not None else None,
    )


def _of_proposals(group: Sequence[Proposal], inbox: Inbox, said: Mapping[str, str]) -> Waiting:
    ordered = (
        tuple(sorted(group, key=lambda each: (each.timestamp is None, each.timestamp, each.number)))
        if all(each.timestamp for each in group)
        else tuple(group)
    )
    first = ordered[0]
    ticks = [inbox.proposal_ticks.get(each.number) for each in ordered]
    choices = tuple(each.choice if each is not None else "" for each in ticks)
    against = memories_against(first)
    is_pair = len(ordered) == 2 or (len(first.conflicts_with) == 1 and bool(against))
    aside = all(f"#{each.number}" in inbox.set_aside for each in ordered)
    older = [ordered[0].content] if len(ordered) == 2 else [said[each] for each in against if said.get(each)]
    title = clash_title(older, ordered[-1].content) if older else first.content
    tick = ticks[0]
    return Waiting(
        f"proposal:{first.number}",
        " ".join(title.split()),
        ASIDE if aside else CLASHES if first.conflicts_with else KNOWN,
        "" if aside and not any(ticks) else _pair_tick(choices, len(ordered)) if is_pair else choices[0],
        proposals=ordered,
        store=tick.store if tick is not None else None,
        text=tick.text if tick is not None else None,
        statements=(older[0], ordered[-1].content) if is_pair and len(older) == 1 else (),
    )


def _pair_tick(choices: tuple[str, ...], statements: int) -> str:
    """Return what ticks of proposals come to for two statements."""
    if statements == 1:
        return {"accept": "newer", "decline": "older"}.get(choices[0], choices[0])
    ticks = {("accept", "decline"): "older", ("decline", "accept"): "newer"}
    return ticks.get((choices[0], choices[1]), choices[0] if choices[0] == choices[1] else "")


# Ticking.


def cannot(row: Waiting, tick: str) -> str:
    """Say why a row cannot be ticked so; empty where it can."""
    if row.conflict is not None:
        return _cannot_decide(row.conflict, tick)
    if tick in ("older", "newer") and not row.is_clash:
        return _SEVERAL if row.is_several else ONLY_PAIRS
    if tick == "both" and row.group != CLASHES:
        return ONLY_PAIRS
    if tick in ("older", "newer", "both") and row.item is not None and row.item.stale:
        return _SAID_OTHERWISE
    if tick == "accept" and row.is_clash:
        return SAY_WHICH
    if tick == "accept" and row.item is not None and kind_of(row.item.kind) is Kind.QUESTION:
        return ANSWER if (row.item.fields or {}).get("answer", "").strip() in _ANSWERS else ""
    if tick == "aside" and row.held is not None:
        return _NOT_ASIDE
    if tick == "aside" and row.proposals and row.group == ASIDE:
        return _IS_ASIDE
    return _ONLY_SECRETS if tick == "without" and row.held is None else ""


def _cannot_decide(conflict: SyncConflict, tick: str) -> str:
    if tick in ("accept", "decline"):
        return SAY_WHICH
    if tick == "both" and not conflict.may_keep_both:
        return _NOT_BOTH
    if tick in ("older", "newer", "both"):
        return "" if not conflict.stale or conflict_choice(conflict, tick) == "this" else _CHANGED_AGAIN
    return _DEVICES_WAIT if tick == "aside" else _ONLY_SECRETS


def conflict_choice(conflict: SyncConflict, tick: str) -> ConflictChoice:
    """Return what a tick decides: the older, the newer or both."""
    if tick == "both":
        return "both"
    chosen = conflict.older if tick == "older" else conflict.newer
    return "this" if chosen is conflict.this else "that"


def ticked(rows: Sequence[Waiting], tick: str) -> tuple[Waiting, ...]:
    """Return rows as they are once a key was pressed on them: where all are ticked so, the ticks are taken away.

    Rows that cannot be ticked so are left out.
    """
    may = [row for row in rows if not cannot(row, tick)]
    wanted = [_as_shown(row, tick) for row in may]
    if may and all(_now(row) == each for row, each in zip(may, wanted, strict=True)):
        wanted = [""] * len(may)
    return tuple(
        replace(row, tick=each, text=row.text if each == "accept" else None)
        for row, each in zip(may, wanted, strict=True)
    )


def _now(row: Waiting) -> str:
    return "aside" if row.group == ASIDE and not row.tick else row.tick


def _as_shown(row: Waiting, tick: str) -> str:
    """Return a tick as its row shows it: to decline what contradicts memory is to keep the older."""
    is_memory = row.is_clash and row.item is None and len(row.proposals) == 1
    return "older" if tick == "decline" and is_memory else tick


def tick(rows: Sequence[Waiting], wanted: str, reworded: str = "") -> Act | str:
    """Return how rows are ticked, or why none of them can be.

    Args:
        rows: Those that a key is about.
        wanted: accept, decline, aside, older, newer, both or without.
        reworded: Id of the row that was ticked last by rewording it; the key of that tick does not take it away.
    """
    done = ticked(rows, wanted)
    if [row.id for row in done if not row.tick] == [reworded]:
        return "It is ticked, in your words. ⸨write⸩ writes it; ⸨undo⸩ takes words and tick back."
    if not done:
        return next((said for row in rows if (said := cannot(row, wanted))), "There is no row here.")
    left = [said for row in rows if (said := cannot(row, wanted))]
    return (
        Act(
            keeping(done),
            stays=False,
        )
        if not left
        else Act(_saying(keeping(done), left), stays=False)
    )


def _saying(call: Callable[[Workspace], str], left: Sequence[str]) -> Callable[[Workspace], str]:
    return lambda workspace: f"{call(workspace)} {len(left)} left for you: {left[0]}"


def keeping(rows: Sequence[Waiting]) -> Callable[[Workspace], str]:
    """Return what keeps ticks where they live: those of a reflection in its file, the others beside the workspace."""

    def keep(workspace: Workspace) -> str:
        items = [row for row in rows if row.item is not None]
        differing = ((row.conflict, row.tick) for row in rows if row.conflict is not None)
        done = workspace.inbox_tick(
            items={row.id: "approved" if row.tick in RESOLVE else _DECISIONS[row.tick] for row in items},
            resolved={row.id: RESOLVE[row.tick] for row in items if row.tick in RESOLVE},
            proposals=dict(pair for row in rows if row.proposals for pair in _proposal_ticks(row)),
            secrets={row.held.number: _secret_tick(row) for row in rows if row.held is not None},
            conflicts={each.id: conflict_choice(each, tick) if tick else None for each, tick in differing},
        )
        return " ".join((_said(rows), *done.warnings))

    return keep


def _said(rows: Sequence[Waiting]) -> str:
    first = rows[0]
    of_two = dict(zip(("older", "newer"), first.statements, strict=False))
    what = quoted(of_two.get(first.tick) or first.title) if len(rows) == 1 else f"{len(rows)} rows"
    if not first.tick:
        return f"Took the tick away from {what}."
    verb = _TICKED[first.tick]
    if first.held is not None and len(rows) == 1:
        verb = {"accept": "Will store, secret and all:", "decline": "Will erase"}.get(first.tick, verb)
    them, ticks = ("it", "tick") if len(rows) == 1 else ("them", "ticks")
    # The cursor goes on to the next row, where the same key would tick that one.
    then = "" if first.tick == "aside" else f"⸨write⸩ writes {them}; "
    return f"{verb} {what}. {then}⸨undo⸩ takes the {ticks} away."


def _proposal_ticks(row: Waiting) -> Iterable[tuple[int, ProposalTick | None]]:
    first = row.proposals[0]
    if not row.tick:
        # Rivals that were declined for it wait again as well.
        numbers = [each.number for each in row.proposals] + list(rivals(first) if row.is_several else ())
        yield from ((number, None) for number in numbers)
    elif row.is_several and row.tick in ("accept", "both"):
        choice: ProposalChoice = "accept" if row.tick == "accept" else "both"
        replacing = memories_against(first) if choice == "accept" else ()
        yield first.number, ProposalTick(choice, replacing, row.store, row.text)
        for number in rivals(first):
            yield number, ProposalTick("decline" if choice == "accept" else "both")
    elif len(row.proposals) == 2 and row.tick in ("older", "newer"):
        chosen, other = row.proposals if row.tick == "older" else reversed(row.proposals)
        yield chosen.number, ProposalTick("accept", memories_against(chosen))
        yield other.number, ProposalTick("decline")
    elif row.tick == "newer":
        yield first.number, ProposalTick("accept", memories_against(first), row.store, row.text)
    else:
        choices: dict[str, ProposalChoice] = {
            "accept": "accept", "decline": "decline", "older": "decline", "aside": "aside", "both": "both"
        }  # fmt: skip
        for each in row.proposals:
            store, text = (row.store, row.text) if row.tick == "accept" else (None, None)
            yield each.number, ProposalTick(choices[row.tick], (), store, text)


def _secret_tick(row: Waiting) -> SecretTick | None:
    choices: dict[str, SecretChoice] = {"accept": "keep", "without": "without", "decline": "drop"}
    return SecretTick(choices[row.tick], row.store) if row.tick else None


def elsewhere(row: Waiting, store: str) -> Act:
    """Return how something is stored in another place: it is ticked so."""
    choice = "newer" if row.is_clash else row.tick if row.tick == "without" else "accept"
    moved = replace(row, tick=choice, store=store)
    call = keeping((moved,))

    def keep(workspace: Workspace) -> str:
        call(workspace)
        return f"Will store {quoted(row.title)} in {store}. ⸨undo⸩ takes the tick away."

    return Act(keep)


def take_back(reflected: Reflected) -> Act | str:
    """Return how a past reflection is taken back whole; it asks, since what it wrote was not written by hand."""
    past = reflected.past
    if past.taken_back is not None:
        return f"{reflected.title} was taken back already."
    if not past.commits:
        return "History does not reach back so far; it cannot be taken back as a whole."
    count = past.applied
    name = f"{reflected.title[:1].lower()}{reflected.title[1:]}"

    def call(workspace: Workspace) -> str:
        workspace.rollback(reflection=past.id)
        return f"Took back all of the {name}. ⸨undo⸩ brings it back."

    return Act(call, f"Take back all of the {name} ({counted(count, 'change')})?", "take it back")


OTHER_VERBS[Waiting] = {command: partial(tick, wanted=wanted) for command, wanted in TICKS.items()}
OTHER_VERBS[Reflected] = {"bring-back": lambda subjects: take_back(subjects[0])}
