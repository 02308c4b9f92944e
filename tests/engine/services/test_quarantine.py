"""A secret on which nobody has decided reaches no agent, no model, no cache and no index; a person can see it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from tests.engine.services.agent_home import AgentHome
from tests.engine.services.callings import EVERY, MAY, SESSION
from tests.engine.services.planted_secrets import (
    MARK,
    PATHS,
    ListeningServer,
    Planted,
    plant,
    secrets_for,
)
from workbench.engine import Workspace
from workbench.engine.catalog import catalog
from workbench.engine.errors import WorkbenchError
from workbench.engine.secrets import detection, shapes
from workbench.engine.secrets.detection import LEFT_OUT, Secret, find_secrets
from workbench.engine.services import quarantine

# Called in a way of their own, or taking back what the others did.
NOT_HERE = {"close", "scoped", "undo", "redo", "revert", "rollback"}
QUESTIONS = ("lockbox", "what opens the lockbox on the pier?", "herring Visby", "How to open the lockbox")


@pytest.fixture
def planted(settled: AgentHome, monkeypatch: pytest.MonkeyPatch) -> Iterator[Planted]:
    with closing(ListeningServer()) as server:
        yield plant(settled, monkeypatch, server)


def scoped_answer(workspace: Workspace, scope: str) -> object:
    with workspace.scoped(scope) as door:
        return door.search("lockbox"), door.brief(), door.instructions()


def lockbox_calls(workspace: Workspace) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield what can be asked about the very memories that hold a secret."""
    w = workspace
    for question in QUESTIONS:
        yield "search", partial(w.search, question, explain=True, include_dormant=True)
        yield "search with a budget", partial(w.search, question, budget=4000)
        yield "message", partial(w.message, f"What do you remember about {question}?")
        yield "forget", partial(w.forget, question)
    for path in PATHS:
        yield f"get {path}", partial(w.get, path)
        yield f"show {path}", partial(w.show, path)
        yield f"title {path}", partial(w.title, f"file:{path}")
        yield f"blame {path}", partial(w.audit_blame, path)
        yield f"why_not {path}", partial(w.why_not, "lockbox", path)
    for name in (
        "entity:thing--lockbox",
        "entity:thing--lockbox#^lb1",
        "entity:thing--lockbox#^lb0",
        "Lockbox",
    ):
        yield f"show {name}", partial(w.show, name)
        yield f"graph {name}", partial(w.graph, name, depth=3)
    for name in ("episode:2026-01-27:09:00", "procedure:how-to-open-the-lockbox", "vault:lockbox"):
        yield f"show {name}", partial(w.show, name)
        yield f"explain {name}", partial(w.decay_explain, name)
    for hit in w.search("lockbox", max_results=50, min_score=0.0).results:
        yield f"show {hit.id}", partial(w.show, hit.id)
        yield f"get {hit.path}", partial(w.get, hit.path)
    yield "timeline", partial(w.timeline, query="lockbox")
    yield "titles", partial(w.titles, "core", "episodic", "semantic", "procedural", "vault")
    yield "entities", w.graph_entities
    yield "compare", partial(w.compare, str(w.head()))
    yield "session", partial(w.session, SESSION)
    yield "context", partial(w.session_context, SESSION)
    yield "reader", lambda: w.session_reader(SESSION).page(1, 100)
    for scope in ("person:robin", "group:family"):
        yield f"scoped {scope}", partial(scoped_answer, w, scope)
    yield "remember", partial(w.remember, "The lockbox was oiled on Monday")
    yield "flush", partial(w.session_flush, SESSION, now=True)
    yield "compact", partial(w.session_compact, SESSION, keep_tokens=1)
    yield "reflect", partial(w.reflect, renew=True)
    yield "trace", partial(w.reflection_trace, "r-001")
    yield "search again", partial(w.search, "lockbox", explain=True)


def answer_of(call: Callable[[], object]) -> tuple[str, bool]:
    try:
        return repr(call()), True
    except WorkbenchError as error:
        return repr((error.message, error.where, error.remedy)), False


def exported(folder: Path) -> Iterator[bytes]:
    for place in folder.glob("export-*"):
        for each in [place] if place.is_file() else place.rglob("*"):
            if each.is_file():
                yield each.read_bytes()


@pytest.mark.parametrize("role", ["reader", "agent:scout", "main"])
def test_no_answer_no_cache_and_no_model_has_it(planted: Planted, role: str) -> None:
    home = planted.home
    leaked: list[str] = []
    answered = 0
    with home.open(role) as workspace:
        workspace.index()
        for name, call in lockbox_calls(workspace):
            said, well = answer_of(call)
            answered += well
            leaked += [name] * (MARK in said)
    for calling in EVERY:
        if calling.needs in MAY[role] and calling.method not in NOT_HERE:
            with home.open(role) as workspace:
                said, well = answer_of(partial(calling.call, workspace))
            answered += well
            leaked += [calling.name] * (MARK in said)
    assert leaked == []
    assert answered > 60
    mark = MARK.encode()
    assert [path for path, content in planted.derived().items() if mark in content] == []
    assert not any(mark in content for content in exported(home.root.parent))
    assert planted.server.bodies
    assert not any(mark in body for body in planted.server.bodies)
    assert mark not in planted.objects()
    # What is said around it is known.
    with home.open(role) as workspace:
        found = workspace.search("lockbox", max_results=50, min_score=0.0)
        assert "[held back: GitHub token]" in repr(found)
        assert "lockbox" in workspace.get("memory/vault/lockbox.md").text


def test_a_person_sees_masks_in_answers_and_everything_in_the_file(planted: Planted) -> None:
    with planted.home.open("person") as workspace:
        assert MARK not in repr(workspace.search("lockbox", max_results=50, min_score=0.0))
        assert MARK not in repr(workspace.show("vault:lockbox"))
        assert MARK not in repr(workspace.brief())
        assert MARK in workspace.get("memory/vault/lockbox.md").text
        assert MARK in repr(workspace.session(SESSION).lines)
        held = {each.path: each.number for each in workspace.secrets_held().held}
        assert MARK in workspace.secrets_reveal(held["memory/vault/lockbox.md"]).text


@pytest.mark.parametrize("path", ["memory/vault/lockbox.md", "memory/episodes/2026-01-27.md", "USER.md"])
def test_once_let_in_it_is_found_and_once_dropped_never(planted: Planted, path: str) -> None:
    (secret,) = planted.secrets[path]
    with planted.home.open("person") as workspace:
        workspace.index()
        numbers = [each.number for each in workspace.secrets_held().held if each.path == path]
        workspace.secrets_store(*numbers)
        workspace.index()
        assert secret in repr(workspace.search("lockbox", max_results=50, min_score=0.0))
        # What stands in a name is not taken out of it.
        others = [each.number for each in workspace.secrets_held().held if LEFT_OUT not in each.path]
        workspace.secrets_drop(*others)
    with planted.home.open("main") as workspace:
        assert secret in workspace.get(path).text
        workspace.index()
        said = repr([workspace.search(each, max_results=50, min_score=0.0) for each in QUESTIONS])
        assert secret in said
        texts = "".join(workspace.get(each).text for each in PATHS)
        assert (texts + said).replace(secret, "").count(MARK) == 0
    rest = b"".join(planted.derived().values()).replace(secret.encode(), b"")
    assert MARK.encode() not in rest


def test_what_is_no_longer_allowed_is_masked_again(planted: Planted) -> None:
    (secret,) = planted.secrets["extra"]
    (said,) = planted.secrets["said"]
    home = planted.home
    with home.open("person") as workspace:
        workspace.secrets_allow([found.digest for each in (secret, said) for found in find_secrets(each)])
        workspace.index()
        found = repr(workspace.search("lockbox", max_results=50, min_score=0.0))
        assert (secret in found, said in found) == (True, True)
        workspace.undo()
        workspace.index()
        found = repr(workspace.search("lockbox", max_results=50, min_score=0.0))
        assert (secret in found, said in found) == (False, False)


@pytest.fixture
def new_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Give a function that adds a row to the table of tokens, as the next version would."""
    package = tmp_path / "secrets"
    shutil.copytree(Path(detection.__file__).parent, package)

    def add(row: str) -> None:
        with (package / "tokens.toml").open("a") as table:
            table.write(f"{row}\n")
        shapes._table.cache_clear()
        detection.recogniser.cache_clear()

    monkeypatch.setattr(shapes, "_TABLE", package / "tokens.toml")
    monkeypatch.setattr(detection, "_PACKAGE", package)
    yield add
    monkeypatch.undo()
    shapes._table.cache_clear()
    detection.recogniser.cache_clear()


HARBOUR = "hrbr_" + "a1B2" * 5


@pytest.mark.parametrize("place", ["memory/notes.md", "outside/notes.md", f"memory/{HARBOUR}.md"])
@pytest.mark.parametrize("role", ["main", "reader"])
def test_a_new_kind_reaches_what_was_read_before(
    home: AgentHome,
    new_row: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    role: str,
) -> None:
    # Files that were just written are read again anyway.
    monkeypatch.setattr(catalog, "_TICK_NS", -1)
    # Nothing is written, so that no history has it; as with an edit of which nobody knows yet.
    for path in (place, "memory/other.md"):
        (home.root / path).parent.mkdir(parents=True, exist_ok=True)
        (home.root / path).write_text(f"The lockbox of Visby opens with {HARBOUR}\n")
    (home.root / "workbench.toml").write_text('search.extra_paths = ["outside"]\n')
    with home.open(role=role) as workspace:
        before = repr(workspace.search("lockbox", max_results=20, min_score=0.0))
        assert place in before
        assert HARBOUR in before
    new_row('"Harbour token" = ["hrbr_{alnum 20}"]')
    with home.open(role=role) as workspace:
        found = workspace.search("lockbox", max_results=20, min_score=0.0)
        assert found.results
        assert HARBOUR not in repr(found)
        assert HARBOUR not in repr([workspace.get(each.path) for each in found.results])


def test_a_secret_in_a_name_is_looked_for_once_and_found_again(
    settled: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    (secret,) = secrets_for(1)
    path = f"memory/notes/{secret}.md"
    settled.write("memory/notes/tram.md", "The tram stops at the pier.\n")
    settled.write(path, "The tram is blue.\n")
    looked_at: list[str] = []

    def look(text: str) -> tuple[Secret, ...]:
        looked_at.append(text)
        return find_secrets(text)

    monkeypatch.setattr(quarantine, "find_secrets", look)
    digests = [found.digest for found in find_secrets(path)]
    with settled.open() as workspace:
        assert MARK not in repr(workspace.search("tram", max_results=50, min_score=0.0))
        assert any("tram.md" in text for text in looked_at)
    looked_at.clear()
    with settled.open() as workspace:
        assert MARK not in repr(workspace.search("tram", max_results=50, min_score=0.0))
        # What was screened before, in whatever process, is not screened again.
        assert not any("tram.md" in text for text in looked_at)
        assert any(MARK in text for text in looked_at)
        workspace.secrets_allow(digests)
    with settled.open("main") as workspace:
        assert MARK in repr(workspace.search("tram", max_results=50, min_score=0.0))
