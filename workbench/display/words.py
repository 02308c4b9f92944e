"""Says in words what results hold in codes: who, where from, when, and when it fades.

What the engine says of an error is made fit for the bench, where nobody is sent to the shell.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import TYPE_CHECKING, Final, Protocol

from workbench.engine.errors import BudgetExceeded
from workbench.engine.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.errors import WorkbenchError
    from workbench.engine.results.decay import DecayExplained, Fall

STORES = {
    "core": ("◎", "Core memory"),
    "episodic": ("◷", "Episode"),
    "semantic": ("◇", "Fact"),
    "procedural": ("▤", "Procedure"),
    "vault": ("▣", "Vault"),
}
LONGEST_QUOTE = 60
"""Characters of what is quoted in a sentence."""
# Of what could go, so many are named in a sentence; a list that can be ticked has all.
_MOST_NAMED = 2
QUOTES_WITHIN = str.maketrans("“”", "‘’")
_WEEK, _YEAR = 7, 365
_CORRECTION = lazy_pattern(r"\ACorrection of (episode:[\d-]{10}:\d\d:\d\d(?:#\d+)?): ")
_MINUTE = lazy_pattern(r"\d{4}-\d\d-\d\d \d\d:\d\d")
_ISO_DAY = lazy_pattern(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_ON_DAY = lazy_pattern(r"(\S+) on (\d{4})-(\d\d)-(\d\d)")
MONTHS = ("", "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_STORE_OF = {
    "core": "core",
    "episode": "episodic",
    "entity": "semantic",
    "procedure": "procedural",
    "vault": "vault",
}
_WHO = {
    "manual": "you",
    "person": "you",
    "user": "you",
    "main": "the agent",
    "bot:trigger-remember": "the agent, because you asked",
    "bot:auto-detect": "the agent",
    "bot:explicit": "the agent, because you asked",
}
_FROM = {
    "user-explicit": "you said so",
    "conversation": "noticed in a conversation",
    "manual": "written by hand",
    "inferred": "inferred by the agent",
}
SHELL: Final = lazy_pattern(r"\bworkbench (?=[a-z])|(?<![\w-])--[a-z]|\bpip install\b")
"""What only means something in the shell: a command, or an option of one."""
_COMMAND = lazy_pattern(r"\bworkbench ([a-z-]+)(?: (--)?([a-z-]+))?")
_SENTENCE = lazy_pattern(r"(?<=[.!?…])\s+(?=[A-ZÀ-Þ“`‘])")
_ALSO_HERE = lazy_pattern(r",? (in the bench|in the Inbox) or with (?:`[^`]*`|the workbench command)")
_ASIDE = lazy_pattern(r"\s*\([^()]*\bworkbench [a-z][^()]*\)")
_PART = lazy_pattern(r"(?<=[;:])\s+|(?<=,)\s+(?=or |so )")
# What begins so only introduces the command: “List them with: workbench sessions”.
_INTRODUCES = lazy_pattern(
    r"(?:or |and |then |so )?(?:a person|add|ask the person|begin|copy|decide|fetch|have|if you|lets? it|list|look|"
    r"make|name|only the user|or start|part|press|read|restore|revert|run|say|see|set|show|store|take|"
    r"the person|then|try|write)\b",
    re.IGNORECASE,
)
_ENDS_OPEN = ("with:", "from:", "so does:")
# Where the bench does what a command of the shell does.
_INSTEAD: Final = {
    "audit": "History lists it.",
    "audit alerts": "Today shows it.",
    "audit ack": "Decide on it in Today.",
    "revert": "Take it back in History.",
    "rollback": "Take it back in History.",
    "undo": "Take it back in History.",
    "review": "See it in the Inbox.",
    "proposals": "See it in the Inbox.",
    "secrets": "Decide on it in the Inbox.",
    "reflect": "Read what is new first.",
    "core": "Core lists it.",
    "core remove": "Take it out in Core.",
    "graph": "See it in the Graph.",
    "graph add": "Add it in the Graph first.",
    "graph unmerge": "Take them apart in the Graph.",
    "show": "See it on its card.",
    "search": "Ask for it.",
    "sessions": "Sessions lists it.",
    "sessions flush": "Sessions saves it.",
    "forget": "Forget it on its card.",
    "remember": "Write it down as a new memory.",
    "import": "Import it again.",
    "sync": "Sync it again, and name the remote there.",
    "index": "Index and health brings it up to date.",
    "index download": "",
    "doctor": "Index and health says what is the matter.",
    "doctor set-aside-history": "Index and health sets the history aside.",
    "init": "Index and health begins a history.",
}


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with what it counts: `1 file`, `2,000 files`.

    Args:
        many: The word for several; by default with an s.
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def listed(names: Sequence[str]) -> str:
    """Return names as people list them: `a, b and c`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def percent(part: float, whole: float) -> int:
    """Return a share to the nearest per cent: 0 only of nothing, 100 only where it is full."""
    nearest = round(100 * part / whole)
    if 0 < part < whole:
        return min(99, max(1, nearest))
    return nearest


def sign(store: str) -> str:
    """Return the sign of a store; a dot where the name is no store."""
    return STORES.get(store, ("·", ""))[0]


def store_of(memory_id: str) -> str:
    """Return the store that a memory is in, by its id; empty where that names no memory."""
    return _STORE_OF.get(memory_id.partition(":")[0], "")


def kind(store: str) -> str:
    """Return what a memory of a store is called."""
    return STORES.get(store, ("", "Note"))[1]


def who(actor: str) -> str:
    """Return who an actor or an owner of the audit log is."""
    actor = actor.removeprefix("person as ")
    if actor in _WHO:
        return _WHO[actor]
    prefix, _, name = actor.partition(":")
    if prefix in ("subagent", "agent", "skill"):
        return name or "an agent"
    if prefix == "reflection":
        return f"reflection {name}".strip()
    if prefix == "bot":
        return "the agent"
    return "upkeep" if prefix == "system" else actor


def speaker(role: str) -> str:
    """Return who speaks in a transcript."""
    return {"user": "you", "assistant": "agent", "toolResult": "tool"}.get(role, role)


def said_by(role: str | None) -> str:
    """Return whose words a memory rests on; empty where nothing tells."""
    if role in ("user", None):
        return "you said so" if role else ""
    return "the agent said so" if role == "assistant" else f"{speaker(role)} said so"


def corrected_by(text: str) -> tuple[str, str]:
    """Return the id of the episode that an entry corrects, and what it says instead; no id where it corrects none."""
    found = _CORRECTION.match(text)
    return (found[1], text[found.end() :]) if found is not None else ("", text)


def without_id(text: str) -> str:
    """Return what an entry says; one that corrects another says so, without the id of that."""
    corrected, said = corrected_by(text)
    return f"Correction: {said}" if corrected else text


def session(key: str) -> str:
    """Return what a session goes by, given its key: `agent:main:main` is main, `agent:critic:main` critic main."""
    agent, _, rest = key.removeprefix("agent:").partition(":")
    name = (rest if agent == "main" else f"{agent} {rest}") if rest else key
    return name.removeprefix("subagent:")


def origin(source: str) -> str:
    """Return where a memory comes from, given one line of its provenance."""
    name = source.removeprefix("source:")
    if name.startswith("file:sessions/"):
        _, _, line = name.partition("#L")
        return f"a session, line {line}" if line else "a session"
    if name.startswith("file:"):
        return in_file(name.removeprefix("file:"))
    if (dated := _ON_DAY.fullmatch(name)) and (dated[1] in _FROM or dated[1].startswith("subagent:")):
        how = _FROM.get(dated[1]) or f"proposed by {dated[1].removeprefix('subagent:')}"
        return f"{how} on {int(dated[4])} {MONTHS[int(dated[3]) % 13]} {dated[2]}"
    if name.startswith("reflection:"):
        return name.replace(":", " ")
    if name.startswith("subagent:"):
        return f"proposed by {name.removeprefix('subagent:')}"
    return _FROM.get(name, name)


def in_file(citation: str) -> str:
    """Return where something stands in a file, given `PATH#L3-L5`: the path and its lines."""
    path, cited, lines = citation.partition("#L")
    first, _, last = lines.partition("-L")
    if not cited:
        return path
    return f"{path}, line {first}" if last in ("", first) else f"{path}, lines {first}–{last}"


class Decided(Protocol):
    """What counts decisions of a person."""

    @property
    def accepted(self) -> int: ...

    @property
    def declined(self) -> int: ...

    @property
    def set_aside(self) -> int: ...


def decided(counts: Decided, erased: int = 0) -> str:
    """Return how many decisions were written, and how they were: “7: 4 accepted, 2 declined, 1 set aside”.

    Args:
        erased: How many secrets were erased besides.
    """
    total = counts.accepted + counts.declined + counts.set_aside + erased
    return f"{total:,}" if total == counts.accepted else f"{total:,}: {kinds_of_decisions(counts, erased)}"


def kinds_of_decisions(counts: Decided, erased: int = 0) -> str:
    """Return how decisions were: “4 accepted, 2 declined”."""
    kinds = (
        (counts.accepted, "accepted"),
        (counts.declined, "declined"),
        (counts.set_aside, "set aside"),
        (erased, "secret erased" if erased == 1 else "secrets erased"),
    )
    return ", ".join(f"{count:,} {word}" for count, word in kinds if count)


def quoted(text: str, most: int = LONGEST_QUOTE) -> str:
    """Return words in quotes, cut where they are long; quotes within become single ones."""
    said = " ".join(text.split()).translate(QUOTES_WITHIN)
    return f"“{said if len(said) <= most else said[: most - 1] + '…'}”"


def day(on: date, now: date) -> str:
    """Return a day as short as it can be understood: today, yesterday, a day of this year, a date."""
    days = (now - on).days
    if days in (0, 1):
        return "yesterday" if days else "today"
    if 1 < days < 7:
        return f"{on:%a} {on.day} {on:%b}"
    return f"{on.day} {on:%b}" if on.year == now.year else f"{on.day} {on:%b} {on.year}"


def as_on(moment: str) -> str:
    """Return a moment as a sentence goes on: “as on 1 Nov, 09:00”."""
    return "as it is now" if moment == "now" else f"as on {moment}"


def moment(at: datetime, now: datetime) -> str:
    """Return a day and a time in the zone of `now`."""
    local = at.astimezone(now.tzinfo)
    return f"{day(local.date(), now.date())}, {local:%H:%M}"


def with_days(said: str, now: datetime) -> str:
    """Return what the engine says with its moments as they are told here: “today, 03:00”."""
    return _MINUTE.sub(lambda at: moment(datetime.fromisoformat(at[0]).replace(tzinfo=now.tzinfo), now), said)


def told_days(said: str) -> str:
    """Return a sentence of the engine with its days as people write them: “12 Jan 2026”."""
    return _ISO_DAY.sub(lambda on: f"{int(on[3])} {MONTHS[int(on[2]) % 13]} {on[1]}", said)


def fades(explained: DecayExplained) -> str:
    """Say when a memory fades if nobody uses it."""
    if explained.store == "core":
        return "never: core memory is always with the agent"
    if explained.status == "pinned" or explained.half_life is None:
        return "never: it is pinned" if explained.status == "pinned" else "never"
    if explained.status == "archived":
        return "archived; ⸨bring-back⸩ brings it back"
    if not explained.falls:
        return "it has faded; using it brings it back"
    fall = explained.falls[0]
    when = on_day(fall.on, explained.now.date())
    return f"{when} it drops from {fall.before} to {fall.after}, unless it is used before"


def lasts(explained: DecayExplained) -> str:
    """Say what pinning would do, and one more use; empty where neither changes anything."""
    if explained.half_life is None or explained.store == "core" or explained.status in ("pinned", "archived"):
        return ""
    until = kept_until(explained.falls, explained.if_used, explained.now.date())
    return f"pinned it stays{f'; used once more it lasts until {until}' if until else ''}"


def kept_until(falls: Sequence[Fall], if_used: Sequence[Fall], today: date) -> str:
    """Return until when a memory that is used now keeps clear of what it drops to next; empty where that is unknown."""
    if not if_used:
        return ""
    next_drop = falls[0].after if falls else "dormant"
    fall = next((each for each in if_used if each.after == next_drop), if_used[-1])
    return on_day(fall.on, today).removeprefix("on ")


def on_day(on: date, today: date) -> str:
    """Return when something happens: “tomorrow”, “on Wednesday” within a week, “on 8 Dec”, with a year if another."""
    days = (on - today).days
    if days in (0, 1):
        return "tomorrow" if days else "today"
    if 1 < days <= _WEEK:
        return f"on {on:%A}"
    return f"on {on.day} {on:%b}" + (f" {on.year}" if on.year != today.year else "")


def day_of(text: str | None, today: date) -> str:
    """Return an ISO day as short as it can be understood; empty where it is none."""
    try:
        return day(datetime.fromisoformat((text or "")[:10]).date(), today)
    except ValueError:
        return ""


def ordinal(number: int) -> str:
    """Return a place in words: “1st”, “12th”."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10 if number // 10 % 10 != 1 else 0, "th")
    return f"{number}{ending}"


def coming(on: date, now: date) -> str:
    """Return a day to come as short as it can be understood: today, tomorrow, a weekday, a date, a month."""
    days = (on - now).days
    if days in (0, 1):
        return "tomorrow" if days else "today"
    if days >= _YEAR:
        return f"{on:%b %Y}"
    return f"{on:%a}" if 1 < days < _WEEK else f"{on.day} {on:%b}"


def in_bench(text: str) -> str:
    """Return what the engine says without sentences of the shell; where the bench does the same, it says so.

    Args:
        text: A message, remedy or notice of the engine.
    """
    if not SHELL.search(text):
        return text
    text = _ASIDE.sub("", _ALSO_HERE.sub(r" \1", text))
    said: list[str] = []
    for sentence in _SENTENCE.split(text):
        for each in _without_shell(sentence):
            if each not in said:
                said.append(each)
    return " ".join(said)


def _without_shell(sentence: str) -> list[str]:
    """Return what is left of a sentence, and what stands for the rest of it."""
    if not SHELL.search(sentence):
        return [sentence]
    kept: list[str] = []
    for part in _PART.split(sentence):
        if SHELL.search(part):
            break
        kept.append(part)
    last = kept[-1] if kept else ""
    if last.endswith(_ENDS_OPEN) or (last.endswith(":") and _INTRODUCES.match(last)):
        kept.pop()
    before = " ".join(kept).rstrip(" ;:,").removesuffix(" until").rstrip(",")
    return [each for each in (f"{before}." if before else "", _instead(sentence)) if each]


def _instead(sentence: str) -> str:
    found = _COMMAND.search(sentence)
    if found is None:
        return ""
    whole = f"{found[1]} {found[3] or ''}".strip()
    return _INSTEAD.get(whole, _INSTEAD.get(found[1], ""))


def told_in_bench(error: WorkbenchError) -> str:
    """Return what is wrong and what mends it, as sentences of the bench."""
    message = in_bench(error.message)
    remedy = in_bench(error.remedy or "")
    if isinstance(error, BudgetExceeded) and error.candidates:
        # The ids that the remedy gives are for the command line.
        first = ", ".join(
            f"{quoted(text)} ({counted(size, 'token')})" for text, size in error.candidates[:_MOST_NAMED]
        )
        remedy = f"What could go: {first}."
    if not remedy:
        return message
    if not message:
        return remedy
    stop = "" if message.rstrip("”’)").endswith((".", "!", "?", "…")) else "."
    return f"{message}{stop} {remedy}"


def answer_effect(block: str, *, writes: bool) -> str:
    """Return what an answer to a question does to core memory.

    Args:
        block: Of core memory, as it reads.
        writes: Whether the answer is written there; else it says what becomes of a line that stands there.
    """
    if writes:
        return f"Your answer is written into {block}, in core memory."
    return f"“No” takes it out of {block}, “yes” keeps it, another line replaces all of it."
