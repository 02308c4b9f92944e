"""Every key and place of the bench: one verb, one key, and what is said where it cannot act."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.tui.places.place import Place


@dataclass(frozen=True)
class Command:
    """Something a person can do.

    Args:
        id: Its name, for remapping and for the place or part that does it.
        keys: In Textual's names; the first is shown.
        label: A word or two for the key line; empty where the key goes without saying.
        elsewhere: What the status line says where it cannot act.
        rank: The higher, the longer it stays in a key line that gets narrow.
    """

    id: str
    keys: tuple[str, ...]
    label: str
    help: str
    elsewhere: str = "That key does nothing here."
    rank: int = 0


_NO_PAIR = "Only two contradicting statements are decided with ⸨older⸩ ⸨newer⸩ ⸨both⸩."
_NOTHING_WAITS = "Nothing waits here; 2 is the Inbox."
_ENTITIES = "That is for entities; 5 is the Graph."
_SESSIONS = "That is for sessions; 8 has them."
_ONLY_HELD = "Only secrets that were held back are shown or left out."
_MARKED_IN_LIST = "Rows are marked in the list; ⸨next-part⸩ goes there."

MOVING = (
    Command("move-down", ("j", "down"), "", "Go down by a row or line."),
    Command("move-up", ("k", "up"), "", "Go up by a row or line."),
    Command("half-down", ("ctrl+d",), "", "Go down by half a page."),
    Command("half-up", ("ctrl+u",), "", "Go up by half a page."),
    Command("page-down", ("pagedown",), "", "Go down by a page."),
    Command("page-up", ("pageup",), "", "Go up by a page."),
    Command("first", ("home",), "", "Go to the first row.", ""),
    Command("last", ("G", "end"), "", "Go to the last row."),
    Command("next-heading", ("}",), "", "Go to the next heading.", "There are no headings here."),
    Command("previous-heading", ("{",), "", "Go to the heading before.", "There are no headings here."),
)
FRAME = (
    Command("back", ("[",), "", "Go back to where you were.", "This is where you began."),
    Command("forward", ("]",), "", "Go forward again.", "You have not gone back."),
    Command(
        "next-part", ("tab",), "", "Go to the next part: list, card, evidence.", "There is only the list."
    ),
    Command("previous-part", ("shift+tab",), "", "Go to the part before.", "There is only the list."),
    Command("open", ("enter",), "open", "Go into the card of this row.", "There is no row here.", 60),
    Command("out", ("escape",), "", "Go one step out.", "^q leaves the bench."),
    Command("ask", ("/",), "ask", "Ask memory something.", "", 55),
    Command("help", ("?", "f1"), "keys", "List the keys of this place.", "", 100),
    Command("quit", ("ctrl+q",), "", "Leave the bench."),
    Command("next-theme", ("ctrl+t",), "", "Take the next theme.", "There is one theme."),
    Command("undo", ("u",), "", "Take back what was done last."),
    Command("redo", ("U",), "", "Bring back what was taken back."),
    Command("mark", ("space",), "", "Mark this row, or unmark it.", _MARKED_IN_LIST),
    Command("range", ("V",), "", "Mark from here to where ⸨range⸩ is pressed again.", _MARKED_IN_LIST),
    Command("details", ("x",), "details", "Show formula, id and lines of the card, or hide them.", "", 30),
    Command(
        "evidence",
        ("o",),
        "evidence",
        "Open where this comes from.",
        "Nobody noted where this came from.",
        70,
    ),
)
VERBS = (
    Command("edit", ("e",), "edit", "Edit here.", "This cannot be edited here.", 90),
    Command("edit-outside", ("E",), "", "Edit in your editor.", "This cannot be edited in an editor."),
    Command("discard", ("ctrl+x",), "", "Throw the draft of this away.", "There is no draft of this."),
    Command("pin", ("p",), "pin", "Keep from fading, or let it fade again.", "This cannot be pinned.", 85),
    Command(
        "forget", ("f",), "forget", "Take out of what the agent recalls.", "This cannot be forgotten.", 80
    ),
    Command(
        "bring-back",
        ("r",),
        "bring back",
        "Bring back what was archived or changed.",
        "This is as it is now; there is nothing to bring back.",
        72,
    ),
    Command("accept", ("a",), "accept", "Tick as accepted.", _NOTHING_WAITS, 97),
    Command("decline", ("d",), "decline", "Tick as declined.", _NOTHING_WAITS, 96),
    Command("set-aside", ("s",), "aside", "Set aside until the next reflection.", _NOTHING_WAITS, 50),
    Command("write", ("w",), "write", "Write all that is ticked, after a preview.", "Nothing is ticked.", 89),
    Command("older", ("<",), "older", "Take the older of two statements.", _NO_PAIR, 93),
    Command("newer", (">",), "newer", "Take the newer of two statements.", _NO_PAIR, 92),
    Command("both", ("=",), "both", "Keep both statements, marked as contradicting.", _NO_PAIR, 91),
    Command("new", ("n",), "new", "Write a new memory.", "A new memory cannot be written here.", 45),
    Command("reflect", ("R",), "reflect", "Read what is new.", "Everything has been read.", 40),
    Command("history", ("h",), "history", "Show the history of this.", "It was never changed.", 35),
    Command(
        "compare",
        ("c",),
        "",
        "Compare or connect with a second one.",
        "Mark two rows with ⸨mark⸩, then ⸨compare⸩.",
        46,
    ),
    Command(
        "filter",
        ("l",),
        "filter",
        "Filter the list; in a text, find.",
        "This list cannot be filtered.",
        44,
    ),
    Command("find", ("ctrl+f",), "", "Find in this text.", "There is no text here."),
    Command(
        "next", ("N",), "", "Go to the next match, or row that is not ticked.", "There is no other match."
    ),
    Command("previous", ("P",), "", "Go to the match before.", "There is no other match."),
    Command("jump", (";",), "", "Jump to a row by a letter.", "There is nothing to jump to."),
    Command("run", ("ctrl+p",), "all", "Run anything, go anywhere.", "", 54),
    Command("left", ("left",), "", "Go left along the row.", "There is nothing to the side."),
    Command("right", ("right",), "", "Go right along the row.", "There is nothing to the side."),
    Command("closer", ("+",), "", "Look closer.", "There is nothing to zoom into here.", 47),
    Command("wider", ("-",), "", "Look wider.", "There is nothing to zoom out of here."),
)


@dataclass(frozen=True)
class Prefix:
    """A key that waits for another, with the sheet of what may follow.

    Args:
        commands: What may follow, by its second key.
    """

    key: str
    title: str
    commands: tuple[Command, ...]


PREFIXES = (
    Prefix(
        "g",
        "go",
        (
            Command("first", ("g",), "first row", "Go to the first row."),
            Command(
                "go-day",
                ("d",),
                "to a day…",
                "Go to a day; where there are no days, see memory as it was on it, in the past.",
                "There is nothing of any day yet.",
                53,
            ),
            Command("go-core", ("b",), "in Core", "Show this in Core.", "This is not core memory."),
            Command(
                "go-timeline", ("t",), "in Timeline", "Show this in the Timeline.", "This is not an episode."
            ),
            Command("go-graph", ("r",), "in Graph", "Show this in the Graph.", "It names no entity."),
            Command("go-decay", ("f",), "in Decay", "Show this in Decay.", "It does not fade."),
            Command("go-history", ("h",), "in History", "Show this in History.", "It was never changed."),
            Command("go-session", ("s",), "its session", "Go to its session.", "It comes from no session."),
            Command(
                "go-mine",
                ("m",),
                "my last edit",
                "Go to what you changed last.",
                "You have changed nothing yet.",
            ),
            Command("go-alert", ("a",), "oldest alert", "Go to the oldest alert.", "There is no alert."),
        ),
    ),
    Prefix(
        "v",
        "view",
        (
            Command(
                "view-next",
                ("v",),
                "next view",
                "Show the next view of this place.",
                "There is no other view here; v lists what can be shown.",
            ),
            Command(
                "view-list",
                ("l",),
                "list",
                "Show as a list.",
                "There is no other view here; v lists what can be shown.",
            ),
            Command(
                "view-drawing",
                ("g",),
                "drawing",
                "Draw the Graph: how an entity is connected.",
                "This place has no drawing; 5 is the Graph, which has one.",
                52,
            ),
            Command("view-table", ("t",), "table", "Show as a table.", "This place has no table."),
            Command("view-path", ("p",), "path", "Show a path.", "This place has no paths."),
            Command("view-heat", ("h",), "heatmap", "Show the heatmap.", "This place has no heatmap."),
            Command("sort", ("s",), "sort by…", "Sort differently.", "This list has one order."),
            Command("group", ("o",), "group by…", "Group differently.", "This list has one grouping."),
            Command(
                "show-upkeep",
                ("u",),
                "upkeep",
                "List upkeep and ticks taken back in History, or hide them.",
                "Nothing is kept up here.",
            ),
            Command(
                "only-changed", ("c",), "only changes", "Show only what changed.", "Nothing is compared here."
            ),
        ),
    ),
    Prefix(
        "z",
        "size",
        (
            Command("zoom", ("z",), "this part alone", "Give this part the whole screen, and back."),
            Command("split-left", ("left",), "split left", "Move the split left."),
            Command("split-right", ("right",), "split right", "Move the split right."),
            Command("split-up", ("up",), "split up", "Move the split up."),
            Command("split-down", ("down",), "split down", "Move the split down."),
            Command("split-reset", ("=",), "default", "Put the splits back."),
            Command("show-rail", ("r",), "rail on, off", "Show or hide the rail."),
            Command("show-evidence", ("e",), "evidence on, off", "Show or hide the evidence."),
        ),
    ),
    Prefix(
        "y",
        "copy",
        (
            Command("copy-text", ("y",), "text", "Copy the text.", "There is nothing to copy."),
            Command("copy-citation", ("c",), "citation", "Copy file and lines.", "This stands in no file."),
            Command(
                "copy-quote",
                ("q",),
                "quote, who, when",
                "Copy the quote, who said it and when.",
                "Nobody noted what was said for this.",
            ),
            Command("copy-id", ("i",), "id", "Copy the id.", "There is nothing to copy."),
            Command(
                "copy-marked",
                ("l",),
                "all marked",
                "Copy all that is marked, one a line.",
                "Mark rows with ⸨mark⸩ first.",
            ),
        ),
    ),
    Prefix(
        "m",
        "more",
        (
            Command(
                "merge", ("m",), "merge", "Merge two that are marked.", "Mark two rows with ⸨mark⸩ first."
            ),
            Command("reinforce", ("r",), "reinforce", "Count a use.", "Only memories are reinforced."),
            Command("rename", ("n",), "rename…", "Give an entity another name.", _ENTITIES),
            Command("link", ("l",), "link to another…", "Relate an entity to another.", _ENTITIES),
            Command("unlink", ("k",), "remove relation", "Remove the relation under the cursor.", _ENTITIES),
            Command("retire", ("t",), "retire", "Mark a fact as true until today.", _ENTITIES),
            Command("add-entity", ("N",), "new entity…", "Add a person, a project, a thing.", _ENTITIES),
            Command("compact", ("c",), "compact", "Replace the older part by a summary.", _SESSIONS),
            Command(
                "save-now",
                ("f",),
                "save what matters",
                "Save what matters of a session now.",
                _SESSIONS,
            ),
            Command(
                "start-over", ("b",), "start over", "Start the session over; its transcript stays.", _SESSIONS
            ),
            Command("repair", ("e",), "repair", "Repair a damaged transcript.", _SESSIONS),
            Command(
                "other-sessions",
                ("p",),
                "sessions of another place…",
                "List the sessions of another folder or program as well.",
                _SESSIONS,
            ),
            Command("import", ("i",), "import…", "Bring memory in.", "Import cannot be opened here."),
            Command("export", ("o",), "export…", "Write memory out.", "Export cannot be opened here."),
            Command(
                "sync", ("y",), "sync…", "Share memory with other devices.", "Sync cannot be opened here."
            ),
            Command(
                "tokens",
                ("u",),
                "tokens…",
                "List the tokens of agents on other machines, and revoke one.",
                "Tokens cannot be opened here.",
            ),
            Command(
                "verify-history",
                ("h",),
                "check history",
                "Check that history, log and files agree.",
                "History is checked in History; 7 goes there.",
            ),
            Command(
                "why-not",
                ("w",),
                "why not…",
                "Ask why a memory is not among the results.",
                "Ask something first; ⸨why-not⸩ then asks why a memory is not among the results.",
            ),
            Command("health", ("d",), "index and health", "Show what works in part.", "Everything works."),
            Command("reveal", ("v",), "reveal", "Show a secret on this screen, or mask it.", _ONLY_HELD),
            Command(
                "store-without",
                ("x",),
                "store without it",
                "Store the rest, the secret left out.",
                _ONLY_HELD,
            ),
            Command(
                "store-elsewhere",
                ("s",),
                "store in…",
                "Store in another place.",
                "Only a proposal, or a secret that waits, is stored in another place.",
            ),
            Command(
                "accept-group", ("a",), "tick this group", "Tick every row of this group.", _NOTHING_WAITS
            ),
            Command(
                "try-half-life",
                ("g",),
                "another half-life",
                "Try another half-life: the rate at which memories fade.",
                "A half-life is tried in Decay; 6 goes there.",
                52,
            ),
        ),
    ),
)

# Where alone a command of a sheet can act; all others wherever there is something for them.
ACTS_IN = {
    **dict.fromkeys(("merge", "rename", "link", "unlink", "retire", "add-entity"), ("graph",)),
    **dict.fromkeys(("view-drawing", "view-table", "view-path"), ("graph",)),
    **dict.fromkeys(("view-next", "view-list"), ("graph", "decay")),
    **dict.fromkeys(("compact", "save-now", "start-over", "repair", "other-sessions"), ("sessions",)),
    **dict.fromkeys(("reveal", "store-without", "store-elsewhere", "accept-group"), ("inbox",)),
    **dict.fromkeys(("show-upkeep", "verify-history"), ("history",)),
    **dict.fromkeys(("view-heat", "group"), ("decay",)),
    "sort": ("today", "graph", "decay"),
    "only-changed": ("history", "decay"),
    "why-not": ("ask",),
    "try-half-life": ("decay", "settings"),
}

CHANGING = frozenset(
    {"edit", "edit-outside", "discard", "pin", "forget", "bring-back", "accept", "decline", "set-aside", "write",
     "older", "newer", "both", "new", "merge", "reinforce", "rename", "link", "unlink", "retire", "add-entity",
     "compact", "save-now", "start-over", "repair", "reveal", "store-without", "store-elsewhere", "accept-group"}
)  # fmt: skip
"""What changes the memory that a row or card is about; where a source of it is read, none of them acts."""

COMMANDS = (*MOVING, *FRAME, *VERBS)
COMMAND = {
    command.id: command for command in (*COMMANDS, *(each for prefix in PREFIXES for each in prefix.commands))
}
_NAMES = {
    "up": "↑", "down": "↓", "left": "←", "right": "→", "escape": "esc", "question_mark": "?", "slash": "/",
    "left_square_bracket": "[", "right_square_bracket": "]", "less_than_sign": "<", "greater_than_sign": ">",
    "equals_sign": "=", "plus": "+", "minus": "-", "semicolon": ";", "comma": ",", "left_curly_bracket": "{",
    "right_curly_bracket": "}", "at": "@", "pageup": "pgup", "pagedown": "pgdn", "shift+tab": "⇧tab",
}  # fmt: skip
_KEPT = {"up", "down", "left", "right", "escape", "pageup", "pagedown", "shift+tab"}
_TYPED = {name: sign for name, sign in _NAMES.items() if name not in _KEPT}


def canonical(key: str) -> str:
    """Return a key of Textual by the name that this table has for it: `question_mark` is `?`."""
    return _TYPED.get(key, key)


def written(key: str) -> str:
    """Return how a key is written for people: `ctrl+p` as `^p`, `escape` as `esc`."""
    return "^" + key[5:] if key.startswith("ctrl+") else _NAMES.get(key, key)


def pressed(signs: str) -> tuple[str, ...]:
    """Return the keys of what is written for people: `m g` is two, `^p` is `ctrl+p`."""
    names = {sign: name for name, sign in _NAMES.items()}
    return tuple(
        "ctrl+" + sign[1:] if len(sign) > 1 and sign[0] == "^" else names.get(sign, sign)
        for sign in signs.split()
    )


@dataclass(frozen=True)
class Listed:
    """A place of the rail.

    Args:
        name: Its id, and the name of its module.
        title: What it is called.
        room: The package that has its module.
    """

    name: str
    key: str
    title: str
    room: str = "places"

    def make(self) -> Place | None:
        """Return the place, or None where there is no such module."""
        module = f"workbench.tui.{self.room}.{self.name}"
        if find_spec(module) is None:
            return None
        made = getattr(import_module(module), f"{self.title}Place")
        return cast("Place", made(self.name))


PLACES = (
    Listed("today", "1", "Today"),
    Listed("inbox", "2", "Inbox"),
    Listed("core", "3", "Core"),
    Listed("timeline", "4", "Timeline"),
    Listed("graph", "5", "Graph"),
    Listed("decay", "6", "Decay"),
    Listed("history", "7", "History"),
    Listed("sessions", "8", "Sessions"),
    Listed("settings", ",", "Settings"),
)
ASK = Listed("ask", "", "Ask")
"""Where answers are shown; the ask line leads there, no key of its own."""
HEALTH = Listed("health", "", "Health", "sheets")
IMPORT = Listed("importing", "", "Import", "sheets")
BY_NAME = {place.name: place for place in (*PLACES, ASK, HEALTH, IMPORT)}
