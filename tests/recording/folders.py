"""The three folders that everything is recorded on: the sample, a hostile one, and one as OpenClaw leaves it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.engine.services.agent_home import BROKEN, FURNITURE
from tests.engine.services.claw_home import LOG, MEMORY
from tests.engine.services.planted_secrets import EDITED, NEW, secrets_for
from tests.engine.services.private_words import PUBLIC
from tests.engine.services.test_workspace_odd_files import CONTENTS, NAMES
from tests.engine.sessions import openclaw_database
from tests.engine.transfer import openclaw_pre_images
from tests.recording.running import run_here
from tests.recording.stage import Stage

BEGAN = "2026-02-02T13:30:00Z"
# Files that came from elsewhere tell when they were changed: 2026-02-01T12:00:00Z.
CHANGED = 1769947200
_ROBIN = {
    "person": "person--robin", "name": "Robin", "project": "project--harbour", "project_name": "Harbour",
    "episode": "episode:2026-02-01:09:15", "fact": "entity:person--robin#^tea1",
    "relation": "entity:person--robin#^dev1", "item": "core:critical-facts:the-production-database-is-called",
    "words": "lighthouse ferry", "file": "memory/episodes/2026-02-01.md", "procedure": "procedure:how-to-release",
    "vault": "vault:promise", "relation_name": "develops", "block": "Critical Facts", "day": "2026-02-01",
    "tag": "backup",
}  # fmt: skip
_IDA = {
    "person": "person--ida-berg", "name": "Ida Berg", "project": "project--tofta-handbook",
    "project_name": "Tofta handbook", "episode": "episode:2025-12-30:15:20",
    "fact": "entity:person--ida-berg#^f0ad", "relation": "entity:person--ida-berg#^ra21",
    "item": "core:identity:role", "words": "Öckerö brewery", "file": "memory/episodes/2025-12-30.md",
    "procedure": "procedure:how-to-deliver-a-chapter", "vault": "vault:why-nora-translates",
    "relation_name": "reviews", "block": "Critical Facts", "day": "2026-01-31", "tag": "handbook",
}  # fmt: skip
FAMILY = {
    "memory/episodes/2026-01-31.md": (
        "# 2026-01-31 — Episode Log\n\n"
        "## 08:00 | decision | confidence:high | tags:[trip] | for:group:family\n"
        "The family chose the ferry for the Gotland trip.\n\n"
        "## 20:00 | event | confidence:high | for:shared\n"
        "The kitchen sink was mended by the plumber.\n\n"
        "## 21:00 | event | confidence:high\nRobin keeps a present for Mira on the ferry.\n"
    ),
    **{path: text for path, text in PUBLIC.items() if path not in FURNITURE},
}


@dataclass(frozen=True)
class Folder:
    """One of the folders.

    Args:
        name: In the record.
        lay: Puts its files into the stage.
        beginning: The command line that makes it a workspace.
        names: What stands for the placeholders of the command lines.
    """

    name: str
    lay: Callable[[Stage], None]
    beginning: tuple[str, ...]
    names: Mapping[str, str]


def begin(stage: Stage, folder: Folder, now: str) -> dict[str, object]:
    """Empty the stage and lay out a folder there; return what its beginning said."""
    stage.clear()
    _beside(stage.scratch)
    folder.lay(stage)
    environment = stage.environment(now if folder.name == "sample" else BEGAN, {})
    words = [word.format(root=stage.root) for word in folder.beginning]
    return run_here(stage, "begin", words, stdin=b"", environment=environment, terminal=False)


def _sample(stage: Stage) -> None:
    stage.root.rmdir()
    stage.root.mkdir()


def _openclaw(stage: Stage) -> None:
    for path, text in {**FURNITURE, **FAMILY}.items():
        write(stage.root, path, text.encode())


def _hostile(stage: Stage) -> None:
    _openclaw(stage)
    for path, broken in BROKEN.items():
        # With a broken scores file nothing is changed at all; what is refused then is tested elsewhere.
        if path != "memory/meta/decay-scores.json":
            write(stage.root, path, broken)
    for odd in NAMES.values():
        write(stage.root, f"memory/{os.fsdecode(odd)}", CONTENTS["plain"])
    for name, content in CONTENTS.items():
        write(stage.root, f"memory/notes/{name}.md", content)
    tokens = secrets_for(100)
    for path, text in NEW.items():
        write(stage.root, path, text.format(*(next(tokens) for _ in range(text.count("{}")))).encode())
    for path, text in EDITED.items():
        place = stage.root / path
        write(stage.root, path, place.read_bytes() + text.format(next(tokens)).encode())
    outside = write(stage.scratch, "outside/canary.md", b"The canary sings at noon.\n")
    (stage.root / "memory/link.md").symlink_to(outside)
    (stage.root / "memory/linked").symlink_to(outside.parent)
    (stage.root / "memory/loop").symlink_to(stage.root / "memory")
    (stage.root / "memory/dangling.md").symlink_to("nowhere.md")
    os.mkfifo(stage.root / "memory/pipe.md")


def _beside(scratch: Path) -> None:
    """Lay what other programs keep beside the workspace, to be imported or read."""
    for path, text in {
        "MEMORY.md": MEMORY,
        "memory/2026-05-12.md": LOG,
        "memory/recipes.md": "# R\n\nBoil.\n",
    }.items():
        write(scratch, f"claw/{path}", text.encode())
    write(scratch, "elsewhere/recipes.md", b"# Recipes\n\nBoil the water first.\n")
    write(
        scratch,
        "lines.jsonl",
        b'{"text": "The tide table hangs in the hall"}\n{"text": "x", "store": "no"}\n{\n',
    )
    copies = {
        "2026-01-30T03:00:00Z": "# Memory\n\n- Drinks tea\n",
        "2026-01-31T03:00:00Z": "# Memory\n\n- Sails\n",
    }
    openclaw_pre_images.make(scratch / "state-folder/state/openclaw.sqlite", copies)
    openclaw_database.make(
        scratch / "home/.openclaw/agents/main/agent/openclaw-agent.sqlite",
        {
            "agent:main:main": (
                {"sessionId": "s-1", "updatedAt": CHANGED * 1000, "label": "Talk"},
                [
                    {"type": "session", "version": 3, "id": "s-1", "timestamp": "2026-02-01T12:00:00Z", "cwd": "/"},
                    {
                        "type": "message", "id": "m1", "parentId": None, "timestamp": "2026-02-01T12:00:01Z",
                        "message": {"role": "user", "content": "We decided to dock at the north pier."},
                    },
                    {
                        "type": "message", "id": "m2", "parentId": "m1", "timestamp": "2026-02-01T12:00:02Z",
                        "message": {"role": "assistant", "content": [{"type": "text", "text": "Noted. " * 400}]},
                    },
                ],
            )
        },
        wal=False,
    )  # fmt: skip
    editor = write(scratch, "editor.sh", b'#!/bin/sh\nprintf "Edited by hand.\\n" > "$1"\n')
    editor.chmod(0o755)
    for place in scratch.rglob("*"):
        os.utime(place, (CHANGED, CHANGED))


def write(folder: Path, path: str, content: bytes) -> Path:
    """Write a file, its folders made."""
    place = folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
    return place


FOLDERS = (
    Folder("sample", _sample, ("demo", "{root}", "--no-open", "--json"), _IDA),
    Folder("openclaw", _openclaw, ("init", "--timezone", "Europe/Stockholm", "--json"), _ROBIN),
    Folder("hostile", _hostile, ("init", "--timezone", "Europe/Stockholm", "--json"), _ROBIN),
)
