"""The table of commands: by topic, in the order of `--help`, with each one's purpose and module."""

from __future__ import annotations

from typing import NamedTuple


class Listed(NamedTuple):
    """A command before it is imported.

    Args:
        module: Its module in this package; the command is the module's attribute `NAME_command`.
        purpose: One sentence without its full stop.
    """

    module: str
    purpose: str


TOPICS: dict[str, dict[str, Listed]] = {
    "Begin": {
        "init": Listed("begin", "Lay out a workspace here, or adopt the memory that is here already"),
        "demo": Listed("begin", "Build a sample workspace and open the bench on it"),
        "open": Listed("begin", "Open the bench, at one memory if you name one"),
    },
    "Remember": {
        "remember": Listed("remember", "Store something in the memory it belongs to"),
        "message": Listed("remember", "Do what one message of a conversation asks of memory"),
        "propose": Listed("remember", "Ask for something to be remembered, as an agent that may not write"),
        "edit": Listed("edit", "Change one memory or file in your editor"),
        "core": Listed("core", "Show or change what the agent always has in mind"),
        "secrets": Listed("secrets", "Decide on what looks like a key or a password"),
    },
    "Find": {
        "search": Listed("search", "Find memories by what they say"),
        "show": Listed("search", "Show one memory with everything known about it"),
        "get": Listed("search", "Print a memory file, or some lines of it"),
        "graph": Listed("graph", "Show or change what is known about people, projects and things"),
        "brief": Listed("search", "Print what an agent needs at the start of a session"),
    },
    "Forget": {
        "forget": Listed("forget", "Archive memories, or delete them for good"),
        "restore": Listed("forget", "Bring an archived memory back"),
        "pin": Listed("forget", "Protect a memory from decay"),
        "unpin": Listed("forget", "Let a pinned memory decay again"),
        "reinforce": Listed("forget", "Count an access, so that a memory stays fresh"),
        "decay": Listed("decay", "Show how fresh every memory is, now and later"),
    },
    "Reflect": {
        "reflect": Listed("review", "Propose what should be learned from what is new"),
        "review": Listed("review", "Decide on what a reflection proposes"),
        "proposals": Listed("proposals", "Decide on what agents propose"),
    },
    "Account for it": {
        "audit": Listed("audit", "Show who changed what, when, and on whose approval"),
        "undo": Listed("audit", "Take back the newest action"),
        "redo": Listed("audit", "Do again what was undone last"),
        "revert": Listed("audit", "Take back one commit, whatever came after it"),
        "rollback": Listed("audit", "Return to how memory was"),
    },
    "Give it to agents": {
        "mcp": Listed("agents", "Serve this memory to an agent over MCP"),
        "agents-md": Listed("agents", "Print instructions for an agent’s prompt"),
    },
    "Bring it along": {
        "import": Listed("transfer", "Bring in memory, conversations and documents from elsewhere"),
        "export": Listed("transfer", "Hand the whole memory over, to be kept or imported elsewhere"),
    },
    "Follow conversations": {
        "sessions": Listed("sessions", "Show conversations and what is kept of them"),
    },
    "Look after it": {
        "index": Listed("maintenance", "Bring the search index up to date, or say how it is"),
        "daemon": Listed(
            "maintenance", "Look after this memory until you end it: adopt, index, reflect in time"
        ),
        "doctor": Listed("maintenance", "Say what works here, what does not, and how to mend it"),
        "completion": Listed("maintenance", "Print the completion script for your shell"),
    },
}

COMMANDS: dict[str, Listed] = {name: listed for topic in TOPICS.values() for name, listed in topic.items()}
