"""Remapped keys: what is obeyed, what is refused and why, and who would lose a key."""

from __future__ import annotations

import pytest

from workbench.tui.keys.dispatch import Keymap, everything, fault_of
from workbench.tui.keys.table import Command, Prefix


def test_the_table_has_no_clash_and_names_each_thing_once() -> None:
    names = [name for name, _, _ in everything()]
    assert len(names) == len(set(names))
    assert Keymap().problems == ()


def test_every_key_of_the_table_can_be_told_apart() -> None:
    answers = {"enter", "escape"}
    assert not [key for _, _, keys in everything() for key in keys if key not in answers and fault_of(key)]


def test_a_command_takes_its_new_key_and_leaves_the_old_one() -> None:
    keymap = Keymap({"forget": "X"})
    forget = keymap.bound("X")
    assert isinstance(forget, Command)
    assert forget.id == "forget"
    assert keymap.bound("f") is None
    assert keymap.key("forget") == "X"


def test_keys_may_be_written_as_people_and_as_textual_write_them() -> None:
    for key in ("?", "question_mark"):
        assert Keymap({"pin": "question_mark", "help": "f1"}).bound(key) == Keymap(
            {"pin": "?", "help": "f1"}
        ).bound("?")
    assert Keymap({"ask": "ctrl+k, /"}).key("ask") == "^k"


def test_prefixes_and_their_sheets_are_remapped_too() -> None:
    keymap = Keymap({"prefix-go": "M", "go-core": "c"})
    go = keymap.bound("M")
    assert isinstance(go, Prefix)
    assert keymap.key("go-core") == "M c"


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"forget": "d"}, "is the key of decline too"),
        ({"forget": "3"}, "is the key of place-core too"),
        ({"forget": "ctrl+i"}, "cannot tell"),
        ({"forget": "escape"}, "keeps that"),
        ({"forget": "hyper+q"}, "is no key"),
        ({"forget": ""}, "has no key"),
        ({"forgte": "d"}, "is no command"),
        ({"open": "x"}, "keeps its key"),
    ],
)
def test_what_cannot_be_obeyed_is_told_and_changes_nothing(overrides: dict[str, str], words: str) -> None:
    keymap = Keymap(overrides)
    assert words in keymap.problems[0]
    assert keymap.key("forget") == "f"
    assert keymap.key("decline") == "d"


def test_two_commands_swap_their_keys() -> None:
    overrides, clash = Keymap().with_key("forget", "d")
    assert clash is not None
    assert set(clash.ids) == {"forget", "decline"}
    assert Keymap(overrides).problems
    keymap = Keymap(Keymap().swapped("forget", "decline", "d"))
    assert keymap.problems == ()
    assert (keymap.key("forget"), keymap.key("decline")) == ("d", "f")


def test_a_command_put_back_on_its_own_key_is_no_override() -> None:
    overrides, clash = Keymap({"forget": "X"}).with_key("forget", "f")
    assert (overrides, clash) == ({}, None)


def test_the_preset_vim_trades_sideways_for_history_and_filter() -> None:
    keymap = Keymap(preset="vim")
    assert keymap.problems == ()
    assert [keymap.key(each) for each in ("left", "right", "history", "filter")] == ["h", "l", "H", "L"]
    assert Keymap({"history": "ctrl+y"}, "vim").key("history") == "^y"
    assert "no preset" in Keymap(preset="emacs").problems[0]


def test_only_the_first_of_several_keys_is_replaced() -> None:
    overrides, clash = Keymap().with_key("move-down", "ctrl+n")
    assert clash is None
    keymap = Keymap(overrides)
    assert keymap.command("move-down").keys == ("ctrl+n", "down")
    overrides = keymap.swapped("help", "move-down", "ctrl+n")
    assert Keymap(overrides).problems == ()
    assert Keymap(overrides).command("help").keys == ("ctrl+n", "f1")
    assert Keymap(overrides).command("move-down").keys == ("?", "down")
