"""Token counts agree with the reference implementation, start fast, and no text holds them up."""

from __future__ import annotations

import random
import string
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.engine.tokens import count_tokens

if TYPE_CHECKING:
    import bpe_openai

SAMPLES = {
    "english": "The owner’s review isn't over; it'll ship on 2026-02-02 (they're SURE). O'Brien's HTTPPort…",
    "chinese": "记住\uff1a我更喜欢先讨论方案再动手。部署之前一定要跑测试\uff0c谢谢\uff01臺灣的時區是 UTC+8。",
    "code": "def f(x: int) -> int:\n\treturn {k: v**2}\n\n\n// ===>\r\n#include <a/b.h>\r\n\r\n  }  \n",
    "markdown": "## Facts\n\n- Forgetting is by decay ^f7k2\n- [[person--alex]] *likes* `vim`\n---\n",
    "emoji": "👩‍👩‍👧‍👦 done ✅✅ 🇩🇪🇨🇳 é vs é, ñ, ﷽, Ǆ ǅ ǆ",
    "scripts": "Привет, мир! Γειά σου 안녕하세요 こんにちは שלום مرحبا नमस्ते ไทย İstanbul ſt ß 'S",
    "special": "<|endoftext|> <|endofprompt|> is plain text here",
    "blanks": "   \n\n \t x  \u00a0 y\u3000\u2028z   ",
    "numbers": "1234567 ½ ²³ ٣٤٥ 1,000.50 0xFF ⅷ",
}


def count_by(reference: bpe_openai.Encoding, text: str) -> int:
    return len(reference.encode(text, disallowed_special=()))


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_counts_agree_with_the_reference(reference: bpe_openai.Encoding, name: str) -> None:
    text = SAMPLES[name]
    assert count_tokens(text) == count_by(reference, text)
    assert count_tokens(text * 7) == count_by(reference, text * 7)


@settings(max_examples=400)
@given(st.text(max_size=400))
def test_counts_agree_on_any_unicode(reference: bpe_openai.Encoding, text: str) -> None:
    assert count_tokens(text) == count_by(reference, text)


@settings(max_examples=300)
@given(st.text(alphabet=string.ascii_letters + "'’ \t\r\n/.,!-_0123456789éßЖ中", max_size=300))
def test_counts_agree_on_text_dense_with_borders(reference: bpe_openai.Encoding, text: str) -> None:
    assert count_tokens(text) == count_by(reference, text)


def test_a_lone_surrogate_counts_as_the_replacement_character() -> None:
    assert count_tokens("a\ud800b") == count_tokens("a\ufffdb")


def test_nothing_takes_nothing() -> None:
    assert count_tokens("") == 0


def test_a_piece_up_to_the_exact_length_is_exact(reference: bpe_openai.Encoding) -> None:
    piece = "".join(random.Random(7).choices(string.ascii_lowercase, k=1_024))
    assert count_tokens(piece) == count_by(reference, piece)


@pytest.mark.parametrize("alphabet", [string.ascii_lowercase, "a", " ", "!?=-+", "中文记忆部署测试喜欢"])
def test_a_hostile_piece_is_estimated_closely_and_soon(reference: bpe_openai.Encoding, alphabet: str) -> None:
    text = "".join(random.Random(3).choices(alphabet, k=999_999))
    started = time.process_time()
    counted = count_tokens(text)
    assert time.process_time() - started < 2.0
    # The reference refuses so many tokens at once.
    whole = sum(count_by(reference, text[at : at + 50_000]) for at in range(0, len(text), 50_000))
    assert counted == pytest.approx(whole, rel=0.02)


def test_a_warm_recount_of_a_whole_block_is_far_below_a_keystroke() -> None:
    text = SAMPLES["english"] * 60 + SAMPLES["chinese"] * 20
    tokens = count_tokens(text)
    best = min(_seconds_to_count(text) for _ in range(7))
    assert best / tokens * 3_000 < 0.006


def _seconds_to_count(text: str) -> float:
    started = time.process_time()
    count_tokens(text)
    return time.process_time() - started


def test_importing_loads_neither_the_vocabulary_nor_the_pattern_engine() -> None:
    program = (
        "import sys, workbench.engine.tokens\n"
        "from workbench.engine.tokens import o200k_vocabulary\n"
        "assert 'regex' not in sys.modules\n"
        "assert o200k_vocabulary.cache_info().currsize == 0\n"
    )
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
