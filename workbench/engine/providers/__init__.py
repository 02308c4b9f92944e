"""Back ends that answer over a wire or from a model file; importing this loads none of them."""

from workbench.engine.providers.chat import ChatCancelled, ChatMessage, ChatModel, ChatReply, JsonReply
from workbench.engine.providers.choosing import chat_model
from workbench.engine.providers.openai_chat import OpenAICompatibleChat

__all__ = [
    "ChatCancelled",
    "ChatMessage",
    "ChatModel",
    "ChatReply",
    "JsonReply",
    "OpenAICompatibleChat",
    "chat_model",
]
