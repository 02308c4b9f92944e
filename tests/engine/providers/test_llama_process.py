"""A model that crashes, hangs or talks nonsense ends its own process alone; it is said, and not tried again in vain."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from tests.engine.providers import stand_in_llama
from tests.engine.providers.stand_in_llama import FAILURES, install, model_file
from workbench.engine.errors import ProviderError
from workbench.engine.providers import llama_process
from workbench.engine.providers.chat import ChatMessage
from workbench.engine.providers.chat_models import LlamaChat
from workbench.engine.providers.embedding.local import LocalEmbedder

SAID = {
    "SIGILL": ("illegal instruction", "GGML_NATIVE=OFF"),
    "SIGSEGV": ("crashed (SIGSEGV)", "GGML_NATIVE=OFF"),
    "SIGKILL": ("killed (SIGKILL)", "memory"),
    "EXIT": ("exit code 1", "doctor"),
    "HANG": ("did not answer within", "doctor"),
    "GARBAGE": ("It said: ggml", "doctor"),
    "RAISE": ("no such thing", "Update"),
}


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Find out soon that nothing comes; what loads by then has to do it on a busy machine as well."""
    monkeypatch.setattr(llama_process, "START_SECONDS", 20.0)
    monkeypatch.setattr(llama_process, "ANSWER_SECONDS", 20.0)


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[[], LocalEmbedder]]:
    made: list[LocalEmbedder] = []

    def make() -> LocalEmbedder:
        made.append(LocalEmbedder(model_file(tmp_path), trials=tmp_path / "trials"))
        return made[-1]

    yield make
    for embedder in made:
        embedder.close()


Make = Callable[[], LocalEmbedder]


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failed_trial_is_said_with_its_remedy_and_not_repeated(
    failure: str, make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if failure == "HANG":
        monkeypatch.setattr(llama_process, "START_SECONDS", 1.0)
    runs = install(tmp_path / "site", monkeypatch, loading=failure)
    assert make().fingerprint
    for _ in range(3):
        with pytest.raises(ProviderError) as caught:
            make().embed_query("tea")
        message, remedy = SAID[failure]
        assert message in caught.value.message
        assert remedy in (caught.value.remedy or "")
        assert caught.value.where == str(tmp_path / "model.gguf")
        with pytest.raises(ProviderError):
            assert make().fingerprint
    assert runs.stat().st_size == 1


def test_a_large_file_on_a_slow_disk_is_not_taken_for_a_hang(tmp_path: Path) -> None:
    small = model_file(tmp_path)
    with (tmp_path / "large.gguf").open("wb") as file:
        file.truncate(40_000_000_000)
    assert llama_process.start_seconds(small) < 21
    assert llama_process.start_seconds(tmp_path / "large.gguf") > 600


def test_a_missing_record_folder_only_means_another_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = install(tmp_path / "site", monkeypatch, loading="EXIT")
    (tmp_path / "file").touch()
    for _ in range(2):
        with pytest.raises(ProviderError, match="exit code 1"):
            LocalEmbedder(model_file(tmp_path), trials=tmp_path / "file" / "trials").embed_query("tea")
    assert runs.stat().st_size == 2


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"message": 1}', b'{"message": "x", "where": 3}', b"\xff"]
)
def test_a_damaged_record_only_means_another_trial(
    content: bytes, make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "site", monkeypatch, loading="EXIT")
    with pytest.raises(ProviderError):
        make().embed_query("tea")
    (record,) = (tmp_path / "trials").iterdir()
    record.write_bytes(content)
    monkeypatch.setenv("STAND_IN_LLAMA", "")
    assert make().embed_query("tea").any()
    assert not record.exists()


@pytest.mark.parametrize("changed", ["library", "file", "processor", "forgotten"])
def test_it_is_tried_again_when_something_changed(
    changed: str, make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = install(tmp_path / "site", monkeypatch, loading="SIGILL")
    with pytest.raises(ProviderError):
        make().embed_query("tea")
    monkeypatch.setenv("STAND_IN_LLAMA", "")
    with pytest.raises(ProviderError, match="illegal instruction"):
        make().embed_query("tea")
    embedder = make()
    match changed:
        case "library":
            (tmp_path / "site" / "llama_cpp" / "lib" / "libllama.so").write_bytes(b"second")
        case "file":
            (tmp_path / "model.gguf").write_bytes(b"GGUF and more")
        case "processor":
            monkeypatch.setattr("workbench.engine.providers.llama_process._processor", lambda: "another")
        case _:
            embedder.try_again()
    assert embedder.embed_query("tea").any()
    assert runs.stat().st_size == 2
    assert not list((tmp_path / "trials").iterdir())


def test_want_of_memory_may_pass_and_is_not_recorded(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "site", monkeypatch, loading="NO ROOM")
    with pytest.raises(ProviderError, match="cannot make a context"):
        make().embed_query("tea")
    monkeypatch.setenv("STAND_IN_LLAMA", "")
    assert make().embed_query("tea").any()


@pytest.mark.parametrize("program", ["print('garbage' * 100)", "print('WbLm' * 100)", "print(end='WbLm')"])
def test_what_is_no_answer_is_not_taken_for_one(
    program: str, make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "site", monkeypatch)
    monkeypatch.setattr(llama_process, "_PROGRAM", program)
    with pytest.raises(ProviderError, match=r"nonsense|exit code 0"):
        make().embed_query("tea")


def test_what_the_library_prints_is_not_taken_for_an_answer(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    install(tmp_path / "site", monkeypatch, loading="TALK")
    assert make().embed_query("tea").any()
    assert capfd.readouterr() == ("", "")


def test_a_success_leaves_no_record_and_starts_one_process(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = install(tmp_path / "site", monkeypatch)
    embedder = make()
    rows = embedder.embed_passages(["tea", "", "coffee"] * 50)
    assert rows.shape == (150, stand_in_llama.WIDTH)
    np.testing.assert_allclose(embedder.embed_query("tea"), rows[0], atol=1e-6)
    assert not rows[1].any()
    assert runs.stat().st_size == 1
    assert not (tmp_path / "trials").exists()


@pytest.mark.parametrize("failure", [name for name in FAILURES if name != "RAISE"])
def test_a_crash_in_mid_work_is_an_error_after_which_it_goes_on(
    failure: str, make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = install(tmp_path / "site", monkeypatch)
    embedder = make()
    before = embedder.embed_query("tea")
    if failure == "HANG":
        monkeypatch.setattr(llama_process, "ANSWER_SECONDS", 1.0)
    with pytest.raises(ProviderError) as caught:
        embedder.embed_passages(["tea", f"a text with {failure} in it"])
    assert SAID[failure][0] in caught.value.message
    assert embedder.fingerprint
    np.testing.assert_allclose(embedder.embed_query("tea"), before)
    assert runs.stat().st_size == 2
    assert not (tmp_path / "trials").exists()


def test_an_interrupted_question_is_not_answered_to_the_next_one(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "site", monkeypatch)
    embedder = make()
    before = embedder.embed_query("tea")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(llama_process, "unpacked", interrupted)
        with pytest.raises(KeyboardInterrupt):
            embedder.embed_query("something else")
    np.testing.assert_allclose(embedder.embed_query("tea"), before)


def test_a_process_that_was_forked_has_one_of_its_own(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = install(tmp_path / "site", monkeypatch)
    embedder = make()
    embedder.embed_query("tea")
    assert embedder._loaded is not None
    monkeypatch.setattr(embedder._loaded._child, "owner", 0)
    assert embedder.embed_query("tea").any()
    assert runs.stat().st_size == 2


ASKING = """
import os, sys, time
from pathlib import Path
from workbench.engine.providers.embedding.local import LocalEmbedder
embedder = LocalEmbedder(Path(sys.argv[1]))
embedder.embed_query("tea")
print(embedder._loaded._child._process.pid, flush=True)
if sys.argv[2] == "HANG":
    embedder.embed_query("HANG")
sys.stdin.read()
"""


@pytest.mark.parametrize("busy", ["", "HANG"])
def test_it_ends_with_the_one_who_asks_however_that_ends(
    busy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "site", monkeypatch)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    asking = subprocess.Popen(
        [sys.executable, "-c", ASKING, str(model_file(tmp_path)), busy],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with asking:
        assert asking.stdout is not None
        child = int(asking.stdout.readline())
        # Not to the child: it is in a session of its own, as Ctrl-C in a terminal would have it.
        asking.send_signal(signal.SIGKILL)
    until = time.monotonic() + 30
    while _runs(child):
        assert time.monotonic() < until
        time.sleep(0.01)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
        state = Path(f"/proc/{process}/stat")
        return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_nothing_is_imported_from_the_folder_it_is_started_in(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "site", monkeypatch)
    (tmp_path / "here").mkdir()
    for name in ("json", "sys", "numpy", "workbench", "llama_cpp"):
        (tmp_path / "here" / f"{name}.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'w')")
    monkeypatch.chdir(tmp_path / "here")
    assert make().embed_query("tea").any()
    assert not (tmp_path / "imported").exists()


def test_a_chat_model_fails_the_same_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = install(tmp_path / "site", monkeypatch, loading="SIGSEGV")
    for _ in range(2):
        with (
            closing(LlamaChat(model_file(tmp_path), trials=tmp_path / "trials")) as chat,
            pytest.raises(ProviderError, match="SIGSEGV"),
        ):
            chat.complete([ChatMessage("user", "Hello")])
    assert runs.stat().st_size == 1
    with pytest.raises(ProviderError, match="SIGSEGV"):
        chat.try_again()
    assert runs.stat().st_size == 2
    (record,) = (tmp_path / "trials").iterdir()
    assert json.loads(record.read_bytes())["model"] == str(tmp_path / "model.gguf")
