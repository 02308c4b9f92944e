"""Structure as Markdown has it."""

from __future__ import annotations

from hypothesis import given

from tests.engine.markdown.hostile_text import any_bytes, markdown
from workbench.engine.markdown import outline as outline_module
from workbench.engine.markdown.outline import find_front_matter, read_headings, read_outline
from workbench.engine.markdown.source import LineSpan, SourceText


def source(text: str) -> SourceText:
    return SourceText.from_text(text)


def by_parser(text: SourceText) -> outline_module.Outline:
    """The outline without any of the short cuts."""
    matter = find_front_matter(text)
    lines = text.lines if matter is None else ("",) * matter.end + text.lines[matter.end :]
    return outline_module._Walk(lines, outline_module.parse_blocks(lines)).outline(matter)


@given(any_bytes)
def test_short_cuts_give_what_the_parser_gives(content: bytes) -> None:
    text = SourceText.from_bytes(content)
    whole = by_parser(text)
    assert read_headings(text) == whole.headings
    assert read_outline(text) == whole


@given(markdown)
def test_short_cuts_hold_behind_plain_text(content: bytes) -> None:
    text = SourceText.from_bytes(b"# T\n\n## S\n- item\n- [ ] two <!-- c -->\n\npara\nmore\n" + content)
    assert read_headings(text) == by_parser(text).headings
    assert read_outline(text) == by_parser(text)


def test_headings_in_fences_comments_quotes_and_lists_are_none() -> None:
    text = source("# A\n```\n## no\n```\n<!--\n## no\n-->\n> ## no\n\n- ## no\n\n    ## no\n\n## B ##\n")
    assert [(head.level, head.text) for head in read_headings(text)] == [(1, "A"), (2, "B")]


def test_sections_end_before_the_next_heading_of_their_level() -> None:
    heads = read_headings(source("# A\ntext\n### C\nx\n## B\ny\n# D\n"))
    assert [(h.section, h.body) for h in heads] == [
        (LineSpan(1, 6), LineSpan(2, 2)),
        (LineSpan(3, 4), LineSpan(4, 4)),
        (LineSpan(5, 6), LineSpan(6, 6)),
        (LineSpan(7, 7), LineSpan(8, 7)),
    ]


def test_setext_headings_count() -> None:
    heads = read_headings(source("Title\nmore\n=====\n\ntext\n---\n"))
    assert [(h.level, h.text, h.span) for h in heads] == [
        (1, "Title more", LineSpan(1, 3)),
        (2, "text", LineSpan(5, 6)),
    ]


def test_items_carry_their_nested_lines() -> None:
    items = read_outline(source("- one\n  more\n  - two\n    deep\n\n1. three\n")).items
    assert [(i.text, i.own, i.depth, i.indent, i.span) for i in items] == [
        ("one\nmore\n- two\n  deep", "one\nmore", 0, 2, LineSpan(1, 4)),
        ("two\ndeep", "two\ndeep", 1, 4, LineSpan(3, 4)),
        ("three", "three", 0, 3, LineSpan(6, 6)),
    ]


def test_front_matter_is_no_structure() -> None:
    text = source("---\ntitle: x\n# yaml comment: y\n---\n\n# T\n")
    assert find_front_matter(text) is None
    text = source("---\ntitle: x\nlist:\n- a\n---\n\n# T\n")
    assert read_outline(text).front_matter == LineSpan(1, 5)
    assert [head.text for head in read_headings(text)] == ["T"]
    assert read_outline(text).items == ()


def test_a_rule_at_the_start_is_no_front_matter() -> None:
    assert find_front_matter(source("---\n## Proposal #1\n- a\n\n---\n")) is None


def test_comments_are_found_inline_and_over_lines() -> None:
    comments = read_outline(
        source("<!-- a\nb -->\n\n- x <!-- c --> <!-- d -->\n\n```\n<!-- no -->\n```\n")
    ).comments
    assert [(comment.text, comment.span) for comment in comments] == [
        ("a\nb", LineSpan(1, 2)),
        ("c", LineSpan(4, 4)),
        ("d", LineSpan(4, 4)),
    ]


def test_a_fence_reaches_to_its_end_or_that_of_the_file() -> None:
    fences = read_outline(source("```py\nx\n```\n\n~~~\ny\n")).fences
    assert fences == (LineSpan(1, 3), LineSpan(5, 6))
