"""A small BERT with random weights as a GGUF file: real enough for llama.cpp, meaningless, made in a moment."""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any

WIDTH = 32
CONTEXT = 64
_BLOCKS = 1
_MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def write_tiny_gguf(path: Path, *, pooling: int | None = 1) -> Path:
    """Write an embedding model whose vocabulary is the letters, digits and marks.

    Args:
        path: The file.
        pooling: 1 for the mean; None for a model that gives no one vector for a text.
    """
    import gguf
    import numpy as np

    random = np.random.default_rng(5)
    characters = string.ascii_lowercase + string.digits + string.punctuation
    # llama.cpp keeps the beginnings of words with a mark before them, and what continues a word bare.
    tokens = [*_MARKS, *(f"▁{character}" for character in characters), *characters]
    writer: Any = gguf.GGUFWriter(path, "bert")
    writer.add_name("tiny")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(2 * WIDTH)
    writer.add_block_count(_BLOCKS)
    writer.add_head_count(2)
    writer.add_layer_norm_eps(1e-12)
    writer.add_causal_attention(False)
    if pooling is not None:
        writer.add_pooling_type(gguf.PoolingType(pooling))
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_types([3] * len(_MARKS) + [1] * (len(tokens) - len(_MARKS)))
    writer.add_token_type_count(2)
    for number, name in enumerate(["pad", "unk", "bos", "eos", "mask"]):
        getattr(writer, f"add_{name}_token_id")(number)
    writer.add_sep_token_id(3)

    def add(name: str, *shape: int) -> None:
        writer.add_tensor(name, random.normal(0, 0.3, shape).astype(np.float32))

    def add_norm(name: str) -> None:
        writer.add_tensor(f"{name}.weight", np.ones(WIDTH, np.float32))
        writer.add_tensor(f"{name}.bias", np.zeros(WIDTH, np.float32))

    add("token_embd.weight", len(tokens), WIDTH)
    add("position_embd.weight", CONTEXT, WIDTH)
    add("token_types.weight", 2, WIDTH)
    add_norm("token_embd_norm")
    for block in range(_BLOCKS):
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            add(f"blk.{block}.{part}.weight", WIDTH, WIDTH)
            add(f"blk.{block}.{part}.bias", WIDTH)
        add_norm(f"blk.{block}.attn_output_norm")
        add(f"blk.{block}.ffn_up.weight", 2 * WIDTH, WIDTH)
        add(f"blk.{block}.ffn_up.bias", 2 * WIDTH)
        add(f"blk.{block}.ffn_down.weight", WIDTH, 2 * WIDTH)
        add(f"blk.{block}.ffn_down.bias", WIDTH)
        add_norm(f"blk.{block}.layer_output_norm")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
