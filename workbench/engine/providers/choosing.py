"""Which chat model the settings ask for; nothing is loaded or asked yet."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.engine.providers.chat import ChatModel
    from workbench.engine.providers.llama_chat import LlamaChat
    from workbench.engine.settings.sections import Settings


def chat_model(settings: Settings, *, timeout_s: float | None = None) -> ChatModel | None:
    """Return the chat model that the settings ask for. Nothing is loaded, opened or connected to before it is used.

    Only what is named in the settings is ever asked: no key of the environment is looked for, and nothing is
    downloaded. A model file stays open once it was used, for whoever asks for it next.

    Args:
        settings: Those of the workspace.
        timeout_s: Seconds that one answer may take; what `model.timeout` says by default.

    Returns:
        The model; None where none is configured.
    """
    asked = settings.model
    if not asked.configured:
        return None
    patience = asked.timeout if timeout_s is None else timeout_s
    if asked.path:
        return _local(Path(asked.path).expanduser(), asked.context, settings.trials_directory).within(
            patience
        )
    from workbench.engine.providers.openai_chat import OpenAICompatibleChat

    return OpenAICompatibleChat(
        base_url=asked.base_url,
        api_key=asked.api_key,
        model=asked.name,
        headers=asked.headers,
        timeout_s=patience,
    )


@lru_cache(maxsize=1)
def _local(path: Path, context: int, trials: Path) -> LlamaChat:
    from workbench.engine.providers.llama_chat import LlamaChat

    return LlamaChat(path, context_tokens=context, trials=trials)


def try_local_model(settings: Settings) -> None:
    """Run the chat model of a file once, whatever is on record of it; nothing where none is configured.

    Raises:
        ProviderError: It cannot be run here.
    """
    if settings.model.path:
        path = Path(settings.model.path).expanduser()
        _local(path, settings.model.context, settings.trials_directory).try_again()
