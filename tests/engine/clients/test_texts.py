"""Texts of configurations: what is added can be taken out again, and nothing else changes."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import json5
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.clients.config_text import TomlFormat, YamlFormat
from workbench.engine.clients.json_text import JsonFormat, Unreadable
from workbench.engine.clients.known import JSON, JSON5, JSONC

ENTRY = {"command": "/opt/work bench/workbench", "args": ["mcp", "--workspace", "/home/nora/“memory”"]}
SERVERS = ("mcpServers", "workbench")

STRICT = {
    "one of another": '{\n  "mcpServers": {\n    "other": {\n      "command": "x"\n    }\n  }\n}\n',
    "tabs": '{\n\t"a": 1,\n\t"mcpServers": {\n\t\t"other": {}\n\t},\n\t"z": [1, 2]\n}',
    "windows": '{\r\n    "mcpServers": {\r\n        "other": {"command": "x"}\r\n    }\r\n}\r\n',
    "minified": '{"a":1,"mcpServers":{"other":{"command":"x"}},"b":[]}',
    "one line, spaced": '{"mcpServers": {"other": {"command": "x"}}}',
    "servers on one line": '{\n  "mcpServers": {"other": {"command": "x"}},\n  "b": 1\n}\n',
    "odd white space": ' \n{ "mcpServers" :\n { "other"\t: {}\n\n } }\n\n',
    "keys that look like ours": '{\n  "mcpServers": {\n    "workbench2": {"a": "}]\\"{"}\n  }\n}',
}
LOOSE = {
    "comments": '// mine\n{\n  /* servers */\n  "mcpServers": {\n    // the one I use\n    "other": {"command": "x"}'
    " // keep\n"
    "    // nothing below\n  }, // end\n}\n",
    "trailing commas": '{\n  "mcpServers": {\n    "other": {},\n  },\n}\n',
    "a comment after the last comma": '{\n  "mcpServers": {\n    "other": {}, // it, "quoted" {\n  },\n}',
    "a block comment at the end": '{\n  "mcpServers": {\n    "other": {} /* here\n    and here */\n  }\n}\n',
}
SETTINGS_JSON5 = {
    "names and single quotes": "{\n  mcpServers: {\n    'other': { command: 'it\\'s', n: 0x1F, },\n  },\n"
    "  big: +Infinity,\n}\n",
}


def cases() -> list[Any]:
    sets = ((JSON, STRICT), (JSONC, STRICT | LOOSE), (JSON5, STRICT | LOOSE | SETTINGS_JSON5))
    return [
        pytest.param(format_, text, id=f"{number}-{name}")
        for number, (format_, texts) in enumerate(sets)
        for name, text in texts.items()
    ]


@pytest.mark.parametrize(("format_", "text"), cases())
def test_an_entry_beside_others_comes_and_goes_without_a_trace(format_: JsonFormat, text: str) -> None:
    added = format_.put(text, SERVERS, ENTRY)
    value = json5.loads(added)
    assert value["mcpServers"]["workbench"] == ENTRY
    del value["mcpServers"]["workbench"]
    assert value == json5.loads(text)
    assert format_.drop(added, SERVERS) == text


@pytest.mark.parametrize(("format_", "text"), cases())
def test_what_is_added_after_ours_stays_when_ours_goes(format_: JsonFormat, text: str) -> None:
    added = format_.put(format_.put(text, SERVERS, ENTRY), ("mcpServers", "later"), {"command": "y"})
    without = format_.drop(added, SERVERS)
    alone = format_.put(text, ("mcpServers", "later"), {"command": "y"})
    # How far each level is indented is read from the first line that is; one alone tells nothing.
    assert without.split() == alone.split()


@pytest.mark.parametrize(("format_", "text"), cases())
def test_an_item_of_an_array_comes_and_goes_too(format_: JsonFormat, text: str) -> None:
    one = format_.append(text, ("hooks", "SessionStart"), {"hooks": [1]})
    two = format_.append(one, ("hooks", "SessionStart"), {"hooks": [2]})
    assert json5.loads(two)["hooks"]["SessionStart"] == [{"hooks": [1]}, {"hooks": [2]}]
    assert format_.drop(two, ("hooks", "SessionStart", 1)) == one
    first_gone = format_.drop(two, ("hooks", "SessionStart", 0))
    assert json5.loads(first_gone)["hooks"]["SessionStart"] == [{"hooks": [2]}]


@pytest.mark.parametrize("text", ["", " \n", "{}", "{\n}\n", "{ // nothing yet\n}", "{ /* nothing */ }"])
def test_empty_files_and_objects_get_what_they_lack(text: str) -> None:
    added = JSONC.put(text, SERVERS, ENTRY)
    assert json5.loads(added) == {"mcpServers": {"workbench": ENTRY}}
    assert ("nothing" in added) == ("nothing" in text)
    assert JSONC.parse(JSONC.drop(JSONC.drop(added, SERVERS), SERVERS[:1])) == {}


def test_an_entry_that_is_there_is_replaced_where_it_is() -> None:
    text = '{\n  "mcpServers": {\n    "workbench": {"command": "old"}, // ours\n    "b": {}\n  }\n}\n'
    replaced = JSONC.put(text, SERVERS, {"command": "new"})
    assert replaced == text.replace('{"command": "old"}', '{\n      "command": "new"\n    }')


@pytest.mark.parametrize(
    ("format_", "text", "line"),
    [
        (JSON, '{\n  "a": 1\n  "b": 2\n}', 3),
        (JSON, '{\n  // no\n  "a": 1\n}', 2),
        (JSON, '{\n  "a": 1,\n}', 2),
        (JSON, '{"a": 1}\n}', 2),
        (JSON, '{\n"a": "x\n"}', 2),
        (JSON, '{"a": tru}', 1),
        (JSON, '{"a": [1, 2}', 1),
        (JSON, '{"a": ', 1),
        (JSONC, '{\n/* open\n"a": 1}', 2),
        (JSONC, "{\n\n'a': 1}", 3),
        (JSON5, "{a: b}", 1),
        (JSON, "[" * 5000, 1),
    ],
)
def test_a_broken_text_is_refused_with_its_line(format_: JsonFormat, text: str, line: int) -> None:
    with pytest.raises(Unreadable) as caught:
        format_.put(text, SERVERS, ENTRY)
    assert caught.value.line == line


@pytest.mark.parametrize(
    "text", ['{"mcpServers": []}', '{"mcpServers": null}', '{"mcpServers": {}, "mcpServers": {}}', "[]", "3"]
)
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(Unreadable):
        JSON.put(text, SERVERS, ENTRY)


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)


@given(
    st.dictionaries(st.text(max_size=6), _values, max_size=4),
    st.dictionaries(
        st.text(max_size=6).filter(lambda key: key != "workbench"), _values, min_size=1, max_size=3
    ),
    st.sampled_from([None, 1, 2, 4, "\t"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_any_json_keeps_its_bytes(
    around: dict[str, Any], servers: dict[str, Any], indent: int | str | None, newline: str
) -> None:
    held = {**around, "mcpServers": servers}
    text = json.dumps(held, indent=indent).replace("\n", newline)
    for format_ in (JSON, JSONC, JSON5):
        added = format_.put(text, SERVERS, ENTRY)
        assert json.loads(added) == {**held, "mcpServers": {**servers, "workbench": ENTRY}}
        assert format_.drop(added, SERVERS) == text


TOML = {
    "empty": "",
    "settings": 'model = "gpt-5" # mine\n\n[tui]\ntheme = "dark"\n',
    "no newline at the end": "a = 1",
    "servers in the middle": '[mcp_servers.other]\ncommand = "x"\n\n# below\n'
    '[projects."/home/nora"]\ntrust_level = "trusted"\n',
    "windows": 'a = 1\r\n[mcp_servers.other]\r\ncommand = "x"\r\n',
    "comment at the end": "a = 1\n# the end\n",
    "many lines": 'a = """\n[mcp_servers.workbench]\n"""\n\n\n[b]\n  c = [\n 1, # one\n ]\n',
}


@pytest.mark.parametrize("text", TOML.values(), ids=TOML)
def test_a_table_comes_and_goes_without_a_trace(text: str) -> None:
    toml = TomlFormat()
    added = toml.put(text, ("mcp_servers", "workbench"), ENTRY)
    assert tomllib.loads(added)["mcp_servers"]["workbench"] == ENTRY
    assert added.startswith(text)
    dropped = toml.drop(added, ("mcp_servers", "workbench"))
    assert dropped == text or (not text.endswith("\n") and dropped == text + "\n")
    later = toml.drop(added + "\n# mine\n[later]\na = 1\n", ("mcp_servers", "workbench"))
    assert "# mine" in later
    assert tomllib.loads(later) == {**tomllib.loads(text), "later": {"a": 1}}


def test_servers_written_inline_stay_inline() -> None:
    text = '# mine\nmcp_servers = { other = { command = "x" } } # here\na = 1\n'
    toml = TomlFormat()
    added = toml.put(text, ("mcp_servers", "workbench"), ENTRY)
    assert tomllib.loads(added)["mcp_servers"] == {"other": {"command": "x"}, "workbench": ENTRY}
    assert "# here" in added
    assert tomllib.loads(toml.drop(added, ("mcp_servers", "workbench"))) == tomllib.loads(text)


@pytest.mark.parametrize(
    ("text", "line"), [("a = \n", 1), ("a = 1\nb = [\n", 3), ("a = 1\n[x\n", 2), ("a=1\na=2\n", 2)]
)
def test_broken_toml_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(Unreadable) as caught:
        TomlFormat().put(text, ("mcp_servers", "workbench"), ENTRY)
    assert caught.value.line == line


YAML = {
    "empty": "",
    "comments alone": "# mine\n",
    "other settings": "GOOSE_PROVIDER: openai # mine\nGOOSE_MODEL: 'x'\n",
    "no newline at the end": "GOOSE_PROVIDER: openai",
    "extensions": "extensions:\n  # built in\n  developer:\n    enabled: true\n    args:\n    - a\n\n"
    "# below\nGOOSE_MODE: auto\n",
    "deep": "a: 1\nextensions:   # here\n      developer:\n            enabled: true\n",
    "windows": "a: 1\r\nextensions:\r\n  developer:\r\n    enabled: true\r\nb: |\r\n  extensions:\r\n    x\r\n",
    "a text that looks like it": "b: |\n  extensions:\n    x: 1\nextensions:\n  developer: {enabled: true}\n",
}


@pytest.mark.parametrize("text", YAML.values(), ids=YAML)
def test_an_entry_of_yaml_comes_and_goes(text: str) -> None:
    format_ = YamlFormat()
    added = format_.put(text, ("extensions", "workbench"), ENTRY)
    before = yaml.safe_load(text) or {}
    inside = {**before.get("extensions", {}), "workbench": ENTRY}
    assert yaml.safe_load(added) == {**before, "extensions": inside}
    dropped = format_.drop(added, ("extensions", "workbench"))
    if "developer" in text:
        assert dropped == text
    else:
        assert format_.drop(dropped, ("extensions",)).rstrip("\n") == text.rstrip("\n")


@pytest.mark.parametrize(
    "text", ["extensions: {}\n", "extensions:\n", "extensions: {developer: {enabled: true}} # x\na: 1\n"]
)
def test_yaml_in_braces_and_empty_mappings_are_filled(text: str) -> None:
    format_ = YamlFormat()
    added = format_.put(text, ("extensions", "workbench"), ENTRY)
    before = yaml.safe_load(text)
    assert yaml.safe_load(added)["extensions"] == {**(before["extensions"] or {}), "workbench": ENTRY}
    dropped = format_.drop(added, ("extensions", "workbench"))
    assert yaml.safe_load(dropped) == {**before, "extensions": before["extensions"] or {}}


@pytest.mark.parametrize(
    "text",
    ["a: [1\n", "a: 1\n\tb: 2\n", "{a: 1}\n", "- a\n", "extensions: [x]\n", "a: 1\n---\nb: 2\n", "a: !x 1\n"],
)
def test_yaml_that_is_broken_or_another_shape_is_refused(text: str) -> None:
    with pytest.raises(Unreadable):
        YamlFormat().put(text, ("extensions", "workbench"), ENTRY)
