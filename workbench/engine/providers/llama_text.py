"""A GGUF language model opened through llama.cpp: token ids in, sampled text out."""

from __future__ import annotations

import ctypes
import re
import weakref
from collections.abc import Generator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from workbench.engine.errors import ProviderError
from workbench.engine.providers.chat_templates import PromptPiece
from workbench.engine.providers.llama_library import (
    OutOfMemory,
    check_model_file,
    load_llama,
    load_model_file,
    thread_count,
    token_ids,
)

# Prompt tokens that are read before the caller is asked whether it still wants to know.
_BATCH_TOKENS: Final = 256
# Little chance: what is asked for is what stands in the prompt, said the same way each time.
_TOP_K: Final = 40
_TOP_P: Final = 0.95
_TEMPERATURE: Final = 0.2
_SEED: Final = 20_260_203

_LONGEST_STRING: Final = 1_200
_TEXT_RULES: Final = re.compile("(?:char|string) ::=")
_CHAR_RULE: Final = (
    r'char ::= [^"\\\x7F\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F])'
)
_STRING_RULE: Final = rf'string ::= "\"" char{{0,{_LONGEST_STRING}}} "\"" space'


class LlamaText:
    """One model and one context; not safe from several threads.

    Args:
        path: The GGUF file.
        context_tokens: Most tokens of prompt and answer; less where the model was trained on less.

    Raises:
        ProviderError: llama-cpp-python is missing, or the file is no language model that it can load.
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
        """Return the token ids of a prompt; in its words, nothing becomes a mark of the model."""
        ids: list[int] = []
        for piece in pieces:
            content = piece.text.encode("utf-8", "replace")
            ids += token_ids(self._library, self._model, content, add_marks=False, read_marks=not piece.words)
        if self._begin is not None and ids[:1] != [self._begin]:
            ids.insert(0, self._begin)
        return ids

    def generate(self, prompt: Sequence[int], grammar: str | None) -> Generator[bytes | None]:
        """Go on from a prompt until the model ends its turn.

        Args:
            prompt: At least one token, fewer than `context_tokens`.
            grammar: GBNF with the rule `root` that the answer keeps; None for any text.

        Yields:
            None after every batch of the prompt, then the UTF-8 of one token after another, which may end
            within a character.

        Raises:
            ProviderError: llama.cpp gave up, or the model's vocabulary cannot say what the grammar wants.
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
        """Free the model; it cannot be used any more."""
        self._free()
        self._model = self._context = None

    def _keep_common(self, prompt: Sequence[int]) -> int:
        """Forget what was read but the beginning that the prompt shares, and return that one's length."""
        common = 0
        for read, wanted in zip(self._read, prompt[:-1], strict=False):
            if read != wanted:
                break
            common += 1
        memory = self._library.llama_get_memory(self._context)
        if not self._library.llama_memory_seq_rm(memory, 0, common, -1):
            # Models with a running state cannot forget a part.
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
        """Choose a token; the grammar looks at all of them only where the one chosen freely breaks it."""
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
        # Handing the grammar a token that breaks it would end the process.
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
    """Return a schema as GBNF, in which no string is endless or holds what JSON forbids in one."""
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
