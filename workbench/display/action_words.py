"""Says in plain words what was done to memory, by whom and why."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from workbench.display import words
from workbench.display.words import QUOTES_WITHIN, counted
from workbench.engine import layout
from workbench.engine.patterns import lazy_pattern
from workbench.engine.settings.schema import Unfit
from workbench.engine.settings.sections import SCHEMA
from workbench.engine.settings.wording import HALF_LIFE, meant, wording
from workbench.engine.settings.wording import said as said_value

if TYPE_CHECKING:
    from workbench.engine.results.audit import Action

REFLECTION = "reflection:"
_ACCEPTED = "bot:commit-from:"
_IT = lazy_pattern(r"^(linked|unlinked) it (to|from)")
_RELATED = lazy_pattern(r"(added|removed) relation (\S+) → (“.*?”|\S+)")
_NOTED = lazy_pattern(r"(?:The agent|\S+) (noted|learned|proposed) “(.*?)”?", re.DOTALL)
OUTSIDE = "in another program"
# An id of a memory, as summaries name it.
_ID_PATTERN = r"(?:entity|episode|core|procedure|vault|file):\S*[\w)]|\b[a-z]+--[\w-]+"
_ID = lazy_pattern(_ID_PATTERN)
_ID_OR_FILE = lazy_pattern(rf"(?:[\w./-]*/)?(?P<slug>[a-z]+--[\w-]+)\.md\b|{_ID_PATTERN}")
_TRANSITION = lazy_pattern(r"(\d+ )?(active|fading|dormant|archived)→(active|fading|dormant|archived)")
_TRANSITIONED = lazy_pattern(
    r"(active|fading|dormant|archived)→(active|fading|dormant|archived) \\(([^()]*)\\)"
)
_LEVELS = ("archived", "dormant", "fading", "active")
_DECIDED = "approved|rejected|deferred|took back the decision on"
_COUNTED = lazy_pattern(rf"\b({_DECIDED}) ((?:r-[\w.]+(?:, (?=r-))?)+)(?: and (\d+) more)?")
_TICKED = {
    "approved": "accepted",
    "rejected": "declined",
    "deferred": "set aside",
    "took back the decision on": "left open",
}
_SESSION_KEY = lazy_pattern(r"\bagent:[\w:.-]*\w")
_SEVERAL = lazy_pattern(r"(.*), and ([\d,]+) more commits? of the same action", re.DOTALL)
_EDITED = r"edited|answered|reworded|changed [a-z, -]+ of|let (?:this|that|both) hold of"
_REVIEWED = lazy_pattern(rf"(?:{_DECIDED}|{_EDITED}) r-")
_ITEM = r"r-[\w.]+"
# Of a commit; its time was not always noted.
_MOMENT = r"[0-9a-f]+(?: \(([\d-]+ [\d:]+)\))?"
_TICK = rf"(?:, (?:{_DECIDED}|undecided))?"
_AGAIN = {"undid": "took back", "reverted": "took back", "redid": "brought back"}
_BACK = lazy_pattern(r"(?:(?:You|The agent|[\w-]+) )?(took|brought) back: (.*)", re.DOTALL)
_VERDICT = lazy_pattern(r"\b(accepted|rejected|deferred) proposals? (#\d+(?:, #\d+)*)(?: and (\d+) more)?")

# What summaries of the history say, and how a person would say it after “you” or “the agent”; a sentence of its own
# begins with a capital.
_SAYINGS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = tuple(
    (lazy_pattern(pattern, re.DOTALL), said)
    for pattern, said in (
        (r"(?:logged|remembered) (“.*”)", r"noted \1"),
        (r"protected (“.*”)", r"put \1 into the vault"),
        (r"extended (“.*”)", r"added to \1"),
        (r"new entity (“.*?”) \((\w+)\).*", r"added \1 to the graph"),
        (r"added fact (“.*?”)(?:; .*)?", r"learned \1"),
        (r"added relation (\S+) → (“.*?”|\S+)", lambda m: f"linked it to {named(m[2])} ({m[1]})"),
        (r"removed relation (\S+) → (“.*?”|\S+)", lambda m: f"unlinked it from {named(m[2])} ({m[1]})"),
        (r"changed “.*?” to (“.*”)( in .*)?", lambda m: f"reworded {m[1]}{m[2] or ''}"),
        (r"history begins with (.*)", r"History began with \1"),
        (r"laid out the workspace", "The folder was laid out"),
        (r"edited outside the engine.*", "Changed in another program"),
        (r"created outside the engine.*", "Made in another program"),
        (r"deleted outside the engine.*", "Deleted in another program"),
        (r"renamed from (\S+) outside the engine.*", r"Renamed in another program, from \1"),
        (r"(\d+ files) changed outside the engine.*", r"Changed in another program: \1"),
        (r"(\d+) entr(?:y|ies) transitioned: (.*)", lambda m: _faded(int(m[1]), m[2])),
        (r"folded in (\d+) accesse?s? of (\d+) (memor\w+)", lambda m: f"counted {_uses(m[1])} of {m[2]} {m[3]}"),
        (r"reinforced (.*)", lambda m: f"counted a use of {_names(m[1])}"),
        (r"#\d+ (“.*”)", r"proposed \1"),
        (r"(r-\S+) proposes (\d+ changes?)", r"Reflection: \2 proposed"),
        (r"(r-\S+) found nothing to propose", "Reflection: nothing new was found"),
        (r"(?:accepted|rejected|deferred) proposals? #.*", lambda m: _verdicts(m[0])),
        (r"applied (\d+) items?(?:, rejected (\d+) items?)? of (r-\S+)",
         lambda m: f"Reflection: {m[1]} accepted" + (f", {m[2]} declined" if m[2] else "")),
        (rf"(?:{_DECIDED}|{_EDITED}) r-.*, and (\d+) more commits? of the same action",
         lambda m: f"ticked changes of a reflection, {int(m[1]) + 1} times"),
        (rf"took back the decision on {_ITEM} (“.*”)", r"took the tick from \1"),
        (rf"({_DECIDED}) {_ITEM} (“.*”)", lambda m: f"ticked {m[2]}: {_TICKED[m[1]]}"),
        (rf"(?:{_DECIDED}) r-.*", lambda m: _ticks(m[0])),
        (rf"let (?:this|that) hold of {_ITEM} (“.*”){_TICK}", r"ticked \1: it holds"),
        (rf"let both hold of {_ITEM} (“.*”){_TICK}", r"ticked \1: both hold"),
        (rf"answered {_ITEM} (“.*”: .*?){_TICK}", r"answered \1"),
        (rf"reworded {_ITEM} as (“.*”){_TICK}", r"reworded a change of a reflection: \1"),
        (rf"changed ([a-z, -]+) of {_ITEM} (“.*”){_TICK}", r"changed \1 of \2"),
        # As histories said it before they quoted what was edited.
        (r"edited r-[\d.]+(?:, approved)?", "answered or reworded a change of a reflection"),
        (r"(undid|redid|reverted) [A-Z]+ [0-9a-f]{7,40}(?: and \d+ that go on with it)?: (.*)",
         lambda m: _once(_AGAIN[m[1]], plainly(m[2]))),
        (r"reverted [0-9a-f]{7,40}(?: and \d+ that go on with it)?: (.*)", lambda m: _once("took back", plainly(m[1]))),
        (r"reverted item (\S+) of .*", r"took back one change of a reflection (\1)"),
        (r"rolled back reflection:(\S+).*", r"took back reflection \1"),
        (r"rolled back to ([\dT:+-]+)?.*", lambda m: "brought everything back as it was" + _then(m[1])),
        (rf"restored (\d+) memories as of {_MOMENT}",
         lambda m: f"brought {m[1]} memories back as they were{_then(m[2])}"),
        (rf"restored (“.*?”|\S+) as of {_MOMENT}",
         lambda m: f"brought {named(m[1])} back as it was{_then(m[2])}"),
        (r"merged (“.*?”|\S+) into (“.*?”|\S+)", lambda m: f"merged {named(m[1])} into {named(m[2])}"),
        (r"parted (“.*?”|\S+) from (“.*?”|\S+)", lambda m: f"took {named(m[1])} and {named(m[2])} apart again"),
        (r"acknowledged alert \S+ about (.+)", lambda m: f"kept the change of {named(m[1])}"),
        (r"acknowledged alert .*", "kept the change"),
        # As histories said it before `allowed a secret to be stored`.
        (r"secrets\.allow: (\w+) allowed",
         lambda m: f"allowed {'a secret' if len(m[1]) == 16 else f'{m[1]} secrets'} to be stored"),
        (r"([a-z_]+(?:\.[a-z_]+)+) = (.*)", lambda m: f"set {_setting(m[1])} to {_value(m[1], m[2])}"),
        (r"summed up (\d+) commits before (\S+)", lambda m: f"shortened the audit log before {_day(m[2])}"),
        (r"(?:edited|wrote) (\S+\.(?:md|toml|json))", lambda m: f"edited {named(m[1])}"),
        (r"(pinned|unpinned|archived|restored) ((?:entity|episode|core|procedure|vault):.*)",
         lambda m: f"{m[1]} {_names(m[2])}"),
    )
)  # fmt: skip


def _once(did: str, what: str) -> str:
    """Say what was taken back or brought back; what was one of these itself became the other, however often."""
    if did == "took back":
        said = taken_back(what)
        return said[:1].lower() + said[1:]
    return what if _BACK.fullmatch(what) else f"{did}: {what}"


def taken_back(said: str) -> str:
    """Say that what a sentence tells of was taken back; a taking back by that is a bringing back, and the reverse.

    Args:
        said: “You pinned “Ferry””, “took back: pinned “Ferry””.
    """
    if found := _BACK.fullmatch(said):
        return f"{'Brought' if found[1] == 'took' else 'Took'} back: {found[2]}"
    return f"Took back: {_within(said)}"


def brought_back(said: str) -> str:
    """Say that what a sentence tells of, and that was taken back, was brought back; see `taken_back`."""
    if found := _BACK.fullmatch(said):
        return f"{found[1].capitalize()} back: {found[2]}"
    return f"Brought back: {_within(said)}"


def _within(said: str) -> str:
    """Return a sentence as it goes on behind a colon: without “You”, “the agent” in small letters."""
    if said.startswith("The "):
        return said[:1].lower() + said[1:]
    return said.removeprefix("You ")


def _verdicts(told: str) -> str:
    """Say how proposals were decided on; their numbers name them to nobody."""
    parts = []
    for word, numbers, more in _VERDICT.findall(told):
        count = len(numbers.split(", ")) + int(more or 0)
        parts.append(
            f"{_TICKED[word.replace('accepted', 'approved')]} {'a proposal' if count == 1 else f'{count} proposals'}"
        )
    both = ", both of what contradicts itself" if "both of what contradicts" in told else ""
    return ", ".join(parts) + both


def named(name: str) -> str:
    """Return what a person calls a memory or file, given its id or path; words in quotes are what it is called."""
    if name.startswith("“"):
        return name
    kind, colon, rest = name.partition(":")
    if not colon or kind not in ("entity", "episode", "core", "procedure", "vault", "file"):
        kind, rest = "file", name
    if kind == "episode":
        return f"the entry of {_day(rest)}" if re.match(r"\d{4}-\d{2}-\d{2}", rest) else rest
    if rest == layout.CORE:
        return "core memory"
    stem = rest.partition("#^")[0].rpartition("/")[2].removesuffix(".md").removesuffix(".toml")
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", stem):
        return f"the log of {_day(stem)}"
    type_, _, slug = stem.rpartition(":")[2].rpartition("--")
    called = slug_words(slug).title() if type_ == "person" else slug_words(slug)
    return f"“{called}”" if kind != "file" or "--" in stem or "/" in rest else rest


def slug_words(name: str) -> str:
    """Return the words of a slug, or of an entity's `type--slug`."""
    text = (name.partition("--")[2] or name).replace("-", " ").replace("_", " ").strip()
    return text[:1].upper() + text[1:]


def _setting(key: str) -> str:
    return wording(key).title if key in SCHEMA else key


def _value(key: str, text: str) -> str:
    """Return a value as people are told it; a rate of decay stands in the file, and they know its half-life."""
    try:
        return said_value(key, meant(key, text)) if key == HALF_LIFE else text
    except Unfit:
        return text


def _names(text: str) -> str:
    return _ID.sub(lambda found: named(found[0]), text)


def by_title(summary: str, title_of: Callable[[str], str], file: str = "") -> str:
    """Return what the history says of an action, memories called by their words where they have any.

    Args:
        file: What it changed first; an entity whose relations are told goes by its name too.
    """

    def said(found: re.Match[str]) -> str:
        # Relations name entities by their slugs, edits by their files.
        name = found["slug"] or found[0]
        id_ = name if ":" in name else f"entity:{name}"
        title = " ".join(title_of(id_).split()).translate(QUOTES_WITHIN)
        return f"“{title}”" if title and title != id_ else found[0]

    told = _ID_OR_FILE.sub(said, summary)
    related = _RELATED.fullmatch(told)
    whose = _ID_OR_FILE.sub(said, file) if related is not None else ""
    if related is None or not whose.startswith("“"):
        return told
    did, to = ("linked", "to") if related[1] == "added" else ("unlinked", "from")
    return f"{did} {whose} {to} {named(related[3])} ({related[2]})"


def _uses(count: str) -> str:
    return "one use" if count == "1" else f"{count} uses"


def _day(iso: str) -> str:
    """Return the day that a text begins with: “2 Feb”."""
    return f"{int(iso[8:10])}\u00a0{words.MONTHS[int(iso[5:7]) % 13]}"


def _then(moment: str | None) -> str:
    found = re.match(r"\d{4}-\d{2}-\d{2}(?:[T ](\d{2}:\d{2}))?", moment or "")
    return f" on {_day(found[0])}" + (f", {found[1]}" if found[1] else "") if found else ""


def _faded(total: int, told: str) -> str:
    """Say what a day did to memories that nobody used, or that were used again."""
    counts: dict[str, int] = {}
    for number, before, after in _TRANSITION.findall(told):
        better = _LEVELS.index(after) > _LEVELS.index(before)
        word = "came back" if better else "archived" if after == "archived" else "faded"
        counts[word] = counts.get(word, 0) + (int(number) if number.strip() else total)
    return "Upkeep: " + (
        ", ".join(f"{count} {word}" for word, count in counts.items()) or f"{total} rescored"
    )


def faded(summary: str) -> list[tuple[str, list[str]]]:
    """Return what became of memories on a day, given what the history says: the words, and the ids."""
    found = []
    for before, after, ids in _TRANSITIONED.findall(summary):
        better = _LEVELS.index(after) > _LEVELS.index(before)
        word = f"back to {after}" if better else f"{before} → {after}"
        found.append((word, [each.strip() for each in ids.split(", ")]))
    return found


def _ticks(told: str) -> str:
    found = [
        f"{len(ids.split(', ')) + int(more or 0)} {_TICKED[word]}"
        for word, ids, more in _COUNTED.findall(told)
    ]
    return "ticked changes of a reflection: " + ", ".join(found) if found else told


def plainly(summary: str) -> str:
    """Say what a summary of the history says, as a person would: after “you”, or with a capital by itself."""
    return _plainly(summary)


@lru_cache(maxsize=4096)
def _plainly(summary: str) -> str:
    if (several := _SEVERAL.fullmatch(summary)) and not _REVIEWED.match(summary):
        return f"{plainly(several[1])} and {counted(int(several[2].replace(',', '')), 'more change')}"
    for pattern, said in _SAYINGS:
        if found := pattern.fullmatch(summary):
            return said(found) if callable(said) else found.expand(said)
    first, *more = _parts(summary)
    if more:
        return f"{plainly(first)} and {len(more)} more"
    return _names(summary)


def _parts(summary: str) -> list[str]:
    """Split what was told together, but not inside quotes."""
    return re.sub(r"“[^”]*”", lambda found: found[0].replace("; ", "\x1f"), summary).split("; ")


def by_whom(owner: str) -> str:
    """Return whose an action is, given how the engine says it: “the agent”, not “the main agent (bot:main)”."""
    return owner.partition(" (")[0].replace("the main agent", "the agent").replace("the person", "you")


def who(action: Action) -> str:
    """Return who did it, as a sentence begins."""
    if action.owner == "person" or action.actor.startswith("import:"):
        return "You"
    if action.actor.startswith("skill:"):
        return words.who(action.actor)
    if action.owner.startswith("person as "):
        said = words.who(action.owner.removeprefix("person as "))
    else:
        said = words.who(action.owner) if action.owner != "main" else "the agent"
    return said[:1].upper() + said[1:]


def brief(action: Action) -> tuple[str, str]:
    """Return what a list says of an action, and who did it where the words alone stand for what was noted."""
    told = sentence(action)
    said = _NOTED.fullmatch(told)
    if said is None:
        return told, ""
    return f"{'Proposal: ' if said[1] == 'proposed' else ''}{said[2]}", who(action).lower().removeprefix(
        "the "
    )


def is_outside(action: Action) -> bool:
    """Return whether another program did it; taking it back is somebody's own action."""
    return "outside the engine" in action.summary and not action.summary.startswith(tuple(_AGAIN))


def of_file(said: str, file: str) -> str:
    """Name the file in what is said of a change by another program, or of taking that back; all else stays."""
    again, colon, changed = said.rpartition(": ")
    if not changed.endswith(OUTSIDE) or again not in ("", "brought back", *_AGAIN.values()):
        return said
    return f"{again}{colon}{file} was {changed[:1].lower()}{changed[1:]}"


def sentence(action: Action) -> str:
    """Say in one sentence what an action did, and who did it."""
    file = named(action.files[0]) if action.files else "memory"
    if action.kind == "ALERT":
        return action.summary.removesuffix(" Pending user acknowledgment.")
    if action.kind == "ACK":
        files = words.listed([named(each) for each in action.files]) or file
        return f"You kept the change{'s' * (action.commits > 1)} of {files}"
    if action.kind == "SYNC":
        return f"Sync: {action.summary}"
    if action.actor.startswith(REFLECTION):
        return _reflected(action)
    if action.accepted + action.declined + action.set_aside > 1:
        return f"You {wrote(action)}"
    more = f", and {action.commits - 1:,} more commits of the same action" if action.commits > 1 else ""
    ticked = plainly(action.summary + more) if more and _REVIEWED.match(action.summary) else ""
    said = (ticked or plainly(action.summary)).replace("\x1f", "; ")
    if is_outside(action) and said.endswith(OUTSIDE) and len(action.files) == 1:
        said = of_file(said, file)
        # The name of a file is written as it is.
        return said if file == action.files[0] else said[:1].upper() + said[1:]
    if action.actor.startswith(_ACCEPTED):
        return f"{who(action)} accepted a proposal of {action.actor.removeprefix(_ACCEPTED)}"
    said = of_file(said, file) if len(action.files) == 1 else said
    said = _IT.sub(lambda found: f"{found[1]} {file} {found[2]}", said)
    if said[:1].isupper():
        return said
    return f"{'Upkeep:' if action.upkeep else who(action)} {said}"


def wrote(counts: words.Decided) -> str:
    """Say how many decisions were written, and how they were."""
    total = counts.accepted + counts.declined + counts.set_aside
    kinds = "" if total == counts.accepted else f": {words.kinds_of_decisions(counts)}"
    return f"wrote {words.counted(total, 'decision')}{kinds}"


def _reflected(action: Action) -> str:
    if action.accepted or action.declined:
        return f"Reflection: {words.kinds_of_decisions(action)}"
    return f"Reflection: {counted(action.memories, 'memory', 'memories')} changed"


def why(action: Action) -> str:
    """Say what an action was done for; empty where nobody said."""
    trigger = action.trigger.strip(" —")
    trigger = _SESSION_KEY.sub(lambda found: f"session {words.session(found[0])}", trigger)
    if said := re.match(r"user said “(?:remember )?(.*?)”?$", trigger, re.DOTALL):
        return f"You said “{_names(said[1])}”."
    if trigger.startswith("noticed"):
        return f"{trigger[:1].upper()}{trigger[1:]}."
    if trigger.startswith("reflection (") or trigger == "review applied":
        return (
            "You accepted it in the Inbox."
            if trigger == "review applied"
            else f"{trigger[:1].upper()}{trigger[1:]}."
        )
    if action.owner == "person" and is_outside(action):
        return "Found in the file; it was not written here."
    return {"approved": "You approved it.", "pending": "It waited for you."}.get(action.approval, "")
