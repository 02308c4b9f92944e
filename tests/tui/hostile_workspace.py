"""The real workspace of the tests after somebody meant it harm: odd names, hostile texts, torn and damaged files."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.isolation import isolate
from tests.tui.seen_workspace import NAME, NOW, SETTINGS, open_seen
from workbench.engine import FixedClock, layout

MARKUP = "[red]stop[/nothing] a [/b] c [identity] [[person--ines]] [@click=app.quit]go[/]"
CONTROLS = "\x1b[31mred\x1b[0m \x1b]8;;http://x\x07link \x9b31m bell\x07 zero\x00 tab\there \x85 \u2028"
SIDEWAYS = "left\u202eright\u2066x\u2069 \u200b\ufeff e" + "\u0301" * 300 + " 👨\u200d👩\u200d👧 漢字かな"
WIDE = "wide " * 2_000
HOSTILE = (MARKUP, CONTROLS, SIDEWAYS, WIDE)
NAMES = (
    b"caf\xe9.md",
    b"n\nl\t| #x.md",
    b"\x1b]0;x\x07.md",
    b"[b]x[red].md",
    b"x" * 250 + b".md",
    b"-odd .md",
)
FOLDERS = ("", "vault", "graph/entities", "procedures", "episodes", "meta")
BYTES = (
    b"# Kestrel\n\n## 10:00 | event\n- circles the w\xe9ir [b] \x1b[31m\n",
    b"# Kestrel\0\n\n- \0\0 x\n",
    b"---\ntype: [person\n- half\n",
    b"- [[ [[]] [[|]] [[../..]] [[ ]]\n## Relations\n- : [[]]\n- a: [[|]]\n",
    b"> " * 500 + b"deep\n",
    b"",
)
REFLECTION = f"""# Reflection Summary — 2026-02-02

<!-- reflection: r-002 | created: 2026-02-02T03:00:00+00:00 -->

## 🧠 New knowledge extracted
- [ ] `r-002.1` fact for [[person--ines-duarte]]: {MARKUP} (confidence high)
  - because: {SIDEWAYS}
- [?] `r-002.2` fact for [[person--ines-duarte]]: torn
- [ ] `r-002.3` question: Who pays? {MARKUP}
  - answer: …
"""


def _harm(folder: Path) -> None:
    for each in FOLDERS:
        for name, content in zip(NAMES, BYTES, strict=True):
            path = folder / "memory" / each / os.fsdecode(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    entity = "\n".join(f"- {text} (since 2026-01-01) ^h{at:03}" for at, text in enumerate(HOSTILE))
    _write(
        folder / "memory/graph/entities/person--mallory.md",
        f"# person--mallory\n\n<!-- Type: person | Label: {MARKUP} | Created: 2026-01-01 -->\n\n## Facts\n{entity}\n",
    )
    _write(
        folder / "memory/episodes/2026-02-01.md",
        "# 2026-02-01 — Episode Log\n"
        + "".join(f"\n## 0{at}:00 | event\n{text}\n" for at, text in enumerate(HOSTILE)),
    )
    core = folder / layout.CORE
    core.write_text(
        core.read_text(encoding="utf-8") + f"\n## {MARKUP}\n- {MARKUP}\n- {CONTROLS}\n- {SIDEWAYS}\n"
    )
    _write(folder / layout.PENDING_REFLECTION, REFLECTION)
    outside = folder.parent / "outside"
    outside.mkdir()
    _write(outside / "secret.md", "# Outside\n\nnot yours\n")
    (folder / "memory/vault/link.md").symlink_to(outside / "secret.md")
    (folder / "memory/vault/nowhere.md").symlink_to(folder / "gone")
    (folder / "memory/vault/round").symlink_to(folder / "memory")
    (folder / "memory/procedures/folder.md").mkdir()


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", errors="surrogateescape")


def tear(folder: Path) -> None:
    """Damage what the engine keeps beside memory: scores, proposals, sessions."""
    (folder / layout.DECAY_SCORES).write_text('{"memories": {"x": [1, ', encoding="utf-8")
    proposals = folder / layout.PENDING_MEMORIES
    proposals.write_text(
        proposals.read_text(encoding="utf-8").replace("**", "*", 3) + "\n## Proposal #x\n\0\n"
    )
    (folder / "openclaw.json").write_text("{ not: json", encoding="utf-8")


@pytest.fixture(scope="session")
def harmed_template(asked_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The workspace with six proposals, and all that is hostile, taken in."""
    with pytest.MonkeyPatch.context() as patch:
        where = tmp_path_factory.mktemp("harmed")
        isolate(where, patch, settings=SETTINGS)
        folder = where / NAME
        shutil.copytree(asked_template, folder, symlinks=True)
        _harm(folder)
        with open_seen(folder, FixedClock(NOW), "agent:mallory") as door:
            door.propose(MARKUP, store="episodic")
            door.propose(SIDEWAYS, store="semantic", entities=["person:[b]Bob[/]"])
        with open_seen(folder, FixedClock(NOW)) as workspace:
            workspace.adopt()
            workspace.session_append("agent:main:main", f"{MARKUP} {CONTROLS}", role="user")
        return folder


def copy_harmed(template: Path, into: Path) -> Path:
    """Copy it to a place of a test's own; returns the folder."""
    folder = into / NAME
    shutil.copytree(template, folder, symlinks=True)
    shutil.copytree(template.parent / "outside", into / "outside")
    return folder


def all_files(*folders: Path) -> dict[str, bytes | str]:
    """Return what lies in some folders, by path, links not followed."""
    found: dict[str, bytes | str] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_symlink():
                found[str(path)] = str(path.readlink())
            elif path.is_file():
                found[str(path)] = path.read_bytes()
    return found


__all__ = ["HOSTILE", "all_files", "copy_harmed", "harmed_template", "tear"]
