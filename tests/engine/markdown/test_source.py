"""Lines and back again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.markdown.source import LineSpan, SourceText, text_lines


@given(st.binary())
def test_any_bytes_come_back(content: bytes) -> None:
    assert SourceText.from_bytes(content).render() == content


@given(st.text(alphabet="a\r\n\u2028\u0085\f\0\ufeff \t"))
def test_only_three_line_ends_count(text: str) -> None:
    source = SourceText.from_text(text)
    assert source.text == text
    assert not any("\n" in line or "\r" in line for line in source.lines)


def test_bom_crlf_and_missing_last_end_are_kept() -> None:
    source = SourceText.from_bytes(b"\xef\xbb\xbfone\r\ntwo")
    assert (source.bom, source.lines, source.endings) == (True, ("one", "two"), ("\r\n", ""))
    assert source.append(["three"]).render() == b"\xef\xbb\xbfone\r\ntwo\r\nthree\r\n"


def test_front_matter_keeps_its_order() -> None:
    content = b"---\nzeta: 1\nfor: group:family\nalpha: [b, a]\n---\n# Note\n\nOne.\n"
    source = SourceText.from_bytes(content)
    assert source.render() == content
    assert source.splice(8, 8, ["Two."]).render() == content.replace(b"One.", b"Two.")


@pytest.mark.parametrize(
    ("start", "end", "new", "expected"),
    [
        (2, 2, ["X"], b"a\nX\r\nc"),
        (3, 3, ["X"], b"a\nb\r\nX"),
        (3, 3, ["X", "Y"], b"a\nb\r\nX\nY\n"),
        (1, 0, ["X"], b"X\na\nb\r\nc"),
        (3, 3, [], b"a\nb\r\n"),
        (2, 3, [], b"a\n"),
        (2, 2, ["X\r\nY"], b"a\nX\r\nY\nc"),
    ],
)
def test_splice_changes_only_its_lines(start: int, end: int, new: list[str], expected: bytes) -> None:
    assert SourceText.from_bytes(b"a\nb\r\nc").splice(start, end, new).render() == expected


@given(st.text(alphabet="ab\r\n", max_size=12).map(str.encode), st.data())
def test_a_splice_keeps_all_other_lines(content: bytes, data: st.DataObject) -> None:
    source = SourceText.from_bytes(content)
    start = data.draw(st.integers(1, len(source.lines) + 1))
    end = data.draw(st.integers(start - 1, len(source.lines)))
    new = data.draw(st.lists(st.sampled_from(["new", ""]), max_size=2))
    changed = source.splice(start, end, new)
    assert changed.lines == (*source.lines[: start - 1], *new, *source.lines[end:])
    assert SourceText.from_bytes(changed.render()).lines == changed.lines


def test_what_cannot_be_written_becomes_a_replacement_character() -> None:
    assert "\n".join(text_lines("a\ud800b\udcffc")) == "a\ufffdb\ufffdc"
    assert SourceText().append(["\ud800"]).render() == "\ufffd\n".encode()


def test_blank_lines_at_the_ends_are_dropped() -> None:
    assert text_lines("\r\n  \r a\n\n b \n\t\n") == [" a", "", " b "]


def test_an_empty_span_is_false() -> None:
    assert not LineSpan(3, 2)
    assert len(LineSpan(3, 2)) == 0
    assert 2 in LineSpan(1, 2)
