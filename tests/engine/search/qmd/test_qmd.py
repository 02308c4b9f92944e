"""QMD as a back end: what it is told, what its answers mean, and every way in which it can fail."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import pytest

from tests.engine.search.qmd.stand_in import answering, calls_of, result, write_stand_in
from workbench.engine.clock import FixedClock
from workbench.engine.process import process_lock
from workbench.engine.search.chunks import Within
from workbench.engine.search.qmd import QmdBackend, collections_of, is_in_scope
from workbench.engine.search.qmd_program import QmdFailed
from workbench.engine.settings.sections import QmdSettings

Made = Callable[..., QmdBackend]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    (root / "memory/meta").mkdir(parents=True)
    (root / "MEMORY.md").write_text(
        "# Memory\n\n## Facts\n- The staging host is eu-2\n- Deploys are on Tuesdays\n"
    )
    (root / "memory/2026-02-01.md").write_text("Alex prefers metric units.\n")
    (root / "memory/2026-02-03.md").write_text("The journal was torn.\n")
    (root / "memory/meta/evolution.md").write_text("none of it\n")
    return root


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "cache/qmd"


@pytest.fixture
def made(root: Path, tmp_path: Path, clock: FixedClock) -> Made:
    def make(searching: str = "print('[]')", *, updating: str = "pass", **settings: object) -> QmdBackend:
        program = write_stand_in(tmp_path / "stand-in", searching, updating)
        chosen: dict[str, object] = {"command": str(program), "timeout_ms": 30_000, **settings}
        environment = {"PATH": os.environ["PATH"], "HOME": "/home/somebody", "OPENAI_API_KEY": "sk-secret"}
        return QmdBackend(
            QmdSettings(**chosen),  # type: ignore[arg-type]  # keyed by the fields of the settings
            root,
            tmp_path / "cache",
            clock,
            environment,
        )

    return make


def reason_of(backend: QmdBackend, query: str = "staging") -> str:
    with pytest.raises(QmdFailed) as caught:
        backend.search(query)
    assert "\n" not in str(caught.value)
    assert not str(caught.value).endswith(".")
    return str(caught.value)


def test_an_answer_becomes_hits_with_lines_scores_and_citations(made: Made) -> None:
    answer = made(
        answering(result("memory-root/MEMORY.md"), result("memory-dir/2026-02-01.md", score=0))
    ).search("staging")
    first, second = answer.hits
    assert (first.path, first.start_line, first.end_line) == ("MEMORY.md", 4, 5)
    assert first.snippet == "- The staging host is eu-2\n- Deploys are on Tuesdays"
    assert (first.store, first.score, first.place) == ("core", 0.56, "MEMORY.md#L4-L5")
    assert first.id == "file:MEMORY.md#L4-L5"
    assert (second.path, second.date, second.signals.text) == ("memory/2026-02-01.md", "2026-02-01", 0.0)
    assert second.score == pytest.approx(1 / 3)
    assert (answer.mode, answer.dropped) == ("search", 0)


def test_the_first_search_indexes_and_later_ones_only_ask(made: Made, home: Path) -> None:
    backend = made(answering(result("memory-root/MEMORY.md")))
    backend.search("staging host")
    backend.search("staging host")
    assert [call[0] for call in calls_of(home)] == [
        ["update", "--index", "index"],
        ["search", "--index", "index", "--json", "-n", "6", "--", "staging host"],
        ["search", "--index", "index", "--json", "-n", "6", "--", "staging host"],
    ]


def test_it_runs_on_a_home_of_its_own_and_is_told_no_secrets(made: Made, home: Path) -> None:
    made().search("staging")
    _, environment, folder = calls_of(home)[-1]
    assert folder == str(home)
    assert environment["INDEX_PATH"] == str(home / "index.sqlite")
    assert environment["HOME"] == "/home/somebody"
    assert "OPENAI_API_KEY" not in environment


def test_collections_are_the_memory_files_and_named_folders(made: Made, home: Path, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "linked").symlink_to(tmp_path / "notes")
    backend = made(
        paths={
            "My Docs": f"{tmp_path}/notes",
            "memory-dir": f"{tmp_path}/notes/**/*.txt",
            "gone": f"{tmp_path}/gone",
            "linked": f"{tmp_path}/linked",
        }
    )
    backend.search("staging")
    collections = json.loads((home / "index.yml").read_text())["collections"]
    assert list(collections) == ["memory-root", "memory-dir", "my-docs", "memory-dir-2"]
    assert collections["memory-dir"]["ignore"] == ["meta/**"]
    assert collections["my-docs"] == {"path": str(tmp_path / "notes"), "pattern": "**/*.md"}
    assert collections["memory-dir-2"]["pattern"] == "**/*.txt"


def test_files_outside_are_named_by_collection_and_read_by_that_name(made: Made, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    (notes / "Team Docs").mkdir(parents=True)
    (notes / "Team Docs/How We Deploy.md").write_text("on Tuesdays\n")
    (tmp_path / "secret.md").write_text("secret\n")
    (notes / "link.md").symlink_to(tmp_path / "secret.md")
    backend = made(
        answering(result("docs/Team Docs/How We Deploy.md"), result("docs/team-docs/how-we-deploy.md")),
        paths={"docs": str(notes)},
    )
    shown = "qmd/docs/Team Docs/How We Deploy.md"
    hits = backend.search("deploy").hits
    assert [(hit.path, hit.store) for hit in hits] == [(shown, "extra")] * 2
    assert backend.read(shown) == b"on Tuesdays\n"
    for path in ("qmd/docs/../secret.md", "qmd/docs/link.md", "qmd/docs//etc/passwd", "qmd/memory-root/MEMORY.md",
                 "qmd/docs/", "qmd/docs", "docs/Team Docs/How We Deploy.md", "qmd/other/a.md", ""):  # fmt: skip
        assert backend.read(path) is None


@pytest.mark.parametrize(
    "address",
    [
        "memory-dir/../../secret.md",
        "memory-root//etc/passwd",
        "other/a.md",
        "memory-dir/gone.md",
        "memory-root/a\0b",
    ],
)
def test_results_that_name_no_file_of_ours_are_dropped(made: Made, address: str) -> None:
    good = result("memory-root/MEMORY.md")
    answer = made(answering(result(address), good)).search("staging")
    assert [hit.path for hit in answer.hits] == ["MEMORY.md"]
    assert answer.dropped == 1
    assert "no file" in reason_of(made(answering(result(address))))


@pytest.mark.parametrize(
    ("searching", "said"),
    [
        (
            "sys.stderr.write('noise\\n\\x1b[31mError: index is locked\\x1b[0m\\nat x.js:1\\n'); sys.exit(1)",
            "locked",
        ),
        ("sys.exit(3)", "code 3"),
        ("os.kill(os.getpid(), 9)", "code -9"),
        ("print('Warning: no JSON today')", "no JSON"),
        ('sys.stdout.write(\'[{"file": "qmd://memory-\')', "no JSON"),
        ("print('{}')", "no JSON|no list"),
        ("print('[' * 100000)", "no JSON"),
        ('print(\'[1, null, {"path": "x"}]\')', "another form"),
        ("pass", "no JSON"),
        ("sys.stdout.buffer.write(b'\\xff\\xfe\\x00')", "no JSON"),
        ("sys.stdout.write('x' * 5000000)", "more than 4 MiB"),
    ],
)
def test_each_failure_is_one_sentence(made: Made, searching: str, said: str) -> None:
    backend = made(searching)
    reason = reason_of(backend)
    assert re.search(said, reason)
    assert "\x1b" not in reason
    assert backend.failure == reason


def test_a_program_that_is_missing_or_cannot_run(made: Made, tmp_path: Path) -> None:
    assert "was not found" in reason_of(made(command="no-such-program-anywhere"))
    assert "was not found" in reason_of(made(command=str(tmp_path / "missing")))
    assert "absolute path" in reason_of(made(command="bin/qmd"))
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x7fELF nothing")
    broken.chmod(0o755)
    assert "cannot be run" in reason_of(made(command=str(broken)))


def test_nothing_in_the_workspace_is_run(made: Made, root: Path) -> None:
    mark = root / "it-ran"
    program = root / "qmd"
    program.write_text(f"#!/bin/sh\ntouch '{mark}'\n")
    program.chmod(0o755)
    assert "in the workspace" in reason_of(made(command=str(program)))
    assert not mark.exists()


def test_one_that_hangs_is_ended_with_everything_it_started(made: Made, home: Path) -> None:
    searching = (
        "import subprocess\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "(home / 'child').write_text(str(child.pid))\n"
        "time.sleep(600)"
    )
    backend = made(searching, timeout_ms=1500)
    begun = time.monotonic()
    assert "within 1.5 s" in reason_of(backend)
    assert time.monotonic() - begun < 30
    with contextlib.suppress(ProcessLookupError):
        child = os.pidfd_open(int((home / "child").read_text()))
        try:
            assert select.select([child], [], [], 30)[0], "the child outlived the search"
        finally:
            os.close(child)


def test_one_that_leaves_its_output_open_to_a_child_is_ended_too(made: Made) -> None:
    child = "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])"
    searching = f"import subprocess\n{child}\nprint('[]')"
    assert "within 1.5 s" in reason_of(made(searching, timeout_ms=1500))


def test_noise_beside_the_answer_is_harmless(made: Made) -> None:
    searching = "sys.stderr.write('x' * 3000000); print('Expanding query...')\n" + answering(
        result("memory-root/MEMORY.md")
    )
    assert len(made(searching).search("staging").hits) == 1


def test_odd_fields_are_survived(made: Made) -> None:
    odd = [
        result("memory-root/MEMORY.md", score=value, line=line, snippet=snippet, title=None)
        for value, line, snippet in [
            ("x", None, None),
            (1e300, -4, "plain\ntext"),
            (True, 2, "@@ -9999999999999 @@ x"),
        ]
    ]
    hits = made(answering(*odd)).search("staging").hits
    assert len(hits) == 3
    assert all(0 <= hit.score <= 1 and 1 <= hit.start_line <= hit.end_line for hit in hits)
    assert (hits[1].start_line, hits[1].end_line) == (1, 2)


def test_a_snippet_is_bounded_and_its_lines_with_it(made: Made) -> None:
    snippet = "@@ -10,100 @@ (9 before, 0 after)\n" + "line of text\n" * 100
    (hit,) = made(answering(result("memory-root/MEMORY.md", snippet=snippet))).search("line").hits
    assert len(hit.snippet) == 700
    assert (hit.start_line, hit.end_line) == (10, 10 + hit.snippet.count("\n"))


@pytest.mark.parametrize(
    ("query", "mode", "asked"),
    [
        ("--help", "search", "help"),
        ("-n 5; rm -rf / $(id) `id`", "search", "n 5 rm rf id id"),
        ("Where do we deploy?", "search", "deploy"),
        ("multi-agent -excluded", "search", "multi-agent excluded"),
        ('"torn journal" alex', "search", '"torn journal" alex'),
        ("部署在星期二", "search", "部署在星期二"),
        ("the", "search", "the"),
        ("--help", "vsearch", "--help"),
        ("lex: a\nvec: b", "query", "lex  a vec: b"),
    ],
)
def test_a_question_is_passed_as_words_alone(
    made: Made, home: Path, query: str, mode: str, asked: str
) -> None:
    made(mode=mode).search(query)
    arguments = calls_of(home)[-1][0]
    assert arguments[0] == mode
    assert arguments[-2:] == ["--", asked]


@pytest.mark.parametrize("query", ["", "  ", "?!", "\0"])
def test_a_question_without_words_is_not_asked(made: Made, home: Path, query: str) -> None:
    assert made().search(query).hits == ()
    assert calls_of(home) == []


def test_filters_hold(made: Made, home: Path) -> None:
    names = ("memory-root/MEMORY.md", "memory-dir/2026-02-01.md", "memory-dir/2026-02-03.md")
    backend = made(answering(*map(result, names)))

    def paths(within: Within) -> list[str]:
        return [hit.path for hit in backend.search("staging", 2, within).hits]

    assert paths(Within()) == ["MEMORY.md", "memory/2026-02-01.md"]
    assert paths(Within(store="core")) == ["MEMORY.md"]
    assert paths(Within(after=date(2026, 2, 2))) == ["memory/2026-02-03.md"]
    assert paths(Within(before=date(2026, 2, 1))) == ["memory/2026-02-01.md"]
    assert calls_of(home)[-1][0][5] == "10"


def test_three_failures_make_a_pause_and_one_success_ends_it(
    made: Made, home: Path, clock: FixedClock
) -> None:
    backend = made("sys.exit((home / 'fail').exists() or print('[]'))")
    backend.search("staging")
    (home / "fail").touch()
    for _ in range(3):
        reason_of(backend)
    asked = len(calls_of(home))
    assert "not asked until 14:31:00" in reason_of(backend)
    assert len(calls_of(home)) == asked
    clock.advance(seconds=61)
    assert "code 1" in reason_of(backend)
    assert "not asked until" in reason_of(backend)
    (home / "fail").unlink()
    clock.advance(seconds=61)
    backend.search("staging")
    assert backend.failure is None
    assert backend.paused_until is None


def test_updates_are_due_at_the_start_after_changes_and_by_the_clock(made: Made, clock: FixedClock) -> None:
    backend = made(update_on_boot=False)
    assert backend.is_due()
    backend.refresh()
    assert not backend.is_due()
    backend.changed()
    assert not backend.is_due()
    clock.advance(seconds=15)
    assert backend.is_due()
    backend.refresh()
    assert not backend.is_due()
    clock.advance(minutes=5)
    assert backend.is_due()
    backend.refresh()
    assert backend.last_update() == clock.now()
    clock.advance(minutes=1)
    assert not made(update_on_boot=False).is_due()
    assert made().is_due()


def test_embeddings_are_made_only_where_that_is_enabled(made: Made, home: Path) -> None:
    made().refresh()
    assert [call[0][0] for call in calls_of(home)] == ["update"]
    made(embed=True).refresh()
    assert [call[0][0] for call in calls_of(home)] == ["update", "update", "embed"]


def test_an_update_that_fails_is_said_and_stays_due(made: Made) -> None:
    backend = made(updating="sys.exit(4)")
    with pytest.raises(QmdFailed, match="code 4"):
        backend.refresh()
    assert backend.is_due()
    assert backend.failure == "QMD ended with code 4"


def test_a_home_that_cannot_be_written_is_a_reason(made: Made, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert "cannot be written" in reason_of(made())


def test_qmd_limits_clamp_what_a_search_asks_for(made: Made, home: Path) -> None:
    backend = made(
        answering(result("memory-root/MEMORY.md"), result("memory-dir/2026-02-01.md")), max_results=1
    )
    assert len(backend.search("staging", 20).hits) == 1
    asked = [arguments for arguments, _, _ in calls_of(home) if arguments[0] == "search"]
    assert asked[0][asked[0].index("-n") + 1] == "1"


@pytest.mark.parametrize(("most", "lengths"), [(4000, [52, 52]), (60, [52, 8]), (52, [52]), (40, [40])])
def test_qmd_limits_bound_the_characters_of_a_whole_answer(made: Made, most: int, lengths: list[int]) -> None:
    searching = answering(result("memory-root/MEMORY.md"), result("memory-dir/2026-02-01.md"))
    answer = made(searching, max_injected_chars=most).search("staging")
    assert [len(hit.snippet) for hit in answer.hits] == lengths


@pytest.mark.parametrize(
    ("rules", "answers"),
    [
        (("allow direct", "deny"), True),
        (("deny direct", "allow"), False),
        (("deny group", "allow"), True),
        (("allow group", "deny"), False),
        (("deny channel:discord", "allow"), True),
        (("allow keyPrefix:agent:main", "deny"), False),
        ((), True),
        (("deny",), False),
    ],
)
def test_qmd_scope_is_decided_by_the_first_rule_that_fits(rules: tuple[str, ...], answers: bool) -> None:
    assert is_in_scope(rules) is answers


def test_qmd_searches_copies_of_transcripts_as_sessions(
    root: Path, tmp_path: Path, clock: FixedClock
) -> None:
    def copy(folder: Path) -> None:
        (folder / "a.md").write_text("# Session\n\nUser: Where is the ferry?\n")

    program = write_stand_in(tmp_path / "stand-in", answering(result("sessions/a.md")))
    settings = QmdSettings(command=str(program), timeout_ms=30_000)
    given = (settings, root, tmp_path / "cache", clock, {"PATH": os.environ["PATH"]})
    backend = QmdBackend(*given, copy_transcripts=copy)
    (hit,) = backend.search("ferry").hits
    assert (hit.path, hit.store) == ("qmd/sessions/a.md", "session")
    assert b"ferry" in (backend.read(hit.path) or b"")
    described = json.loads((tmp_path / "cache/qmd/index.yml").read_text())["collections"]
    assert described["sessions"]["path"] == str(tmp_path / "cache/qmd/sessions")
    # Without the setting they are gone with the next update.
    QmdBackend(*given).refresh()
    assert not (tmp_path / "cache/qmd/sessions").exists()


def test_one_that_searches_while_another_updates_waits_for_it_and_updates_nothing_itself(
    root: Path, tmp_path: Path, clock: FixedClock
) -> None:
    began, go_on, rounds = threading.Event(), threading.Event(), list[Path]()

    def copy(folder: Path) -> None:
        rounds.append(folder)
        began.set()
        assert go_on.wait(30)
        (folder / "a.md").write_text("# Session\n\nUser: Where is the ferry?\n")

    program = write_stand_in(tmp_path / "stand-in", answering(result("sessions/a.md")))
    settings = QmdSettings(command=str(program), timeout_ms=30_000)
    given = (settings, root, tmp_path / "cache", clock, {"PATH": os.environ["PATH"]})
    with ThreadPoolExecutor(2) as pool:
        updating = pool.submit(QmdBackend(*given, copy_transcripts=copy).refresh)
        assert began.wait(30)
        searching = pool.submit(QmdBackend(*given, copy_transcripts=copy).search, "ferry")
        with pytest.raises(TimeoutError):
            searching.result(0.2)
        go_on.set()
        updating.result(30)
        assert [hit.path for hit in searching.result(30).hits] == ["qmd/sessions/a.md"]
    assert len(rounds) == 1


def test_an_update_that_keeps_another_waiting_too_long_is_a_reason(made: Made, home: Path) -> None:
    home.mkdir(parents=True)
    backend = made(timeout_ms=100)
    with process_lock(home / "update.lock", 0):
        assert "still being updated" in reason_of(backend)


def test_a_folder_called_sessions_keeps_out_of_the_way_of_transcripts(root: Path, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    found = collections_of(root, QmdSettings(paths={"sessions": str(tmp_path / "notes")}))
    assert [each.name for each in found if each.inside is None] == ["sessions-2"]
