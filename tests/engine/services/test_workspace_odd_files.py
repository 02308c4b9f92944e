"""Whatever a file is called and holds, wherever it lies, it costs no command and no other file."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.engine.services.agent_home import AgentHome
from tests.engine.services.callings import READING, READING_HISTORY
from workbench.cli.invocation import render_json
from workbench.engine import Workspace, layout, to_json
from workbench.engine.clients.asking import written
from workbench.engine.errors import OutsideWorkspace, WorkbenchError

FOLDERS = (
    "memory",
    "memory/episodes",
    "memory/graph",
    "memory/graph/entities",
    "memory/procedures",
    "memory/vault",
    "memory/vault/sub folder",
    "memory/meta",
    "memory/notes",
)
NAMES: dict[str, bytes] = {
    "newline": b"odd\nname.md",
    "tab": b"odd\tname.md",
    "escape": b"odd\x1b]0;x\x07.md",
    "bar": b"odd | name.md",
    "hash": b"odd#L3.md",
    "hash-block": b"odd--name#^x.md",
    "colon": b"odd: name.md",
    "link": b"[[odd]].md",
    "backslash": b"odd\\name.md",
    "latin-1": b"odd\xe9.md",
    "latin-1-day": b"2026-02-04-\xe9.md",
    "long": b"x" * 250 + b".md",
    "device": b"CON.md",
    "trailing": b"odd .md",
    "dashes": b"--.md",
    "dash": b"-odd.md",
    "day": b"2026-02-04.md",
    "no-day": b"2026-02-31.md",
    "json": b"odd\n\xe9.json",
    "quotes": b"'odd\" $(id) `x`.md",
    "bidi": "odd\u202e\u200b.md".encode(),
    "line-separator": "odd\u2028.md".encode(),
    "noncharacter": "odd\uffff.md".encode(),
}
CONTENTS: dict[str, bytes] = {
    "plain": b"# Kestrel\n\n## 10:00 | event\n- kestrelword circles the weir\n",
    "latin-1": b"# Kestrel\n\n## 10:00 | event\n- kestrelword caf\xe9\n",
    "nul": b"# Kestrel\0\n\n## 10:00 | event\n- kestrelword \0\0 x\n",
    "bom": b"\xef\xbb\xbf# Kestrel\r\n\r\n## 10:00 | event\r\n- kestrelword x\r\n",
    "utf-16": "# Kestrel\n- kestrelword\n".encode("utf-16"),
    "cr": b"# Kestrel\r\r## 10:00 | event\r- kestrelword x\r",
    "control": b"# \x1b[31mKestrel\x07\n\n## 10:00 | event\n- kestrelword \x9b31m [/b] \xe2\x80\xae\n",
    "surrogates": b"# Kestrel \xed\xa0\x80\n\n## 10:00 | event\n- kestrelword \xed\xb2\xa9 \\udce9\n",
    "half-front-matter": b"---\ntype: [person\n- kestrelword\n",
    "deep": b"> " * 3000 + b"kestrelword\n" + b"- " * 3000 + b"x\n",
    "links": b"- kestrelword [[\n- [[]] [[|]] [[#]] [[a|b|c]] [[../..]] [[ ]] [[x\n]]\n"
    b"## Relations\n- : [[]]\n- a: [[|]]\n",
    "huge-line": b"- kestrelword " + b"x" * 300_000,
    "empty": b"",
    "blank": b"\n \n\t\n",
}


def place(home: AgentHome, folder: str, name: bytes) -> Path:
    """Return where a file lies, its folder made."""
    where = home.root / folder
    where.mkdir(parents=True, exist_ok=True)
    return where / os.fsdecode(name)


def put(home: AgentHome, folder: str, name: bytes, content: bytes) -> str:
    """Put a file there; return its path as the engine shows it."""
    place(home, folder, name).write_bytes(content)
    return layout.shown(f"{folder}/{os.fsdecode(name)}")


def untouched(home: AgentHome) -> dict[str, bytes | None]:
    """Return every file below memory but those that are derived or keep account, by its path."""
    return {
        str(path): path.read_bytes() if path.is_file() and not path.is_symlink() else None
        for path in (home.root / "memory").rglob("*")
        if path.name not in ("audit.log", "index.md", "decay-scores.json")
    }


class Walk:
    """Calls everything, and keeps what ended otherwise than with an answer or an error of ours."""

    def __init__(self) -> None:
        self.faults: list[str] = []

    def call(self, name: str, call: Callable[[], object]) -> object:
        try:
            answer = call()
            # Strict: half of a surrogate pair is no UTF-8.
            rendered = render_json(to_json(answer))
            rendered.encode()
            assert "\\ud8" not in rendered.replace("\\\\", "")
            json.loads(rendered)
        except WorkbenchError as error:
            if not error.message or not (error.where or error.remedy):
                self.faults.append(f"{name}: an error without place and remedy: {error!r}")
            render_json(str(error)).encode()
        except Exception as error:  # the very thing that is looked for
            self.faults.append(f"{name}: {type(error).__name__}: {str(error)[:200]}")
        else:
            return answer
        return None

    def read_all(self, workspace: Workspace, paths: list[str]) -> None:
        for calling in (*READING, *READING_HISTORY):
            if calling.method not in ("close", "watch", "message"):
                if calling.prepare is not None:
                    continue
                self.call(calling.name, partial(calling.call, workspace))
        self.call("log", lambda: workspace.audit_log())
        for path in paths:
            for name, call in of_one(workspace, path):
                self.call(f"{name} {path[:60]!r}", call)
        for commit in workspace.history_line().commits if workspace.head() else ():
            self.call("diff", partial(workspace.audit_diff, commit))
            self.call("show commit", partial(workspace.audit_show, commit))

    def change_all(self, workspace: Workspace, paths: list[str]) -> None:
        for name, call in changes(workspace, paths):
            self.call(name, call)


def of_one(workspace: Workspace, path: str) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield everything that is read of one file."""
    yield "get", partial(workspace.get, path)
    yield "resolve", partial(workspace.resolve, path)
    yield "show", partial(workspace.show, path)
    yield "show lines", partial(workspace.show, f"file:{path}#L1-L1")
    yield "blame", partial(workspace.audit_blame, path)
    yield "log of", partial(workspace.audit_log, file=path)
    yield "at", partial(workspace.audit_at, "2026-02-03", path=path)
    yield "why not", partial(workspace.why_not, "weir", path)
    for record in workspace._context.lookups.memories_in(path)[:3]:
        for name, call in (
            ("show", workspace.show),
            ("graph", workspace.graph),
            ("explain", workspace.decay_explain),
            ("title", workspace.title),
        ):
            yield f"{name} {record.id[:80]!r}", partial(call, record.id)
        yield "history of", partial(workspace.history_of, record.id, path)


def roll_back(workspace: Workspace, path: str) -> object:
    return workspace.rollback(file=f"{path}@{workspace.head()}")


def changes(workspace: Workspace, paths: list[str]) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield a change of each kind, of the odd files and beside them."""
    yield "remember", partial(workspace.remember, "Robin likes the north pier")
    yield "fact", partial(workspace.remember, "Robin sails", store="semantic", entities=["person:Robin"])
    yield "procedure", partial(workspace.remember, "How to moor\n1. Throw the rope", store="procedural")
    yield "core", partial(workspace.core_add, "Persona", "Be kind")
    yield "reflect", workspace.reflect
    for path in paths:
        for record in workspace._context.lookups.memories_in(path)[:1]:
            yield f"pin {record.id[:60]!r}", partial(workspace.pin, record.id)
            yield "unpin", partial(workspace.unpin, record.id)
            yield "reinforce", partial(workspace.reinforce, record.id)
            yield "forget", partial(workspace.forget, ids=[record.id], apply=True)
            yield "restore", partial(workspace.restore, record.id)
            yield "edit", partial(workspace.edit, record.id, "Reads otherwise now.")
        yield f"edit file {path[:60]!r}", partial(workspace.edit_file, path, "# Other\n\n- other\n")
        yield "undo", workspace.undo
        yield "redo", workspace.redo
        yield "rollback", partial(roll_back, workspace, path)
        yield "revert", lambda: workspace.revert(str(workspace.head()))
        yield "hard", partial(workspace.forget, ids=[f"file:{path}"], apply=True, hard=True)
    yield "prune", workspace.audit_prune
    yield "export", lambda: list(workspace.export_lines())
    yield "export a folder", partial(workspace.export, workspace.root.parent / "exported", folder=True)


def walked(home: AgentHome, paths: list[str]) -> None:
    """Read and change everything, and make sure that nothing but what was meant has changed."""
    walk = Walk()
    before = untouched(home)
    for role in ("reader", "person"):
        with home.open(role) as workspace:
            workspace.refresh()
            walk.read_all(workspace, paths)
    assert walk.faults == []
    assert untouched(home) == before
    with home.open("person") as workspace:
        workspace.refresh()
        walk.change_all(workspace, paths)
        assert walk.faults == []
        walk.read_all(workspace, paths)
        verified = workspace.audit_verify()
        assert [p for p in verified.problems if p.kind not in ("outside-edit", "unreadable")] == []
        assert not [line for line in workspace.warnings if "could not follow" in line]
    assert walk.faults == []


@pytest.mark.parametrize("name", NAMES)
def test_no_name_of_a_file_costs_a_command(settled: AgentHome, name: str) -> None:
    # Three of the folders, others for the next name: each of them has every third name.
    some = FOLDERS[list(NAMES).index(name) % 3 :: 3]
    walked(settled, [put(settled, folder, NAMES[name], CONTENTS["plain"]) for folder in some])


@pytest.mark.campaign
@pytest.mark.parametrize("name", NAMES)
def test_no_name_of_a_file_costs_a_command_in_any_folder(settled: AgentHome, name: str) -> None:
    walked(settled, [put(settled, folder, NAMES[name], CONTENTS["plain"]) for folder in FOLDERS])


@pytest.mark.parametrize("name", NAMES)
def test_no_name_of_a_file_fails_what_reads_them_all(settled: AgentHome, name: str) -> None:
    paths = [put(settled, folder, NAMES[name], CONTENTS["plain"]) for folder in FOLDERS]
    with settled.open("person") as workspace:
        workspace.refresh()
        workspace.secrets_scan()
        workspace.index_status()
        assert workspace.audit_verify().ok
        exported = "".join(json.dumps(json.loads(line)) for line in workspace.export_lines())
        workspace.export(workspace.root.parent / "exported", folder=True)
    assert all(json.dumps(Path(path).stem)[1:-1] in exported for path in paths if path.endswith(".md"))


@pytest.mark.parametrize("content", CONTENTS)
def test_no_content_of_a_file_costs_a_command(settled: AgentHome, content: str) -> None:
    paths = [put(settled, folder, b"person--odd.md", CONTENTS[content]) for folder in FOLDERS]
    paths += [
        put(settled, folder, name, CONTENTS[content])
        for folder, name in (
            *(("memory", b"2026-02-04.md"), ("memory/episodes", b"2026-02-04.md"), (".", b"USER.md")),
            *(("memory/graph", b"relations.md"), ("memory/meta", b"reflection-log.md"), (".", b"MEMORY.md")),
            *(("memory/meta", b"pending-memories.md"), ("memory/meta", b"evolution.md")),
        )
    ]
    walked(settled, [path.removeprefix("./") for path in paths])


def a_folder(place: Path) -> None:
    place.mkdir()


def a_link(place: Path) -> None:
    place.symlink_to(place.parent.parent / "MEMORY.md")


def a_dead_link(place: Path) -> None:
    place.symlink_to("nowhere.md")


def a_pipe(place: Path) -> None:
    os.mkfifo(place)


def locked_up(place: Path) -> None:
    place.write_text("# Kestrel\n")
    place.chmod(0)


@pytest.mark.parametrize("kind", [a_folder, a_link, a_dead_link, a_pipe, locked_up])
def test_nothing_else_in_the_place_of_a_file_costs_a_command(
    settled: AgentHome, kind: Callable[[Path], None]
) -> None:
    paths = [
        *(f"{folder}/person--odd.md" for folder in FOLDERS),
        *("memory/2026-02-04.md", "memory/episodes/2026-02-04.md", "memory/graph/relations.md"),
        *("memory/graph/index.md", "memory/meta/pending-memories.md", "memory/meta/evolution.md"),
    ]
    for path in paths:
        folder, _, name = path.rpartition("/")
        kind(place(settled, folder, name.encode()))
    walk = Walk()
    with settled.open("person") as workspace:
        walk.read_all(workspace, paths)
        walk.call("remember", partial(workspace.remember, "Robin likes the north pier"))
        walk.call("fact", partial(workspace.graph_add_fact, "Robin", "Sails at weekends"))
        walk.call("episode", partial(workspace.remember, "The ferry left", store="episodic"))
        walk.read_all(workspace, paths)
    assert walk.faults == []


def test_json_in_ascii_and_what_a_hook_says_tell_no_half_of_a_character(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    odd = {"text": "caf\udce9 é 😀"}
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BytesIO(), "ascii"))
    told = render_json(odd)
    assert told.isascii()
    assert json.loads(told) == {"text": "caf\\udce9 é 😀"}
    assert json.loads(written(odd)) == {"text": "caf\ufffd é 😀"}


def test_a_new_workspace_is_refused_over_a_link_before_anything_is_written(tmp_path: Path) -> None:
    root, elsewhere = tmp_path / "agent", tmp_path / "elsewhere"
    root.mkdir()
    elsewhere.mkdir()
    (root / "memory").symlink_to(elsewhere)
    with pytest.raises(OutsideWorkspace):
        Workspace.init(root)
    assert not list(elsewhere.iterdir())
    assert [path.name for path in root.iterdir()] == ["memory"]
