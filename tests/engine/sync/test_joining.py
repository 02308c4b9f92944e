"""Joining: the same whoever joins, nothing of either side lost, and what neither touched keeps its bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.engine import layout
from workbench.engine.markdown.decay_scores import DecayScores
from workbench.engine.markdown.entity import EntityFile
from workbench.engine.markdown.episodes import EpisodeLog
from workbench.engine.sync.conflicts import ConflictFile
from workbench.engine.sync.joining import Joined, Moments, Side, join

NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)
DESK, LAP = Side("desk", "d" * 40, NOW), Side("lap", "a" * 40, NOW + timedelta(hours=1))
LOG, ENTITY, NOTE = (
    "memory/episodes/2026-11-24.md",
    "memory/graph/entities/person--alex.md",
    "memory/vault/plan.md",
)
CORE, SETTINGS, SCORES = layout.CORE, layout.SETTINGS, layout.DECAY_SCORES

PENDING = layout.PENDING_MEMORIES
PLACES = {
    "LOG": LOG,
    "ENTITY": ENTITY,
    "NOTE": NOTE,
    "CORE": CORE,
    "SETTINGS": SETTINGS,
    "PENDING": PENDING,
}

Files = dict[str, bytes]


def said(**lines: str) -> Files:
    return {PLACES[name]: text.encode() for name, text in lines.items()}


def joined(base: Files, desk: Files, lap: Files) -> tuple[Files, Joined]:
    """Join on both devices; the files are the same on each."""
    here = join(base, desk, lap, at=Moments(DESK, LAP))
    there = join(base, lap, desk, at=Moments(LAP, DESK))
    files = put(desk, here)
    assert files == put(lap, there)
    assert here.conflicts == there.conflicts
    return files, here


def put(files: Files, told: Joined) -> Files:
    return {path: content for path, content in {**files, **told.files}.items() if content is not None}


def test_entries_of_the_same_minute_both_stay_and_references_follow() -> None:
    base = said(LOG="# 2026-11-24 — Episode Log\n\n## 09:00 | note\nBefore\n")
    desk = said(LOG=base[LOG].decode() + "\n## 14:30 | note\nAt the desk\n\n## 16:00 | note\nLate\n")
    lap = said(
        LOG=base[LOG].decode() + "\n## 14:30 | note\nOn the lap\n\n## 15:00 | note\nBetween\n",
        ENTITY="# Alex\n\n## Facts\n- Sits (from episode:2026-11-24:14:30 and episode:2026-11-24:15:00) ^fa1\n",
    )
    files, told = joined(base, desk, lap)
    log = EpisodeLog.parse(files[LOG], LOG)
    assert [(entry.id, entry.body) for entry in log.entries] == [
        ("episode:2026-11-24:09:00", "Before"),
        ("episode:2026-11-24:14:30", "At the desk"),
        ("episode:2026-11-24:14:30#2", "On the lap"),
        ("episode:2026-11-24:15:00", "Between"),
        ("episode:2026-11-24:16:00", "Late"),
    ]
    assert b"(from episode:2026-11-24:14:30#2 and episode:2026-11-24:15:00) ^fa1" in files[ENTITY]
    assert told.conflicts == ()
    assert told.renamed == {"episode:2026-11-24:14:30": "episode:2026-11-24:14:30#2"}


def test_a_day_that_both_devices_began_has_one_title() -> None:
    desk = said(LOG="# 2026-11-24 — Episode Log\n\n## 09:00 | note\nDesk\n")
    lap = said(LOG="# 2026-11-24 — Episode Log\n\n## 08:00 | note\nLap\n")
    files, told = joined({}, desk, lap)
    assert (
        files[LOG]
        == b"# 2026-11-24 \xe2\x80\x94 Episode Log\n\n## 08:00 | note\nLap\n\n## 09:00 | note\nDesk\n"
    )
    assert told.conflicts == ()


def test_one_block_id_for_two_facts_gives_the_later_one_a_new_id() -> None:
    base = said(ENTITY="# Alex\n\n## Facts\n- Old ^f000\n")
    desk = said(ENTITY="# Alex\n\n## Facts\n- Old ^f000\n- Likes tea ^f7k2\n")
    lap = said(
        ENTITY="# Alex\n\n## Facts\n- Likes coffee ^f7k2\n\n## Superseded\n- Old (superseded by ^f7k2) ^f000\n",
        NOTE="See entity:person--alex#^f7k2.\n",
    )
    files, told = joined(base, desk, lap)
    alex = EntityFile.parse(files[ENTITY], ENTITY)
    facts = {fact.text: fact.block_id for fact in alex.facts}
    assert facts["Likes tea"] == "f7k2"
    assert facts["Likes coffee"] != "f7k2"
    assert f"superseded by ^{facts['Likes coffee']}".encode() in files[ENTITY]
    assert files[NOTE] == f"See entity:person--alex#^{facts['Likes coffee']}.\n".encode()
    assert told.conflicts == ()


def test_the_same_fact_learned_twice_is_one_with_both_sources() -> None:
    base = said(ENTITY="# Alex\n\n## Facts\n")
    desk, lap = (
        said(ENTITY=f"# Alex\n\n## Facts\n- Likes tea (from episode:2026-11-{day}:09:00) ^f7k2\n")
        for day in (1, 2)
    )
    desk = {ENTITY: desk[ENTITY].replace(b"11-1:", b"11-01:")}
    lap = {ENTITY: lap[ENTITY].replace(b"11-2:", b"11-02:")}
    files, told = joined(base, desk, lap)
    assert (
        b"- Likes tea (from episode:2026-11-01:09:00 and episode:2026-11-02:09:00) ^f7k2\n" in files[ENTITY]
    )
    assert told.conflicts == ()


def test_what_both_changed_differently_waits_and_the_file_has_no_marker() -> None:
    base = said(CORE="# Core\r\n\r\n## Identity\r\n- Name: Nora\r\n- Role: translator\r\n")
    desk = said(CORE=base[CORE].decode().replace("Nora", "Nora Lind"))
    lap = said(CORE=base[CORE].decode().replace("Nora", "Nora L.").replace("translator", "writer"))
    files, told = joined(base, desk, lap)
    assert files[CORE] == b"# Core\r\n\r\n## Identity\r\n- Name: Nora Lind\r\n- Role: writer\r\n"
    (conflict,) = told.conflicts
    assert (conflict.base, conflict.stands.text, conflict.waits.text) == (
        "- Name: Nora",
        "- Name: Nora Lind",
        "- Name: Nora L.",
    )
    assert (conflict.stands.device, conflict.waits.device) == ("desk", "lap")
    assert ConflictFile.parse(files[layout.CONFLICTS]).waiting == (conflict,)


def test_changed_here_and_deleted_there_stands_and_waits() -> None:
    base = said(ENTITY="# Alex\n\n## Facts\n- Likes tea ^f1\n- Sings ^f2\n", NOTE="Plan\n")
    changed = said(ENTITY="# Alex\n\n## Facts\n- Likes green tea ^f1\n- Sings ^f2\n", NOTE="Plan B\n")
    deleted = said(ENTITY="# Alex\n\n## Facts\n- Sings ^f2\n")
    for desk, lap in ((changed, deleted), (deleted, changed)):
        files, told = joined(base, desk, lap)
        assert {path: files[path] for path in changed} == changed
        assert {(each.path, each.stands.text, each.waits.text) for each in told.conflicts} == {
            (ENTITY, "- Likes green tea ^f1", None),
            (NOTE, "Plan B\n", None),
        }


def test_settings_are_joined_key_by_key() -> None:
    base = said(SETTINGS='timezone = "UTC"\n\n[search]\nmax_results = 5\n')
    desk = said(SETTINGS='timezone = "UTC"\n\n[search]\nmax_results = 6\nhybrid = true\n')
    lap = said(SETTINGS='# mine\ntimezone = "Europe/Oslo"\n\n[search]\nmax_results = 7\n')
    files, told = joined(base, desk, lap)
    assert (
        files[SETTINGS] == b'# mine\ntimezone = "Europe/Oslo"\n\n[search]\nmax_results = 6\nhybrid = true\n'
    )
    assert [each.unit for each in told.conflicts] == ["search / max_results"]


def scores(folded: dict[str, int], **entries: tuple[int, str, bool]) -> bytes:
    rows = {
        f"entity:person--{name}": {
            "store": "semantic",
            "base_relevance": 1.0,
            "created": "2026-11-01T00:00:00Z",
            "last_accessed": last,
            "access_count": count,
            "type_weight": 1.2,
            "current_score": 1.0,
            "status": "active",
            "pinned": pinned,
        }
        for name, (count, last, pinned) in entries.items()
    }
    return json.dumps({"version": 1, "folded": folded, "entries": rows}, indent=2).encode()


def test_accesses_add_up_over_what_was_before_and_pins_hold() -> None:
    second, fourth, eighth, ninth = (f"2026-11-0{day}T00:00:00Z" for day in (2, 4, 8, 9))
    base = {SCORES: scores({"j": 5}, alex=(3, second, False))}
    desk = {SCORES: scores({"j": 5, "d": 9}, alex=(5, fourth, True))}
    lap = {SCORES: scores({"j": 5, "l": 7}, alex=(4, ninth, False), sam=(2, eighth, False))}
    files, told = joined(base, desk, lap)
    found = DecayScores.parse(files[SCORES])
    alex = found.entries["entity:person--alex"]
    assert (alex.access_count, alex.last_accessed, alex.pinned) == (6, ninth, True)
    assert found.entries["entity:person--sam"].access_count == 2
    assert found.extra["folded"] == {"j": 5, "d": 9, "l": 7}
    assert told.conflicts == ()


def test_a_file_renamed_here_and_edited_there_is_edited_under_its_new_name() -> None:
    text = "# Alex\n\n## Facts\n- Likes tea ^f1\n- Sings ^f2\n- Walks ^f3\n"
    new = "memory/graph/entities/person--alexander.md"
    for edited_first in (True, False):
        renamed, edited = {new: text.encode()}, {ENTITY: text.replace("Sings", "Hums").encode()}
        desk, lap = (edited, renamed) if edited_first else (renamed, edited)
        files, told = joined(said(ENTITY=text), desk, lap)
        assert files == {new: text.replace("Sings", "Hums").encode()}
        assert told.conflicts == ()


def test_two_proposals_with_one_number_both_stay() -> None:
    base = said(PENDING="# Pending\n")
    desk = said(PENDING="# Pending\n\n---\n## Proposal #1\n- **Content**: Desk\n")
    lap = said(
        PENDING="# Pending\n\n---\n## Proposal #1 ⚠️ CONFLICT with #2\n- **Content**: Lap\n"
        "- **Status**: conflict — see #2\n"
        "\n---\n## Proposal #2 ⚠️ CONFLICT with #1\n- **Content**: Not lap\n- **Status**: conflict — see #1\n"
    )
    files, told = joined(base, desk, lap)
    text = files[layout.PENDING_MEMORIES].decode()
    assert "## Proposal #1\n- **Content**: Desk" in text
    assert "## Proposal #3 ⚠️ CONFLICT with #2\n- **Content**: Lap" in text
    assert (
        "## Proposal #2 ⚠️ CONFLICT with #3\n- **Content**: Not lap\n- **Status**: conflict — see #3" in text
    )
    assert told.conflicts == ()


def test_a_decision_on_either_device_holds_on_both() -> None:
    base = said(CORE="# Core\n- Name: Nora\n")
    files, told = joined(
        base, said(CORE="# Core\n- Name: Nora Lind\n"), said(CORE="# Core\n- Name: N. Lind\n")
    )
    (conflict,) = told.conflicts
    decided = ConflictFile.parse(files[layout.CONFLICTS]).records[conflict.id]
    record = ConflictFile({}, {}).with_records([decided])
    assert record.waiting
    settled = files[layout.CONFLICTS].replace(b'"decision": null', b'"decision": "that"')
    desk = {CORE: b"# Core\n- Name: N. Lind\n", layout.CONFLICTS: settled}
    after, again = joined(files, desk, {**files, NOTE: b"x\n"})
    assert after == {**desk, NOTE: b"x\n"}
    assert again.conflicts == ()
    # What was decided long ago and dropped on one device is dropped on both.
    dropped = {path: content for path, content in after.items() if path != layout.CONFLICTS}
    for one, other in ((dropped, {**after, NOTE: b"y\n"}), ({**after, NOTE: b"y\n"}, dropped)):
        assert layout.CONFLICTS not in joined(after, one, other)[0]
    # Both decide, and not alike: it is open again.
    lap = {
        **files,
        layout.CONFLICTS: files[layout.CONFLICTS].replace(b'"decision": null', b'"decision": "this"'),
    }
    open_again, _ = joined(files, desk, lap)
    (left,) = ConflictFile.parse(open_again[layout.CONFLICTS]).waiting
    assert left.stands.text == "- Name: N. Lind"
    assert open_again[CORE] == b"# Core\n- Name: N. Lind\n"


# Random work on three devices

HOURS = st.sampled_from(["08:00", "09:30", "14:30"])
WORDS = st.integers(0, 10_000)
BLOCKS = st.sampled_from(["fa1", "fb2", "fc3", "fd4", "fe5"])
STEPS = st.one_of(
    st.tuples(st.just("log"), HOURS, WORDS),
    st.tuples(st.just("fact"), BLOCKS, WORDS),
    st.tuples(st.just("reword"), st.integers(0, 5), WORDS),
    st.tuples(st.just("delete"), st.integers(0, 5), WORDS),
    st.tuples(st.just("core"), st.integers(0, 3), WORDS),
    st.tuples(st.just("set"), st.sampled_from(["a", "b"]), WORDS),
    st.tuples(st.just("paragraph"), st.integers(0, 3), WORDS),
    st.tuples(st.just("remove"), st.sampled_from(["NOTE", "ENTITY"]), WORDS),
)
BASE = said(
    LOG="# Log\n\n## 07:00 | note\nEarly\n",
    ENTITY="# Alex\n\n<!-- Type: person | Last Updated: 2026-11-01 -->\n\n## Facts\n- One ^fa1\n- Two ^fz9\n- Three\n",
    NOTE="# Plan\r\n\r\nFirst  paragraph\r\n\r\n* odd   bullet\r\n\r\n## Later\r\n\r\nSecond paragraph\r\n",
    CORE="# Core\n\n## Identity\n- A: 1\n- B: 2\n\n## Persona\n- C: 3\n",
    SETTINGS='a = "1"\nb = "2"\n',
)


def work(files: Mapping[str, bytes], steps: list[tuple[str, object, int]], tag: str) -> Files:
    """Do some steps; every text that is written has a word of its own."""
    found = dict(files)
    for number, (kind, where, word) in enumerate(steps):
        told = f"w{tag}{number}x{word}"
        text = {path: content.decode() for path, content in found.items()}
        lines = {path: re.split(r"(?<=\n)", each) for path, each in text.items()}
        if kind == "log":
            key = re.findall(rf"^## {where}(?: #(\d+))?", text[LOG], re.MULTILINE)
            mark = f" #{len(key) + 1}" if key else ""
            found[LOG] = (text[LOG] + f"\n## {where}{mark} | note\n{told}\n").encode()
        elif kind == "fact" and ENTITY in text and f"^{where}\n" not in text[ENTITY]:
            found[ENTITY] = text[ENTITY].replace("## Facts\n", f"## Facts\n- {told} ^{where}\n").encode()
        elif kind in ("reword", "delete") and ENTITY in text:
            items = [at for at, line in enumerate(lines[ENTITY]) if line.startswith("- ")]
            if items:
                at = items[int(str(where)) % len(items)]
                block = re.search(r" \^\w+$", lines[ENTITY][at].rstrip())
                new = f"- {told}{block[0] if block else ''}\n" if kind == "reword" else ""
                found[ENTITY] = "".join([*lines[ENTITY][:at], new, *lines[ENTITY][at + 1 :]]).encode()
        elif kind == "core":
            items = [at for at, line in enumerate(lines[CORE]) if line.startswith("- ")]
            at = items[int(str(where)) % len(items)]
            found[CORE] = "".join([*lines[CORE][:at], f"- {told}\n", *lines[CORE][at + 1 :]]).encode()
        elif kind == "set":
            found[SETTINGS] = re.sub(rf'(?m)^{where} = ".*"$', f'{where} = "{told}"', text[SETTINGS]).encode()
        elif kind == "paragraph" and NOTE in text:
            parts = text[NOTE].split("\r\n\r\n")
            parts.insert(1 + int(str(where)) % len(parts), told)
            found[NOTE] = "\r\n\r\n".join(parts).encode()
        elif kind == "remove":
            found.pop(PLACES[str(where)], None)
    return found


def words_of(files: Mapping[str, bytes]) -> set[bytes]:
    return {word for content in files.values() for word in re.findall(rb"w[a-z]\d+x\d+", content)}


@given(st.lists(STEPS, max_size=6), st.lists(STEPS, max_size=6))
@settings(max_examples=100, deadline=None)
def test_nothing_of_either_side_is_lost(
    desk_steps: list[tuple[str, object, int]], lap_steps: list[tuple[str, object, int]]
) -> None:
    desk, lap = work(BASE, desk_steps, "d"), work(BASE, lap_steps, "l")
    files, told = joined(BASE, desk, lap)
    assert words_of(files) >= words_of(desk) | words_of(lap)
    for content in files.values():
        assert b"<<<<" not in content
    for path in BASE:
        if desk.get(path) == BASE[path] and not told.renamed:
            assert files.get(path) in (lap.get(path), desk.get(path))
        if desk.get(path) == lap.get(path):
            assert files.get(path) == desk.get(path)
    again, nothing = joined(files, files, files)
    assert again == files
    assert nothing.files == {}


@given(st.lists(STEPS, max_size=4), st.lists(STEPS, max_size=4))
@settings(max_examples=60, deadline=None)
def test_lines_that_neither_touched_keep_their_bytes(
    desk_steps: list[tuple[str, object, int]], lap_steps: list[tuple[str, object, int]]
) -> None:
    desk, lap = work(BASE, desk_steps, "d"), work(BASE, lap_steps, "l")
    files, _ = joined(BASE, desk, lap)
    for path, content in BASE.items():
        kept = [
            line
            for line in content.split(b"\n")
            if line in desk.get(path, b"").split(b"\n") and line in lap.get(path, b"").split(b"\n")
        ]
        left = files.get(path, b"").split(b"\n")
        assert path not in files or all(line in left for line in kept)


class Remote:
    """Devices that share one remote: each commit rests on others, and the newest common one is their base."""

    def __init__(self) -> None:
        self.trees: list[Files] = [BASE]
        self.parents: list[tuple[int, ...]] = [()]
        self.head = 0

    def commit(self, tree: Files, *parents: int) -> int:
        self.trees.append(tree)
        self.parents.append(parents)
        return len(self.trees) - 1

    def below(self, commit: int) -> set[int]:
        found, left = set(), [commit]
        while left:
            at = left.pop()
            if at not in found:
                found.add(at)
                left += self.parents[at]
        return found

    def sync(self, commit: int, device: str) -> int:
        if commit in self.below(self.head):
            return self.head
        if self.head not in self.below(commit):
            base = max(self.below(commit) & self.below(self.head))
            ours, theirs = (
                Side(name, f"{at:040}", NOW + timedelta(minutes=at))
                for at, name in ((commit, device), (self.head, "remote"))
            )
            told = join(self.trees[base], self.trees[commit], self.trees[self.head], at=Moments(ours, theirs))
            commit = self.commit(put(self.trees[commit], told), commit, self.head)
        self.head = commit
        return commit


@given(
    st.lists(st.tuples(st.integers(0, 2), st.lists(STEPS, max_size=3)), max_size=6),
    st.sampled_from(list(permutations(range(3)))),
)
@settings(max_examples=60, deadline=None)
def test_three_devices_come_to_the_same_in_any_order(
    rounds: list[tuple[int, list[tuple[str, object, int]]]], order: tuple[int, ...]
) -> None:
    remote, at = Remote(), [0, 0, 0]
    for number, (device, steps) in enumerate(rounds):
        tree = work(remote.trees[at[device]], steps, "abcdef"[number])
        at[device] = remote.commit(tree, at[device])
        if number % 2:
            at[device] = remote.sync(at[device], f"device{device}")
    known = words_of(remote.trees[remote.head])
    fresh = {word for commit in at for word in words_of(remote.trees[commit]) - known}
    # What a device had been told and took away stays away.
    gone = {
        word
        for commit in at
        for older in remote.below(commit)
        for word in words_of(remote.trees[older]) - words_of(remote.trees[commit])
    }
    for device in (*order, *order):
        at[device] = remote.sync(at[device], f"device{device}")
    assert len({at[0], at[1], at[2]}) == 1
    assert fresh - gone <= words_of(remote.trees[at[0]])


def test_an_entity_that_both_devices_made_has_one_header() -> None:
    desk = said(
        ENTITY="# Alex\n\n<!-- Type: person | Label: Alex | Created: 2026-02-03 -->\n\n## Facts\n- Sings ^f1\n"
    )
    lap = said(
        ENTITY="# Alex\n\n<!-- Type: person | Label: Alex | Created: 2026-02-02 -->\n\n## Facts\n- Hums ^f2\n"
    )
    files, told = joined({}, desk, lap)
    assert files[ENTITY].count(b"<!--") == 1
    assert b"Created: 2026-02-02" in files[ENTITY]
    assert told.conflicts == ()
    named = {ENTITY: lap[ENTITY].replace(b"Label: Alex", b"Label: Xander")}
    files, told = joined({}, desk, named)
    assert files[ENTITY].count(b"<!--") == 1
    assert len(told.conflicts) == 1
