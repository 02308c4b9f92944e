"""Rebuild the packed vocabulary from the bpe-openai package: `python -m tools.pack_o200k_ranks`.

For developers; only this program needs bpe-openai. The output depends on the vocabulary alone.
"""

from __future__ import annotations

import sys
from pathlib import Path

from workbench import engine
from workbench.engine.tokens import PACKED_FILE, pack_vocabulary

_VOCABULARY_SIZE = 199_998


def main() -> None:
    """Write the packed vocabulary into the engine and print its size."""
    import bpe_openai

    encoding = bpe_openai.get_encoding("o200k_base")
    tokens = [encoding.decode_single_token_bytes(rank) for rank in range(_VOCABULARY_SIZE)]
    packed = pack_vocabulary(tokens)
    target = Path(engine.__file__).with_name(PACKED_FILE)
    target.write_bytes(packed)
    sys.stdout.write(f"{target.name}: {len(tokens)} tokens, {len(packed)} bytes\n")


if __name__ == "__main__":
    main()
