"""The settings say which chat model answers, and nothing is loaded or asked before it is needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from workbench.engine.providers.chat_models import LlamaChat, OpenAICompatibleChat
from workbench.engine.providers.model_server import EndPoint
from workbench.engine.providers.selection import chat_model
from workbench.engine.settings.sections import ModelSettings, Settings


def test_without_a_model_there_is_none() -> None:
    assert chat_model(Settings()) is None
    assert chat_model(Settings(model=ModelSettings(name="small"))) is None


def test_an_end_point_is_asked_over_the_wire() -> None:
    asked = ModelSettings(base_url="http://127.0.0.1:9/v1", name="small", api_key="k", headers={"X-A": "b"})
    chat = chat_model(Settings(model=asked))
    assert isinstance(chat, OpenAICompatibleChat)
    assert chat.end_point == EndPoint("http://127.0.0.1:9/v1", "k", "small", {"X-A": "b"})
    assert (chat.name, chat.timeout_s) == ("small", 20.0)
    patient = chat_model(Settings(model=asked), timeout_s=300)
    assert isinstance(patient, OpenAICompatibleChat)
    assert patient.timeout_s == 300


def test_a_file_goes_before_an_end_point_and_is_shared(tmp_path: Path) -> None:
    asked = ModelSettings(path=str(tmp_path / "m.gguf"), base_url="http://127.0.0.1:9/v1", name="small")
    first, second = chat_model(Settings(model=asked)), chat_model(Settings(model=asked), timeout_s=300)
    assert isinstance(first, LlamaChat)
    assert isinstance(second, LlamaChat)
    assert (first.name, first.timeout_s, second.timeout_s) == ("m", 20.0, 300)
    assert first._shared is second._shared


def test_choosing_loads_nothing() -> None:
    program = (
        "import sys\n"
        "from workbench.engine.providers.selection import chat_model\n"
        "from workbench.engine.settings.sections import ModelSettings, Settings\n"
        "chat_model(Settings(model=ModelSettings(path='m.gguf')))\n"
        "chat_model(Settings(model=ModelSettings(name='m', base_url='http://127.0.0.1:9/v1')))\n"
        "assert not {'openai', 'httpx', 'httpx2', 'llama_cpp', 'numpy', 'jinja2', 'socket'} & set(sys.modules)\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_people_are_told_which_model_it_is() -> None:
    assert ModelSettings().told == ModelSettings(name="small").told == ""
    assert ModelSettings(path="~/m.gguf", name="x").told == "~/m.gguf"
    assert (
        ModelSettings(name="small", base_url="http://127.0.0.1:9/v1").told == "small at http://127.0.0.1:9/v1"
    )
    assert ModelSettings(name="large", api_key="k").told == "large at OpenAI"
