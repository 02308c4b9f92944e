"""What tests of the Sessions pane do and look at, and the sessions that they look at."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

from textual.pilot import Pilot

from tests.tui.stillness import settle
from workbench.display.ink import plain_text
from workbench.engine import FixedClock, Workspace
from workbench.tui.panes.sessions import SessionsPane
from workbench.tui.widgets.lines import Lines

MAIN = "agent:main:main"
DECIDED = "We decided that tickets are free for the crew."
FOREIGN_ID = "11111111-2222-3333-4444-555555555555"
_WORKED_IN = "/home/ines/boats/ferry"
_STEP = timedelta(minutes=2)


def tell(workspace: Workspace, clock: FixedClock, home: Path, start: datetime) -> None:
    """Let something be said in this workspace’s sessions and in those of another program; the clock ends at `start`."""
    clock.moment = start - timedelta(hours=1)

    def say(text: str, role: str = "user", key: str = MAIN, **more: object) -> None:
        workspace.session_append(key, text, role=role, **more)  # type: ignore[arg-type]  # fields differ in type
        clock.moment += _STEP

    say(DECIDED)
    say("Noted:\n\n- free for the **crew**\n- from today", "assistant", model="llama")
    call = {"type": "toolCall", "id": "t1", "name": "read", "arguments": {"path": "tickets.md"}}
    text = {"type": "text", "text": "Let me look."}
    workspace.session_append(MAIN, message={"role": "assistant", "content": [text, call]})
    rows = "\n".join(f"price {number}" for number in range(40))
    result = {"role": "toolResult", "toolCallId": "t1", "content": [{"type": "text", "text": rows}]}
    workspace.session_append(MAIN, message=result)
    for number in range(6):
        say(f"Question {number}: what about [b]sailing {number}[/b]? " + "It is long. " * 12)
        say(f"Answer {number}: it sails.", "assistant", total_tokens=178_000, context_tokens=200_000)
    say("Hello all", key="agent:main:telegram:group:77", label="Crew")
    clock.moment = start
    told = transcript(workspace).read_text(encoding="utf-8")
    assert told.count(str(workspace.root)) == 1
    # The pane tells the size of the file, which must not depend on the length of this test's path.
    told = told.replace(str(workspace.root), _WORKED_IN) + '{"type":"message","id":"torn"\n'
    transcript(workspace).write_text(told, encoding="utf-8")
    say("Are you there?")
    folder = home / ".clawdbot" / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    (folder / f"{FOREIGN_ID}.jsonl").write_bytes(transcript(workspace).read_bytes())
    entry = {
        "sessionId": FOREIGN_ID,
        "updatedAt": 1769900000000,
        "totalTokens": 20_000,
        "contextTokens": 200_000,
    }
    (folder / "sessions.json").write_text(
        json.dumps({"agent:main:whatsapp:dm:+351": entry}), encoding="utf-8"
    )
    clock.moment = start


def transcript(workspace: Workspace) -> Path:
    """Return the file of the main session."""
    found = workspace.session(MAIN, limit=1).session.transcript
    assert found is not None
    return Path(found)


def pane(pilot: Pilot[None]) -> SessionsPane:
    return pilot.app.screen_stack[0].query_one(SessionsPane)


async def open_sessions(pilot: Pilot[None]) -> SessionsPane:
    await press(pilot, "9")
    return pane(pilot)


async def press(pilot: Pilot[None], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await settle(pilot)


def listed(pilot: Pilot[None]) -> str:
    rows = pane(pilot).list
    return "\n".join(rows.render_line(y).text for y in range(rows.size.height))


def said(pilot: Pilot[None]) -> str:
    shown = pane(pilot).conversation
    return "\n".join(shown.render_line(y).text for y in range(shown.size.height))


def head(pilot: Pilot[None]) -> str:
    lines = pane(pilot).query_one("#sessions-head", Lines)
    return "\n".join(map(plain_text, lines.lines(lines.size.width)))
