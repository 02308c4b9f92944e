"""Makes what the engine says of an error fit for the bench, where nobody is sent to the shell."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from workbench.engine.patterns import lazy_pattern

if TYPE_CHECKING:
    from workbench.engine.errors import WorkbenchError

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
    if not remedy:
        return message
    if not message:
        return remedy
    stop = "" if message.rstrip("”’)").endswith((".", "!", "?", "…")) else "."
    return f"{message}{stop} {remedy}"
