"""Gives a large workspace a history as long as wanted: how it could have come to be, commit by commit.

The newest commit holds what `large_workspace.generate` wrote, so that the workspace is clean, and with it a scores
file. Halfway, about half of the entities and episodes are there, many of them as they read before later edits.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import IO

from tests.benchmarks.large_workspace import LAST_DAY
from workbench.engine import FixedClock
from workbench.engine.history.commits import AuditTrailer, CommitMessage, author_of, render_message
from workbench.engine.history.history import History
from workbench.engine.history.maintenance import git_command, git_environment
from workbench.engine.history.plan import Attribution
from workbench.engine.history.projections import complete_audit_log

DAYS = 400
SCORES = "memory/meta/decay-scores.json"
_CORE = "MEMORY.md"
_ENTITIES = "memory/graph/entities"
_EPISODES = "memory/episodes"
_FIRST = datetime.combine(LAST_DAY - timedelta(days=DAYS), time(6), tzinfo=UTC)
_LAST = datetime.combine(LAST_DAY, time(23, 30), tzinfo=UTC)


@dataclass
class _Act:
    """One commit to be made."""

    second: int
    actor: str
    action: str
    summary: str
    files: dict[str, bytes]
    approval: str = "auto"
    trigger: str = "said so"
    trailers: tuple[tuple[str, str], ...] = ()
    shift: int = field(default=0)


def make_history(root: Path, *, commits: int, seed: int = 0) -> None:
    """Make `.audit` and the audit log of a workspace that has none, and the scores file that goes with them.

    Args:
        root: A workspace that `large_workspace.generate` wrote.
        commits: How many; at least one for each episode and two for three entities, and some hundreds more.
        seed: Chooses what happens when.
    """
    chance = random.Random(seed)
    acts = _acts(root, chance, commits)
    first = _begin(root, chance)
    _import(root / ".audit", first, acts)
    complete_audit_log(root, History(root, clock=FixedClock(_LAST), state=root).store)


def _acts(root: Path, chance: random.Random, commits: int) -> list[_Act]:
    core, scores = max(20, commits // 40), max(20, commits // 80)
    acts = [*_episode_acts(root), *_core_acts(root, chance, core)]
    entities = sorted(path.name for path in (root / _ENTITIES).iterdir())
    creations = len(entities) * 2 // 3
    steps = commits - 1 - len(acts) - creations - scores
    if steps < 0:
        raise SystemExit(f"At least {commits - steps} commits are needed.")
    acts += _entity_acts(root, chance, entities, creations, steps)
    acts.sort(key=lambda act: act.second)
    acts += _score_acts(root, chance, entities, scores)
    acts.sort(key=lambda act: act.second)
    _step_the_clock_back(acts, chance)
    return acts


def _begin(root: Path, chance: random.Random) -> str:
    """Begin the history as `workbench init` does in a folder with a little memory; return its first commit."""
    with tempfile.TemporaryDirectory(dir=root.parent) as folder:
        place = Path(folder) / "ws"
        place.mkdir()
        (place / _CORE).write_bytes(_core_version((root / _CORE).read_text(encoding="utf-8"), chance))
        history = History(place, clock=FixedClock(_FIRST - timedelta(days=1)), state=Path(folder) / "state")
        begun = history.init(Attribution("system:init", "auto", "workbench init"))
        config = place / ".audit/config"
        text = config.read_text(encoding="utf-8")
        config.write_text(text.replace("[workbench]\n", "[workbench]\n\ttimezone = UTC\n"), encoding="utf-8")
        (place / ".audit").rename(root / ".audit")
    assert begun.commit
    return begun.commit


def _episode_acts(root: Path) -> Iterator[_Act]:
    """Yield one act for each episode: the day's file up to it."""
    for path in sorted((root / _EPISODES).iterdir()):
        text = path.read_text(encoding="utf-8")
        day = date.fromisoformat(path.stem)
        places = [place for place in range(len(text)) if text.startswith("\n## ", place)]
        for number, place in enumerate(places):
            end = places[number + 1] if number + 1 < len(places) else len(text)
            at = time.fromisoformat(text[place + 4 : place + 9])
            moment = datetime.combine(day, at, tzinfo=UTC)
            title = text[place:end].split("\n")[2][:50]
            yield _Act(
                int(moment.timestamp()) + 20,
                "bot:trigger-remember" if number % 4 else "bot:main",
                "APPEND" if number else "CREATE",
                f"remembered “{title}”",
                {f"{_EPISODES}/{path.name}": text[:end].encode()},
                trigger="user said “remember …”",
            )


def _core_acts(root: Path, chance: random.Random, count: int) -> Iterator[_Act]:
    final = (root / _CORE).read_text(encoding="utf-8")
    for number, second in enumerate(_seconds(chance, count)):
        content = final.encode() if number == count - 1 else _core_version(final, chance)
        actor = ("manual", "bot:main", f"reflection:r-{number // 3 + 1:03d}")[number % 3]
        approval = "approved" if actor.startswith("reflection") else "—" if actor == "manual" else "auto"
        yield _Act(second, actor, "EDIT", "core memory was brought up to date", {_CORE: content}, approval)


def _core_version(final: str, chance: random.Random) -> bytes:
    lines = []
    for line in final.split("\n"):
        if line.startswith("- ") and chance.random() < 0.15:
            continue
        if line.startswith("- ") and chance.random() < 0.15:
            words = line[2:].rstrip(".").split()
            chance.shuffle(words)
            line = "- " + " ".join(words) + "."
        lines.append(line)
    return "\n".join(lines).encode()


def _entity_acts(
    root: Path, chance: random.Random, names: list[str], creations: int, steps: int
) -> Iterator[_Act]:
    """Yield the creations of entities, alone or in twos, and one act for each later step of one."""
    slugs = [name.removesuffix(".md") for name in names]
    stepped = [0] * len(names)
    for _ in range(steps):
        stepped[chance.randrange(len(names))] += 1
    order = list(range(len(names)))
    chance.shuffle(order)
    twos = len(names) - creations
    groups = [order[2 * n : 2 * n + 2] for n in range(twos)] + [[n] for n in order[2 * twos :]]
    last = int(_LAST.timestamp()) - 60
    for group in groups:
        created: dict[str, bytes] = {}
        began = min(chance.randrange(int(_FIRST.timestamp()), last), last)
        later: list[_Act] = []
        for number in group:
            path = f"{_ENTITIES}/{names[number]}"
            final = (root / path).read_text(encoding="utf-8")
            versions = _versions(final, stepped[number], slugs, chance)
            created[path] = versions[0]
            seconds = sorted(chance.randrange(began + 1, last + 60) for _ in versions[1:])
            for second, content in zip(seconds, versions[1:], strict=True):
                later.append(_entity_step(second, path, content, slugs[number], chance))
        label = slugs[group[0]]
        yield _Act(began, "bot:main", "CREATE", f"learned about {label}", created)
        yield from later


def _entity_step(second: int, path: str, content: bytes, slug: str, chance: random.Random) -> _Act:
    kind = chance.random()
    if kind < 0.03:
        summary = "edited outside the engine (+1 −1 lines)"
        return _Act(second, "manual", "EDIT", summary, {path: content}, "—", "direct human edit")
    if kind < 0.06:
        return _Act(second, "manual", "REVERT", f"took back a fact of {slug}", {path: content}, "—", "revert")
    if kind < 0.4:
        actor = f"reflection:r-{second // 86_400 % 1000:03d}"
        return _Act(second, actor, "EDIT", f"learned more about {slug}", {path: content}, "approved", "apply")
    return _Act(second, "bot:main", "EDIT", f"changed what is known of {slug}", {path: content})


def _versions(final: str, steps: int, slugs: list[str], chance: random.Random) -> list[bytes]:
    """Return an entity's file as it read at its beginning and after each step, the last as it is."""
    versions = [final.encode()]
    lines = final.split("\n")
    for _ in range(steps):
        lines = _before_a_step(lines, slugs, chance)
        versions.append("\n".join(lines).encode())
    return versions[::-1]


def _before_a_step(lines: list[str], slugs: list[str], chance: random.Random) -> list[str]:
    relations = [place for place, line in enumerate(lines) if ": [[" in line]
    facts = [place for place, line in enumerate(lines) if line.startswith("- ") and ") ^f" in line]
    summary = lines.index("## Summary") + 1
    before, kind = list(lines), chance.random()
    if kind < 0.25 and len(relations) > 1:
        del before[relations[-1]]
    elif kind < 0.5 and relations:
        head, _, tail = before[relations[0]].partition(": [[")
        before[relations[0]] = f"{head}: [[{chance.choice(slugs)}]]{tail.partition(']]')[2]}"
    elif kind < 0.75 and len(facts) > 1:
        del before[facts[-1]]
    else:
        words = before[summary].rstrip(".").split()
        chance.shuffle(words)
        before[summary] = " ".join(words) + f" as of {chance.randrange(10**6)}."
    return before


def _score_acts(root: Path, chance: random.Random, names: list[str], count: int) -> Iterator[_Act]:
    """Yield folded accesses, pins and archivings, and write the scores file as the last of them leaves it."""
    entries: dict[str, dict[str, object]] = {}
    for number, second in enumerate(_seconds(chance, count)):
        now = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        told = ("EDIT", "folded accesses in", "system:decay")
        if number % 3:
            name = chance.choice(names).removesuffix(".md")
            entry = entries.setdefault(f"entity:{name}", _entry(now))
            which = "pinned" if chance.random() < 0.6 else "archived"
            entry[which] = not entry.get(which, False)
            if which == "archived":
                entry["status"] = "archived" if entry["archived"] else "active"
                entry["current_score"] = 0 if entry["archived"] else 0.5
            word = {"pinned": "PIN", "archived": "ARCHIVE"}[which] if entry[which] else "UNPIN"
            told = (word, f"{which} entity:{name}", "manual")
        else:
            for name in chance.sample(names, min(20, len(names))):
                entry = entries.setdefault(f"entity:{name.removesuffix('.md')}", _entry(now))
                entry["access_count"] = int(str(entry["access_count"])) + 1
                entry["last_accessed"] = now
        content = json.dumps({"version": 1, "last_updated": now, "entries": entries}, indent=1).encode()
        action, summary, actor = told
        yield _Act(second, actor, action, summary, {SCORES: content}, "—" if actor == "manual" else "auto")
        if number == count - 1:
            (root / SCORES).parent.mkdir(parents=True, exist_ok=True)
            (root / SCORES).write_bytes(content)


def _entry(now: str) -> dict[str, object]:
    return {
        "store": "semantic",
        "base_relevance": 1.0,
        "created": now,
        "last_accessed": now,
        "access_count": 1,
        "type_weight": 1.2,
        "current_score": 1.0,
        "status": "active",
        "pinned": False,
    }


def _seconds(chance: random.Random, count: int) -> list[int]:
    first, last = int(_FIRST.timestamp()), int(_LAST.timestamp())
    return sorted(chance.randrange(first, last) for _ in range(count))


def _step_the_clock_back(acts: list[_Act], chance: random.Random) -> None:
    """Date some stretches an hour or two earlier, as by a clock that was wrong for a while."""
    for _ in range(max(1, len(acts) // 5_000)):
        start = chance.randrange(len(acts))
        by = chance.choice((3_600, 7_200))
        for act in acts[start : start + 20]:
            act.shift = -by


def _import(folder: Path, first: str, acts: list[_Act]) -> None:
    """Write the commits with `git fast-import`."""
    arguments = ("fast-import", "--quiet", "--force", "--date-format=raw", "--depth=50")
    environment = git_environment()
    process = subprocess.Popen(
        git_command(folder, *arguments), env=environment, cwd=folder, stdin=subprocess.PIPE
    )
    assert process.stdin is not None
    with process.stdin as stream:
        for number, act in enumerate(acts):
            _feed(stream, act, number, first if number == 0 else None)
    if process.wait():
        raise SystemExit("git fast-import failed")


def _feed(stream: IO[bytes], act: _Act, number: int, parent: str | None) -> None:
    entries = tuple(AuditTrailer(act.action, path, act.approval, act.summary) for path in act.files)
    file = next(iter(act.files)) if len(act.files) == 1 else f"{_ENTITIES}/*"
    message = CommitMessage(
        act.action,
        file,
        act.summary,
        act.actor,
        act.approval,
        act.trigger,
        f"{number:016x}",
        entries,
        act.trailers,
    )
    name, email = author_of(act.actor)
    said = render_message(message).encode()
    who = f"{name} <{email}> {act.second + act.shift} +0000"
    lines = [f"commit refs/heads/main\nauthor {who}\ncommitter {who}\ndata {len(said)}\n".encode(), said]
    if parent is not None:
        lines.append(f"from {parent}\n".encode())
    for path, content in act.files.items():
        lines += [f"M 100644 inline {path}\ndata {len(content)}\n".encode(), content, b"\n"]
    stream.write(b"".join(lines))


if __name__ == "__main__":
    make_history(Path(sys.argv[1]), commits=int(sys.argv[2]))
