"""The child process that runs a GGUF model through llama.cpp, so that a crash of native code ends it alone.

Requests arrive on standard input, one at a time; replies go to the original standard output. When the requests end, the
process exits, whatever it is doing.
"""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final

from workbench.engine.errors import ProviderError
from workbench.engine.patterns import lazy_pattern
from workbench.engine.providers.chat import ChatMessage
from workbench.engine.providers.llama_process import (
    Reply,
    check_model_file,
    pack_ids,
    packed,
    unpack_ids,
    unpacked,
)
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.embedder import FloatArray


_kept: list[Any] = []
CHATML: Final = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""For models whose file has no template."""
# From the private use area, so that no template handles it.
_PLACE: Final = lazy_pattern("\ue0d0(\\d+)\ue0d1")
# Prompt tokens processed between checks for cancellation.
_BATCH_TOKENS: Final = 256
# Low temperature: answers come from the prompt and should be reproducible.
_TOP_K: Final = 40
_TOP_P: Final = 0.95
_TEMPERATURE: Final = 0.2
_SEED: Final = 20_260_203
_LONGEST_STRING: Final = 1_200
_TEXT_RULES: Final = lazy_pattern("(?:char|string) ::=")
_CHAR_RULE: Final = (
    r'char ::= [^"\\\x7F\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F])'
)
_STRING_RULE: Final = rf'string ::= "\"" char{{0,{_LONGEST_STRING}}} "\"" space'
# Longer texts are cut even if the model takes more: a memory is a few hundred tokens long.
_LONGEST_TEXT = 2048
# Attention covers all tokens of a batch, so a larger one is slower for short texts.
_EMBEDDING_BATCH_TOKENS = 512
MOST_SEQUENCES = 64
# What a model is tried with before it is used.
_SAMPLE: Final = "a b"


class OutOfMemory(ProviderError):
    """There is no memory for a model now; there may be later."""


def load_llama(where: str) -> Any:
    """Return the llama.cpp library with logging silenced.

    Args:
        where: The setting that requires it, for errors.

    Raises:
        ProviderError: llama-cpp-python is missing or cannot be loaded.
    """
    try:
        import llama_cpp
    except ImportError as error:
        raise ProviderError(
            "The package llama-cpp-python, which runs local models, is not installed.",
            where=where,
            remedy="Run: pip install 'memory-workbench[local]'.",
        ) from error
    except (OSError, RuntimeError) as error:
        raise ProviderError(
            f"The package llama-cpp-python cannot be loaded: {' '.join(str(error).split())[:200]}",
            where=where,
            remedy="Install it again: pip install --force-reinstall 'memory-workbench[local]'.",
        ) from error
    if not _kept:

        def say_nothing(level: int, text: bytes, user_data: ctypes.c_void_p) -> None: ...

        # llama.cpp calls it for as long as the process lives.
        _kept.append(llama_cpp.llama_log_callback(say_nothing))
        llama_cpp.llama_backend_init()
    # Importing another part of the library may have replaced it.
    llama_cpp.llama_log_set(_kept[0], ctypes.c_void_p(0))
    return llama_cpp


def load_model_file(library: Any, path: Path) -> Any:
    """Return a loaded model; the caller frees it.

    Raises:
        ProviderError: llama.cpp cannot load the file.
    """
    model = library.llama_model_load_from_file(os.fsencode(path), library.llama_model_default_params())
    if not model:
        raise ProviderError(
            "The file cannot be loaded as a model: it is damaged, incomplete or of an unknown kind.",
            where=str(path),
            remedy="Download it again, or update llama-cpp-python.",
        )
    return model


def token_ids(library: Any, model: Any, content: bytes, *, add_marks: bool, read_marks: bool) -> list[int]:
    """Return the token ids of a text.

    Args:
        content: UTF-8.
        add_marks: Whether to add the model's markers around the text.
        read_marks: Whether text that looks like a marker becomes one.
    """
    vocabulary = library.llama_model_get_vocab(model)
    room = len(content) + 8
    while True:
        ids = (library.llama_token * room)()
        count = int(
            library.llama_tokenize(vocabulary, content, len(content), ids, room, add_marks, read_marks)
        )
        if count >= 0:
            return list(ids[:count])
        room = -count


def thread_count() -> int:
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    # Leave one core to others: the threads wait for each other and suffer on a busy machine.
    return max(1, min(8, available - 1))


@dataclass(frozen=True, slots=True)
class PromptPiece:
    """Part of a prompt; in `words`, nothing counts as a marker."""

    text: str
    words: bool


def prompt_pieces(
    template: str, messages: Sequence[ChatMessage], marks: Mapping[str, str], *, where: str
) -> list[PromptPiece]:
    """Fill a chat template.

    The template never sees the messages' contents, so that they cannot end a turn or begin another.

    Args:
        template: A Jinja template from a model file; "" for ChatML.
        messages: At least one. If the template has no system role, its content goes before the first user message.
        marks: `bos_token` and `eos_token` as text.

    Raises:
        ProviderError: The template cannot be filled.
    """
    import jinja2
    from llama_cpp.llama_chat_format import Jinja2ChatFormatter

    failure: Exception | None = None
    for asked in (messages, without_system(messages)):
        roles: list[Any] = [
            {"role": message.role, "content": f"\ue0d0{number}\ue0d1"} for number, message in enumerate(asked)
        ]
        try:
            formatter = Jinja2ChatFormatter(
                template or CHATML, eos_token=marks["eos_token"], bos_token=marks["bos_token"]
            )
            rendered = formatter(messages=roles).prompt
        except (jinja2.TemplateError, ValueError, TypeError, LookupError) as error:
            failure = error
            continue
        pieces = _pieces(rendered, asked)
        if sum(piece.words for piece in pieces) >= len(asked):
            return pieces
    raise ProviderError(
        f"The model’s chat template cannot be filled: {' '.join(str(failure or 'it leaves words out').split())[:200]}",
        where=where,
        remedy="Use a chat model whose file carries a working template.",
    ) from failure


def without_system(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return a conversation with its system instructions moved into the first user message."""
    instructions = [message.content for message in messages if message.role == "system"]
    others = [message for message in messages if message.role != "system"]
    if not others:
        return [ChatMessage("user", "\n\n".join(instructions))]
    first = replace(others[0], content="\n\n".join([*instructions, others[0].content]))
    return [first, *others[1:]]


def _pieces(rendered: str, messages: Sequence[ChatMessage]) -> list[PromptPiece]:
    parts = _PLACE.split(rendered)
    pieces = [
        PromptPiece(messages[int(part)].content, words=True) if at % 2 else PromptPiece(part, words=False)
        for at, part in enumerate(parts)
    ]
    return [piece for piece in pieces if piece.text or piece.words]


class LlamaText:
    """One model and one context; not thread-safe.

    Args:
        context_tokens: Maximum tokens of prompt and answer, capped by the model's training length.

    Raises:
        ProviderError: llama-cpp-python is missing, or the file is not a language model it can load.
    """

    def __init__(self, path: Path, context_tokens: int) -> None:
        self._where = str(path)
        check_model_file(path, "Set model.path to a GGUF file of a chat model.")
        self._library = library = load_llama("model.path")
        self._model: Any = load_model_file(library, path)
        self._context: Any = None
        self._free: Any = weakref.finalize(self, library.llama_model_free, self._model)
        # When the process ends, another thread may still be in it.
        self._free.atexit = False
        if _said_by(library, self._model, b"general.architecture").endswith("bert"):
            self.close()
            raise ProviderError(
                "This is an embedding model, which cannot answer.",
                where=self._where,
                remedy="Set model.path to a GGUF file of a chat model.",
            )
        self.context_tokens = min(context_tokens, int(library.llama_model_n_ctx_train(self._model)))
        settings = library.llama_context_default_params()
        settings.n_ctx = self.context_tokens
        settings.n_batch = settings.n_ubatch = min(_BATCH_TOKENS, self.context_tokens)
        settings.n_threads = settings.n_threads_batch = thread_count()
        self._context = library.llama_init_from_model(self._model, settings)
        if not self._context:
            self.close()
            raise OutOfMemory(
                "llama.cpp cannot make a context for this model.",
                where=self._where,
                remedy="Lower model.context, free some memory, or use a smaller model.",
            )
        self._free.detach()
        self._free = weakref.finalize(self, _free_both, library, self._context, self._model)
        self._free.atexit = False
        self._vocabulary: Any = library.llama_model_get_vocab(self._model)
        self._read: list[int] = []
        self.template = _said_by(library, self._model, b"tokenizer.chat_template")
        begin, end = library.llama_vocab_bos(self._vocabulary), library.llama_vocab_eos(self._vocabulary)
        self._begin = begin if library.llama_vocab_get_add_bos(self._vocabulary) else None
        self.marks = {"bos_token": self._mark(begin), "eos_token": self._mark(end)}

    def tokens(self, pieces: Sequence[PromptPiece]) -> list[int]:
        """Return the token ids of a prompt; its contents never become markers."""
        ids: list[int] = []
        for piece in pieces:
            content = piece.text.encode("utf-8", "replace")
            ids += token_ids(self._library, self._model, content, add_marks=False, read_marks=not piece.words)
        if self._begin is not None and ids[:1] != [self._begin]:
            ids.insert(0, self._begin)
        return ids

    def generate(self, prompt: Sequence[int], grammar: str | None) -> Generator[bytes | None]:
        """Generate text until the model ends its turn.

        Args:
            prompt: At least one token, fewer than `context_tokens`.
            grammar: GBNF with the rule `root` that constrains the answer; None for any text.

        Yields:
            None after every batch of the prompt, then the UTF-8 of one token after another, which may end
            within a character.

        Raises:
            ProviderError: llama.cpp failed, or the model's vocabulary cannot express the grammar.
        """
        library = self._library
        kept = self._keep_common(prompt)
        for start in range(kept, len(prompt), _BATCH_TOKENS):
            self._decode(prompt[start : start + _BATCH_TOKENS])
            yield None
        chain = _sampler_chain(library)
        rules = self._grammar_sampler(grammar) if grammar is not None else None
        try:
            while len(self._read) < self.context_tokens:
                token = self._sample(chain, rules)
                if library.llama_vocab_is_eog(self._vocabulary, token):
                    return
                yield self._piece(token, marks=False)
                self._decode([token])
        finally:
            library.llama_sampler_free(chain)
            if rules is not None:
                library.llama_sampler_free(rules)

    def close(self) -> None:
        """Free the model; it is unusable afterwards."""
        self._free()
        self._model = self._context = None

    def _keep_common(self, prompt: Sequence[int]) -> int:
        """Keep only the prefix shared with this prompt; return its length."""
        common = 0
        for read, wanted in zip(self._read, prompt[:-1], strict=False):
            if read != wanted:
                break
            common += 1
        memory = self._library.llama_get_memory(self._context)
        if not self._library.llama_memory_seq_rm(memory, 0, common, -1):
            # Recurrent models cannot forget a part.
            self._library.llama_memory_clear(memory, True)
            common = 0
        del self._read[common:]
        return common

    def _decode(self, tokens: Sequence[int]) -> None:
        library = self._library
        array = (library.llama_token * len(tokens))(*tokens)
        if library.llama_decode(self._context, library.llama_batch_get_one(array, len(tokens))) != 0:
            library.llama_memory_clear(library.llama_get_memory(self._context), True)
            self._read.clear()
            raise ProviderError(
                "llama.cpp could not run the model.",
                where=self._where,
                remedy="Free some memory, lower model.context, or use a smaller model.",
            )
        self._read += tokens

    def _sample(self, chain: Any, rules: Any) -> int:
        """Sample a token; the grammar filters all tokens only if the free choice violates it."""
        library = self._library
        token = int(library.llama_sampler_sample(chain, self._context, -1))
        if rules is None:
            return token
        chosen = library.llama_token_data_array(
            (library.llama_token_data * 1)(library.llama_token_data(token, 1.0, 0.0)), 1, -1, False
        )
        library.llama_sampler_apply(rules, ctypes.byref(chosen))
        if chosen.data[0].logit == float("-inf"):
            token = self._sample_by_rules(chain, rules)
        library.llama_sampler_accept(rules, token)
        return token

    def _sample_by_rules(self, chain: Any, rules: Any) -> int:
        import numpy as np

        library = self._library
        size = int(library.llama_vocab_n_tokens(self._vocabulary))
        rows: Any = np.zeros(size, dtype=[("id", np.int32), ("logit", np.float32), ("p", np.float32)])
        rows["id"] = np.arange(size)
        rows["logit"] = np.ctypeslib.as_array(library.llama_get_logits_ith(self._context, -1), shape=(size,))
        data = rows.ctypes.data_as(ctypes.POINTER(library.llama_token_data))
        candidates = library.llama_token_data_array(data, size, -1, False)
        library.llama_sampler_apply(rules, ctypes.byref(candidates))
        # Passing the grammar a token that violates it would end the process.
        if not np.isfinite(rows["logit"]).any():
            raise ProviderError(
                "The model’s vocabulary cannot write the JSON that is asked for.",
                where=self._where,
                remedy="Use another chat model.",
            )
        library.llama_sampler_apply(chain, ctypes.byref(candidates))
        return int(candidates.data[candidates.selected].id)

    def _grammar_sampler(self, grammar: str) -> Any:
        sampler = self._library.llama_sampler_init_grammar(self._vocabulary, grammar.encode(), b"root")
        if not sampler:
            raise ProviderError(
                "llama.cpp does not understand the form that the answer is to have.",
                where=self._where,
                remedy="Update llama-cpp-python.",
            )
        return sampler

    def _piece(self, token: int, *, marks: bool) -> bytes:
        room = 64
        while True:
            buffer = ctypes.create_string_buffer(room)
            length = int(self._library.llama_token_to_piece(self._vocabulary, token, buffer, room, 0, marks))
            if length >= 0:
                return buffer.raw[:length]
            room = -length

    def _mark(self, token: int) -> str:
        return self._piece(token, marks=True).decode("utf-8", "replace") if token >= 0 else ""


@lru_cache(maxsize=16)
def json_grammar(schema: str) -> str:
    """Convert a schema to GBNF with bounded strings that hold nothing JSON forbids."""
    from llama_cpp.llama_grammar import json_schema_to_gbnf

    rules = [rule for rule in str(json_schema_to_gbnf(schema)).splitlines() if not _TEXT_RULES.match(rule)]
    return "\n".join([*rules, _CHAR_RULE, _STRING_RULE])


def _sampler_chain(library: Any) -> Any:
    chain = library.llama_sampler_chain_init(library.llama_sampler_chain_default_params())
    for sampler in (
        library.llama_sampler_init_top_k(_TOP_K),
        library.llama_sampler_init_top_p(_TOP_P, 1),
        library.llama_sampler_init_temp(_TEMPERATURE),
        library.llama_sampler_init_dist(_SEED),
    ):
        library.llama_sampler_chain_add(chain, sampler)
    return chain


def _said_by(library: Any, model: Any, key: bytes) -> str:
    room = 1024
    while True:
        buffer = ctypes.create_string_buffer(room)
        length = int(library.llama_model_meta_val_str(model, key, buffer, room))
        if length < room:
            return buffer.value.decode("utf-8", "replace") if length >= 0 else ""
        room = length + 1


def _free_both(library: Any, context: Any, model: Any) -> None:
    library.llama_free(context)
    library.llama_model_free(model)


class LlamaModel:
    """One model and one context; not thread-safe.

    Raises:
        ProviderError: llama-cpp-python is missing, or the file is not an embedding model it can load.
    """

    def __init__(self, path: Path) -> None:
        self._library = load_llama("embedding.provider")
        self._model: Any = load_model_file(self._library, path)
        self._context: Any = None
        self._batch: Any = None
        self.dimensions = 0
        try:
            self._open_context(path)
        except ProviderError:
            self.close()
            raise

    def _open_context(self, path: Path) -> None:
        library = self._library
        trained = int(library.llama_model_n_ctx_train(self._model))
        self.longest_text = max(8, min(trained, _LONGEST_TEXT))
        size = max(self.longest_text, _EMBEDDING_BATCH_TOKENS)
        self.batch_tokens = size
        settings = library.llama_context_default_params()
        settings.n_ctx = settings.n_batch = settings.n_ubatch = size
        settings.n_seq_max = MOST_SEQUENCES
        settings.kv_unified = True
        settings.embeddings = True
        settings.n_threads = settings.n_threads_batch = thread_count()
        self._context = library.llama_init_from_model(self._model, settings)
        if not self._context:
            raise OutOfMemory(
                "llama.cpp cannot make a context for this model.",
                where=str(path),
                remedy="Free some memory, or use a smaller model.",
            )
        pooling = int(library.llama_pooling_type(self._context))
        if pooling in (library.LLAMA_POOLING_TYPE_NONE, library.LLAMA_POOLING_TYPE_RANK):
            raise ProviderError(
                "This is no embedding model: it gives no one vector for a text.",
                where=str(path),
                remedy="Use an embedding model such as embeddinggemma-300M-Q8_0.gguf.",
            )
        self.dimensions = int(library.llama_model_n_embd(self._model))
        self._batch = library.llama_batch_init(size, 0, 1)

    def tokens(self, text: str) -> list[int]:
        """Return the token ids of a text with the model's markers, cutting overlong text before the end marker."""
        content = text.encode("utf-8", "replace")
        found = token_ids(self._library, self._model, content, add_marks=True, read_marks=False)
        if len(found) > self.longest_text:
            found = [*found[: self.longest_text - 1], found[-1]]
        return found

    def embed(self, sequences: Sequence[Sequence[int]]) -> FloatArray:
        """Run the model once over token sequences that fit one batch: `batch_tokens`, `MOST_SEQUENCES`.

        Raises:
            ProviderError: llama.cpp failed.
        """
        import numpy as np

        library, batch = self._library, self._batch
        assert batch is not None
        at = 0
        for number, sequence in enumerate(sequences):
            for position, token in enumerate(sequence):
                batch.token[at] = token
                batch.pos[at] = position
                batch.n_seq_id[at] = 1
                batch.seq_id[at][0] = number
                batch.logits[at] = 1
                at += 1
        batch.n_tokens = at
        memory = library.llama_get_memory(self._context)
        if memory:
            library.llama_memory_clear(memory, True)
        if library.llama_decode(self._context, batch) != 0:
            raise ProviderError(
                "llama.cpp could not run the embedding model.",
                remedy="Free some memory, or use a smaller model.",
            )
        rows = np.zeros((len(sequences), self.dimensions), dtype=np.float32)
        for number in range(len(sequences)):
            pointer = library.llama_get_embeddings_seq(self._context, number)
            if not pointer:
                raise ProviderError(
                    "llama.cpp gave no vector for a text.", remedy="Use another embedding model."
                )
            rows[number] = np.ctypeslib.as_array(pointer, shape=(self.dimensions,))
        return rows

    def close(self) -> None:
        """Free the model; it is unusable afterwards."""
        if self._batch is not None:
            self._library.llama_batch_free(self._batch)
        if self._context:
            self._library.llama_free(self._context)
        if self._model:
            self._library.llama_model_free(self._model)
        self._batch = self._context = self._model = None


def serve() -> None:
    """Answer requests until they end."""
    requests, replies = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    # Library output must not pass for a reply.
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    waiting: SimpleQueue[Reply] = SimpleQueue()
    # A separate thread notices the end of requests even while native code hangs.
    threading.Thread(target=_take_requests, args=(requests, waiting), daemon=True).start()
    model: _Embedding | _Chat | None = None
    while True:
        header, body = waiting.get()
        try:
            if model is None:
                path = Path(header["path"])
                model = _Chat(path, header["context"]) if header["purpose"] == "chat" else _Embedding(path)
                reply = model.about
            else:
                reply = model.answer(header, body)
        except ProviderError as error:
            told = {"error": error.message, "where": error.where, "remedy": error.remedy}
            reply = {**told, "passing": isinstance(error, OutOfMemory)}, b""
        except Exception as error:  # told to the process that asked
            said = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            reply = {"error": f"llama.cpp failed: {said}", "remedy": "Update llama-cpp-python."}, b""
        left = memoryview(packed(*reply))
        while left:
            left = left[os.write(replies, left) :]


class _Embedding:
    """Serves an embedding model, tested with a few letters first."""

    def __init__(self, path: Path) -> None:
        self._model = model = LlamaModel(path)
        model.embed([model.tokens(_SAMPLE)])
        told = {
            "dimensions": model.dimensions,
            "batch_tokens": model.batch_tokens,
            "batch_texts": MOST_SEQUENCES,
        }
        self.about: Reply = told, b""

    def answer(self, header: dict[str, Any], body: bytes) -> Reply:
        if header["ask"] == "tokens":
            return pack_ids([self._model.tokens(text) for text in header["texts"]])
        return {}, self._model.embed(unpack_ids(header, body)).tobytes()


class _Chat:
    """Serves a chat model, tested with one token first."""

    def __init__(self, path: Path, context: int) -> None:
        self._where = str(path)
        self._model = model = LlamaText(path, context)
        self._saying: Generator[bytes | None] = model.generate(
            model.tokens([PromptPiece(_SAMPLE, True)]), None
        )
        next((said for said in self._saying if said is not None), None)
        self._saying.close()
        self.about: Reply = {"context": model.context_tokens}, b""

    def answer(self, header: dict[str, Any], body: bytes) -> Reply:
        match header["ask"]:
            case "tokens":
                messages = [ChatMessage(role, content) for role, content in header["messages"]]
                model = self._model
                pieces = prompt_pieces(model.template, messages, model.marks, where=self._where)
                return pack_ids([model.tokens(pieces)])
            case "generate":
                (prompt,) = unpack_ids(header, body)
                self._saying.close()
                schema = header["schema"]
                grammar = json_grammar(schema) if schema is not None else None
                self._saying = self._model.generate(prompt, grammar)
                return {}, b""
            case _:
                for said in self._saying:
                    return {"said": said is not None}, said or b""
                return {"ended": True}, b""


def _take_requests(source: int, waiting: SimpleQueue[Reply]) -> None:
    def read(size: int) -> bytes:
        taken = bytearray()
        while len(taken) < size:
            part = os.read(source, min(size - len(taken), 1 << 20))
            if not part:
                os._exit(0)
            taken += part
        return bytes(taken)

    try:
        while True:
            waiting.put(unpacked(read))
    finally:
        os._exit(2)
