"""A message that asks something of memory is heard; one that only mentions the words is not."""

from __future__ import annotations

import random
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.benchmarks.triggers import KINDS, LABELLED, detect, rate, read_labelled
from workbench.engine.triggers.detection import detect_all
from workbench.engine.triggers.live_text import BLANK, live_text
from workbench.engine.triggers.model import Surroundings
from workbench.engine.triggers.phrases import PhraseBook, load_phrases


@pytest.fixture(scope="module")
def book() -> PhraseBook:
    return load_phrases()


def test_every_labelled_message_stands_there_once() -> None:
    labelled = read_labelled()
    assert len({label.message for label in labelled}) == len(labelled) >= 300


# Floors a little under what was measured; `python tests/benchmarks/triggers.py` prints the figures.
@pytest.mark.parametrize(
    ("half", "language", "precision", "recall"),
    [
        ("tune", "en", 0.99, 0.99),
        ("tune", "zh", 0.97, 0.97),
        ("held", "en", 0.97, 0.83),
        ("held", "zh", 0.97, 0.93),
    ],
)
def test_detection_stays_as_good_as_measured(
    book: PhraseBook, half: str, language: str, precision: float, recall: float
) -> None:
    pairs = [
        (label, detect(label.message, book))
        for label in read_labelled(LABELLED)
        if (label.half, label.language) == (half, language)
    ]
    rates = [rate(pairs, kind) for kind in KINDS]
    right = sum(each.right for each in rates)
    assert right / (right + sum(each.wrong for each in rates)) >= precision
    assert right / (right + sum(each.missed for each in rates)) >= recall


@pytest.mark.parametrize("message", ["Keep in mind this workflow.", "Remember this decision", "记住这个流程"])
def test_a_word_that_only_points_refers_back(book: PhraseBook, message: str) -> None:
    found = detect(message, book)
    assert (found.kind, found.payload, found.refers_back) == ("remember", "", True)


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Consolidate memories", "reflect"),
        ("review memories", "reflect"),
        ("Clean up memory.", "reflect"),
        ("Clean up memory leaks in the parser", "none"),
        ("Review memory usage of the service", "none"),
    ],
)
def test_the_short_forms_ask_for_a_reflection(book: PhraseBook, message: str, kind: str) -> None:
    assert detect(message, book).kind == kind


def test_span_and_phrase_say_where_the_trigger_stands(book: PhraseBook) -> None:
    message = "Thanks! Please don’t forget that I’m on leave."
    found = detect(message, book)
    assert found.span is not None
    assert message[slice(*found.span)] == found.phrase == "don’t forget"
    assert found.payload == "I’m on leave"


def test_a_message_may_ask_several_things(book: PhraseBook) -> None:
    found = detect_all(
        "Forget about Redis, and remember that we use Postgres. Consolidate your memories.", book
    )
    assert [(each.kind, each.payload) for each in found] == [
        ("forget", "Redis"),
        ("remember", "we use Postgres"),
        ("reflect", ""),
    ]


@pytest.mark.parametrize(
    ("message", "payload"),
    [
        ("Remember that we deploy on Fridays. It takes an hour.", "we deploy on Fridays. It takes an hour."),
        ("Remember that we deploy on Fridays. Can you check it?", "we deploy on Fridays"),
        ("Remember that I like tea.\nFix the parser.", "I like tea"),
        ("Remember these:\n1. tea\n2. rye\n\nWhat else?", "1. tea\n2. rye"),
        ("Save this:\n```\nmake\n\nmake install\n```", "```\nmake\n\nmake install\n```"),
        ('Remember: "the door code is 4711"', '"the door code is 4711"'),
        ("Remember that the key is `rm -rf /`, never run it.", "the key is `rm -rf /`, never run it"),
        ("I love rye bread. Remember that!", "I love rye bread"),
        ("Is it late? I love rye bread. Remember that!", "I love rye bread"),
    ],
)
def test_what_to_remember_ends_where_the_message_turns(book: PhraseBook, message: str, payload: str) -> None:
    assert detect(message, book).payload == payload


@pytest.mark.parametrize(
    "message",
    [
        "```\nremember that x\n",
        "~~~ text\nremember that x\n~~~",
        "Look:\n\n    remember that x\n\nWhy?",
        "> remember that x",
        "`remember that x`",
        "“remember that x”",
        "「記住這個」是什麼意思?",
        "<pre>\nremember that x\n</pre>",
        "<!-- remember that x -->",
        "[INFO] remember that x",
        "2026-02-02 10:00:00 remember that x",
    ],
)
def test_what_is_only_shown_asks_nothing(book: PhraseBook, message: str) -> None:
    assert detect(message, book).kind == "none"


KNOWN = Surroundings(known=lambda words: words in ("Berlin", "柏林"))
REMEMBERED = Surroundings(just_remembered=lambda: True)


@pytest.mark.parametrize(
    ("message", "payload"),
    [
        ("Permanently delete Berlin.", "Berlin"),
        ("Please delete Berlin for good.", "Berlin"),
        ("Could you wipe everything about Berlin permanently?", "Berlin"),
        ("永久删除柏林。", "柏林"),
        ("请把柏林彻底删掉。", "柏林"),
    ],
)
def test_permanently_deleting_counts_where_memory_knows_what_it_names(
    book: PhraseBook, message: str, payload: str
) -> None:
    found = detect(message, book, KNOWN)
    assert (found.kind, found.payload, found.permanently) == ("forget", payload, True)
    assert detect(message, book).kind == "none"


@pytest.mark.parametrize(
    "message", ["Never mind.", "Oh, nevermind that, thanks!", "nvm", "forget it", "算了吧。", "好吧，算了"]
)
def test_never_mind_takes_back_what_was_just_remembered(book: PhraseBook, message: str) -> None:
    found = detect(message, book, REMEMBERED)
    assert (found.kind, found.payload, found.refers_back) == ("forget", "", True)
    assert detect(message, book).kind == "none"


@pytest.mark.parametrize(
    "message",
    [
        "Never mind, I found it.",
        "Tests pass. Never mind.",
        "算了，我自己来吧",
        "Never mind. What time is it?",
    ],
)
def test_never_mind_beside_anything_else_is_talk(book: PhraseBook, message: str) -> None:
    assert detect(message, book, REMEMBERED).kind == "none"


HOSTILE = {
    "beginnings": "x is no longer " * 20_000 + "relevant",
    "one word": "remember " * 20_000,
    "one sentence": "remember that " + "a, " * 50_000,
    "quotation marks": '"' * 50_000 + " remember x",
    "half a phrase": "remove x " * 20_000,
    "backticks": "`" * 30_000 + "remember that x",
    "tags": "<q>" * 20_000 + " remember</q>",
    "chinese": "记住\uff0c" * 20_000,
    "lead-ins": "please " * 30_000 + "remember",
    "sentences": "Remember x. " * 5_000,
}


@pytest.mark.parametrize("message", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_message_is_read_soon(book: PhraseBook, message: str) -> None:
    started = time.process_time()
    detect_all(message, book)
    assert time.process_time() - started < 3.0


@given(st.text(max_size=300))
def test_live_text_keeps_every_position(message: str) -> None:
    assert len(live_text(message)) == len(message)


WORDS = [
    "remember",
    "that",
    "forget",
    "about",
    "“",
    "”",
    '"',
    "`",
    "```",
    "\n",
    "> ",
    "?",
    ".",
    ",",
    "this",
    "记住",
    "忘掉",
    "，",
]


@given(st.lists(st.sampled_from([*WORDS, "I like tea", "请", BLANK]), max_size=25).map(" ".join))
def test_a_detection_is_about_the_message_itself(message: str) -> None:
    for found in detect_all(message, load_phrases()):
        assert found.span is not None
        assert 0 <= found.span[0] < found.span[1] <= len(message)
        assert found.payload in message
        assert found.refers_back == (not found.payload and found.kind in ("remember", "forget"))


def test_a_long_log_costs_next_to_nothing(book: PhraseBook) -> None:
    source = random.Random(5)
    words = ["request", "served", "in", "12ms", "from", "cache", "ok"]
    message = "\n".join(" ".join(source.choices(words, k=12)) for _ in range(5_000))
    started = time.process_time()
    assert detect(message, book).kind == "none"
    assert time.process_time() - started < 0.2


def test_importing_the_room_loads_nothing_heavy() -> None:
    program = (
        "import sys, workbench.engine.triggers\n"
        "assert not {'openai', 'regex', 'tomllib', 'workbench.engine.triggers.rules'} & set(sys.modules)\n"
    )
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr


@pytest.mark.parametrize(
    ("message", "asked"),
    [
        ("We go with option B. Forget about option A.", [("forget", "option A")]),
        ("My limit is 5 max. Remember that I hate cilantro.", [("remember", "I hate cilantro")]),
        ("the answer is no. forget about the trip.", [("forget", "the trip")]),
        ("Remember that I left Acme Inc. Forget my badge.", [("remember", "I left Acme Inc"), ("forget", "my badge")]),
        ("Remember that J. Smith is our lawyer.", [("remember", "J. Smith is our lawyer")]),
        ("Remember that the link is x.io/?id=12", [("remember", "the link is x.io/?id=12")]),
    ],
)  # fmt: skip
def test_a_full_stop_or_a_link_loses_no_request(
    book: PhraseBook, message: str, asked: list[tuple[str, str]]
) -> None:
    assert [(each.kind, each.payload) for each in detect_all(message, book)] == asked


@pytest.mark.parametrize(
    "message",
    [
        "The TODO in parser.py is no longer relevant, so I removed it.",
        "那个旧选项已经作废了，所以我删掉了它。",
    ],
)
def test_what_is_no_longer_relevant_in_a_tale_is_forgotten_only_where_memory_knows_it(
    book: PhraseBook, message: str
) -> None:
    assert detect(message, book).kind == "none"
    assert detect(message, book, Surroundings(known=lambda _words: True)).kind == "forget"
    assert detect("The weekly call is no longer relevant, thanks.", book).payload == "The weekly call"
