"""Exports of ChatGPT and Claude: the branch in use, whole turns, and archives that are traps."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.engine.transfer.reading_all import pieces, read_all, skipped
from workbench.engine.errors import DocumentError, InvalidInput
from workbench.engine.transfer.conversations import elements
from workbench.engine.transfer.recognition import open_source

START = 1_769_245_200.0


def message(role: str, text: object, moment: object, **more: Any) -> dict[str, Any]:
    content = {"content_type": "text", "parts": [text]}
    return {"author": {"role": role}, "create_time": moment, "content": content, "recipient": "all", **more}


def chatgpt(**more: Any) -> dict[str, Any]:
    nodes: dict[str, Any] = {
        "root": {"message": None, "parent": None, "children": ["system"]},
        "system": {"message": message("system", "hidden", None), "parent": "root", "children": ["q"]},
        "q": {
            "message": message("user", "Where is staging?\n\nReally?", START),
            "parent": "system",
            "children": ["a", "b"],
        },
        "a": {"message": message("assistant", "In us-1.", START + 5), "parent": "q", "children": []},
        "b": {"message": message("assistant", "In eu-2.", START + 60), "parent": "q", "children": ["tool"]},
        "tool": {"message": message("tool", "ls", START + 61), "parent": "b", "children": ["late"]},
        "late": {"message": message("user", "Thanks!", START + 7200), "parent": "tool", "children": []},
    }
    return {"title": "Staging", "conversation_id": "c-1", "mapping": nodes, "current_node": "late", **more}


CLAUDE = {
    "uuid": "u-1",
    "name": "Bread",
    "chat_messages": [
        {"sender": "human", "text": "old text", "created_at": "2026-01-24T09:00:00Z",
         "content": [{"type": "text", "text": "How long?"}]},
        {"sender": "assistant", "text": "An hour.", "created_at": "2026-01-24T09:00:09.5Z",
         "content": [{"type": "tool_use", "input": {}}]},
    ],
}  # fmt: skip


def write_json(place: Path, value: object) -> Path:
    place.write_text(json.dumps(value), encoding="utf-8")
    return place


def write_zip(place: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return place


def test_the_branch_in_use_parted_at_pauses(tmp_path: Path) -> None:
    source = write_json(tmp_path / "conversations.json", [chatgpt()])
    assert open_source(source).form == "chatgpt"
    first, second = pieces(read_all(source))
    assert first.body == (
        "Conversation “Staging”\n\nUser: Where is staging?\n\nReally?\n\nAssistant: In eu-2."
    )
    assert second.body.endswith("User: Thanks!")
    assert (str(first.place), first.moment) == ("conversations.json#c-1", datetime.fromtimestamp(START, UTC))


def test_claude_says_what_its_content_says(tmp_path: Path) -> None:
    source = write_json(tmp_path / "conversations.json", [CLAUDE])
    assert open_source(source).form == "claude"
    (piece,) = pieces(read_all(source))
    assert piece.body == "Conversation “Bread”\n\nUser: How long?\n\nAssistant: An hour."


def test_packed_or_unpacked_it_is_the_same(tmp_path: Path) -> None:
    content = json.dumps([chatgpt()]).encode()
    packed = write_zip(
        tmp_path / "export.zip", {"conversations.json": content, "../../evil.txt": b"x", "chat.html": b"y"}
    )
    folder = tmp_path / "export"
    folder.mkdir()
    (folder / "conversations.json").write_bytes(content)
    assert [p.key for p in pieces(read_all(packed))] == [p.key for p in pieces(read_all(folder))]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["export", "export.zip"]


def test_odd_conversations_hide_no_others(tmp_path: Path) -> None:
    loop = {
        "a": {"message": message("user", "round", 1), "parent": "b"},
        "b": {"message": None, "parent": "a"},
    }
    odd = [
        7, {"mapping": {}}, {"mapping": loop, "current_node": "a", "id": "loop"},
        {"mapping": {"x": 5}, "current_node": "x"},
        chatgpt(current_node=None), chatgpt(title="\u202eevil\n# heading", conversation_id="c#\n2"),
        {"mapping": {"x": {"message": message("user", 5, "late"), "parent": ["x"]}}, "current_node": "x"},
    ]  # fmt: skip
    items = read_all(write_json(tmp_path / "conversations.json", odd), "chatgpt")
    assert len(skipped(items)) == 4
    titles = {piece.text for piece in pieces(items)}
    assert titles == {"", "Conversation “Staging”", "Conversation “\ufffdevil\ufffd# heading”"}


def test_a_torn_export_gives_what_stands_before(tmp_path: Path) -> None:
    source = tmp_path / "conversations.json"
    source.write_text(json.dumps([chatgpt(), chatgpt()])[:-200], encoding="utf-8")
    items = read_all(source, "chatgpt")
    assert len(pieces(items)) == 2
    assert "cut off in element 2" in skipped(items)["conversations.json"]


def test_a_bomb_is_refused_before_it_goes_off(tmp_path: Path) -> None:
    bomb = write_zip(tmp_path / "bomb.zip", {"conversations.json": b"[" + b" " * (80 << 20) + b"]"})
    with pytest.raises(DocumentError, match="times its size"):
        open_source(bomb)
    assert "times its size" in str(read_all(bomb, "chatgpt"))


@pytest.mark.parametrize("content", [b"PK\x03\x04 no archive", b"", b"\x00" * 100])
def test_what_is_no_archive_is_told(tmp_path: Path, content: bytes) -> None:
    place = tmp_path / "broken.zip"
    place.write_bytes(content)
    assert pieces(read_all(place, "chatgpt")) == []
    assert skipped(read_all(place, "chatgpt"))


def test_an_archive_packed_in_an_unknown_way_is_told(tmp_path: Path) -> None:
    place = write_zip(tmp_path / "odd.zip", {"conversations.json": json.dumps([chatgpt()]).encode()})
    content = bytearray(place.read_bytes())
    content[8] = content[content.find(b"PK\x01\x02") + 10] = 99
    place.write_bytes(content)
    with pytest.raises(InvalidInput):
        open_source(place)
    assert "damaged" in str(skipped(read_all(place, "chatgpt")))


def test_what_cannot_be_unpacked_is_told(tmp_path: Path) -> None:
    place = write_zip(tmp_path / "torn.zip", {"conversations.json": json.dumps([chatgpt()]).encode()})
    content = bytearray(place.read_bytes())
    content[50:70] = b"\xff" * 20
    place.write_bytes(content)
    with pytest.raises(InvalidInput):
        open_source(place)
    assert "damaged" in str(skipped(read_all(place, "chatgpt")))


def test_deep_json_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "conversations.json"
    place.write_text("[" + '{"mapping":' * 200_000, encoding="utf-8")
    assert "nested too deep" in str(skipped(read_all(place, "chatgpt")))


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=10,
)


patiently = settings(suppress_health_check=[HealthCheck.too_slow])


@patiently
@given(st.lists(values, max_size=8), st.integers(1, 40), st.sampled_from([None, 1]), st.booleans())
def test_a_stream_gives_what_json_gives(
    said: list[Any], block: int, indent: int | None, ascii_: bool
) -> None:
    content = json.dumps(said, indent=indent, ensure_ascii=ascii_).encode("utf-8", "replace")
    told: list[int] = []
    found = list(elements(io.BytesIO(content), "x", tell=told.append, block=block))
    assert found == json.loads(content)
    assert sum(told) == len(content)


@patiently
@given(st.lists(values, min_size=1, max_size=5), st.data())
def test_a_stream_that_is_cut_off_says_so(said: list[Any], data: st.DataObject) -> None:
    content = json.dumps(said).encode()
    cut = content[: data.draw(st.integers(1, len(content) - 1))]
    with pytest.raises(DocumentError):
        list(elements(io.BytesIO(cut), "x"))
