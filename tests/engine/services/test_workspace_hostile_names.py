"""Whatever is named by path, id, link or time: nothing outside the memory files is read or written."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.engine.services.agent_home import AgentHome, failure, listing
from tests.engine.services.callings import EPISODE
from workbench.engine import Workspace, to_json
from workbench.engine.errors import InvalidInput, NotFound, OutsideWorkspace, Refused, WorkbenchError

CANARY = "the canary sings at noon"
ROOTS = ("", "memory/", "memory/vault/", "memory/episodes/", "memory/graph/entities/", "./", "memory/./")
OUT = ("..", "../outside", "../../outside", "a/../../../outside")
TARGETS = ("/canary.md", "/canary", "")
ODD = (
    *(
        "",
        " ",
        ".",
        "..",
        "/",
        "//",
        "~",
        "~root",
        "~/canary.md",
        "$HOME",
        "$(id)",
        "`id`",
        "%2e%2e/canary.md",
    ),
    *("\0", "memory/\0.md", "MEMORY.md\0.txt", "\ud800", "memory/\udcff.md", "\\", "..\\canary.md"),
    *("C:\\canary.md", "C:/canary.md", "\\\\host\\share\\canary.md", "memory\\vault\\promise.md"),
    *("file:///etc/passwd", "https://example.org/canary.md", "/etc/passwd", "/proc/self/environ"),
    *("memory/" + "a" * 300 + ".md", "memory/" + "b/" * 3000 + "c.md", "x" * 100_000),
    *("memory/﹒﹒/canary.md", "memory/．．/canary.md", "memory/‥/canary.md", "memory/\u202e/canary.md"),
    *("memory/\n.md", "memory/\r.md", "memory/\x1b[31m.md", "MEMORY.md\n", "memory/a\tb.md", "memory/."),
    *("MEMORY.md/", "MEMORY.md/x.md", "memory", "memory/", "memory/vault", "memory/vault/", "memory.md/.."),
    *(".audit", ".audit/HEAD", ".audit/config", "./.audit/HEAD", "memory/../.audit/HEAD", ".audit/x.md"),
    *(".git", ".git/config", ".git/HEAD", "memory/.git/config", "memory/.hidden.md", "memory/.obsidian/x.md"),
    *(".env", "workbench.toml.bak", "notes/private.md", "secret.txt", "memory/key.pem", "openclaw.json"),
    *("memory/link.md", "memory/linked/canary.md", "memory/linked", "memory/loop/MEMORY.md", "memory/up"),
    *("memory/up/canary.md", "memory/vault/link.md", "memory/episodes/2026-02-03.md", "memory/pipe.md"),
    *("memory/dangling.md", "memory/hard/../link.md", "AGENTS.md", "memory/graph/entities/person--link.md"),
    *(
        "MEMORY.md#L0",
        "MEMORY.md#L1-L0",
        "MEMORY.md#L-1",
        "MEMORY.md#Lx",
        "MEMORY.md#L1-Lx",
        "MEMORY.md#L9e9",
    ),
    *(
        "MEMORY.md#L99999999999999999999",
        "MEMORY.md#L1-L99999999999999999999",
        "#L1",
        "#L1-L2",
        "MEMORY.md#L²",
    ),
)
IDS = (
    *("vault:../../canary.md", "vault:../../../outside/canary", "vault:/etc/passwd", "vault:..", "vault:."),
    *("vault:link", "vault:link.md", "vault:\0", "vault:a\\b", "vault:" + "x" * 400, "vault:~root/x"),
    *("vault:../episodes/2026-02-01.md", "vault:../../SOUL.md", "vault:../../.audit/HEAD"),
    *("file:../outside/canary.md", "file:/etc/passwd", "file:memory/../../outside/canary.md#L1-L9"),
    *("file:memory/link.md", "file:memory/linked/canary.md#L1", "file:.audit/HEAD", "file:.git/config#L1-L2"),
    *("file:workbench.toml", "file:openclaw.json", "file:MEMORY.md#L0-L1", "file:MEMORY.md#L9-L1"),
    *("file:MEMORY.md#L1-L99999999999999999999", "file:secret.txt", "file:memory/pipe.md"),
    *("entity:../../../outside/canary--x", "entity:person--../../canary", "entity:person--link", "entity:--"),
    *(
        "entity:person--..",
        "entity:..--..",
        "entity:person--\0",
        "entity:person--robin#^../x",
        "entity:a--b#^",
    ),
    *("entity:person--" + "x" * 500, "person--../../../etc", "entity:person--robin#^tea1#^tea1", "--"),
    *(
        "procedure:../../outside/canary",
        "procedure:..",
        "procedure:/etc/passwd",
        "procedure:\0",
        "procedure:",
    ),
    *("procedure:.hidden", "procedure:" + "y" * 500, "procedure:~", "procedure:%2e%2e"),
    *("episode:2026-02-03:10:00", "episode:../../../canary", "episode:2026-13-45:99:99", "episode:"),
    *("episode:2026-02-01:09:15#0", "episode:2026-02-01:09:15#99999999999999999", "episode:٢٠٢٦-٠٢-٠١:٠٩:١٥"),
    *("core:../..:x", "core:", "core::", "core:identity:", "core:identity:" + "z" * 10_000, "core:\0:\0"),
    *(
        "[[person--robin]]",
        "*",
        "%",
        "' OR 1=1 --",
        '"; DROP TABLE memories; --',
        "NEAR(a b)",
        "{}",
        "\u200b",
    ),
    *("Robin\0", "ＲＯＢＩＮ/../..", "\U0001f600" * 300, "null", "None", "-1", "--help", "-rf"),
)
COMMITS = (
    *("", " ", "HEAD", "HEAD~1", "main", "refs/heads/main", "@{u}", "../../HEAD", "/etc/passwd", "\0", "-"),
    *("--output=canary.md", "-p", "0" * 40, "0" * 39, "0" * 41, "g" * 40, "a..b", "..", "...", "a..", "..b"),
    *(":/x", "HEAD:MEMORY.md", "^HEAD", "HEAD^{tree}", "é", "\ud800", "x" * 10_000, "12", "r-012", "r-012.3"),
    *("MEMORY.md@HEAD", "\n", "abc1234\nabc1234"),
)
TIMES = (
    *("", " ", "now", "yesterday", "2026-13-01", "2026-02-30", "9999-12-31T23:59:59Z", "0001-01-01", "\0"),
    *(
        "2026-02-02T14:30+99:99",
        "9999-12-31T23:59:59-23:59",
        "0001-01-01T00:00:00+23:59",
        "1e999",
        "W",
        "20260202",
    ),
    *("2026-W05-1", "2026-02-02 14:30", "14:30", "x" * 10_000, "٢٠٢٦-٠٢-٠٢", "2026-02-02T25:00"),
)


def paths() -> list[str]:
    """Return a few hundred paths, most of which lead out."""
    climbing = [root + out + target for root in ROOTS for out in OUT for target in TARGETS]
    chance = random.Random(20260202)
    parts = (
        "..",
        ".",
        "memory",
        "vault",
        "linked",
        "up",
        "canary.md",
        "outside",
        ".audit",
        "~",
        "",
        "\0",
        "ａ",
    )
    wild = ["/".join(chance.choices(parts, k=chance.randint(1, 7))) for _ in range(150)]
    return list(dict.fromkeys([*climbing, *ODD, *wild]))


@pytest.fixture
def trapped(settled: AgentHome) -> AgentHome:
    """A workspace with a canary outside, and every kind of way out inside."""
    outside = settled.root.parent / "outside"
    outside.mkdir()
    for folder in (outside, settled.root.parent):
        for name in ("canary.md", "canary", "person--link.md", "canary--x.md"):
            (folder / name).write_text(CANARY)
    memory = settled.root / "memory"
    (memory / "link.md").symlink_to(outside / "canary.md")
    (memory / "dangling.md").symlink_to(outside / "absent.md")
    (memory / "linked").symlink_to(outside)
    (memory / "up").symlink_to("../..")
    (memory / "loop").symlink_to(".")
    (memory / "vault/link.md").symlink_to(outside / "canary.md")
    (memory / "episodes/2026-02-03.md").symlink_to(outside / "canary.md")
    (memory / "graph/entities/person--link.md").symlink_to(outside / "canary.md")
    (settled.root / "AGENTS.md").symlink_to(outside / "canary.md")
    os.mkfifo(memory / "pipe.md")
    settled.write("secret.txt", CANARY)
    settled.write("notes/private.md", CANARY)
    settled.write("memory/key.pem", CANARY)
    settled.write("memory/.hidden.md", CANARY)
    settled.write(".git/config", CANARY)
    settled.write(".env", CANARY)
    settled.write("openclaw.json", f'{{"token": "{CANARY}"}}')
    return settled


def outside_of(home: AgentHome) -> dict[str, tuple[object, ...]]:
    """Return what can be seen of everything that is nobody's business here."""
    seen = listing(home.root.parent / "outside")
    for name in ("secret.txt", "notes", "memory/key.pem", "memory/.hidden.md", ".git", ".env"):
        place = home.root / name
        seen[name] = (place.lstat().st_mtime_ns, place.read_bytes() if place.is_file() else None)
    for name in ("canary.md", "canary"):
        seen[f"../{name}"] = ((home.root.parent / name).read_bytes(),)
    return {**seen, "..": tuple(sorted(place.name for place in home.root.parent.iterdir()))}


def tells(call: Callable[[], object]) -> str:
    """Return everything that a call tells, an error's words included, and let nothing but ours be raised."""
    answers: list[object] = []
    error = failure(lambda: answers.append(call()))
    return str(error) if error else repr([to_json(answer) for answer in answers])


READERS: dict[str, Callable[[Workspace, str], object]] = {
    "get": lambda w, name: w.get(name),
    "show": lambda w, name: w.show(name),
    "graph": lambda w, name: w.graph(name),
    "graph-relation": lambda w, name: w.graph("Robin", relations=[name]),
    "graph-type": lambda w, name: w.graph("Robin", types=[name]),
    "graph-day": lambda w, name: w.graph("Robin", after=name, before=name),
    "graph_path": lambda w, name: w.graph_path("Robin", name),
    "resolve": lambda w, name: w.resolve(name),
    "search": lambda w, name: w.search(name),
    "timeline": lambda w, name: w.timeline(query=name[:200]),
    "cursor": lambda w, name: w.timeline(before=name),
    "forget": lambda w, name: w.forget(ids=[name]),
    "forget-query": lambda w, name: w.forget(name or "x"),
    "audit_blame": lambda w, name: w.audit_blame(name),
    "audit_at": lambda w, name: w.audit_at("2026-02-03", path=name),
    "audit_log": lambda w, name: w.audit_log(file=name, text=name, actor=name, action=name),
    "message": lambda w, name: w.message(f"remember {name}", apply=False),
}


@pytest.mark.parametrize("reader", READERS)
def test_no_name_reads_outside(trapped: AgentHome, reader: str) -> None:
    before = outside_of(trapped)
    inside = listing(trapped.root, locks=False)
    with trapped.open("reader" if reader != "message" else "main") as workspace:
        for name in (*paths(), *IDS):
            assert CANARY not in tells(partial(READERS[reader], workspace, name)), name
    assert outside_of(trapped) == before
    if reader != "message":
        assert listing(trapped.root, locks=False) == inside


def test_what_leads_out_is_named_as_that(trapped: AgentHome) -> None:
    with trapped.open() as workspace:
        for path in (
            *("../outside/canary.md", "memory/../../x.md", "/etc/passwd", "a\\b", "\0"),
            *("memory/link.md", "memory/linked/canary.md", "memory/up/x.md"),
        ):
            for call in (
                partial(workspace.get, path),
                partial(workspace.edit_file, path, "x"),
                partial(workspace.audit_blame, path),
            ):
                error = failure(call)
                assert isinstance(error, OutsideWorkspace | NotFound), (path, error)
        with pytest.raises(OutsideWorkspace):
            workspace.get("../outside/canary.md")
        with pytest.raises(OutsideWorkspace):
            workspace.edit_file("memory/link.md", "x")


WRITERS: dict[str, Callable[[Workspace, str], object]] = {
    "edit": lambda w, name: w.edit(name, "Overwritten."),
    "edit_file": lambda w, name: w.edit_file(name, "Overwritten.\n"),
    "forget": lambda w, name: w.forget(ids=[name], apply=True),
    "forget-hard": lambda w, name: w.forget(ids=[name], apply=True, hard=True),
    "pin": lambda w, name: w.pin(name),
    "unpin": lambda w, name: w.unpin(name),
    "reinforce": lambda w, name: w.reinforce(name),
    "restore": lambda w, name: w.restore(name),
    "core_set": lambda w, name: w.core_set(name, "- x"),
    "core_add": lambda w, name: w.core_add(name, "x"),
    "core_replace": lambda w, name: w.core_replace(name, "x"),
    "core_remove": lambda w, name: w.core_remove(name),
    "graph_merge": lambda w, name: w.graph_merge("Robin", name),
    "graph_unmerge": lambda w, name: w.graph_unmerge(name),
    "graph_rename": lambda w, name: w.graph_rename(name, "Renamed"),
    "graph_link": lambda w, name: w.graph_link("Robin", "uses", name),
    "graph_link-relation": lambda w, name: w.graph_link("Robin", name, "Harbour"),
    "graph_unlink": lambda w, name: w.graph_unlink("Robin", "uses", name),
    "graph_add": lambda w, name: w.graph_add("person", name),
    "graph_add-type": lambda w, name: w.graph_add(name, "Somebody"),
    "graph_add_fact": lambda w, name: w.graph_add_fact(name, "x"),
    "graph_retire": lambda w, name: w.graph_retire(name),
    "graph_propose_merge": lambda w, name: w.graph_propose_merge("Robin", name),
    "rollback": lambda w, name: w.rollback(file=f"{name}@{w.head()}"),
    "acknowledge": lambda w, name: w.acknowledge(name),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_no_name_writes_outside(trapped: AgentHome, writer: str) -> None:
    before = outside_of(trapped)
    with trapped.open() as workspace:
        for name in (*paths(), *IDS):
            told = tells(partial(WRITERS[writer], workspace, name))
            assert CANARY not in told, name
        assert workspace.audit_verify().problems == ()
    assert outside_of(trapped) == before
    for path in trapped.git("ls-tree", "-rz", "--name-only", "HEAD").split("\0"):
        assert not path.startswith((".", "notes/", "/")), path
        assert ".." not in path.split("/")
    assert CANARY not in trapped.git("log", "-p", "--all", "--", "memory")
    assert sorted(trapped.root.rglob("*.tmp")) == []


GRAPH_NAMES = (
    "../x",
    "a/b",
    "..",
    ".",
    "x\0y",
    "\n",
    "[[x]]",
    "a--b",
    "--",
    "|",
    "<!-- -->",
    "^id",
    "#",
    "\ud800",
)


@pytest.mark.parametrize(
    "name", [*GRAPH_NAMES, "𝕬𝖑𝖊𝖝", "你好", "İstanbul", "ß", "a" * 500, "..md", "CON", ".git"]
)
def test_names_make_files_only_among_the_entities(trapped: AgentHome, name: str) -> None:
    before = outside_of(trapped)
    with trapped.open("main") as workspace:
        for call in (
            partial(workspace.remember, f"{name} is here", store="semantic", entities=[f"person:{name}"]),
            partial(workspace.remember, f"# {name}\n\n{name}", store="vault"),
            partial(workspace.remember, f"{name}\n1. {name}", store="procedural"),
            partial(workspace.remember, f"{name}", store="episodic", tags=[name], entities=[f"tool:{name}"]),
            partial(workspace.remember, f"about {name}", store="core", block=name),
            partial(workspace.graph_rename, "Robin", name),
        ):
            tells(call)
        assert workspace.audit_verify().problems == ()
        tracked = {path for path in trapped.tracked() if "/" in path}
        assert {path.rpartition("/")[0] for path in tracked} <= {
            *("memory", "memory/episodes", "memory/graph", "memory/graph/entities", "memory/procedures"),
            *("memory/vault", "memory/meta"),
        }
        assert workspace.graph().nodes
    assert outside_of(trapped) == before


@pytest.mark.parametrize("commit", COMMITS)
def test_what_is_no_commit_is_an_error_of_ours(trapped: AgentHome, commit: str) -> None:
    before, tracked = outside_of(trapped), trapped.tracked()
    with trapped.open() as workspace:
        for call in (
            partial(workspace.audit_show, commit),
            partial(workspace.audit_diff, commit),
            partial(workspace.audit_diff, f"{commit}..{workspace.head()}"),
            partial(workspace.audit_diff, str(workspace.head()), path=commit),
            partial(workspace.revert, commit),
            partial(workspace.rollback, file=f"MEMORY.md@{commit}"),
            partial(workspace.rollback, file=commit),
            partial(workspace.rollback, reflection=commit),
            partial(workspace.acknowledge, commit),
        ):
            tells(call)
    assert trapped.tracked() == tracked
    assert outside_of(trapped) == before


@pytest.mark.parametrize("time", TIMES)
def test_what_is_no_time_is_an_error_of_ours(settled: AgentHome, time: str) -> None:
    tracked = settled.tracked()
    with settled.open() as workspace:
        for call in (
            partial(workspace.audit_at, time),
            partial(workspace.audit_log, since=time),
            partial(workspace.audit_log, until=time),
            partial(workspace.search, "ferry", after=time),
            partial(workspace.search, "ferry", before=time),
            partial(workspace.rollback, to=time),
            partial(workspace.timeline, query=f"after:{time}"),
        ):
            tells(call)
    assert settled.tracked() == tracked


@pytest.mark.parametrize(
    "call",
    [
        lambda w: w.get("MEMORY.md", from_=0),
        lambda w: w.get("MEMORY.md", from_=1, lines=-1),
        lambda w: w.graph("Robin", depth=-1),
        lambda w: w.search("x", store="cellar"),
        lambda w: w.search("x", after="soon"),
        lambda w: w.remember(""),
        lambda w: w.remember("   \n\t "),
        lambda w: w.remember("x", store="cellar"),
        lambda w: w.remember("x", type="rumour"),
        lambda w: w.remember("x", confidence="certain"),
        lambda w: w.remember("x", entities=["Robin"]),
        lambda w: w.remember("x", entities=["persn:Robin"]),
        lambda w: w.remember("x", source="two words"),
        lambda w: w.forget(),
        lambda w: w.rollback(),
        lambda w: w.rollback(to="2026-02-02", reflection="r-001"),
        lambda w: w.rollback(file="MEMORY.md"),
        lambda w: w.graph_link("Robin", "befriends", "Harbour"),
        lambda w: w.edit(EPISODE, ""),
        lambda w: w.core_add("Persona", " "),
    ],
)
def test_what_makes_no_sense_is_told_and_changes_nothing(
    settled: AgentHome, call: Callable[[Workspace], object]
) -> None:
    commits, tracked = settled.commits(), settled.tracked()
    with settled.open() as workspace, pytest.raises(InvalidInput) as caught:
        call(workspace)
    assert caught.value.remedy
    assert settled.commits() == commits
    assert settled.tracked() == tracked


def test_settings_reach_nothing_outside(home: AgentHome) -> None:
    for line in (
        '[paths]\nstate = "/tmp/elsewhere"',
        '[model]\nbase_url = "http://example.org"\nname = "x"',
        '[triggers]\nphrases = "../../outside.toml"',
        '[triggers]\nphrases = "/etc/passwd"',
        'editor = "rm -rf"',
    ):
        home.write("workbench.toml", line)
        with pytest.raises(WorkbenchError) as caught, home.open():
            pass
        assert caught.value.remedy


def test_a_linked_folder_of_memory_is_not_memory(home: AgentHome) -> None:
    outside = home.root.parent / "outside"
    (outside / "episodes").mkdir(parents=True)
    (outside / "2026-02-01.md").write_text(CANARY)
    (home.root / "memory").symlink_to(outside)
    (home.root / "MEMORY.md").symlink_to(outside / "2026-02-01.md")
    before = listing(outside)
    with home.open() as workspace:
        for call in (
            workspace.timeline,
            workspace.decay,
            workspace.core,
            partial(workspace.search, "canary"),
            partial(workspace.get, "memory/2026-02-01.md"),
            partial(workspace.get, "MEMORY.md"),
            workspace.brief,
        ):
            assert CANARY not in tells(call)
        for write in (
            partial(workspace.remember, "A thing", store="episodic"),
            partial(workspace.core_add, "Persona", "Be kind"),
            partial(workspace.edit_file, "memory/x.md", "x"),
        ):
            assert isinstance(failure(write), Refused)
    assert listing(outside) == before


def test_a_file_whose_name_is_no_text_hides_nothing(furnished: AgentHome) -> None:
    name = os.fsdecode(b"caf\xe9.md")
    (furnished.root / "memory" / name).write_text("A name of another time.\n")
    with furnished.open() as workspace:
        assert workspace.search("lighthouse").results
        assert workspace.core_add("Persona", "Be kind").commit
        assert workspace.audit_verify().problems == ()
        assert workspace.timeline().total == 5
    assert "caf" in furnished.git("ls-tree", "-r", "--name-only", "HEAD")
    assert (furnished.root / "memory" / name).read_text() == "A name of another time.\n"


def test_a_history_that_is_a_link_is_not_followed(furnished: AgentHome, tmp_path: Path) -> None:
    other = AgentHome(tmp_path / "other")
    other.furnish()
    other.init()
    before = listing(other.root)
    (furnished.root / ".audit").symlink_to(other.root / ".audit")
    with furnished.open() as workspace:
        for call in (
            partial(workspace.core_add, "Persona", "Be kind"),
            workspace.audit_log,
            workspace.undo,
        ):
            assert failure(call) is not None
        assert workspace.core().tokens
    assert listing(other.root) == before


def test_a_limit_without_end_gives_everything(settled: AgentHome) -> None:
    with settled.open() as workspace:
        every = workspace.audit_log().entries
        assert workspace.audit_log(limit=10**22).entries == every
        assert not workspace.audit_log(offset=10**22).entries
