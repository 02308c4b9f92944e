"""What embedding models expect before a question and before a passage, by the model's name."""

from __future__ import annotations

from dataclasses import dataclass

AUTO = "auto"
"""The setting's word for “as the model was made for”."""


@dataclass(frozen=True)
class Prefixes:
    """Texts put before what is embedded."""

    query: str = ""
    passage: str = ""


_INSTRUCTION = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "
_REPRESENT = "Represent this sentence for searching relevant passages: "

# By what a model's name holds, the more particular first; each is stated on its model's own card.
_BY_NAME: tuple[tuple[str, Prefixes], ...] = (
    ("embeddinggemma", Prefixes("task: search result | query: ", "title: none | text: ")),
    ("nomic-embed", Prefixes("search_query: ", "search_document: ")),
    ("qwen3-embedding", Prefixes(_INSTRUCTION)),
    ("e5-mistral", Prefixes(_INSTRUCTION)),
    ("e5-large-instruct", Prefixes(_INSTRUCTION)),
    ("e5-", Prefixes("query: ", "passage: ")),
    ("arctic-embed-l-v2", Prefixes("query: ")),
    ("arctic-embed-m-v2", Prefixes("query: ")),
    ("arctic-embed", Prefixes(_REPRESENT)),
    ("mxbai-embed", Prefixes(_REPRESENT)),
    ("bge-m3", Prefixes()),
    ("bge-small-zh", Prefixes("为这个句子生成表示以用于检索相关文章：")),
    ("bge-base-zh", Prefixes("为这个句子生成表示以用于检索相关文章：")),
    ("bge-large-zh", Prefixes("为这个句子生成表示以用于检索相关文章：")),
    ("bge-", Prefixes(_REPRESENT)),
)


def prefixes_of(model: str, *, query: str = AUTO, passage: str = AUTO) -> Prefixes:
    """Return the prefixes for a model.

    Args:
        model: Its name, or the name of its file.
        query: What is to be put before questions instead, or `auto`.
        passage: Likewise before passages.
    """
    name = model.casefold().replace("_", "-")
    known = next((prefixes for part, prefixes in _BY_NAME if part in name), Prefixes())
    return Prefixes(known.query if query == AUTO else query, known.passage if passage == AUTO else passage)
