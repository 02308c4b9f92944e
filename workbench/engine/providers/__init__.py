"""Back ends that answer over a wire or from a model file; importing this loads none of them."""

from workbench.engine.providers.chat import ChatMessage, ChatModel, ChatReply
from workbench.engine.providers.openai_chat import OpenAICompatibleChat

__all__ = ["ChatMessage", "ChatModel", "ChatReply", "OpenAICompatibleChat"]
