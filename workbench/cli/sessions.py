"""The command group about sessions: what was said in conversations, and what is kept of it."""

from __future__ import annotations

from workbench.cli import session_keeping, session_looking
from workbench.cli.command import group

sessions_command = group(
    "sessions",
    default="list",
    help="KEY is a session’s key such as agent:main:main, also without its beginning (main), a session’s id, or the "
    "place of a line that a memory names, file:sessions/ID.jsonl#L12. With --from, the sessions of OpenClaw, Moltbot, "
    "Clawdbot and Claude Code are read where they are, plain files and databases; nothing there is ever written.",
    answers="What was talked about, and how full is it?",
    examples=("workbench sessions", "workbench sessions show main", "workbench sessions --from ~/.openclaw"),
)
for _command in (
    session_looking.list_sessions,
    session_looking.show,
    session_looking.context,
    session_keeping.append,
    session_keeping.compact,
    session_keeping.flush,
    session_keeping.reset,
    session_keeping.repair,
    session_keeping.recover,
):
    sessions_command.add_command(_command)
