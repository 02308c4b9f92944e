"""A small Llama with random weights as a GGUF file: it says nothing sensible, but llama.cpp runs it as any other."""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any

CONTEXT = 4096
_WIDTH = 32
_HEADS = 2
_MARKS = ["<unk>", "<s>", "</s>", "<|im_start|>", "<|im_end|>"]
_UNKNOWN, _NORMAL, _CONTROL, _BYTE = 2, 1, 3, 6


def write_tiny_chat_gguf(
    path: Path, *, template: str | None = None, context: int = CONTEXT, seed: int = 3
) -> Path:
    """Write a language model whose vocabulary is the printable ASCII characters, all bytes, and ChatML's marks.

    Args:
        path: The file.
        template: Its chat template; None for a file without one.
        context: Tokens that it says it was trained on.
        seed: Of the weights.
    """
    import gguf
    import numpy as np

    random = np.random.default_rng(seed)
    characters = [character for character in string.printable if character.isprintable() and character != " "]
    tokens = [*_MARKS, *(f"<0x{byte:02X}>" for byte in range(256)), *characters, "▁"]
    types = [_UNKNOWN, *[_CONTROL] * 4, *[_BYTE] * 256, *[_NORMAL] * (len(characters) + 1)]
    writer: Any = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny")
    writer.add_context_length(context)
    writer.add_embedding_length(_WIDTH)
    writer.add_feed_forward_length(2 * _WIDTH)
    writer.add_block_count(1)
    writer.add_head_count(_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(_WIDTH // _HEADS)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types(types)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_add_space_prefix(False)
    if template is not None:
        writer.add_chat_template(template)

    def add(name: str, *shape: int) -> None:
        writer.add_tensor(f"{name}.weight", random.normal(0, 0.3, shape).astype(np.float32))

    def add_norm(name: str) -> None:
        writer.add_tensor(f"{name}.weight", np.ones(_WIDTH, np.float32))

    add("token_embd", len(tokens), _WIDTH)
    add("output", len(tokens), _WIDTH)
    add_norm("output_norm")
    add_norm("blk.0.attn_norm")
    for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
        add(f"blk.0.{part}", _WIDTH, _WIDTH)
    add_norm("blk.0.ffn_norm")
    add("blk.0.ffn_gate", 2 * _WIDTH, _WIDTH)
    add("blk.0.ffn_up", 2 * _WIDTH, _WIDTH)
    add("blk.0.ffn_down", _WIDTH, 2 * _WIDTH)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
