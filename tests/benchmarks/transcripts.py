"""Measures one session of 100 MB and 300,000 lines: listing, opening, reading, appending, compacting, and the memory.

    python tests/benchmarks/transcripts.py [LINES]

Each step runs in a process of its own, so that its peak of memory is its own.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

KEY, SESSION = "agent:main:main", "7d0c"
LINES = 300_000
LINE_BYTES = 350
STEPS = {
    "open the workspace": "pass",
    "list": "workspace.sessions()",
    "open at the end (200 lines)": f"workspace.session({KEY!r}, line=-200)",
    "open in the middle": f"workspace.session({KEY!r}, line={LINES // 2})",
    "read every page": f"read_all(workspace, {KEY!r})",
    "context (200,000 tokens)": f"workspace.session_context({KEY!r})",
    "append": f"workspace.session_append({KEY!r}, 'One more.')",
    "flush": f"workspace.session_flush({KEY!r}, now=True)",
    "compact (rules)": f"workspace.session_compact({KEY!r})",
    "context behind the compaction": f"workspace.session_context({KEY!r})",
    "repair": f"workspace.session_repair({KEY!r})",
}
PROGRAM = """
import json, resource, sys, time
from pathlib import Path
from workbench.engine import Workspace

def read_all(workspace, key):
    line, lines = 1, 0
    while line:
        page = workspace.session(key, line=line, limit=5000)
        lines, line = lines + len(page.lines), page.next

with Workspace.open(Path(sys.argv[1]), role="person") as workspace:
    started = time.perf_counter()
    {step}
    took = time.perf_counter() - started
print(json.dumps([took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""


def generate(place: Path, lines: int) -> None:
    """Write a conversation of so many lines, every ten-thousandth of them garbage, the last one torn."""
    chance = random.Random(7)
    words = [f"word{number}" for number in range(5000)]
    with place.open("w", encoding="utf-8") as file:
        file.write(json.dumps({"type": "session", "version": 3, "id": SESSION, "cwd": "/"}) + "\n")
        parent = None
        for number in range(2, lines):
            if number % 10_000 == 0:
                file.write("garbage\x00\n")
                continue
            role = "assistant" if number % 2 else "user"
            text = " ".join(chance.choices(words, k=24))
            entry = {
                "type": "message", "id": f"{number:08x}", "parentId": parent, "timestamp": "2026-01-24T09:00:00.000Z",
                "message": {"role": role, "content": [{"type": "text", "text": text}]},
            }  # fmt: skip
            file.write(json.dumps(entry) + "\n")
            parent = f"{number:08x}"
        file.write('{"type":"message","id":"to')


def main(lines: int) -> None:
    with tempfile.TemporaryDirectory(prefix="transcripts-") as folder:
        home = Path(folder)
        for name in ("STATE", "CACHE", "CONFIG"):
            os.environ[f"XDG_{name}_HOME"] = str(home / name.lower())
        sessions = home / "sessions"
        sessions.mkdir()
        os.environ["WORKBENCH_SESSIONS_PATH"] = str(sessions)
        root = home / "workspace"
        subprocess.run([sys.executable, "-m", "workbench", "init", root], check=True, capture_output=True)
        generate(sessions / f"{SESSION}.jsonl", lines)
        entry = {"sessionId": SESSION, "updatedAt": round(time.time() * 1000)}
        (sessions / "sessions.json").write_text(json.dumps({KEY: entry}))
        size = (sessions / f"{SESSION}.jsonl").stat().st_size
        print(f"{lines:,} lines, {size / 1e6:.0f} MB; this process {peak():.0f} MB")
        for name, step in STEPS.items():
            run = subprocess.run(
                [sys.executable, "-c", PROGRAM.replace("{step}", step), root], capture_output=True, text=True
            )
            if run.returncode:
                print(f"{name:32} failed: {run.stderr.strip().splitlines()[-1]}")
                continue
            took, memory = json.loads(run.stdout)
            print(f"{name:32} {took:8.3f} s {memory:8.0f} MB")


def peak() -> float:
    """Return the most memory that this process has used, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else LINES)
